//! Looking at differences while they are still being measured.

use super::{NORMAL_975, mean, median, normal_p};

/// Looks at the differences, evenly spaced in information; the last decides whatever they show.
const LOOKS: f64 = 10.0;

/// O'Brien and Fleming's constant for ten looks at a two-sided level of 5 % (Jennison & Turnbull, Group Sequential
/// Methods with Applications to Clinical Trials, 2000, table 2.3).
const CONSTANT: f64 = 2.087;

/// Returns the two-sided level of a look at the `share` of what is measured at most, from 0 to 1: O'Brien and Fleming's
/// bounds. All intervals of a run at these levels hold together with a probability of 95 %, whatever is decided by
/// them.
pub fn look_level(share: f64) -> f64 {
    normal_p(CONSTANT / share.clamp(f64::MIN_POSITIVE, 1.0).sqrt())
}

/// Returns how much wider an interval is at the last look than one that is looked at once.
pub fn sequential_widening() -> f64 {
    CONSTANT / NORMAL_975
}

/// Returns true if a look is due that was not due before: between the shares `before` and `now` of what is measured at
/// most.
pub fn is_look_due(before: f64, now: f64) -> bool {
    let looks = |share: f64| (LOOKS * share.clamp(0.0, 1.0)).floor();
    looks(now) > looks(before)
}

/// Returns by how much the variance of the mean of a series exceeds that of as many independent values: 1 and twice the
/// sum of its autocorrelations, as far as pairs of them are larger than chance makes them (Geyer's initial positive
/// sequence, Statistical Science 7, 1992). At least 1, and no more than leaves as many independent values as an
/// interval needs: of a level that wanders as slowly as the series is long the autocorrelations cannot be known. Values
/// far out count as three typical deviations, so that stalls hide nothing.
pub fn dependence(series: &[f64]) -> f64 {
    let count = series.len();
    if count < FEWEST {
        return 1.0;
    }
    let values = clipped(series);
    let variance = mean(values.iter().map(|value| value * value));
    let covariance = |lag: usize| -> f64 {
        values.iter().zip(&values[lag..]).map(|(one, later)| one * later).sum::<f64>() / count as f64
    };
    if variance <= 0.0 {
        return 1.0;
    }
    // Two standard errors of the sum of two autocorrelations of independent values.
    let chance = 2.0 * (2.0 / count as f64).sqrt();
    let pairs = (1..count / 4).step_by(2).map(|lag| (covariance(lag) + covariance(lag + 1)) / variance);
    let sum: f64 = pairs.take_while(|pair| *pair > chance).sum();
    (1.0 + 2.0 * sum).min(count as f64 / INDEPENDENT)
}

/// The fewest independent values with an interval by signed ranks.
const INDEPENDENT: f64 = 6.0;

/// The fewest values whose autocorrelations mean anything.
const FEWEST: usize = 20;

/// Returns the deviations from the median, none larger than three typical ones (1.4826 times their median).
fn clipped(series: &[f64]) -> Vec<f64> {
    let middle = median(series);
    let sizes: Vec<f64> = series.iter().map(|value| (value - middle).abs()).collect();
    let most = 3.0 * 1.4826 * median(&sizes);
    let clipped: Vec<f64> = series.iter().map(|value| (value - middle).clamp(-most, most)).collect();
    let rest = mean(clipped.iter().copied());
    clipped.into_iter().map(|value| value - rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_quantile;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Jennison & Turnbull's table 2.3: ten looks at 5 % end at 2.087, the first is at 6.600.
    #[test]
    fn published_bounds() {
        let bound = |share| normal_quantile(look_level(share));
        assert!((bound(1.0) - 2.087).abs() < 1e-3 && (bound(0.1) - 6.600).abs() < 5e-3, "{}", bound(0.1));
        assert!((bound(0.5) - 2.951).abs() < 1e-3);
    }

    #[test]
    fn looks_are_a_tenth_apart() {
        assert!(!is_look_due(0.0, 0.09) && is_look_due(0.09, 0.11) && !is_look_due(0.11, 0.19));
        assert!(is_look_due(0.05, 0.85) && is_look_due(0.95, 1.0) && !is_look_due(1.0, 2.0));
    }

    /// The variance of an AR(1) process' mean is (1 + r) / (1 − r) times that of independent values.
    #[test]
    fn a_known_dependence() {
        for (r, expected) in [(0.0, 1.0), (0.5, 3.0), (0.8, 9.0)] {
            let mut random = Pcg64Mcg::seed_from_u64(7);
            let mut value = 0.0;
            let series: Vec<f64> = (0..20_000)
                .map(|_| {
                    let noise: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                    value = r * value + noise;
                    value
                })
                .collect();
            let found = dependence(&series);
            assert!((found / expected - 1.0).abs() < 0.15, "{r}: {found}");
        }
        let wandering: Vec<f64> = (0..240).map(|at| f64::from(at) / 240.0).collect();
        assert_eq!(dependence(&wandering), 40.0);
        assert_eq!(dependence(&[0.0; 100]), 1.0);
        assert_eq!(dependence(&[1.0, 2.0]), 1.0);
    }
}
