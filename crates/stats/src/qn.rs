//! A standard deviation that a few strange values do not move.

use super::median;
use super::ranks::smallest;

/// The first quartile of the differences over the standard deviation of normal values: 1 ÷ (√2 Φ⁻¹(5/8)).
const NORMAL: f64 = 2.2191;

/// The factors of few values, from two on (Croux & Rousseeuw 1992).
const FEW: [f64; 8] = [0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];

/// Returns Qₙ, the standard deviation told by the h(h−1)/2-th smallest of the differences between two values, where h
/// is ⌊n/2⌋ + 1 (Rousseeuw & Croux 1993, "Alternatives to the median absolute deviation"), with the factors of small
/// n. It holds when nearly half of the values are strange, needs no centre, and is 82 % as efficient as the standard
/// deviation where all are normal. NaN of fewer than two values. O(n log n): the differences are counted, not written
/// down.
pub fn qn(values: &[f64]) -> f64 {
    let count = values.len();
    if count < 2 {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = count as u64 / 2 + 1;
    let tally = |x: f64| differences_to(&sorted, x);
    let quartile = smallest(half * (half - 1) / 2, (0.0, sorted[count - 1] - sorted[0]), &tally);
    let n = count as f64;
    let factor = match FEW.get(count - 2) {
        Some(factor) => *factor,
        None if count.is_multiple_of(2) => n / (n + 3.8),
        None => n / (n + 1.4),
    };
    NORMAL * factor * quartile
}

/// Returns how many differences of two sorted values are at most `x`, and the largest of those.
fn differences_to(sorted: &[f64], x: f64) -> (u64, f64) {
    let (mut count, mut largest, mut end) = (0, f64::NEG_INFINITY, 0);
    for (place, first) in sorted.iter().enumerate() {
        end = end.max(place);
        while sorted.get(end + 1).is_some_and(|next| next - first <= x) {
            end += 1;
        }
        if end > place {
            count += (end - place) as u64;
            largest = largest.max(sorted[end] - first);
        }
    }
    (count, largest)
}

/// Standard deviations beyond which a value is taken for this far: a stall is not the machine's speed.
const FAR: f64 = 3.0;

/// The middle of some values and their scatter, both robust to outliers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standard {
    centre: f64,
    scale: f64,
}

impl Standard {
    /// Returns the median of the values and their Qₙ; `None` if they do not differ, or one is not a number.
    pub fn new(values: &[f64]) -> Option<Standard> {
        let (centre, scale) = (median(values), qn(values));
        let is_usable = values.len() >= 2 && scale > 0.0 && values.iter().all(|value| value.is_finite());
        is_usable.then_some(Standard { centre, scale })
    }

    /// Returns how far a value is from the middle, in its own unit; an outlier's is three times the scatter.
    pub fn distance(&self, value: f64) -> f64 {
        (value - self.centre).clamp(-FAR * self.scale, FAR * self.scale)
    }

    /// Returns the same in units of the scatter.
    pub fn deviation(&self, value: f64) -> f64 {
        ((value - self.centre) / self.scale).clamp(-FAR, FAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1, 2, 4, 8, 16: h = 3, so the third of 1, 2, 3, 4, …, which is 3, times 2.2191 · 0.844.
    #[test]
    fn by_hand() {
        assert!((qn(&[8.0, 1.0, 16.0, 2.0, 4.0]) - 2.2191 * 0.844 * 3.0).abs() < 1e-12);
        assert!(qn(&[1.0]).is_nan() && qn(&[]).is_nan());
        assert_eq!(qn(&[2.0; 9]), 0.0);
        // The tenth of the differences, 2; and with four of nine gone astray 4, however far they are.
        let near = qn(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(qn(&[1.0, 2.0, 3.0, 4.0, 5.0, 1e6, 2e6, 3e6, 4e6]), 2.0 * near);
    }

    /// As the differences written down and sorted.
    #[test]
    fn as_defined() {
        let mut state = 1_u64;
        for count in 2..60_usize {
            let values: Vec<f64> = (0..count)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ((state >> 40) % 97) as f64
                })
                .collect();
            let mut all: Vec<f64> = Vec::new();
            for (place, one) in values.iter().enumerate() {
                all.extend(values[place + 1..].iter().map(|other| (one - other).abs()));
            }
            all.sort_by(f64::total_cmp);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for x in [0.0, 1.0, 10.5, 96.0] {
                let counted = all.iter().filter(|one| **one <= x).count() as u64;
                assert_eq!(differences_to(&sorted, x).0, counted, "{count}, {x}");
            }
            let half = count / 2 + 1;
            let ratio = qn(&values) / all[half * (half - 1) / 2 - 1].max(1e-9);
            assert!(all[half * (half - 1) / 2 - 1] == 0.0 || ratio > 0.8 && ratio < 2.3, "{count}: {ratio}");
        }
    }
}
