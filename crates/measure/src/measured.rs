//! The outcome of a run, and why it is a failure.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Ask;
use super::gate::{Gate, gates};
use analysis::{
    Better, BurnIn, Comparison, Cost, Effect, Measure, Missing, Outcome as Judged, Results, Unseen,
};
use journal::{Cell, Ended, Journal, Key, Printed, Trial, View};
use runner::Outcome;
use words::{Grouped, Unique};

/// A run that has ended.
#[derive(Debug)]
pub struct Measured {
    /// The run's directory.
    pub directory: PathBuf,
    pub journal: Journal,
    pub results: Results,
    /// How the run ended; `None` if it could not go on, which is the first failure.
    pub ended: Option<Outcome>,
    /// The reasons why the run is a failure, a sentence each.
    pub failures: Vec<String>,
    /// The limits of losses.
    pub(super) gates: Vec<Gate>,
    /// The outcomes of limits of counts, with a sentence for each; none of an interrupted run.
    pub judged_counts: Vec<(Judged, String)>,
    /// For each limit, comparisons that may hide a loss of its size.
    pub unseen: Vec<Unseen>,
    /// Figures that differ by the gate's size, in a direction that may be better or worse.
    pub undirected: Vec<String>,
    /// True if `unseen` and `undirected` make the run a failure.
    pub is_gate_strict: bool,
    /// Limits of counts and quantiles that the run leaves undecided, and figures that failed under
    /// the reference, a sentence each.
    pub vague: Vec<String>,
    /// A directory that is removed when this is dropped.
    pub(super) discarded: Option<Discarded>,
}

impl Measured {
    /// The signal that interrupted the run, if one did.
    pub fn signal(&self) -> Option<i32> {
        self.ended.as_ref().and_then(|outcome| outcome.signal)
    }

    /// True if the run stays where it is.
    pub fn is_kept(&self) -> bool {
        self.discarded.is_none()
    }

    /// The comparisons that --fail-on judges, each with its outcome.
    pub fn judged(&self) -> Vec<(&Comparison, Judged)> {
        let cost = self.results.cost();
        cost.into_iter()
            .flat_map(|cost| self.gates.iter().flat_map(|gate| gate.outcomes(cost)))
            .collect()
    }

    /// The figures that only the reference has, each of which fails a gate.
    pub fn lost(&self) -> Vec<&Missing> {
        let cost = gated_cost(&self.results, &self.gates);
        cost.into_iter().flat_map(Cost::lost).collect()
    }

    /// The failures that are no figure's: a command failed, say.
    pub fn failures_of_run(&self) -> Vec<String> {
        let mut of_figures = gate_failures(&self.results, &self.gates);
        of_figures.extend(sentences_of(Judged::Failed, &self.judged_counts));
        let of_run = self.failures.iter().filter(|sentence| !of_figures.contains(sentence));
        of_run.cloned().collect()
    }

    /// True if nothing could be measured, or a command that is compared not once.
    pub fn is_empty(&self) -> bool {
        is_empty(&self.results) || lacks_a_command(&self.journal)
    }
}

fn is_empty(results: &Results) -> bool {
    results.figures.is_empty() && !results.burnin().is_some_and(BurnIn::has_worked)
}

/// True if one of the commands that are compared failed and never ended well.
fn lacks_a_command(journal: &Journal) -> bool {
    let compared = journal.cells.iter().filter(|cell| cell.is_alternating() && !cell.control);
    for cell in compared {
        let mut trials = journal.trials.iter().filter(|trial| trial.cell == cell.id).peekable();
        if trials.peek().is_some() && trials.all(|trial| trial.error.is_some()) {
            return true;
        }
    }

    false
}

