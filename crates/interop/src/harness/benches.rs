//! The lines of criterion and of libtest's benches.
//!
//! criterion announces a benchmark before its interval, and libtest prints one line a bench, to
//! which the bench itself may have added words ([`read_criterion`]):
//!
//! ```text
//! Benchmarking hash: Warming up for 3.0000 s
//! hash                    time:   [1.17 µs 1.51 µs 2.16 µs]
//! test hash ... bench:       1,510 ns/iter (+/- 20)
//! ```
//!
//! A last line without a newline was cut: the benchmark that it names has no figure, and a reason.

use super::{CUT, metric_of, whole_lines};
use crate::figure::{Heading, Outcome, Reading, parse_outcome};
use crate::plain::excerpt;
use catalogue::unit;
use journal::NoValue;

/// The unit in which times of criterion and libtest are kept.
const NS: &str = "ns";

/// The unit of libtest.
const LIBTEST_TIME: &str = "ns/iter";

/// What criterion prints after the name of a benchmark, before its figure.
const CRITERION_STEPS: [&str; 3] = [": Warming up for ", ": Collecting ", ": Analyzing"];

/// A figure of criterion or libtest. Times are in ns.
struct BenchFigure<'t> {
    /// Empty where an earlier line has it: the name was too long for this one, or the bench printed
    /// something first.
    name: &'t str,
    unit: &'t str,
    outcome: Outcome,
}

impl<'t> BenchFigure<'t> {
    /// Reads a line of criterion, `hash  time:   [1.17 µs 1.51 µs 2.16 µs]`, by its estimate in the
    /// middle.
    fn parse_criterion(line: &'t str) -> Option<BenchFigure<'t>> {
        let (name, interval) = split_at_time(line)?;
        let interval = interval.trim().strip_prefix('[')?.strip_suffix(']')?;
        let words: Vec<&str> = interval.split_whitespace().collect();
        let [_, _, estimate, unit, _, _] = words[..] else {
            return None;
        };
        Some(BenchFigure::new(name.trim(), estimate, unit, unit))
    }

    /// Reads what follows `bench:` in libtest's lines, `1,510 ns/iter (+/- 20)`. Other programs
    /// that print such lines have other units, such as `cycles/iter`.
    fn from_libtest(name: &'t str, figure: &'t str) -> BenchFigure<'t> {
        let mut words = figure.split_whitespace();
        let number = words.next().unwrap_or_default().replace(',', "");
        let unit = words.next().unwrap_or(LIBTEST_TIME);
        BenchFigure::new(name, &number, unit, unit.strip_suffix("/iter").unwrap_or(unit))
    }

    /// A figure in `unit`; in ns if `time_unit` is a unit of time.
    fn new(name: &'t str, number: &str, unit: &'t str, time_unit: &str) -> BenchFigure<'t> {
        let outcome = parse_outcome(number);
        if !unit::are_alike(time_unit, NS) {
            return BenchFigure { name, unit, outcome };
        }
        let outcome = outcome.map(|value| unit::convert(value, time_unit, NS).unwrap_or(f64::NAN));
        BenchFigure { name, unit: NS, outcome }
    }
}

/// What stands before and after `time:` in a line of criterion, whose name may have that word, too.
fn split_at_time(line: &str) -> Option<(&str, &str)> {
    let (name, after) = line.rsplit_once("time:")?;
    let is_word_of_its_own = name.is_empty() || name.ends_with(char::is_whitespace);
    (is_word_of_its_own && !after.starts_with(':')).then_some((name, after))
}

/// A line of libtest, `test NAME ... OUTCOME`.
struct LibtestLine<'t> {
    name: &'t str,
    /// `bench: …`, `ok`, `ignored` or `FAILED`, perhaps after words that the bench printed.
    outcome: &'t str,
}

impl<'t> LibtestLine<'t> {
    fn parse(line: &'t str) -> Option<LibtestLine<'t>> {
        let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
        Some(LibtestLine { name: name.trim(), outcome: outcome.trim() })
    }
}

/// The figure at the end of an outcome of libtest, after `bench:`.
fn libtest_figure(outcome: &str) -> Option<&str> {
    let (_, figure) = outcome.rsplit_once("bench:")?;
    figure.trim_start().starts_with(|c: char| c.is_ascii_digit()).then_some(figure)
}

/// The benchmark that criterion begins, `Benchmarking hash: Warming up for 3.0000 s`.
fn announced_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("Benchmarking ")?;
    CRITERION_STEPS.iter().find_map(|step| Some(name.rsplit_once(step)?.0))
}

