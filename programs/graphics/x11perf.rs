//! UnixBench's 2D tests: groups of four sub-tests of the system's x11perf. A group's score is the
//! mean of the sub-tests' rates, each divided by that of a laptop of 2006 and times 1000, with one
//! decimal (facts: UnixBench 6.0.0, gfx-x11).

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use rustix::process::Pid;

use crate::kit::{Kit, Stop, kill_at_end_of_input, now, printable};
use crate::x;

struct SubTest {
    name: String,
    /// How x11perf calls it in its output; empty where it does not know it.
    label: String,
    /// Per second.
    reference_rate: f64,
}

/// x11perf's own options.
struct Options {
    repeat: u64,
    /// Seconds of a repetition.
    time: u64,
    /// Requests of a repetition; 0 where x11perf is to find out how many fill the time, which
    /// takes it longer than that.
    reps: u64,
}

/// The sub-tests that were measured, with their rates per second, and why the others were not.
#[derive(Default)]
struct Results<'a> {
    rates: Vec<(&'a SubTest, f64)>,
    failures: Vec<(&'a SubTest, String)>,
}

/// Measures the group: `tests=NAME:REFERENCE,…`, each `repeat` times for `time` seconds or `reps`
/// requests, `together=1` by one x11perf, which saves the seconds in which it finds out what a
/// round trip takes.
pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let mut tests = parse_sub_tests(&kit.argument("tests").unwrap_or_default())?;
    let options = Options {
        repeat: kit.number("repeat", 1, 1..=100)?,
        time: kit.number("time", 1, 1..=1000)?,
        reps: kit.number("reps", 0, 0..=1_000_000_000)?,
    };
    let is_together = kit.number("together", 1, 0..=1)? == 1;

    // Kept, so that the server does not reset itself between two x11perfs.
    let display = x::connect()?;
    kit.set_display_server(display.server());

    for test in &mut tests {
        test.label = find_label(&test.name)?;
    }
    let (known, unknown): (Vec<SubTest>, Vec<SubTest>) =
        tests.into_iter().partition(|test| !test.label.is_empty());
    let mut results = Results::default();
    for test in &unknown {
        results.failures.push((test, "this x11perf has no such sub-test".to_owned()));
    }

    kit.start()?;
    let start = now();
    let tests_per_x11perf = if is_together { known.len().max(1) } else { 1 };
    for tests in known.chunks(tests_per_x11perf) {
        results.measure(tests, &options)?;
    }
    kit.add_slice(start, now(), results.rates.len() as u64);
    results.report(kit)
}

/// Reads `NAME:REFERENCE,…`.
fn parse_sub_tests(text: &str) -> Result<Vec<SubTest>, Stop> {
    let mut tests = Vec::new();
    for word in text.split(',') {
        let test = SubTest::parse(word).ok_or_else(|| {
            Stop::Error(format!("'{word}' is not a sub-test: try tests=rect10:7180000"))
        })?;
        tests.push(test);
    }
    Ok(tests)
}

impl SubTest {
    fn parse(word: &str) -> Option<SubTest> {
        let (name, reference) = word.split_once(':')?;
        let reference_rate = reference.parse().ok().filter(|rate| *rate > 0.0)?;
        Some(SubTest { name: name.to_owned(), label: String::new(), reference_rate })
    }
}

impl<'a> Results<'a> {
    /// Measures `tests`. Where x11perf ends before its time, the first without a rate is held to be
    /// the reason, and the others are tried again.
    fn measure(&mut self, tests: &'a [SubTest], options: &Options) -> Result<(), Stop> {
        let mut left: Vec<&SubTest> = tests.iter().collect();

        while !left.is_empty() {
            let output = run_x11perf(&left, options)?;
            let text = String::from_utf8_lossy(&output.stdout);
            let rates = rates_by_label(&text, options.repeat);

            left.retain(|test| {
                let rate = rates.iter().find(|(label, _)| *label == test.label);
                if let Some((_, rate)) = rate {
                    self.rates.push((*test, *rate));
                }
                rate.is_none()
            });

            let reason = failure(&output);
            let failed = if output.status.success() { left.len() } else { left.len().min(1) };
            for test in left.drain(..failed) {
                self.failures.push((test, reason.clone()));
            }
        }
        Ok(())
    }

