//! The undisturbed score: what a test reaches while the machine's neighbours are quiet.
//!
//! Neighbours are other programs on the machine, and other guests on its host. The kernel accounts
//! for some of them, but not for a guest that shares a core, a cache or memory, nor for a lower
//! clock. The method has four steps; docs/methodology.md explains why, and what it achieves.
//!
//! 1. *Visible neighbours.* Trials that the kernel's accounts show to be disturbed are left out
//!    ([`super::neighbour`], [`CalmTrials`]).
//! 2. *Hidden neighbours* slow all tests at once. So the trials of other tests just before and
//!    after a trial are witnesses of the machine's speed during it ([`machine_speeds`]), and a
//!    regression on that speed says by how much each trial was slowed ([`Slowdown`]).
//! 3. *The best tenth.* Even a busy machine is free for moments, which slices of 50 ms are short
//!    enough to catch. The score is what the best tenth of the undisturbed slices reaches
//!    ([`CalmTrials::levels`]).
//! 4. *Lucky tests.* Where the best slices owe more to luck (both processes on one core, both files
//!    in the cache) than to quiet neighbours, the score is the median slice, raised by as much as
//!    other tests' best tenth exceeds their medians ([`quiet_level`]).
//!
//! Everything is computed on logarithms of rates; times per piece of work are turned into rates
//! first.

use serde::Serialize;

use crate::figures::undisturbed::{Level, Quiet, to_rate};
use crate::figures::{Figure, Neighbour, Sample};
use catalogue::Catalogue;
use journal::Cell;
use stats::{Exact, Standard, mean, quantile};

/// Fewest undisturbed trials that give an undisturbed score.
pub const MIN_CALM_TRIALS: usize = 4;

/// Seconds before and after a trial within which trials of other tests are its witnesses.
const WITNESS_SECONDS: f64 = 2.5;

/// Fewest witnesses that establish the machine's speed.
const MIN_WITNESSES: usize = 3;

/// Quantile of the undisturbed rates that counts as quiet. Neighbours may disturb most of a run, so
/// the quantile is high; a single calm moment must not decide, so it is not the maximum.
const QUIET_QUANTILE: f64 = 0.9;

/// Consecutive parts of the run, treated as independent, whose scatter gives the interval. Neither
/// neighbours nor drift last from one sixth of a run to the next.
const MAX_BATCHES: u64 = 6;

/// Smallest expected slowdown, as a difference of logarithms, of a trial that counts as disturbed
/// by hidden neighbours.
const MIN_SLOWDOWN: f64 = 0.05;

/// Fewest other tests that correct a lucky one.
const MIN_CORRECTING_TESTS: usize = 3;

/// The shares of a run's trials that neighbours disturbed, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Neighbours {
    /// By other programs that competed for processors.
    pub competing: f64,
    /// By other programs on other processors.
    pub beside: f64,
    /// By other guests, to which the hypervisor gave processors.
    pub hypervisor: f64,
    /// Slowed together with other tests without a visible cause: a neighbour on the same core,
    /// cache or memory, or a lower clock.
    pub hidden: f64,
}

impl Neighbours {
    /// The share of trials that were disturbed in any way.
    pub fn share(&self) -> f64 {
        self.competing + self.beside + self.hypervisor + self.hidden
    }

    /// The shares of one cell's trials; `None` if it has none, or has latencies.
    fn of_cell(figure: &Figure, slowdown: &Slowdown) -> Option<Neighbours> {
        if figure.latency.is_some() || figure.samples.is_empty() {
            return None;
        }
        let trials = figure.samples.len() as f64;
        let share_of = |kind: Neighbour| {
            let samples = figure.samples.iter();
            let disturbed = samples.filter(|sample| sample.neighbour == Some(kind)).count();
            disturbed as f64 / trials
        };
        Some(Neighbours {
            competing: share_of(Neighbour::Competing),
            beside: share_of(Neighbour::Beside),
            hypervisor: share_of(Neighbour::Hypervisor),
            hidden: slowdown.disturbed_trials() as f64 / trials,
        })
    }

    /// The mean over cells; `None` if there are none.
    fn mean(cells: &[Neighbours]) -> Option<Neighbours> {
        if cells.is_empty() {
            return None;
        }
        Some(Neighbours {
            competing: mean(cells.iter().map(|cell| cell.competing)),
            beside: mean(cells.iter().map(|cell| cell.beside)),
            hypervisor: mean(cells.iter().map(|cell| cell.hypervisor)),
            hidden: mean(cells.iter().map(|cell| cell.hidden)),
        })
    }
}

