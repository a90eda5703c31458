//! The common part of the rank tests: a statistic's distribution when nothing differs, and order statistics of many
//! values that are never written down.

use super::tail::{normal_p, normal_quantile};
use super::{Estimate, Method, Shift};

/// The ends of no interval.
pub(super) const NO_ENDS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// The distribution of a whole-numbered statistic between 0 and `top`, symmetric about `top`/2, when nothing differs.
pub(super) struct Null {
    /// The largest value.
    pub(super) top: u64,
    /// The standard deviation, for the normal approximation.
    pub(super) deviation: f64,
    /// The probability of each value, where they are known.
    pub(super) exact: Option<Vec<f64>>,
}

impl Null {
    /// Returns k of the distribution-free 95 % interval: its ends are the k-th smallest and the k-th largest of the
    /// `top` values; 0 where so few values carry none. k is the largest with P(statistic < k) ≤ 2.5 %.
    pub(super) fn rank(&self) -> u64 {
        self.rank_at(0.05)
    }

    /// Returns k of the interval that leaves out a true value with probability `level`.
    pub(super) fn rank_at(&self, level: f64) -> u64 {
        match &self.exact {
            // A little more, for probabilities that binary cannot hold.
            Some(exact) => below(exact, level / 2.0 + 1e-12),
            None => {
                // With the continuity correction; no fewer than nothing.
                let quantile = normal_quantile(level);
                (self.top as f64 / 2.0 - quantile * self.deviation + 0.5).floor().max(0.0) as u64
            }
        }
    }

    /// Returns the ends of the interval that leaves out a true value with probability `level`; infinite
    /// where so few values carry none.
    pub(super) fn ends(&self, level: f64, ends: (f64, f64), tally: Tally<'_>) -> [f64; 2] {
        match self.rank_at(level) {
            0 => NO_ENDS,
            k => [k, self.top + 1 - k].map(|k| smallest(k, ends, tally)),
        }
    }

    /// Returns the two-sided p value of a statistic. Where ties leave it between two values, the one nearer to the
    /// middle counts, so that ties never make a difference surer.
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

    /// Returns the shift by a test's statistic: the median of the `top` values that `tally` counts, all of them between
    /// `ends`, with the interval from the k-th smallest to the k-th largest of them and the test's p value.
    pub(super) fn shift(&self, ends: (f64, f64), tally: Tally<'_>, method: Method) -> Shift {
        let [low, high] = self.ends(0.05, ends, tally);
        Shift {
            estimate: Estimate { value: middle(self.top, ends, tally), low, high },
            p: self.p(positive(self.top, tally)),
            method,
        }
    }
}

/// Returns how many of the smallest values have no more than `tail` of the probability together.
fn below(probabilities: &[f64], tail: f64) -> u64 {
    let mut sum = 0.0;
    let taken = probabilities.iter().take_while(|probability| {
        sum += **probability;
        sum <= tail
    });
    taken.count() as u64
}

/// Returns the number of a set's values that are at most x, and the largest of those.
pub(super) type Tally<'a> = &'a dyn Fn(f64) -> (u64, f64);

/// Returns the `k`-th smallest value (from 1) of those that `tally` counts, all of them between `low` and `high`: by
/// bisection, so that the differences of two long runs need no room.
pub(super) fn smallest(k: u64, (mut low, mut high): (f64, f64), tally: Tally<'_>) -> f64 {
    if tally(low).0 >= k {
        return low;
    }
    // Fewer than k values are ≤ low, at least k are ≤ high, and high is one of them.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        match tally(middle) {
            (count, _) if count < k => low = middle,
            (count, largest) => {
                high = largest;
                if count == k {
                    break;
                }
            }
        }
    }
    high
}

/// Returns the median of the `count` values that `tally` counts.
fn middle(count: u64, ends: (f64, f64), tally: Tally<'_>) -> f64 {
    let upper = smallest(count / 2 + 1, ends, tally);
    if count.is_multiple_of(2) { f64::midpoint(smallest(count / 2, ends, tally), upper) } else { upper }
}

/// Returns how many of `count` values are above 0, where a 0 counts as a half.
fn positive(count: u64, tally: Tally<'_>) -> f64 {
    let (below, not_above) = (tally(0.0_f64.next_down()).0, tally(0.0).0);
    (count - not_above) as f64 + (not_above - below) as f64 / 2.0
}
