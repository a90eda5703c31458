//! The text of a ledger: a head, then steps, and which of them are done.
//!
//! ```text
//! 3b1f… {"format":"unixmark-ledger/1","pid":7,"boot":"…","machine":"…"}
//! 90c2… {"step":{"write":{"path":"/proc/sys/vm/swappiness","text":"60\n"}}}
//! 5d07… {"done":[0]}
//! ```
//!
//! Every line begins with a sum of its JSON and the sum before, so a line that is missing or was
//! changed shows. The last one may be cut short, by a power cut while it was written.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Undo;

/// The name and version of the format.
pub(super) const FORMAT: &str = "unixmark-ledger/1";

/// The first line: who makes the changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// [`FORMAT`].
    pub format: String,
    /// The process that makes them.
    pub pid: u32,
    /// The boot in which they are made: what the kernel holds ends with it.
    pub boot: String,
    /// The machine, as home directories are shared; empty where it has no name for itself.
    pub machine: String,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// The undo of a change that is about to be made.
    Step(Undo),
    /// The numbers of steps that need not be taken any more, from 0.
    Done(Vec<usize>),
}

/// The contents of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Log {
    pub head: Head,
    pub steps: Vec<Step>,
    /// Bytes of the whole lines.
    pub length: usize,
    /// The sum of the last line.
    sum: String,
}

/// A step of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub undo: Undo,
    /// True if it is still to be taken.
    pub is_pending: bool,
}

/// An entry as the ledger has it.
pub(super) struct Line {
    pub text: String,
    /// The sum that the next line continues.
    sum: String,
}

impl Log {
    /// A log without steps, and its text.
    pub fn new(head: Head) -> serde_json::Result<(Log, String)> {
        let Line { text, sum } = Line::new("", &serde_json::to_string(&head)?);
        Ok((Log { head, steps: Vec::new(), length: text.len(), sum }, text))
    }

    /// Reads the text of a ledger.
    ///
    /// # Errors
    /// A sentence: a line other than a last one that was cut short cannot be read.
    pub fn parse(text: &[u8]) -> Result<Log, String> {
        let end_of_lines = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let lines = text[..end_of_lines].split_inclusive(|byte| *byte == b'\n');
        let mut log: Option<Log> = None;
        for (number, bytes) in (1..).zip(lines) {
            let sum_before = log.as_ref().map_or("", |log| log.sum.as_str());
            let (json, sum) = check_line(sum_before, bytes)
                .ok_or_else(|| format!("its line {number} is damaged"))?;

            let foreign = || format!("its line {number} is of another version of unixmark");
            match &mut log {
                None => {
                    let head: Head = serde_json::from_str(json).map_err(|_| foreign())?;
                    if head.format != FORMAT {
                        return Err(foreign());
                    }

                    log = Some(Log { head, steps: Vec::new(), length: bytes.len(), sum });
                }
                Some(log) => {
                    log.apply(serde_json::from_str(json).map_err(|_| foreign())?);
                    log.length += bytes.len();
                    log.sum = sum;
                }
            }
        }

        log.ok_or_else(|| "it has no head".to_owned())
    }

    /// The line by which an entry can be added.
    pub fn next_line(&self, entry: &Entry) -> serde_json::Result<Line> {
        Ok(Line::new(&self.sum, &serde_json::to_string(entry)?))
    }

    /// Adds an entry whose line was written.
    pub fn push(&mut self, entry: Entry, line: Line) {
        self.apply(entry);
        self.length += line.text.len();
        self.sum = line.sum;
    }

    /// The steps that are still to be taken, oldest first, with their numbers.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = (usize, &Undo)> {
        let numbered = self.steps.iter().enumerate();
        numbered.filter(|(_, step)| step.is_pending).map(|(number, step)| (number, &step.undo))
    }

    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Step(undo) => self.steps.push(Step { undo, is_pending: true }),
            Entry::Done(numbers) => self.set_done(&numbers),
        }
    }

    /// Marks steps as done.
    pub fn set_done(&mut self, numbers: &[usize]) {
        for number in numbers {
            if let Some(step) = self.steps.get_mut(*number) {
                step.is_pending = false;
            }
        }
    }
}

