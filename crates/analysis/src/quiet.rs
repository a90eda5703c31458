//! What the machine does while its neighbours are quiet, and how much of the time they were not.
//!
//! Neighbours in the same system are in the kernel's accounts of every trial. Others show in that all tests are slow at the
//! same time: the trials of the other tests, just before and after, tell how fast the machine was during this one.

use serde::Serialize;

use super::drift::{self, Widening};
use super::{Row, Sample, score};
use catalogue::Metric;
use journal::{Cell, Trial};
use stats::{Drift, Estimate, Standard, mean, quantile};

/// Processors that others kept busy in a window from which on it counts as disturbed: writing back a test's own files takes
/// up to a tenth of one.
const OTHERS: f64 = 0.15;

/// The share of a window in which something waited for a processor, from which on the others competed for it.
const WAITING: f64 = 0.25;

/// The share of its processors' time that the hypervisor takes of a disturbed window: more than one tick in a short one.
const STOLEN: f64 = 0.03;

/// The fewest trials without a visible neighbour that give a quiet score.
const FEWEST: usize = 4;

/// Seconds before and after a trial in which others tell of the machine's speed, and the fewest of them that do.
const NEAR: f64 = 2.5;
const WITNESSES: usize = 3;

/// The machine is quiet at this quantile of its speeds: neighbours may disturb most of a run, and a single calm moment is no
/// measure.
const LEVEL: f64 = 0.9;

/// A trial is disturbed if it is expected to be slower than quiet ones by more than this, and by more than half as much as the
/// slowest twentieth: those near the end of a calm spell have witnesses from both.
const SLOWER: f64 = 0.05;

/// Who else used the machine while a trial was measured, from the kernel's accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbour {
    /// Other programs competed with the test for processors.
    Competing,
    /// Other programs ran on processors that the test did not need.
    Beside,
    /// The hypervisor gave the processors to others.
    Hypervisor,
}

/// The score of a test while its neighbours are quiet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quiet {
    /// The score, with its interval in this run.
    #[serde(flatten)]
    pub score: Estimate,
    /// Trials that no visible neighbour disturbed.
    pub trials: usize,
    /// The share of their variance that the speed of the other tests' trials beside them explains; `None` without such.
    pub explained: Option<f64>,
    /// These trials, as they would have been on the quiet machine.
    #[serde(skip)]
    pub(super) samples: Vec<Sample>,
    /// How much wider the drift that is left makes the interval of an index.
    #[serde(skip)]
    pub(super) together: f64,
    /// The variance of the score's logarithm that its slope on the machine's speed adds.
    #[serde(skip)]
    pub(super) variance: f64,
}

/// The shares of a run's trials that neighbours disturbed, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Neighbours {
    /// By other programs that competed for processors.
    pub competing: f64,
    /// By other programs on other processors.
    pub beside: f64,
    /// By other guests of the hypervisor, to whom it gave processors.
    pub hypervisor: f64,
    /// Slow together with other tests, without a visible cause: neighbours that share a core, a cache or memory, or a
    /// lower clock.
    pub hidden: f64,
}

impl Neighbours {
    /// Returns the share of all kinds.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.competing + self.beside + self.hypervisor + self.hidden
    }

    /// Adds the quiet score to every row that has one; returns the shares, unless no row has.
    pub(super) fn find(rows: &mut [Row]) -> Option<Neighbours> {
        let kept: Vec<Vec<Sample>> = rows.iter().map(undisturbed).collect();
        let speeds = speeds(&kept);
        let all: Vec<f64> = speeds.iter().flatten().flatten().copied().collect();
        let level = quantile(&all, LEVEL);
        let slow: Vec<Slowness> =
            kept.iter().zip(&speeds).map(|(kept, speeds)| Slowness::of(kept, speeds, level)).collect();
        let adjusted: Vec<Vec<Sample>> = kept.iter().zip(&slow).map(|(kept, slow)| slow.taken_from(kept)).collect();
        let drift = drift::of_trials(adjusted.iter().map(Vec::as_slice));
        let together = drift::together(rows);
        let mut found = Vec::new();
        for (((row, samples), slow), together) in rows.iter_mut().zip(adjusted).zip(&slow).zip(together) {
            found.extend(shares(row, slow));
            let samples = samples.iter().map(|sample| turned(row.cell.metric, sample)).collect();
            row.quiet = quiet(samples, slow, drift.as_ref(), together);
        }
        let share = |kind: fn(&Neighbours) -> f64| mean(found.iter().map(kind));
        (!found.is_empty()).then(|| Neighbours {
            competing: share(|one| one.competing),
            beside: share(|one| one.beside),
            hypervisor: share(|one| one.hypervisor),
            hidden: share(|one| one.hidden),
        })
    }
}

