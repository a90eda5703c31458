//! Paired differences: Hodges and Lehmann's estimate with Wilcoxon's signed-rank interval.
//!
//! The estimate is the median of all averages (dᵢ + dⱼ)/2, i ≤ j, Walsh's averages; the interval
//! inverts the signed-rank test (Hollander & Wolfe, Nonparametric Statistical Methods, 2nd ed.,
//! §3.1–3.3; Hodges & Lehmann 1963). See `ranks` for the method.

use super::ranks::{NullDistribution, Tallied, ValueSet};
use super::{Mean, Method, Shift, mean, median, student_shift};

/// Up to this many differences the distribution is exact; beyond, the normal approximation is used.
const MAX_EXACT_DIFFERENCES: usize = 50;

/// Fewer differences have no 95 % interval: with six, the test's smallest p value is 2·½⁶ = 3.1 %.
const MIN_DIFFERENCES: usize = 6;

/// The shift of paired differences from 0, with the interval and the p value of Wilcoxon's
/// signed-rank test. Fewer than six differences get Student's.
pub fn paired_shift(differences: &[f64]) -> Shift {
    ask_signed_ranks(differences, |null, averages| null.shift(averages, Method::SignedRank))
        .unwrap_or_else(|| student_shift(differences))
}

/// The ends of the interval of [`paired_shift`] that misses the true shift with probability
/// `level`. Infinite if there is none for so few differences.
pub fn paired_ends(differences: &[f64], level: f64) -> [f64; 2] {
    ask_signed_ranks(differences, |null, averages| null.ends(level, averages))
        .unwrap_or_else(|| Mean::new(differences).ends(level))
}

