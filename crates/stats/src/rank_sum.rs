//! Two independent samples: Hodges and Lehmann's shift with the Mann-Whitney interval.
//!
//! The estimate is the median of all differences bⱼ − aᵢ; the interval inverts the rank-sum test of
//! Wilcoxon, Mann and Whitney (Hollander & Wolfe, Nonparametric Statistical Methods, 2nd ed.,
//! §4.1–4.3; Lehmann, Nonparametrics, §2.5). See `ranks` for the method.

use super::ranks::{NullDistribution, Tallied, ValueSet};
use super::{Mean, Method, Shift, median, welch_shift};

/// Up to this many pairs the distribution is exact; beyond, the normal approximation is used.
const MAX_EXACT_PAIRS: usize = 2500;

/// The shift of `other` above `base`, with the interval and the p value of the rank-sum test.
/// Samples that are too small for such an interval, such as 3 and 3, get Welch's; a single value,
/// for which that has no interval either, gets the median of all differences alone.
pub fn two_sample_shift(base: &[f64], other: &[f64]) -> Shift {
    let rank_sum_shift =
        ask_rank_sum(base, other, |null, differences| null.shift(differences, Method::RankSum));
    if let Some(shift) = rank_sum_shift {
        return shift;
    }

    let welch = welch_shift(base, other);
    if welch.estimate.bounded() {
        return welch;
    }
    let differences = base.iter().flat_map(|a| other.iter().map(move |b| b - a));
    Shift::alone(median(&differences.collect::<Vec<f64>>()))
}

/// The ends of the interval of [`two_sample_shift`] that misses the true shift with probability
/// `level`. Infinite if there is none for so few values.
pub fn two_sample_ends(base: &[f64], other: &[f64], level: f64) -> [f64; 2] {
    ask_rank_sum(base, other, |null, differences| null.ends(level, differences))
        .unwrap_or_else(|| Mean::new(other).less(&Mean::new(base)).ends(level))
}

