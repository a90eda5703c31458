//! Output of other benchmarks, one reader a file: their figures under their own names.

pub(super) mod cyclictest;
pub(super) mod fio;
pub(super) mod frames;
pub(super) mod geekbench;
pub(super) mod hackbench;
pub(super) mod hyperfine;
pub(super) mod lmbench;
pub(super) mod phoronix;
pub(super) mod rt_app;
pub(super) mod rtla;
pub(super) mod schbench;
pub(super) mod sysbench;
pub(super) mod yabs;

// What every reader needs.
use anyhow::{Result, ensure};
use serde_json::Value;

use crate::draft::{Draft, Heading, cleaned};
use crate::text::{Text, after, leading, list, number, string_at};
use crate::{date, lines};
use journal::Journal;

/// The samples of one thread or CPU, and its least, mean and largest latency.
type Latencies = [f64; 4];

/// Makes the cells of the least, mean and largest latency of all threads; the mean is weighted by their samples.
///
/// # Errors
/// None has any sample.
fn latencies(name: &str, unit: &str, threads: &[Latencies], source: &Text<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let samples: f64 = threads.iter().map(|[samples, ..]| samples).sum();
    ensure!(samples > 0.0, source.cut("any sample"));
    let mean = threads.iter().map(|[samples, _, mean, _]| samples * mean).sum::<f64>() / samples;
    let least = threads.iter().map(|thread| thread[1]).fold(f64::INFINITY, f64::min);
    let largest = threads.iter().map(|thread| thread[3]).fold(0.0, f64::max);
    for (figure, value) in [("Min", least), ("Avg", mean), ("Max", largest)] {
        draft.figure(&Heading::time(format!("{name} {figure}"), unit).at(threads.len() as u32), [value]);
    }
    Ok(())
}