/// Returns who disturbed the trial; `None` if nobody did or the journal does not say.
pub(super) fn neighbour(cell: &Cell, trial: &Trial, cpus: usize) -> Option<Neighbour> {
    let window = score::window(trial);
    let noise = trial.noise.as_ref().filter(|_| window > 0.0)?;
    if score::foreign_time(cell, trial).is_some_and(|others| others / window > OTHERS) {
        let waiting = noise.psi_cpu_some_s.is_some_and(|waiting| waiting / window > WAITING);
        return Some(if waiting { Neighbour::Competing } else { Neighbour::Beside });
    }
    let steal = noise.steal_s? / (window * cpus.max(1) as f64);
    (steal > STOLEN).then_some(Neighbour::Hypervisor)
}

/// The trials that no visible neighbour disturbed, as rates; none of a latency, which is judged by its worst moments.
fn undisturbed(row: &Row) -> Vec<Sample> {
    let usable = row.latency.is_none() && row.samples.iter().all(|sample| sample.value > 0.0);
    let quiet = |sample: &&Sample| usable && sample.neighbour.is_none();
    row.samples.iter().filter(quiet).map(|sample| turned(row.cell.metric, sample)).collect()
}

/// A time as a rate, or back; rates as they are.
fn turned(metric: Metric, sample: &Sample) -> Sample {
    Sample { value: if metric == Metric::Time { 1.0 / sample.value } else { sample.value }, ..*sample }
}

/// Returns how fast the machine was during each trial of each row, by the trials of other rows near it: the mean of their
/// deviations from their rows' medians, in units of their Qₙ. `None` where too few were near.
fn speeds(rows: &[Vec<Sample>]) -> Vec<Vec<Option<f64>>> {
    let mut witnesses: Vec<(f64, usize, f64)> = Vec::new();
    for (number, samples) in rows.iter().enumerate() {
        let logs = logs(samples);
        if let Some(standard) = Standard::of(&logs).filter(|_| samples.len() >= FEWEST) {
            let witness = |(sample, log): (&Sample, &f64)| (sample.at, number, standard.deviation(*log));
            witnesses.extend(samples.iter().zip(&logs).map(witness));
        }
    }
    witnesses.sort_by(|a, b| a.0.total_cmp(&b.0));
    let speed = |number: usize, at: f64| {
        let first = witnesses.partition_point(|witness| witness.0 < at - NEAR);
        let near = witnesses[first..].iter().take_while(|witness| witness.0 <= at + NEAR);
        let others: Vec<f64> = near.filter(|witness| witness.1 != number).map(|witness| witness.2).collect();
        (others.len() >= WITNESSES).then(|| mean(others))
    };
    rows.iter()
        .enumerate()
        .map(|(number, samples)| samples.iter().map(|sample| speed(number, sample.at)).collect())
        .collect()
}

/// How much slower each trial of a row is expected to be than on the quiet machine, as a difference of logarithms.
struct Slowness {
    of_trials: Vec<f64>,
    /// The variance of these expectations' mean, for the slope that they rest on is an estimate.
    variance: f64,
    explained: Option<f64>,
}

