//! Which of many values are unlike the others.

use super::{median, student_p};

/// What values have in common, and how far each is from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlying {
    /// The median.
    pub centre: f64,
    /// Its standard error.
    pub error: f64,
    /// The robust standard deviation of values without excess variance.
    pub scale: f64,
    /// The two-sided p value of each value.
    pub p: Vec<f64>,
}

/// Returns how unlike the others each value is. `excess` is the variance that each is known to have beyond the others'.
#[must_use]
pub fn outlying(values: &[f64], excess: &[f64]) -> Outlying {
    let count = values.len() as f64;
    let centre = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let scale = 1.4826 * median(&distances) * (1.0 + 1.0 / count);
    let error = scale * (std::f64::consts::FRAC_PI_2 / count).sqrt();
    let p = |(value, excess): (&f64, &f64)| {
        let t = (value - centre) / (scale * scale + error * error + excess).sqrt();
        student_p(t, (count - 1.0) / 2.0)
    };
    Outlying { centre, error, scale, p: values.iter().zip(excess).map(p).collect() }
}
