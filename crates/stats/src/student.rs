//! Student's interval of logarithms, for samples too few for order statistics.

use super::Estimate;

/// The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom (Abramowitz & Stegun, table
/// 26.10), then for 40, 60, 120 and infinitely many.
const TABLE: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const LONG_TABLE: [(f64, f64); 4] = [(30.0, 2.042), (40.0, 2.021), (60.0, 2.000), (120.0, 1.980)];

/// Returns the 97.5 % quantile of Student's t. Broken degrees of freedom are rounded down, which
/// widens the interval; fewer than one has none (infinite).
#[must_use]
pub fn quantile_975(degrees: f64) -> f64 {
    if degrees.is_nan() || degrees < 1.0 {
        return f64::INFINITY;
    }
    if degrees < 31.0 {
        // 1 ≤ degrees < 31, so the index lies in 0..30.
        return TABLE[degrees as usize - 1];
    }
    LONG_TABLE.iter().rev().find(|(from, _)| degrees >= *from).map_or(2.042, |(_, quantile)| *quantile)
}

/// Returns the mean of `values` with Student's 95 % interval.
#[must_use]
pub fn mean_interval(values: &[f64]) -> Estimate {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return Estimate::alone(mean);
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = quantile_975(n - 1.0) * (variance / n).sqrt();
    Estimate { value: mean, low: mean - half, high: mean + half }
}

/// Returns `value` with a 95 % interval from the spread of the logarithms of `values`:
/// value·exp(±t·s/√n). It assumes that noise is about log-normal.
#[must_use]
pub fn log_interval(value: f64, values: &[f64]) -> Estimate {
    let n = values.len() as f64;
    if values.len() < 2 || values.iter().any(|value| *value <= 0.0) {
        return Estimate::alone(value);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Estimate::within(value, quantile_975(n - 1.0) * (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        for (degrees, quantile) in
            [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262), (30.0, 2.042), (45.0, 2.021), (1e9, 1.98)]
        {
            assert_eq!(quantile_975(degrees), quantile);
        }
        assert!(quantile_975(0.5).is_infinite() && quantile_975(f64::NAN).is_infinite());
    }

    /// By hand: 1, 2, 3; s = 1; half-width 4.303/√3 = 2.484.
    #[test]
    fn means_by_hand() {
        let estimate = mean_interval(&[1.0, 2.0, 3.0]);
        assert!((estimate.value - 2.0).abs() < 1e-12 && (estimate.high - 4.4844).abs() < 1e-3);
        assert!(!mean_interval(&[1.0]).bounded());
    }

    /// By hand: logs −0.1, 0, 0.1; s = 0.1; t = 4.303; half-width 0.1·4.303/√3 = 0.248434.
    #[test]
    fn by_hand() {
        let values = [(-0.1_f64).exp(), 1.0, 0.1_f64.exp()];
        let estimate = log_interval(2.0, &values);
        assert!((estimate.high / 2.0 - 0.248_434_f64.exp()).abs() < 1e-5);
        assert!((estimate.low / 2.0 - (-0.248_434_f64).exp()).abs() < 1e-5);
        assert!(!log_interval(2.0, &values[..1]).bounded());
        assert!(!log_interval(2.0, &[0.0, 1.0]).bounded());
    }
}