impl Line {
    /// The line `SUM JSON`.
    fn new(sum_before: &str, json: &str) -> Line {
        let sum = chain_sum(sum_before, json);
        Line { text: format!("{sum} {json}\n"), sum }
    }
}

/// The JSON of a line and its sum; `None` if the sum is wrong.
fn check_line<'a>(sum_before: &str, bytes: &'a [u8]) -> Option<(&'a str, String)> {
    let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let (written_sum, json) = line.split_once(' ')?;
    let sum = chain_sum(sum_before, json);
    (written_sum == sum).then_some((json, sum))
}

/// The first 64 bits of the SHA-256 of the sum before and a text, in hexadecimal.
fn chain_sum(sum_before: &str, json: &str) -> String {
    let digest = Sha256::new().chain_update(sum_before).chain_update(json).finalize();
    let mut sum = String::new();
    for byte in &digest[..8] {
        // Writing to a String does not fail.
        let _ = write!(sum, "{byte:02x}");
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head { format: FORMAT.to_owned(), pid: 7, boot: "b".to_owned(), machine: "m".to_owned() }
    }

    fn step(text: &str) -> Undo {
        Undo::Write { path: "/x".into(), text: text.to_owned() }
    }

    fn text() -> (Log, String) {
        let (mut log, mut text) = Log::new(head()).unwrap();
        for entry in [Entry::Step(step("1")), Entry::Step(step("2")), Entry::Done(vec![1])] {
            let line = log.next_line(&entry).unwrap();
            text += &line.text;
            log.push(entry, line);
        }

        (log, text)
    }

    #[test]
    fn what_was_written_is_read() {
        let (log, text) = text();
        assert_eq!(Log::parse(text.as_bytes()), Ok(log.clone()));
        assert_eq!(log.pending().map(|(number, _)| number).collect::<Vec<_>>(), [0]);
        assert_eq!(log.length, text.len());
    }

    #[test]
    fn only_the_last_line_may_be_cut_short() {
        let (log, text) = text();
        let lines: Vec<usize> = text.match_indices('\n').map(|(place, _)| place + 1).collect();
        for length in 0..text.len() {
            let parsed = Log::parse(&text.as_bytes()[..length]);
            if length < lines[0] {
                assert!(parsed.unwrap_err().contains("no head"));
                continue;
            }

            let whole = lines.iter().filter(|end| **end <= length).count();
            assert_eq!(parsed.unwrap().steps.len(), (whole - 1).min(2), "{length}");
        }

        assert_eq!(log.steps.len(), 2);
    }

    #[test]
    fn any_changed_byte_of_a_whole_line_shows() {
        let (_, text) = text();
        for place in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            Log::parse(&bytes).unwrap_err();
        }

        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for missing in 0..lines.len() - 1 {
            let kept: String = lines
                .iter()
                .enumerate()
                .filter(|(n, _)| *n != missing)
                .map(|(_, line)| *line)
                .collect();
            Log::parse(kept.as_bytes()).unwrap_err();
        }

        for damaged in ["", "\0\0\0\0", "\n", "{\"pid\":7}\n"] {
            Log::parse(damaged.as_bytes()).unwrap_err();
        }
    }

    #[test]
    fn another_version_is_not_guessed_at() {
        let (_, text) =
            Log::new(Head { format: "unixmark-ledger/2".to_owned(), ..head() }).unwrap();
        assert!(Log::parse(text.as_bytes()).unwrap_err().contains("another version"));
        let (log, text) = Log::new(head()).unwrap();
        let unknown = Line::new(&log.sum, r#"{"step":{"teleport":{}}}"#).text;
        assert!(
            Log::parse((text + &unknown).as_bytes())
                .unwrap_err()
                .contains("line 2 is of another version")
        );
    }
}
