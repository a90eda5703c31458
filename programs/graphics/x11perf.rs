//! UnixBench's 2D tests: groups of four sub-tests of the system's x11perf. A group's score is the mean of the
//! sub-tests' rates, each divided by that of a laptop of 2006 and times 1000, with one decimal (facts: UnixBench 6.0.0,
//! gfx-x11).

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use rustix::process::Pid;

use crate::kit::{self, Kit, Stop, guard, now};
use crate::x;

/// A sub-test, how x11perf calls it in its output, and its reference rate, per second.
struct Part {
    name: String,
    label: String,
    reference: f64,
}

/// How x11perf is to be run.
struct Manner {
    repeat: u64,
    time: u64,
    /// Requests of each repetition; 0 where x11perf is to find out how many fill the time, which takes it longer than
    /// that.
    reps: u64,
}

/// The sub-tests that were measured, with their rates per second, and why the others were not.
#[derive(Default)]
struct Measured<'a> {
    rates: Vec<(&'a Part, f64)>,
    failures: Vec<(&'a Part, String)>,
}

/// Measures the group: `tests=NAME:REFERENCE,…`, each `repeat` times for `time` seconds or `reps` requests,
/// `together=1` by one x11perf, which saves the seconds in which it finds out what a round trip takes.
pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let mut parts = parts(&kit.text("tests").unwrap_or_default())?;
    let manner = Manner {
        repeat: kit.number("repeat", 1, 1..=100)?,
        time: kit.number("time", 1, 1..=1000)?,
        reps: kit.number("reps", 0, 0..=1_000_000_000)?,
    };
    let together = kit.number("together", 1, 0..=1)? == 1;
    // Kept, so that the server does not reset itself between two x11perfs.
    let display = x::connect()?;
    kit.server(display.server());
    for part in &mut parts {
        part.label = label(&part.name)?.unwrap_or_default();
    }
    let (parts, strangers): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| !part.label.is_empty());
    let stranger = |part| (part, "this x11perf has no such sub-test".to_owned());
    let mut measured = Measured { failures: strangers.iter().map(stranger).collect(), ..Measured::default() };
    kit.start()?;
    let start = now();
    for some in parts.chunks(if together { parts.len().max(1) } else { 1 }) {
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
        Some(Part { name: name.to_owned(), label: String::new(), reference })
    };
    let wrong = |word: &str| Stop::Error(format!("'{word}' is not a sub-test: try tests=rect10:7180000"));
    text.split(',').map(|word| part(word).ok_or_else(|| wrong(word))).collect()
}

impl<'a> Measured<'a> {
    /// Measures `parts`. Where x11perf ends before its time, the first without a rate is held to be the reason, and the
    /// others are tried again.
    fn take(&mut self, parts: &'a [Part], manner: &Manner) -> Result<(), Stop> {
        let mut left: Vec<&Part> = parts.iter().collect();
        while !left.is_empty() {
            let output = x11perf(&left, manner)?;
            let text = String::from_utf8_lossy(&output.stdout);
            let rates = rates(&text, manner.repeat);
            let rate = |part: &Part| rates.iter().find(|(label, _)| *label == part.label).map(|(_, rate)| *rate);
            self.rates.extend(left.iter().filter_map(|part| Some((*part, rate(part)?))));
            left.retain(|part| rate(part).is_none());
            let why = complaint(&output);
            let failed = if output.status.success() { left.len() } else { left.len().min(1) };
            self.failures.extend(left.drain(..failed).map(|part| (part, why.clone())));
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

/// Runs x11perf over `parts` and returns what it said.
fn x11perf(parts: &[&Part], manner: &Manner) -> Result<Output, Stop> {
    let child = command()
        .args(["-repeat", &manner.repeat.to_string(), "-time", &manner.time.to_string()])
        .args((manner.reps > 0).then(|| ["-reps".to_owned(), manner.reps.to_string()]).into_iter().flatten())
        .args(parts.iter().map(|part| format!("-{}", part.name)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(broken)?;
    guard(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    let output = child.wait_with_output();
    guard(None);
    output.map_err(broken)
}

/// UnixBench's x11perf: 25 windows, where windows are what is measured.
fn command() -> Command {
    let mut command = Command::new("x11perf");
    command.args(["-subs", "25"]);
    command
}

fn broken(error: std::io::Error) -> Stop {
    Stop::Error(format!("x11perf cannot be run: {error}; is the package x11-apps whole?"))
}

/// How x11perf calls a sub-test; nothing where it has none of that name.
fn label(name: &str) -> Result<Option<String>, Stop> {
    let output = command().arg("-labels").arg(format!("-{name}")).stdin(Stdio::null()).output().map_err(broken)?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(Some(text).filter(|text| output.status.success() && !text.is_empty()))
}

/// The rates per second by label, of lines such as `21600000 trep @   0.0004 msec (2250000.0/sec): 100x100 rectangle`.
fn rates(text: &str, repeat: u64) -> Vec<(&str, f64)> {
    // Of several repetitions one more line is their average.
    let kind = if repeat > 1 { " trep @ " } else { " reps @ " };
    let rate = |line: &'_ str| -> Option<f64> {
        let (rate, _) = line.split_once('(')?.1.split_once("/sec)")?;
        rate.trim().parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0)
    };
    let lines = text.lines().filter(|line| line.contains(kind));
    lines.filter_map(|line| Some((line.split_once("/sec): ")?.1.trim(), rate(line)?))).collect()
}

/// Why x11perf has no rate for a sub-test.
fn complaint(output: &Output) -> String {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(kit::printable).collect::<Vec<_>>();
    let (said, printed) = (lines(&output.stderr), lines(&output.stdout));
    let omitted = printed.iter().rfind(|line| line.contains("omitted"));
    let said = said.iter().rfind(|line| !line.is_empty()).or(omitted);
    match (said, output.status.signal()) {
        (Some(said), _) if said.contains("font") => format!("x11perf says '{said}' (package xfonts-base)"),
        (Some(said), _) => format!("x11perf says '{said}'"),
        (None, Some(signal)) => format!("x11perf was killed by signal {signal}"),
        (None, None) => "x11perf printed no rate for it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_by_label() {
        let text = "Sync time adjustment is 0.0545 msecs.\n\n\
            7200000 reps @   0.0004 msec (2240000.0/sec): 100x100 rectangle\n\
            7200000 trep @   0.0004 msec (2250000.0/sec): 100x100 rectangle\n\n\
            Could not load font '-misc-fixed-*', benchmark omitted\n\
            240 reps @   4.8503 msec (   206.0/sec): Hide/expose window via popup (25 kids)\n\
            1 reps @   0.0000 msec (inf/sec): nothing\n";
        let each = [("100x100 rectangle", 2_240_000.0), ("Hide/expose window via popup (25 kids)", 206.0)];
        assert_eq!(rates(text, 1), each);
        assert_eq!(rates(text, 3), [("100x100 rectangle", 2_250_000.0)]);
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
