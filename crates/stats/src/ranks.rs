//! The common part of the rank tests (`walsh` for pairs, `rank_sum` for independent samples).
//!
//! Both estimate a shift from a large set of values: all averages of two differences, or all
//! differences between two samples. The test's statistic is how many values of the set are
//! positive; inverting the test gives an interval from the k-th smallest to the k-th largest of
//! them ([`NullDistribution::rank_at`]), and their median is the estimate. The set is never written
//! down: a [`Tally`] counts how many of its values lie up to x, and [`kth_smallest`] bisects on
//! that.

use super::tail::{normal_p, normal_quantile};
use super::{Estimate, Method, Shift};

/// The ends if there is no interval.
pub(super) const NO_ENDS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// The distribution of a test's statistic if nothing differs. The statistic is a whole number
/// between 0 and `top`, which is also the size of the set of values; the distribution is symmetric
/// about `top`/2.
pub(super) struct NullDistribution {
    pub(super) top: u64,
    /// The standard deviation, for the normal approximation.
    pub(super) deviation: f64,
    /// The probability of each number from 0 on, if known.
    pub(super) exact: Option<Vec<f64>>,
}

impl NullDistribution {
    /// k of the 95 % interval: see [`NullDistribution::rank_at`].
    pub(super) fn rank(&self) -> u64 {
        self.rank_at(0.05)
    }

    /// k of the distribution-free interval that misses the true value with probability `level`: the
    /// largest k with P(statistic < k) ≤ `level` ÷ 2. 0 if there is none for so few values.
    pub(super) fn rank_at(&self, level: f64) -> u64 {
        match &self.exact {
            // With a tolerance, for probabilities that are not exact in binary.
            Some(exact) => count_below_tail(exact, level / 2.0 + 1e-12),
            None => {
                // With the continuity correction.
                let quantile = normal_quantile(level);
                (self.top as f64 / 2.0 - quantile * self.deviation + 0.5).floor().max(0.0) as u64
            }
        }
    }

    /// The ends of the interval that misses the true value with probability `level`; infinite if
    /// there is none for so few values.
    pub(super) fn ends(&self, level: f64, values: &ValueSet<'_>) -> [f64; 2] {
        match self.rank_at(level) {
            0 => NO_ENDS,
            k => [k, self.top + 1 - k].map(|k| kth_smallest(k, values)),
        }
    }

    /// The two-sided p value of a statistic. With ties it may lie between two whole numbers; then
    /// it is rounded towards the middle, so that ties never make a difference more significant.
    pub(super) fn p(&self, statistic: f64) -> f64 {
        let lower = statistic.min(self.top as f64 - statistic).ceil();
        let one_side = match &self.exact {
            // 0 ≤ lower ≤ top/2, so it is an index.
            Some(exact) => exact.iter().take(lower as usize + 1).sum(),
            None => {
                let below = (self.top as f64 / 2.0 - lower - 0.5) / self.deviation;
                if below <= 0.0 { 0.5 } else { normal_p(below) / 2.0 }
            }
        };
        (2.0_f64 * one_side).min(1.0)
    }

    /// The shift by a test's statistic: the median of the set of values, with its interval and the
    /// test's p value.
    pub(super) fn shift(&self, values: &ValueSet<'_>, method: Method) -> Shift {
        let [low, high] = self.ends(0.05, values);
        Shift {
            estimate: Estimate { value: median_of(self.top, values), low, high },
            p: self.p(count_positive(self.top, values)),
            method,
        }
    }
}

/// How many of the smallest numbers have together no more than `tail` of the probability.
fn count_below_tail(probabilities: &[f64], tail: f64) -> u64 {
    let mut count = 0;
    let mut sum = 0.0;
    for probability in probabilities {
        sum += probability;
        if sum > tail {
            break;
        }
        count += 1;
    }
    count
}

/// A set of values that is never written down.
pub(super) struct ValueSet<'a> {
    /// The smallest value, or less.
    pub(super) min: f64,
    /// The largest value.
    pub(super) max: f64,
    pub(super) tally: Tally<'a>,
}

/// Counts the values of a set up to some x.
pub(super) type Tally<'a> = &'a dyn Fn(f64) -> Tallied;

/// The values of a set up to some x.
pub(super) struct Tallied {
    pub(super) count: u64,
    /// The largest of them; −∞ if there are none.
    pub(super) largest: f64,
}

/// The `k`-th smallest value, from 1, by bisection.
pub(super) fn kth_smallest(k: u64, values: &ValueSet<'_>) -> f64 {
    /// More than the bits of a number: bisection ends earlier, when no number lies between.
    const MAX_BISECTIONS: usize = 200;

    let ValueSet { min: mut low, max: mut high, tally } = *values;
    if tally(low).count >= k {
        return low;
    }

    // Fewer than k values are ≤ low, at least k are ≤ high, and high is one of them.
    for _ in 0..MAX_BISECTIONS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }

        let up_to_middle = tally(middle);
        if up_to_middle.count < k {
            low = middle;
            continue;
        }
        high = up_to_middle.largest;
        if up_to_middle.count == k {
            break;
        }
    }
    high
}

/// The median of a set of `count` values.
fn median_of(count: u64, values: &ValueSet<'_>) -> f64 {
    let upper = kth_smallest(count / 2 + 1, values);
    if !count.is_multiple_of(2) {
        return upper;
    }

    // The value before it is less, or the same where less than half of all are less.
    let less = (values.tally)(upper.next_down());
    let lower = if less.count < count / 2 { upper } else { less.largest };
    f64::midpoint(lower, upper)
}

/// How many of a set of `count` values are positive, where each 0 counts as a half.
fn count_positive(count: u64, values: &ValueSet<'_>) -> f64 {
    let negative = (values.tally)(0.0_f64.next_down()).count;
    let not_positive = (values.tally)(0.0).count;
    (count - not_positive) as f64 + (not_positive - negative) as f64 / 2.0
}
