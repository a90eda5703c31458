//! The median's distribution-free interval, of independent values and of a series.

use super::{Estimate, dependence, median};
use crate::Exact;

/// The median with its 95 % interval from order statistics: it begins between the k-th smallest
/// value and the next, and ends likewise from the top ([`median_rank`]). Fewer than 6 values carry
/// no such interval.
pub fn median_interval(values: &[f64]) -> Estimate {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    between_ranks(&sorted, median_rank(sorted.len()))
}

/// The median of values that may depend on those before them, such as times of executions one after
/// the other. Its interval is that of as many independent values as the series is worth
/// ([`dependence`]): the same shares of the values lie below its ends. So the interval is wider the
/// more the values depend on each other, and it never leaves their range.
pub fn series_median(series: &[f64]) -> Estimate {
    let inflation = dependence(series);
    if inflation <= 1.0 {
        return median_interval(series);
    }

    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let independent = (sorted.len() as f64 / inflation).floor();
    let Rank { below, part } = median_rank(independent as usize);

    // Of n values the one at rank r is the quantile r ÷ (n + 1) of their distribution.
    let rank = (below as f64 + part) * (sorted.len() + 1) as f64 / (independent + 1.0);
    between_ranks(&sorted, Rank { below: rank.floor() as usize, part: rank.fract() })
}

/// A place between two order statistics.
struct Rank {
    /// The rank of the lower, from 1; 0 if there is no such place.
    below: usize,
    /// How far it is to the next, as a share.
    part: f64,
}

/// The median of sorted values, with an interval that begins at `rank` and ends likewise from the
/// top. No interval if there is no such rank.
fn between_ranks(sorted: &[f64], rank: Rank) -> Estimate {
    let value = median(sorted);
    let Rank { below, part } = rank;
    if below == 0 {
        return Estimate::alone(value);
    }

    let between = |outer: f64, inner: f64| outer + part * (inner - outer);
    let above = sorted.len() - below;
    Estimate {
        value,
        low: between(sorted[below - 1], sorted[below]),
        high: between(sorted[above], sorted[above - 1]),
    }
}

/// The rank at which the interval of the median of `n` values begins.
///
/// It lies above the largest k with P(Binomial(n, ½) < k) ≤ 2.5 % (Conover, Practical Nonparametric
/// Statistics, 3rd ed., §3.2). How far above is by Hettmansperger and Sheather (1986), which turns
/// "at least 95 %" into nearly 95 %, whatever the distribution.
fn median_rank(n: usize) -> Rank {
    // P(X = 0) as a logarithm: 0.5^n underflows from n = 1075 on.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..n {
        if tail + term.exponential() > 0.025 {
            let share = (0.025 - tail) / term.exponential();
            let (all, below) = (n as f64, k as f64);
            let part = (all - below) * share / (below + (all - 2.0 * below) * share);
            return Rank { below: k, part };
        }
        tail += term.exponential();
        term += ((n - k) as f64).natural_log() - ((k + 1) as f64).natural_log();
    }
    Rank { below: 0, part: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table of two-sided 95 % confidence ranks for the median, as in Conover's and in the sign
    /// test's critical values: n = 5 has none, 6 to 8 the extremes, 9 to 11 the second, …
    #[test]
    fn published_ranks() {
        for (n, k) in [
            (5, 0),
            (6, 1),
            (8, 1),
            (9, 2),
            (11, 2),
            (12, 3),
            (14, 3),
            (15, 4),
            (17, 5),
            (20, 6),
            (25, 8),
            (50, 18),
            (100, 40),
        ] {
            assert_eq!(median_rank(n).below, k, "n = {n}");
        }
        assert!(median_rank(100_000).below > 49_000);
    }

    #[test]
    fn few_values_carry_no_interval() {
        let estimate = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(estimate.value, 3.0);
        assert!(!estimate.bounded() && estimate.spread().is_infinite());
        let estimate = median_interval(&[6.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        // By hand: P(X = 0) = 1/64, P(X ≤ 1) = 7/64; (0.025 − 1/64) ÷ (6/64) = 0.1 of the way in
        // confidence, and in value 5·0.1 ÷ (1 + 4·0.1) = 0.357.
        assert_eq!(estimate.value, 3.5);
        assert!(
            (estimate.low - 1.357_142_857).abs() < 1e-9
                && (estimate.high - 5.642_857_143).abs() < 1e-9
        );
    }

    /// Values that repeat each other sixfold are worth a sixth of their number, and no stall takes
    /// the interval beyond the slowest of them.
    #[test]
    fn the_interval_of_a_series_is_wider_where_values_depend_on_each_other() {
        let independent: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 60)).collect();
        let series: Vec<f64> = independent.iter().flat_map(|value| [*value; 6]).collect();

        let found = series_median(&series);

        assert_eq!(series_median(&independent), median_interval(&independent));
        let width = |estimate: Estimate| estimate.high - estimate.low;
        let ratio = width(found) / width(median_interval(&independent));
        assert!((0.8..1.3).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_interval_of_a_median_stays_within_the_values() {
        for count in 1..200 {
            // A level that wanders, with a stall of a thousand times the rest.
            let mut values: Vec<f64> = (0..count).map(|i| 10.0 + f64::from(i) * 0.2).collect();
            values.push(10_000.0);

            let found = series_median(&values);

            assert!(!found.bounded() || (10.0 <= found.low && found.high <= 10_000.0), "{found:?}");
            assert_eq!(found.bounded(), values.len() >= 6, "{count}");
        }
    }
}
