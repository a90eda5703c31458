//! Compares the spreads of paired values.

use crate::Exact;

use super::mean::Mean;
use super::{Estimate, median};

/// The standard deviation of normal values over the geometric mean of their absolute deviations:
/// exp((γ + ln 2) ÷ 2).
const NORMAL_FACTOR: f64 = 1.887_37;

/// The spreads of two sides around their medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spreads {
    /// The first side's standard deviation, if its values are normal: the geometric mean of their
    /// absolute deviations times a factor.
    pub first: f64,
    /// The second side's.
    pub second: f64,
    /// The second over the first, with a 95 % interval.
    pub ratio: Estimate,
}

/// The spreads of the logarithms of two sides, given in pairs. The interval is Student's of the
/// differences of ln|deviation|, which outliers hardly move (after Layard 1973). Fewer than three
/// pairs have no interval.
pub fn spreads(pairs: &[[f64; 2]]) -> Spreads {
    let mut firsts = Vec::new();
    let mut seconds = Vec::new();
    let mut differences = Vec::new();
    for (first, second) in log_deviations(pairs, 0).zip(log_deviations(pairs, 1)) {
        // A value at its median has no logarithm, and says nothing about a scale.
        if first.is_finite() && second.is_finite() {
            firsts.push(first);
            seconds.push(second);
            differences.push(second - first);
        }
    }

    let difference = Mean::new(&differences);
    Spreads {
        first: NORMAL_FACTOR * Mean::new(&firsts).value.exponential(),
        second: NORMAL_FACTOR * Mean::new(&seconds).value.exponential(),
        ratio: Estimate::within(difference.value.exponential(), difference.half_width(0.05)),
    }
}

/// ln|deviation| of one side's logarithms from their median.
fn log_deviations(pairs: &[[f64; 2]], side: usize) -> impl Iterator<Item = f64> + use<> {
    let logs: Vec<f64> = pairs.iter().map(|pair| pair[side].natural_log()).collect();
    let centre = median(&logs);
    logs.into_iter().map(move |log| (log - centre).abs().natural_log())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A value whose logarithm is about normal, of twelve uniform ones.
    fn value(random: &mut Pcg64Mcg, spread: f64) -> f64 {
        let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (spread * normal).exp()
    }

    #[test]
    fn intervals_hold_the_ratio_that_was_planted() {
        for (planted, blocks) in [(1.0, 12), (0.35, 24), (3.0, 48)] {
            let mut random = Pcg64Mcg::seed_from_u64(7);
            let held = (0..1000).filter(|_| {
                let mut pair = || [value(&mut random, 0.05), value(&mut random, 0.05 * planted)];
                let pairs: Vec<[f64; 2]> = (0..blocks).map(|_| pair()).collect();
                let found = spreads(&pairs).ratio;
                (found.low..=found.high).contains(&planted)
            });
            let held = held.count();
            assert!((930..=980).contains(&held), "{planted} over {blocks} blocks: {held}");
        }
    }

    #[test]
    fn the_spread_of_normal_values_is_their_standard_deviation() {
        let mut random = Pcg64Mcg::seed_from_u64(9);
        let pairs: Vec<[f64; 2]> =
            (0..20_000).map(|_| [value(&mut random, 0.02), value(&mut random, 0.06)]).collect();
        let found = spreads(&pairs);
        assert!(
            (found.first / 0.02 - 1.0).abs() < 0.03 && (found.second / 0.06 - 1.0).abs() < 0.03,
            "{found:?}"
        );
        assert!((found.second / found.first / found.ratio.value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_pairs_have_no_interval() {
        assert!(!spreads(&[[1.0, 2.0]]).ratio.bounded());
        assert!(!spreads(&[]).ratio.bounded());
        assert!(spreads(&[[1.0, 2.0], [1.1, 2.0], [1.2, 2.9], [1.4, 3.0]]).ratio.value > 0.0);
    }
}
