//! Ranks as ranges: which places a value may have among others.

use super::Estimate;

/// Returns the best and the worst place, from 1, that each of `values` may have by their intervals: those whose
/// intervals lie wholly on its better side are before it, those wholly on the other are after it. Only a value whose
/// interval overlaps no other's has (1, 1) as the best or (n, n) as the worst. Without an interval any place is
/// possible. The largest is first, or the smallest if `lower_is_better`. O(n log n).
pub fn rank_ranges(values: &[Estimate], lower_is_better: bool) -> Vec<(usize, usize)> {
    let sorted = |end: fn(&Estimate) -> f64| {
        let mut ends: Vec<f64> = values.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (lows, highs) = (sorted(|value| value.low), sorted(|value| value.high));
    let range = |value: &Estimate| {
        let above = lows.len() - lows.partition_point(|low| *low <= value.high);
        let below = highs.partition_point(|high| *high < value.low);
        let (before, after) = if lower_is_better { (below, above) } else { (above, below) };
        (before + 1, values.len() - after)
    };
    values.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10 ± 1, 9.5 ± 1 and 8 ± 0.6 overlap in a chain, 5 ± 0.1 is last; one without an interval may be
    /// anywhere.
    #[test]
    fn by_hand() {
        let around = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half };
        let values = [around(10.0, 1.0), around(9.5, 1.0), around(8.0, 0.6), around(5.0, 0.1)];
        assert_eq!(rank_ranges(&values, false), [(1, 2), (1, 3), (2, 3), (4, 4)]);
        assert_eq!(rank_ranges(&values, true), [(3, 4), (2, 4), (2, 3), (1, 1)]);
        let open = [around(2.0, 0.1), Estimate::alone(1.5), around(1.0, 0.1)];
        assert_eq!(rank_ranges(&open, false), [(1, 2), (1, 3), (2, 3)]);
        assert_eq!(rank_ranges(&open, true), [(2, 3), (1, 3), (1, 2)]);
        assert!(rank_ranges(&[], false).is_empty());
    }
}
