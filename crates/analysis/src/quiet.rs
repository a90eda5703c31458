//! Scores of the machine while its neighbours are quiet, and the share of the time that they were not.
//!
//! Neighbours in the same system are in the kernel's accounts of every trial. Of others a busy machine is free for
//! moments, and its best slices tell what it does then. How often they disturbed shows in that all tests are slow at
//! the same time: the trials of the other tests, just before and after, tell how fast the machine was during this one.
//!
//! The best slices of some tests are luck: where the scheduler placed their processes, or which memory they got. For
//! these the median slice counts, raised by as much as the best slices of the other tests exceed those tests' medians.

use serde::{Deserialize, Serialize};

use super::{Figure, Sample, rate};
use catalogue::{Catalogue, Metric};
use journal::{Cell, Key, Trial};
use stats::{Estimate, Exact, Mean, Standard, mean, quantile};

/// Processors that others kept busy in a window from which on it counts as disturbed: writing back a test's own files
/// takes up to a tenth of one.
const OTHERS: f64 = 0.15;

/// The share of a window in which something waited for a processor, from which on the others competed for it.
const WAITING: f64 = 0.25;

/// The share of its processors' time that the hypervisor takes of a disturbed window: more than one tick in a short
/// one.
const STOLEN: f64 = 0.03;

/// The fewest trials without a visible neighbour that give a quiet score.
pub const FEWEST: usize = 4;

/// Seconds before and after a trial in which others tell of the machine's speed, and the fewest of them that do.
const NEAR: f64 = 2.5;
const WITNESSES: usize = 3;

/// The fewest other tests that correct a lucky one.
const CORRECTORS: usize = 3;

/// The machine is quiet in its best tenth: neighbours may disturb most of a run, and a single calm moment is not
/// enough.
const LEVEL: f64 = 0.9;

/// Parts of the run whose levels tell how sure that of the whole is: neighbours and drift are forgotten from one to the
/// next.
const PARTS: u64 = 6;

/// A trial is disturbed if it is expected to be slower than quiet ones by more than this, and by more than half as much
/// as the slowest twentieth: those near the end of a calm spell have witnesses from both.
const SLOWER: f64 = 0.05;

/// Who else used the machine while a trial was measured, from the kernel's accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbour {
    /// Other programs competed with the test for processors.
    Competing,
    /// Other programs ran on processors that the test did not need.
    Beside,
    /// The hypervisor gave the processors to others.
    Hypervisor,
}

/// The score of a test while its neighbours are quiet: what its best tenth of slices reaches; for a lucky test, its
/// median slice, raised by as much as other tests' best slices exceed their medians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quiet {
    /// The score, with its interval in this run.
    #[serde(flatten)]
    pub score: Estimate,
    /// Trials that no visible neighbour disturbed.
    pub trials: usize,
    /// The share of their variance that the speed of the other tests' trials beside them explains; `None` without such.
    pub explained: Option<f64>,
    #[serde(skip)]
    level: Level,
}

impl Quiet {
    fn new(level: Level, metric: Metric, trials: usize, explained: Option<f64>) -> Quiet {
        let rate = Estimate::within(level.whole.exponential(), level.half_width());
        let [value, one, other] = [rate.value, rate.low, rate.high].map(|value| turned(metric, value));
        let score = Estimate { value, low: one.min(other), high: one.max(other) };
        Quiet { score, trials, explained, level }
    }

    /// Returns the half-width of the 95 % interval of the mean logarithm of several quiet scores of a run.
    pub(super) fn half_width(all: &[&Quiet]) -> f64 {
        Level::mean(all.iter().map(|quiet| &quiet.level)).half_width()
    }
}

/// A level of rates, in logarithms.
#[derive(Debug, Clone, Default, PartialEq)]
struct Level {
    /// Over the whole run.
    whole: f64,
    /// How far the level of each part of the run lies from `whole`; `None` where nothing was undisturbed.
    parts: Vec<Option<f64>>,
}

