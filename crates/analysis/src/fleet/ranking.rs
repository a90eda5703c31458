//! Ranks as ranges: which places a node may have.

use stats::Estimate;

/// Returns the best and the worst place, from 1 for the largest, that each of `values` may have: those whose intervals lie
/// wholly above its own are before it, those wholly below are after it. Without an interval any place is possible. O(n log n).
pub(super) fn ranges(values: &[Estimate]) -> Vec<(usize, usize)> {
    let sorted = |end: fn(&Estimate) -> f64| {
        let mut ends: Vec<f64> = values.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (lows, highs) = (sorted(|value| value.low), sorted(|value| value.high));
    let range = |value: &Estimate| {
        let above = lows.len() - lows.partition_point(|low| *low <= value.high);
        let below = highs.partition_point(|high| *high < value.low);
        (above + 1, values.len() - below)
    };
    values.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10 ± 1, 9.5 ± 1 and 8 ± 0.6 overlap in a chain, 5 ± 0.1 is last; one without an interval may be anywhere.
    #[test]
    fn by_hand() {
        let around = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half };
        let values = [around(10.0, 1.0), around(9.5, 1.0), around(8.0, 0.6), around(5.0, 0.1)];
        assert_eq!(ranges(&values), [(1, 2), (1, 3), (2, 3), (4, 4)]);
        let open = [around(2.0, 0.1), Estimate::alone(1.5), around(1.0, 0.1)];
        assert_eq!(ranges(&open), [(1, 2), (1, 3), (2, 3)]);
        assert!(ranges(&[]).is_empty());
    }
}
