//! Statistics: numbers in, numbers out, no text and no files.
//!
//! | question | module |
//! |---|---|
//! | where is one sample, with an interval | `median` (order statistics), `mean` (Student) |
//! | by how much do two samples differ | `walsh` (paired), `rank_sum` (independent), `mean` (few) |
//! | how wide is the interval if values depend on each other | `sequential`, `drift` |
//! | by how much do their tails differ | `quantile_shift` |
//! | does one sample fall into two groups | `modes` |
//! | may I look before the end | `sequential` |
//! | what do several machines say of one effect | `random_effects` |
//! | how do spreads, tails, ranks, levels differ | `spread`, `heavy`, `rank_ranges`, `steps` |
//! | what is the interval of a function of several samples | `bootstrap` |
//! | how does throughput scale | `usl` |
//!
//! A [`Shift`] is a difference with its interval and p value, an [`Estimate`] a number with its
//! interval. Samples that are too small for a method get the next simpler one, and in the end an
//! infinite interval, never an error. Elementary functions are those of [`Exact`], so that a report
//! has the same bytes on every machine.

mod blocks;
mod bootstrap;
mod dependence;
mod drift;
mod exact;
mod fdr;
mod fisher;
mod heavy;
mod histogram;
mod line;
mod mean;
mod median_interval;
mod modes;
mod qn;
mod quantile;
mod quantile_shift;
mod random_effects;
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
pub use dependence::dependence;
pub use drift::{Drift, Timed};
pub use exact::Exact;
pub use fdr::false_discovery_rates;
pub use fisher::fisher_p;
pub use heavy::tail_degrees;
pub use histogram::Histogram;
pub use line::linear_change;
pub use mean::{
    Mean, log_interval, mean, mean_interval, student_shift, unit_half_width, welch_shift,
};
pub use median_interval::{median_interval, series_median};
pub use modes::{has_two_modes, limit_of_groups};
pub use qn::{Standard, qn};
pub use quantile::{median, min_values_of_quantile, quantile};
pub use quantile_shift::{quantile_ends, quantile_shift};
pub use random_effects::{RandomEffects, Study, random_effects};
pub use rank_ranges::rank_ranges;
pub use rank_sum::{two_sample_ends, two_sample_shift};
pub use sequential::{is_look_due, look_level, sequential_widening};
pub use shift::{Method, Shift};
pub use spread::{Spreads, spreads};
pub use steps::{Step, steps};
pub use tail::{
    NORMAL_975, chi_square_quantiles, normal_p, normal_quantile, quantile_975, student_p,
    student_quantile,
};
pub use usl::{Throughput, Usl, UslFit, fit_usl};
pub use walsh::{paired_ends, paired_shift, pseudo_median};

/// A number with its 95 % interval. The ends are infinite if the data carry no interval.
///
/// In JSON each number that is not finite is null: NaN for the value, infinite ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Finite")]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Default for Estimate {
    fn default() -> Estimate {
        Estimate::NONE
    }
}

/// An estimate as JSON holds it.
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
    /// Neither a number nor an interval.
    pub const NONE: Estimate =
        Estimate { value: f64::NAN, low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// `value` without an interval.
    pub fn alone(value: f64) -> Estimate {
        Estimate { value, ..Estimate::NONE }
    }

    /// `value` with the interval value·e^±`half`.
    pub fn within(value: f64, half: f64) -> Estimate {
        if half.is_finite() {
            Estimate { value, low: value * (-half).exponential(), high: value * half.exponential() }
        } else {
            Estimate::alone(value)
        }
    }

    /// True if both ends are finite.
    pub fn bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// True if the interval holds 0: a difference may be none.
    pub fn holds_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The halves of the interval below and above the value, as shares of the value. Infinite
    /// without an interval, or if the value is not positive.
    pub fn halves(&self) -> [f64; 2] {
        let has_shares = self.bounded() && self.value > 0.0;
        if !has_shares {
            return [f64::INFINITY; 2];
        }

        [(self.value - self.low) / self.value, (self.high - self.value) / self.value]
    }

    /// The larger of the [halves](Estimate::halves).
    pub fn spread(&self) -> f64 {
        let [below, above] = self.halves();
        below.max(above)
    }

    /// Applies an increasing function to value and ends.
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Estimate {
        Estimate { value: function(self.value), low: function(self.low), high: function(self.high) }
    }

    /// Applies a monotone function to value and ends, or to the value alone if there is no
    /// interval.
    pub fn image(&self, function: impl Fn(f64) -> f64) -> Estimate {
        let [value, one_end, other_end] = [self.value, self.low, self.high].map(function);
        if !self.bounded() {
            return Estimate::alone(value);
        }

        Estimate { value, low: one_end.min(other_end), high: one_end.max(other_end) }
    }

    /// Multiplies value and ends by `factor`.
    pub fn scaled(&self, factor: f64) -> Estimate {
        self.map(|number| number * factor)
    }

    /// This estimate ÷ `other`, for independent estimates of positive numbers. On a logarithmic
    /// scale the half-widths add in quadrature, separately below and above.
    pub fn over(&self, other: &Estimate) -> Estimate {
        let value = self.value / other.value;
        if !(self.bounded() && other.bounded() && self.low > 0.0 && other.low > 0.0) {
            return Estimate::alone(value);
        }

        let down = (self.value / self.low)
            .natural_log()
            .hypotenuse((other.high / other.value).natural_log());
        let up = (self.high / self.value)
            .natural_log()
            .hypotenuse((other.value / other.low).natural_log());
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
        assert_eq!(
            serde_json::to_string(&Estimate::NONE).unwrap(),
            r#"{"value":null,"low":null,"high":null}"#
        );
        let read: Estimate = serde_json::from_str(r#"{"value":null}"#).unwrap();
        assert!(read.value.is_nan() && !read.bounded());
    }
}
