//! Parses the lines that a burn-in program prints while it works (`programs/burn/burn.h`), as
//! strictly as the protocol: passes and beats must follow each other, and counts never go back.

use std::collections::BTreeMap;

use crate::fields::read_unnamed_numbers;
use crate::protocol::clean;
use journal::{Beat, Fault, Pass, Stage, Word};

/// The program lists so many faults, and then only counts them.
const MAX_LISTED_FAULTS: u64 = 1000;

/// More threads, or a higher clock, than any machine has.
const MAX_THREADS: u64 = 1 << 16;
const MAX_CLOCK_GHZ: f64 = 100.0;

/// The first words of these lines.
pub(super) const WORDS: &[&str] = &["stage", "fault", "faults", "pass", "shrunk", "beat"];

/// One line. The program prints no time with stages, faults and passes: the caller fills it in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BurnLine {
    /// The progress of a pass.
    Stage(Stage),
    /// A word that is not what was written.
    Fault(Fault),
    /// There are more faults, which are only counted.
    MoreFaults,
    /// A pass is over.
    Pass(Pass),
    /// The program gave memory back, and goes on with less.
    Shrunk { bytes: u64, why: String },
    /// The progress of a thread.
    Beat(Beat),
}

/// Parses lines, and remembers what later lines must agree with.
#[derive(Debug, Clone, Default)]
pub(super) struct BurnLog {
    /// Faults so far.
    pub faults: u64,
    /// Faults that were listed.
    listed: u64,
    /// Passes that are over.
    passes: u64,
    /// The last beat of each thread.
    last_beats: BTreeMap<u64, LastBeat>,
}

#[derive(Debug, Clone, Copy)]
struct LastBeat {
    /// The moment, in ns of CLOCK_MONOTONIC.
    ns: u64,
    /// Wrong results so far.
    wrong: u64,
}

impl BurnLog {
    /// Parses a line. `start` is when the work began, in ns of CLOCK_MONOTONIC. `None` if the line
    /// breaks the protocol.
    pub fn parse(&mut self, line: &str, start: u64) -> Option<BurnLine> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "stage" => BurnLine::Stage(self.parse_stage(rest)?),
            "fault" => BurnLine::Fault(self.parse_fault(rest)?),
            "faults" => self.count_faults(rest)?,
            "pass" => BurnLine::Pass(self.parse_pass(rest)?),
            "shrunk" => parse_shrunk(rest)?,
            "beat" => BurnLine::Beat(self.parse_beat(rest, start)?),
            _ => return None,
        })
    }

    fn parse_stage(&self, rest: &str) -> Option<Stage> {
        let [pass, pattern, done, total] = split_words(rest)?;
        let stage = Stage {
            pass: parse_number(pass)?,
            pattern: parse_pattern(pattern)?,
            done: parse_number(done)?,
            total: parse_number(total)?,
        };
        (stage.pass == self.passes + 1 && stage.done <= stage.total).then_some(stage)
    }

    fn parse_fault(&mut self, rest: &str) -> Option<Fault> {
        let [pass, pattern, words @ ..] = split_words::<7>(rest)?;
        let pass = parse_number(pass)?;
        let pattern = parse_pattern(pattern)?;
        let [Some(address), Some(physical), Some(expected), Some(read), Some(retest)] =
            words.map(Word::parse)
        else {
            return None;
        };

        self.listed += 1;
        if pass != self.passes + 1 || expected == read || self.listed > MAX_LISTED_FAULTS {
            return None;
        }

        self.faults = self.faults.max(self.listed);
        // 0 says that the address is not known.
        let physical = (physical.0 > 0).then_some(physical);
        Some(Fault { pass, pattern, address, physical, expected, read, retest, ..Fault::default() })
    }

    fn count_faults(&mut self, rest: &str) -> Option<BurnLine> {
        // The maximum: threads may print their lines in another order than they counted in.
        self.faults = self.faults.max(parse_number(rest)?);
        Some(BurnLine::MoreFaults)
    }

    fn parse_pass(&mut self, rest: &str) -> Option<Pass> {
        let [pass, seconds, bytes, faults] = split_words(rest)?;
        let pass = parse_number(pass).filter(|pass| *pass == self.passes + 1)?;
        let seconds = seconds.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds))?;
        let bytes = parse_number(bytes)?;
        let faults = parse_number(faults)?;

        self.passes = pass;
        Some(Pass { at: 0.0, pass, seconds, bytes, faults })
    }

    fn parse_beat(&mut self, rest: &str, start: u64) -> Option<Beat> {
        let (rest, wrong) = rest.rsplit_once(' ')?;
        let (rest, clock) = rest.rsplit_once(' ')?;
        let [ns, thread, cpu, count] = read_unnamed_numbers(rest)?;
        let wrong = parse_number(wrong)?;
        let clock =
            clock.parse::<f64>().ok().filter(|clock| (0.0..MAX_CLOCK_GHZ).contains(clock))?;

        let start_beat = LastBeat { ns: start, wrong: 0 };
        let last = self.last_beats.get(&thread).copied().unwrap_or(start_beat);
        if ns < last.ns || wrong < last.wrong || thread.max(cpu) >= MAX_THREADS {
            return None;
        }
        self.last_beats.insert(thread, LastBeat { ns, wrong });

        Some(Beat {
            thread: u32::try_from(thread).ok()?,
            cpu: u32::try_from(cpu).ok()?,
            // In whole milliseconds, finer than anything that is made of it.
            at: ((ns - start) as f64 / 1e6).round() / 1e3,
            count,
            clock,
            wrong,
        })
    }

    /// The latest moment in any beat, in ns of CLOCK_MONOTONIC.
    pub fn latest(&self) -> u64 {
        self.last_beats.values().map(|beat| beat.ns).max().unwrap_or(0)
    }
}

