//! `unixmark compare RUN RUN …`.

mod again;
mod pooled;
mod systems;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::limits::{Limit, Limits};
use crate::options::{self, Form, Redact, check_directions, percent};
use crate::reports::{find, is_own, power_beside, put_among_runs};
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::Subject;
use analysis::{
    Asked, Better, Compared, Comparison, Comparisons, Design, Figure, Gate, NotCompared, Outcome,
    Results, Second, Suspect, Verdict, ask_direction,
};
use catalogue::Catalogue;
use journal::{Key, Procedure};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The runs; each is compared with the first, which is A
    #[arg(required_unless_present = "base", num_args = 1.., value_name = "RUN")]
    runs: Vec<String>,
    /// Runs of the reference system (A), instead of RUN …; if there are several, each forms a round
    /// with one of --changed
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "changed", conflicts_with_all = ["runs", "paired"])]
    base: Vec<String>,
    /// Runs of the changed system (B), as many as --base has
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "base")]
    changed: Vec<String>,
    /// The runs alternate, A1 B1 A2 B2 …: each A is the changed system, each B the reference
    ///
    /// Every delta then compares A with B, (A − B) ÷ B, and is negative if A is worse. Adds the
    /// tables of Nitzberg's thesis of 1994 on what auditing costs: Delta-1 and Delta-2 of each
    /// test, how much they differ (Delta-3), and which tests lose more than the threshold.
    #[arg(long)]
    paired: bool,
    /// Compare the first run's (every A's) cells under condition X with the others' cells under
    /// condition Y, such as none,audit=all; a single run is compared with itself
    #[arg(long, value_name = "X,Y", value_parser = conditions)]
    conditions: Option<[String; 2]>,
    /// Ignore differences smaller than this (deadlines met: in percentage points)
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    threshold: f64,
    /// Exit with status 1 if anything is significantly slower or worse by at least this much (5%),
    /// exceeds a limit of a count (syscalls:0,rss:5%), or is missing
    ///
    /// Energy counts where both runs have it. What merely differs between two runs fails only with
    /// --confirm, or with three earlier runs like them.
    #[arg(long, value_name = "PERCENT|COUNT:LIMIT,…", value_delimiter = ',')]
    fail_on: Vec<Limit>,
    /// Exit with status 4 if a loss of that size is neither shown nor ruled out: too few trials, or
    /// too much noise
    #[arg(long, requires = "fail_on")]
    strict_gate: bool,
    /// Say which direction of a figure of another benchmark is better, where its unit does not: its
    /// name or its unit, as in higher:tps
    #[arg(long, value_name = "higher|lower:NAME")]
    better: Vec<Better>,
    /// Two runs made later: a loss fails only if it appears in them too
    #[arg(long, value_name = "RUN", num_args = 1..=2, requires = "fail_on", conflicts_with = "paired")]
    confirm: Vec<String>,
    /// One table with a column for each run, best and worst marked and ranked only where intervals
    /// separate them
    #[arg(long, conflicts_with_all = ["paired", "base"])]
    side_by_side: bool,
    /// Sort the rows of --side-by-side by test, by spread (largest first), or by a column, given as
    /// a run's letter or name (worst first)
    #[arg(long, value_name = "COLUMN", requires = "side_by_side")]
    sort: Option<String>,
    /// One answer of runs of `ab` or `cost` that made the same comparison on several machines: the
    /// mean over machines like these, and how far they are apart
    #[arg(
        long,
        conflicts_with_all = ["paired", "base", "conditions", "confirm", "side_by_side", "why", "better"]
    )]
    pool: bool,
    /// Show which facts go with the differences between the runs, as hints with the number of runs
    /// they rest on
    #[arg(long, conflicts_with = "paired")]
    why: bool,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    redact: Redact,
    #[command(flatten)]
    results: options::Results,
}

