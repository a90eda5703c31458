//! `unixmark bisect`: the commit that made a command slower, and how certain that is.

mod revisions;

use std::ffi::OsString;
use std::io::IsTerminal;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::measuring::ab::comparison;
use crate::measuring::job::{conclude, measure};
use crate::measuring::options::{Commands, MatrixOptions, with_default};
use crate::measuring::terminal::Loudness;
use crate::status::{Status, usage};
use crate::terminal::{print_words, say};
use analysis::{Comparison, Measure, Next, Search, Span, Verdict};
use catalogue::{Catalogue, Command};
use conditions::Experiment;
use machine::Machine;
use measure::{Measured, Setup};
use revisions::Revisions;
use runner::Supervisor;
use stats::Estimate;
use words::signed_fine;

/// The smallest width of an interval that is asked for, whatever the ends differ by.
const LEAST: f64 = 0.001;

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("budget", |arg| with_default(arg, "1m for each comparison")),
    mut_arg("build", |arg| arg.long("programs")),
    mut_arg("command_name", |arg| arg.hide(true)),
    mut_arg("export_json", |arg| arg.hide(true)),
    mut_arg("export_markdown", |arg| arg.hide(true)),
    mut_arg("export_csv", |arg| arg.hide(true))
)]
pub(crate) struct Arguments {
    /// A revision that is fast
    #[arg(long, value_name = "REV")]
    good: String,
    /// A later revision that is slow
    #[arg(long, value_name = "REV")]
    bad: String,
    /// Build each revision with this command, in a checkout of its own; where it fails, the revision is skipped
    #[arg(long = "build", value_name = "COMMAND")]
    build_command: Option<String>,
    /// The command to measure; it runs in each checkout, in the directory that corresponds to the current one
    #[arg(last = true, required = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.commands.is_named() || !arguments.commands.exports().is_empty() {
        let why = "--command-name and --export-… are not for bisect; leave them out: each comparison is kept as a run";
        return Err(usage(anyhow!(why)));
    }
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let setup = arguments.options.measuring.setup(&machine)?;
    let command = Commands::from_words(&arguments.words).map_err(usage)?;
    let mut supervisor = Supervisor::new(&machine, setup.patience, &setup.dir, None, Experiment::passive())?;
    let ends = (&*arguments.good, &*arguments.bad);
    let revisions = Revisions::find(&mut supervisor, ends, arguments.build_command.as_deref()).map_err(usage)?;
    let mut bisection = Bisection { arguments, catalogue: &catalogue, machine: &machine, setup, command, revisions };
    let searched = bisection.search();
    match bisection.revisions.signal() {
        Some(number) => {
            say(&format!("unixmark: interrupted (signal {number}); the comparisons made so far are kept"));
            Ok(Status::Signal(number))
        }
        None => searched,
    }
}

/// A search for a commit.
struct Bisection<'a, 'm> {
    arguments: &'a Arguments,
    catalogue: &'a Catalogue,
    machine: &'a Machine,
    setup: Setup,
    command: Command,
    revisions: Revisions<'a, 'm>,
}

impl Bisection<'_, '_> {
    fn search(&mut self) -> Result<Status> {
        let last = self.revisions.commits.len() - 1;
        let mut search = Search::new(last);
        let count = words::count(last, "commit");
        say(&format!("{count} to search; about {} comparisons", 2 + last.ilog2() + u32::from(last > 1)));
        if self.arguments.options.measuring.dry_run {
            return Ok(Status::Fine);
        }
        let mut shown = self.compare(&[0, last], None)?;
        let whole = self.comparison(&shown, last)?.clone();
        self.check_ends(&whole)?;
        search.add((0, last), whole.change());
        let span = loop {
            match search.next() {
                Next::Halve(revision) => self.halve(&mut search, revision)?,
                Next::Confirm(Span { before, after }) => {
                    let unusable: Vec<usize> =
                        [before, after].into_iter().filter(|end| self.revisions.folder(*end).is_err()).collect();
                    if unusable.is_empty() {
                        shown = self.compare(&[before, after], None)?;
                        search.add((before, after), self.comparison(&shown, after)?.change());
                    }
                    for end in unusable {
                        self.skip(&mut search, end)?;
                    }
                }
                Next::End(span) => break span,
            }
        };
        let change = self.comparison(&shown, span.after).ok().map(Comparison::change);
        print_words(&self.answer(&search, span, change))?;
        conclude(&shown, &[], self.arguments.options.measuring.loudness(), self.arguments.options.measuring.format)?;
        Ok(if search.is_certain(span) { Status::Fine } else { Status::Failed })
    }

    /// Compares a revision with both ends, narrowly enough to tell which of them it is like.
    fn halve(&mut self, search: &mut Search, revision: usize) -> Result<()> {
        let last = self.revisions.commits.len() - 1;
        if self.revisions.folder(revision).is_err() {
            return self.skip(search, revision);
        }
        let measured = self.compare(&[0, revision, last], Some((search.change() / 2.0).max(LEAST)))?;
        let changes = [revision, last].map(|end| self.comparison(&measured, end).map(Comparison::change));
        let [Ok(own), Ok(whole)] = changes else {
            let [own, whole] = changes;
            let error = own.and(whole).err().unwrap_or_else(|| anyhow!("nothing was measured"));
            say(&format!("{} is skipped: {error:#}", self.revisions.commits[revision]));
            search.skip(revision);
            return Ok(());
        };
        search.add((0, revision), own);
        search.add((0, last), whole);
        let is_slow = own.value > 100.0 * search.change() / 2.0;
        let word = if is_slow { "slow" } else { "fast" };
        let commit = &self.revisions.commits[revision];
        say(&format!("{commit} is {word}: {}, of {} % in all", range(own), size(whole.value)));
        Ok(())
    }