/// The reasons why a run is a failure, a sentence each.
pub(super) fn failures(
    journal: &Journal,
    results: &Results,
    judged_counts: &[(Judged, String)],
    is_strict: bool,
    ask: &Ask,
) -> Vec<String> {
    let mut failures = burnin_gaps(results);
    failures.extend(gate_failures(results, &gates(ask)));
    failures.extend(unknown_directions(journal, ask));

    // A comparison that broke, or a run without figures, ends here: its trials and counts would
    // only say the same again.
    if let Some(reason) = explain_broken_comparison(journal) {
        failures.push(reason);
        return failures;
    }
    if is_empty(results) {
        let gaps = results.skipped.iter().chain(&results.errors);
        failures.extend(describe_gaps(gaps, results.run.view, "not measured"));
        return failures;
    }

    failures.extend(describe_failed_trials(journal));
    failures.extend(sentences_of(Judged::Failed, judged_counts));
    if results.end == Some(Ended::Broke) {
        failures.push("the run ended at the first frame later than --break-over allows".to_owned());
    }
    if results.burnin().is_some_and(|burnin| !burnin.good) {
        failures.push("the burn-in found something wrong; the report says what".to_owned());
    }
    if is_strict {
        let fate = "skipped, which --strict does not allow";
        failures.extend(describe_gaps(results.skipped.iter(), results.run.view, fate));
    }
    failures
}

/// What a burn-in could not do. The gaps of other runs were reported when they came up.
fn burnin_gaps(results: &Results) -> Vec<String> {
    if results.burnin().is_none() {
        return Vec::new();
    }
    results.skipped.iter().chain(&results.errors).map(|gap| gap.reason.clone()).collect()
}

/// The losses that a gate does not let pass and, where there is one, the figures that only the
/// reference has.
fn gate_failures(results: &Results, gates: &[Gate]) -> Vec<String> {
    let Some(cost) = gated_cost(results, gates) else { return Vec::new() };

    let view = results.run.view;
    let losses = gates.iter().flat_map(|gate| gate.losses(cost));
    let missing = cost.lost().map(|gap| {
        format!("{} is missing {}: {}", gap.label, describe_arm(&gap.key, view), gap.reason)
    });
    losses.map(|loss| describe_loss(loss, view)).chain(missing).collect()
}

/// The printed figures that failed in every execution of the reference, a sentence each: no gate
/// can judge what the others printed.
pub(super) fn unjudged_figures(results: &Results, cost: &Cost) -> Vec<String> {
    let against = &cost.against;
    results
        .printed_failures(against)
        .map(|gap| {
            format!("{} failed under {against}, so it cannot be judged: {}", gap.label, gap.reason)
        })
        .collect()
}

/// What the gates judge; `None` where there is no gate.
fn gated_cost<'r>(results: &'r Results, gates: &[Gate]) -> Option<&'r Cost> {
    if gates.is_empty() { None } else { results.cost() }
}

/// The sentences on trials that failed: each error of a user's command once, since nobody has
/// reported it yet, and the number of the others, whose reasons the report has.
fn describe_failed_trials(journal: &Journal) -> Vec<String> {
    let failed = journal.trials.iter().filter(|trial| trial.error.is_some());
    let (of_commands, others): (Vec<&Trial>, Vec<&Trial>) =
        failed.partition(|trial| journal.cells.get(trial.cell).is_some_and(Cell::is_of_command));

    let mut sentences = of_commands.iter().filter_map(|trial| trial.error.clone()).unique();
    if !others.is_empty() {
        let trials = words::count(others.len(), "trial");
        sentences.push(format!("{trials} failed; the report has the reasons"));
    }
    sentences
}

/// The directions that the user gave of figures that no command printed, a sentence each; none
/// where nothing was printed at all, which is the failure then.
fn unknown_directions(journal: &Journal, ask: &Ask) -> Vec<String> {
    let copies = journal.trials.iter().flat_map(|trial| &trial.copies);
    let printed: Vec<&Printed> = copies.flat_map(|copy| &copy.printed).collect();
    if printed.is_empty() {
        return Vec::new();
    }

    let is_unknown = |better: &&Better| {
        !printed
            .iter()
            .any(|figure| better.apply(&figure.name, &figure.unit, &mut figure.metric.clone()))
    };
    let unknown = ask.better.iter().filter(is_unknown);
    unknown.map(|better| better.describe_unknown("what the commands printed")).collect()
}

