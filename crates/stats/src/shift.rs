//! The distance of one sample above another.

use serde::Serialize;

use super::{Estimate, NORMAL_975, normal_p};

/// The method behind an interval of a difference.
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
    /// The method.
    pub method: Method,
}

impl Shift {
    /// Returns a difference with no interval at all.
    pub fn alone(value: f64) -> Shift {
        Shift { estimate: Estimate::alone(value), p: 1.0, method: Method::Nothing }
    }

    /// Returns the difference with an interval `factor` times as wide, and the p value of as much larger an error: that
    /// of a normal variate whose standard error is the half-width ÷ 1.96 (Lehmann, Nonparametrics, §2.5), but no
    /// smaller than that of the ranks, which few values bound.
    pub fn widened(&self, factor: f64) -> Shift {
        let Estimate { value, low, high } = self.estimate;
        if factor <= 1.0 || !self.estimate.bounded() {
            return *self;
        }
        let end = |end: f64| value + factor * (end - value);
        let estimate = Estimate { value, low: end(low), high: end(high) };
        let error = (estimate.high - estimate.low) / 2.0 / NORMAL_975;
        Shift { estimate, p: self.p.max(normal_p(value / error)), ..*self }
    }
}
