//! `unixmark compare RUN RUN …`.

mod again;
mod systems;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};

use crate::limits::Limit;
use crate::options::{Form, Redact, Results, percent};
use crate::reports::{find, is_own, power_beside, put_among_runs};
use crate::status::{Status, usage};
use crate::terminal::{print, say, say_left_out};
use ::report::Subject;
use analysis::{self, Asked, Comparison, Comparisons, Design, Gate, Outcome, Second, Suspect, Verdict};
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The runs; each is compared with the first, which is A
    #[arg(required_unless_present = "base", num_args = 1.., value_name = "RUN")]
    runs: Vec<String>,
    /// Runs of the reference system (A), instead of RUN …; if there are several, each forms a round with one of
    /// --changed
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "changed", conflicts_with_all = ["runs", "paired"])]
    base: Vec<String>,
    /// Runs of the changed system (B), as many as --base has
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "base")]
    changed: Vec<String>,
    /// The runs alternate, A1 B1 A2 B2 …: each A is the changed system, each B the reference
    ///
    /// Every delta then compares A with B, (A − B) ÷ B, and is negative if A is worse. Adds the tables of Nitzberg's
    /// thesis of 1994 on what auditing costs: Delta-1 and Delta-2 of each test, how much they differ (Delta-3), and
    /// which tests lose more than the threshold.
    #[arg(long)]
    paired: bool,
    /// Compare the first run's (every A's) cells under condition X with the others' cells under condition Y, such as
    /// none,audit=all; a single run is compared with itself
    #[arg(long, value_name = "X,Y", value_parser = conditions)]
    conditions: Option<[String; 2]>,
    /// Ignore differences smaller than this (deadlines met: in percentage points)
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    threshold: f64,
    /// Exit with status 1 if anything is significantly slower or worse by at least this much (5%), exceeds a limit of a
    /// count (syscalls:0,rss:5%), or is missing
    ///
    /// Energy counts where both runs have it. What merely differs between two runs fails only with --confirm, or with
    /// three earlier runs like them.
    #[arg(long, value_name = "PERCENT|COUNT:LIMIT,…", value_delimiter = ',')]
    fail_on: Vec<Limit>,
    /// Exit with status 4 if a loss of that size is neither shown nor ruled out: too few trials, or too much noise
    #[arg(long, requires = "fail_on")]
    strict_gate: bool,
    /// Two runs made later: a loss fails only if it appears in them too
    #[arg(long, value_name = "RUN", num_args = 1..=2, requires = "fail_on", conflicts_with = "paired")]
    confirm: Vec<String>,
    /// One table with a column for each run, best and worst marked and ranked only where intervals separate them
    #[arg(long, conflicts_with_all = ["paired", "base"])]
    side_by_side: bool,
    /// Sort the rows of --side-by-side by test, by spread (largest first), or by a column, given as a run's letter or
    /// name (worst first)
    #[arg(long, value_name = "COLUMN", requires = "side_by_side")]
    sort: Option<String>,
    /// Show which facts go with the differences between the runs, as hints with the number of runs they rest on
    #[arg(long, conflicts_with = "paired")]
    why: bool,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    redact: Redact,
    #[command(flatten)]
    results: Results,
}

/// Reads two conditions; `+` joins those of one cell, so a comma can only stand between.
fn conditions(text: &str) -> Result<[String; 2]> {
    match text.split(',').map(str::trim).collect::<Vec<&str>>()[..] {
        [first, second] if !first.is_empty() && !second.is_empty() => Ok([first.to_owned(), second.to_owned()]),
        _ => bail!("'{text}' is not two conditions; try none,audit=all"),
    }
}

