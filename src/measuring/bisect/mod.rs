//! `unixmark bisect`: the commit that made a command slower, and how certain that is.
//!
//! Both ends are compared first. Then [`Search`] names a revision to compare with both ends
//! ([`Bisection::halve`]), or a span of commits to confirm ([`Bisection::confirm`]), until it knows
//! one. [`Revisions`] checks revisions out and builds them.

mod revisions;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::measuring::ab::comparison_ask;
use crate::measuring::builds::folder_builds;
use crate::measuring::job::{conclude, measure_and_keep};
use crate::measuring::options::{
    Commands, Given, Manner, MatrixOptions, PrintedFigures, with_default,
};
use crate::measuring::terminal::Loudness;
use crate::status::{Status, usage};
use crate::terminal::{print_words, say};
use analysis::pairs::MIN_PAIRS;
use analysis::{Comparison, Measure, Next, Search, Span, Verdict};
use catalogue::{Catalogue, Command, MAX_BUILDS};
use conditions::Experiment;
use journal::Ended;
use machine::Machine;
use measure::{Measured, Setup};
use revisions::{Build, Revisions};
use runner::Supervisor;
use stats::Estimate;
use words::signed_fine;

/// The smallest width of an interval that is asked for, as a share, whatever the ends differ by.
const MIN_PRECISION: f64 = 0.001;