/// Adds the undisturbed score to every figure that has one, and returns how much of the run was
/// disturbed; `None` if no figure shows that.
pub(crate) fn add_quiet_scores(
    figures: &mut [Figure],
    catalogue: &Catalogue,
) -> Option<Neighbours> {
    let histories = CellHistory::all(figures);

    // A lucky test needs the figures of the others, so all levels come before any is stored.
    let levels: Vec<Option<Level>> = (0..figures.len())
        .map(|index| quiet_level(index, figures, &histories, catalogue))
        .collect();
    for ((figure, history), level) in figures.iter_mut().zip(&histories).zip(levels) {
        let trials = history.calm.trials.len();
        let explained = history.slowdown.explained;
        figure.quiet = level.map(|level| Quiet::new(level, figure.cell.metric, trials, explained));
    }

    let cells = figures.iter().zip(&histories);
    let shares: Vec<Neighbours> = cells
        .filter_map(|(figure, history)| Neighbours::of_cell(figure, &history.slowdown))
        .collect();
    Neighbours::mean(&shares)
}

/// One cell on its way through the method.
struct CellHistory {
    /// Step 1.
    calm: CalmTrials,
    /// Step 2.
    slowdown: Slowdown,
    /// Step 3; `None` if too few trials were calm.
    levels: Option<Levels>,
}

impl CellHistory {
    /// Takes all cells of a run through steps 1 to 3, in the order of `figures`.
    fn all(figures: &[Figure]) -> Vec<CellHistory> {
        let calm: Vec<CalmTrials> = figures.iter().map(CalmTrials::new).collect();

        // The machine is taken to be quiet where it is fastest, whatever the test.
        let speeds = machine_speeds(&calm);
        let all_speeds: Vec<f64> = speeds.iter().flatten().flatten().copied().collect();
        let quiet_speed = quantile(&all_speeds, QUIET_QUANTILE);

        let samples = figures.iter().flat_map(|figure| &figure.samples);
        let last_block = samples.map(|sample| sample.block).max().unwrap_or(0);
        let blocks = u64::from(last_block) + 1;

        let mut histories = Vec::new();
        for (calm, speeds) in calm.into_iter().zip(&speeds) {
            let slowdown = Slowdown::new(&calm.trials, speeds, quiet_speed);
            let levels = calm.levels(slowdown.disturbed_share(), blocks);
            histories.push(CellHistory { calm, slowdown, levels });
        }
        histories
    }
}

/// The trials of a cell that no visible neighbour disturbed. A cell of latencies has none:
/// latencies are judged by their worst moments, not by their quiet ones.
#[derive(Default)]
struct CalmTrials {
    /// The trials, with their values as rates.
    trials: Vec<Sample>,
    /// The rates of each trial's slices.
    slices: Vec<Vec<f64>>,
}

impl CalmTrials {
    fn new(figure: &Figure) -> CalmTrials {
        let mut calm = CalmTrials::default();
        let has_logarithms = figure.samples.iter().all(|sample| sample.value > 0.0);
        if figure.latency.is_some() || !has_logarithms {
            return calm;
        }

        let metric = figure.cell.metric;
        for (sample, slices) in figure.samples.iter().zip(&figure.slices) {
            if sample.neighbour.is_none() {
                let value = to_rate(metric, sample.value);
                let rates = slices.iter().map(|value| to_rate(metric, *value)).collect();
                calm.trials.push(Sample { value, ..*sample });
                calm.slices.push(rates);
            }
        }
        calm
    }

    /// Step 3: the levels that the slices reach in a run of `blocks` blocks; `None` if too few
    /// trials were calm.
    ///
    /// `hidden_share` of the trials were disturbed by hidden neighbours. Their slices stay among
    /// the rates, and are slow, so the best tenth of the others is less than a tenth of all.
    fn levels(&self, hidden_share: f64, blocks: u64) -> Option<Levels> {
        if self.trials.len() < MIN_CALM_TRIALS {
            return None;
        }
        let batches = MAX_BATCHES.min(blocks);
        let mut rates = Vec::new();
        let mut rates_by_batch = vec![Vec::new(); batches as usize];
        for (trial, slices) in self.trials.iter().zip(&self.slices) {
            let batch = u64::from(trial.block) * batches / blocks;
            rates.extend(slices);
            rates_by_batch[batch as usize].extend(slices);
        }

        let best_quantile = 1.0 - (1.0 - QUIET_QUANTILE) * (1.0 - hidden_share);
        Some(Levels {
            best: Level::at_quantile(best_quantile, &rates, &rates_by_batch),
            median: Level::at_quantile(0.5, &rates, &rates_by_batch),
        })
    }
}