    /// Leaves out a revision that could not be built.
    fn skip(&mut self, search: &mut Search, revision: usize) -> Result<()> {
        let Err(why) = self.revisions.folder(revision) else { return Ok(()) };
        ensure!(self.revisions.signal().is_none(), why);
        say(&format!("{} is skipped: {why}", self.revisions.commits[revision]));
        search.skip(revision);
        Ok(())
    }

    /// Executes the command in the checkouts of some revisions in turn; the first is what the others are compared with.
    fn compare(&mut self, revisions: &[usize], precision: Option<f64>) -> Result<Measured> {
        let mut arms = Vec::new();
        for revision in revisions {
            let folder = self.revisions.folder(*revision).map_err(|why| {
                anyhow!(
                    "{} cannot be built: {why}; try that by hand, or another revision",
                    self.revisions.commits[*revision]
                )
            })?;
            let label = self.revisions.commits[*revision].name.clone();
            arms.push(Command { label, folder: Some(folder), ..self.command.clone() });
        }
        let Arguments { commands, options, .. } = self.arguments;
        let (test, names) = commands.in_turn(self.catalogue, arms, [false; 2]).map_err(usage)?;
        let mut ask = comparison(self.catalogue, (test, &names), (commands, options)).map_err(usage)?;
        let effort = &mut ask.matrix.procedure.effort;
        effort.precision = precision.or(effort.precision);
        let prepared = measure::prepare(ask, self.catalogue, self.machine).map_err(usage)?;
        let setup = Setup { comment: format!("bisect: {}", names.join(", ")), ..self.setup.clone() };
        // A line for each block would hide the answers; on a terminal it is one that changes.
        let loudness = match options.measuring.loudness() {
            Loudness::Normal if !std::io::stderr().is_terminal() => Loudness::Quiet,
            loudness => loudness,
        };
        let (measured, kept) = measure(&prepared, &setup, loudness)?;
        kept?;
        ensure!(measured.signal().is_none(), "it was interrupted");
        Ok(measured)
    }

    /// Returns the time of a revision compared with the first of a run.
    fn comparison<'r>(&self, measured: &'r Measured, revision: usize) -> Result<&'r Comparison> {
        let name = &self.revisions.commits[revision].name;
        let conditions = measured.results.cost().into_iter().flat_map(|cost| &cost.conditions);
        let mut effects = conditions.filter(|one| one.name == *name).flat_map(|one| &one.effects);
        let found = effects.find(|effect| effect.comparison.measure == Measure::Score);
        let gap = || measured.results.errors.first().or(measured.results.skipped.first());
        found
            .map(|effect| &effect.comparison)
            .with_context(|| gap().map_or_else(|| "nothing was measured".to_owned(), |gap| gap.reason.clone()))
    }

    /// Checks that the bad end is slower than the good one, and says by how much.
    fn check_ends(&self, whole: &Comparison) -> Result<()> {
        let commits = &self.revisions.commits;
        let (good, bad) = (&commits[0], &commits[commits.len() - 1]);
        let change = range(whole.change());
        match whole.verdict {
            Verdict::Slower => say(&format!("{bad} is slower than {good} by {change}")),
            Verdict::Faster => bail!(
                "{bad} is not slower than {good} but faster, by {change}: nothing to search for; try other revisions"
            ),
            Verdict::Same(within) => bail!(
                "{bad} takes as long as {good} within {} %: nothing to search for; try an older --good, or a smaller --precision",
                words::at_least(within)
            ),
            _ => bail!(
                "{bad} cannot be told from {good}: {change}; try a longer --budget, a smaller --precision, or an older --good"
            ),
        }
        Ok(())
    }

    /// Returns which commits it is, how certain that is, and how likely those beside them are.
    fn answer(&self, search: &Search, span: Span, change: Option<Estimate>) -> String {
        let (commits, chances) = (&self.revisions.commits, search.chances());
        let sure = if search.is_certain(span) { "" } else { "most likely " };
        let percent = |chance: f64| match (1000.0 * chance).round() / 10.0 {
            100.0 => "more than 99.9 %".to_owned(),
            0.0 => "less than 0.1 %".to_owned(),
            percent => format!("{percent} %"),
        };
        let chance = percent(search.chance(span));
        let own = change.map_or(String::new(), |change| format!("{} of ", range(change)));
        let by = format!("by {own}{} % in all", size(100.0 * search.change()));
        let mut text = match &commits[span.before + 1..=span.after] {
            [only] => format!("{only} {sure}made it slower, {by}; {chance} certain\n"),
            several => {
                let list: String = several.iter().map(|commit| format!("  {commit}\n")).collect();
                format!(
                    "one of these {} commits {sure}made it slower, {by}; {chance} certain; some could not be measured, so they \
                     cannot be told apart\n{list}",
                    several.len()
                )
            }
        };
        if !search.is_certain(span) {
            text += "more than one commit may have made it slower; a longer --budget may tell\n";
        }
        for (side, neighbour) in [("before", Some(span.before)), ("after", Some(span.after + 1))] {
            let known = neighbour.filter(|commit| (1..commits.len()).contains(commit));
            text += &known.map_or(String::new(), |commit| {
                format!("chance that it was the commit {side}, {}: {}\n", commits[commit], percent(chances[commit - 1]))
            });
        }
        text
    }
}

/// Returns a change with its interval, in per cent.
fn range(change: Estimate) -> String {
    format!("{} % ({} to {})", size(change.value), size(change.low), size(change.high))
}

fn size(change: f64) -> String {
    signed_fine(change).trim_start_matches('+').to_owned()
}
