//! Several rates as one number.

use super::Scale;
use super::engine::{Data, Draft};
use crate::figures::Measure;
use catalogue::Metric;
use journal::{Cell, Key};
use stats::{
    ByBlock, Estimate, Exact, Sampled, mean, mean_half_width, median, paired_shift, pseudo_median,
};

/// The fewest rates that have a mean.
const MIN_RATES: usize = 2;

/// How one number is made of several rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// The mean of their shifts. Its interval is by resampling blocks for all rates at once, so
    /// that noise that hits a whole block counts (Davison & Hinkley, Bootstrap Methods, §3.8); each
    /// side for itself where they share no blocks.
    Resampled,
    /// The rates are averaged block by block (or round by round), and the average is treated as one
    /// rate. Rates that miss a block are left out.
    ByRound,
}

/// The geometric mean of the ratios of several rates or times.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometricMean {
    /// Figures behind it.
    pub rates: usize,
    /// True if all of them are better if they are less: it is one of times.
    pub is_of_times: bool,
    /// Its difference from 1 in per cent with the 95 % interval; negative is worse. Reports show
    /// [`GeometricMean::change`].
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
    /// The change of its figure in per cent, as its own row has it.
    pub change: f64,
}

impl GeometricMean {
    /// The change with its interval, in the direction in which the figures themselves change: among
    /// times, positive is worse.
    pub fn change(&self) -> Estimate {
        if self.is_of_times { super::inverse(self.delta) } else { self.delta }
    }
}

/// The geometric mean of the rates among `drafts`; `None` if there are fewer than two.
pub(crate) fn mean_of_rates(drafts: &[&Draft], pool: Pool) -> Option<GeometricMean> {
    let is_rate = |draft: &&&Draft| {
        draft.comparison.measure == Measure::Score
            && draft.comparison.scale.is_ratio()
            && draft.comparison.cell.metric != Metric::Unknown
            && draft.difference.shift.estimate.value.is_finite()
    };
    let rates: Vec<&Draft> = drafts.iter().filter(is_rate).copied().collect();
    if rates.len() < MIN_RATES {
        return None;
    }

    let delta = |draft: &Draft| draft.comparison.delta.value;
    let worst = rates.iter().min_by(|a, b| delta(a).total_cmp(&delta(b)))?;
    let has_pairs = rates.iter().all(|rate| rate.comparison.design.is_paired());
    let shift = match pool {
        Pool::ByRound if has_pairs => average_by_round(&rates),
        _ => average_by_resampling(&rates),
    };
    let Cell { key, label, .. } = &worst.comparison.cell;
    Some(GeometricMean {
        rates: rates.len(),
        delta: Scale::Ratio.delta(&shift),
        is_of_times: rates.iter().all(|rate| rate.comparison.lower_is_better()),
        worst: Worst {
            key: key.clone(),
            label: label.clone(),
            change: worst.comparison.change().value,
        },
    })
}

fn average_by_round(rates: &[&Draft]) -> Estimate {
    let rounds =
        |rate: &Draft| rate.comparison.pairs.iter().map(|pair| pair.round).collect::<Vec<u32>>();
    let all = rates.iter().map(|rate| rounds(rate)).max_by_key(Vec::len).unwrap_or_default();

    let mut complete: Vec<&ByBlock> = Vec::new();
    for rate in rates.iter().filter(|rate| rounds(rate) == all) {
        if let Data::Paired(differences) = &rate.difference.data {
            complete.push(differences);
        }
    }
    let means: Vec<f64> =
        (0..all.len()).map(|place| mean(complete.iter().map(|rate| rate[place].1))).collect();
    paired_shift(&means).estimate
}

/// The values of a rate, or of one of its sides.
struct Part<'a> {
    values: &'a [(u32, f64)],
    /// The factor by which drift widens the interval of a mean over several rates.
    widening: f64,
}

fn average_by_resampling(rates: &[&Draft]) -> Estimate {
    let [mut paired, mut base, mut judged]: [Vec<Part<'_>>; 3] = Default::default();
    for rate in rates {
        let widening = rate.difference.widening.together;
        match &rate.difference.data {
            Data::Paired(values) => paired.push(Part { values, widening }),
            Data::Apart([of_base, of_judged]) => {
                base.push(Part { values: of_base, widening });
                judged.push(Part { values: of_judged, widening });
            }
            // Scores are neither means nor quantiles.
            Data::Quantiles(..) | Data::Means(..) => {}
        }
    }

    let value = mean(rates.iter().map(|rate| rate.difference.shift.estimate.value));
    let halves = [
        half_width(&paired, pseudo_median, rates.len()),
        half_width(&base, median, rates.len()),
        half_width(&judged, median, rates.len()),
    ];
    let half = halves.iter().fold(0.0, |a: f64, b| a.hypotenuse(*b));
    if half.is_finite() {
        Estimate { value, low: value - half, high: value + half }
    } else {
        Estimate::alone(value)
    }
}

/// The half-width that `parts` contribute to the interval of the mean of `rates` rates.
fn half_width(parts: &[Part<'_>], statistic: fn(&[f64]) -> f64, rates: usize) -> f64 {
    if parts.is_empty() {
        return 0.0;
    }
    let samples: Vec<Sampled<'_>> =
        parts.iter().map(|part| Sampled { values: part.values, statistic: &statistic }).collect();
    let widening = mean(parts.iter().map(|part| part.widening));
    widening * mean_half_width(&samples) * samples.len() as f64 / rates as f64
}
