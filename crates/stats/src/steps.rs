//! Finds lasting changes of level in a series of results.
//!
//! Binary segmentation, as in Matteson & James's E-divisive (2014), with the difference of means in
//! place of the energy distance, since runs are few:
//!
//! 1. The series is split where the means before and after differ most ([`best_split`]).
//! 2. The split is a step if no more than 5 % of permutations of the series differ as much; then
//!    both parts are split in the same way ([`find_steps`]).
//! 3. The levels between steps give the changes with their intervals ([`steps`]).
//!
//! Values that resemble the one before would show steps where there are none. So the statistic is
//! divided, and the interval widened, by the inflation of the variance of a mean of such values:
//! (1 + ρ) ÷ (1 − ρ), with the lag-1 autocorrelation ρ about the levels ([`inflation`]).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::{Estimate, Mean, mean};

/// Fewer values are outliers, not a level.
const MIN_LEVEL_LENGTH: usize = 3;

/// Permutations behind each p value.
const PERMUTATIONS: usize = 999;

/// A series without steps shows one with this probability.
const MAX_FALSE_RATE: f64 = 0.05;

/// A lasting change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The place of the first value at the new level.
    pub at: usize,
    /// The new level − the old one, with its 95 % interval.
    pub change: Estimate,
    /// The probability that values without a step show one as large.
    pub p: f64,
}

/// A split of a series that is a step.
struct Border {
    /// The place of the first value after it.
    at: usize,
    p: f64,
}

/// A possible split of a series.
#[derive(Clone, Copy)]
struct Split {
    /// The place of the first value after it.
    at: usize,
    /// The F statistic: the squared difference of the means in standard errors.
    statistic: f64,
}

/// The steps of a series, in order.
pub fn steps(values: &[f64]) -> Vec<Step> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut borders = Vec::new();
    find_steps(values, 0, &mut random, &mut borders);
    borders.sort_by_key(|border| border.at);

    let levels = split_at_borders(values, &borders);
    let inflation = inflation(&levels);
    let mut steps = Vec::new();
    for (border, neighbours) in borders.iter().zip(levels.windows(2)) {
        let difference = Mean::new(neighbours[1]).less(&Mean::new(neighbours[0]));
        let half = difference.half_width(0.05) * inflation.sqrt();
        let change = Estimate {
            value: difference.value,
            low: difference.value - half,
            high: difference.value + half,
        };
        steps.push(Step { at: border.at, change, p: border.p });
    }
    steps
}

/// The values between the borders: one level more than there are borders.
fn split_at_borders<'a>(values: &'a [f64], borders: &[Border]) -> Vec<&'a [f64]> {
    let mut levels = Vec::new();
    let mut start = 0;
    for border in borders {
        levels.push(&values[start..border.at]);
        start = border.at;
    }
    levels.push(&values[start..]);
    levels
}

/// Adds the steps of a part of the series, which begins at `offset` of the whole.
fn find_steps(values: &[f64], offset: usize, random: &mut Pcg64Mcg, borders: &mut Vec<Border>) {
    let Some(Split { at, statistic }) = best_split(values) else {
        return;
    };

    // Shuffled values resemble no neighbours, so their statistic is compared as it is.
    let statistic = statistic / inflation(&[&values[..at], &values[at..]]);
    let mut shuffled = values.to_vec();
    let mut as_large = 0;
    for _ in 0..PERMUTATIONS {
        shuffled.shuffle(random);
        let split_by_chance = best_split(&shuffled);
        as_large += usize::from(split_by_chance.is_some_and(|split| split.statistic >= statistic));
    }

    let p = (as_large + 1) as f64 / (PERMUTATIONS + 1) as f64;
    if p <= MAX_FALSE_RATE {
        borders.push(Border { at: offset + at, p });
        find_steps(&values[..at], offset, random, borders);
        find_steps(&values[at..], offset + at, random, borders);
    }
}

