//! From a journal to results: scores, indexes and gains, with intervals and warnings; and from results to comparisons,
//! whose statistics are in `compare::engine`. Pure.

mod another;
mod bill;
mod burnin;
mod chain;
mod compare;
mod cost;
mod counts;
mod details;
mod drift;
mod energy;
mod executed;
mod figure;
mod findings;
pub mod fleet;
mod gain;
mod holders;
mod index;
mod latency;
mod offered;
mod predicted;
mod printed;
mod progress;
mod quiet;
mod rate;
mod reference;
mod remark;
mod scaling;
mod score;
mod search;
mod summary;
mod systems;
mod trend;
mod why;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use catalogue::{Catalogue, Metric, NONE};
use journal::{Baseline, Cell, Ended, Facts, Journal, Key, Procedure, Run, Trial, View};
use stats::Drift;
use words::Grouped;

pub use another::{Another, FEWEST as FEWEST_EARLIER};
pub use bill::{Bill, Spread};
pub use burnin::{BurnIn, Cause, CoolDown, Cooling, Core, Fall, Held, Memory, Pattern, Rise, Sensor};
pub use compare::{
    Asked, Bar, Compared, Comparison, Comparisons, Design, Difference, Gate, GeometricMean, Measure, NotCompared,
    Outcome, Pair, Place, RATE, Second, Sides, Suspect, Thesis, ThesisRow, Total, Unseen, Verdict, Worst, unlike,
};
pub use cost::{
    Condition, Cost, Effect, Losses, Need, Planted, Power, Price, Question, Total as CostTotal, TrailFigures, changes,
    enough as enough_cost, is_answered, suspects,
};
pub use counts::{Count, CountLimit, Counts, Range};
pub use details::{Best, Details, Limit, QUANTILES, Times, Value};
pub use drift::{Drifting, Widening};
pub use energy::Energy;
pub use executed::Executed;
pub use figure::{Figure, Sample};
pub use findings::Findings;
pub use gain::Gain;
pub use holders::HeldUp;
pub use index::{Index, Part};
pub use latency::{Attribution, FrameRates, Latency, Load, PERCENTILES, Requests, TrialFigures};
pub use offered::{Curve, Offered, Saturation, curves};
pub use predicted::{Item, Prediction, PriceList};
pub use printed::is_printed;
pub use progress::{enough, estimate, estimates};
pub use quiet::{FEWEST as FEWEST_UNDISTURBED, Neighbour, Neighbours, Quiet};
pub use reference::Reference;
pub use remark::Remark;
pub use scaling::{Clock, Level, Scaling};
pub use score::{Reported, reported, steal};
pub use search::{Next, Search, Span};
pub use summary::Summary;
pub use systems::{Across, Mark, Sorted, Standing};
pub use trend::{Change, Common, Latest, Others, Point, Series, Step, Trend};
pub use why::{Hint, Reach, System, Why};

/// Returns a test's label with the load and the condition it ran under, where there are any.
pub fn named(label: &str, load: &str, condition: &str) -> String {
    let mut name = label.to_owned();
    for (axis, kind) in [(load, "load"), (condition, "condition")] {
        if axis != NONE {
            name += &format!(" {kind}={axis}");
        }
    }
    name
}

/// The results of a run.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The settings of the run.
    pub run: Run,
    /// The time it took, in seconds.
    pub seconds: f64,
    /// Trials in the journal.
    pub trials: usize,
    /// Why it ended; `None` if the journal was cut short.
    pub end: Option<Ended>,
    /// The facts of the system.
    pub facts: Facts,
    /// One per cell with a result, in catalogue order within each level of copies.
    pub figures: Vec<Figure>,
    /// The findings on the subject of the run.
    pub findings: Findings,
    /// The counts of commands where there are any; first those of the command that others are compared with.
    pub counts: Vec<Counts>,
    /// Cells that cannot run here.
    pub skipped: Vec<Missing>,
    /// Cells without a result.
    pub errors: Vec<Missing>,
    /// The drift that intervals allow for; `None` if too few trials show any.
    pub drift: Option<Drifting>,
    /// The price of a narrower interval; `None` unless the run is about scores and has a wide one.
    pub bill: Option<Bill>,
    /// How much of the time neighbours disturbed; `None` if that is not known.
    pub neighbours: Option<Neighbours>,
    /// Its standings among reference systems; empty until [`Results::stand_among`] finds them.
    pub references: Vec<Reference>,
    /// Warnings on the whole run.
    pub warnings: Vec<Remark>,
}

/// A cell without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its place in the matrix.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// True if its score would be a latency.
    #[serde(skip)]
    pub latency: bool,
    /// Why.
    pub reason: String,
}

impl Missing {
    fn new(cell: &Cell, reason: &str) -> Missing {
        Missing {
            key: cell.key.clone(),
            label: cell.label.clone(),
            latency: cell.metric == Metric::Latency,
            reason: reason.to_owned(),
        }
    }
}

