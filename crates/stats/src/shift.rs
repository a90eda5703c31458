//! How far one sample lies above another.

use serde::Serialize;

use super::{Estimate, normal_p, normal_quantile};

/// What an interval of a difference rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Wilcoxon's signed-rank test of paired differences.
    SignedRank,
    /// The rank-sum test of Wilcoxon, Mann and Whitney.
    RankSum,
    /// Student's t of paired differences.
    Student,
    /// Welch's t of two samples.
    Welch,
    /// Resampled trials.
    Bootstrap,
    /// There is no interval.
    Nothing,
}

/// A difference with its 95 % interval and its p value, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The difference, unbounded where the data carry no interval.
    pub estimate: Estimate,
    /// The two-sided p value that there is none; 1 without an interval.
    pub p: f64,
    /// What that rests on.
    pub method: Method,
}

impl Shift {
    /// Returns a difference with no interval at all.
    #[must_use]
    pub fn alone(value: f64) -> Shift {
        Shift { estimate: Estimate::alone(value), p: 1.0, method: Method::Nothing }
    }

    /// Returns the difference with an interval `factor` times as wide, and the p value of as much larger an error.
    #[must_use]
    pub fn widened(&self, factor: f64) -> Shift {
        let Estimate { value, low, high } = self.estimate;
        let end = |end: f64| value + factor * (end - value);
        // A p value of 1 has no error to widen, and one of 0 stays 0.
        let p = if self.p > 0.0 && self.p < 1.0 { normal_p(normal_quantile(self.p) / factor) } else { self.p };
        Shift { estimate: Estimate { value, low: end(low), high: end(high) }, p, ..*self }
    }
}
