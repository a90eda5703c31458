//! The spreads of paired values, compared.

use crate::Exact;

use super::mean::Mean;
use super::{Estimate, median};

/// The standard deviation of normal values over the geometric mean of their absolute deviations: exp((γ + ln 2) ÷ 2).
const NORMAL: f64 = 1.887_37;

/// The spreads of two sides around their medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spreads {
    /// The geometric mean of the first side's deviations, as the standard deviation of normal values that have it.
    pub first: f64,
    /// The same of the second.
    pub second: f64,
    /// The second over the first, with a 95 % interval.
    pub ratio: Estimate,
}

/// Returns the spreads of the logarithms of two sides, by pairs. The interval is Student's of the differences of
/// ln|deviation|, which outliers hardly move (after Layard 1973); there is none of fewer than three pairs. Pairs with a
/// value at its median say nothing of a scale, and are left out.
pub fn spreads(pairs: &[[f64; 2]]) -> Spreads {
    let side = |place: usize| {
        let logs: Vec<f64> = pairs.iter().map(|pair| pair[place].natural_log()).collect();
        let middle = median(&logs);
        logs.into_iter().map(move |log| (log - middle).abs().natural_log())
    };
    let known: Vec<(f64, f64)> = side(0).zip(side(1)).filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    let [first, second] = [Mean::new(&sides(&known, |pair| pair.0)), Mean::new(&sides(&known, |pair| pair.1))];
    let difference = Mean::new(&sides(&known, |pair| pair.1 - pair.0));
    Spreads {
        first: NORMAL * first.value.exponential(),
        second: NORMAL * second.value.exponential(),
        ratio: Estimate::within(difference.value.exponential(), difference.half_width(0.05)),
    }
}

fn sides(pairs: &[(f64, f64)], value: impl Fn(&(f64, f64)) -> f64) -> Vec<f64> {
    pairs.iter().map(value).collect()
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
        let pairs: Vec<[f64; 2]> = (0..20_000).map(|_| [value(&mut random, 0.02), value(&mut random, 0.06)]).collect();
        let found = spreads(&pairs);
        assert!((found.first / 0.02 - 1.0).abs() < 0.03 && (found.second / 0.06 - 1.0).abs() < 0.03, "{found:?}");
        assert!((found.second / found.first / found.ratio.value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_pairs_have_no_interval() {
        assert!(!spreads(&[[1.0, 2.0]]).ratio.bounded());
        assert!(!spreads(&[]).ratio.bounded());
        assert!(spreads(&[[1.0, 2.0], [1.1, 2.0], [1.2, 2.9], [1.4, 3.0]]).ratio.value > 0.0);
    }
}
