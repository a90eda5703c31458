//! The gain from more copies: totals, gains and efficiency, and the Universal Scalability Law of them.

mod notes;

use serde::Serialize;

use super::details::CLOCK;
use super::gain::quotient;
use super::{Figure, Remark, rate};
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
    /// The test told it itself.
    Own,
    /// That of another test at the same level: [`Cell::clock`].
    CoreClock,
    /// It is not known, and nothing is normalised.
    Unknown,
}

/// A row and what its trials told of clock and copies.
struct Measured<'a> {
    row: &'a Figure,
    /// The clock of each trial; empty where one did not tell it.
    clocks: Vec<f64>,
    fairness: Option<f64>,
}

impl Level {
    /// Returns the total that the law is fitted to.
    pub fn judged(&self) -> Estimate {
        self.normalised.unwrap_or(self.total)
    }
}

impl Scaling {
    /// Returns its name, with what ran alongside it or was switched on.
    pub fn title(&self) -> String {
        super::named(&self.label, &self.key.load, &self.key.condition)
    }

    /// Returns true if a row is one of its levels.
    pub fn has(&self, cell: &Cell) -> bool {
        series(&self.key) == series(&cell.key)
    }
}

/// Returns the part of a key that cells of other numbers of copies share.
fn series(key: &Key) -> [&str; 3] {
    [&key.test, &key.load, &key.condition]
}

/// Returns how every test scales that was measured at two levels or more, in the order of the rows. `trials` are those
/// of each cell.
pub(super) fn scalings(run: &Run, rows: &[Figure], trials: &[Vec<&Trial>]) -> Vec<Scaling> {
    let is_usable = |row: &&Figure| row.cell.metric != Metric::Latency && row.score.value.is_finite();
    let usable = rows.iter().filter(is_usable).filter(|row| row.score.value > 0.0);
    let measured: Vec<Measured<'_>> = usable.map(|row| Measured::new(row, &trials[row.cell.id])).collect();
    let groups = measured.iter().map(|one| (series(&one.row.cell.key), one)).grouped();
    let several = groups.iter().filter(|(_, group)| group.len() > 1);
    several.map(|(_, group)| scaling(run, group, &measured)).collect()
}

impl<'a> Measured<'a> {
    fn new(row: &'a Figure, trials: &[&Trial]) -> Measured<'a> {
        let trials: Vec<&Trial> = trials.iter().copied().filter(|trial| !trial.copies.is_empty()).collect();
        let clocks: Option<Vec<f64>> = trials.iter().map(|trial| clock(trial)).collect();
        let shares: Vec<f64> = trials.iter().filter_map(|trial| fairness(&row.cell, trial)).collect();
        Measured {
            row,
            clocks: clocks.unwrap_or_default(),
            fairness: Some(median(&shares)).filter(|share| share.is_finite()),
        }
    }

    /// The total of what the copies do together, of one figure of theirs; of a total of times, the time.
    fn total(&self, figure: f64) -> f64 {
        match self.row.cell.metric {
            Metric::Time => f64::from(self.row.cell.key.copies) * throughput(&self.row.cell.unit).0 / figure,
            Metric::Rate | Metric::Latency | Metric::Amount => figure,
        }
    }

    /// The total with its interval, of this level alone.
    fn estimate(&self) -> Estimate {
        match self.row.cell.metric {
            Metric::Time => self.row.score.image(|time| self.total(time)),
            Metric::Rate | Metric::Latency | Metric::Amount => self.row.score,
        }
    }

    /// Returns one copy's share of a total; of a time, the time itself.
    fn per_copy(&self, total: &Estimate) -> Estimate {
        match self.row.cell.metric {
            Metric::Time => total.image(|throughput| self.total(throughput)),
            Metric::Rate | Metric::Latency | Metric::Amount => total.scaled(1.0 / f64::from(self.row.cell.key.copies)),
        }
    }

    /// This level's total over that of another: within blocks, or of `totals`, this one's and the other's, if they
    /// share none. The other has no total if it is this level.
    fn gain(&self, less: &Measured<'_>, totals: (&Estimate, Option<&Estimate>)) -> Estimate {
        match totals {
            (_, None) => Estimate { value: 1.0, low: 1.0, high: 1.0 },
            (own, Some(other)) => quotient(&self.totals(), &less.totals()).unwrap_or_else(|| own.over(other)),
        }
    }

    /// The totals of its trials, by block.
    fn totals(&self) -> ByBlock {
        self.row.samples.iter().map(|sample| (sample.block, self.total(sample.value))).collect()
    }
}

/// Returns the rate of one piece of work per `unit` of time, and that rate's unit.
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
    let clocks: Option<Vec<f64>> = trial.copies.iter().map(|copy| Some(copy.values.get(CLOCK)?.0)).collect();
    let clocks = clocks.filter(|clocks| clocks.iter().all(|clock| clock.is_finite() && *clock > 0.0))?;
    Some(mean(clocks))
}

