//! The results of a run: a figure per cell, and the findings that they give together.
//!
//! [`Results::new`] goes up the floors of the crate: it makes a [`Figure`] of each cell, widens
//! their intervals for the drift that they share, and asks for the findings on the run's subject.

use std::borrow::Cow;
use std::collections::BTreeSet;

use catalogue::Catalogue;
use journal::{Baseline, Cell, Ended, Facts, Journal, Procedure, Run, Trial, View};
use stats::Drift;
use words::{Grouped, Unique as _};

use super::{Findings, Reference};
use crate::figures::{
    Drifting, Energy, Figure, Missing, NOT_REACHED, Neighbours, Remark, by_cell, details, drift,
    executed, latency, limits, printed, quiet, score,
};
use crate::products::{
    Bill, BurnIn, Cost, Counts, Functions, Gain, Index, Power, Scaling, UNIXBENCH_INDEX, gains,
    indexes, scalings,
};

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
    /// The counts of commands where there are any; first those of the command that others are
    /// compared with.
    pub counts: Vec<Counts>,
    /// Where the processor time of commands goes, if they were sampled; first the command that
    /// others are compared with.
    pub functions: Vec<Functions>,
    /// Cells that cannot run here.
    pub skipped: Vec<Missing>,
    /// Cells without a result.
    pub errors: Vec<Missing>,
    /// The drift that intervals allow for; `None` if too few trials show any.
    pub drift: Option<Drifting>,
    /// The price of a narrower interval; `None` unless the run is about scores and has a wide one.
    pub bill: Option<Bill>,
    /// The share of processor time that the hypervisor gave to others meanwhile; `None` where the
    /// kernel does not say.
    pub steal: Option<f64>,
    /// How much of the time neighbours disturbed; `None` if that is not known.
    pub neighbours: Option<Neighbours>,
    /// Its standings among reference systems; empty until [`Results::stand_among`] finds them.
    pub references: Vec<Reference>,
    /// What the earlier run gave that came just before, where runs are kept.
    pub before: Option<Before>,
    /// Warnings on the whole run.
    pub warnings: Vec<Remark>,
}

/// An earlier run of the same machine, with the same settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// Its name.
    pub run: String,
    /// How long before this run it began, in seconds.
    pub seconds: f64,
    /// The speed of this run over that of the earlier one: the geometric mean of their figures.
    pub ratio: f64,
    /// The number of figures that both have.
    pub figures: usize,
}

/// What was not counted of commands, and why.
fn notes_on_counts(counts: &[Counts]) -> Vec<Remark> {
    let notes = counts.iter().flat_map(|counts| counts.notes.iter().cloned()).unique();
    notes.into_iter().map(|note| Remark::ProgramNote { note, trials: 1, of: 1 }).collect()
}

impl Results {
    /// Computes the results of a journal, with `baseline` in place of the run's own or George's.
    pub fn new(journal: &Journal, catalogue: &Catalogue, baseline: Option<&Baseline>) -> Results {
        let burnin = BurnIn::new(journal);
        let mut results = Results::empty(journal, end_seconds(journal, burnin.is_some()));

        results.warnings = limits_of_run(journal);
        let by_figure = printed::by_figure(journal);
        // Commands printed figures, whose cells replace theirs: remarks on commands go to the run.
        if let Cow::Owned(_) = by_figure {
            results.warnings.extend(remarks_on_commands(journal));
        }
        let journal = &*by_figure;
        results.warnings.splice(0..0, remarks(journal));

        if let Some(burnin) = burnin {
            results.add_burnin_remarks(journal);
            results.warnings.extend(remarks_on_end(journal));
            results.findings = Findings::BurnIn(Box::new(burnin));
            return results;
        }
        let by_cell = by_cell(journal);
        let (controls, drift) = results.add_cells(journal, &by_cell, catalogue);
        results.warnings.extend(remarks_on_end(journal));
        results.warnings.extend(notes_on_counts(&results.counts));
        results.warnings.extend(results.drift.filter(Drifting::shows).map(Remark::Drift));
        results.findings = results.find(journal, controls, &by_cell, catalogue, baseline);
        // The bill needs the indexes, which are among the findings.
        results.bill = drift.and_then(|drift| {
            Bill::new(&drift, &results.figures, results.indexes(), results.seconds)
        });
        results
    }

