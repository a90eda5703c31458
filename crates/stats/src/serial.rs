//! What values that follow one another are worth, where each is like the one before.

use serde::Serialize;

use super::{NORMAL_975, mean};

/// The fewest values of a series that say anything of it.
const FEWEST: usize = 6;

/// Beyond this the estimate tells only that it is large.
const MOST: f64 = 0.95;

/// How far series of values depend on what was before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Serial {
    /// The lag-1 autocorrelation, from 0 to 0.95.
    pub autocorrelation: f64,
    /// Half the width of its 95 % interval, where series do not depend on each other.
    pub half_width: f64,
    /// Values behind it.
    pub values: usize,
    /// Values of one series, on average.
    pub length: f64,
    /// As many independent values as one series is worth.
    pub worth: f64,
    /// How many times as wide an interval of its middle should be as one that takes its values for independent.
    pub widening: f64,
}

/// Returns how far values within `series` depend on the one before, all series together; nothing where none has six values
/// that differ.
///
/// Each series' r₁ = Σ(xᵢ − x̄)(xᵢ₊₁ − x̄) ÷ Σ(xᵢ − x̄)² is on average ρ − (1 + 4ρ)/n (Kendall 1954; Marriott & Pope 1954), which
/// is put right after averaging, by length; its standard error is about 1/√(Σn) (Bartlett 1946). A mean of n values of a first-order autoregression varies as one of n(1 − ρ)/(1 + ρ)
/// independent ones (Bayley & Hammersley 1946), so an interval for independent ones is √((1 + ρ)/(1 − ρ)) times too narrow; a little more
/// where n(1 − ρ) is below ten, as the spread within so short a series is too small as well.
#[must_use]
pub fn serial(series: &[Vec<f64>]) -> Option<Serial> {
    let known: Vec<(f64, f64)> = series.iter().filter_map(|one| Some((one.len() as f64, lag_one(one)?))).collect();
    let values: f64 = known.iter().map(|(n, _)| n).sum();
    if values == 0.0 {
        return None;
    }
    let length = values / known.len() as f64;
    let raw = known.iter().map(|(n, r)| n * r).sum::<f64>() / values;
    let scale = length / (length - 4.0);
    let rho = (scale * (raw + 1.0 / length)).clamp(0.0, MOST);
    let ratio = (1.0 + rho) / (1.0 - rho);
    Some(Serial {
        autocorrelation: rho,
        half_width: NORMAL_975 * scale / values.sqrt(),
        values: values as usize,
        length,
        worth: (length / ratio).max(1.0),
        widening: ratio.sqrt(),
    })
}

/// The lag-1 autocorrelation as it falls.
fn lag_one(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let square: f64 = values.iter().map(|one| (one - mean).powi(2)).sum();
    let next: f64 = values.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    (values.len() >= FEWEST && square > 0.0 && square.is_finite()).then_some(next / square)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::two_sample_shift;

    /// A stationary first-order autoregression.
    fn drifting(random: &mut Pcg64Mcg, rho: f64, n: usize) -> Vec<f64> {
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut last = normal();
        let step = || {
            last = rho * last + (1.0 - rho * rho).sqrt() * normal();
            last
        };
        std::iter::repeat_with(step).take(n).collect()
    }

    #[test]
    fn by_hand() {
        // Mean 3.5: the deviations' squares are 17.5, their products with the next 8.75.
        assert!((lag_one(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap() - 8.75 / 17.5).abs() < 1e-12);
        assert_eq!(serial(&[vec![1.0; 9], vec![1.0, 2.0, 3.0]]), None);
        let alternating: Vec<f64> = (0..10).map(|i| f64::from(i % 2)).collect();
        let one = serial(&[alternating]).unwrap();
        assert_eq!((one.autocorrelation, one.worth, one.widening, one.values), (0.0, 10.0, 1.0, 10));
    }

    #[test]
    fn the_autocorrelation_is_found_in_short_series() {
        for rho in [0.0, 0.3, 0.6, 0.8] {
            for n in [10, 12, 30] {
                let mut random = Pcg64Mcg::seed_from_u64(n as u64);
                let series: Vec<Vec<f64>> = (0..2000).map(|_| drifting(&mut random, rho, n)).collect();
                let found = serial(&series).unwrap();
                assert!((found.autocorrelation - rho).abs() < 0.06, "{rho}, {n}: {found:?}");
                assert_eq!(found.values, 2000 * n);
            }
        }
    }

    /// Two runs without a difference: as it is, the interval holds 0 far too seldom; as wide as is said, as often as it should.
    #[test]
    fn an_interval_so_much_wider_covers() {
        for (rho, n) in [(0.0, 12), (0.4, 12), (0.6, 20), (0.75, 40)] {
            let mut random = Pcg64Mcg::seed_from_u64(7);
            let (mut plain, mut wide) = (0, 0);
            for _ in 0..500 {
                let runs: Vec<Vec<f64>> = (0..24).map(|_| drifting(&mut random, rho, n)).collect();
                let widening = serial(&runs).unwrap().widening;
                let shift = two_sample_shift(&runs[0], &runs[1]).estimate;
                plain += usize::from(shift.low <= 0.0 && 0.0 <= shift.high);
                let ends = [shift.low, shift.high].map(|end| shift.value + widening * (end - shift.value));
                wide += usize::from(ends[0] <= 0.0 && 0.0 <= ends[1]);
            }
            let [plain, wide] = [plain, wide].map(|count| f64::from(count as u32) / 500.0);
            assert!((0.91..=0.995).contains(&wide), "{rho}, {n}: {wide}, and as it is {plain}");
            assert!(rho < 0.5 || plain < 0.85, "{rho}, {n}: {plain}");
        }
    }
}
