//! A straight line through points.

use super::{mean, student_p};

/// The change of the least-squares line from the first point (x, y) to the last, and the two-sided
/// p value of no change (Student's t of the slope, Draper & Smith, Applied Regression Analysis,
/// §1.4). `None` if there are fewer than four points, or if they have no noise.
pub fn linear_change(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let [first, .., last] = points else {
        return None;
    };
    if points.len() < 4 {
        return None;
    }

    let mean_x = mean(points.iter().map(|(x, _)| x));
    let mean_y = mean(points.iter().map(|(_, y)| y));
    let squares: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / squares;
    let residual: f64 =
        points.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();

    let degrees = points.len() as f64 - 2.0;
    let error = (residual / degrees / squares).sqrt();
    (error > 0.0).then(|| (slope * (last.0 - first.0), student_p(slope / error, degrees)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of Anscombe's quartet (1973): slope 0.5001 with a standard error of 0.1179, p
    /// 0.00217.
    #[test]
    fn anscombe() {
        let y = [4.26, 5.68, 7.24, 4.82, 6.95, 8.81, 8.04, 8.33, 10.84, 7.58, 9.96];
        let points: Vec<(f64, f64)> = (4..).map(f64::from).zip(y).collect();
        let (change, p) = linear_change(&points).unwrap();
        assert!((change - 5.001).abs() < 5e-3 && (p - 0.00217).abs() < 1e-5, "{change} {p}");
        assert_eq!(linear_change(&points[..3]), None);
        assert_eq!(linear_change(&[0.0, 1.0, 2.0, 3.0].map(|x| (x, 2.0 * x))), None);
    }
}
