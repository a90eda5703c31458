//! `unixmark bill`: the predicted cost of conditions to a command, system call by system call, beside the measured one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::measuring::cost;
use crate::measuring::job::{conclude, measure_or_plan};
use crate::measuring::options::{Commands, MatrixOptions, counted, duration, with_default};
use crate::status::{Status, usage};
use crate::terminal::{layout, print, say};
use ::report::Subject;
use analysis::{Cost, Prediction, PriceList, Range, Results};
use catalogue::{Catalogue, Test};
use journal::{Counts, Facts, Journal, Listed, View};
use machine::Machine;
use measure::{Ask, Measured};
use plan::{Arms, Effort, Matrix, Procedure, Purpose};

/// Bytes of a table of system calls, at most.
const MOST_BYTES: u64 = 1 << 20;

/// The options of `cost` that change what a condition costs.
const TRAIL: [&str; 4] = ["--sink", "--flush", "--trail-limit", "--backlog"];

/// The note on prices, which the plan for a command leaves out: its calls are not known before it is executed.
const PRICES: &str = "\nthen the prices of its system calls that are not known yet, half a minute to two minutes for \
                      each, once per machine, kernel and condition; `--counts FILE --dry-run` says how long for the \
                      calls in FILE";

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| arg.hide(true)),
    mut_arg("load", |arg| arg.hide(true)),
    mut_arg("runs", |arg| arg.hide(true)),
    mut_arg("time_unit", |arg| arg.hide(true)),
    mut_arg("iterations", |arg| with_default(arg, "12, and up to 48 until the intervals are narrow")),
    mut_arg("budget", |arg| with_default(arg, "none; if given, once for the command and once for the prices")),
    mut_arg("export_json", |arg| arg.hide(true)),
    mut_arg("export_markdown", |arg| arg.hide(true)),
    mut_arg("export_csv", |arg| arg.hide(true))
)]
pub(crate) struct Arguments {
    /// The setting whose cost is wanted: `audit=all`, `seccomp=allow,argument`; `unixmark list conditions` shows all
    #[arg(value_name = "CONDITION")]
    condition: String,
    /// What to compare with [default: the machine as found, or the condition's usual reference]
    #[arg(long, value_name = "CONDITION")]
    against: Option<String>,
    /// Execute nothing: the command's system calls are in this file, as `strace -f -c` or `perf trace -s` wrote it on
    /// any host
    #[arg(long, value_name = "FILE", required_unless_present = "words", conflicts_with = "words")]
    counts: Option<PathBuf>,
    /// How long the command of --counts takes, so that the cost is also told in per cent
    #[arg(long, value_name = "TIME", requires = "counts", conflicts_with = "words", value_parser = duration)]
    time: Option<Duration>,
    /// The command, executed as it is
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

/// Checks for options that other verbs share and a bill has not.
///
/// # Errors
/// One is given.
fn check(arguments: &Arguments) -> Result<()> {
    let Arguments { commands, options, .. } = arguments;
    if options.copies(2, || vec![1])? != [1] || !options.load.is_empty() {
        bail!("a bill is of one execution at a time; leave --copies and --load out, or try `unixmark cost`");
    }
    if commands.runs.is_some() || commands.time_unit.is_some() || !commands.exports().is_empty() {
        bail!("--runs, --time-unit and --export-… are not for bills; leave them out, or try `unixmark cost`");
    }
    Ok(())
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    check(arguments).map_err(usage)?;
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let arms = cost::arms(&arguments.condition, arguments.against.as_deref(), &catalogue).map_err(usage)?;
    let billing = Billing { arguments, catalogue: &catalogue, machine: &machine, arms };
    let (name, counts, command) = match &arguments.counts {
        Some(file) => (format!("the command of {}", file.display()), read(file).map_err(usage)?, None),
        None => {
            let test = billing.command().map_err(usage)?;
            let name = test.label.clone();
            match billing.measure(vec![test])? {
                Ok(command) => (name, made(&command.results)?, Some(command)),
                Err(status) => {
                    if arguments.options.measuring.dry_run {
                        say(PRICES);
                    }
                    return Ok(status);
                }
            }
        }
    };
    let mut lists = billing.kept(&counts)?;
    let missing = billing.missing(&lists, &counts);
    if !missing.is_empty() {
        match billing.measure(missing)? {
            Ok(measured) => billing.add(&mut lists, &measured.results),
            Err(Status::Nothing) => {}
            Err(status) => return Ok(status),
        }
    }
    let predictions = billing.predictions(&lists, &counts, command.as_ref().and_then(|one| one.results.cost()));
    if let Some(format) = arguments.options.measuring.shown() {
        print(&::report::render(Subject::Bill(&name, &predictions), layout(format))?)?;
    }
    let has_failed = command.is_some_and(|command| !command.failures.is_empty());
    Ok(if has_failed { Status::Failed } else { Status::Fine })
}

/// A bill that is being made.
struct Billing<'a> {
    arguments: &'a Arguments,
    catalogue: &'a Catalogue,
    machine: &'a Machine,
    arms: Arms,
}