impl Arguments {
    /// The runs in the order of their letters, and how they were made: of those that are named by their sides the
    /// reference is A.
    fn sides(&self) -> (Vec<String>, Design) {
        let named = || self.base.iter().zip(&self.changed).flat_map(|(base, changed)| [base.clone(), changed.clone()]);
        match self.base.len() {
            0 if self.paired => (self.runs.clone(), Design::Rounds),
            0 => (self.runs.clone(), Design::Apart),
            1 => (named().collect(), Design::Apart),
            _ => (named().collect(), Design::Turns),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.base.len() != arguments.changed.len() {
        return Err(usage(anyhow!("--base and --changed name as many runs each: one each, or one each per round")));
    }
    let (time, counts) = Limit::split(&arguments.fail_on).map_err(usage)?;
    let (words, design) = arguments.sides();
    let asked = Asked { design, threshold: arguments.threshold, conditions: arguments.conditions.clone() };
    let runs = with_itself(&words, &asked);
    check_count(&runs, design.is_in_turn()).map_err(usage)?;
    let again = with_itself(&arguments.confirm, &asked);
    if !again.is_empty() && (runs.len(), again.len()) != (2, 2) {
        return Err(usage(anyhow!("--confirm compares two runs with two made later: A B --confirm A2 B2")));
    }
    let store = arguments.results.store()?;
    let names: Vec<String> = runs.iter().chain(&again).cloned().collect();
    let paths: Vec<PathBuf> = names.iter().map(|name| find(&store, name)).collect::<Result<_>>()?;
    check_distinct(&names, &paths, runs.len(), &asked).map_err(usage)?;
    let catalogue = Catalogue::load()?;
    let read = |path: &PathBuf| Ok(analysis::Results::new(&arguments.redact.read(path)?, &catalogue, None));
    let mut results = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    check_conditions(&results, &names, runs.len(), &asked).map_err(usage)?;
    if !asked.is_paired() {
        let name = |path: &PathBuf| journal::first_line(&journal::journal_file(path)).map(|run| run.name);
        let compared: Vec<String> = paths.iter().filter_map(name).collect();
        paths.iter().zip(&mut results).for_each(|(path, run)| put_among_runs(run, path, &catalogue, &compared));
    }
    let later = results.split_off(runs.len());
    let own: Vec<bool> = paths.iter().take(runs.len()).map(|path| is_own(&store, path)).collect();
    let quoted = paths.first().zip(results.first()).and_then(|(path, run)| power_beside(path, &run.run, &catalogue));
    let mut comparisons = Comparisons::new(results, &asked);
    comparisons.notes.extend(quoted);
    if arguments.why {
        comparisons.ask_why(&catalogue);
    }
    let second = (!later.is_empty()).then(|| Comparisons::new(later, &asked));
    let is_strict = arguments.strict_gate;
    let gate = (!arguments.fail_on.is_empty()).then(|| Gate {
        is_strict,
        counts: comparisons.judged(&counts),
        // No loss of time is too large where only counts have limits.
        ..comparisons.gate(time.unwrap_or(f64::INFINITY), second.as_ref())
    });
    let subject = match arguments.side_by_side {
        true => Subject::Systems(&comparisons, systems::order(&comparisons, arguments)?),
        false => Subject::Comparison(&comparisons, gate.as_ref()),
    };
    print(&::report::render(subject, arguments.form.layout())?)?;
    say_left_out(&::report::left_out(subject, arguments.form.format)?);
    if let Some(second) = &second {
        let warnings = second.warnings.iter().map(|warning| format!("second look: {warning}"));
        warnings.chain(comparisons.doubts(second)).for_each(|warning| say(&format!("warning: {warning}")));
    }
    Ok(status(&comparisons, gate.as_ref(), arguments, &own))
}

/// A single run under two conditions is compared with itself.
fn with_itself(runs: &[String], asked: &Asked) -> Vec<String> {
    match (runs, &asked.conditions) {
        ([one], Some(_)) => vec![one.clone(), one.clone()],
        _ => runs.to_vec(),
    }
}

/// Two runs at least; whole rounds of runs that alternated.
fn check_count(runs: &[String], paired: bool) -> Result<()> {
    match (paired, runs.len()) {
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

/// The condition that is asked for of the run at a place; those of a second look have the same.
fn condition(asked: &Asked, place: usize, runs: usize) -> Option<&String> {
    asked.condition(place % runs.max(1))
}

/// A run is compared with itself only under another condition.
fn check_distinct(names: &[String], paths: &[PathBuf], runs: usize, asked: &Asked) -> Result<()> {
    let mut known: Vec<((PathBuf, Option<&String>), &String)> = Vec::new();
    for (place, (name, path)) in names.iter().zip(paths).enumerate() {
        // The journal itself may be named.
        let path = journal::journal_file(path);
        let path = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
        let side = (path, condition(asked, place, runs));
        if let Some((_, other)) = known.iter().find(|(one, _)| *one == side) {
            bail!("'{other}' and '{name}' are the same run; name another, for example latest~1");
        }
        known.push((side, name));
    }
    Ok(())
}

/// Every run has a cell under its condition.
fn check_conditions(results: &[analysis::Results], names: &[String], runs: usize, asked: &Asked) -> Result<()> {
    for (place, (run, name)) in results.iter().zip(names).enumerate() {
        let Some(wanted) = condition(asked, place, runs) else { return Ok(()) };
        let gaps = run.skipped.iter().chain(&run.errors).map(|gap| &gap.key.condition);
        let mut known: Vec<&String> = run.figures.iter().map(|row| &row.cell.key.condition).chain(gaps).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&wanted) {
            let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
            bail!("'{name}' has no cell under the condition '{wanted}'; it has: {}", known.join(", "));
        }
    }
    Ok(())
}

/// A gate is closed by significant losses of that size that no second look clears, by cells that are missing, and if
/// nothing could be compared at all.
fn status(comparisons: &Comparisons, gate: Option<&Gate>, arguments: &Arguments, own: &[bool]) -> Status {
    for line in gate.map_or(Vec::new(), |gate| sentences(comparisons, gate)) {
        say(&format!("unixmark: {line}"));
    }
    if let Some(gate) = gate.filter(|gate| arguments.confirm.is_empty() && !gate.suspects.is_empty()) {
        say(&format!("unixmark: {}", again::advice(comparisons, gate, arguments, own)));
    }
    let unseen = gate.and_then(|gate| gate.unseen);
    unseen.iter().for_each(|unseen| say(&format!("unixmark: {unseen}")));
    let counts = gate.iter().flat_map(|gate| &gate.counts).filter(|(outcome, _)| *outcome != Outcome::Passed);
    counts.clone().for_each(|(_, sentence)| say(&format!("unixmark: {sentence}")));
    match gate.map(Gate::outcome) {
        Some(Outcome::Failed) => Status::Failed,
        _ if arguments.strict_gate && (unseen.is_some() || counts.count() > 0) => Status::Unseen,
        Some(Outcome::Undecided) => Status::Nothing,
        // Others of several systems may share what the first has not.
        _ if comparisons.comparisons.is_empty() && !arguments.side_by_side => {
            say(&format!("unixmark: these runs have no test in common{}", apart(comparisons, arguments)));
            Status::Nothing
        }
        _ => Status::Fine,
    }
}

/// Returns the end of that sentence if only conditions keep the cells of two runs apart: the command that compares
/// them.
fn apart(comparisons: &Comparisons, arguments: &Arguments) -> String {
    let [first, second] = &comparisons.runs[..] else { return String::new() };
    let condition = |run: &analysis::Compared| {
        let mut names: Vec<String> = run.results.figures.iter().map(|row| row.cell.key.condition.clone()).collect();
        names.dedup();
        <[String; 1]>::try_from(names).ok()
    };
    let (Some([one]), Some([other])) = (condition(first), condition(second)) else { return String::new() };
    let is_shared =
        |row: &analysis::Figure| second.results.figures.iter().any(|there| there.cell.key.same_family(&row.cell.key));
    if one == other || arguments.conditions.is_some() || !first.results.figures.iter().any(is_shared) {
        return String::new();
    }
    let runs = words::shell(&arguments.sides().0);
    format!(": only their conditions differ; try `unixmark compare {runs} --conditions {one},{other}`")
}

/// Returns the findings of the gate, a line each.
fn sentences(comparisons: &Comparisons, gate: &Gate) -> Vec<String> {
    let mut lines: Vec<String> = gate.suspects.iter().map(|one| suspect(comparisons, one)).collect();
    for lost in &gate.lost {
        let cell = &lost.cell;
        let measure = lost.measure.map_or(String::new(), |measure| format!("{}, ", measure.name()));
        let at = (cell.key.copies, cell.key.load.as_str(), comparisons.condition(&cell.key.condition));
        lines.push(format!("{} ({measure}{}) is missing: {}", cell.key.test, cell_place(at), lost.reason));
    }
    let others = comparisons.missing.len() - gate.lost.len();
    if others > 0 {
        lines.push(format!("{} could not be compared: ignored", words::count(others, "other cell")));
    }
    lines
}

fn suspect(comparisons: &Comparisons, suspect: &Suspect) -> String {
    let loss = sentence(comparisons, &suspect.first);
    let look = |second: &Comparison| {
        let change = second.change();
        format!("{:+.1} {} ({:+.1} to {:+.1})", change.value, second.measure.delta_unit(), change.low, change.high)
    };
    match &suspect.second {
        None if suspect.stands() => loss,
        None => format!("{loss}; any two runs can differ like this, so it passes"),
        Some(Second::Again(second)) => format!("{loss}, and again in the second look: {}", look(second)),
        Some(Second::Gone(second)) => format!("{loss}, but not in the second look, so it passes: {}", look(second)),
        Some(Second::Missing) => {
            let so = if suspect.stands() { "" } else { ", so it passes" };
            format!("{loss}, and the second look is inconclusive: it needs two trials in each run{so}")
        }
    }
}

fn sentence(comparisons: &Comparisons, loss: &Comparison) -> String {
    let key = &loss.cell.key;
    let at = cell_place((key.copies, &key.load, comparisons.condition(&key.condition)));
    let found = match loss.verdict {
        Verdict::Differs => "is worse (\"differs between the runs\")".to_owned(),
        verdict => format!("is {}", verdict.word()),
    };
    let (size, unit) = (loss.change().value.abs(), loss.measure.delta_unit());
    format!("{} ({}, {at}) {found} in {} by {size:.1} {unit}", key.test, loss.measure.name(), loss.run)
}

fn cell_place((copies, load, condition): (u32, &str, &str)) -> String {
    format!("{}, load {load}, condition {condition}", words::copies(copies))
}
