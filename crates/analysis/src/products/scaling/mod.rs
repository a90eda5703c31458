//! The gain from more copies: totals, gains and efficiency, and the Universal Scalability Law of
//! them.

mod modes;
mod notes;

use serde::Serialize;

pub use modes::{ModeComparison, ModeLevel};

use crate::figures::details::CLOCK;
use crate::figures::{Figure, Remark, rate};
use crate::products::gain::quotient;
use catalogue::Metric;
use journal::{Cell, Key, Run, Trial};
use stats::{ByBlock, Estimate, Throughput, UslFit, fit_usl, mean, median, without_blocks};
use words::{Grouped, Unique};

/// One test at several numbers of copies.
#[derive(Debug, Clone)]
pub struct Scaling {
    /// Its place in the matrix, with the fewest copies.
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// The kind of number of a copy's figure.
    pub metric: Metric,
    /// The unit of a copy's figure.
    pub unit: String,
    /// The unit of the totals, which are rates.
    pub total_unit: String,
    /// The levels, from the fewest copies.
    pub levels: Vec<Level>,
    /// The number of them, from the first, that the law is fitted to.
    pub fitted: usize,
    /// The law; none where it has too few levels.
    pub law: Option<UslFit>,
    /// By which clock totals are normalised for it.
    pub clock: Clock,
    /// Of threads, the comparison with the same test's processes, where both were measured.
    pub modes: Option<ModeComparison>,
    /// Remarks on these numbers.
    pub notes: Vec<String>,
}

/// One test at one number of copies.
#[derive(Debug, Clone)]
pub struct Level {
    /// The number of copies.
    pub copies: u32,
    /// One copy's share of the total; of a time, the time itself.
    pub per_copy: Estimate,
    /// The total of all copies.
    pub total: Estimate,
    /// The total over that of the first level.
    pub gain: Estimate,
    /// The total over that of the level before.
    pub step: Option<Estimate>,
    /// The gain, of as many times the copies as there are.
    pub efficiency: Estimate,
    /// The clock in GHz.
    pub clock: Option<f64>,
    /// The total, had the clock been that of the first level.
    pub normalised: Option<Estimate>,
    /// The share of the slowest copy in the work of the fastest.
    pub fairness: Option<f64>,
    /// Trials behind it.
    pub n: usize,
}

/// Whose clock it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The test reported it itself.
    Own,
    /// That of another test at the same level: [`Cell::clock`].
    CoreClock,
    /// It is not known, and nothing is normalised.
    Unknown,
}

/// A row and what its trials report of clock and copies.
struct Measured<'a> {
    row: &'a Figure,
    /// The clock of each trial; empty where one did not report it.
    clocks: Vec<f64>,
    fairness: Option<f64>,
}

impl Level {
    /// The total that the law is fitted to.
    pub fn fitted_total(&self) -> Estimate {
        self.normalised.unwrap_or(self.total)
    }
}

impl Scaling {
    /// Its name, with what ran alongside it or was switched on.
    pub fn title(&self) -> String {
        crate::figures::named(&self.label, &self.key.load, &self.key.condition)
    }

    /// True if a row is one of its levels.
    pub fn has(&self, cell: &Cell) -> bool {
        series_key(&self.key) == series_key(&cell.key)
    }
}

/// The part of a key that cells of other numbers of copies share.
fn series_key(key: &Key) -> [&str; 3] {
    [&key.test, &key.load, &key.condition]
}

/// How every test scales that was measured at two levels or more, in the order of the rows. These
/// have the fewest copies first, so levels do, too. `trials` are those of each cell.
pub(crate) fn scalings(run: &Run, rows: &[Figure], trials: &[Vec<&Trial>]) -> Vec<Scaling> {
    let mut measured: Vec<Measured<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.cell.metric != Metric::Latency) {
        if row.score.value.is_finite() && row.score.value > 0.0 {
            measured.push(Measured::new(row, &trials[row.cell.id]));
        }
    }
    let by_series = measured.iter().map(|level| (series_key(&level.row.cell.key), level)).grouped();
    let several_levels: Vec<Vec<&Measured<'_>>> =
        by_series.into_iter().map(|(_, levels)| levels).filter(|levels| levels.len() > 1).collect();

    let mut scalings = Vec::new();
    for levels in &several_levels {
        let processes = several_levels.iter().find(|other| modes::are_modes(levels[0], other[0]));
        let modes = processes.and_then(|processes| modes::compare_modes(levels, processes));
        scalings.push(Scaling { modes, ..scaling(run, levels, &measured) });
    }
    scalings
}

