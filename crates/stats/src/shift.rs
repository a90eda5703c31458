//! How far one sample lies above another.

use serde::Serialize;

use super::{Estimate, NORMAL_975};

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

    /// Returns the smallest true difference that such data show in four of five experiments: 2.8 standard errors (1.96 for
    /// the 5 %, 0.84 for the 80 %), where the standard error is the interval's half-width ÷ 1.96 (Lehmann, Nonparametrics,
    /// §2.5), so that it is as robust as the interval. Infinite without an interval.
    #[must_use]
    pub fn detectable(&self) -> f64 {
        if self.estimate.bounded() {
            2.8 / NORMAL_975 * (self.estimate.high - self.estimate.low) / 2.0
        } else {
            f64::INFINITY
        }
    }
}
