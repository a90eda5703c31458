//! The effect of a machine whose speed wanders on intervals: trials close in time are alike, and so are worth less than
//! as many independent ones.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Figure, Measure, Sample};
use journal::Key;
use stats::{Drift, Estimate, Exact, Timed, median};

/// The drift of a run, and what it does to its intervals.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Drifting {
    /// The most likely share of the variance of a trial that is a speed which all tests have in common.
    pub share: f64,
    /// The most likely time in seconds after which that speed has forgotten itself.
    pub seconds: f64,
    /// The factor by which the intervals of scores are wider for it; the median over the rows.
    pub widening: f64,
}

impl Drifting {
    /// Widens the intervals of the rows by `drift`; returns what it did.
    pub(super) fn widen(drift: &Drift, rows: &mut [Figure]) -> Drifting {
        let together = together(rows);
        let mut found = Vec::new();
        for (row, together) in rows.iter_mut().zip(together).filter(|(row, _)| row.samples.len() > 1) {
            row.widening = Widening::new(drift, &row.samples, together);
            row.score = widened(&row.score, row.widening.alone);
            if let Some(joules) = row.energy.as_mut().and_then(|energy| energy.per_operation.as_mut()) {
                *joules = widened(joules, row.widening.alone);
            }
            found.push(row.widening.alone);
        }
        let (share, seconds) = drift.most_likely();
        Drifting { share, seconds, widening: median(&found) }
    }

    /// Returns true if a reader would see its effect.
    pub(super) fn shows(&self) -> bool {
        self.share > 0.0 && self.widening > 1.1
    }
}

/// The factor by which intervals are wider than those of independent trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widening {
    /// The widening for the cell alone.
    pub alone: f64,
    /// The widening for a mean over all cells that were measured at the same level: their own noise averages out, the
    /// drift does not.
    pub together: f64,
}

impl Default for Widening {
    fn default() -> Self {
        Widening::by(1.0)
    }
}

impl Widening {
    /// Returns that of trials of a row which is one of `together` at its level.
    pub(super) fn new(drift: &Drift, samples: &[Sample], together: f64) -> Widening {
        let times: Vec<f64> = samples.iter().map(|sample| sample.at).collect();
        Widening { alone: drift.widening(&times, 1.0), together: drift.widening(&times, together) }
    }

    /// Returns that of the difference of two that are about equally sure.
    pub(crate) fn of_difference(self, other: Widening) -> Widening {
        let both = |a: f64, b: f64| ((a * a + b * b) / 2.0).sqrt();
        Widening { alone: both(self.alone, other.alone), together: both(self.together, other.together) }
    }

    /// Returns the same factor for both.
    pub(crate) fn by(factor: f64) -> Widening {
        Widening { alone: factor, together: factor }
    }

    /// Returns both one after the other.
    pub(crate) fn times(self, other: Widening) -> Widening {
        Widening { alone: self.alone * other.alone, together: self.together * other.together }
    }
}

/// Returns how many rows were measured at the level of each, itself included.
pub(super) fn together(rows: &[Figure]) -> Vec<f64> {
    let level = |row: &Figure| Key { test: String::new(), ..row.cell.key.clone() };
    let mut counts: HashMap<Key, u32> = HashMap::new();
    for row in rows {
        *counts.entry(level(row)).or_default() += 1;
    }
    rows.iter().map(|row| counts.get(&level(row)).copied().map_or(0.0, f64::from)).collect()
}

/// Returns the drift that the trials of the rows show; `None` if they are too few. A slow machine has low rates and
/// long times.
pub(super) fn common(rows: &[Figure]) -> Option<Drift> {
    let series = |row: &Figure| -> Vec<Timed> {
        let value = |value: f64| Measure::Score.goodness(row.cell.metric, value);
        row.samples.iter().map(|sample| Timed { at: sample.at, value: value(sample.value) }).collect()
    };
    Drift::new(&rows.iter().map(series).collect::<Vec<Vec<Timed>>>())
}

/// Returns the estimate with each end `factor` times as far from the value, in logarithms.
fn widened(estimate: &Estimate, factor: f64) -> Estimate {
    let Estimate { value, low, high } = *estimate;
    if !(estimate.bounded() && low > 0.0) {
        return *estimate;
    }
    let end = |end: f64| value * (end / value).to_the_power(factor);
    Estimate { value, low: end(low), high: end(high) }
}
