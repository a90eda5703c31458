//! schbench's text: percentiles of wake-ups, requests and requests per second, and the average of
//! the latter. Each repetition is a trial of one run, until other words above one begin another run
//! (`note_starts_at_captions`).
//!
//! ```text
//! Wakeup Latencies percentiles (usec) runtime 30 (s) (162 total samples)
//!   50.0th: 5          (100 samples)
//! * 99.0th: 26         (61 samples)
//!   min=1, max=40
//! RPS percentiles (requests) runtime 30 (s) (31 total samples)
//!   …
//! average rps: 1234.56
//! ```
//!
//! Tables are printed while a run goes on, too: the last of a run counts. A run ends at its average
//! rate. Before 2023 there was none, only a table "Latency", and a run ends where the time of the
//! next table is no longer than that of the last.

use super::{Draft, Heading, Journal, Result, Starts, Text, ensure, leading_number};
use crate::{end, figure, parts};
use words::Grouped;

/// The end of a table's name, before what its percentiles are of.
const PERCENTILES: &str = " percentiles (";

/// The first table of a run.
const FIRST: &str = "Wakeup Latencies percentiles (";

/// The only table before 2023.
const OLD: &str = "Latency percentiles (usec)";

/// The table of rates.
const RATES: &str = "RPS";

/// The last line of a run.
const AVERAGE_RATE: &str = "average rps: ";

/// The start of a table's last line.
const TABLE_END: &str = "min=";

/// Beginnings of other lines of schbench's.
const OTHERS: [&str; 6] = [
    "current rps",
    "sched delay",
    "setting worker threads",
    "warmup done",
    "avg worker transfer",
    "final rps goal",
];

pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    let is_head = |line: &str| line.starts_with(FIRST) || line.starts_with(OLD);
    let is_own = |line: &str| {
        line.contains(PERCENTILES)
            || parse_percentile(line).is_some()
            || [TABLE_END, AVERAGE_RATE].iter().chain(&OTHERS).any(|start| line.starts_with(start))
    };
    parts::note_starts_at_captions(text, starts, is_head, is_own);
}

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.has_line(FIRST) || text.has_line(OLD)
}

/// True if the last line has all digits of its figure.
pub(crate) fn is_whole(text: &Text<'_>, line: &str) -> bool {
    let line = line.trim_start();
    match line.strip_prefix(AVERAGE_RATE) {
        Some(rate) => rate.contains('.') && end::has_decimals(rate, 2),
        // Its figures are not read.
        None => line.starts_with(TABLE_END) || end::ends_in_no_number(text, line),
    }
}

struct Percentile<'t> {
    table: &'t str,
    heading: Heading<'static>,
    value: f64,
}

/// The runs while they are read.
#[derive(Default)]
struct Runs<'t> {
    /// The figures of the runs that have ended.
    figures: Vec<(Heading<'static>, f64)>,
    /// The last tables of the run that goes on.
    last_tables: Vec<Percentile<'t>>,
    /// The time of the last old table; 0 where it has none.
    seconds: f64,
    /// True within an old table that has not ended.
    is_open: bool,
}

impl<'t> Runs<'t> {
    /// Begins a table, in place of an earlier one of that name in the run.
    fn begin_table(&mut self, line: &'t str, name: &'t str) {
        let seconds = line.split_once(" runtime ").and_then(|(_, time)| leading_number(time));
        let seconds = seconds.unwrap_or(0.0);
        let is_old = line.starts_with(OLD);
        if is_old && seconds <= self.seconds {
            self.end_run();
        }
        self.last_tables.retain(|percentile| percentile.table != name);
        self.seconds = seconds;
        self.is_open = is_old;
    }

    fn end_run(&mut self) {
        for Percentile { heading, value, .. } in self.last_tables.drain(..) {
            self.figures.push((heading, value));
        }
    }
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "schbench".clone_into(&mut draft.run.tool);
    let mut runs = Runs::default();
    // Empty between two tables.
    let mut table = "";
    for (number, line) in source.lines() {
        let line = line.trim_start();
        if let Some((name, _)) = line.split_once(PERCENTILES) {
            table = name;
            runs.begin_table(line, name);
        } else if let Some((percentile, value)) =
            parse_percentile(line).filter(|_| !table.is_empty())
        {
            let label = format!("schbench {table} p{percentile}");
            let heading = match table {
                RATES => Heading::rate(label, "1/s"),
                _ => Heading::time(label, "us"),
            };
            runs.last_tables.push(Percentile { table, heading, value });
        } else if line.starts_with(TABLE_END) {
            runs.is_open = false;
            table = "";
        } else if let Some(rate) = line.strip_prefix(AVERAGE_RATE) {
            let Some(rate) = figure::parse_number(rate.trim()) else {
                return Err(source.damaged_line_error(number, line, "rate"));
            };
            runs.figures.push((Heading::rate("schbench requests", "1/s"), rate));
            runs.end_run();
        }
    }

    ensure!(!runs.is_open, source.truncated_error("the least and the largest latency at its end"));
    if source.has_line(OLD) {
        runs.end_run();
    }
    ensure!(
        !runs.figures.is_empty(),
        source.truncated_error("the average of requests per second at its end")
    );
    for (heading, values) in runs.figures.into_iter().grouped() {
        draft.add_values(&heading, values);
    }
    Ok(vec![draft.finish()])
}

/// A percentile and its value: `99` and 26 of `* 99.0th: 26         (161 samples)`.
fn parse_percentile(line: &str) -> Option<(&str, f64)> {
    let (percentile, value) = line.trim_start_matches([' ', '*']).split_once("th: ")?;
    let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
    Some((percentile, figure::parse_number(value.split_whitespace().next()?)?))
}