fn parse_shrunk(rest: &str) -> Option<BurnLine> {
    let (bytes, why) = rest.split_once(' ')?;
    Some(BurnLine::Shrunk { bytes: parse_number(bytes)?, why: clean(why) })
}

/// Splits a line into exactly N words.
fn split_words<const N: usize>(rest: &str) -> Option<[&str; N]> {
    rest.split(' ').collect::<Vec<&str>>().try_into().ok()
}

fn parse_number(word: &str) -> Option<u64> {
    read_unnamed_numbers::<1>(word).map(|[number]| number)
}

/// Parses the name of a pattern: one short word of plain characters.
fn parse_pattern(word: &str) -> Option<String> {
    const MAX_BYTES: usize = 32;

    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    (!word.is_empty() && word.len() <= MAX_BYTES && word.chars().all(is_plain))
        .then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parsed lines; `None` if one of them is refused.
    fn parsed(lines: &[&str]) -> Option<Vec<BurnLine>> {
        let mut log = BurnLog::default();
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
        let BurnLine::Fault(fault) = &lines[1] else { panic!("{lines:?}") };
        assert_eq!(
            (fault.address, fault.physical, fault.difference()),
            (Word(0x7f00_0000_1000), None, Word(1))
        );
        assert!(fault.is_gone() && !fault.is_held());
        let why = "the machine needs it?".to_owned();
        assert_eq!(lines[5], BurnLine::Shrunk { bytes: 2048, why });
        assert_eq!(
            lines[6],
            BurnLine::Beat(Beat { thread: 1, cpu: 3, at: 1.5, count: 77, clock: 4.125, wrong: 2 })
        );
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
        let mut log = BurnLog::default();
        let counts = ["faults 3", "faults 2"].map(|line| log.parse(line, 0).map(|_| log.faults));
        assert_eq!(counts, [Some(3), Some(3)], "faults do not go away");
        assert_eq!(
            parsed(&["beat 3000000000 0 0 1 3 0", "beat 2000000000 0 0 1 3 0"]),
            None,
            "time goes on"
        );
        assert_eq!(parsed(&["beat 2000000000 0 0 1 3 2", "beat 3000000000 0 0 1 3 1"]), None);
        let storm = vec!["fault 1 random 0x1 0x0 0x5 0x4 0x5"; 1001];
        assert!(parsed(&storm[1..]).is_some() && parsed(&storm).is_none());
    }
}