impl Results {
    /// Computes the results of a journal, with `baseline` in place of the run's own or George's.
    pub fn new(journal: &Journal, catalogue: &Catalogue, baseline: Option<&Baseline>) -> Results {
        let burnin = BurnIn::new(journal);
        let mut results = Results::empty(journal, seconds(journal, burnin.is_some()));
        let journal = &*printed::by_figure(journal);
        let by_cell = by_cell(journal);
        let Some(burnin) = burnin else {
            let (controls, drift) = results.add_cells(journal, &by_cell, catalogue);
            results.warnings.extend(how_it_went(journal));
            results.warnings.extend(results.drift.filter(Drifting::shows).map(Remark::Drift));
            results.findings = results.find(journal, controls, &by_cell, catalogue, baseline);
            results.bill =
                drift.and_then(|drift| Bill::new(&drift, &results.figures, results.indexes(), results.seconds));
            return results;
        };
        results.add_burnin(journal);
        results.warnings.extend(how_it_went(journal));
        results.findings = Findings::BurnIn(Box::new(burnin));
        results
    }

    fn empty(journal: &Journal, seconds: f64) -> Results {
        let remarks = journal.warnings.iter().filter(|warning| warning.cell.is_none());
        Results {
            run: journal.run.clone(),
            seconds,
            trials: journal.trials.len(),
            end: journal.end.as_ref().map(|end| end.reason),
            facts: journal.facts.clone(),
            counts: Counts::all(journal),
            warnings: remarks.map(|warning| Remark::Journal(warning.text.clone())).collect(),
            ..Results::default()
        }
    }

    /// Returns the findings on the subject of the run, from its rows and the `controls` among its cells.
    fn find(
        &self,
        journal: &Journal,
        controls: Vec<Figure>,
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
        baseline: Option<&Baseline>,
    ) -> Findings {
        match journal.run.view {
            View::Scaling => Findings::Scaling(scaling::scalings(&journal.run, &self.figures, trials)),
            // Indexes would be of the machine as it was found, which a run about cost may not have measured: their
            // differences are among what conditions cost.
            View::Cost | View::Ab => {
                let gaps: Vec<&Missing> = self.skipped.iter().chain(&self.errors).collect();
                Findings::Cost(Box::new(Cost::new(journal, &self.figures, controls, &gaps, trials, catalogue)))
            }
            View::Power => Findings::Power(Power::new(journal, trials).map(Box::new)),
            View::Scores => {
                let baseline = baseline.or(journal.run.baseline.as_ref());
                let indexes = index::indexes(&self.figures, journal, catalogue, baseline);
                Findings::Scores { gains: gain::gains(&self.figures, &indexes, journal.run.is_classic()), indexes }
            }
        }
    }

    /// A burn-in has no score: its trial says why it could not be carried out, and what the program reported of it.
    fn add_burnin(&mut self, journal: &Journal) {
        for (cell, trial) in journal.trials.iter().filter_map(|trial| Some((journal.cells.get(trial.cell)?, trial))) {
            self.skipped.extend(trial.skip.as_deref().map(|reason| Missing::new(cell, reason)));
            self.errors.extend(trial.error.as_deref().map(|reason| Missing::new(cell, reason)));
            let notes = trial.copies.iter().flat_map(|copy| &copy.notes);
            self.warnings.extend(notes.map(|note| Remark::ProgramNote { note: note.clone(), trials: 1, of: 1 }));
        }
    }

    /// Adds a row, or the reason why there is none, per cell; returns the rows of controls, and the drift.
    fn add_cells(
        &mut self,
        journal: &Journal,
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
    ) -> (Vec<Figure>, Option<Drift>) {
        for cell in ordered(&journal.cells, catalogue) {
            self.add(cell, &trials[cell.id], journal);
        }
        let drift = drift::common(&self.figures);
        self.drift = drift.as_ref().map(|drift| Drifting::widen(drift, &mut self.figures));
        if !journal.run.is_classic() {
            self.neighbours = Neighbours::find(&mut self.figures, catalogue);
        }
        details::limits(&mut self.figures, journal, catalogue);
        let (controls, rows) = std::mem::take(&mut self.figures).into_iter().partition(|row| row.cell.control);
        self.figures = rows;
        (controls, drift)
    }

    fn add(&mut self, cell: &Cell, trials: &[&Trial], journal: &Journal) {
        let missing = |reason: &str| Missing::new(cell, reason);
        if let Some(mut row) = Figure::measured(cell, trials, &journal.run) {
            if let Some((load, warnings)) = latency::load(cell, trials) {
                row.load = Some(load);
                row.warnings.extend(warnings);
            }
            row.warnings.extend(notes(trials));
            row.details = details::details(cell, trials);
            row.energy = Energy::new(cell, trials);
            let failed: Vec<&str> = trials.iter().filter_map(|trial| trial.error.as_deref()).collect();
            let first = failed.first().map(|reason| (*reason).to_owned());
            let failure = first.map(|reason| Remark::Failed { trials: failed.len(), of: trials.len(), reason });
            row.warnings.extend(failure);
            let own = journal.warnings.iter().filter(|warning| warning.cell == Some(cell.id));
            row.warnings.extend(own.map(|warning| Remark::Journal(warning.text.clone())));
            row.warnings.extend(score::disturbances(cell, trials, journal.run.cpus));
            self.figures.push(row);
        } else if let Some(reason) = trials.iter().find_map(|trial| trial.skip.as_deref()) {
            self.skipped.push(missing(reason));
        } else if let Some(reason) = trials.iter().find_map(|trial| trial.error.as_deref()) {
            self.errors.push(missing(reason));
        } else {
            self.errors.push(missing("the run ended before it was measured"));
        }
    }

