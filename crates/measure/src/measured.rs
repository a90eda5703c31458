//! The outcome of a measurement.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Ask;
use analysis::{BurnIn, Comparison, Effect, Measure, Outcome as Judged, Results, Unseen};
use journal::{Ended, Journal, Key, View};
use runner::Outcome;
use words::{Grouped, Unique};

/// A run that has ended.
#[derive(Debug)]
pub struct Measured {
    /// The run's directory.
    pub directory: PathBuf,
    /// Its journal.
    pub journal: Journal,
    /// Its findings.
    pub results: Results,
    /// The way it ended; `None` if it could not go on, which is the first failure.
    pub ended: Option<Outcome>,
    /// Why it is no success, a sentence each; empty if it is one.
    pub failures: Vec<String>,
    /// The comparisons that may hide a loss of the gate's size.
    pub unseen: Option<Unseen>,
    /// True if it is no success because of them.
    pub is_gate_strict: bool,
    /// Which limits of counts decide nothing, a sentence each.
    pub vague: Vec<String>,
    /// The directory that is removed with this.
    pub(super) _discarded: Option<Discarded>,
}

impl Measured {
    /// Returns the signal that interrupted the run, if one did.
    pub fn signal(&self) -> Option<i32> {
        self.ended.and_then(|outcome| outcome.signal)
    }

    /// Returns true if nothing could be measured.
    pub fn is_empty(&self) -> bool {
        is_empty(&self.results)
    }
}

fn is_empty(results: &Results) -> bool {
    results.figures.is_empty() && !results.burnin().is_some_and(BurnIn::has_worked)
}

/// Returns why a run is no success.
pub(super) fn failures(journal: &Journal, results: &Results, strict: bool, ask: &Ask) -> Vec<String> {
    // Trials were reported when they failed; a burn-in is one.
    let gaps = results.skipped.iter().chain(&results.errors);
    let burnin = results.burnin();
    let mut failures: Vec<String> = gaps.filter(|_| burnin.is_some()).map(|gap| gap.reason.clone()).collect();
    let losses = ask.gate.zip(results.cost()).map(|(size, cost)| cost.losses(size));
    failures.extend(losses.unwrap_or_default().into_iter().map(sentence));
    if is_empty(results) {
        failures.extend(gaps_by_reason(results, "not measured"));
        return failures;
    }
    let errors = journal.trials.iter().filter(|trial| trial.error.is_some()).count();
    if errors > 0 {
        let trials = words::count(errors, "trial");
        failures.push(format!("{trials} failed; the report has the reasons"));
    }
    if results.end != Some(Ended::Interrupted) {
        failures.extend(counted(results, ask, Judged::Failed));
    }
    if results.end == Some(Ended::Broke) {
        failures.push("the run ended at the first frame later than --break-over allows".to_owned());
    }
    if burnin.is_some_and(|burnin| !burnin.good) {
        failures.push("the burn-in found something wrong; the report says what".to_owned());
    }
    if strict && !results.skipped.is_empty() {
        failures.extend(gaps_by_reason(results, "skipped, which --strict does not allow"));
    }
    failures
}

/// Returns the sentences about the counts of commands that have this outcome.
pub(super) fn counted(results: &Results, ask: &Ask, outcome: Judged) -> impl Iterator<Item = String> {
    results.judged(&ask.limits).into_iter().filter(move |(found, _)| *found == outcome).map(|(_, why)| why)
}

/// Returns which tests failed or were skipped, and why: each reason once.
fn gaps_by_reason(results: &Results, fate: &str) -> Vec<String> {
    let gaps = results.skipped.iter().chain(&results.errors);
    let by_reason = gaps.map(|gap| (&gap.reason, name(&gap.key, results.run.view))).unique();
    let by_reason = by_reason.into_iter().grouped().into_iter();
    by_reason.map(|(why, tests)| format!("{}: {fate}: {why}", tests.join(", "))).collect()
}

/// Returns the name of a cell's test; commands that are compared are conditions of one test.
fn name(key: &Key, view: View) -> &str {
    if view == View::Ab { &key.condition } else { &key.test }
}

/// Returns a loss as a sentence.
fn sentence(effect: &Effect) -> String {
    let Comparison { cell, measure, verdict, .. } = &effect.comparison;
    let copies = if cell.key.copies == 1 { String::new() } else { format!(" x{}", cell.key.copies) };
    let what = if *measure == Measure::Score { String::new() } else { format!(" ({})", measure.name()) };
    let name = effect.comparison.unnamed().map_or_else(|| format!("{}{copies}{what}", cell.key.test), str::to_owned);
    let change = effect.comparison.change().value.abs();
    format!("{name}: {change:.1} {} {} under {}", measure.delta_unit(), verdict.word(), cell.key.condition)
}

/// The results directory of a run that is shown and not kept.
#[derive(Debug)]
pub(super) struct Discarded(pub PathBuf);

impl Discarded {
    /// Returns a new directory under `dir`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(dir: &Path) -> Result<Discarded> {
        let path = dir.join(format!("unixmark-unkept-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("{} cannot be made; try --dir DIR", path.display()))?;
        Ok(Discarded(path))
    }
}

impl Drop for Discarded {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
