//! The median and other quantiles.

/// The median; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }

    let mut values = values.to_vec();
    let middle = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_even && let Some(lower) = below.iter().copied().max_by(f64::total_cmp) {
        return f64::midpoint(lower, upper);
    }
    upper
}

/// The quantile below which `share` of the values lie, interpolated between the two nearest values
/// (R's type 7; Hyndman and Fan 1996, "Sample quantiles in statistical packages"). NaN of nothing.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else {
        return f64::NAN;
    };

    let place = share * last as f64;
    let mut values = values.to_vec();
    let (_, &mut lower, above) =
        values.select_nth_unstable_by((place as usize).min(last), f64::total_cmp);
    match above.iter().copied().min_by(f64::total_cmp) {
        Some(upper) if place.fract() > 0.0 => lower + place.fract() * (upper - lower),
        _ => lower,
    }
}

/// A quantile is known if as many values exceed it.
const MIN_VALUES_BEYOND: f64 = 10.0;

/// The smallest number of values of which ten lie beyond this quantile: 1000 for 0.99.
pub fn min_values_of_quantile(share: f64) -> usize {
    // With some tolerance: 1 − 0.99 is a little more than 0.01 in binary.
    (MIN_VALUES_BEYOND / (1.0 - share) - 1e-6).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_values_lie_beyond_a_quantile() {
        for (share, values) in [(0.5, 20), (0.9, 100), (0.95, 200), (0.99, 1000), (0.999, 10_000)] {
            assert_eq!(min_values_of_quantile(share), values, "{share}");
        }
    }

    #[test]
    fn medians() {
        assert!(median(&[]).is_nan());
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    /// R 4.2: `quantile(c(1, 2, 4, 8), c(0, .25, .75, .9, 1))`.
    #[test]
    fn quantiles_between_values() {
        for (share, value) in [(0.0, 1.0), (0.25, 1.75), (0.75, 5.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&[4.0, 1.0, 8.0, 2.0], share) - value).abs() < 1e-12, "{share}");
        }
        assert_eq!(quantile(&[3.0], 0.75), 3.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
