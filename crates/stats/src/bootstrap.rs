//! The interval of a mean of several statistics whose samples share blocks.
//!
//! Blocks are resampled jointly: a resample draws the same blocks of every sample, by their
//! numbers, so that noise that hits a whole block is counted once and not averaged away (Davison &
//! Hinkley, Bootstrap Methods, §3.8).

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{in_block, quantile_975, without_blocks};

/// With so many resamples the standard error has itself an error of 1/√(2·1000) = 2.2 %.
const MAX_RESAMPLES: usize = 1000;

/// Then its error is 1/√(2·50) = 10 %, which serves for the narrow interval of a run of days.
const MIN_RESAMPLES: usize = 50;

/// Values drawn in all resamples together: a report must not take minutes.
const MAX_DRAWN_VALUES: usize = 4_000_000;

/// A sample, and a statistic of it.
pub struct Sampled<'a> {
    /// One value per block, in block order.
    pub values: &'a [(u32, f64)],
    /// The statistic, a logarithm.
    pub statistic: &'a dyn Fn(&[f64]) -> f64,
}

/// Draws the same blocks of several samples.
pub(super) struct BlockSampler<'a> {
    samples: Vec<&'a [(u32, f64)]>,
    /// For each sample, its value in each block that any sample has.
    values: Vec<Vec<Option<f64>>>,
    block_count: usize,
    random: Pcg64Mcg,
}

impl<'a> BlockSampler<'a> {
    pub(super) fn new(samples: impl Iterator<Item = &'a [(u32, f64)]>) -> BlockSampler<'a> {
        let samples: Vec<&[(u32, f64)]> = samples.collect();
        let mut blocks: Vec<u32> =
            samples.iter().copied().flatten().map(|(block, _)| *block).collect();
        blocks.sort_unstable();
        blocks.dedup();

        let values = samples
            .iter()
            .map(|sample| blocks.iter().map(|block| in_block(sample, *block)).collect())
            .collect();
        let random = Pcg64Mcg::seed_from_u64(1);
        BlockSampler { samples, values, block_count: blocks.len(), random }
    }

    /// Draws as many blocks as there are, with replacement. Returns their places.
    pub(super) fn draw(&mut self) -> Vec<usize> {
        (0..self.block_count).map(|_| self.random.random_range(0..self.block_count)).collect()
    }

    /// A sample's values in the drawn blocks, as many as the sample has. If it lacks some of these
    /// blocks, the missing values are drawn from all of its own.
    pub(super) fn take(&mut self, drawn: &[usize], sample: usize) -> Vec<f64> {
        let values = self.samples[sample];
        let mut taken: Vec<f64> = drawn
            .iter()
            .filter_map(|place| self.values[sample][*place])
            .take(values.len())
            .collect();
        while taken.len() < values.len() {
            taken.push(values[self.random.random_range(0..values.len())].1);
        }
        taken
    }
}

/// √(n/(n−1)), by which deviations of resamples of n values are too small.
pub(super) fn small_sample_stretch(count: usize) -> f64 {
    (count as f64 / (count as f64 - 1.0)).sqrt()
}

/// The half-width of the 95 % interval of the mean of the samples' statistics. Infinite if a sample
/// has fewer than two values.
///
/// Deviations are scaled by √(n/(n−1)), and the quantile is Student's with the degrees of freedom
/// of Welch and Satterthwaite, since percentile bootstraps of few blocks are too narrow
/// (docs/methodology.md).
pub fn mean_half_width(samples: &[Sampled<'_>]) -> f64 {
    if samples.is_empty() || samples.iter().any(|sample| sample.values.len() < 2) {
        return f64::INFINITY;
    }

    let count = samples.len() as f64;
    let centres: Vec<f64> =
        samples.iter().map(|sample| (sample.statistic)(&without_blocks(sample.values))).collect();
    let resamples = resample_count(samples.iter().map(|sample| sample.values.len()).sum());
    let mut sampler = BlockSampler::new(samples.iter().map(|sample| sample.values));

    // Of the mean's deviations, and of each sample's share in them.
    let mut sum_of_squares = 0.0;
    let mut sums_of_squares = vec![0.0; samples.len()];
    for _ in 0..resamples {
        let drawn = sampler.draw();
        let mut deviation = 0.0;
        for (number, sample) in samples.iter().enumerate() {
            let values = sampler.take(&drawn, number);
            let share = ((sample.statistic)(&values) - centres[number])
                * small_sample_stretch(values.len())
                / count;
            sums_of_squares[number] += share * share;
            deviation += share;
        }
        sum_of_squares += deviation * deviation;
    }

    let variances: Vec<f64> = sums_of_squares.iter().map(|sum| sum / resamples as f64).collect();
    let total: f64 = variances.iter().sum();
    let weights: f64 = variances
        .iter()
        .zip(samples)
        .map(|(v, sample)| v * v / (sample.values.len() as f64 - 1.0))
        .sum();
    // Without any variance the width is 0, whatever the degrees of freedom.
    let degrees = if total > 0.0 { total * total / weights } else { 1.0 };
    quantile_975(degrees) * (sum_of_squares / resamples as f64).sqrt()
}

/// The number of resamples, given how many values the samples have together.
pub(super) fn resample_count(values: usize) -> usize {
    (MAX_DRAWN_VALUES / values.max(1)).clamp(MIN_RESAMPLES, MAX_RESAMPLES)
}
