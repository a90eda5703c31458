//! Differences of means, for samples too few for ranks.

use super::{Estimate, Method, Shift, quantile_975, student_p};

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error; NaN of fewer than two values.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
}

impl Mean {
    /// Returns the mean of `values`; NaN of none.
    #[must_use]
    pub fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|one| (one - value).powi(2)).sum();
        // 0 ÷ 0 of a single value: no error is known.
        Mean { value, error: (squares / (n - 1.0) / n).sqrt(), degrees: n - 1.0 }
    }
}

/// Returns the difference `other` − `base` of two independent means with Welch's interval, whose degrees of freedom are
/// Satterthwaite's (Welch 1947; Satterthwaite 1946). Errors of 0 carry no interval: values that do not differ at all
/// were rounded, or are too few to show how they differ.
#[must_use]
pub fn mean_shift(base: &Mean, other: &Mean) -> Shift {
    let value = other.value - base.value;
    let (first, second) = (base.error.powi(2), other.error.powi(2));
    let degrees = (first + second).powi(2) / (first.powi(2) / base.degrees + second.powi(2) / other.degrees);
    from_error(value, (first + second).sqrt(), degrees, Method::Welch)
}

/// Returns how far the mean of `other` lies above that of `base`, with Welch's interval; none with fewer than two values
/// on a side.
#[must_use]
pub fn welch_shift(base: &[f64], other: &[f64]) -> Shift {
    mean_shift(&Mean::of(base), &Mean::of(other))
}

/// Returns how far the mean of paired differences lies from 0, with Student's interval; none of fewer than two.
#[must_use]
pub fn student_shift(differences: &[f64]) -> Shift {
    let mean = Mean::of(differences);
    from_error(mean.value, mean.error, mean.degrees, Method::Student)
}

fn from_error(value: f64, error: f64, degrees: f64, method: Method) -> Shift {
    let half = quantile_975(degrees) * error;
    if half.is_finite() && half > 0.0 {
        let estimate = Estimate { value, low: value - half, high: value + half };
        Shift { estimate, p: student_p(value / error, degrees), method }
    } else {
        Shift::alone(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: means 2 and 5, variances 1 and 4 over 3: se² = 5/3, df = (5/3)²/((1/9 + 16/9)/2) = 2.941, t = 2.3238;
    /// the table's two degrees give 4.303·1.29099 = 5.5551.
    #[test]
    fn welch_by_hand() {
        let shift = welch_shift(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]);
        assert!((shift.estimate.value - 3.0).abs() < 1e-12 && (shift.estimate.high - 8.5551).abs() < 1e-3);
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
            assert!(!shift.estimate.bounded() && shift.p == 1.0 && shift.method == Method::Nothing, "{shift:?}");
        }
    }

    /// By hand: 1, 2, 3: t = 2/(1/√3) = 3.4641 with two degrees, p = 0.0742.
    #[test]
    fn student_by_hand() {
        let shift = student_shift(&[1.0, 2.0, 3.0]);
        assert!((shift.p - 0.0742).abs() < 1e-4 && (shift.estimate.low + 0.4844).abs() < 1e-3);
    }
}