impl Level {
    /// The mean of one or more levels; of each part, over the levels known there.
    fn mean<'a>(all: impl Iterator<Item = &'a Level> + Clone) -> Level {
        let count = all.clone().map(|level| level.parts.len()).max().unwrap_or(0);
        let of_part = |part: usize| {
            let known: Vec<f64> = all.clone().filter_map(|level| *level.parts.get(part)?).collect();
            (!known.is_empty()).then(|| mean(known))
        };
        let parts = (0..count).map(of_part).collect();
        Level { whole: mean(all.map(|level| level.whole)), parts }
    }

    /// Combines this and another by `of`.
    fn with(&self, other: &Level, of: fn(f64, f64) -> f64) -> Level {
        let part = |(own, other): (&Option<f64>, &Option<f64>)| Some(of((*own)?, (*other)?));
        Level { whole: of(self.whole, other.whole), parts: self.parts.iter().zip(&other.parts).map(part).collect() }
    }

    /// The half-width of its 95 % interval, by batch means (Law, Simulation Modeling and Analysis, 5th ed., §9.5.3).
    fn half_width(&self) -> f64 {
        Mean::new(&self.parts.iter().flatten().copied().collect::<Vec<f64>>()).half_width(0.05)
    }
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
    pub fn share(&self) -> f64 {
        self.competing + self.beside + self.hypervisor + self.hidden
    }

    /// Adds the quiet score to every row that has one; returns the shares, unless no row has.
    pub(super) fn find(rows: &mut [Figure], catalogue: &Catalogue) -> Option<Neighbours> {
        let calm: Vec<Calm> = rows.iter().map(Calm::new).collect();
        let slow = slowness(&calm);
        let last = rows.iter().flat_map(|row| &row.samples).map(|sample| sample.block).max().unwrap_or(0);
        let levels = calm.iter().zip(&slow).map(|(calm, slow)| calm.levels(slow.share(), u64::from(last) + 1));
        let quiet = quiet_levels(rows, &levels.collect::<Vec<_>>(), catalogue);
        let mut found = Vec::new();
        for (((row, calm), slow), level) in rows.iter_mut().zip(&calm).zip(&slow).zip(quiet) {
            found.extend(shares(row, slow));
            row.quiet = level.map(|level| Quiet::new(level, row.cell.metric, calm.trials.len(), slow.explained));
        }
        (!found.is_empty()).then(|| {
            let [competing, beside, hypervisor, hidden] =
                std::array::from_fn(|kind| mean(found.iter().map(|shares| shares[kind])));
            Neighbours { competing, beside, hypervisor, hidden }
        })
    }
}

/// Returns who disturbed the trial; `None` if nobody did or the journal does not say.
pub(super) fn neighbour(cell: &Cell, trial: &Trial, cpus: usize) -> Option<Neighbour> {
    let window = rate::window(trial);
    let noise = trial.noise.as_ref().filter(|_| window > 0.0)?;
    if rate::foreign_time(cell, trial).is_some_and(|others| others / window > OTHERS) {
        let waiting = noise.psi_cpu_some_s.is_some_and(|waiting| waiting / window > WAITING);
        return Some(if waiting { Neighbour::Competing } else { Neighbour::Beside });
    }
    let steal = noise.steal_s? / (window * cpus.max(1) as f64);
    (steal > STOLEN).then_some(Neighbour::Hypervisor)
}

/// The trials of a row that no visible neighbour disturbed, as rates, and the rates of each one's slices.
struct Calm {
    trials: Vec<Sample>,
    slices: Vec<Vec<f64>>,
}

impl Calm {
    /// Nothing of a latency, which is judged by its worst moments.
    fn new(row: &Figure) -> Calm {
        let usable = row.latency.is_none() && row.samples.iter().all(|sample| sample.value > 0.0);
        let each = row.samples.iter().zip(&row.slices);
        let each = each.filter(|(sample, _)| usable && sample.neighbour.is_none());
        let (trials, slices) = each.map(|(sample, slices)| (*sample, slices.clone())).unzip();
        let mut calm = Calm { trials, slices };
        calm.trials.iter_mut().for_each(|trial| trial.value = turned(row.cell.metric, trial.value));
        calm.slices.iter_mut().flatten().for_each(|rate| *rate = turned(row.cell.metric, *rate));
        calm
    }

    /// Returns the levels that its slices reach in a run of `blocks` blocks, where hidden neighbours `disturbed` a
    /// share of its trials; `None` if too few trials were calm.
    fn levels(&self, disturbed: f64, blocks: u64) -> Option<Levels> {
        let count = PARTS.min(blocks);
        let whole = self.rates(|_| true);
        let parts = (0..count).map(|part| self.rates(|block| u64::from(block) * count / blocks == part));
        let parts: Vec<Vec<f64>> = parts.collect();
        let level = |share: f64| {
            let reached = |rates: &[f64]| quantile(rates, share).natural_log();
            let whole = reached(&whole);
            let off = parts.iter().map(|part| Some(reached(part) - whole).filter(|off| off.is_finite()));
            Level { whole, parts: off.collect() }
        };
        // The best tenth of what was not disturbed.
        let best = 1.0 - (1.0 - LEVEL) * (1.0 - disturbed);
        (self.trials.len() >= FEWEST).then(|| Levels { best: level(best), median: level(0.5) })
    }

