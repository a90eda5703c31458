//! The heaviness of a sample's tails.

use super::median;

/// The assumption about tails that a sample does not tell otherwise: heavier than normal ones, as differences between
/// machines are.
const ASSUMED: f64 = 5.0;

/// Fewer positive values tell nothing.
const FEW: usize = 10;

/// From this many values a quantile further out is used.
const MANY: usize = 1000;

/// The one-sided error of the interval of the quantile: 5 %.
const NORMAL_95: f64 = 1.645;

/// Quantiles of Student's t by degrees of freedom: the third quartile, 97.5 % and 99.5 % (Abramowitz & Stegun, table
/// 26.10).
const TABLE: [(f64, f64, f64, f64); 13] = [
    (2.0, 0.816, 4.303, 9.925),
    (3.0, 0.765, 3.182, 5.841),
    (4.0, 0.741, 2.776, 4.604),
    (5.0, 0.727, 2.571, 4.032),
    (6.0, 0.718, 2.447, 3.707),
    (7.0, 0.711, 2.365, 3.499),
    (8.0, 0.706, 2.306, 3.355),
    (10.0, 0.700, 2.228, 3.169),
    (15.0, 0.691, 2.131, 2.947),
    (20.0, 0.687, 2.086, 2.845),
    (30.0, 0.683, 2.042, 2.750),
    (60.0, 0.679, 2.000, 2.660),
    (f64::INFINITY, 0.674, 1.960, 2.576),
];

/// Returns the degrees of freedom of the Student's t whose tails `values`, spread about 0, have on the positive side:
/// five, unless the 90 % interval of what they tell excludes that; then the end of it that is nearer. They tell it by
/// what the 95 % (of a thousand values or more the 99 %) quantile of the positive ones is to their median, its interval
/// being that of order statistics. The negative side does not matter, so that it may hold any number of strange values.
pub fn tail_degrees(values: &[f64]) -> f64 {
    let mut positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    let count = positive.len();
    if count < FEW {
        return ASSUMED;
    }
    positive.sort_by(f64::total_cmp);
    let share = if count < MANY { 0.95 } else { 0.99 };
    let (place, error) = (share * count as f64, NORMAL_95 * (share * (1.0 - share) * count as f64).sqrt());
    let middle = median(&positive);
    // A rank from 1, kept within those that there are.
    let at = |rank: f64| degrees(positive[(rank.ceil().max(1.0) as usize).min(count) - 1] / middle, count >= MANY);
    ASSUMED.max(at(place + error)).min(at(place - error))
}

/// The degrees of freedom, two to infinity, at which an outer quantile is this many times the third quartile.
fn degrees(ratio: f64, far: bool) -> f64 {
    let of = |row: &(f64, f64, f64, f64)| if far { row.3 / row.1 } else { row.2 / row.1 };
    match TABLE.iter().position(|row| of(row) <= ratio) {
        None => f64::INFINITY,
        Some(0) => TABLE[0].0,
        Some(place) => {
            let (heavier, lighter) = (&TABLE[place - 1], &TABLE[place]);
            let share = (ratio - of(lighter)) / (of(heavier) - of(lighter));
            1.0 / (share / heavier.0 + (1.0 - share) / lighter.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student_quantile;

    /// As many values as there are, where Student's t has its quantiles.
    fn ideal(degrees: f64, count: usize) -> Vec<f64> {
        (0..count).map(|place| student_quantile((place as f64 + 0.5) / count as f64, degrees)).collect()
    }

    #[test]
    fn few_values_tell_nothing_and_many_their_tails() {
        assert_eq!(tail_degrees(&ideal(5.0, 40)), 5.0);
        assert_eq!(tail_degrees(&[]), 5.0);
        assert!(tail_degrees(&ideal(1000.0, 40)) < 8.0);
        assert!(tail_degrees(&ideal(1000.0, 40_000)) > 20.0);
        assert!(tail_degrees(&ideal(3.0, 5_000)) < 4.0);
        let mut strange = ideal(1000.0, 5_000);
        let usual = tail_degrees(&strange);
        strange.extend([-1e9; 1_000]);
        assert_eq!(tail_degrees(&strange), usual);
    }

    /// The table's own rows, and half way between two of them.
    #[test]
    fn degrees_by_hand() {
        assert!((degrees(2.571 / 0.727, false) - 5.0).abs() < 1e-9);
        assert!((degrees(3.169 / 0.700, true) - 10.0).abs() < 1e-9);
        assert_eq!((degrees(99.0, true), degrees(1.0, true)), (2.0, f64::INFINITY));
        let between = degrees((2.571 / 0.727 + 2.447 / 0.718) / 2.0, false);
        assert!(between > 5.0 && between < 6.0);
    }
}
