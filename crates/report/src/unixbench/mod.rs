//! A run in UnixBench 6.0.0's own files, for programs that read those: its text to the character,
//! its wide CSV, its log and a page. They hold what UnixBench's do and no more: intervals and
//! warnings are in the report of the run.

mod log;
mod page;
mod text;

use std::collections::BTreeSet;
use std::time::Duration;

use analysis::{Figure, Results};
use anyhow::Result;
use jiff::civil::DateTime;
use words::Grouped;

pub use log::{log, passed};
pub use page::page;
pub use text::{report, rule};

/// The facts of the system above a report: each a name such as `OS`, or none, and one line or more.
pub type Heading = [(String, String)];

/// The results of one number of copies.
struct Level<'a> {
    copies: u32,
    /// In the order of their labels, byte by byte.
    figures: Vec<&'a Figure>,
    /// Seconds from the start of the run to its first and its last moment.
    begin: f64,
    end: f64,
}

impl<'a> Level<'a> {
    fn new(copies: u32, mut figures: Vec<&'a Figure>, results: &Results) -> Level<'a> {
        figures.sort_by(|a, b| a.cell.label.cmp(&b.cell.label));

        let (mut begin, mut end) = (f64::INFINITY, 0.0_f64);
        for figure in &figures {
            for sample in &figure.samples {
                begin = begin.min(sample.at);
                end = end.max(sample.at + figure.seconds);
            }
        }
        // Without samples, all that is known is the time of the run.
        let has_samples = begin.is_finite();
        let (begin, end) = if has_samples { (begin, end) } else { (0.0, results.seconds) };
        Level { copies, figures, begin, end }
    }

    /// The first and the last moment by the clock of the run, if that is known.
    fn moments(&self, results: &Results) -> Option<[DateTime; 2]> {
        let start: DateTime = results.run.started.get(..19)?.parse().ok()?;
        Some([moment_after(start, self.begin)?, moment_after(start, self.end)?])
    }
}

fn moment_after(start: DateTime, seconds: f64) -> Option<DateTime> {
    let duration = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
    start.checked_add(duration).ok()
}

/// `2 CPUs in system; running 1 parallel copy of tests`.
pub(crate) fn title(cpus: usize, copies: u32) -> String {
    let (cpus, copies) = (words::count(cpus, "CPU"), words::count(copies, "parallel copy"));
    format!("{cpus} in system; running {copies} of tests")
}

/// The results by number of copies: in the order of the passes, or of blocks from few to many.
fn levels(results: &Results) -> Vec<Level<'_>> {
    let by_copies = results.figures.iter().map(|figure| (figure.cell.key.copies, figure)).grouped();
    let mut levels = Vec::new();
    for (copies, figures) in by_copies {
        levels.push(Level::new(copies, figures, results));
    }

    if results.run.is_classic() {
        levels.sort_by(|a, b| a.begin.total_cmp(&b.begin));
        // As in UnixBench, a level lasts from the end of the one before: its rests are in its time.
        let mut last_end = 0.0;
        for level in &mut levels {
            level.begin = last_end;
            last_end = level.end;
        }
    }
    levels
}

/// Who measured, and how.
fn origin(results: &Results) -> String {
    format!("measured by {} with its {} procedure", results.run.tool, results.run.procedure)
}

/// The wide table: a column per test, a line per number of copies, scores with one decimal.
///
/// # Errors
/// There are none: writing to memory does not fail.
pub fn csv(results: &Results) -> Result<String> {
    let levels = levels(results);
    let labels: BTreeSet<&str> =
        levels.iter().flat_map(|level| &level.figures).map(|figure| &*figure.cell.label).collect();

    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut heads = vec!["Concurrency".to_owned()];
    heads.extend(labels.iter().map(|label| words::csv_field(label)));
    writer.write_record(heads)?;
    for level in &levels {
        let mut record = vec![level.copies.to_string()];
        for label in &labels {
            let figure = level.figures.iter().find(|figure| figure.cell.label == *label);
            record.push(figure.map_or_else(String::new, |figure| score(figure.score.value)));
        }
        writer.write_record(record)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A score as UnixBench prints it.
fn score(value: f64) -> String {
    format!("{value:.1}")
}
