//! The lines that a burn-in program prints while it works (`programs/burn/burn.h`), parsed strictly.

use std::collections::BTreeMap;

use crate::fields::numbers;
use crate::protocol::clean;
use journal::{Beat, Fault, Pass, Stage, Word};

/// The program lists the first thousand faults, and then only counts them.
const MOST_FAULTS: u64 = 1000;

/// No machine has more threads, and none of ours a clock of 100 GHz.
const MOST_THREADS: u64 = 1 << 16;
const FASTEST: f64 = 100.0;

/// First words of its lines.
pub(super) const WORDS: &[&str] = &["stage", "fault", "faults", "pass", "shrunk", "beat"];

/// One line. Times are the caller's to fill in where the program does not print them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// Its place.
    Stage(Stage),
    /// A word was not what was written.
    Fault(Fault),
    /// There are more faults, which are only counted.
    MoreFaults,
    /// A pass is over.
    Pass(Pass),
    /// It gave memory back to the machine: the bytes it goes on with, and why.
    Shrunk(u64, String),
    /// The progress of a thread.
    Beat(Beat),
}

/// Parses the lines and remembers what later ones must agree with.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    /// Faults so far, and how many of them were listed.
    pub faults: u64,
    listed: u64,
    /// Passes that are over.
    passes: u64,
    /// Moment and wrong results of each thread's last beat.
    threads: BTreeMap<u64, (u64, u64)>,
}

impl Log {
    /// Parses a line; `start` is when the work began, in ns of CLOCK_MONOTONIC. `None` if it breaks the protocol.
    pub fn parse(&mut self, line: &str, start: u64) -> Option<Line> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "stage" => Line::Stage(self.stage(rest)?),
            "fault" => Line::Fault(self.fault(rest)?),
            "faults" => self.count(rest)?,
            "pass" => Line::Pass(self.pass(rest)?),
            "shrunk" => shrunk(rest)?,
            "beat" => Line::Beat(self.beat(rest, start)?),
            _ => return None,
        })
    }

    fn stage(&self, rest: &str) -> Option<Stage> {
        let [pass, pattern, done, total] = words(rest)?;
        let (pass, pattern) = (number(pass)?, self::pattern(pattern)?);
        let (done, total) = (number(done)?, number(total)?);
        (pass == self.passes + 1 && done <= total).then_some(Stage { pass, pattern, done, total })
    }

    fn fault(&mut self, rest: &str) -> Option<Fault> {
        let [pass, pattern, words @ ..] = words::<7>(rest)?;
        let (pass, pattern) = (number(pass)?, self::pattern(pattern)?);
        let [Some(address), Some(physical), Some(expected), Some(read), Some(retest)] = words.map(Word::parse) else {
            return None;
        };
        self.listed += 1;
        if pass != self.passes + 1 || expected == read || self.listed > MOST_FAULTS {
            return None;
        }
        self.faults = self.faults.max(self.listed);
        let physical = (physical.0 > 0).then_some(physical);
        Some(Fault { pass, pattern, address, physical, expected, read, retest, ..Fault::default() })
    }

    fn count(&mut self, rest: &str) -> Option<Line> {
        // Threads may print it in another order than they counted in.
        self.faults = self.faults.max(number(rest)?);
        Some(Line::MoreFaults)
    }

    fn pass(&mut self, rest: &str) -> Option<Pass> {
        let [pass, seconds, bytes, faults] = words(rest)?;
        let pass = number(pass).filter(|pass| *pass == self.passes + 1)?;
        let seconds = seconds.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds))?;
        let (bytes, faults) = (number(bytes)?, number(faults)?);
        self.passes = pass;
        Some(Pass { at: 0.0, pass, seconds, bytes, faults })
    }

    fn beat(&mut self, rest: &str, start: u64) -> Option<Beat> {
        let (rest, wrong) = rest.rsplit_once(' ')?;
        let (rest, clock) = rest.rsplit_once(' ')?;
        let [ns, thread, cpu, count] = numbers(rest)?;
        let wrong = number(wrong)?;
        let clock = clock.parse::<f64>().ok().filter(|clock| (0.0..FASTEST).contains(clock))?;
        let before = self.threads.get(&thread).copied().unwrap_or((start, 0));
        if ns < before.0 || wrong < before.1 || thread.max(cpu) >= MOST_THREADS {
            return None;
        }
        self.threads.insert(thread, (ns, wrong));
        // A thousandth of a second is finer than anything that is made of it.
        let at = ((ns - start) as f64 / 1e6).round() / 1e3;
        let small = |number: u64| u32::try_from(number).ok();
        Some(Beat { thread: small(thread)?, cpu: small(cpu)?, at, count, clock, wrong })
    }

    /// The latest moment in any beat, in ns of CLOCK_MONOTONIC.
    pub fn latest(&self) -> u64 {
        self.threads.values().map(|beat| beat.0).max().unwrap_or(0)
    }
}

