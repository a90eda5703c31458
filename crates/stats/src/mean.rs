//! Means and their differences with Student's intervals, for samples that are too small for ranks.

use crate::Exact;
use std::borrow::Borrow;

use super::ranks::NO_ENDS;
use super::{Estimate, Method, Shift, quantile_975, student_p, student_quantile};

/// The arithmetic mean; NaN of nothing.
pub fn mean(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    let mut count = 0.0;
    let counted = values.into_iter().map(|value| {
        count += 1.0;
        *value.borrow()
    });
    let sum: f64 = counted.sum();
    sum / count
}

/// A mean, or a difference of means, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub value: f64,
    /// The standard error; NaN of fewer than two values.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
}

impl Mean {
    /// The mean of `values`; NaN of nothing.
    pub fn new(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let mean = mean(values);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // The error of a single value is 0 ÷ 0, NaN, since it is not known.
        Mean { value: mean, error: (squares / (n - 1.0) / n).sqrt(), degrees: n - 1.0 }
    }

    /// This mean − `base`, for independent means. The degrees of freedom are Satterthwaite's
    /// (1946).
    pub fn less(&self, base: &Mean) -> Mean {
        let base_variance = base.error.powi(2);
        let own_variance = self.error.powi(2);
        let degrees = (base_variance + own_variance).powi(2)
            / (base_variance.powi(2) / base.degrees + own_variance.powi(2) / self.degrees);
        Mean {
            value: self.value - base.value,
            error: (base_variance + own_variance).sqrt(),
            degrees,
        }
    }

    /// Half the width of Student's interval that misses the true value with probability `level`.
    /// NaN if the error is not known.
    pub fn half_width(&self, level: f64) -> f64 {
        student_quantile(level, self.degrees) * self.error
    }

    /// The ends of that interval. Infinite if the error is not known or 0.
    pub fn ends(&self, level: f64) -> [f64; 2] {
        let half = self.half_width(level);
        if half > 0.0 { [self.value - half, self.value + half] } else { NO_ENDS }
    }

    /// A difference with its Student's interval; of a difference of two means that is Welch's
    /// (1947). An error of 0 carries no interval: values that are all equal were rounded, or are
    /// too few to show how they vary.
    pub fn shift(&self, method: Method) -> Shift {
        let Mean { value, error, degrees } = *self;
        let half = self.half_width(0.05);
        if half.is_finite() && half > 0.0 {
            let estimate = Estimate { value, low: value - half, high: value + half };
            Shift { estimate, p: student_p(value / error, degrees), method }
        } else {
            Shift::alone(value)
        }
    }
}

/// Half the width of Student's 95 % interval of the mean of `count` values, in standard deviations
/// of these values. Infinite of fewer than two.
pub fn unit_half_width(count: usize) -> f64 {
    let count = count as f64;
    quantile_975(count - 1.0) / count.sqrt()
}

/// The mean of `values` with Student's 95 % interval.
pub fn mean_interval(values: &[f64]) -> Estimate {
    let mean = Mean::new(values);
    let half = mean.half_width(0.05);
    if half.is_nan() {
        return Estimate::alone(mean.value);
    }
    Estimate { value: mean.value, low: mean.value - half, high: mean.value + half }
}

/// `value` with a 95 % interval from the spread of the logarithms of `values`: value·exp(±t·s/√n).
/// This assumes noise that is about log-normal. No interval if a value is not positive.
pub fn log_interval(value: f64, values: &[f64]) -> Estimate {
    if values.iter().any(|value| *value <= 0.0) {
        return Estimate::alone(value);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.natural_log()).collect();
    Estimate::within(value, Mean::new(&logs).half_width(0.05))
}

/// The mean of `other` − the mean of `base`, with Welch's interval. No interval if a side has fewer
/// than two values.
pub fn welch_shift(base: &[f64], other: &[f64]) -> Shift {
    Mean::new(other).less(&Mean::new(base)).shift(Method::Welch)
}

/// The mean of paired differences, with Student's interval. No interval of fewer than two.
pub fn student_shift(differences: &[f64]) -> Shift {
    Mean::new(differences).shift(Method::Student)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: means 2 and 5, variances 1 and 4 over 3: se² = 5/3, df = (5/3)²/((1/9 + 16/9)/2) =
    /// 2.941, t = 2.3238; the quantile, by numerical integration, is 3.21876, and half the width
    /// 3.21876·1.29099 = 4.15540.
    #[test]
    fn welch_by_hand() {
        let shift = welch_shift(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]);
        assert!(
            (shift.estimate.value - 3.0).abs() < 1e-12
                && (shift.estimate.high - 7.1554).abs() < 1e-4
        );
        assert!((shift.p - 0.1047).abs() < 1e-3, "{}", shift.p);
        assert_eq!(shift.method, Method::Welch);
    }

    #[test]
    fn without_an_interval() {
        for shift in [
            welch_shift(&[1.0], &[2.0, 3.0, 4.0]),
            welch_shift(&[1.0, 1.0], &[2.0, 2.0]),
            student_shift(&[1.0]),
            student_shift(&[2.0, 2.0]),
        ] {
            assert!(
                !shift.estimate.bounded() && shift.p == 1.0 && shift.method == Method::Nothing,
                "{shift:?}"
            );
        }
    }

    /// By hand: 1, 2, 3: t = 2/(1/√3) = 3.4641 with two degrees, p = 0.0742.
    #[test]
    fn student_by_hand() {
        let shift = student_shift(&[1.0, 2.0, 3.0]);
        assert!((shift.p - 0.0742).abs() < 1e-4 && (shift.estimate.low + 0.4844).abs() < 1e-3);
    }

    /// By hand: 1, 2, 3; s = 1; half-width 4.303/√3 = 2.484.
    #[test]
    fn means_by_hand() {
        let estimate = mean_interval(&[1.0, 2.0, 3.0]);
        assert!((estimate.value - 2.0).abs() < 1e-12 && (estimate.high - 4.4844).abs() < 1e-3);
        assert!(!mean_interval(&[1.0]).bounded());
    }

    /// By hand: logs −0.1, 0, 0.1; s = 0.1; t = 4.30265; half-width 0.1·4.30265/√3 = 0.248414.
    #[test]
    fn by_hand() {
        let values = [(-0.1_f64).exp(), 1.0, 0.1_f64.exp()];
        let estimate = log_interval(2.0, &values);
        assert!((estimate.high / 2.0 - 0.248_414_f64.exp()).abs() < 1e-5);
        assert!((estimate.low / 2.0 - (-0.248_414_f64).exp()).abs() < 1e-5);
        assert!(!log_interval(2.0, &values[..1]).bounded());
        assert!(!log_interval(2.0, &[0.0, 1.0]).bounded());
    }
}
