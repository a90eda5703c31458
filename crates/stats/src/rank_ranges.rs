//! Ranks as ranges: the places that a value may have among others, given their intervals.

use super::Estimate;

/// For each value its best and its worst place, from 1. The largest value is first, or the smallest
/// if `lower_is_better`.
///
/// Another value surely precedes this one if its interval lies wholly on the better side, and
/// surely follows if wholly on the other. So a value is (1, 1) or (n, n) only if its interval
/// overlaps no other, and a value without an interval may have any place. O(n log n).
pub fn rank_ranges(values: &[Estimate], lower_is_better: bool) -> Vec<(usize, usize)> {
    let mut lows: Vec<f64> = values.iter().map(|value| value.low).collect();
    let mut highs: Vec<f64> = values.iter().map(|value| value.high).collect();
    lows.sort_by(f64::total_cmp);
    highs.sort_by(f64::total_cmp);

    let mut ranges = Vec::with_capacity(values.len());
    for value in values {
        let above = lows.len() - lows.partition_point(|low| *low <= value.high);
        let below = highs.partition_point(|high| *high < value.low);
        let (before, after) = if lower_is_better { (below, above) } else { (above, below) };
        ranges.push((before + 1, values.len() - after));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10 ± 1, 9.5 ± 1 and 8 ± 0.6 overlap in a chain, 5 ± 0.1 is last; one without an
    /// interval may be anywhere.
    #[test]
    fn by_hand() {
        let around =
            |value: f64, half: f64| Estimate { value, low: value - half, high: value + half };
        let values = [around(10.0, 1.0), around(9.5, 1.0), around(8.0, 0.6), around(5.0, 0.1)];
        assert_eq!(rank_ranges(&values, false), [(1, 2), (1, 3), (2, 3), (4, 4)]);
        assert_eq!(rank_ranges(&values, true), [(3, 4), (2, 4), (2, 3), (1, 1)]);
        let open = [around(2.0, 0.1), Estimate::alone(1.5), around(1.0, 0.1)];
        assert_eq!(rank_ranges(&open, false), [(1, 2), (1, 3), (2, 3)]);
        assert_eq!(rank_ranges(&open, true), [(2, 3), (1, 3), (1, 2)]);
        assert!(rank_ranges(&[], false).is_empty());
    }
}