/// Returns the share of the slowest copy in the work of the fastest; nothing of a single one.
fn fairness(cell: &Cell, trial: &Trial) -> Option<f64> {
    let rates: Vec<f64> = trial.copies.iter().map(|copy| rate::copy_rate(cell, copy)).collect();
    let (least, most) = (rates.iter().copied().min_by(f64::total_cmp)?, rates.iter().copied().max_by(f64::total_cmp)?);
    // The time of a copy that finished nothing is infinite.
    let share = least / most;
    (rates.len() > 1 && most > 0.0).then_some(if share.is_finite() { share } else { 0.0 })
}

fn scaling(run: &Run, group: &[&Measured<'_>], all: &[Measured<'_>]) -> Scaling {
    let cell = &group[0].row.cell;
    let (clock, clocks) = clocks(group, all);
    let (levels, trials) = levels(group, clocks.as_deref());
    let (fitted, mut notes) = notes::within_borders(run, &levels);
    let throughputs = levels.iter().zip(&trials).take(fitted).map(|(level, trials)| {
        let (copies, total) = (f64::from(level.copies), level.judged().value);
        Throughput { copies, total, trials }
    });
    let law = fit_usl(&throughputs.collect::<Vec<Throughput<'_>>>());
    notes.extend(notes::of_law(law.as_ref(), &levels[..fitted]));
    notes.push(notes::of_clock(clock, cell, &levels));
    notes.extend(notes::of_fairness(&levels[..fitted]));
    notes.extend(group.iter().flat_map(|measured| &measured.row.warnings).map(Remark::to_string).unique());
    Scaling {
        key: cell.key.clone(),
        label: cell.label.clone(),
        metric: cell.metric,
        unit: cell.unit.clone(),
        total_unit: if cell.metric == Metric::Time { throughput(&cell.unit).1 } else { cell.unit.clone() },
        levels,
        fitted,
        law,
        clock,
        notes,
    }
}

/// The clock of the test that serves this one, in the same place.
fn core_clock(one: &Measured<'_>, all: &[Measured<'_>]) -> Option<f64> {
    let cell = &one.row.cell;
    let key = Key { test: cell.clock()?.to_owned(), ..cell.key.clone() };
    let found = all.iter().find(|other| other.row.cell.key == key)?;
    if found.clocks.is_empty() {
        // Its score is the clock, summed over copies.
        return Some(found.row.score.value / f64::from(cell.key.copies));
    }
    Some(median(&found.clocks))
}

/// Whose clock is known at every level, and that of each trial of each; of another test's, one for all.
fn clocks(group: &[&Measured<'_>], all: &[Measured<'_>]) -> (Clock, Option<Vec<Vec<f64>>>) {
    if group.iter().all(|one| !one.clocks.is_empty()) {
        return (Clock::Own, Some(group.iter().map(|one| one.clocks.clone()).collect()));
    }
    let of_another = |one: &&Measured<'_>| Some(vec![core_clock(one, all)?; one.row.samples.len()]);
    match group.iter().map(of_another).collect() {
        Some(clocks) => (Clock::CoreClock, Some(clocks)),
        None => (Clock::Unknown, None),
    }
}

/// The levels, and the totals of their trials as the law is fitted to them.
///
/// Gains are from the differences within blocks, and the totals of the levels after the first are that of the first
/// times the gain, so that the columns and the law are of one estimator.
fn levels(group: &[&Measured<'_>], clocks: Option<&[Vec<f64>]>) -> (Vec<Level>, Vec<ByBlock>) {
    let first = group[0];
    let reference = clocks.map(|clocks| median(&clocks[0]));
    let mut levels: Vec<Level> = Vec::new();
    let mut trials: Vec<ByBlock> = Vec::new();
    for (place, one) in group.iter().enumerate() {
        let copies = f64::from(one.row.cell.key.copies);
        let own = one.estimate();
        let gain = one.gain(first, (&own, levels.first().map(|first| &first.total)));
        let step = levels.last().map(|before| one.gain(group[place - 1], (&own, Some(&before.total))));
        let total = levels.first().map_or(own, |first| moved(&own, first.total.value * gain.value));
        let mut totals = one.totals();
        let mut normalised = None;
        if let Some((clocks, reference)) = clocks.map(|clocks| &clocks[place]).zip(reference) {
            totals.iter_mut().zip(clocks).for_each(|((_, total), clock)| *total *= reference / clock);
            let own = rate::typical(&without_blocks(&totals));
            let before = trials.first().zip(levels.first().and_then(|first| first.normalised));
            let value = before.and_then(|(less, first)| Some(first.value * quotient(&totals, less)?.value));
            normalised = Some(value.map_or(own, |value| moved(&own, value)));
        }
        let times = copies / f64::from(first.row.cell.key.copies);
        levels.push(Level {
            copies: one.row.cell.key.copies,
            per_copy: one.per_copy(&total),
            total,
            gain,
            step,
            efficiency: gain.scaled(1.0 / times),
            clock: clocks.map(|clocks| median(&clocks[place])),
            normalised,
            fairness: one.fairness,
            n: one.row.n,
        });
        trials.push(totals);
    }
    (levels, trials)
}

/// An estimate at another value, with the same shares to its ends.
fn moved(estimate: &Estimate, value: f64) -> Estimate {
    estimate.scaled(value / estimate.value)
}

#[cfg(test)]
mod tests;