    fn empty(journal: &Journal, seconds: f64) -> Results {
        Results {
            run: journal.run.clone(),
            seconds,
            trials: journal.trials.len(),
            end: journal.end.as_ref().map(|end| end.reason),
            facts: journal.facts.clone(),
            counts: Counts::all(journal),
            steal: score::steal_share(journal),
            functions: Functions::all(journal),
            ..Results::default()
        }
    }

    /// The findings on the subject of the run, from its rows and the `controls` among its
    /// cells.
    fn find(
        &self,
        journal: &Journal,
        controls: Vec<Figure>,
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
        baseline: Option<&Baseline>,
    ) -> Findings {
        match journal.run.view {
            View::Scaling => Findings::Scaling(scalings(&journal.run, &self.figures, trials)),
            // Indexes would be of the machine as it was found, which a run about cost may not have
            // measured: their differences are among what conditions cost.
            View::Cost | View::Ab => {
                let gaps: Vec<&Missing> = self.skipped.iter().chain(&self.errors).collect();
                Findings::Cost(Box::new(Cost::new(
                    journal,
                    &self.figures,
                    controls,
                    &gaps,
                    trials,
                    catalogue,
                )))
            }
            View::Power => Findings::Power(Power::new(journal, trials).map(Box::new)),
            View::Scores | View::Card => {
                let baseline = baseline.or(journal.run.baseline.as_ref());
                let indexes = indexes(&self.figures, journal, catalogue, baseline);
                Findings::Scores {
                    gains: gains(&self.figures, &indexes, journal.run.is_classic()),
                    indexes,
                }
            }
        }
    }

    /// Adds why the trial of a burn-in could not be carried out, and its program's notes: it has no
    /// score, so no figure carries them.
    fn add_burnin_remarks(&mut self, journal: &Journal) {
        for trial in &journal.trials {
            let Some(cell) = journal.cells.get(trial.cell) else { continue };
            self.skipped.extend(trial.skip.as_deref().map(|reason| Missing::new(cell, reason)));
            self.errors.extend(trial.error.as_deref().map(|reason| Missing::new(cell, reason)));
            let notes = trial.copies.iter().flat_map(|copy| &copy.notes);
            self.warnings.extend(notes.map(|note| Remark::ProgramNote {
                note: note.clone(),
                trials: 1,
                of: 1,
            }));
        }
    }

    /// Adds the figure of each cell, or the reason why there is none; returns the figures of
    /// controls, which stand apart, and the drift.
    fn add_cells(
        &mut self,
        journal: &Journal,
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
    ) -> (Vec<Figure>, Option<Drift>) {
        for cell in sort_cells(&journal.cells, catalogue) {
            match measure_cell(cell, &trials[cell.id], journal) {
                Some(figure) => self.figures.push(figure),
                None => self.add_missing(cell, &trials[cell.id]),
            }
        }

        let drift = drift::common(&self.figures);
        self.drift = drift.as_ref().map(|drift| Drifting::widen(drift, &mut self.figures));
        if !journal.run.is_classic() {
            self.neighbours = quiet::add_quiet_scores(&mut self.figures, catalogue);
        }
        limits::add_limits(&mut self.figures, journal, catalogue);

        let figures = std::mem::take(&mut self.figures);
        let (controls, others) = figures.into_iter().partition(|figure| figure.cell.control);
        self.figures = others;
        (controls, drift)
    }

    /// Adds the reason why a cell has no figure.
    fn add_missing(&mut self, cell: &Cell, trials: &[&Trial]) {
        // A control's turn comes by chance, and its command's own cell says why there is no figure.
        if cell.is_alternating() && cell.control {
            return;
        }
        let skip = trials.iter().find_map(|trial| trial.skip.as_deref());
        let error = trials.iter().find_map(|trial| trial.error.as_deref());
        match (skip, error) {
            (Some(reason), _) => self.skipped.push(Missing::new(cell, reason)),
            (None, Some(reason)) => self.errors.push(Missing::new(cell, reason)),
            (None, None) => {
                self.errors.push(Missing::new(cell, NOT_REACHED));
            }
        }
    }

