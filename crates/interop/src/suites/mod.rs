//! Output of other benchmarks, one reader a file: their figures under their own names.

pub(super) mod cyclictest;
pub(super) mod fio;
pub(super) mod frames;
pub(super) mod geekbench;
pub(super) mod hackbench;
pub(super) mod hyperfine;
pub(super) mod interbench;
pub(super) mod lmbench;
pub(super) mod phoronix;
pub(super) mod rt_app;
pub(super) mod rtla;
pub(super) mod schbench;
pub(super) mod sysbench;
pub(super) mod yabs;

// What most readers need.
use anyhow::{Result, ensure};
use serde_json::Value;

use crate::draft::Draft;
use crate::figure::{Heading, Outcome, parse_outcome};
use crate::parts::Starts;
use crate::plain::clean_text;
use crate::text::{
    HeadedLine, Text, array_at, leading_number, number_at, outcome_at, string_at, word_after,
};
use crate::{date, lines};
use journal::Journal;

/// A name that is not among `taken`, to which it is added: the second of one name is `NAME #2`.
fn distinct_name(name: String, taken: &mut Vec<String>) -> String {
    let twins = taken.iter().filter(|other| **other == name).count();
    taken.push(name.clone());
    if twins == 0 { name } else { format!("{name} #{}", twins + 1) }
}

/// The latencies of one thread or CPU. NaN stands for what is no number in the text.
struct ThreadLatency {
    samples: f64,
    min: f64,
    mean: f64,
    max: f64,
}

/// The minimum or the maximum of some figures; NaN if one of them is NaN, since it may be that one.
fn fold_unless_nan(figures: impl Iterator<Item = f64>, fold: fn(f64, f64) -> f64) -> f64 {
    let either = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { fold(a, b) };
    figures.reduce(either).unwrap_or(f64::NAN)
}

/// Adds the cells of the minimum, mean and maximum latency of all threads; the mean is weighted by
/// their samples.
///
/// # Errors
/// No thread has a sample: the text is called truncated.
fn add_latencies(
    name: &str,
    unit: &str,
    threads: &[ThreadLatency],
    source: &Text<'_>,
    draft: &mut Draft<'_>,
) -> Result<()> {
    let samples: f64 = threads.iter().map(|thread| thread.samples).sum();
    ensure!(samples > 0.0, source.truncated_error("any sample"));

    let min = fold_unless_nan(threads.iter().map(|thread| thread.min), f64::min);
    let mean = threads.iter().map(|thread| thread.samples * thread.mean).sum::<f64>() / samples;
    let max = fold_unless_nan(threads.iter().map(|thread| thread.max), f64::max);
    for (figure, value) in [("Min", min), ("Avg", mean), ("Max", max)] {
        let heading = Heading::time(format!("{name} {figure}"), unit);
        draft.add_values(&heading.with_copies(threads.len() as u32), [value]);
    }
    Ok(())
}
