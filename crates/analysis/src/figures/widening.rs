//! The factors by which a wandering machine speed widens intervals; [`super::drift`] finds them.

use serde::{Deserialize, Serialize};

use stats::Drift;

/// Smallest factor of intervals that a reader would notice.
const MIN_NOTICED_WIDENING: f64 = 1.1;

/// The drift of a run, and what it does to its intervals.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Drifting {
    /// The most likely share of a trial's variance that comes from the machine's speed, which all
    /// tests have in common.
    pub share: f64,
    /// The most likely correlation time of that speed, in seconds.
    pub seconds: f64,
    /// The factor by which it widens the intervals of scores; the median over the rows.
    pub widening: f64,
}

impl Drifting {
    /// True if a reader would notice the effect on intervals.
    pub(crate) fn shows(&self) -> bool {
        self.share > 0.0 && self.widening > MIN_NOTICED_WIDENING
    }
}

/// The factor by which intervals are wider than those of independent trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widening {
    /// The widening for the cell alone.
    pub alone: f64,
    /// The widening for a mean over all cells that were measured at the same level: their own noise
    /// averages out, the drift does not.
    pub together: f64,
}

impl Default for Widening {
    fn default() -> Self {
        Widening::by(1.0)
    }
}

impl Widening {
    /// The widening of a cell's trials, which began at `times`; the cell is one of `cells` at its
    /// level.
    pub(crate) fn new(drift: &Drift, times: &[f64], cells: f64) -> Widening {
        Widening { alone: drift.widening(times, 1.0), together: drift.widening(times, cells) }
    }

    /// The widening of the difference of two that are about equally certain.
    pub(crate) fn of_difference(self, other: Widening) -> Widening {
        Widening {
            alone: root_mean_square(self.alone, other.alone),
            together: root_mean_square(self.together, other.together),
        }
    }

    /// The same factor for both.
    pub(crate) fn by(factor: f64) -> Widening {
        Widening { alone: factor, together: factor }
    }

    /// One widening after the other.
    pub(crate) fn times(self, other: Widening) -> Widening {
        Widening { alone: self.alone * other.alone, together: self.together * other.together }
    }
}

fn root_mean_square(a: f64, b: f64) -> f64 {
    ((a * a + b * b) / 2.0).sqrt()
}
