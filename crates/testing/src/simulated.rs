//! The size of simulations: all of their runs take minutes, and a tenth shows already if an
//! estimator is broken.

use std::ops::Range;

use crate::all_must_run;

/// The number of runs of a simulation that has `all` of them: a tenth unless all must run.
pub fn simulated(all: u64) -> u64 {
    if all_must_run() { all } else { all.div_ceil(10) }
}

/// The range in which a share or a mean of simulated runs may lie: `all` for all of them, and one
/// that is √10 times as wide for a tenth of them.
pub fn allowed(all: Range<f64>) -> Range<f64> {
    let widening = if all_must_run() { 1.0 } else { 10_f64.sqrt() };
    let middle = f64::midpoint(all.start, all.end);
    let half_width = (all.end - all.start) / 2.0 * widening;
    middle - half_width..middle + half_width
}