    fn report(&self, kit: &mut Kit) -> Result<(), Stop> {
        if self.rates.is_empty() {
            let first_failure = self.failures.first();
            let reason = first_failure.map_or("there is no sub-test", |(_, reason)| reason);
            return Err(Stop::Error(reason.to_owned()));
        }

        let scores = self.rates.iter().map(|(test, rate)| rate / test.reference_rate * 1000.0);
        let mean = scores.sum::<f64>() / self.rates.len() as f64;
        kit.report_value("score", (mean * 10.0).round() / 10.0, "score");
        for (test, rate) in &self.rates {
            kit.report_value(&test.name, *rate, "1/s");
        }

        for (test, reason) in &self.failures {
            kit.report_note(&format!(
                "error in {}: {reason}; the score is the mean of the other {}",
                test.name,
                self.rates.len()
            ));
        }
        Ok(())
    }
}

fn run_x11perf(tests: &[&SubTest], options: &Options) -> Result<Output, Stop> {
    let mut command = x11perf();
    command.args(["-repeat", &options.repeat.to_string(), "-time", &options.time.to_string()]);
    if options.reps > 0 {
        command.args(["-reps", &options.reps.to_string()]);
    }
    command.args(tests.iter().map(|test| format!("-{}", test.name)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());

    let child = command.spawn().map_err(cannot_run)?;
    kill_at_end_of_input(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    let output = child.wait_with_output();
    kill_at_end_of_input(None);
    output.map_err(cannot_run)
}

/// UnixBench's x11perf: 25 windows, where windows are what is measured.
fn x11perf() -> Command {
    let mut command = Command::new("x11perf");
    command.args(["-subs", "25"]);
    command
}

fn cannot_run(error: std::io::Error) -> Stop {
    Stop::Error(format!("x11perf cannot be run: {error}; is the package x11-apps whole?"))
}

/// How x11perf calls a sub-test; empty where it has none of that name.
fn find_label(name: &str) -> Result<String, Stop> {
    let mut command = x11perf();
    command.arg("-labels").arg(format!("-{name}")).stdin(Stdio::null());
    let output = command.output().map_err(cannot_run)?;

    if !output.status.success() {
        return Ok(String::new());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The rates per second by label, of lines such as `21600000 trep @   0.0004 msec (2250000.0/sec):
/// 100x100 rectangle`.
fn rates_by_label(text: &str, repeat: u64) -> Vec<(&str, f64)> {
    // Of several repetitions one more line is their average.
    let kind = if repeat > 1 { " trep @ " } else { " reps @ " };
    text.lines().filter(|line| line.contains(kind)).filter_map(parse_rate).collect()
}

fn parse_rate(line: &str) -> Option<(&str, f64)> {
    let (_, rate_and_label) = line.split_once('(')?;
    let (rate, label) = rate_and_label.split_once("/sec): ")?;
    let rate: f64 = rate.trim().parse().ok()?;
    let is_rate = rate.is_finite() && rate > 0.0;
    is_rate.then_some((label.trim(), rate))
}

/// Why x11perf has no rate for a sub-test.
fn failure(output: &Output) -> String {
    let stderr = printable_lines(&output.stderr);
    let stdout = printable_lines(&output.stdout);
    let complaint = stderr.iter().rfind(|line| !line.is_empty());
    let omission = stdout.iter().rfind(|line| line.contains("omitted"));

    match (complaint.or(omission), output.status.signal()) {
        (Some(line), _) if line.contains("font") => {
            format!("x11perf says '{line}' (package xfonts-base)")
        }
        (Some(line), _) => format!("x11perf says '{line}'"),
        (None, Some(signal)) => format!("x11perf was killed by signal {signal}"),
        (None, None) => "x11perf printed no rate for it".to_owned(),
    }
}

fn printable_lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(printable).collect()
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
        let each =
            [("100x100 rectangle", 2_240_000.0), ("Hide/expose window via popup (25 kids)", 206.0)];
        assert_eq!(rates_by_label(text, 1), each);
        assert_eq!(rates_by_label(text, 3), [("100x100 rectangle", 2_250_000.0)]);
    }

    #[test]
    fn sub_tests_are_read() {
        let read = parse_sub_tests("rect10:7180000,putimagexy500:0.1").ok();
        let read: Vec<(String, f64)> =
            read.into_iter().flatten().map(|test| (test.name, test.reference_rate)).collect();
        assert_eq!(read, [("rect10".to_owned(), 7_180_000.0), ("putimagexy500".to_owned(), 0.1)]);
        for wrong in ["", "rect10", "rect10:0", "rect10:x", "rect10:1,,"] {
            assert!(parse_sub_tests(wrong).is_err(), "{wrong}");
        }
    }
}