    /// The figures in lists of scores: neither latencies nor those that a table of scaling has.
    pub fn listed(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| {
            let is_in_table = self.scaling().iter().any(|scaling| scaling.has(&figure.cell));
            figure.latency.is_none() && !is_in_table
        })
    }

    /// The numbers of copies at which rates were measured or are missing, in order. A burn-in has
    /// none.
    pub fn levels(&self) -> Vec<u32> {
        if self.burnin().is_some() {
            return Vec::new();
        }
        let missing = self.errors.iter().chain(&self.skipped).filter(|missing| !missing.latency);
        let rows = self.figures.iter().filter(|row| row.latency.is_none());
        let mut levels: Vec<u32> = rows
            .map(|row| row.cell.key.copies)
            .chain(missing.map(|missing| missing.key.copies))
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// The levels of copies that have a list of scores. A run about scaling reports elsewhere what
    /// is missing.
    pub fn lists(&self) -> Vec<u32> {
        let mut levels = self.levels();
        if self.run.is_scaling() {
            levels.retain(|level| self.listed().any(|row| row.cell.key.copies == *level));
        }
        levels
    }

    /// The scores at the fewest copies, as another run's baseline.
    pub fn as_baseline(&self) -> Baseline {
        let fewest_copies = self.levels().first().copied().unwrap_or(1);
        let positive = self
            .figures
            .iter()
            .filter(|figure| figure.cell.key.copies == fewest_copies && figure.cell.key.is_plain())
            .filter(|figure| figure.score.value.is_finite() && figure.score.value > 0.0);
        Baseline {
            name: self.run.name.clone(),
            scores: positive
                .map(|figure| (figure.cell.key.test.clone(), figure.score.value))
                .collect(),
        }
    }
}

/// What was found on the subject of the run.
impl Results {
    /// The indexes; none unless the run is about scores.
    pub fn indexes(&self) -> &[Index] {
        if let Findings::Scores { indexes, .. } = &self.findings { indexes } else { &[] }
    }

    /// UnixBench's index at a number of copies.
    pub fn unixbench_index(&self, copies: u32) -> Option<&Index> {
        let mut indexes = self.indexes().iter();
        indexes.find(|index| index.id == UNIXBENCH_INDEX && index.copies == copies)
    }

    pub(crate) fn indexes_mut(&mut self) -> &mut [Index] {
        if let Findings::Scores { indexes, .. } = &mut self.findings { indexes } else { &mut [] }
    }

    /// What more copies bring; nothing unless the run is about scores.
    pub fn gains(&self) -> &[Gain] {
        if let Findings::Scores { gains, .. } = &self.findings { gains } else { &[] }
    }

    /// How tests scale; nothing unless the run is about it.
    pub fn scaling(&self) -> &[Scaling] {
        if let Findings::Scaling(scaling) = &self.findings { scaling } else { &[] }
    }

    /// The figures that a command printed in none of its executions, since they failed.
    pub fn printed_failures(&self, command: &str) -> impl Iterator<Item = &Missing> {
        self.errors.iter().filter(move |gap| gap.printed && gap.key.condition == command)
    }

    /// What conditions cost, if the run is about it.
    pub fn cost(&self) -> Option<&Cost> {
        if let Findings::Cost(cost) = &self.findings { Some(cost) } else { None }
    }

    /// What comparisons find on this machine, if the run is about that.
    pub fn power(&self) -> Option<&Power> {
        if let Findings::Power(power) = &self.findings { power.as_deref() } else { None }
    }

    /// What a burn-in found, if it is one.
    pub fn burnin(&self) -> Option<&BurnIn> {
        if let Findings::BurnIn(burnin) = &self.findings { Some(burnin) } else { None }
    }

    /// The second arms of the condition that others are compared with.
    pub fn controls(&self) -> &[Figure] {
        self.cost().map_or(&[], |cost| &cost.controls)
    }
}

/// When the run ended, in seconds since it began: of one that was cut short, when its last trial or
/// sample began.
fn end_seconds(journal: &Journal, is_burnin: bool) -> f64 {
    match (&journal.end, journal.samples.last().filter(|_| is_burnin)) {
        (Some(end), _) => end.seconds,
        (None, Some(sample)) => sample.at,
        (None, None) => journal.trials.last().map_or(0.0, |trial| trial.at),
    }
}

/// The remarks on the whole run that were written when it was measured.
fn remarks(journal: &Journal) -> Vec<Remark> {
    let of_run = journal.warnings.iter().filter(|warning| warning.cell.is_none());
    of_run.map(|warning| Remark::Journal(warning.text.clone())).collect()
}

