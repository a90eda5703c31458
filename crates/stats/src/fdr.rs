//! Corrects p values for many tests at once.

/// The q value of each p value: the smallest false discovery rate at which it would be called a
/// discovery (Benjamini & Hochberg 1995, in the adjusted form of Yekutieli & Benjamini 1999). Of
/// the discoveries with q < 0.05, at most 5 % are false on average.
pub fn false_discovery_rates(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*b].total_cmp(&p[*a]));

    // From the largest p value, which has the last rank, down: no rate exceeds that of a larger p.
    let mut rates = vec![1.0; p.len()];
    let mut smallest = 1.0_f64;
    for (larger, place) in order.into_iter().enumerate() {
        let rank = p.len() - larger;
        smallest = smallest.min(p[place] * p.len() as f64 / rank as f64);
        rates[place] = smallest;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of Benjamini & Hochberg 1995, §3.2: of 15 p values the first four are
    /// called at q = 0.05.
    #[test]
    fn published_example() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        let rates = false_discovery_rates(&p);
        assert_eq!(rates.iter().filter(|rate| **rate <= 0.05).count(), 4);
        // p.adjust(p, "BH") of R.
        for (place, rate) in [
            (0, 0.0015),
            (1, 0.003),
            (2, 0.0095),
            (3, 0.035_625),
            (4, 0.0603),
            (8, 0.0765),
            (14, 1.0),
        ] {
            assert!((rates[place] - rate).abs() < 1e-9, "{place}: {}", rates[place]);
        }
    }

    #[test]
    fn in_any_order() {
        assert_eq!(false_discovery_rates(&[0.04, 0.01, 0.03]), [0.04, 0.03, 0.04]);
        assert!(false_discovery_rates(&[]).is_empty());
    }
}