/// Reads two conditions; `+` joins those of one cell, so a comma can only stand between.
fn conditions(text: &str) -> Result<[String; 2]> {
    match text.split(',').map(str::trim).collect::<Vec<&str>>()[..] {
        [first, second] if !first.is_empty() && !second.is_empty() => {
            Ok([first.to_owned(), second.to_owned()])
        }
        _ => bail!("'{text}' is not two conditions; try none,audit=all"),
    }
}

impl Arguments {
    /// The runs in the order of their letters, and how they were made: of those that are named by
    /// their sides the reference is A.
    fn sides(&self) -> (Vec<String>, Design) {
        if self.base.is_empty() {
            let design = if self.paired { Design::Rounds } else { Design::Apart };
            return (self.runs.clone(), design);
        }

        let mut names = Vec::new();
        for (base, changed) in self.base.iter().zip(&self.changed) {
            names.extend([base.clone(), changed.clone()]);
        }
        let design = if self.base.len() == 1 { Design::Apart } else { Design::Turns };
        (names, design)
    }
}

/// What the command line asks for, once its words are known to fit together.
struct Request {
    /// The runs to compare, in the order of their letters.
    runs: Vec<String>,
    /// The two runs of the second look, or none.
    later: Vec<String>,
    asked: Asked,
}

impl Request {
    fn new(arguments: &Arguments) -> Result<Request> {
        if arguments.base.len() != arguments.changed.len() {
            bail!(
                "--base and --changed must name equally many runs; give each one, or one for each round"
            );
        }

        let (names, design) = arguments.sides();
        let asked = Asked {
            design,
            threshold: arguments.threshold,
            conditions: arguments.conditions.clone(),
        };
        let runs = with_itself(&names, &asked);
        check_count(runs.len(), design.is_by_round())?;

        let later = with_itself(&arguments.confirm, &asked);
        if !later.is_empty() && (runs.len(), later.len()) != (2, 2) {
            bail!(
                "--confirm needs two runs and two made later; try `unixmark compare A B --confirm A2 B2`"
            );
        }
        Ok(Request { runs, later, asked })
    }

    /// Every run that is read: those of the second look come last.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.runs.iter().chain(&self.later)
    }

    /// The condition that is asked for of a run of `names`; those of the second look have the same.
    fn condition(&self, place: usize) -> Option<&String> {
        self.asked.condition(place % self.runs.len().max(1))
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.pool {
        return pooled::run(arguments);
    }

    let limits = Limit::split(&arguments.fail_on).and_then(Limits::without_tail).map_err(usage)?;
    let request = Request::new(arguments).map_err(usage)?;
    let store = arguments.results.store()?;
    let paths = request.names().map(|name| find(&store, name)).collect::<Result<Vec<_>>>()?;
    check_distinct(&request, &paths).map_err(usage)?;

    let catalogue = Catalogue::load()?;
    let mut results = read_results(&request, &paths, arguments, &catalogue)?;
    let later_results = results.split_off(request.runs.len());
    let power_note = match (paths.first(), results.first()) {
        (Some(path), Some(first)) => power_beside(path, &first.run, &catalogue),
        _ => None,
    };

    let mut comparisons = Comparisons::new(results, &request.asked);
    comparisons.notes.extend(power_note);
    if arguments.why {
        comparisons.ask_why(&catalogue);
    }
    let second_look =
        (!later_results.is_empty()).then(|| Comparisons::new(later_results, &request.asked));

    let gate = (!arguments.fail_on.is_empty()).then(|| Gate {
        is_strict: arguments.strict_gate,
        counts: comparisons.judge_counts(&limits.counts),
        // No loss of time is too large where only counts have limits.
        ..comparisons.gate(limits.time.unwrap_or(f64::INFINITY), second_look.as_ref())
    });

    let subject = match arguments.side_by_side {
        true => Subject::Systems(&comparisons, systems::order(&comparisons, arguments)?),
        false => Subject::Comparison(&comparisons, gate.as_ref()),
    };
    print(&::report::render(subject, arguments.form.layout())?)?;

    if let Some(second_look) = &second_look {
        say_doubts(&comparisons, second_look);
    }
    let Some(gate) = &gate else {
        return Ok(status_without_gate(&comparisons, arguments));
    };
    let runs = &paths[..request.runs.len()];
    let is_own: Vec<bool> = runs.iter().map(|path| is_own(&store, path)).collect();
    say_findings(&comparisons, gate, arguments, &is_own);
    Ok(status_of_gate(&comparisons, gate, arguments))
}