impl<'a> Measured<'a> {
    fn new(row: &'a Figure, trials: &[&Trial]) -> Measured<'a> {
        let trials: Vec<&Trial> =
            trials.iter().copied().filter(|trial| !trial.copies.is_empty()).collect();
        let clocks: Option<Vec<f64>> = trials.iter().map(|trial| clock(trial)).collect();
        let shares: Vec<f64> =
            trials.iter().filter_map(|trial| fairness(&row.cell, trial)).collect();
        Measured {
            row,
            clocks: clocks.unwrap_or_default(),
            fairness: Some(median(&shares)).filter(|share| share.is_finite()),
        }
    }

    /// The total of what the copies do together, of one figure of theirs; of a total of times, the
    /// time.
    fn total(&self, figure: f64) -> f64 {
        match self.row.cell.metric {
            Metric::Time => {
                f64::from(self.row.cell.key.copies) * throughput(&self.row.cell.unit).0 / figure
            }
            _ => figure,
        }
    }

    /// The total with its interval, of this level alone.
    fn estimate(&self) -> Estimate {
        match self.row.cell.metric {
            Metric::Time => self.row.score.image(|time| self.total(time)),
            _ => self.row.score,
        }
    }

    /// One copy's share of a total; of a time, the time itself.
    fn per_copy(&self, total: &Estimate) -> Estimate {
        match self.row.cell.metric {
            Metric::Time => total.image(|throughput| self.total(throughput)),
            _ => total.scaled(1.0 / f64::from(self.row.cell.key.copies)),
        }
    }

    /// This level's total over that of another: within blocks, or of `totals`, this one's and the
    /// other's, if they share none. The other has no total if it is this level.
    fn gain(&self, less: &Measured<'_>, totals: (&Estimate, Option<&Estimate>)) -> Estimate {
        match totals {
            (_, None) => Estimate { value: 1.0, low: 1.0, high: 1.0 },
            (own, Some(other)) => {
                quotient(&self.totals(), &less.totals()).unwrap_or_else(|| own.over(other))
            }
        }
    }

    /// The totals of its trials, by block.
    fn totals(&self) -> ByBlock {
        self.row.samples.iter().map(|sample| (sample.block, self.total(sample.value))).collect()
    }
}

/// The rate of one piece of work per `unit` of time, and that rate's unit.
fn throughput(unit: &str) -> (f64, String) {
    match unit {
        "ns" => (1e3, "M/s".to_owned()),
        "us" | "µs" => (1.0, "M/s".to_owned()),
        "ms" => (1.0, "K/s".to_owned()),
        "s" => (1.0, "/s".to_owned()),
        other => (1.0, format!("1/{other}")),
    }
}

/// The mean clock of a trial's copies.
fn clock(trial: &Trial) -> Option<f64> {
    let clocks: Option<Vec<f64>> =
        trial.copies.iter().map(|copy| Some(copy.values.get(CLOCK)?.0)).collect();
    let clocks =
        clocks.filter(|clocks| clocks.iter().all(|clock| clock.is_finite() && *clock > 0.0))?;
    Some(mean(clocks))
}

/// The share of the slowest copy in the work of the fastest; nothing of a single one.
fn fairness(cell: &Cell, trial: &Trial) -> Option<f64> {
    let rates: Vec<f64> = trial.copies.iter().map(|copy| rate::copy_rate(cell, copy)).collect();
    let slowest = rates.iter().copied().min_by(f64::total_cmp)?;
    let fastest = rates.iter().copied().max_by(f64::total_cmp)?;
    if rates.len() < 2 || fastest <= 0.0 {
        return None;
    }
    let share = slowest / fastest;
    // The time of a copy that finished nothing is infinite.
    Some(if share.is_finite() { share } else { 0.0 })
}

fn scaling(run: &Run, group: &[&Measured<'_>], all: &[Measured<'_>]) -> Scaling {
    let cell = &group[0].row.cell;
    let (clock, clocks) = clocks(group, all);
    let (levels, trials) = levels(group, clocks.as_deref());
    let (fitted, mut notes) = notes::within_borders(run, &levels);
    let throughputs = levels.iter().zip(&trials).take(fitted).map(|(level, trials)| {
        let (copies, total) = (f64::from(level.copies), level.fitted_total().value);
        Throughput { copies, total, trials }
    });
    let law = fit_usl(&throughputs.collect::<Vec<Throughput<'_>>>());
    notes.extend(notes::of_law(law.as_ref(), &levels[..fitted]));
    notes.push(notes::of_clock(clock, cell, &levels));
    notes.extend(notes::of_fairness(&levels[..fitted]));
    notes.extend(
        group.iter().flat_map(|measured| &measured.row.warnings).map(Remark::to_string).unique(),
    );
    Scaling {
        key: cell.key.clone(),
        label: cell.label.clone(),
        metric: cell.metric,
        unit: cell.unit.clone(),
        total_unit: if cell.metric == Metric::Time {
            throughput(&cell.unit).1
        } else {
            cell.unit.clone()
        },
        levels,
        fitted,
        law,
        clock,
        modes: None,
        notes,
    }
}

/// The clock that the test of clocks measured at the same level.
fn core_clock(level: &Measured<'_>, all: &[Measured<'_>]) -> Option<f64> {
    let cell = &level.row.cell;
    let key = Key { test: cell.clock.clone()?, ..cell.key.clone() };
    let clock_test = all.iter().find(|other| other.row.cell.key == key)?;
    if clock_test.clocks.is_empty() {
        // Its score is the clock, summed over copies.
        return Some(clock_test.row.score.value / f64::from(cell.key.copies));
    }
    Some(median(&clock_test.clocks))
}

/// Whose clock is known at every level, and by level that of each trial: its own, or the one that
/// another test has at the level.
fn clocks(group: &[&Measured<'_>], all: &[Measured<'_>]) -> (Clock, Option<Vec<Vec<f64>>>) {
    if group.iter().all(|level| !level.clocks.is_empty()) {
        return (Clock::Own, Some(group.iter().map(|level| level.clocks.clone()).collect()));
    }

    let mut clocks = Vec::new();
    for level in group {
        let Some(clock) = core_clock(level, all) else { return (Clock::Unknown, None) };
        clocks.push(vec![clock; level.row.samples.len()]);
    }
    (Clock::CoreClock, Some(clocks))
}

/// The levels, and the totals of their trials as the law is fitted to them.
///
/// Gains are from the differences within blocks, and the totals of the levels after the first are
/// that of the first times the gain, so that the columns and the law are of one estimator.
fn levels(group: &[&Measured<'_>], clocks: Option<&[Vec<f64>]>) -> (Vec<Level>, Vec<ByBlock>) {
    let first_level = group[0];
    let first_clock = clocks.map(|clocks| median(&clocks[0]));
    let mut levels: Vec<Level> = Vec::new();
    let mut fitted_trials: Vec<ByBlock> = Vec::new();
    for (place, measured) in group.iter().enumerate() {
        let copies = measured.row.cell.key.copies;
        let times_the_copies = f64::from(copies) / f64::from(first_level.row.cell.key.copies);
        let own_total = measured.estimate();
        let first_total = levels.first().map(|first| first.total);
        let gain = measured.gain(first_level, (&own_total, first_total.as_ref()));
        let total =
            first_total.map_or(own_total, |first| moved(&own_total, first.value * gain.value));
        let step = levels
            .last()
            .map(|before| measured.gain(group[place - 1], (&own_total, Some(&before.total))));

        let mut trials = measured.totals();
        let mut normalised = None;
        if let Some((clocks, first_clock)) = clocks.map(|clocks| &clocks[place]).zip(first_clock) {
            for ((_, total), clock) in trials.iter_mut().zip(clocks) {
                *total *= first_clock / clock;
            }
            let first_normalised = levels.first().and_then(|first| first.normalised);
            normalised = Some(normalised_total(&trials, fitted_trials.first(), first_normalised));
        }

        levels.push(Level {
            copies,
            per_copy: measured.per_copy(&total),
            total,
            gain,
            step,
            efficiency: gain.scaled(1.0 / times_the_copies),
            clock: clocks.map(|clocks| median(&clocks[place])),
            normalised,
            fairness: measured.fairness,
            n: measured.row.n,
        });
        fitted_trials.push(trials);
    }
    (levels, fitted_trials)
}

/// A level's total of normalised `trials`: that of the first level times the gain within blocks. It
/// is their median for the first level itself, and where the two share too few blocks.
fn normalised_total(
    trials: &ByBlock,
    first_trials: Option<&ByBlock>,
    first_total: Option<Estimate>,
) -> Estimate {
    let own_total = rate::median_rate(&without_blocks(trials));
    let gain = first_trials.and_then(|first_trials| quotient(trials, first_trials));
    match first_total.zip(gain) {
        Some((first, gain)) => moved(&own_total, first.value * gain.value),
        None => own_total,
    }
}

/// An estimate scaled to another value: the ratios of its ends to the value stay.
fn moved(estimate: &Estimate, value: f64) -> Estimate {
    estimate.scaled(value / estimate.value)
}

#[cfg(test)]
mod tests;