/// What `answer` makes of the null distribution and of all differences; `None` of samples that are
/// too small for a 95 % interval.
fn ask_rank_sum<T>(
    base: &[f64],
    other: &[f64],
    answer: impl FnOnce(&NullDistribution, &ValueSet<'_>) -> T,
) -> Option<T> {
    let null = rank_sum(base.len(), other.len());
    if base.is_empty() || other.is_empty() || null.rank() == 0 {
        return None;
    }

    let (mut a, mut b) = (base.to_vec(), other.to_vec());
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let differences = ValueSet {
        min: b[0] - a[a.len() - 1],
        max: b[b.len() - 1] - a[0],
        tally: &|x| count_differences(&a, &b, x),
    };
    Some(answer(&null, &differences))
}

/// Counts differences bⱼ − aᵢ of sorted values up to `x`. The larger aᵢ, the more bⱼ fit, so `end`
/// only rises.
fn count_differences(a: &[f64], b: &[f64], x: f64) -> Tallied {
    let mut count = 0;
    let mut largest = f64::NEG_INFINITY;
    let mut end = 0;
    for first in a {
        while end < b.len() && b[end] - first <= x {
            end += 1;
        }
        if end > 0 {
            count += end as u64;
            largest = largest.max(b[end - 1] - first);
        }
    }
    Tallied { count, largest }
}

/// The distribution of the number of pairs in which the other sample's value is the larger, if
/// nothing differs (Mann & Whitney 1947).
fn rank_sum(n: usize, m: usize) -> NullDistribution {
    let top = n * m;
    // The distribution is the same either way round; this way it needs less memory.
    let exact = (top <= MAX_EXACT_PAIRS).then(|| exact_probabilities(n.min(m), n.max(m)));
    let (first, second) = (n as f64, m as f64);
    NullDistribution {
        top: top as u64,
        deviation: (first * second * (first + second + 1.0) / 12.0).sqrt(),
        exact,
    }
}

/// The probability of each number of pairs u from 0 to n·m.
///
/// P(n, m, u) = n/(n+m)·P(n−1, m, u−m) + m/(n+m)·P(n, m−1, u): with probability n/(n+m) the largest
/// value of all is one of the n, and then it is in m pairs.
fn exact_probabilities(n: usize, m: usize) -> Vec<f64> {
    // P(first − 1, second, ·) and P(first, second, ·), by `second`.
    let mut before: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for first in 1..=n {
        let mut now: Vec<Vec<f64>> = Vec::with_capacity(m + 1);
        now.push(vec![1.0]);
        for second in 1..=m {
            let share = first as f64 / (first + second) as f64;
            let mut probabilities = Vec::with_capacity(first * second + 1);
            for u in 0..=first * second {
                // Beyond their ends, probabilities are 0.
                let with = u.checked_sub(second).and_then(|u| before[second].get(u));
                let without = now[second - 1].get(u);
                probabilities.push(
                    share * with.copied().unwrap_or(0.0)
                        + (1.0 - share) * without.copied().unwrap_or(0.0),
                );
            }
            now.push(probabilities);
        }
        before = now;
    }
    before.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usual table of critical values U of Mann and Whitney's test, two-sided 5 %: k − 1; none
    /// for 3 and 3.
    #[test]
    fn published_critical_values() {
        for (n, m, critical) in [
            (4, 4, 0),
            (3, 5, 0),
            (2, 8, 0),
            (5, 5, 2),
            (6, 6, 5),
            (5, 10, 8),
            (7, 9, 12),
            (8, 8, 13),
            (10, 10, 23),
            (12, 12, 37),
            (15, 15, 64),
            (20, 20, 127),
            (6, 20, 27),
        ] {
            assert_eq!(rank_sum(n, m).rank(), critical + 1, "{n}, {m}");
            assert_eq!(rank_sum(m, n).rank(), critical + 1, "{m}, {n}");
        }
        for (n, m) in [(3, 3), (3, 4), (2, 7), (1, 38)] {
            assert_eq!(rank_sum(n, m).rank(), 0, "{n}, {m}");
        }
        assert_eq!(rank_sum(1, 39).rank(), 1);
    }

    /// By hand: of the 20 ways to choose 3 of 6, U has 1, 1, 2, 3, 3, 3, 3, 2, 1, 1 of them.
    #[test]
    fn three_and_three() {
        let known = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 2.0, 1.0, 1.0].map(|ways| ways / 20.0);
        let found = exact_probabilities(3, 3);
        assert!(found.len() == 10 && found.iter().zip(known).all(|(a, b)| (a - b).abs() < 1e-15));
        for (n, m) in [(6, 6), (50, 50), (1, 2500)] {
            assert!((exact_probabilities(n, m).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    /// Hollander & Wolfe, example 4.1: permeability of the chorioamnion at term and at 12 to 26
    /// weeks; W = 30, that is U = 15, p = 0.1272 on one side, the estimate 0.305.
    #[test]
    fn published_example() {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let shift = two_sample_shift(&early, &term);
        assert!((shift.p / 2.0 - 0.1272).abs() < 1e-4, "{}", shift.p);
        assert!((shift.estimate.value - 0.305).abs() < 1e-9, "{}", shift.estimate.value);
        // R: wilcox.test(term, early, conf.int = TRUE) has −0.15 and 0.76.
        assert!((shift.estimate.low + 0.15).abs() < 1e-9, "{shift:?}");
        assert!((shift.estimate.high - 0.76).abs() < 1e-9, "{shift:?}");
    }

    /// By another way, the Gaussian binomial coefficients in whole numbers.
    #[test]
    fn fifty_and_fifty() {
        for (u, p) in
            [(800.0, 0.001_739_834_286), (960.0, 0.045_631_756_334), (1200.0, 0.734_037_645_785)]
        {
            assert!((rank_sum(50, 50).p(u) / p - 1.0).abs() < 1e-8, "{u}");
        }
    }

    /// The normal approximation takes over without a step that matters, and on the safe side where
    /// p is small.
    #[test]
    fn beyond_the_exact() {
        let exact = rank_sum(50, 50);
        let normal = NullDistribution { exact: None, ..rank_sum(50, 50) };
        assert!(exact.rank().abs_diff(normal.rank()) <= 1, "{} {}", exact.rank(), normal.rank());
        for u in [800.0, 960.0, 1100.0, 1250.0] {
            let ratio = exact.p(u) / normal.p(u);
            assert!((0.88..1.006).contains(&ratio), "{u}: {ratio}");
        }
    }

    #[test]
    fn wider_intervals() {
        let (a, b) = ([1.0, 3.0, 4.0, 6.0, 6.5, 9.0], [2.0, 5.0, 8.0, 8.5, 11.0, 14.0]);
        let interval = two_sample_shift(&a, &b).estimate;
        assert_eq!(two_sample_ends(&a, &b, 0.05), [interval.low, interval.high]);
        let [low, high] = two_sample_ends(&a, &b, 0.01);
        assert!(low < interval.low && high > interval.high);
        // The least p value of six and six is 2/924 = 0.0022.
        assert!(two_sample_ends(&a, &b, 0.002)[1].is_infinite());
        assert!(two_sample_ends(&[], &b, 0.05)[1].is_infinite());
    }

    #[test]
    fn ties_small_and_long_samples() {
        let shift = two_sample_shift(&[5.0; 6], &[5.0; 6]);
        assert_eq!(
            (shift.estimate.value, shift.estimate.low, shift.estimate.high, shift.p),
            (0.0, 0.0, 0.0, 1.0)
        );
        assert_eq!(two_sample_shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.5]).method, Method::Welch);
        assert!(!two_sample_shift(&[], &[1.0]).estimate.bounded());
        let long: Vec<f64> = (0..50_000).map(|i| f64::from(i % 1000)).collect();
        let more: Vec<f64> = long.iter().map(|value| value + 20.0).collect();
        let shift = two_sample_shift(&long, &more);
        assert!((shift.estimate.value - 20.0).abs() < 1.5 && shift.p < 1e-6, "{shift:?}");
    }
}