    /// Returns the rows that stand in lists of scores: neither latencies nor those that a table of scaling has.
    pub fn listed(&self) -> impl Iterator<Item = &Figure> {
        let scaled = |row: &&Figure| self.scaling().iter().any(|scaling| scaling.has(&row.cell));
        self.figures.iter().filter(move |row| row.latency.is_none() && !scaled(row))
    }

    /// Returns the levels of copies at which rates were measured, that have anything to show, in order.
    pub fn levels(&self) -> Vec<u32> {
        if self.burnin().is_some() {
            return Vec::new();
        }
        let missing = self.errors.iter().chain(&self.skipped).filter(|missing| !missing.latency);
        let rows = self.figures.iter().filter(|row| row.latency.is_none());
        let mut levels: Vec<u32> =
            rows.map(|row| row.cell.key.copies).chain(missing.map(|missing| missing.key.copies)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// Returns the levels of copies that have a list of scores. A run about scaling tells elsewhere what is missing.
    pub fn lists(&self) -> Vec<u32> {
        let mut levels = self.levels();
        if self.run.is_scaling() {
            levels.retain(|level| self.listed().any(|row| row.cell.key.copies == *level));
        }
        levels
    }

    /// Returns the scores at the fewest copies, as another run's baseline.
    pub fn as_baseline(&self) -> Baseline {
        let fewest = self.levels().first().copied().unwrap_or(1);
        let plain = |row: &&Figure| row.cell.key.copies == fewest && row.cell.key.is_plain();
        let rows = self.figures.iter().filter(plain).filter(|row| row.score.value.is_finite() && row.score.value > 0.0);
        Baseline {
            name: self.run.name.clone(),
            scores: rows.map(|row| (row.cell.key.test.clone(), row.score.value)).collect(),
        }
    }
}

/// The trials of each cell.
fn by_cell(journal: &Journal) -> Vec<Vec<&Trial>> {
    let mut by_cell = vec![Vec::new(); journal.cells.len()];
    journal.trials.iter().for_each(|trial| by_cell[trial.cell].push(trial));
    by_cell
}

/// When the run ended, in seconds since it began: of one that was cut short, when its last trial or sample began.
fn seconds(journal: &Journal, burnin: bool) -> f64 {
    match (&journal.end, journal.samples.last().filter(|_| burnin)) {
        (Some(end), _) => end.seconds,
        (None, Some(sample)) => sample.at,
        (None, None) => journal.trials.last().map_or(0.0, |trial| trial.at),
    }
}

/// Returns the remarks on its end and its procedure.
fn how_it_went(journal: &Journal) -> Vec<Remark> {
    let mut remarks = Vec::new();
    match journal.end.as_ref().map(|end| end.reason) {
        None => remarks.push(Remark::CutShort),
        Some(Ended::Interrupted) => remarks.push(Remark::Interrupted),
        Some(Ended::Failed) => {
            let last = journal.trials.iter().rev().find_map(|trial| trial.error.as_deref());
            remarks.push(Remark::Hopeless { reason: last.unwrap_or("no reason is known").to_owned() });
        }
        Some(_) => {}
    }
    remarks.extend((journal.run.procedure == Procedure::Quick).then_some(Remark::Quick));
    remarks
}

/// Returns the programs' notes, each note once, with the number of trials that have it.
fn notes(trials: &[&Trial]) -> Vec<Remark> {
    let of = trials.iter().filter(|trial| !trial.copies.is_empty()).count();
    let notes =
        |trial: &&Trial| trial.copies.iter().flat_map(|copy| &copy.notes).cloned().collect::<BTreeSet<String>>();
    let all = trials.iter().flat_map(notes).map(|note| (note, ())).grouped();
    all.into_iter().map(|(note, told)| Remark::ProgramNote { trials: told.len(), note, of }).collect()
}

/// Cells by copies, then in catalogue order.
fn ordered<'a>(cells: &'a [Cell], catalogue: &Catalogue) -> Vec<&'a Cell> {
    let place = |cell: &Cell| catalogue.tests.iter().position(|test| test.id == cell.key.test).unwrap_or(usize::MAX);
    let mut cells: Vec<&Cell> = cells.iter().collect();
    cells.sort_by_cached_key(|cell| (cell.key.copies, place(cell), cell.id));
    cells
}