/// Reads every run, and places each among the other runs of its results directory, without those
/// that are compared. Runs that were made in rounds are not placed: they are compared with each
/// other alone.
fn read_results(
    request: &Request,
    paths: &[PathBuf],
    arguments: &Arguments,
    catalogue: &Catalogue,
) -> Result<Vec<Results>> {
    let mut results = Vec::new();
    for path in paths {
        results.push(Results::new(&arguments.redact.read(path)?, catalogue, None));
    }
    check_conditions(request, &results).map_err(usage)?;

    check_directions(&arguments.better).map_err(usage)?;
    for better in &arguments.better {
        give_direction(better, &mut results).map_err(usage)?;
    }

    if !request.asked.is_paired() {
        // From the journals, since redacted results lack the runs' names.
        let read_run = |path| journal::read_run(&journal::journal_file(path));
        let compared_names: Vec<String> =
            paths.iter().filter_map(|path| Some(read_run(path)?.name)).collect();
        for (path, run) in paths.iter().zip(&mut results) {
            put_among_runs(run, path, catalogue, &compared_names);
        }
    }
    Ok(results)
}

/// Gives the figures of a name or a unit their direction.
///
/// # Errors
/// No run has such a figure.
fn give_direction(better: &Better, results: &mut [Results]) -> Result<()> {
    let mut is_known = false;
    for run in results {
        is_known |= better.apply_to(run);
    }
    if is_known {
        return Ok(());
    }
    bail!(better.describe_unknown("these runs"))
}

/// A single run under two conditions is compared with itself.
fn with_itself(runs: &[String], asked: &Asked) -> Vec<String> {
    match (runs, &asked.conditions) {
        ([run], Some(_)) => vec![run.clone(), run.clone()],
        _ => runs.to_vec(),
    }
}

/// Two runs at least; whole rounds of runs that alternated.
fn check_count(runs: usize, is_by_round: bool) -> Result<()> {
    match (is_by_round, runs) {
        (false, 0..=1) => bail!("a comparison needs two runs; `unixmark list runs` shows them"),
        (true, 0..=1) => bail!(
            "--paired takes rounds of two runs, the changed system first: A1 B1 A2 B2; six rounds or more give exact intervals"
        ),
        (true, count) if !count.is_multiple_of(2) => {
            bail!("--paired takes whole rounds, A1 B1 A2 B2; {count} is an odd number of runs")
        }
        _ => Ok(()),
    }
}

/// A run is compared with itself only under another condition.
fn check_distinct(request: &Request, paths: &[PathBuf]) -> Result<()> {
    let mut sides: Vec<(PathBuf, Option<&String>, &String)> = Vec::new();
    for (place, (name, path)) in request.names().zip(paths).enumerate() {
        // The journal itself may be named.
        let path = journal::journal_file(path);
        let path =
            path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
        let condition = request.condition(place);

        let same = sides.iter().find(|side| (&side.0, side.1) == (&path, condition));
        if let Some((.., other_name)) = same {
            bail!(
                "'{other_name}' and '{name}' are the same run; name another, for example latest~1"
            );
        }
        sides.push((path, condition, name));
    }
    Ok(())
}