/// What `answer` makes of the null distribution and of Walsh's averages; `None` of fewer than six
/// differences.
fn ask_signed_ranks<T>(
    differences: &[f64],
    answer: impl FnOnce(&NullDistribution, &ValueSet<'_>) -> T,
) -> Option<T> {
    if differences.len() < MIN_DIFFERENCES {
        return None;
    }

    let mut sorted = differences.to_vec();
    sorted.sort_by(f64::total_cmp);
    let averages = ValueSet {
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        tally: &|x| count_averages(&sorted, x),
    };
    Some(answer(&signed_rank(sorted.len()), &averages))
}

/// The estimate of [`paired_shift`] alone, for resampling: the median of Walsh's averages, or the
/// mean of fewer than six differences. NaN of nothing.
pub fn pseudo_median(differences: &[f64]) -> f64 {
    let count = differences.len();
    if count < MIN_DIFFERENCES {
        return mean(differences);
    }
    if count > MAX_EXACT_DIFFERENCES {
        return paired_shift(differences).estimate.value;
    }

    let mut averages = Vec::with_capacity(count * (count + 1) / 2);
    for (place, first) in differences.iter().enumerate() {
        averages.extend(differences[place..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    median(&averages)
}

/// Counts Walsh's averages of sorted values up to `x`. The larger the first value, the fewer second
/// ones fit, so `end` only falls.
fn count_averages(sorted: &[f64], x: f64) -> Tallied {
    let mut count = 0;
    let mut largest = f64::NEG_INFINITY;
    let mut end = sorted.len();
    for (i, first) in sorted.iter().enumerate() {
        while end > i && f64::midpoint(*first, sorted[end - 1]) > x {
            end -= 1;
        }
        if end <= i {
            break;
        }
        count += (end - i) as u64;
        largest = largest.max(f64::midpoint(*first, sorted[end - 1]));
    }
    Tallied { count, largest }
}

/// The distribution of the sum of the positive differences' ranks, if nothing differs: every rank
/// counts with probability ½.
fn signed_rank(n: usize) -> NullDistribution {
    let top = n * (n + 1) / 2;
    let exact = (n <= MAX_EXACT_DIFFERENCES).then(|| {
        let mut probabilities = vec![0.0; top + 1];
        probabilities[0] = 1.0;
        for rank in 1..=n {
            for sum in (0..=top).rev() {
                let with = if sum >= rank { probabilities[sum - rank] } else { 0.0 };
                probabilities[sum] = f64::midpoint(probabilities[sum], with);
            }
        }
        probabilities
    });
    let count = n as f64;
    NullDistribution {
        top: top as u64,
        deviation: (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt(),
        exact,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranks::kth_smallest;
    use super::*;

    /// Hollander & Wolfe, table A.4; Wilcoxon's critical values T for a two-sided 5 % are k − 1: 0
    /// for n = 6, 2 for 7, 3 for 8, 5 for 9, 8 for 10, 13 for 12, 25 for 15, 52 for 20, 89 for 25,
    /// 137 for 30, 434 for 50.
    #[test]
    fn published_critical_values() {
        for (n, critical) in [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (11, 10),
            (12, 13),
            (15, 25),
            (20, 52),
            (25, 89),
            (30, 137),
            (50, 434),
        ] {
            assert_eq!(signed_rank(n).rank(), critical + 1, "n = {n}");
        }
        assert_eq!(signed_rank(5).rank(), 0);
    }

    /// psignrank(8, 10) = 25/1024 and psignrank(13, 12) = 0.02124 (R); all of one sign is 2·½ⁿ.
    #[test]
    fn published_probabilities() {
        let ten = signed_rank(10);
        assert!(
            (ten.p(8.0) - 2.0 * 25.0 / 1024.0).abs() < 1e-12
                && (ten.p(47.0) - ten.p(8.0)).abs() < 1e-15
        );
        assert!((signed_rank(12).p(13.0) / 2.0 - 0.021_24).abs() < 1e-5);
        for n in [6, 10, 12] {
            assert!((signed_rank(n).p(0.0) - 2.0 * 0.5_f64.powi(n as i32)).abs() < 1e-15);
        }
        assert_eq!(ten.p(27.5), 1.0);
    }

    /// Hollander & Wolfe, example 3.1: Hamilton's depression scale before and after a tranquilizer
    /// (nine patients); T⁺ of the drops is 40, p = 0.039, the estimate −0.46 with the 96 % interval
    /// (−0.786, −0.010).
    #[test]
    #[allow(clippy::approx_constant, reason = "3.14 was measured")]
    fn published_example() {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> =
            after.iter().zip(before).map(|(after, before)| after - before).collect();
        let shift = paired_shift(&differences);
        assert!((shift.p - 0.039_06).abs() < 1e-5, "{}", shift.p);
        assert!((shift.estimate.value + 0.46).abs() < 1e-9, "{}", shift.estimate.value);
        assert!(
            (shift.estimate.low + 0.786).abs() < 1e-9 && (shift.estimate.high + 0.010).abs() < 1e-9
        );
        assert_eq!(shift.method, Method::SignedRank);
    }

    #[test]
    fn order_statistics_are_those_of_all_averages() {
        let values = [3.0, -1.0, 0.0, 0.0, 2.5, 7.0, -4.0];
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut all: Vec<f64> = Vec::new();
        for i in 0..7 {
            all.extend((i..7).map(|j| f64::midpoint(sorted[i], sorted[j])));
        }
        all.sort_by(f64::total_cmp);
        for (place, value) in all.iter().enumerate() {
            assert_eq!(
                kth_smallest(
                    place as u64 + 1,
                    &ValueSet { min: -4.0, max: 7.0, tally: &|x| count_averages(&sorted, x) }
                ),
                *value,
                "{place}"
            );
        }
    }

    /// Of seven and of eight values there are 28 and 36 averages.
    #[test]
    fn the_estimate_is_the_median_of_all_averages() {
        for values in [
            &[3.0, -1.0, 0.0, 0.0, 2.5, 7.0, -4.0][..],
            &[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0],
            &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
            &[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0],
            &[0.1, 0.1, 0.2, 0.2, 0.7, 0.7, 0.7, 1e9],
        ] {
            let averages: Vec<f64> = (0..values.len())
                .flat_map(|i| values[i..].iter().map(move |other| f64::midpoint(values[i], *other)))
                .collect();
            assert_eq!(paired_shift(values).estimate.value, median(&averages), "{values:?}");
        }
    }

    #[test]
    fn wider_intervals_and_the_estimate_alone() {
        let values = [0.3, -1.0, 0.4, 0.9, 2.5, 0.7, -0.4, 1.1];
        let shift = paired_shift(&values);
        assert_eq!(pseudo_median(&values), shift.estimate.value);
        assert_eq!(paired_ends(&values, 0.05), [shift.estimate.low, shift.estimate.high]);
        let [low, high] = paired_ends(&values, 0.1);
        assert!(low >= shift.estimate.low && high < shift.estimate.high);
        // The least p value of eight differences is 2/2⁸ = 0.0078.
        assert_eq!(paired_ends(&values, 0.008), [-1.0, 2.5]);
        assert!(paired_ends(&values, 0.007)[1].is_infinite());
        let student = student_shift(&values[..4]).estimate;
        assert!((paired_ends(&values[..4], 0.05)[1] / student.high - 1.0).abs() < 1e-3);
        assert_eq!(pseudo_median(&values[..4]), student.value);
        let long: Vec<f64> = (0..60).map(|i| f64::from(i * i % 37)).collect();
        assert_eq!(pseudo_median(&long), paired_shift(&long).estimate.value);
        let high = |level| paired_ends(&long, level)[1];
        assert!(high(0.001) > high(0.05) && high(0.001).is_finite());
    }

    #[test]
    fn ties_and_long_samples() {
        let shift = paired_shift(&[0.0; 12]);
        assert_eq!(
            (shift.estimate.value, shift.estimate.low, shift.estimate.high, shift.p),
            (0.0, 0.0, 0.0, 1.0)
        );
        let long: Vec<f64> = (0..100_000).map(|i| f64::from(i % 1000) - 489.5).collect();
        let shift = paired_shift(&long);
        assert!((shift.estimate.value - 10.0).abs() < 0.6 && shift.p < 1e-6, "{shift:?}");
        assert!(shift.estimate.low < 10.0 && 10.0 < shift.estimate.high);
        assert_eq!(paired_shift(&[1.0; 5]).method, Method::Nothing);
    }
}