/// The error of a command that has ended the comparison of several: the others say nothing without
/// it.
fn explain_broken_comparison(journal: &Journal) -> Option<String> {
    let is_over = journal.end.as_ref().is_some_and(|end| end.reason == Ended::Failed);
    let is_compared = journal.cells.iter().any(|cell| cell.is_alternating());
    if !is_over || !is_compared {
        return None;
    }

    let reason = journal.trials.iter().rev().find_map(|trial| trial.error.clone())?;
    // An error of a command begins with its name; only that of the program that executes it
    // begins with "it".
    Some(match reason.strip_prefix("it ") {
        Some(end) => format!(
            "the program that executes the commands {end}; a command may have killed its whole \
             process group (try `setsid COMMAND`), or memory ran out"
        ),
        None => reason,
    })
}

/// The sentences about limits that have this outcome.
pub(super) fn sentences_of(
    outcome: Judged,
    judged_counts: &[(Judged, String)],
) -> impl Iterator<Item = String> {
    let of_outcome = judged_counts.iter().filter(move |(judged, _)| *judged == outcome);
    of_outcome.map(|(_, sentence)| sentence.clone())
}

/// A sentence for each reason why tests failed or were skipped, with the tests; `fate` says which.
fn describe_gaps<'a>(
    gaps: impl Iterator<Item = &'a Missing>,
    view: View,
    fate: &str,
) -> Vec<String> {
    let names = gaps.map(|gap| (&gap.reason, test_name(&gap.key, view))).unique();

    let mut sentences = Vec::new();
    for (why, tests) in names.into_iter().grouped() {
        sentences.push(format!("{}: {fate}: {why}", tests.join(", ")));
    }
    sentences
}

/// The name of a cell's test. Commands that are compared are conditions of one test.
fn test_name(key: &Key, view: View) -> &str {
    if view == View::Ab { &key.condition } else { &key.test }
}

/// A loss as a sentence.
fn describe_loss(effect: &Effect, view: View) -> String {
    let Comparison { cell, measure, verdict, .. } = &effect.comparison;
    let name = effect.comparison.unnamed().map_or_else(
        || {
            let mut name = cell.key.test.clone();
            if cell.key.copies != 1 {
                name.push_str(&format!(" x{}", cell.key.copies));
            }
            if *measure != Measure::Score {
                name.push_str(&format!(" ({})", measure.name()));
            }
            name
        },
        str::to_owned,
    );
    let (size, ends) = effect.comparison.describe_loss();
    let comma = if effect.comparison.is_factor() { "," } else { "" };
    let arm = describe_arm(&cell.key, view);
    format!("{name}: {size}{comma} {} {arm}{ends}", verdict.word())
}

/// `under nice=5` of a condition, `with new` of a command.
fn describe_arm(key: &Key, view: View) -> String {
    let preposition = if view == View::Ab { "with" } else { "under" };
    format!("{preposition} {}", key.condition)
}

/// The directory of a run that is shown and not kept; removed when this is dropped.
#[derive(Debug)]
pub(super) struct Discarded(pub PathBuf);

impl Discarded {
    /// Makes a new directory below `dir`.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn new(dir: &Path) -> Result<Discarded> {
        let path = dir.join(format!("unixmark-unkept-{}", std::process::id()));
        files::make_private_directory(&path)
            .with_context(|| format!("{} cannot be made; try --dir DIR", path.display()))?;
        Ok(Discarded(path))
    }
}

impl Drop for Discarded {
    fn drop(&mut self) {
        let _ = files::remove_tree(&self.0);
    }
}
