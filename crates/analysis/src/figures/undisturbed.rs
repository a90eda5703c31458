//! The undisturbed score of a cell, and the level of rates that it is made of; [`super::quiet`] has
//! the method.

use serde::{Deserialize, Serialize};

use catalogue::Metric;
use stats::{Estimate, Exact, Mean, mean, quantile};

/// The undisturbed score of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quiet {
    /// The score, with its interval in this run.
    #[serde(flatten)]
    pub score: Estimate,
    /// Number of trials that no visible neighbour disturbed.
    pub trials: usize,
    /// Share of the trials' variance that the machine's speed explains, as the trials of other
    /// tests show it; `None` if there are too few of those.
    pub explained: Option<f64>,
    #[serde(skip)]
    level: Level,
}

impl Quiet {
    pub(crate) fn new(
        level: Level,
        metric: Metric,
        trials: usize,
        explained: Option<f64>,
    ) -> Quiet {
        let rate = Estimate::within(level.log_rate.exponential(), level.half_width());
        let ends = [rate.low, rate.high].map(|end| to_rate(metric, end));
        let score = Estimate {
            value: to_rate(metric, rate.value),
            low: ends[0].min(ends[1]),
            high: ends[0].max(ends[1]),
        };
        Quiet { score, trials, explained, level }
    }

    /// Half the width of the 95 % interval of the mean logarithm of several undisturbed scores.
    pub(crate) fn half_width(scores: &[&Quiet]) -> f64 {
        let levels: Vec<&Level> = scores.iter().map(|quiet| &quiet.level).collect();
        Level::mean(&levels).half_width()
    }
}

/// A logarithm of rates, for the whole run and for each batch of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Level {
    /// Over the whole run.
    log_rate: f64,
    /// Each batch's level, relative to `log_rate`; `None` for a batch without calm slices.
    batch_offsets: Vec<Option<f64>>,
}

impl Level {
    pub(crate) fn at_quantile(share: f64, rates: &[f64], rates_by_batch: &[Vec<f64>]) -> Level {
        let log_rate = quantile(rates, share).natural_log();
        let batch_offsets = rates_by_batch
            .iter()
            .map(|rates| quantile(rates, share).natural_log() - log_rate)
            .map(|offset| offset.is_finite().then_some(offset))
            .collect();
        Level { log_rate, batch_offsets }
    }

    /// The mean of one or more levels; in each batch, of those that are known there.
    pub(crate) fn mean(levels: &[&Level]) -> Level {
        let batches = levels.iter().map(|level| level.batch_offsets.len()).max().unwrap_or(0);
        let mean_offset = |batch: usize| {
            let offsets: Vec<f64> =
                levels.iter().filter_map(|level| *level.batch_offsets.get(batch)?).collect();
            (!offsets.is_empty()).then(|| mean(offsets))
        };
        Level {
            log_rate: mean(levels.iter().map(|level| level.log_rate)),
            batch_offsets: (0..batches).map(mean_offset).collect(),
        }
    }

    pub(crate) fn plus(&self, other: &Level) -> Level {
        self.combine(other, |own, other| own + other)
    }

    pub(crate) fn minus(&self, other: &Level) -> Level {
        self.combine(other, |own, other| own - other)
    }

    fn combine(&self, other: &Level, operation: fn(f64, f64) -> f64) -> Level {
        let offsets = self.batch_offsets.iter().zip(&other.batch_offsets);
        Level {
            log_rate: operation(self.log_rate, other.log_rate),
            batch_offsets: offsets
                .map(|(own, other)| Some(operation((*own)?, (*other)?)))
                .collect(),
        }
    }

    /// Half the width of the 95 % interval of `log_rate`, by batch means (Law, *Simulation Modeling
    /// and Analysis*, 5th ed., §9.5.3).
    fn half_width(&self) -> f64 {
        let offsets: Vec<f64> = self.batch_offsets.iter().flatten().copied().collect();
        Mean::new(&offsets).half_width(0.05)
    }
}

/// Turns a time per piece of work into a rate, or back; a rate stays as it is.
pub(crate) fn to_rate(metric: Metric, value: f64) -> f64 {
    if metric == Metric::Time { 1.0 / value } else { value }
}