/// The split with the largest difference of the means before and after; `None` of a series that is
/// too short for two levels.
fn best_split(values: &[f64]) -> Option<Split> {
    let n = values.len();
    let mut total = 0.0;
    let mut squares = 0.0;
    for value in values {
        total += value;
        squares += value * value;
    }
    let total_squares = squares - total * total / n as f64;

    let mut best = None::<Split>;
    let mut sum_before = 0.0;
    for at in 1..n {
        sum_before += values[at - 1];
        if at < MIN_LEVEL_LENGTH || n - at < MIN_LEVEL_LENGTH {
            continue;
        }

        // A one-way analysis of variance of two groups, with n − 2 degrees of freedom.
        let (first, second) = (at as f64, (n - at) as f64);
        let difference = sum_before / first - (total - sum_before) / second;
        let between = difference * difference * first * second / n as f64;
        let within = (total_squares - between).max(f64::MIN_POSITIVE) / (n as f64 - 2.0);
        let statistic = between / within;
        if best.is_none_or(|best| statistic > best.statistic) {
            best = Some(Split { at, statistic });
        }
    }
    best
}

/// (1 + ρ) ÷ (1 − ρ) of values about the means of their levels, at least 1. ρ is corrected for its
/// bias in short levels (Marriott & Pope 1954).
fn inflation(levels: &[&[f64]]) -> f64 {
    let mut products = 0.0;
    let mut squares = 0.0;
    let mut count = 0.0;
    for level in levels {
        let mean = mean(*level);
        products += level.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
        squares += level.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        count += level.len() as f64;
    }
    if squares <= 0.0 {
        return 1.0;
    }

    let parts = levels.len() as f64;
    let rho = (products / squares + parts / count) * count / (count - 4.0 * parts).max(1.0);
    // Not up to 1, where the inflation would be infinite.
    let rho = rho.clamp(0.0, 0.9);
    (1.0 + rho) / (1.0 - rho)
}

#[cfg(test)]
mod tests {
    use testing::normal;

    use super::*;

    #[test]
    fn a_plain_step_is_found_where_it_is() {
        let values: Vec<f64> =
            (0..12).map(|i| if i < 7 { 1.0 } else { 2.0 } + 0.01 * f64::from(i % 3)).collect();
        let found = steps(&values);
        assert_eq!((found.len(), found[0].at), (1, 7));
        assert!(
            (found[0].change.value - 1.0).abs() < 0.01 && found[0].change.low > 0.97,
            "{found:?}"
        );
        assert!(
            steps(&[1.0; 20]).is_empty() && steps(&[1.0, 2.0]).is_empty() && steps(&[]).is_empty()
        );
    }

    /// 3 % between 20 and 20 runs of 2 % noise are found in nine of ten; a series without a step
    /// has one in at most one of twenty, up to two standard errors.
    #[test]
    fn what_is_there_is_found_and_little_else() {
        let mut random = Pcg64Mcg::seed_from_u64(29);
        let mut series = |step: f64, kept: f64, n: usize| -> Vec<f64> {
            let mut state = normal(&mut random);
            let value = |place: usize| {
                state = kept * state + (1.0 - kept * kept).sqrt() * normal(&mut random);
                0.02 * state + if place < n / 2 { 0.0 } else { step }
            };
            (0..n).map(value).collect()
        };
        let times = 200;
        let found = (0..times)
            .filter(|_| steps(&series(0.03, 0.0, 40)).iter().any(|step| step.at.abs_diff(20) <= 8));
        let found = found.count();
        println!("{found} of {times}");
        assert!(found * 10 >= times * 9, "{found} of {times} steps");
        for (kept, n) in [(0.0, 10), (0.0, 40), (0.5, 40)] {
            let wrong = (0..times).filter(|_| !steps(&series(0.0, kept, n)).is_empty()).count();
            println!("{kept}, {n}: {wrong} of {times}");
            assert!(
                wrong * 20 <= times + 2 * 20 * 3,
                "{kept}, {n} runs: {wrong} of {times} series have a step that is not there"
            );
        }
    }
}
