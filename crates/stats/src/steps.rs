//! Changes of level in a series of results.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::{Estimate, Mean, mean};

/// The fewest values of a level; fewer are outliers.
const FEWEST: usize = 3;

/// Permutations behind each p value.
const PERMUTATIONS: usize = 999;

/// The rate of false steps, per series without any.
const RATE: f64 = 0.05;

/// A lasting change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The place of the first value at the new level.
    pub at: usize,
    /// The new level less the old one, with its 95 % interval.
    pub change: Estimate,
    /// The probability that values without any step show one as large.
    pub p: f64,
}

/// Returns the steps of a series, in order: where it splits into two parts whose means differ most,
/// if no more than 5 % of permutations differ as much, and then within the parts (binary
/// segmentation, as in Matteson & James's E-divisive, 2014, with the difference of means in place
/// of the energy distance, since runs are few). Values that resemble the one before would show
/// steps where there are none: the statistic is divided by the variance of a mean of such values
/// relative to independent ones, (1 + ρ) ÷ (1 − ρ), with the lag-1 autocorrelation ρ about the
/// levels.
pub fn steps(values: &[f64]) -> Vec<Step> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut borders = Vec::new();
    split(values, 0, &mut random, &mut borders);
    borders.sort_by_key(|border: &(usize, f64)| border.0);
    let places: Vec<usize> = borders.iter().map(|border| border.0).collect();
    let level = |place: usize| {
        let from = if place == 0 { 0 } else { places[place - 1] };
        &values[from..places.get(place).copied().unwrap_or(values.len())]
    };
    let inflation = inflation(&(0..=places.len()).map(level).collect::<Vec<&[f64]>>());
    let step = |(place, (at, p)): (usize, &(usize, f64))| {
        let difference = Mean::new(level(place + 1)).less(&Mean::new(level(place)));
        let half = difference.half_width(0.05) * inflation.sqrt();
        let change = Estimate { value: difference.value, low: difference.value - half, high: difference.value + half };
        Step { at: *at, change, p: *p }
    };
    borders.iter().enumerate().map(step).collect()
}

/// Adds the places of `values`, which begin at `offset` in the whole, where the level changes.
fn split(values: &[f64], offset: usize, random: &mut Pcg64Mcg, borders: &mut Vec<(usize, f64)>) {
    let Some((at, found)) = largest(values) else { return };
    let found = found / inflation(&[&values[..at], &values[at..]]);
    let mut shuffled = values.to_vec();
    let mut as_large = 0;
    for _ in 0..PERMUTATIONS {
        shuffled.shuffle(random);
        as_large += usize::from(largest(&shuffled).is_some_and(|(_, chance)| chance >= found));
    }
    let p = (as_large + 1) as f64 / (PERMUTATIONS + 1) as f64;
    if p <= RATE {
        borders.push((offset + at, p));
        split(&values[..at], offset, random, borders);
        split(&values[at..], offset + at, random, borders);
    }
}

/// Returns where the means before and after differ most, and the square of that difference in standard errors.
fn largest(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len();
    let (total, squares) = values.iter().fold((0.0, 0.0), |sum, value| (sum.0 + value, sum.1 + value * value));
    let whole = squares - total * total / n as f64;
    let (mut before, mut most) = (0.0, None::<(usize, f64)>);
    for at in 1..n {
        before += values[at - 1];
        if at < FEWEST || n - at < FEWEST {
            continue;
        }
        let (first, second) = (at as f64, (n - at) as f64);
        let difference = before / first - (total - before) / second;
        let between = difference * difference * first * second / n as f64;
        // F of one way and n − 2 degrees of freedom.
        let within = (whole - between).max(f64::MIN_POSITIVE) / (n as f64 - 2.0);
        let statistic = between / within;
        if most.is_none_or(|(_, most)| statistic > most) {
            most = Some((at, statistic));
        }
    }
    most
}

/// (1 + ρ) ÷ (1 − ρ) of values about the means of their levels, at least 1; ρ is put right for what
/// short levels take from it (Marriott & Pope 1954).
fn inflation(levels: &[&[f64]]) -> f64 {
    let (mut next, mut square, mut count) = (0.0, 0.0, 0.0);
    for level in levels {
        let mean = mean(*level);
        next += level.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>();
        square += level.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        count += level.len() as f64;
    }
    if square <= 0.0 {
        return 1.0;
    }
    let parts = levels.len() as f64;
    let rho = (next / square + parts / count) * count / (count - 4.0 * parts).max(1.0);
    let rho = rho.clamp(0.0, 0.9);
    (1.0 + rho) / (1.0 - rho)
}

#[cfg(test)]
mod tests {
    use testing::normal;

    use super::*;

    #[test]
    fn a_plain_step_is_found_where_it_is() {
        let values: Vec<f64> = (0..12).map(|i| if i < 7 { 1.0 } else { 2.0 } + 0.01 * f64::from(i % 3)).collect();
        let found = steps(&values);
        assert_eq!((found.len(), found[0].at), (1, 7));
        assert!((found[0].change.value - 1.0).abs() < 0.01 && found[0].change.low > 0.97, "{found:?}");
        assert!(steps(&[1.0; 20]).is_empty() && steps(&[1.0, 2.0]).is_empty() && steps(&[]).is_empty());
    }

    /// 3 % between 20 and 20 runs of 2 % noise are found in nine of ten; a series without a step has
    /// one in at most one of twenty, up to two standard errors.
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
        let found = (0..times).filter(|_| steps(&series(0.03, 0.0, 40)).iter().any(|step| step.at.abs_diff(20) <= 8));
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