/// Two levels of the rates of a cell's slices.
struct Levels {
    /// The level that the best tenth of the undisturbed slices reaches.
    best: Level,
    /// The level that half of the slices reach.
    median: Level,
}

/// Step 4: the level that the cell at `index` reaches while its neighbours are quiet.
///
/// A lucky test is assumed to be slowed by neighbours as much as the other tests with the same
/// copies, load and condition, in the same arm. `None` if there are fewer than
/// [`MIN_CORRECTING_TESTS`] of those, or if the cell itself has no levels.
fn quiet_level(
    index: usize,
    figures: &[Figure],
    histories: &[CellHistory],
    catalogue: &Catalogue,
) -> Option<Level> {
    let is_lucky = |cell: &Cell| catalogue.test(&cell.key.test).is_some_and(|test| test.lucky);

    let cell = &figures[index].cell;
    let own = histories[index].levels.as_ref()?;
    if !is_lucky(cell) {
        return Some(own.best.clone());
    }

    let mut raises = Vec::new();
    for (figure, history) in figures.iter().zip(histories) {
        if let Some(levels) = &history.levels
            && !is_lucky(&figure.cell)
            && has_same_setting(cell, &figure.cell)
        {
            raises.push(levels.best.minus(&levels.median));
        }
    }
    if raises.len() < MIN_CORRECTING_TESTS {
        return None;
    }
    let raise = Level::mean(&raises.iter().collect::<Vec<_>>());
    Some(own.median.plus(&raise))
}

/// True if two cells have the same copies, load and condition, in the same arm.
fn has_same_setting(one: &Cell, other: &Cell) -> bool {
    one.key.copies == other.key.copies
        && one.key.load == other.key.load
        && one.key.condition == other.key.condition
        && one.control == other.control
}

/// A trial as evidence of the machine's speed.
struct Witness {
    /// The moment of the trial, in seconds.
    at: f64,
    /// The cell it belongs to. No trial is a witness for its own cell.
    cell: usize,
    /// How fast it was, in standard deviations of its cell.
    deviation: f64,
}

/// Step 2: the machine's speed during each trial of each cell, as the trials of other cells show
/// it, in their standard deviations. `None` where too few of them were near.
fn machine_speeds(cells: &[CalmTrials]) -> Vec<Vec<Option<f64>>> {
    let mut witnesses = Vec::new();
    for (cell, CalmTrials { trials, .. }) in cells.iter().enumerate() {
        let logs = log_rates(trials);
        let Some(standard) = Standard::new(&logs) else {
            continue;
        };
        if trials.len() < MIN_CALM_TRIALS {
            continue;
        }
        for (trial, log) in trials.iter().zip(logs) {
            witnesses.push(Witness { at: trial.at, cell, deviation: standard.deviation(log) });
        }
    }
    witnesses.sort_by(|a, b| a.at.total_cmp(&b.at));

    let mut speeds = Vec::new();
    for (cell, CalmTrials { trials, .. }) in cells.iter().enumerate() {
        let during = trials.iter().map(|trial| speed_at(trial.at, cell, &witnesses));
        speeds.push(during.collect());
    }
    speeds
}

/// The mean deviation of the witnesses near `at` from cells other than `cell`; `None` if there are
/// fewer than [`MIN_WITNESSES`]. The witnesses are sorted by time.
fn speed_at(at: f64, cell: usize, witnesses: &[Witness]) -> Option<f64> {
    let first = witnesses.partition_point(|witness| witness.at < at - WITNESS_SECONDS);
    let deviations: Vec<f64> = witnesses[first..]
        .iter()
        .take_while(|witness| witness.at <= at + WITNESS_SECONDS)
        .filter(|witness| witness.cell != cell)
        .map(|witness| witness.deviation)
        .collect();
    (deviations.len() >= MIN_WITNESSES).then(|| mean(deviations))
}

