//! How many runs simulations have: all of them take minutes, a tenth shows whether an estimator is broken.

use std::ops::Range;

use crate::all_must_run;

/// Returns a number of simulated runs: a tenth unless all must run.
pub fn simulated(all: u64) -> u64 {
    if all_must_run() { all } else { all.div_ceil(10) }
}

/// Returns where a share or a mean of simulated runs may lie: the range for all of them, and one that is
/// √10 times as wide for a tenth of them.
pub fn allowed(all: Range<f64>) -> Range<f64> {
    let widening = if all_must_run() { 1.0 } else { 10_f64.sqrt() };
    let (middle, half) = (f64::midpoint(all.start, all.end), (all.end - all.start) / 2.0 * widening);
    middle - half..middle + half
}
