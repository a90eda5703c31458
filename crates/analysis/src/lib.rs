//! From a journal to results: scores, indexes and gains, with intervals and warnings. Pure.

mod burnin;
mod compare;
mod cost;
mod details;
pub mod fleet;
mod index;
mod latency;
mod scaling;
mod score;
mod summary;
mod trend;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use catalogue::{Catalogue, Metric, NONE};
use journal::{Baseline, Build, Cell, Journal, Run, Trial};
use machine::Fact;
use stats::Estimate;

pub use burnin::{BurnIn, Cause, CoolDown, Cooling, Core, Fall, Held, Memory, Pattern, Rise, Sensor};
pub use compare::{
    Asked, Bar, Compared, Comparison, Comparisons, Difference, Gate, Measure, NotCompared, Pair, Place, RATE, Second,
    Suspect, Thesis, ThesisRow, Total, Verdict,
};
pub use cost::{Condition, Cost, Effect, Total as CostTotal, TrailFigures};
pub use details::{Best, Details, Limit, QUANTILES, Times, Value};
pub use index::{Index, Part};
pub use latency::{Attribution, FrameRates, Latency, Load, PERCENTILES, TrialFigures};
pub use scaling::{Clock, Level, Scaling};
pub use summary::{Bounds, Composite, Figure, Summary};
pub use trend::{Change, Latest, Point, Series, Trend};

/// Returns a test's label with the load and the condition it ran under, where there are any.
#[must_use]
pub fn named(label: &str, load: &str, condition: &str) -> String {
    let mut name = label.to_owned();
    for (axis, kind) in [(load, "load"), (condition, "condition")] {
        if axis != NONE {
            name += &format!(" {kind}={axis}");
        }
    }
    name
}

/// Returns the value of the cell's trials so far, as the standard procedure judges it.
#[must_use]
pub fn estimate(cell: &Cell, trials: &[Trial]) -> Estimate {
    match cell.metric {
        Metric::Rate | Metric::Time => score::estimate(cell, trials),
        Metric::Latency => latency::estimate(trials),
    }
}

/// Whether the conditions of one test, with its copies and load, are measured well enough to stop: by the widths of their
/// intervals alone, to be asked at few looks that are fixed beforehand (12, 16, 24, 32 and 48 blocks). The condition
/// compared with is the one that has a control.
#[must_use]
pub fn enough_cost(family: &[(&Cell, &[Trial])]) -> bool {
    cost::enough(family)
}

/// Returns the numbers of the cells that lose at least `size` per cent (points for deadlines) beyond doubt, with those they
/// are compared with: what deserves a second look. `trials` are those of each cell, by its number.
#[must_use]
pub fn suspects(cells: &[Cell], trials: &[Vec<Trial>], size: f64) -> BTreeSet<usize> {
    cost::suspects(cells, trials, size)
}

/// Everything a report shows.
#[derive(Debug, Clone)]
pub struct Results {
    /// What was asked for.
    pub run: Run,
    /// The programs' build, if the run measured anything itself.
    pub build: Option<Build>,
    /// When the first trial began and the last ended, in seconds since the start.
    pub seconds: f64,
    /// Trials in the journal.
    pub trials: usize,
    /// complete, budget, interrupted; absent when the journal was cut short.
    pub end: Option<String>,
    /// What is known of the system.
    pub facts: Vec<Fact>,
    /// One row per cell with a result, in catalogue order within each level of copies.
    pub rows: Vec<Row>,
    /// The indexes, per level of copies.
    pub indexes: Vec<Index>,
    /// What more copies bring, for every test measured at the fewest and at more.
    pub gains: Vec<Gain>,
    /// How tests scale, of a run that is about it: in place of indexes and gains.
    pub scaling: Vec<Scaling>,
    /// What conditions cost, of a run that is about it.
    pub cost: Option<Box<Cost>>,
    /// The second arms of the condition that others are compared with: controls.
    pub controls: Vec<Row>,
    /// What a burn-in has found, which has no rows.
    pub burnin: Option<Box<BurnIn>>,
    /// Cells that cannot run here.
    pub skipped: Vec<Missing>,
    /// Cells without a result.
    pub errors: Vec<Missing>,
    /// What touches the whole run.
    pub warnings: Vec<String>,
}

