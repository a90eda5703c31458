//! Several rates as one number.

use super::Measure;
use super::engine::{Data, Design, Draft};
use journal::{Cell, Key};
use stats::{ByBlock, Estimate, Exact, Sampled, mean, mean_half_width, median, paired_shift, pseudo_median};

/// The fewest rates that have a mean.
const FEWEST: usize = 2;

/// The mean that makes one number of several rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// The mean of their shifts. Its interval is by resampling blocks for all rates at once, so that noise that hits a
    /// whole block counts (Davison & Hinkley, Bootstrap Methods, §3.8); each side for itself where they share no
    /// blocks.
    Resampled,
    /// As if the mean over the rates of each block or round were a rate, of those rates that have all of them.
    ByRound,
}

/// The geometric mean of the ratios of several rates.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometricMean {
    /// Rates behind it.
    pub rates: usize,
    /// Its difference from 1 in per cent with the 95 % interval; negative is worse.
    pub delta: Estimate,
    /// The rate that fares worst.
    pub worst: Worst,
}

/// The rate that fares worst of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// Its cell.
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// Its difference in per cent.
    pub delta: f64,
}

/// Returns the geometric mean of the rates among `drafts`; `None` if there are fewer than two.
pub(crate) fn mean_of_rates(drafts: &[&Draft], pool: Pool) -> Option<GeometricMean> {
    let is_rate = |draft: &&&Draft| {
        draft.comparison.measure == Measure::Score && draft.difference.shift.estimate.value.is_finite()
    };
    let rates: Vec<&Draft> = drafts.iter().filter(is_rate).copied().collect();
    let delta = |draft: &Draft| draft.comparison.delta.value;
    let worst = rates.iter().filter(|_| rates.len() >= FEWEST).min_by(|a, b| delta(a).total_cmp(&delta(b)))?;
    let shift = match pool {
        Pool::ByRound if rates.iter().all(|rate| rate.comparison.design != Design::Apart) => by_round(&rates),
        _ => resampled(&rates),
    };
    let Cell { key, label, .. } = &worst.comparison.cell;
    Some(GeometricMean {
        rates: rates.len(),
        delta: Measure::Score.delta(&shift),
        worst: Worst { key: key.clone(), label: label.clone(), delta: delta(worst) },
    })
}

fn by_round(rates: &[&Draft]) -> Estimate {
    let numbers = |rate: &Draft| rate.comparison.pairs.iter().map(|pair| pair.round).collect::<Vec<u32>>();
    let all = rates.iter().map(|rate| numbers(rate)).max_by_key(Vec::len).unwrap_or_default();
    let whole = rates.iter().filter(|rate| numbers(rate) == all).filter_map(|rate| match &rate.difference.data {
        Data::Paired(differences) => Some(differences),
        _ => None,
    });
    let whole: Vec<&ByBlock> = whole.collect();
    let means: Vec<f64> = (0..all.len()).map(|place| mean(whole.iter().map(|rate| rate[place].1))).collect();
    paired_shift(&means).estimate
}

/// A rate's values, and how much wider the interval of a mean with them is.
type Part<'a> = (&'a [(u32, f64)], f64);

fn resampled(rates: &[&Draft]) -> Estimate {
    let value = mean(rates.iter().map(|rate| rate.difference.shift.estimate.value));
    let [mut paired, mut base, mut judged]: [Vec<Part<'_>>; 3] = Default::default();
    for rate in rates {
        let wider = rate.difference.widening.together;
        match &rate.difference.data {
            Data::Paired(differences) => paired.push((differences, wider)),
            Data::Apart(sides) => {
                base.push((&sides[0], wider));
                judged.push((&sides[1], wider));
            }
            // Scores never are.
            Data::Means(..) => {}
        }
    }
    let half = |parts: &[Part<'_>], statistic: fn(&[f64]) -> f64| {
        if parts.is_empty() {
            return 0.0;
        }
        let samples: Vec<Sampled<'_>> =
            parts.iter().map(|(values, _)| Sampled { values, statistic: &statistic }).collect();
        let wider = mean(parts.iter().map(|(_, wider)| *wider));
        wider * mean_half_width(&samples) * samples.len() as f64 / rates.len() as f64
    };
    let halves = [half(&paired, pseudo_median), half(&base, median), half(&judged, median)];
    let half = halves.iter().fold(0.0, |a: f64, b| a.hypotenuse(*b));
    if half.is_finite() { Estimate { value, low: value - half, high: value + half } } else { Estimate::alone(value) }
}