/// How much hidden neighbours are expected to have slowed each trial of a cell.
struct Slowdown {
    /// The slowdown of each trial against a quiet machine, as a difference of logarithms.
    by_trial: Vec<f64>,
    /// Share of the trials' variance that the machine's speed explains, if it is known.
    explained: Option<f64>,
}

impl Slowdown {
    /// Regresses the trials' logarithms on the machine's `speeds`.
    ///
    /// The slowdown is 0 if the regression finds no dependence: a slope that is negative, or within
    /// one standard error of 0.
    fn new(trials: &[Sample], speeds: &[Option<f64>], quiet_speed: f64) -> Slowdown {
        let none = Slowdown { by_trial: vec![0.0; trials.len()], explained: None };
        let logs = log_rates(trials);
        let Some(standard) = Standard::new(&logs) else {
            return none;
        };

        let mut points = Vec::new();
        for (log, speed) in logs.iter().zip(speeds) {
            if let Some(speed) = speed {
                points.push((*speed, standard.distance(*log)));
            }
        }
        if points.len() < 2 * MIN_CALM_TRIALS {
            return none;
        }
        let Some(line) = Regression::new(&points) else {
            return none;
        };
        if line.slope <= line.slope_error {
            return Slowdown { explained: Some(0.0), ..none };
        }

        // A trial without witnesses is taken to have met the mean speed.
        let met = speeds.iter().map(|speed| speed.unwrap_or(line.mean_x));
        Slowdown {
            by_trial: met.map(|speed| line.slope * (quiet_speed - speed)).collect(),
            explained: Some(line.explained),
        }
    }

    fn disturbed_share(&self) -> f64 {
        self.disturbed_trials() as f64 / self.by_trial.len().max(1) as f64
    }

    /// The number of trials that were slowed noticeably, and by more than half as much as the
    /// slowest twentieth: a trial at the edge of a calm spell has witnesses on both sides of it,
    /// and so an expectation between calm and disturbed.
    fn disturbed_trials(&self) -> usize {
        let half_of_worst = quantile(&self.by_trial, 0.95) / 2.0;
        let limit = MIN_SLOWDOWN.max(half_of_worst);
        self.by_trial.iter().filter(|slowdown| **slowdown > limit).count()
    }
}

fn log_rates(trials: &[Sample]) -> Vec<f64> {
    trials.iter().map(|trial| trial.value.natural_log()).collect()
}

/// A line of least squares through some points.
struct Regression {
    mean_x: f64,
    slope: f64,
    /// The standard error of the slope.
    slope_error: f64,
    /// Share of the variance of y that the line explains.
    explained: f64,
}

impl Regression {
    /// `None` if the points do not differ in both x and y.
    fn new(points: &[(f64, f64)]) -> Option<Regression> {
        let mean_x = mean(points.iter().map(|(x, _)| x));
        let mean_y = mean(points.iter().map(|(_, y)| y));
        let deviations = points.iter().map(|(x, y)| (x - mean_x, y - mean_y));
        let var_x = mean(deviations.clone().map(|(x, _)| x * x));
        let var_y = mean(deviations.clone().map(|(_, y)| y * y));
        let covariance = mean(deviations.map(|(x, y)| x * y));
        if var_x <= 0.0 || var_y <= 0.0 {
            return None;
        }

        let explained = covariance * covariance / (var_x * var_y);
        let degrees = points.len() as f64 - 2.0;
        Some(Regression {
            mean_x,
            slope: covariance / var_x,
            slope_error: (var_y * (1.0 - explained) / (var_x * degrees)).sqrt(),
            explained,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_trial_shows_no_slowdown() {
        let trial = Sample { at: 0.0, block: 0, value: 1.0, neighbour: None };

        let slowdown = Slowdown::new(&[trial], &[Some(0.5)], 1.0);

        assert_eq!(slowdown.by_trial, [0.0]);
        assert_eq!(slowdown.explained, None);
    }

    /// By hand: the residuals' squares add up to 1.8, those of x about its mean to 5.
    #[test]
    fn a_slope_has_its_error() {
        let points = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0)];

        let line = Regression::new(&points).unwrap();

        assert!((line.slope - 0.8).abs() < 1e-12, "{}", line.slope);
        assert!((line.explained - 0.64).abs() < 1e-12, "{}", line.explained);
        let error = (1.8_f64 / 2.0 / 5.0).sqrt();
        assert!((line.slope_error - error).abs() < 1e-12, "{}", line.slope_error);
    }
}