/// Remarks on processors that the run could not use, or only for a part of the time.
fn limits_of_run(journal: &Journal) -> Vec<Remark> {
    let number = |name: &str| {
        let quantity = journal.facts.get(name)?.quantity.as_ref()?;
        Some(quantity.number)
    };
    let online = journal.run.cpus;
    let usable = number("limits.cpus").map_or(online, |usable| usable as usize);

    let mut remarks = Vec::new();
    if usable < online {
        remarks.push(Remark::Affinity { usable, of: online });
    }
    if let Some(cpus) = number("limits.cgroup.cpu").filter(|cpus| *cpus < usable as f64) {
        remarks.push(Remark::Quota { cpus, of: usable });
    }
    remarks
}

/// Remarks on the executions of commands whose figures are those that they print, each after its
/// command.
fn remarks_on_commands(journal: &Journal) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (cell, trials) in journal.cells.iter().zip(by_cell(journal)) {
        let of_command = executed::remarks(&trials).into_iter().chain(program_notes(&trials));
        let run = &cell.key.condition;
        remarks.extend(
            of_command.map(|remark| Remark::InRun { run: run.clone(), remark: remark.into() }),
        );
    }
    remarks
}

/// The remarks on the run's end and on its procedure.
fn remarks_on_end(journal: &Journal) -> Vec<Remark> {
    let mut remarks = Vec::new();
    match journal.end.as_ref().map(|end| end.reason) {
        None => remarks.push(Remark::CutShort),
        Some(Ended::Interrupted) => remarks.push(Remark::Interrupted),
        Some(Ended::Failed) => {
            let last = journal.trials.iter().rev().find_map(|trial| trial.error.as_deref());
            remarks
                .push(Remark::Hopeless { reason: last.unwrap_or("no reason is known").to_owned() });
        }
        Some(_) => {}
    }
    remarks.extend((journal.run.procedure == Procedure::Quick).then_some(Remark::Quick));
    remarks
}

/// The figure of a cell with the remarks on it; `None` if no trial gave one.
fn measure_cell(cell: &Cell, trials: &[&Trial], journal: &Journal) -> Option<Figure> {
    let mut figure = Figure::measured(cell, trials, &journal.run)?;
    figure.details = details::details(cell, trials);
    figure.energy = Energy::new(cell, trials);

    if let Some((load, warnings)) = latency::load(cell, trials) {
        figure.load = Some(load);
        figure.warnings.extend(warnings);
    }
    figure.warnings.extend(executed::remarks(trials));
    figure.warnings.extend(program_notes(trials));
    figure.warnings.extend(remark_on_failures(trials));
    let written = journal.warnings.iter().filter(|warning| warning.cell == Some(cell.id));
    figure.warnings.extend(written.map(|warning| Remark::Journal(warning.text.clone())));
    figure.warnings.extend(score::disturbances(cell, trials, journal.run.cpus));
    Some(figure)
}

/// How many trials failed, and why the first did.
fn remark_on_failures(trials: &[&Trial]) -> Option<Remark> {
    let errors: Vec<&str> = trials.iter().filter_map(|trial| trial.error.as_deref()).collect();
    let reason = (*errors.first()?).to_owned();
    Some(Remark::Failed { trials: errors.len(), of: trials.len(), reason })
}

/// The programs' notes, each note once, with the number of trials that have it.
fn program_notes(trials: &[&Trial]) -> Vec<Remark> {
    let of = trials.iter().filter(|trial| !trial.copies.is_empty()).count();
    let mut notes = Vec::new();
    for trial in trials {
        let of_trial: BTreeSet<&String> =
            trial.copies.iter().flat_map(|copy| &copy.notes).collect();
        notes.extend(of_trial.into_iter().map(|note| (note.clone(), ())));
    }
    let grouped = notes.into_iter().grouped().into_iter();
    grouped.map(|(note, trials)| Remark::ProgramNote { trials: trials.len(), note, of }).collect()
}

/// Cells by copies, then in catalogue order.
fn sort_cells<'a>(cells: &'a [Cell], catalogue: &Catalogue) -> Vec<&'a Cell> {
    let place = |cell: &Cell| {
        catalogue.tests.iter().position(|test| test.id == cell.key.test).unwrap_or(usize::MAX)
    };
    let mut cells: Vec<&Cell> = cells.iter().collect();
    cells.sort_by_cached_key(|cell| (cell.key.copies, place(cell), cell.id));
    cells
}