/// The result of one cell.
#[derive(Debug, Clone)]
pub struct Row {
    /// The cell.
    pub cell: Cell,
    /// The score with its interval, in the cell's unit.
    pub score: Estimate,
    /// Trials behind the score.
    pub n: usize,
    /// Mean length of a trial's window in seconds.
    pub seconds: f64,
    /// Every trial that measured, in order.
    pub samples: Vec<Sample>,
    /// What a reader must know of this number.
    pub warnings: Vec<String>,
    /// What ran in the background did.
    pub load: Option<Load>,
    /// What its program told beside the score.
    pub details: Option<Box<Details>>,
    /// The whole of an interactive test's latency; the score is one percentile of it.
    pub latency: Option<Box<Latency>>,
}

/// One trial's score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the run began.
    pub at: f64,
    /// The block or pass.
    pub block: u32,
    /// In the cell's unit.
    pub value: f64,
}

/// A cell without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The test.
    pub test: String,
    /// Its name in reports.
    pub label: String,
    /// How many copies.
    pub copies: u32,
    /// What ran in the background.
    pub load: String,
    /// What was switched on the machine.
    pub condition: String,
    /// Whether its score would be a latency.
    #[serde(skip)]
    pub latency: bool,
    /// Why.
    pub reason: String,
}

/// A score at several copies over that at the fewest.
#[derive(Debug, Clone)]
pub struct Gain {
    /// The test, or the index of this name.
    pub label: String,
    /// The fewest copies.
    pub from: u32,
    /// The copies compared with them.
    pub to: u32,
    /// The quotient of the scores.
    pub gain: Estimate,
}

impl Missing {
    fn of(cell: &Cell, reason: &str) -> Missing {
        Missing {
            test: cell.test.clone(),
            label: cell.label.clone(),
            copies: cell.copies,
            load: cell.load.clone(),
            condition: cell.condition.clone(),
            latency: cell.metric == Metric::Latency,
            reason: reason.to_owned(),
        }
    }
}

impl Results {
    /// Computes the results of a journal, with `baseline` in place of the run's own or George's.
    #[must_use]
    pub fn new(journal: &Journal, catalogue: &Catalogue, baseline: Option<&Baseline>) -> Results {
        let mut by_cell: Vec<Vec<&Trial>> = vec![Vec::new(); journal.cells.len()];
        for trial in &journal.trials {
            by_cell[trial.cell].push(trial);
        }
        let mut results = Results {
            run: journal.run.clone(),
            build: journal.run.build.clone(),
            seconds: journal
                .end
                .as_ref()
                .map_or_else(|| journal.trials.last().map_or(0.0, |trial| trial.at), |end| end.seconds),
            trials: journal.trials.len(),
            end: journal.end.as_ref().map(|end| end.reason.clone()),
            facts: journal.facts.clone(),
            rows: Vec::new(),
            indexes: Vec::new(),
            gains: Vec::new(),
            scaling: Vec::new(),
            cost: None,
            controls: Vec::new(),
            burnin: BurnIn::new(journal).map(Box::new),
            skipped: Vec::new(),
            errors: Vec::new(),
            warnings: journal.warnings.iter().filter(|w| w.cell.is_none()).map(|w| w.text.clone()).collect(),
        };
        if results.burnin.is_some() {
            results.add_burnin(journal);
        }
        let cells = if results.burnin.is_some() { &[][..] } else { &journal.cells };
        for cell in ordered(cells, catalogue) {
            results.add(cell, &by_cell[cell.id], journal);
        }
        details::limits(&mut results.rows, journal, catalogue);
        if journal.end.is_none() {
            results.warnings.push("the run was cut short: this is what it had measured by then".to_owned());
        } else if journal.end.as_ref().is_some_and(|end| end.reason == "interrupted") {
            results.warnings.push("the run was interrupted: this is what it had measured by then".to_owned());
        }
        if journal.end.as_ref().is_some_and(|end| end.reason == "failed") {
            let last =
                journal.trials.iter().rev().find_map(|trial| trial.error.as_deref()).unwrap_or("no reason is known");
            results.warnings.push(format!("the run ended, since every further trial would have failed: {last}"));
        }
        if journal.run.procedure == "quick" {
            results.warnings.push("a quick run shows that things work; its figures are too few to compare".to_owned());
        }
        if journal.run.is_scaling() {
            results.scaling = scaling::scalings(&journal.run, &results.rows, &by_cell);
            return results;
        }
        if journal.run.is_cost() {
            results.add_cost(journal, &by_cell, catalogue);
            return results;
        }
        let baseline = baseline.or(journal.run.baseline.as_ref());
        results.indexes = index::indexes(&results.rows, &journal.run, catalogue, baseline);
        results.gains = gains(&results.rows, &results.indexes);
        results
    }