fn shrunk(rest: &str) -> Option<Line> {
    let (bytes, why) = rest.split_once(' ')?;
    Some(Line::Shrunk(number(bytes)?, clean(why)))
}

/// Exactly N words.
fn words<const N: usize>(rest: &str) -> Option<[&str; N]> {
    rest.split(' ').collect::<Vec<&str>>().try_into().ok()
}

fn number(word: &str) -> Option<u64> {
    numbers::<1>(word).map(|[number]| number)
}

/// The name of a pattern: one short word.
fn pattern(word: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    (!word.is_empty() && word.len() <= 32 && word.chars().all(plain)).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parsed lines; `None` if one of them is refused.
    fn parsed(lines: &[&str]) -> Option<Vec<Line>> {
        let mut log = Log::default();
        lines.iter().map(|line| log.parse(line, 1_000_000_000)).collect()
    }

    #[test]
    fn every_kind_of_line() {
        let lines = parsed(&[
            "stage 1 random 0 4096",
            "fault 1 random 0x7f0000001000 0x0 0xff 0xfe 0xff",
            "faults 3",
            "pass 1 0.5 4096 3",
            "stage 2 own-address 10 20",
            "shrunk 2048 the machine needs it\u{7}",
            "beat 2500000000 1 3 77 4.125 2",
        ]);
        let lines = lines.unwrap();
        let Line::Fault(fault) = &lines[1] else { panic!("{lines:?}") };
        assert_eq!((fault.address, fault.physical, fault.difference()), (Word(0x7f00_0000_1000), None, Word(1)));
        assert!(fault.is_gone() && !fault.is_held());
        assert_eq!(lines[5], Line::Shrunk(2048, "the machine needs it?".to_owned()));
        assert_eq!(lines[6], Line::Beat(Beat { thread: 1, cpu: 3, at: 1.5, count: 77, clock: 4.125, wrong: 2 }));
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn lines_that_break_the_protocol() {
        for line in [
            "stage 1 random 5 4",
            "stage 2 random 0 4",
            "stage 1 ran dom 0 4",
            "stage 1 \u{1b}[31m 0 4",
            "stage 1 random 0",
            "fault 1 random 0x1 0x0 0x5 0x5 0x5",
            "fault 1 random 1 0x0 0x5 0x4 0x5",
            "fault 1 random 0x1 0x0 0x5 0x4",
            "fault 1 random 0x+1 0x0 0x5 0x4 0x5",
            "faults -1",
            "pass 2 1 4096 0",
            "pass 1 nan 4096 0",
            "pass 1 -1 4096 0",
            "pass 1 1 4096",
            "shrunk 5",
            "beat 0 0 0 1 3.0 0",
            "beat 2000000000 0 0 1 inf 0",
            "beat 2000000000 0 0 1 -1 0",
            "beat 2000000000 99999999 0 1 3 0",
            "beat 2000000000 0 0 1 3",
            "beaten 1",
        ] {
            assert_eq!(parsed(&[line]), None, "{line}");
        }
        let mut log = Log::default();
        let counts = ["faults 3", "faults 2"].map(|line| log.parse(line, 0).map(|_| log.faults));
        assert_eq!(counts, [Some(3), Some(3)], "faults do not go away");
        assert_eq!(parsed(&["beat 3000000000 0 0 1 3 0", "beat 2000000000 0 0 1 3 0"]), None, "time goes on");
        assert_eq!(parsed(&["beat 2000000000 0 0 1 3 2", "beat 3000000000 0 0 1 3 1"]), None);
        let storm = vec!["fault 1 random 0x1 0x0 0x5 0x4 0x5"; 1001];
        assert!(parsed(&storm[1..]).is_some() && parsed(&storm).is_none());
    }
}
