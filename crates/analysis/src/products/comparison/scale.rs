//! The scale of a difference.

use catalogue::Metric;
use stats::{Estimate, Exact, median};

use super::inverse;
use crate::figures::Measure;

/// The scale on which two sides are compared: what a difference is of, and how it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Scale {
    /// Logarithms, whose differences are ratios: per cent of a rate, or of its inverse.
    #[default]
    Ratio,
    /// Shares of deadlines met: percentage points.
    Points,
    /// The values themselves, of which one is 0 or negative, so that they have no ratio: per cent
    /// of the size of the reference. From 0 a difference has a direction and no size: it is
    /// infinite.
    Plain {
        /// The size of the reference.
        base: f64,
    },
}

impl Scale {
    /// The scale on which values are compared with those of the reference.
    pub(crate) fn new(measure: Measure, base: &[f64], judged: &[f64]) -> Scale {
        match measure {
            Measure::Met => Scale::Points,
            _ if base.iter().chain(judged).all(|value| *value > 0.0) => Scale::Ratio,
            _ => Scale::Plain { base: median(base).abs() },
        }
    }

    /// True if a change is a quotient: several have a geometric mean.
    pub fn is_ratio(self) -> bool {
        self == Scale::Ratio
    }

    /// A value as a number that is larger where it is better, and whose differences are judged.
    pub(crate) fn goodness(self, measure: Measure, metric: Metric, value: f64) -> f64 {
        match self {
            Scale::Plain { .. } if measure.lower_is_better(metric) => -value,
            Scale::Plain { .. } => value,
            Scale::Ratio | Scale::Points => measure.goodness(metric, value),
        }
    }

    /// A difference of goodness in the unit that reports show: per cent, or points.
    pub(crate) fn size(self, goodness: f64) -> f64 {
        match self {
            Scale::Ratio => 100.0 * goodness.exponential_less_1(),
            Scale::Points => goodness,
            // From 0 to 0 nothing changes.
            Scale::Plain { .. } if goodness == 0.0 => 0.0,
            Scale::Plain { base } => 100.0 * goodness / base,
        }
    }

    /// The inverse of [`Scale::size`]: the difference of goodness that makes this size.
    pub(crate) fn goodness_of_size(self, size: f64) -> f64 {
        match self {
            Scale::Ratio => (size / 100.0).log_of_1_plus(),
            Scale::Points => size,
            Scale::Plain { base } => size / 100.0 * base,
        }
    }

    /// The change of the figure itself, in per cent or points, that a difference of goodness is.
    pub(crate) fn change(self, lower_is_better: bool, goodness: f64) -> f64 {
        self.size(if lower_is_better { -goodness } else { goodness })
    }

    /// A shift of goodness as the difference of a rate; negative is worse.
    pub(crate) fn delta(self, shift: &Estimate) -> Estimate {
        shift.image(|goodness| self.size(goodness))
    }

    /// A shift of goodness as a share of the reference, or of a whole deadline; of a ratio its
    /// logarithm, so that both directions count alike.
    pub(crate) fn share(self, shift: &Estimate) -> Estimate {
        match self {
            Scale::Ratio => *shift,
            Scale::Points | Scale::Plain { .. } => self.delta(shift).image(|size| size / 100.0),
        }
    }

    /// A difference of a rate as the change of a figure of which less is better.
    pub(crate) fn inverse(self, delta: Estimate) -> Estimate {
        match self {
            Scale::Ratio => inverse(delta),
            Scale::Points | Scale::Plain { .. } => delta.image(|delta| -delta),
        }
    }
}
