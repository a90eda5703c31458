//! UnixBench's 2D tests: groups of four sub-tests of the system's x11perf. A group's score is the mean of the sub-tests'
//! rates, each divided by that of a laptop of 2006 and times 1000, with one decimal (facts: UnixBench 6.0.0, gfx-x11).

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use rustix::process::Pid;

use crate::kit::{self, Kit, Stop, guard, now};
use crate::x;

/// A sub-test and its reference rate, per second.
struct Part {
    name: String,
    reference: f64,
}

/// How x11perf is to be run.
struct Manner {
    repeat: u64,
    time: u64,
    /// Requests of each repetition; 0 where x11perf is to find out how many fill the time, which takes it longer than that.
    reps: u64,
}

/// The sub-tests that were measured, with their rates per second, and why the others were not.
#[derive(Default)]
struct Measured<'a> {
    rates: Vec<(&'a Part, f64)>,
    failures: Vec<(&'a Part, String)>,
}

/// Measures the group: `tests=NAME:REFERENCE,…`, each `repeat` times for `time` seconds or `reps` requests, `together=1` by one
/// x11perf, which saves the seconds in which it finds out what a round trip takes.
pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let parts = parts(&kit.text("tests").unwrap_or_default())?;
    let manner = Manner {
        repeat: kit.number("repeat", 1, 1..=100)?,
        time: kit.number("time", 1, 1..=1000)?,
        reps: kit.number("reps", 0, 0..=1_000_000_000)?,
    };
    let together = kit.number("together", 1, 0..=1)? == 1;
    // Kept, so that the server does not start anew between two x11perfs.
    let display = x::connect()?;
    kit.server(display.server());
    kit.start()?;
    let start = now();
    let mut measured = Measured::default();
    for some in parts.chunks(if together { parts.len() } else { 1 }) {
        measured.take(some, &manner)?;
    }
    kit.slice(start, now(), measured.rates.len() as u64);
    measured.report(kit)
}

/// Reads `NAME:REFERENCE,…`.
fn parts(text: &str) -> Result<Vec<Part>, Stop> {
    let part = |word: &str| {
        let (name, reference) = word.split_once(':')?;
        let reference = reference.parse().ok().filter(|reference| *reference > 0.0)?;
        Some(Part { name: name.to_owned(), reference })
    };
    let wrong = |word: &str| Stop::Error(format!("'{word}' is no sub-test: try tests=rect10:7180000"));
    text.split(',').map(|word| part(word).ok_or_else(|| wrong(word))).collect()
}

impl<'a> Measured<'a> {
    /// Measures `parts`, going on after one that x11perf fails at.
    fn take(&mut self, mut parts: &'a [Part], manner: &Manner) -> Result<(), Stop> {
        while !parts.is_empty() {
            let (rates, failure) = x11perf(parts, manner)?;
            self.rates.extend(parts.iter().zip(&rates).map(|(part, rate)| (part, *rate)));
            parts = &parts[rates.len().min(parts.len())..];
            if let Some((part, rest)) = parts.split_first() {
                self.failures.push((part, failure));
                parts = rest;
            }
        }
        Ok(())
    }

    fn report(&self, kit: &mut Kit) -> Result<(), Stop> {
        if self.rates.is_empty() {
            let why = self.failures.first().map_or("there is no sub-test", |failure| failure.1.as_str());
            return Err(Stop::Error(why.to_owned()));
        }
        let scores = self.rates.iter().map(|(part, rate)| rate / part.reference * 1000.0);
        let mean = scores.sum::<f64>() / self.rates.len() as f64;
        kit.value("score", (mean * 10.0).round() / 10.0, "score");
        for (part, rate) in &self.rates {
            kit.value(&part.name, *rate, "1/s");
        }
        for (part, why) in &self.failures {
            kit.note(&format!(
                "error in {}: {why}; the score is the mean of the other {}",
                part.name,
                self.rates.len()
            ));
        }
        Ok(())
    }
}

/// Runs x11perf over `parts`; returns the rates per second of those that it came through, in order, and why not of more.
fn x11perf(parts: &[Part], manner: &Manner) -> Result<(Vec<f64>, String), Stop> {
    let why = |error| Stop::Error(format!("x11perf cannot be run: {error}; is the package x11-apps whole?"));
    let child = Command::new("x11perf")
        .args(["-repeat", &manner.repeat.to_string(), "-subs", "25", "-time", &manner.time.to_string()])
        .args((manner.reps > 0).then(|| ["-reps".to_owned(), manner.reps.to_string()]).into_iter().flatten())
        .args(parts.iter().map(|part| format!("-{}", part.name)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(why)?;
    guard(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    let output = child.wait_with_output();
    guard(None);
    let output = output.map_err(why)?;
    // Of several repetitions the last line is their average.
    let kind = if manner.repeat > 1 { " trep @ " } else { " reps @ " };
    let text = String::from_utf8_lossy(&output.stdout);
    let rates = text.lines().filter(|line| line.contains(kind)).filter_map(rate).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).map(kit::printable);
    let failure = match (said, output.status.signal()) {
        (Some(said), _) => format!("x11perf says '{said}'"),
        (None, Some(signal)) => format!("x11perf was killed by signal {signal}"),
        (None, None) => "x11perf printed no rate for it".to_owned(),
    };
    Ok((rates, failure))
}

/// The rate per second in `21600000 trep @   0.0004 msec (2250000.0/sec): 100x100 rectangle`.
fn rate(line: &str) -> Option<f64> {
    let (rate, _) = line.split_once('(')?.1.split_once("/sec)")?;
    rate.trim().parse().ok().filter(|rate: &f64| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_x11perf_prints_them() {
        assert_eq!(rate("  21600000 trep @   0.0004 msec (2250000.0/sec): 100x100 rectangle"), Some(2_250_000.0));
        assert_eq!(rate("       240 reps @   4.8503 msec (   206.0/sec): PutImage XY 500x500 square"), Some(206.0));
        assert_eq!(rate("Sync time adjustment is 0.0545 msecs."), None);
        assert_eq!(rate("         1 reps @   0.0000 msec (inf/sec"), None);
    }

    #[test]
    fn sub_tests_are_read() {
        let read = parts("rect10:7180000,putimagexy500:0.1").ok();
        let read: Vec<(String, f64)> = read.into_iter().flatten().map(|part| (part.name, part.reference)).collect();
        assert_eq!(read, [("rect10".to_owned(), 7_180_000.0), ("putimagexy500".to_owned(), 0.1)]);
        for wrong in ["", "rect10", "rect10:0", "rect10:x", "rect10:1,,"] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
