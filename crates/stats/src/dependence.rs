//! Series whose values depend on those before them.

use super::{mean, median};

/// Fewer independent values have no interval by signed ranks.
const MIN_INDEPENDENT: f64 = 6.0;

/// The autocorrelations of fewer values mean nothing.
const MIN_SERIES_LENGTH: usize = 20;

/// The factor by which the variance of the mean of a series exceeds that of as many independent
/// values: 1 and twice the sum of its autocorrelations (Geyer's initial positive sequence,
/// Statistical Science 7, 1992).
///
/// Only autocorrelations that exceed chance count, in pairs, up to the first pair that does not.
/// The factor is at least 1, and leaves as many independent values as an interval needs: if a level
/// wanders as slowly as the series is long, its autocorrelations cannot be known. Outliers are
/// clipped, so that stalls do not hide the dependence of the others.
pub fn dependence(series: &[f64]) -> f64 {
    let count = series.len();
    if count < MIN_SERIES_LENGTH {
        return 1.0;
    }

    let values = clip_outliers(series);
    let variance = mean(values.iter().map(|value| value * value));
    if variance <= 0.0 {
        return 1.0;
    }

    let covariance = |lag: usize| -> f64 {
        values.iter().zip(&values[lag..]).map(|(value, later)| value * later).sum::<f64>()
            / count as f64
    };
    // Two standard errors of the sum of two autocorrelations of independent values.
    let chance = 2.0 * (2.0 / count as f64).sqrt();
    let sum: f64 = (1..count / 4)
        .step_by(2)
        .map(|lag| (covariance(lag) + covariance(lag + 1)) / variance)
        .take_while(|pair| *pair > chance)
        .sum();
    (1.0 + 2.0 * sum).min(count as f64 / MIN_INDEPENDENT)
}

/// The deviations from the median, clipped to three typical ones (1.4826 times the median of their
/// sizes, the standard deviation of normal values), and then centred about their mean.
fn clip_outliers(series: &[f64]) -> Vec<f64> {
    let centre = median(series);
    let sizes: Vec<f64> = series.iter().map(|value| (value - centre).abs()).collect();
    let max = 3.0 * 1.4826 * median(&sizes);
    let clipped: Vec<f64> = series.iter().map(|value| (value - centre).clamp(-max, max)).collect();

    let mean = mean(clipped.iter().copied());
    clipped.into_iter().map(|value| value - mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// The variance of an AR(1) process' mean is (1 + r) / (1 − r) times that of independent
    /// values.
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