    /// A burn-in has no score: its trial says why it could not be carried out, and what the program has to say of it.
    fn add_burnin(&mut self, journal: &Journal) {
        for (cell, trial) in journal.trials.iter().filter_map(|trial| Some((journal.cells.get(trial.cell)?, trial))) {
            self.skipped.extend(trial.skip.as_deref().map(|reason| Missing::of(cell, reason)));
            self.errors.extend(trial.error.as_deref().map(|reason| Missing::of(cell, reason)));
            self.warnings.extend(trial.copies.iter().flat_map(|copy| copy.notes.iter().cloned()));
        }
        if let Some(last) = journal.samples.last().filter(|_| journal.end.is_none()) {
            self.seconds = last.at;
        }
    }

    /// Indexes would be of the machine as it was found, which a run about cost may not have measured: their differences are
    /// among what conditions cost.
    fn add_cost(&mut self, journal: &Journal, trials: &[Vec<&Trial>], catalogue: &Catalogue) {
        let gaps: Vec<&Missing> = self.skipped.iter().chain(&self.errors).collect();
        let cost = Cost::new(journal, (&self.rows, &self.controls), &gaps, trials, catalogue);
        self.cost = Some(Box::new(cost));
    }

    fn add(&mut self, cell: &Cell, trials: &[&Trial], journal: &Journal) {
        let missing = |reason: &str| Missing::of(cell, reason);
        let row = match cell.metric {
            Metric::Rate | Metric::Time => score::row(cell, trials, journal.run.is_classic()),
            Metric::Latency => latency::row(cell, trials),
        };
        if let Some(mut row) = row {
            if let Some((load, warnings)) = latency::load(cell, trials) {
                row.load = Some(load);
                row.warnings.extend(warnings);
            }
            row.warnings.extend(notes(trials));
            row.details = details::details(cell, trials);
            let failed: Vec<&str> = trials.iter().filter_map(|trial| trial.error.as_deref()).collect();
            if let Some(reason) = failed.first() {
                row.warnings.push(format!("{} of {} trials failed: {reason}", failed.len(), trials.len()));
            }
            let own = journal.warnings.iter().filter(|warning| warning.cell == Some(cell.id));
            row.warnings.extend(own.map(|warning| warning.text.clone()));
            row.warnings.extend(score::disturbances(cell, trials, journal.run.cpus));
            if cell.control { self.controls.push(row) } else { self.rows.push(row) }
        } else if let Some(reason) = trials.iter().find_map(|trial| trial.skip.as_deref()) {
            self.skipped.push(missing(reason));
        } else if let Some(reason) = trials.iter().find_map(|trial| trial.error.as_deref()) {
            self.errors.push(missing(reason));
        } else {
            self.errors.push(missing("the run ended before it was measured"));
        }
    }

    /// Whether any cell is one of an interactive test.
    #[must_use]
    pub fn has_latencies(&self) -> bool {
        let missing = self.skipped.iter().chain(&self.errors).any(|missing| missing.latency);
        missing || self.rows.iter().any(|row| row.latency.is_some())
    }

