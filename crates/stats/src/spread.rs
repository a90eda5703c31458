//! How much more values of one kind scatter than those of another.

use crate::Exact;

use super::mean::Mean;
use super::{Estimate, median};

/// Returns how many times as far the logarithms of the second of each pair lie from their median as those of the first, with
/// a 95 % interval: Student's of the differences of ln|deviation|, which strange values hardly move (after Layard 1973).
/// No interval of fewer than three pairs. Pairs with a value at its median say nothing of a scale, and are left out.
#[must_use]
pub fn spread_ratio(pairs: &[[f64; 2]]) -> Estimate {
    let side = |place: usize| {
        let logs: Vec<f64> = pairs.iter().map(|pair| pair[place].natural_log()).collect();
        let middle = median(&logs);
        logs.into_iter().map(move |log| (log - middle).abs().natural_log())
    };
    let differences: Vec<f64> = side(1).zip(side(0)).map(|(b, a)| b - a).filter(|one| one.is_finite()).collect();
    let mean = Mean::of(&differences);
    Estimate::within(mean.value.exponential(), mean.half_width(0.05))
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
                let found = spread_ratio(&pairs);
                (found.low..=found.high).contains(&planted)
            });
            let held = held.count();
            assert!((930..=980).contains(&held), "{planted} over {blocks} blocks: {held}");
        }
    }

    #[test]
    fn few_pairs_have_no_interval() {
        assert!(!spread_ratio(&[[1.0, 2.0]]).bounded());
        assert!(!spread_ratio(&[]).bounded());
        assert!(spread_ratio(&[[1.0, 2.0], [1.1, 2.0], [1.2, 2.9], [1.4, 3.0]]).value > 0.0);
    }
}