/// True of the output of criterion or libtest. Words that a bench prints may divide its line: then
/// one line has its name and a later one begins with `bench:`.
pub(super) fn is_criterion(text: &str) -> bool {
    let mut has_name = false;
    let mut has_figure = false;
    for line in text.lines() {
        let libtest = LibtestLine::parse(line);
        let is_whole = libtest.as_ref().is_some_and(|line| libtest_figure(line.outcome).is_some());
        if is_whole || BenchFigure::parse_criterion(line).is_some() {
            return true;
        }
        has_name |= libtest.is_some();
        has_figure |= line.starts_with("bench:") && libtest_figure(line).is_some();
    }
    has_name && has_figure
}

/// True for `running 3 tests` and `test result: ok. …`.
pub(super) fn is_of_libtest(line: &str) -> bool {
    let count = line.strip_prefix("running ").and_then(|line| line.strip_suffix(" tests"));
    count.is_some_and(|count| count.parse::<u32>().is_ok()) || line.starts_with("test result: ")
}

/// Reads the estimates of criterion and libtest; throughput is left out, since it says the same. A
/// name that comes again is of another run.
pub(super) fn read_criterion(text: &str) -> Vec<Reading> {
    let mut benches = Benches { runs: vec![Reading::default()], ..Benches::default() };
    for line in whole_lines(text) {
        benches.read_line(line);
    }

    // A line that was cut may still have its name.
    let last = text.lines().last().filter(|_| !text.ends_with('\n')).unwrap_or_default();
    let cut = split_at_time(last).or_else(|| last.strip_prefix("test ")?.split_once(" ... bench:"));
    match cut {
        // Criterion's change in time, which is not read.
        Some((name, _)) if name.trim().is_empty() && benches.last_line == "change:" => {}
        Some((name, _)) => benches.add_failed(name.trim(), CUT),
        None => benches.end_bench(),
    }
    benches.runs
}

/// A text of criterion or libtest, line by line.
#[derive(Default)]
struct Benches<'t> {
    runs: Vec<Reading>,
    /// The line above, trimmed: criterion may print a long name there.
    last_line: &'t str,
    /// The bench that has begun and has no outcome yet.
    open: Option<&'t str>,
}

impl<'t> Benches<'t> {
    fn read_line(&mut self, line: &'t str) {
        if let Some(LibtestLine { name, outcome }) = LibtestLine::parse(line) {
            self.end_bench();
            self.open = Some(name);
            // It may be in a later line, if the bench printed something.
            self.read_outcome(outcome);
        } else if let Some(figure) = BenchFigure::parse_criterion(line) {
            self.add_figure(figure);
        } else if let Some(name) = announced_name(line) {
            // Each step of a bench announces it again.
            if self.open.is_some_and(|open| open != name) {
                self.end_bench();
            }
            self.open = Some(name);
        } else if let Some(error) = line.strip_prefix("error: bench failed") {
            self.note_failure(error);
        } else {
            self.read_outcome(line.trim());
        }
        self.last_line = line.trim();
    }

    /// Reads the outcome of the bench that has begun. Any other text, or one where no bench has
    /// begun, is passed over.
    fn read_outcome(&mut self, outcome: &'t str) {
        let Some(name) = self.open else {
            return;
        };
        if let Some(figure) = libtest_figure(outcome) {
            self.add_figure(BenchFigure::from_libtest(name, figure));
        } else if outcome == "FAILED" {
            self.add_failed(name, "its bench failed");
        } else if outcome == "ok" || outcome.starts_with("ignored") {
            self.open = None;
        }
    }

    /// Adds a figure, which ends the bench that has begun. One without a name is that bench's, or
    /// has its name in the line before.
    fn add_figure(&mut self, figure: BenchFigure<'_>) {
        let BenchFigure { name, unit, outcome } = figure;
        let open = self.open.take();
        let name = match name {
            "" => open.unwrap_or(self.last_line),
            name => name,
        };
        if self.runs.last().is_some_and(|run| run.has_name(name, 1)) {
            self.runs.push(Reading::default());
        }

        let heading = Heading { label: name.to_owned(), copies: 1, unit, metric: metric_of(unit) };
        if let Some(run) = self.runs.last_mut() {
            run.add_outcome(&heading, outcome);
        }
    }

    fn add_failed(&mut self, name: &str, reason: &str) {
        let outcome = Err(NoValue::Failed(reason.to_owned()));
        self.add_figure(BenchFigure { name, unit: NS, outcome });
    }

    /// Ends the bench that has begun, if any: it has no result.
    fn end_bench(&mut self) {
        if let Some(name) = self.open.take() {
            self.add_failed(name, "it has no result");
        }
    }

    /// Notes cargo's line about a program that failed. The bench that has begun has no result.
    fn note_failure(&mut self, error: &str) {
        self.end_bench();
        if let Some(run) = self.runs.last_mut() {
            run.notes.push(format!("its benches failed: 'error: bench failed{}'", excerpt(error)));
        }
    }
}