/// A refusal names at most this many figures.
const MAX_NAMED_FIGURES: usize = 5;

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("budget", |arg| with_default(arg, "1m for each comparison")),
    mut_arg("build", |arg| arg.long("programs")),
    mut_arg("quantile", |arg| arg.requires("harness")),
    mut_arg("command_name", |arg| arg.hide(true)),
    mut_arg("export_json", |arg| arg.hide(true)),
    mut_arg("export_markdown", |arg| arg.hide(true)),
    mut_arg("export_csv", |arg| arg.hide(true)),
    mut_arg("export_asciidoc", |arg| arg.hide(true)),
    mut_arg("export_orgmode", |arg| arg.hide(true))
)]
pub(crate) struct Arguments {
    /// A revision that is fast
    #[arg(long, value_name = "REV")]
    good: String,
    /// A later revision that is slow
    #[arg(long, value_name = "REV")]
    bad: String,
    /// Build each revision with this command, in a checkout of its own; where it fails, the
    /// revision is skipped
    #[arg(long = "build", value_name = "COMMAND")]
    build_command: Option<String>,
    /// Build each revision this many times, with its functions in another order each time, so that
    /// a commit is named and not where the linker put the code (see `ab --builds`)
    #[arg(
        long,
        value_name = "N",
        requires = "build_command",
        value_parser = clap::value_parser!(u32).range(i64::from(MIN_PAIRS)..=i64::from(MAX_BUILDS))
    )]
    builds: Option<u32>,
    /// The command to measure; it runs in each checkout, in the directory that corresponds to the
    /// current one
    #[arg(last = true, required = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    figures: PrintedFigures,
    /// The figure to search by, of several that the command prints
    #[arg(long, value_name = "NAME", requires = "harness")]
    figure: Option<String>,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.commands.is_named() || !arguments.commands.report_exports().is_empty() {
        let why = "--command-name and --export-… are not for bisect; leave them out: each comparison is kept as a run";
        return Err(usage(anyhow!(why)));
    }

    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let setup = arguments.options.measuring.setup(&machine)?;
    let command = Commands::from_words(&arguments.words).map_err(usage)?;
    let mut supervisor =
        Supervisor::new(&machine, setup.patience, &setup.dir, None, Experiment::passive())?;
    let ends = (&*arguments.good, &*arguments.bad);
    let build = arguments.build_command.as_deref().map(|command| Build {
        command,
        count: arguments.builds,
        program: arguments.words.first().map(Path::new).unwrap_or(Path::new("")),
    });
    let revisions = Revisions::find(&mut supervisor, ends, build).map_err(usage)?;

    let mut bisection = Bisection {
        arguments,
        catalogue: &catalogue,
        machine: &machine,
        setup,
        command,
        revisions,
    };
    let status = bisection.search();
    // Before an error of the search, which a signal may have ended.
    if let Some(number) = bisection.revisions.signal() {
        say(&format!(
            "unixmark: interrupted (signal {number}); the comparisons made so far are kept"
        ));
        return Ok(Status::Signal(number));
    }
    status
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
    /// Searches, and prints the answer.
    fn search(&mut self) -> Result<Status> {
        let last = self.revisions.commits.len() - 1;
        let mut search = Search::new(last);
        let count = words::count(last, "commit");
        say(&format!(
            "{count} to search; about {} comparisons",
            2 + last.ilog2() + u32::from(last > 1)
        ));
        if self.arguments.options.measuring.dry_run {
            return Ok(Status::Fine);
        }

        // The latest comparison of two revisions, which is the report at the end.
        let mut latest = self.compare(&[0, last], None)?;
        let whole = self.comparison(&latest, last)?.clone();
        self.check_ends(&whole)?;
        search.add((0, last), loss(&whole));
        let span = loop {
            match search.next() {
                Next::Halve(revision) => self.halve(&mut search, revision)?,
                Next::Confirm(span) => {
                    if let Some(measured) = self.confirm(&mut search, span)? {
                        latest = measured;
                    }
                }
                Next::End(span) => break span,
            }
        };

        let change = self.comparison(&latest, span.after).ok().map(loss);
        print_words(&self.describe_answer(&search, span, change))?;
        let measuring = &self.arguments.options.measuring;
        let layout = measuring.format.and_then(|_| measuring.shown());
        conclude(&latest, &[], measuring.loudness(), layout)?;
        Ok(if search.is_certain(span) { Status::Fine } else { Status::Failed })
    }

    /// Compares a revision with both ends, narrowly enough to see which of them it is like.
    fn halve(&mut self, search: &mut Search, revision: usize) -> Result<()> {
        let last = self.revisions.commits.len() - 1;
        if self.revisions.folders(revision).is_err() {
            return self.skip(search, revision);
        }

        let precision = (search.change() / 2.0).max(MIN_PRECISION);
        let measured = self.compare(&[0, revision, last], Some(precision))?;
        let changes = [revision, last].map(|end| self.comparison(&measured, end).map(loss));
        let [Ok(until_here), Ok(whole)] = changes else {
            let [until_here, whole] = changes;
            let error =
                until_here.and(whole).err().unwrap_or_else(|| anyhow!("nothing was measured"));
            say(&format!("{} is skipped: {error:#}", self.revisions.commits[revision]));
            search.skip(revision);
            return Ok(());
        };

        search.add((0, revision), until_here);
        search.add((0, last), whole);
        let is_slow = until_here.value > 100.0 * search.change() / 2.0;
        let word = if is_slow { "slow" } else { "fast" };
        let commit = &self.revisions.commits[revision];
        let change = show_change(until_here);
        say(&format!("{commit} is {word}: {change}, of {} % in all", show_percent(whole.value)));
        Ok(())
    }

    /// Compares both ends of a span; `None` if one of them cannot be built, and is skipped.
    fn confirm(&mut self, search: &mut Search, span: Span) -> Result<Option<Measured>> {
        let Span { before, after } = span;
        let mut unusable = Vec::new();
        for end in [before, after] {
            if self.revisions.folders(end).is_err() {
                unusable.push(end);
            }
        }
        if !unusable.is_empty() {
            for end in unusable {
                self.skip(search, end)?;
            }
            return Ok(None);
        }

        let measured = self.compare(&[before, after], None)?;
        search.add((before, after), loss(self.comparison(&measured, after)?));
        Ok(Some(measured))
    }

    /// Leaves out a revision that could not be built.
    fn skip(&mut self, search: &mut Search, revision: usize) -> Result<()> {
        let Err(why) = self.revisions.folders(revision) else {
            return Ok(());
        };
        ensure!(self.revisions.signal().is_none(), why);
        say(&format!("{} is skipped: {why}", self.revisions.commits[revision]));
        search.skip(revision);
        Ok(())
    }

    /// Executes the command in the checkouts of some revisions in turn. The first is the reference.
    fn compare(&mut self, revisions: &[usize], precision: Option<f64>) -> Result<Measured> {
        let mut arms = Vec::new();
        for revision in revisions {
            arms.push(Given::from(self.command_of(*revision)?));
        }
        let Arguments { figures, commands, options, .. } = self.arguments;
        let manner = Manner { is_read: figures.harness.is_some(), ..Manner::default() };
        let (test, names) = commands.alternating(self.catalogue, arms, manner).map_err(usage)?;
        let ask =
            comparison_ask(self.catalogue, (test, &names), (commands, options)).map_err(usage)?;
        let mut ask = figures.add_to(ask).map_err(usage)?;
        let effort = &mut ask.matrix.procedure.effort;
        effort.precision = precision.or(effort.precision);

        let prepared = measure::prepare(ask, self.catalogue, self.machine).map_err(usage)?;
        let comment = format!("bisect: {}", names.join(", "));
        let setup = Setup { comment, ..self.setup.clone() };
        // A line for each block would hide the answers; on a terminal it is one that changes.
        let loudness = match options.measuring.loudness() {
            Loudness::Normal if !std::io::stderr().is_terminal() => Loudness::Quiet,
            loudness => loudness,
        };
        let (measured, kept) = measure_and_keep(&prepared, &setup, loudness)?;
        kept?;
        ensure!(measured.signal().is_none(), "it was interrupted");
        Ok(measured)
    }

    /// The command in the checkouts of a revision, one for each build.
    fn command_of(&mut self, revision: usize) -> Result<Command> {
        let folders = self.revisions.folders(revision).map_err(|why| {
            anyhow!(
                "{} cannot be built: {why}; try that by hand, or another revision",
                self.revisions.commits[revision]
            )
        })?;
        let label = self.revisions.commits[revision].name.clone();
        let command = Command { label, ..self.command.clone() };
        Ok(match &folders[..] {
            [folder] => Command { folder: Some(folder.clone()), ..command },
            folders => Command { builds: folder_builds(folders, &self.command.words), ..command },
        })
    }

    /// The time, or the figure, of a revision compared with the first of a run.
    fn comparison<'r>(&self, measured: &'r Measured, revision: usize) -> Result<&'r Comparison> {
        if measured.ended.as_ref().is_some_and(|outcome| outcome.ended == Ended::Failed) {
            bail!("{}", measured.failures.first().map_or("a trial failed", String::as_str));
        }

        let name = &self.revisions.commits[revision].name;
        let figures: Vec<&Comparison> = measured
            .results
            .cost()
            .into_iter()
            .flat_map(|cost| &cost.conditions)
            .filter(|condition| condition.name == *name)
            .flat_map(|condition| &condition.effects)
            .map(|effect| &effect.comparison)
            .filter(|comparison| comparison.measure == Measure::Score)
            .collect();
        match (&figures[..], &self.arguments.figure) {
            ([], _) => {
                let gap = measured.results.errors.first().or(measured.results.skipped.first());
                bail!("{}", gap.map_or("nothing was measured", |gap| &gap.reason))
            }
            ([only], None) => Ok(only),
            (several, Some(figure)) => several
                .iter()
                .copied()
                .find(|comparison| comparison.cell.label == *figure)
                .with_context(|| {
                    format!("no figure is called '{figure}'; there are {}", list_labels(several))
                }),
            (several, None) => bail!(
                "the command prints {}; name one to search by, with --figure: {}",
                words::count(several.len(), "figure"),
                list_labels(several)
            ),
        }
    }

    /// Checks that the bad end is slower than the good one, and says by how much.
    fn check_ends(&self, whole: &Comparison) -> Result<()> {
        let commits = &self.revisions.commits;
        let (good, bad) = (&commits[0], &commits[commits.len() - 1]);
        let change = show_change(loss(whole));
        match whole.verdict {
            Verdict::Slower | Verdict::Worse => {
                say(&format!("{bad} is slower than {good} by {change}"))
            }
            Verdict::Faster | Verdict::Better => bail!(
                "{bad} is not slower than {good} but faster, by {change}: nothing to search for; try other revisions"
            ),
            Verdict::Same(within) => bail!(
                "{bad} takes as long as {good} within {} %: nothing to search for; try an older --good, or a smaller --precision",
                words::at_least(within)
            ),
            Verdict::Undirected => bail!(
                "nobody knows whether more or less of '{0}' is better; try --better lower:{0}",
                whole.cell.label
            ),
            _ => bail!(
                "{bad} cannot be told from {good}: {change}; try a longer --budget, a smaller --precision, or an older --good"
            ),
        }
        Ok(())
    }

    /// Says which commits made the command slower, how certain that is, and how likely the commits
    /// next to them are. `change` is the loss over the span.
    fn describe_answer(&self, search: &Search, span: Span, change: Option<Estimate>) -> String {
        let (commits, chances) = (&self.revisions.commits, search.chances());
        let sure = if search.is_certain(span) { "" } else { "most likely " };
        let chance = show_chance(search.chance(span));
        let part = change.map_or(String::new(), |change| format!("{} of ", show_change(change)));
        let by = format!("by {part}{} % in all", show_percent(100.0 * search.change()));
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
        for (side, commit) in [("before", span.before), ("after", span.after + 1)] {
            // The first is the good end, which changed nothing.
            if (1..commits.len()).contains(&commit) {
                text += &format!(
                    "chance that it was the commit {side}, {}: {}\n",
                    commits[commit],
                    show_chance(chances[commit - 1])
                );
            }
        }
        text
    }
}

/// A chance, 0 to 1, in per cent; never as certain as a rounded number would have it.
fn show_chance(chance: f64) -> String {
    match (1000.0 * chance).round() / 10.0 {
        100.0 => "more than 99.9 %".to_owned(),
        0.0 => "less than 0.1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// The names of figures.
fn list_labels(comparisons: &[&Comparison]) -> String {
    let labels: Vec<&str> =
        comparisons.iter().map(|comparison| comparison.cell.label.as_str()).collect();
    words::listed(&labels, MAX_NAMED_FIGURES)
}

/// The change as a loss, in per cent: of a rate how much more time the same work takes.
fn loss(comparison: &Comparison) -> Estimate {
    match comparison.lower_is_better() {
        true => comparison.change(),
        false => comparison.delta.image(|delta| 100.0 * (1.0 / (1.0 + delta / 100.0) - 1.0)),
    }
}

/// A change with its interval, in per cent.
fn show_change(change: Estimate) -> String {
    let [value, low, high] = [change.value, change.low, change.high].map(show_percent);
    format!("{value} % ({low} to {high})")
}

fn show_percent(percent: f64) -> String {
    signed_fine(percent).trim_start_matches('+').to_owned()
}
