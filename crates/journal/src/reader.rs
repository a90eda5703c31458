//! Reading a journal: whole, cut short at any byte, or of a later minor version.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{FILE, FORMAT, Journal, Record, Run, Warning};

/// Bytes before a journal that may be something else, such as a login banner.
const BANNER: u64 = 256 << 10;

/// Characters of a line that a message quotes.
const QUOTED: usize = 60;

/// Reads the journal of the run in `directory` (or the journal file itself).
///
/// A journal that ends in the middle of a line is a shorter run. Lines before the first that is a run, such as a login banner,
/// and records of a type this version does not know are skipped with a warning.
///
/// # Errors
/// There is no journal, no line is a run, its format is a later one, or a line other than the last is damaged.
pub fn read(directory: &Path) -> Result<Journal> {
    let path = if directory.is_dir() { directory.join(FILE) } else { directory.to_path_buf() };
    let file = File::open(&path)
        .with_context(|| format!("there is no run at {}; `unixmark list runs` shows them", directory.display()))?;
    parse(BufReader::with_capacity(1 << 20, file), &path)
}

/// Reads a journal; errors name it by `path`.
///
/// # Errors
/// As [`read`].
pub fn parse(mut input: impl BufRead, path: &Path) -> Result<Journal> {
    let mut journal = Journal::default();
    let mut line = Vec::new();
    let (mut number, mut unknown) = (0_usize, 0_usize);
    let mut banner = Banner::default();
    loop {
        line.clear();
        let length = input
            .read_until(b'\n', &mut line)
            .with_context(|| format!("the journal {} cannot be read", path.display()))?;
        // A record counts once its line is complete: the writer appends lines whole.
        if length == 0 || line.last() != Some(&b'\n') {
            break;
        }
        number += 1;
        let begun = !journal.run.format.is_empty();
        match serde_json::from_slice::<Record>(&line) {
            Ok(record) => {
                place(record, &mut journal).with_context(|| format!("{}, line {number}", path.display()))?;
            }
            Err(error) if !begun && !is_run(&line) => {
                banner.add(&line, &error);
                if banner.bytes > BANNER {
                    break;
                }
            }
            Err(_) if begun && is_unknown(&line) => unknown += 1,
            Err(error) => bail!("{}, line {number}: a damaged line: {error}", path.display()),
        }
    }
    match (journal.run.format.is_empty(), banner.lines) {
        (true, 0) => bail!("{} holds no run: it was cut short before its first line was written", path.display()),
        (true, _) => bail!("{}, line 1: this is not a unixmark run: {}", path.display(), banner.error),
        (false, 0) => {}
        (false, _) => journal.warnings.push(Warning { cell: None, text: banner.text() }),
    }
    if unknown > 0 {
        journal.warnings.push(Warning {
            cell: None,
            text: match unknown {
                1 => "1 line of a kind unknown to this version was ignored".to_owned(),
                _ => format!("{unknown} lines of kinds unknown to this version were ignored"),
            },
        });
    }
    Ok(journal)
}

/// What stands before a journal.
#[derive(Default)]
struct Banner {
    lines: usize,
    bytes: u64,
    /// Its first line.
    first: String,
    /// Why that is not a record.
    error: String,
}

impl Banner {
    fn add(&mut self, line: &[u8], error: &serde_json::Error) {
        if self.lines == 0 {
            self.first = quoted(line);
            self.error = error.to_string();
        }
        self.lines += 1;
        self.bytes += line.len() as u64;
    }

    fn text(&self) -> String {
        format!("{} before the journal skipped, beginning with '{}'", words::count(self.lines, "line"), self.first)
    }
}

/// The beginning of a line, as a message quotes it.
fn quoted(line: &[u8]) -> String {
    let line = words::clean(String::from_utf8_lossy(line).trim());
    let start: String = line.chars().take(QUOTED).collect();
    if start.len() < line.len() { format!("{start}…") } else { start }
}

/// What the beginning of a file says.
#[derive(Debug)]
pub enum Head {
    /// The run of a journal, `None` if its first line is of a version that this one cannot read; and how many other lines, such
    /// as a login banner, come before it.
    Run(Option<Box<Run>>, usize),
    /// The first line, quoted, of something that is not a journal; empty if all its lines are.
    Other(String),
}

/// Returns what a file begins with.
///
/// # Errors
/// It cannot be read.
pub fn head(path: &Path) -> std::io::Result<Head> {
    let mut input = BufReader::new(File::open(path)?.take(BANNER));
    let mut line = Vec::new();
    let mut first = String::new();
    let mut lines = 0;
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Ok(Record::Run(run)) = serde_json::from_slice(&line) {
            return Ok(Head::Run(Some(run), lines));
        }
        if is_run(&line) {
            return Ok(Head::Run(None, lines));
        }
        if first.is_empty() {
            first = quoted(&line);
        }
        lines += 1;
        line.clear();
    }
    Ok(Head::Other(first))
}

/// Whether a journal has a trial that ran, failed or not, or a second of a burn-in; not if it cannot be read.
#[must_use]
pub fn has_trials(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_slice(&line).ok()).any(|record| match record {
        Record::Trial(trial) => trial.skip.is_none(),
        Record::Sample(_) => true,
        _ => false,
    })
}

/// Whether a line begins as the first of a journal does, in any serialisation; it may be cut, or of a later version.
fn is_run(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    let begins = |text: &[u8]| text.iter().filter(|c| !c.is_ascii_whitespace()).take(14).eq(br#"{"type":"run","#);
    begins(line) || serde_json::from_slice::<Kind>(line).is_ok_and(|line| line.kind == "run")
}

fn place(record: Record, journal: &mut Journal) -> Result<()> {
    match record {
        Record::Run(run) => {
            if !journal.run.format.is_empty() {
                bail!("a second run in one journal");
            }
            if run.format != FORMAT {
                bail!("the format is '{}' and this version reads '{FORMAT}'; try a newer unixmark", run.format);
            }
            journal.run = *run;
        }
        _ if journal.run.format.is_empty() => bail!("the first line is not a run"),
        Record::Fact(fact) => journal.facts.push(fact),
        Record::Cell(mut cell) => {
            cell.first |= was_first(&cell.key.condition);
            if cell.id != journal.cells.len() {
                bail!("cell {} is out of order", cell.id);
            }
            journal.cells.push(*cell);
        }
        Record::Trial(trial) => {
            if trial.cell >= journal.cells.len() {
                bail!("a trial of cell {}, which is not in the journal", trial.cell);
            }
            journal.trials.push(*trial);
        }
        Record::BurnIn(burnin) => journal.burnin = Some(*burnin),
        Record::Sample(sample) => journal.samples.push(*sample),
        Record::Fault(fault) => journal.faults.push(*fault),
        Record::Pass(pass) => journal.passes.push(pass),
        Record::Warning(warning) => journal.warnings.push(warning),
        Record::End(end) => journal.end = Some(end),
    }
    Ok(())
}

/// Whether a condition is one that could only be measured first when journals did not say so.
fn was_first(condition: &str) -> bool {
    condition.split('+').any(|part| part == "audit=never-on")
}

/// Whether the line is a JSON object with a `type` that this version does not know.
fn is_unknown(line: &[u8]) -> bool {
    const KNOWN: [&str; 10] = ["run", "fact", "cell", "trial", "burnin", "sample", "fault", "pass", "warning", "end"];
    serde_json::from_slice::<serde_json::Value>(line)
        .ok()
        .and_then(|value| value.get("type").and_then(|kind| kind.as_str().map(str::to_owned)))
        .is_some_and(|kind| !KNOWN.contains(&kind.as_str()))
}