/// Every run has a cell under its condition.
fn check_conditions(request: &Request, results: &[Results]) -> Result<()> {
    for (place, (run, name)) in results.iter().zip(request.names()).enumerate() {
        let Some(wanted) = request.condition(place) else {
            return Ok(());
        };

        let measured = run.figures.iter().map(|figure| &figure.cell.key);
        let not_measured = run.skipped.iter().chain(&run.errors).map(|gap| &gap.key);
        let mut conditions: Vec<&str> =
            measured.chain(not_measured).map(|key| key.condition.as_str()).collect();
        conditions.sort_unstable();
        conditions.dedup();
        if !conditions.contains(&wanted.as_str()) {
            bail!(
                "'{name}' has no cell under the condition '{wanted}'; it has: {}",
                conditions.join(", ")
            );
        }
    }
    Ok(())
}

/// Says what makes the two looks hard to compare.
fn say_doubts(comparisons: &Comparisons, second_look: &Comparisons) {
    for warning in &second_look.warnings {
        say(&format!("warning: second look: {warning}"));
    }
    for doubt in comparisons.doubts(second_look) {
        say(&format!("warning: {doubt}"));
    }
}

/// Says why the gate is closed, or may be, and what to do about it.
fn say_findings(comparisons: &Comparisons, gate: &Gate, arguments: &Arguments, is_own: &[bool]) {
    for finding in findings(comparisons, gate) {
        say(&format!("unixmark: {finding}"));
    }

    // Another suite's figures are not measured again here.
    let is_imported =
        comparisons.runs.iter().any(|run| run.results.run.procedure == Procedure::Imported);
    if !gate.suspects.is_empty() && arguments.confirm.is_empty() && !is_imported {
        let advice = again::advice(comparisons, gate, arguments, is_own);
        say(&format!("unixmark: {advice}"));
    }

    if let Some(unseen) = &gate.unseen {
        say(&format!("unixmark: {unseen}"));
    }
    if !gate.undirected.is_empty() {
        say(&format!("unixmark: {}", ask_direction(&gate.undirected)));
    }
    for (_, sentence) in exceeded_counts(gate) {
        say(&format!("unixmark: {sentence}"));
    }
}

fn exceeded_counts(gate: &Gate) -> impl Iterator<Item = &(Outcome, String)> {
    gate.counts.iter().filter(|(outcome, _)| *outcome != Outcome::Passed)
}

/// The printed figures that failed where the gate would need a value to judge another run's.
fn failed_figures(comparisons: &Comparisons) -> impl Iterator<Item = &NotCompared> {
    let has_failed = |gap: &&NotCompared| {
        let mut errors = comparisons.runs.iter().flat_map(|run| &run.results.errors);
        errors.any(|error| {
            error.printed && error.key == gap.cell.key && error.label == gap.cell.label
        })
    };
    comparisons.missing.iter().filter(|gap| !gap.lost).filter(has_failed)
}

/// A gate is closed by significant losses of that size that no second look clears, by cells that
/// are missing, and if nothing could be compared at all.
fn status_of_gate(comparisons: &Comparisons, gate: &Gate, arguments: &Arguments) -> Status {
    let is_open = gate.unseen.is_some()
        || !gate.undirected.is_empty()
        || exceeded_counts(gate).next().is_some()
        || failed_figures(comparisons).next().is_some();
    match gate.outcome() {
        Outcome::Failed => Status::Failed,
        _ if arguments.strict_gate && is_open => Status::Unseen,
        Outcome::Undecided => Status::Nothing,
        // A gate that has nothing to judge is no proof.
        _ if arguments.strict_gate && comparisons.comparisons.is_empty() => Status::Unseen,
        _ => status_without_gate(comparisons, arguments),
    }
}

fn status_without_gate(comparisons: &Comparisons, arguments: &Arguments) -> Status {
    // Others of several systems may share what the first has not.
    if !comparisons.comparisons.is_empty() || arguments.side_by_side {
        return Status::Fine;
    }

    let advice = match differing_conditions(comparisons) {
        Some([first, second]) if arguments.conditions.is_none() => {
            let runs = words::shell(&arguments.sides().0);
            format!(
                ": only their conditions differ; try `unixmark compare {runs} --conditions {first},{second}`"
            )
        }
        _ => String::new(),
    };
    say(&format!("unixmark: these runs have no test in common{advice}"));
    Status::Nothing
}

