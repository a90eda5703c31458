//! How heavy the tails of a sample are, as the degrees of freedom of a Student's t.
//!
//! The measure is a quotient: an outer quantile of the positive values over their median. If values
//! are spread about 0, the median of the positive ones is the third quartile of all, and the 95 %
//! quantile of the positive ones the 97.5 % quantile of all; `TABLE` has these of Student's t.

use super::median;

/// The assumption where a sample does not show otherwise: tails heavier than normal ones, as those
/// of differences between machines are.
const ASSUMED_DEGREES: f64 = 5.0;

/// Fewer positive values show nothing.
const MIN_POSITIVE_VALUES: usize = 10;

/// From this many positive values the 99 % quantile is used in place of the 95 % quantile.
const MIN_VALUES_FOR_99: usize = 1000;

/// The 95 % quantile of the normal distribution: an interval to both sides is one of 90 %.
const NORMAL_QUANTILE_95: f64 = 1.645;

/// Quantiles of Student's t.
struct StudentQuantiles {
    degrees: f64,
    quartile: f64,
    quantile_975: f64,
    quantile_995: f64,
}

/// A row of the table: degrees of freedom, the third quartile, the 97.5 % and the 99.5 % quantile.
const fn row(
    degrees: f64,
    quartile: f64,
    quantile_975: f64,
    quantile_995: f64,
) -> StudentQuantiles {
    StudentQuantiles { degrees, quartile, quantile_975, quantile_995 }
}

/// Abramowitz & Stegun, table 26.10.
const TABLE: [StudentQuantiles; 13] = [
    row(2.0, 0.816, 4.303, 9.925),
    row(3.0, 0.765, 3.182, 5.841),
    row(4.0, 0.741, 2.776, 4.604),
    row(5.0, 0.727, 2.571, 4.032),
    row(6.0, 0.718, 2.447, 3.707),
    row(7.0, 0.711, 2.365, 3.499),
    row(8.0, 0.706, 2.306, 3.355),
    row(10.0, 0.700, 2.228, 3.169),
    row(15.0, 0.691, 2.131, 2.947),
    row(20.0, 0.687, 2.086, 2.845),
    row(30.0, 0.683, 2.042, 2.750),
    row(60.0, 0.679, 2.000, 2.660),
    row(f64::INFINITY, 0.674, 1.960, 2.576),
];

/// The degrees of freedom of the Student's t with tails like those of `values`, which are spread
/// about 0, on the positive side. It is [`ASSUMED_DEGREES`], unless the 90 % interval of the
/// sample's quotient (by order statistics) excludes that; then it is the nearer end of the
/// interval. The negative side is not used, so any number of outliers may lie there.
pub fn tail_degrees(values: &[f64]) -> f64 {
    let mut positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    let count = positive.len();
    if count < MIN_POSITIVE_VALUES {
        return ASSUMED_DEGREES;
    }

    positive.sort_by(f64::total_cmp);
    let median = median(&positive);
    let uses_99 = count >= MIN_VALUES_FOR_99;
    let share = if uses_99 { 0.99 } else { 0.95 };
    let place = share * count as f64;
    let error = NORMAL_QUANTILE_95 * (share * (1.0 - share) * count as f64).sqrt();

    // The heavier the tails, the fewer the degrees: the higher rank gives the lower end.
    let degrees_at = |rank: f64| {
        let rank = (rank.ceil().max(1.0) as usize).min(count);
        degrees_of_quotient(positive[rank - 1] / median, uses_99)
    };
    ASSUMED_DEGREES.max(degrees_at(place + error)).min(degrees_at(place - error))
}

impl StudentQuantiles {
    /// The far quantile ÷ the quartile: the larger, the heavier the tails.
    fn quotient(&self, uses_99: bool) -> f64 {
        if uses_99 { self.quantile_995 / self.quartile } else { self.quantile_975 / self.quartile }
    }
}

/// The degrees of freedom, two to infinity, at which Student's t has this quotient of a far
/// quantile (0.995, or 0.975 without `uses_99`) and the quartile. Between the rows of the table
/// they are interpolated in 1 ÷ degrees.
fn degrees_of_quotient(quotient: f64, uses_99: bool) -> f64 {
    match TABLE.iter().position(|row| row.quotient(uses_99) <= quotient) {
        None => f64::INFINITY,
        Some(0) => TABLE[0].degrees,
        Some(place) => {
            let heavier = &TABLE[place - 1];
            let lighter = &TABLE[place];
            let share = (quotient - lighter.quotient(uses_99))
                / (heavier.quotient(uses_99) - lighter.quotient(uses_99));
            1.0 / (share / heavier.degrees + (1.0 - share) / lighter.degrees)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student_quantile;

    /// As many values as there are, where Student's t has its quantiles.
    fn ideal(degrees: f64, count: usize) -> Vec<f64> {
        (0..count)
            .map(|place| student_quantile((place as f64 + 0.5) / count as f64, degrees))
            .collect()
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
        assert!((degrees_of_quotient(2.571 / 0.727, false) - 5.0).abs() < 1e-9);
        assert!((degrees_of_quotient(3.169 / 0.700, true) - 10.0).abs() < 1e-9);
        assert_eq!(
            (degrees_of_quotient(99.0, true), degrees_of_quotient(1.0, true)),
            (2.0, f64::INFINITY)
        );
        let between = degrees_of_quotient((2.571 / 0.727 + 2.447 / 0.718) / 2.0, false);
        assert!(between > 5.0 && between < 6.0);
    }
}
