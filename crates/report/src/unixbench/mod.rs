//! A run in UnixBench 6.0.0's own files, for programs that read those: its text to the character, its wide CSV, its log
//! and a page. They hold what UnixBench's do and no more: intervals and warnings are in the report of the run.

mod log;
mod page;
mod text;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use jiff::civil::DateTime;

use analysis::{Figure, Results};
pub use log::{log, passed};
pub use page::page;
pub use text::{report, rule};
use words::Grouped;

/// The facts of the system above a report: each a name such as `OS`, or none, and one line or more.
pub type Heading = [(String, String)];

/// The results of one number of copies.
struct Copies<'a> {
    copies: u32,
    /// In the order of their labels, byte by byte.
    rows: Vec<&'a Figure>,
    /// Seconds from the start of the run to its first and its last moment.
    span: (f64, f64),
}

impl Copies<'_> {
    /// Returns its first and its last moment by the clock of the run, unless that is not known.
    fn moments(&self, results: &Results) -> Option<[DateTime; 2]> {
        let began: DateTime = results.run.started.get(..19)?.parse().ok()?;
        let at = |seconds: f64| began.checked_add(Duration::try_from_secs_f64(seconds.max(0.0)).ok()?).ok();
        Some([at(self.span.0)?, at(self.span.1)?])
    }
}

/// Returns `2 CPUs in system; running 1 parallel copy of tests`.
pub(crate) fn title(cpus: usize, copies: u32) -> String {
    format!("{} in system; running {} of tests", words::count(cpus, "CPU"), words::count(copies, "parallel copy"))
}

/// Returns the results by number of copies: in the order of the passes, or of blocks from few to many.
fn levels<'a>(results: &'a Results) -> Vec<Copies<'a>> {
    let level = |(copies, mut rows): (u32, Vec<&'a Figure>)| {
        rows.sort_by(|a, b| a.cell.label.cmp(&b.cell.label));
        let samples = rows.iter().flat_map(|row| row.samples.iter().map(|sample| (sample.at, sample.at + row.seconds)));
        let (from, to) = samples.fold((f64::INFINITY, 0.0_f64), |span, at| (span.0.min(at.0), span.1.max(at.1)));
        Copies { copies, rows, span: if from.is_finite() { (from, to) } else { (0.0, results.seconds) } }
    };
    let by_copies = results.figures.iter().map(|row| (row.cell.key.copies, row)).grouped();
    let mut levels: Vec<Copies<'a>> = by_copies.into_iter().map(level).collect();
    if results.run.is_classic() {
        levels.sort_by(|a, b| a.span.0.total_cmp(&b.span.0));
        // As in UnixBench, a level lasts from the end of the one before: its rests are in its time.
        levels.iter_mut().fold(0.0, |before, level| {
            level.span.0 = before;
            level.span.1
        });
    }
    levels
}

/// Returns who measured, and how.
fn origin(results: &Results) -> String {
    format!("measured by {} with its {} procedure", results.run.tool, results.run.procedure)
}

/// Returns the wide table: a column per test, a line per number of copies, scores with one decimal.
///
/// # Errors
/// There are none: writing to memory does not fail.
pub fn csv(results: &Results) -> Result<String> {
    let levels = levels(results);
    let labels: BTreeSet<&str> = levels.iter().flat_map(|level| &level.rows).map(|row| &*row.cell.label).collect();
    let heads = labels.iter().map(|label| words::csv_field(label));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["Concurrency".to_owned()].into_iter().chain(heads))?;
    for level in &levels {
        let of = |label: &&str| level.rows.iter().find(|row| row.cell.label == **label);
        let scores = labels.iter().map(|label| of(label).map_or_else(String::new, |row| score(row.score.value)));
        writer.write_record([level.copies.to_string()].into_iter().chain(scores))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A score as UnixBench prints it.
fn score(value: f64) -> String {
    format!("{value:.1}")
}