    /// The rates of the slices of the blocks that are wanted.
    fn rates(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<f64> {
        let each = self.trials.iter().zip(&self.slices).filter(|(trial, _)| is_wanted(trial.block));
        each.flat_map(|(_, rates)| rates).copied().collect()
    }
}

/// The levels that the best tenth of a row's slices reaches, and their median.
struct Levels {
    best: Level,
    median: Level,
}

/// Returns the level of each row while its neighbours are quiet. A lucky test needs at least [`CORRECTORS`] other tests
/// with the same copies, load and condition, in the same arm: neighbours are assumed to slow it by as much as those.
fn quiet_levels(rows: &[Figure], levels: &[Option<Levels>], catalogue: &Catalogue) -> Vec<Option<Level>> {
    let is_lucky = |row: &Figure| catalogue.test(&row.cell.key.test).is_some_and(|test| test.lucky);
    let level = |(row, own): (&Figure, &Option<Levels>)| {
        let own = own.as_ref()?;
        if !is_lucky(row) {
            return Some(own.best.clone());
        }
        let beside = rows.iter().zip(levels).filter(|(other, _)| !is_lucky(other) && is_alike(&row.cell, &other.cell));
        let known = beside.filter_map(|(_, levels)| levels.as_ref());
        let raises = known.map(|levels| levels.best.with(&levels.median, |best, median| best - median));
        let raises: Vec<Level> = raises.collect();
        (raises.len() >= CORRECTORS)
            .then(|| own.median.with(&Level::mean(raises.iter()), |median, raise| median + raise))
    };
    rows.iter().zip(levels).map(level).collect()
}

/// Returns true if two cells have the same copies, load and condition, in the same arm.
fn is_alike(one: &Cell, other: &Cell) -> bool {
    let Key { copies, load, condition, .. } = &one.key;
    let key = &other.key;
    (copies, load, condition) == (&key.copies, &key.load, &key.condition) && one.control == other.control
}

/// A time as a rate, or back; rates as they are.
fn turned(metric: Metric, value: f64) -> f64 {
    if metric == Metric::Time { 1.0 / value } else { value }
}

/// Returns how fast the machine was during each trial of each row, by the trials of other rows near it: the mean of
/// their deviations from their rows' medians, in units of their Qₙ. `None` where too few were near.
fn speeds(rows: &[Calm]) -> Vec<Vec<Option<f64>>> {
    let mut witnesses: Vec<(f64, usize, f64)> = Vec::new();
    for (number, Calm { trials: samples, .. }) in rows.iter().enumerate() {
        let logs = logs(samples);
        if let Some(standard) = Standard::new(&logs).filter(|_| samples.len() >= FEWEST) {
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
    let rows = rows.iter().enumerate();
    rows.map(|(number, calm)| calm.trials.iter().map(|sample| speed(number, sample.at)).collect()).collect()
}

/// Returns how much slower the trials of each row are expected to be than on a quiet machine.
fn slowness(calm: &[Calm]) -> Vec<Slowness> {
    let speeds = speeds(calm);
    let all: Vec<f64> = speeds.iter().flatten().flatten().copied().collect();
    let level = quantile(&all, LEVEL);
    calm.iter().zip(&speeds).map(|(calm, speeds)| Slowness::new(&calm.trials, speeds, level)).collect()
}

/// How much slower each trial of a row is expected to be than on the quiet machine, as a difference of logarithms.
struct Slowness {
    of_trials: Vec<f64>,
    explained: Option<f64>,
}

impl Slowness {
    /// By the regression of the trials' logarithms on the machine's speeds, where they are `speeds` and the quiet
    /// machine's is `level`. A slope below 0, or that its standard error could make 0, is none.
    fn new(samples: &[Sample], speeds: &[Option<f64>], level: f64) -> Slowness {
        let none = Slowness { of_trials: vec![0.0; samples.len()], explained: None };
        let logs = logs(samples);
        let Some(standard) = Standard::new(&logs) else { return none };
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
        Slowness { of_trials: speeds.iter().map(slower).collect(), explained: Some(explained) }
    }

    /// The share of the trials that were disturbed.
    fn share(&self) -> f64 {
        self.disturbed() as f64 / self.of_trials.len().max(1) as f64
    }

    fn disturbed(&self) -> usize {
        let least = SLOWER.max(quantile(&self.of_trials, 0.95) / 2.0);
        self.of_trials.iter().filter(|slower| **slower > least).count()
    }
}

fn logs(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|sample| sample.value.natural_log()).collect()
}

/// The variance of the first, the covariance, the variance of the second; NaN of nothing.
fn moments(pairs: &[(f64, f64)]) -> [f64; 3] {
    let (x, y) = (mean(pairs.iter().map(|pair| pair.0)), mean(pairs.iter().map(|pair| pair.1)));
    let product = |of: fn(f64, f64) -> f64| mean(pairs.iter().map(|pair| of(pair.0 - x, pair.1 - y)));
    [product(|x, _| x * x), product(|x, y| x * y), product(|_, y| y * y)]
}

/// The shares of a row's trials in the order of [`Neighbours`]; `None` if it has none.
fn shares(row: &Figure, slow: &Slowness) -> Option<[f64; 4]> {
    let of = |kind: Neighbour| row.samples.iter().filter(|sample| sample.neighbour == Some(kind)).count();
    let [competing, beside, hypervisor] = [Neighbour::Competing, Neighbour::Beside, Neighbour::Hypervisor].map(of);
    let count = row.samples.len();
    let shares = [competing, beside, hypervisor, slow.disturbed()].map(|trials| trials as f64 / count as f64);
    (row.latency.is_none() && count > 0).then_some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_single_trial_nothing_is_known() {
        let sample = Sample { at: 0.0, block: 0, value: 1.0, neighbour: None };
        let found = Slowness::new(&[sample], &[Some(0.5)], 1.0);
        assert!(found.of_trials == [0.0] && found.explained.is_none());
    }
}
