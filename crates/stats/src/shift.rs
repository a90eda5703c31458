//! A difference between two samples, with its interval, its p value and its method.

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
    /// Ordered values about a quantile of each of two samples.
    Quantiles,
    /// No method: there is no interval.
    Nothing,
}

/// A difference with its 95 % interval and its p value, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    pub estimate: Estimate,
    /// The two-sided p value of no difference; 1 without an interval.
    pub p: f64,
    pub method: Method,
}

impl Shift {
    /// A difference without an interval.
    pub fn alone(value: f64) -> Shift {
        Shift { estimate: Estimate::alone(value), p: 1.0, method: Method::Nothing }
    }

    /// The difference with an interval `factor` times as wide. The p value is a normal variate's
    /// whose standard error is the new half-width ÷ 1.96 (Lehmann, Nonparametrics, §2.5), but not
    /// smaller than before: the ranks of few values bound it.
    pub fn widened(&self, factor: f64) -> Shift {
        let Estimate { value, low, high } = self.estimate;
        if factor <= 1.0 || !self.estimate.bounded() {
            return *self;
        }

        let end = |end: f64| value + factor * (end - value);
        let estimate = Estimate { value, low: end(low), high: end(high) };
        let error = estimate.half_width() / NORMAL_975;
        Shift { estimate, p: self.p.max(normal_p(value / error)), ..*self }
    }
}
