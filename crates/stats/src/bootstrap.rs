//! The standard error of a mean of several estimates whose samples share blocks.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{in_block, quantile_975, without_blocks};

/// Resamples; the error of the standard error itself is then 1/√(2·1000) = 2.2 %.
const RESAMPLES: usize = 1000;

/// Values drawn in all, at most: a run of days has so narrow an interval that 50 resamples of it
/// (10 % of the width) serve, and a report must not take minutes.
const DRAWS: usize = 4_000_000;

/// One sample and the statistic that is taken of it.
pub struct Sampled<'a> {
    /// One value per block, in block order.
    pub values: &'a [(u32, f64)],
    /// The statistic, a logarithm.
    pub statistic: &'a dyn Fn(&[f64]) -> f64,
}

/// Draws the same blocks of several samples.
pub(super) struct Blocks<'a> {
    samples: Vec<&'a [(u32, f64)]>,
    /// The value of each sample in each of all blocks.
    values: Vec<Vec<Option<f64>>>,
    count: usize,
    random: Pcg64Mcg,
}

impl<'a> Blocks<'a> {
    /// The blocks that any of the samples has.
    pub(super) fn new(samples: impl Iterator<Item = &'a [(u32, f64)]>) -> Blocks<'a> {
        let samples: Vec<&[(u32, f64)]> = samples.collect();
        let mut numbers: Vec<u32> = samples.iter().copied().flatten().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let in_all = |sample: &&[(u32, f64)]| numbers.iter().map(|number| in_block(sample, *number)).collect();
        let values = samples.iter().map(in_all).collect();
        Blocks { samples, values, count: numbers.len(), random: Pcg64Mcg::seed_from_u64(1) }
    }

    /// Returns the places of as many blocks as there are, with replacement.
    pub(super) fn draw(&mut self) -> Vec<usize> {
        (0..self.count).map(|_| self.random.random_range(0..self.count)).collect()
    }

    /// Returns what a sample has in the drawn blocks. One without some of the blocks takes the draws that fall on those
    /// it has, and draws for itself what is missing.
    pub(super) fn take(&mut self, drawn: &[usize], sample: usize) -> Vec<f64> {
        let own = self.samples[sample];
        let mut taken: Vec<f64> =
            drawn.iter().filter_map(|place| self.values[sample][*place]).take(own.len()).collect();
        while taken.len() < own.len() {
            taken.push(own[self.random.random_range(0..own.len())].1);
        }
        taken
    }
}

/// Returns the factor by which a statistic of so few values must be stretched, since resamples of n vary by (n − 1)/n
/// of what samples do.
pub(super) fn stretch(count: usize) -> f64 {
    (count as f64 / (count as f64 - 1.0)).sqrt()
}

/// Returns the half-width of the 95 % interval of the mean of the samples' statistics; infinite
/// where a sample has fewer than two values.
///
/// Blocks are resampled jointly: a resample draws the same blocks of every sample, by their numbers, so that noise
/// that hits all of a block is counted once and not averaged away (Davison & Hinkley, Bootstrap
/// Methods, §3.8). Deviations are scaled by √(n/(n−1)), and the quantile is Student's with the
/// degrees of freedom of Welch and Satterthwaite, since percentile bootstraps of few blocks are too
/// narrow (docs/methodology.md).
pub fn mean_half_width(samples: &[Sampled<'_>]) -> f64 {
    if samples.is_empty() || samples.iter().any(|sample| sample.values.len() < 2) {
        return f64::INFINITY;
    }
    let count = samples.len() as f64;
    let centres: Vec<f64> = samples.iter().map(|sample| (sample.statistic)(&without_blocks(sample.values))).collect();
    let resamples = resamples(samples.iter().map(|sample| sample.values.len()).sum());
    let mut blocks = Blocks::new(samples.iter().map(|sample| sample.values));
    let mut sum_of_squares = 0.0;
    let mut own = vec![0.0; samples.len()];
    for _ in 0..resamples {
        let draw = blocks.draw();
        let mut deviation = 0.0;
        for (number, sample) in samples.iter().enumerate() {
            let drawn = blocks.take(&draw, number);
            let one = ((sample.statistic)(&drawn) - centres[number]) * stretch(drawn.len()) / count;
            own[number] += one * one;
            deviation += one;
        }
        sum_of_squares += deviation * deviation;
    }
    let variances: Vec<f64> = own.iter().map(|sum| sum / resamples as f64).collect();
    let total: f64 = variances.iter().sum();
    let weights: f64 =
        variances.iter().zip(samples).map(|(v, sample)| v * v / (sample.values.len() as f64 - 1.0)).sum();
    // No variance at all is a width of nothing, whatever the degrees of freedom.
    let degrees = if total > 0.0 { total * total / weights } else { 1.0 };
    quantile_975(degrees) * (sum_of_squares / resamples as f64).sqrt()
}

/// Returns the number of resamples for samples of this many values in all.
pub(super) fn resamples(values: usize) -> usize {
    (DRAWS / values.max(1)).clamp(50, RESAMPLES)
}