    /// Returns the rows that stand in lists of scores: neither latencies nor those that a table of scaling has.
    pub fn listed(&self) -> impl Iterator<Item = &Row> {
        let scaled = |row: &&Row| self.scaling.iter().any(|scaling| scaling.has(&row.cell));
        self.rows.iter().filter(move |row| row.latency.is_none() && !scaled(row))
    }

    /// Returns the levels of copies at which rates were measured, that have anything to show, in order.
    #[must_use]
    pub fn levels(&self) -> Vec<u32> {
        if self.burnin.is_some() {
            return Vec::new();
        }
        let missing = self.errors.iter().chain(&self.skipped).filter(|missing| !missing.latency);
        let rows = self.rows.iter().filter(|row| row.latency.is_none());
        let mut levels: Vec<u32> =
            rows.map(|row| row.cell.copies).chain(missing.map(|missing| missing.copies)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// Returns the levels of copies that have a list of scores. A run about scaling tells elsewhere what is missing.
    #[must_use]
    pub fn lists(&self) -> Vec<u32> {
        let mut levels = self.levels();
        if self.run.is_scaling() {
            levels.retain(|level| self.listed().any(|row| row.cell.copies == *level));
        }
        levels
    }

    /// Returns the scores at the fewest copies, as another run's baseline.
    #[must_use]
    pub fn as_baseline(&self) -> Baseline {
        let fewest = self.levels().first().copied().unwrap_or(1);
        let plain = |row: &&Row| row.cell.copies == fewest && row.cell.load == "none" && row.cell.condition == "none";
        let rows = self.rows.iter().filter(plain).filter(|row| row.score.value.is_finite() && row.score.value > 0.0);
        Baseline {
            name: self.run.name.clone(),
            scores: rows.map(|row| (row.cell.test.clone(), row.score.value)).collect(),
        }
    }
}

/// What the programs had to say, each once, with how many trials said it.
fn notes(trials: &[&Trial]) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for trial in trials {
        let said: BTreeSet<&String> = trial.copies.iter().flat_map(|copy| &copy.notes).collect();
        for note in said {
            match found.iter_mut().find(|known| known.0 == *note) {
                Some(known) => known.1 += 1,
                None => found.push((note.clone(), 1)),
            }
        }
    }
    let trials = trials.iter().filter(|trial| !trial.copies.is_empty()).count();
    found
        .into_iter()
        .map(|(note, times)| if times >= trials { note } else { format!("{note} ({times} of {trials} trials)") })
        .collect()
}

/// Cells by condition, load and copies, then in catalogue order.
fn ordered<'a>(cells: &'a [Cell], catalogue: &Catalogue) -> Vec<&'a Cell> {
    let place = |cell: &Cell| catalogue.tests.iter().position(|test| test.id == cell.test).unwrap_or(usize::MAX);
    let mut cells: Vec<&Cell> = cells.iter().collect();
    cells.sort_by_key(|cell| (cell.copies, place(cell), cell.id));
    cells
}

fn gains(rows: &[Row], indexes: &[Index]) -> Vec<Gain> {
    let Some(from) = rows.iter().map(|row| row.cell.copies).min() else { return Vec::new() };
    let gain = |label: &str, to: u32, more: &Estimate, less: &Estimate| Gain {
        label: label.to_owned(),
        from,
        to,
        gain: more.over(less),
    };
    let mut gains = Vec::new();
    for row in rows.iter().filter(|row| row.cell.copies > from && row.cell.metric == Metric::Rate) {
        let same = |other: &&Row| {
            other.cell.copies == from
                && (&other.cell.test, &other.cell.load, &other.cell.condition)
                    == (&row.cell.test, &row.cell.load, &row.cell.condition)
        };
        if let Some(one) = rows.iter().find(same) {
            gains.push(gain(&row.cell.label, row.cell.copies, &row.score, &one.score));
        }
    }
    for index in indexes.iter().filter(|index| index.copies > from) {
        let one = indexes
            .iter()
            .find(|other| other.id == index.id && other.copies == from && other.parts.len() == index.parts.len());
        if let Some(one) = one {
            gains.push(gain(&index.title(), index.copies, &index.score, &one.score));
        }
    }
    gains
}