impl Slowness {
    /// By the regression of the trials' logarithms on the machine's speeds, where they are `speeds` and the quiet machine's is
    /// `level`. A slope below 0, or that its standard error could make 0, is none.
    fn of(samples: &[Sample], speeds: &[Option<f64>], level: f64) -> Slowness {
        let none = Slowness { of_trials: vec![0.0; samples.len()], variance: 0.0, explained: None };
        let logs = logs(samples);
        let Some(standard) = Standard::of(&logs) else { return none };
        let pair = |(log, speed): (&f64, &Option<f64>)| Some(((*speed)?, standard.distance(*log)));
        let pairs: Vec<(f64, f64)> = logs.iter().zip(speeds).filter_map(pair).collect();
        let n = pairs.len() as f64;
        let [speed, both, own] = moments(&pairs);
        if pairs.len() < 2 * FEWEST || speed <= 0.0 || own <= 0.0 {
            return none;
        }
        let (slope, explained) = (both / speed, both * both / (speed * own));
        let error = (own * (1.0 - explained) / (speed * (n - 2.0))).sqrt();
        if slope <= error {
            return Slowness { explained: Some(0.0), ..none };
        }
        let usual = mean(pairs.iter().map(|pair| pair.0));
        let slower = |speed: &Option<f64>| slope * (level - speed.unwrap_or(usual));
        Slowness {
            of_trials: speeds.iter().map(slower).collect(),
            variance: (error * (level - usual)).powi(2),
            explained: Some(explained),
        }
    }

    /// The trials as they would have been on the quiet machine.
    fn taken_from(&self, samples: &[Sample]) -> Vec<Sample> {
        let faster = |(sample, slower): (&Sample, &f64)| Sample { value: sample.value * slower.exp(), ..*sample };
        samples.iter().zip(&self.of_trials).map(faster).collect()
    }
}

fn logs(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|sample| sample.value.ln()).collect()
}

/// The variance of the first, the covariance, the variance of the second; NaN of nothing.
fn moments(pairs: &[(f64, f64)]) -> [f64; 3] {
    let (x, y) = (mean(pairs.iter().map(|pair| pair.0)), mean(pairs.iter().map(|pair| pair.1)));
    let product = |of: fn(f64, f64) -> f64| mean(pairs.iter().map(|pair| of(pair.0 - x, pair.1 - y)));
    [product(|x, _| x * x), product(|x, y| x * y), product(|_, y| y * y)]
}

fn quiet(samples: Vec<Sample>, slow: &Slowness, drift: Option<&Drift>, together: f64) -> Option<Quiet> {
    if samples.len() < FEWEST {
        return None;
    }
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let widening = drift.map_or_else(Widening::default, |drift| Widening::of(drift, &samples, together));
    let found = score::of_rates(&values);
    let half = (found.high / found.low).ln() / 2.0 * widening.alone;
    let score = Estimate::within(found.value, half.hypot(2.0 * slow.variance.sqrt()));
    let (trials, explained, variance) = (values.len(), slow.explained, slow.variance);
    Some(Quiet { score, trials, explained, samples, together: widening.together, variance })
}

/// The shares of a row's trials; `None` if it has none.
fn shares(row: &Row, slow: &Slowness) -> Option<Neighbours> {
    let count = row.samples.len() as f64;
    let share =
        |kind: Neighbour| row.samples.iter().filter(|sample| sample.neighbour == Some(kind)).count() as f64 / count;
    let least = SLOWER.max(quantile(&slow.of_trials, 0.95) / 2.0);
    (row.latency.is_none() && count > 0.0).then(|| Neighbours {
        competing: share(Neighbour::Competing),
        beside: share(Neighbour::Beside),
        hypervisor: share(Neighbour::Hypervisor),
        hidden: slow.of_trials.iter().filter(|slower| **slower > least).count() as f64 / count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_single_trial_nothing_is_known() {
        let sample = Sample { at: 0.0, block: 0, value: 1.0, neighbour: None };
        let found = Slowness::of(&[sample], &[Some(0.5)], 1.0);
        assert!(found.of_trials == [0.0] && found.explained.is_none());
    }
}