impl Billing<'_> {
    /// Returns the test of the command, which is also counted.
    fn command(&self) -> Result<Arc<Test>> {
        let Arguments { commands, words, .. } = self.arguments;
        let mut tests = commands.alone(self.catalogue, vec![Commands::from_words(words)?])?;
        counted(self.catalogue, tests.pop().context("there is no command; name one after --")?)
    }

    /// Measures tests under all conditions; returns the exit status instead where there is nothing to go on with.
    fn measure(&self, tests: Vec<Arc<Test>>) -> Result<Result<Measured, Status>> {
        let options = &self.arguments.options;
        let procedure = Procedure::new(Purpose::Cost, self.effort()?);
        let matrix = Matrix { tests, copies: vec![1], arms: self.arms.clone(), procedure, ..Matrix::default() };
        let ask = Ask { view: View::Cost, ..options.ask(matrix) };
        let Some((measured, kept)) = measure_or_plan(options, ask, self.catalogue, self.machine)? else {
            return Ok(Err(Status::Fine));
        };
        let status = conclude(&measured, &[kept], options.measuring.loudness(), None)?;
        let is_over = matches!(status, Status::Signal(_) | Status::Nothing);
        Ok(if is_over { Err(status) } else { Ok(measured) })
    }

    fn effort(&self) -> Result<Effort> {
        self.arguments.options.effort_in_blocks().map_err(usage)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.arms.others.iter().map(|condition| &*condition.name)
    }

    fn against(&self) -> &str {
        self.arms.reference.as_ref().map_or(catalogue::NONE, |condition| &condition.name)
    }

    /// Returns the tests whose prices a condition lacks.
    fn missing(&self, lists: &[PriceList], counts: &BTreeMap<String, Range>) -> Vec<Arc<Test>> {
        let names: BTreeSet<String> = lists.iter().flat_map(|list| list.missing(counts, self.catalogue)).collect();
        self.catalogue.tests.iter().filter(|test| names.contains(&test.id)).cloned().collect()
    }

    /// Returns what runs of this machine and kernel that are kept have found of each condition, the newest first.
    fn kept(&self, counts: &BTreeMap<String, Range>) -> Result<Vec<PriceList>> {
        let setup = self.arguments.options.measuring.setup(self.machine)?;
        let facts = machine::facts(self.machine, &setup.dir);
        let procedure = self.effort()?.kind.into();
        let mut lists = vec![PriceList::default(); self.names().count()];
        for listed in setup.store.list()?.iter().rev().filter(|listed| self.may_have_prices(listed, procedure)) {
            if self.missing(&lists, counts).is_empty() {
                break;
            }
            let journal = journal::read(&listed.path).ok().filter(|journal| is_of_here(journal, &facts));
            if let Some(journal) = journal {
                self.add(&mut lists, &Results::new(&journal, self.catalogue, None));
            }
        }
        Ok(lists)
    }

    fn may_have_prices(&self, listed: &Listed, procedure: journal::Procedure) -> bool {
        let is_plain = |word: &String| !TRAIL.iter().any(|option| word.starts_with(option));
        listed.run.as_ref().is_some_and(|run| {
            run.view == View::Cost
                && run.procedure == procedure
                && run.host == self.machine.host_name()
                && run.against == self.against()
                && run.settings.is_empty()
                && run.arguments.iter().all(is_plain)
        })
    }

    fn add(&self, lists: &mut [PriceList], results: &Results) {
        let Some(cost) = results.cost() else { return };
        lists.iter_mut().zip(self.names()).for_each(|(list, name)| list.add(cost, name));
    }

    fn predictions(
        &self,
        lists: &[PriceList],
        counts: &BTreeMap<String, Range>,
        measured: Option<&Cost>,
    ) -> Vec<Prediction> {
        let prediction = |(list, name): (&PriceList, &str)| {
            let prediction = Prediction::new([name, self.against()], list, counts, self.catalogue);
            match measured {
                Some(cost) => prediction.beside(cost),
                None => Prediction { time: self.arguments.time.map(|time| 1e9 * time.as_secs_f64()), ..prediction },
            }
        };
        lists.iter().zip(self.names()).map(prediction).collect()
    }
}

/// Returns true if a run was made on this machine as it is now.
fn is_of_here(journal: &Journal, facts: &Facts) -> bool {
    Facts::suspects().all(|(_, name)| journal.facts.value(name) == facts.value(name))
}

/// Returns the calls of a command that was counted, and its page faults.
fn made(results: &Results) -> Result<BTreeMap<String, Range>> {
    let Some(counts) = results.counts.first() else {
        let why = results.warnings.iter().map(ToString::to_string).find(|text| text.contains("could not be counted"));
        bail!("{}; try --counts FILE", why.unwrap_or_else(|| "the command was not counted".to_owned()));
    };
    let priced = |name: &str| Counts::call(name).or(Some(name).filter(|name| *name == "faults")).map(str::to_owned);
    Ok(counts.all.iter().filter_map(|count| Some((priced(&count.name)?, count.range))).collect())
}

/// Reads a table of system calls.
fn read(file: &Path) -> Result<BTreeMap<String, Range>> {
    let text = files::read_text(file, MOST_BYTES)
        .with_context(|| format!("{} cannot be read; try the output of `strace -f -c -o FILE`", file.display()))?;
    let calls = interop::calls(&text).with_context(|| format!("{} cannot be used", file.display()))?;
    Ok(calls.into_iter().map(|(name, count)| (name, Range { low: count, high: count })).collect())
}
