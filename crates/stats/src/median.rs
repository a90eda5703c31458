//! The median and its distribution-free interval.

use super::Estimate;
use crate::Exact;

/// Returns the median; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let mut values = values.to_vec();
    let (middle, even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if even && let Some(lower) = below.iter().copied().max_by(f64::total_cmp) {
        return f64::midpoint(lower, upper);
    }
    upper
}

/// Returns the value below which `share` of the values lie, between the two nearest in proportion (R's type 7; Hyndman
/// and Fan 1996, "Sample quantiles in statistical packages"); NaN of nothing.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let mut values = values.to_vec();
    let (_, &mut lower, above) = values.select_nth_unstable_by((place as usize).min(last), f64::total_cmp);
    let next = above.iter().copied().min_by(f64::total_cmp);
    next.filter(|_| place.fract() > 0.0).map_or(lower, |next| lower + place.fract() * (next - lower))
}

/// Returns the median with its 95 % interval from order statistics: between the k-th and the next smallest, and
/// likewise from the top. k is the largest with P(Binomial(n, ½) < k) ≤ 2.5 % (Conover, Practical Nonparametric
/// Statistics, 3rd ed., §3.2); how far between is by Hettmansperger and Sheather (1986), which makes 95 % of "at least
/// 95 %" nearly whatever the distribution. Fewer than 6 values carry no such interval.
pub fn median_interval(values: &[f64]) -> Estimate {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let value = median(&sorted);
    let (k, part) = order(sorted.len());
    if k == 0 {
        return Estimate::alone(value);
    }
    let between = |outer: f64, inner: f64| outer + part * (inner - outer);
    let (bottom, top) = (&sorted[k - 1..=k], &sorted[sorted.len() - k - 1..=sorted.len() - k]);
    Estimate { value, low: between(bottom[0], bottom[1]), high: between(top[1], top[0]) }
}

/// Returns k of [`median_interval`], 0 where there is none, and how far to go on to the next, as a share.
fn order(n: usize) -> (usize, f64) {
    // P(X = 0) by logarithms: 0.5^n underflows from n = 1075 on.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..n {
        if tail + term.exponential() > 0.025 {
            let share = (0.025 - tail) / term.exponential();
            let (all, below) = (n as f64, k as f64);
            return (k, (all - below) * share / (below + (all - 2.0 * below) * share));
        }
        tail += term.exponential();
        term += ((n - k) as f64).natural_log() - ((k + 1) as f64).natural_log();
    }
    (0, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert!(median(&[]).is_nan());
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    /// R 4.2: `quantile(c(1, 2, 4, 8), c(0, .25, .75, .9, 1))`.
    #[test]
    fn quantiles_between_values() {
        for (share, value) in [(0.0, 1.0), (0.25, 1.75), (0.75, 5.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&[4.0, 1.0, 8.0, 2.0], share) - value).abs() < 1e-12, "{share}");
        }
        assert_eq!(quantile(&[3.0], 0.75), 3.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

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
            assert_eq!(order(n).0, k, "n = {n}");
        }
        assert!(order(100_000).0 > 49_000);
    }

    #[test]
    fn few_values_carry_no_interval() {
        let estimate = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(estimate.value, 3.0);
        assert!(!estimate.bounded() && estimate.spread().is_infinite());
        let estimate = median_interval(&[6.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        // By hand: P(X = 0) = 1/64, P(X ≤ 1) = 7/64; (0.025 − 1/64) ÷ (6/64) = 0.1 of the way in confidence, and in
        // value 5·0.1 ÷ (1 + 4·0.1) = 0.357.
        assert_eq!(estimate.value, 3.5);
        assert!((estimate.low - 1.357_142_857).abs() < 1e-9 && (estimate.high - 5.642_857_143).abs() < 1e-9);
    }
}
