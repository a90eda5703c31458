//! Statistics, pure: numbers in, numbers out.

mod blocks;
mod bootstrap;
mod drift;
mod exact;
mod fdr;
mod fisher;
mod heavy;
mod histogram;
mod line;
mod mean;
mod median;
mod qn;
mod rank_ranges;
mod rank_sum;
mod ranks;
mod sequential;
mod shift;
mod spread;
mod steps;
mod tail;
mod usl;
mod walsh;

use serde::{Deserialize, Serialize};

pub use blocks::{ByBlock, block_differences, in_block, without_blocks};
pub use bootstrap::{Sampled, mean_half_width};
pub use drift::{Drift, Timed};
pub use exact::Exact;
pub use fdr::false_discovery_rates;
pub use fisher::fisher_p;
pub use heavy::tail_degrees;
pub use histogram::Histogram;
pub use line::linear_change;
pub use mean::{Mean, log_interval, mean, mean_interval, student_shift, unit_half_width, welch_shift};
pub use median::{median, median_interval, quantile};
pub use qn::{Standard, qn};
pub use rank_ranges::rank_ranges;
pub use rank_sum::{two_sample_ends, two_sample_shift};
pub use sequential::{dependence, is_look_due, look_level, sequential_widening};
pub use shift::{Method, Shift};
pub use spread::{Spreads, spreads};
pub use steps::{Step, steps};
pub use tail::{NORMAL_975, normal_p, normal_quantile, quantile_975, student_p, student_quantile};
pub use usl::{Throughput, Usl, UslFit, fit_usl};
pub use walsh::{paired_ends, paired_shift, pseudo_median};

/// A number with its 95 % interval; the ends are infinite where the data carry no interval.
///
/// In JSON each number that is not finite is null: NaN for the value, infinite ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Finite")]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Default for Estimate {
    fn default() -> Estimate {
        Estimate::NONE
    }
}

/// An estimate as JSON can hold it.
#[derive(Deserialize)]
struct Finite {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

impl From<Finite> for Estimate {
    fn from(Finite { value, low, high }: Finite) -> Estimate {
        Estimate {
            value: value.unwrap_or(f64::NAN),
            low: low.unwrap_or(f64::NEG_INFINITY),
            high: high.unwrap_or(f64::INFINITY),
        }
    }
}

impl Estimate {
    /// No number at all.
    pub const NONE: Estimate = Estimate { value: f64::NAN, low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Returns `value` with no interval at all.
    pub fn alone(value: f64) -> Estimate {
        Estimate { value, ..Estimate::NONE }
    }

    /// Returns `value` with the interval value·e^±`half`.
    pub fn within(value: f64, half: f64) -> Estimate {
        if half.is_finite() {
            Estimate { value, low: value * (-half).exponential(), high: value * half.exponential() }
        } else {
            Estimate::alone(value)
        }
    }

    /// Returns true if both ends are finite.
    pub fn bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Returns the halves of the interval below and above the value, as shares of it; infinite without an interval.
    pub fn halves(&self) -> [f64; 2] {
        let share = |half: f64| if self.bounded() && self.value > 0.0 { half / self.value } else { f64::INFINITY };
        [share(self.value - self.low), share(self.high - self.value)]
    }

    /// Returns the larger of the halves.
    pub fn spread(&self) -> f64 {
        let [below, above] = self.halves();
        below.max(above)
    }

    /// Returns the estimate with the increasing function `of` applied to its value and ends.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> Estimate {
        Estimate { value: of(self.value), low: of(self.low), high: of(self.high) }
    }

    /// Returns the estimate with the monotone function `of` applied to its value and ends; of one without an interval
    /// the value alone.
    pub fn image(&self, of: impl Fn(f64) -> f64) -> Estimate {
        let [value, one, other] = [self.value, self.low, self.high].map(of);
        if self.bounded() {
            Estimate { value, low: one.min(other), high: one.max(other) }
        } else {
            Estimate::alone(value)
        }
    }

    /// Returns it in a unit of which one of today's has `factor`.
    pub fn scaled(&self, factor: f64) -> Estimate {
        self.map(|number| number * factor)
    }

    /// Returns this ÷ `other`, for independent estimates of positive numbers: the half-widths of the
    /// logarithms add in quadrature, each end with its own.
    pub fn over(&self, other: &Estimate) -> Estimate {
        let value = self.value / other.value;
        if !(self.bounded() && other.bounded() && self.low > 0.0 && other.low > 0.0) {
            return Estimate::alone(value);
        }
        let down = (self.value / self.low).natural_log().hypotenuse((other.high / other.value).natural_log());
        let up = (self.high / self.value).natural_log().hypotenuse((other.value / other.low).natural_log());
        Estimate { value, low: value * (-down).exponential(), high: value * up.exponential() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_null() {
        for (estimate, json) in [
            (Estimate { value: 2.0, low: 1.5, high: 3.0 }, r#"{"value":2.0,"low":1.5,"high":3.0}"#),
            (Estimate::alone(2.0), r#"{"value":2.0,"low":null,"high":null}"#),
        ] {
            assert_eq!(serde_json::to_string(&estimate).unwrap(), json);
            assert_eq!(serde_json::from_str::<Estimate>(json).unwrap(), estimate);
        }
        assert_eq!(serde_json::to_string(&Estimate::NONE).unwrap(), r#"{"value":null,"low":null,"high":null}"#);
        let read: Estimate = serde_json::from_str(r#"{"value":null}"#).unwrap();
        assert!(read.value.is_nan() && !read.bounded());
    }
}