/// The conditions of two runs that have one each, if nothing else keeps their cells apart.
fn differing_conditions(comparisons: &Comparisons) -> Option<[&str; 2]> {
    let [first, second] = &comparisons.runs[..] else {
        return None;
    };
    let conditions = [only_condition(first)?, only_condition(second)?];

    let has_twin = |figure: &Figure| {
        let others = &second.results.figures;
        others.iter().any(|other| other.cell.key.same_family(&figure.cell.key))
    };
    let shares_a_test = first.results.figures.iter().any(has_twin);
    (conditions[0] != conditions[1] && shares_a_test).then_some(conditions)
}

fn only_condition(run: &Compared) -> Option<&str> {
    let mut conditions =
        run.results.figures.iter().map(|figure| figure.cell.key.condition.as_str());
    let first = conditions.next()?;
    conditions.all(|other| other == first).then_some(first)
}

/// The findings of the gate, a line each.
fn findings(comparisons: &Comparisons, gate: &Gate) -> Vec<String> {
    let mut lines = Vec::new();
    for suspect in &gate.suspects {
        lines.push(describe_suspect(comparisons, suspect));
    }

    for lost in &gate.lost {
        let measure = lost.measure.map_or(String::new(), |measure| format!("{}, ", measure.name()));
        lines.push(format!(
            "{} ({measure}{}) is missing: {}",
            lost.cell.key.test,
            cell_place(comparisons, &lost.cell.key),
            lost.reason
        ));
    }

    let mut others = comparisons.missing.len() - gate.lost.len();
    for failed in failed_figures(comparisons) {
        lines.push(format!("{} cannot be judged: {}", failed.cell.label, failed.reason));
        others -= 1;
    }
    if others > 0 {
        let cells = words::count(others, "other cell");
        lines.push(format!("{cells} could not be compared: ignored"));
    }
    lines
}

fn describe_suspect(comparisons: &Comparisons, suspect: &Suspect) -> String {
    let loss = describe_loss(comparisons, &suspect.first);
    match &suspect.second {
        None if suspect.stands() => loss,
        None => format!("{loss}; any two runs can differ like this, so it passes"),
        Some(Second::Again(second)) => {
            format!("{loss}, and again in the second look: {}", describe_change(second))
        }
        Some(Second::Gone(second)) => {
            format!("{loss}, but not in the second look, so it passes: {}", describe_change(second))
        }
        Some(Second::Missing) => {
            let so = if suspect.stands() { "" } else { ", so it passes" };
            format!(
                "{loss}, and the second look is inconclusive: it needs two trials in each run{so}"
            )
        }
    }
}

/// `+2.1 % (+1.3 to +2.9)`
fn describe_change(comparison: &Comparison) -> String {
    let change = comparison.change();
    let unit = comparison.measure.delta_unit();
    format!("{:+.1} {unit} ({:+.1} to {:+.1})", change.value, change.low, change.high)
}

fn describe_loss(comparisons: &Comparisons, loss: &Comparison) -> String {
    let key = &loss.cell.key;
    let found = match loss.verdict {
        Verdict::Differs => "is worse (\"differs between the runs\")".to_owned(),
        verdict => format!("is {}", verdict.word()),
    };
    let (size, ends) = loss.describe_loss();
    let by = match &size {
        _ if loss.is_factor() => ", ",
        size if size.starts_with("from") => " ",
        _ => " by ",
    };
    format!(
        "{} ({}, {}) {found} in {}{by}{size}{ends}",
        key.test,
        loss.measure.name(),
        cell_place(comparisons, key),
        loss.run
    )
}

/// `2 copies, load burn, condition none`
fn cell_place(comparisons: &Comparisons, key: &Key) -> String {
    let copies = words::copies(key.copies);
    let condition = comparisons.condition(&key.condition);
    format!("{copies}, load {}, condition {condition}", key.load)
}
