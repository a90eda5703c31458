//! `unixmark bill`: the predicted cost of conditions to a command, system call by system call,
//! next to the measured one.
//!
//! 1. The command is executed with and without each condition, and its system calls are counted
//!    ([`Billing::execute_command`]); or a file of --counts has them.
//! 2. Prices of the calls are taken from runs that are kept ([`Billing::known_prices`]); those that
//!    are missing are measured ([`Billing::measure_prices`]).
//! 3. Each prediction is the sum of price times count ([`Billing::predict`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::measuring::cost::find_arms;
use crate::measuring::job::{conclude, measure_or_plan};
use crate::measuring::options::{Commands, Manner, MatrixOptions, counted, duration, with_default};
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::Subject;
use analysis::{Cost, Prediction, PriceList, Range, Results};
use catalogue::{Catalogue, Instructions, Test};
use journal::{Counts, Facts, Journal, Listed, View};
use machine::Machine;
use measure::{Ask, Measured};
use plan::{Arms, Effort, Matrix, Procedure, Purpose};

/// The size of a table of system calls that is read.
const MAX_TABLE_BYTES: u64 = 1 << 20;

/// The options of `cost` that change what a condition costs.
const TRAIL_OPTIONS: [&str; 4] = ["--sink", "--flush", "--trail-limit", "--backlog"];

/// The note on prices, which the plan for a command leaves out: its calls are not known before it
/// is executed.
const NOTE_ON_PRICES: &str = "\nthen the prices of its system calls that are not known yet, a minute or so, once per machine, \
                      kernel and condition; `--counts FILE --dry-run` says how long for the calls in FILE";

/// The time for a bill, unless the user gives another.
const USUAL_BUDGET: Duration = Duration::from_secs(120);

/// Blocks in which the least known prices are measured again.
const REPEATED_PRICE_BLOCKS: u32 = 24;

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| arg.hide(true)),
    mut_arg("load", |arg| arg.hide(true)),
    mut_arg("runs", |arg| arg.hide(true)),
    mut_arg("min_runs", |arg| arg.hide(true)),
    mut_arg("max_runs", |arg| arg.hide(true)),
    mut_arg("time_unit", |arg| arg.hide(true)),
    mut_arg("iterations", |arg| with_default(arg, "8, and up to 12 until the intervals are narrow")),
    mut_arg("budget", |arg| with_default(arg, "2m, for the command and its prices together")),
    mut_arg("export_json", |arg| arg.hide(true)),
    mut_arg("export_markdown", |arg| arg.hide(true)),
    mut_arg("export_csv", |arg| arg.hide(true)),
    mut_arg("export_asciidoc", |arg| arg.hide(true)),
    mut_arg("export_orgmode", |arg| arg.hide(true))
)]
pub(crate) struct Arguments {
    /// The setting whose cost is wanted: `audit=all`, `seccomp=allow,argument`; `unixmark list
    /// conditions` shows all
    #[arg(value_name = "CONDITION")]
    condition: String,
    /// What to compare with [default: the machine as found, or the condition's usual reference]
    #[arg(long, value_name = "CONDITION")]
    against: Option<String>,
    /// Execute nothing: the command's system calls are in this file, as `strace -f -c` or `perf
    /// trace -s` wrote it on any host
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

/// Refuses options that other verbs share and a bill has not.
fn check_options(arguments: &Arguments) -> Result<()> {
    let Arguments { commands, options, .. } = arguments;
    if options.copies(2, || vec![1])? != [1] || !options.load.is_empty() {
        bail!(
            "a bill is of one execution at a time; leave --copies and --load out, or try `unixmark cost`"
        );
    }

    let has_exports = !commands.report_exports().is_empty();
    if commands.has_count() || commands.time_unit.is_some() || has_exports {
        bail!(
            "--runs, --time-unit and --export-… are not for bills; leave them out, or try `unixmark cost`"
        );
    }
    Ok(())
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    check_options(arguments).map_err(usage)?;
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let arms =
        find_arms(&arguments.condition, arguments.against.as_deref(), &catalogue).map_err(usage)?;
    let start = Instant::now();
    let billing = Billing { arguments, catalogue: &catalogue, machine: &machine, arms, start };

    let command = match &arguments.counts {
        Some(file) => CountedCommand::read(file).map_err(usage)?,
        None => match billing.execute_command()? {
            Ok(command) => command,
            Err(status) => {
                if arguments.options.measuring.dry_run {
                    say(NOTE_ON_PRICES);
                }
                return Ok(status);
            }
        },
    };

    let mut lists = billing.known_prices(&command.counts)?;
    if let Err(status) = billing.measure_prices(&mut lists, &command)? {
        return Ok(status);
    }

    let predictions = billing.predict(&lists, &command);
    if let Some(layout) = arguments.options.measuring.shown() {
        print(&::report::render(Subject::Bill(&command.name, &predictions), layout)?)?;
    }
    let has_failed = command.measured.is_some_and(|measured| !measured.failures.is_empty());
    Ok(if has_failed { Status::Failed } else { Status::Fine })
}

/// The command that a bill is for.
struct CountedCommand {
    /// Its name in the report.
    name: String,
    /// The system calls of an execution by name, and its page faults.
    counts: BTreeMap<String, Range>,
    /// The run that executed it; `None` if its counts are of a file.
    measured: Option<Measured>,
}

impl CountedCommand {
    /// Reads a table of system calls.
    fn read(file: &Path) -> Result<CountedCommand> {
        let text = files::read_text(file, MAX_TABLE_BYTES).with_context(|| {
            format!("{} cannot be read; try the output of `strace -f -c -o FILE`", file.display())
        })?;
        let calls =
            interop::calls(&text).with_context(|| format!("{} cannot be used", file.display()))?;

        let mut counts = BTreeMap::new();
        for (name, count) in calls {
            counts.insert(name, Range { low: count, high: count });
        }
        let name = format!("the command of {}", file.display());
        Ok(CountedCommand { name, counts, measured: None })
    }

    /// What the conditions cost the command, if it was executed.
    fn cost(&self) -> Option<&Cost> {
        self.measured.as_ref()?.results.cost()
    }
}

/// A bill that is being made.
struct Billing<'a> {
    arguments: &'a Arguments,
    catalogue: &'a Catalogue,
    machine: &'a Machine,
    arms: Arms,
    start: Instant,
}

impl Billing<'_> {
    /// Step 1: executes the command under all conditions, and counts its system calls. Returns the
    /// exit status instead where there is nothing to go on with.
    fn execute_command(&self) -> Result<Result<CountedCommand, Status>> {
        let test = self.command_test().map_err(usage)?;
        let name = test.label.clone();
        match self.measure(vec![test], self.effort_of_command()?)? {
            Ok(measured) => {
                let counts = counted_calls(&measured.results)?;
                Ok(Ok(CountedCommand { name, counts, measured: Some(measured) }))
            }
            Err(status) => Ok(Err(status)),
        }
    }

    /// The test of the command, which is also counted.
    fn command_test(&self) -> Result<Arc<Test>> {
        let Arguments { commands, words, .. } = self.arguments;
        let command = Commands::from_words(words)?.into();
        let mut tests = commands.alone(self.catalogue, vec![command], Manner::default())?;
        let test = tests.pop().context("there is no command; name one after --")?;
        counted(self.catalogue, test, Instructions::Unwanted)
    }

    /// Measures tests under all conditions; returns the exit status instead where there is nothing
    /// to go on with.
    fn measure(&self, tests: Vec<Arc<Test>>, effort: Effort) -> Result<Result<Measured, Status>> {
        let options = &self.arguments.options;
        let matrix = Matrix {
            tests,
            copies: vec![1],
            arms: self.arms.clone(),
            procedure: Procedure::new(Purpose::Bill, effort),
            ..Matrix::default()
        };
        let ask = Ask { view: View::Cost, ..options.ask(matrix) };
        let Some((measured, kept)) = measure_or_plan(options, ask, self.catalogue, self.machine)?
        else {
            return Ok(Err(Status::Fine));
        };
        let status = conclude(&measured, &[kept], options.measuring.loudness(), None)?;
        match status {
            Status::Signal(_) | Status::Nothing => Ok(Err(status)),
            _ => Ok(Ok(measured)),
        }
    }

    /// Step 2: measures the prices that are missing. If any were, and time is left, measures those
    /// again that leave the total least certain, unless the user sets the number of blocks. Returns
    /// the exit status instead where a signal or the end of a plan ends the bill.
    fn measure_prices(
        &self,
        lists: &mut [PriceList],
        command: &CountedCommand,
    ) -> Result<Result<(), Status>> {
        let missing: BTreeSet<String> =
            lists.iter().flat_map(|list| list.missing(&command.counts, self.catalogue)).collect();
        if missing.is_empty() {
            return Ok(Ok(()));
        }
        if let Err(status) = self.add_prices(lists, &missing, self.effort_of_prices()?)? {
            return Ok(Err(status));
        }

        let effort = self.effort_of_prices()?;
        if effort.blocks.is_some() || effort.budget == Some(Duration::ZERO) {
            return Ok(Ok(()));
        }

        let predictions = self.predict(lists, command);
        let vague: BTreeSet<String> = predictions
            .iter()
            .flat_map(Prediction::vague_calls)
            .flat_map(|call| analysis::price_tests(call, self.catalogue))
            .collect();
        self.add_prices(lists, &vague, Effort { blocks: Some(REPEATED_PRICE_BLOCKS), ..effort })
    }

    /// Measures the prices of some tests, in place of those that are known.
    fn add_prices(
        &self,
        lists: &mut [PriceList],
        names: &BTreeSet<String>,
        effort: Effort,
    ) -> Result<Result<(), Status>> {
        if names.is_empty() {
            return Ok(Ok(()));
        }
        let tests = self.catalogue.tests.iter().filter(|test| names.contains(&test.id));
        match self.measure(tests.cloned().collect(), effort)? {
            Ok(measured) => {
                if let Some(cost) = measured.results.cost() {
                    for (list, name) in lists.iter_mut().zip(self.condition_names()) {
                        list.replace(cost, name);
                    }
                }
                Ok(Ok(()))
            }
            // What has no price is named in the bill.
            Err(Status::Nothing) => Ok(Ok(())),
            Err(status) => Ok(Err(status)),
        }
    }

    /// The command has half of the budget.
    fn effort_of_command(&self) -> Result<Effort> {
        let effort = self.effort()?;
        Ok(Effort { budget: effort.budget.map(|budget| budget / 2), ..effort })
    }

    /// The prices have what is left of the budget.
    fn effort_of_prices(&self) -> Result<Effort> {
        let effort = self.effort()?;
        let spent = self.start.elapsed();
        Ok(Effort { budget: effort.budget.map(|budget| budget.saturating_sub(spent)), ..effort })
    }

    fn effort(&self) -> Result<Effort> {
        let effort = self.arguments.options.effort_in_blocks().map_err(usage)?;
        // With --iterations, the blocks end the run and not the time.
        let usual_budget = effort.blocks.is_none().then_some(USUAL_BUDGET);
        Ok(Effort { budget: effort.budget.or(usual_budget), ..effort })
    }

    fn condition_names(&self) -> impl Iterator<Item = &str> {
        self.arms.others.iter().map(|condition| &*condition.name)
    }

    fn reference_name(&self) -> &str {
        self.arms.reference.as_ref().map_or(catalogue::NONE, |condition| &condition.name)
    }

    /// The prices under each condition by the runs of this machine and kernel that are kept; newer
    /// runs take precedence.
    fn known_prices(&self, counts: &BTreeMap<String, Range>) -> Result<Vec<PriceList>> {
        let setup = self.arguments.options.measuring.setup(self.machine)?;
        let facts = machine::facts(self.machine, &setup.dir);
        let procedure = self.effort()?.kind.into();

        let mut lists = vec![PriceList::default(); self.condition_names().count()];
        for listed in setup.store.list()?.iter().rev() {
            if !self.may_have_prices(listed, procedure) {
                continue;
            }
            if lists.iter().all(|list| list.missing(counts, self.catalogue).is_empty()) {
                break;
            }
            // A run that cannot be read has no prices to give.
            let Ok(journal) = journal::read(&listed.path) else { continue };
            if !is_of_this_machine(&journal, &facts) {
                continue;
            }

            let results = Results::new(&journal, self.catalogue, None);
            let Some(cost) = results.cost() else { continue };
            for (list, name) in lists.iter_mut().zip(self.condition_names()) {
                list.add(cost, name);
            }
        }
        Ok(lists)
    }

    /// True if a run, by its first lines, may have measured the conditions as they are billed here.
    fn may_have_prices(&self, listed: &Listed, procedure: journal::Procedure) -> bool {
        let Some(run) = &listed.run else { return false };
        let has_trail_option = run
            .arguments
            .iter()
            .any(|word| TRAIL_OPTIONS.iter().any(|option| word.starts_with(option)));
        run.view == View::Cost
            && run.procedure == procedure
            && run.host == self.machine.host_name()
            && run.against == self.reference_name()
            && run.settings.is_empty()
            && !has_trail_option
    }

    /// Step 3: the predicted cost of each condition, next to the measured one of a command that was
    /// executed. Of a command in a file, --time says how long it takes.
    fn predict(&self, lists: &[PriceList], command: &CountedCommand) -> Vec<Prediction> {
        let time_ns = self.arguments.time.map(|time| 1e9 * time.as_secs_f64());
        let mut predictions = Vec::new();
        for (list, name) in lists.iter().zip(self.condition_names()) {
            let conditions = [name, self.reference_name()];
            let predicted = Prediction::new(conditions, list, &command.counts, self.catalogue);
            predictions.push(match command.cost() {
                Some(cost) => predicted.beside(cost),
                None => Prediction { time: time_ns, ..predicted },
            });
        }
        predictions
    }
}

/// True if a run was made on this machine as it is now.
fn is_of_this_machine(journal: &Journal, facts: &Facts) -> bool {
    Facts::suspects().all(|(_, name)| journal.facts.value(name) == facts.value(name))
}

/// The system calls of a command that was counted, and its page faults, which have a price, too.
fn counted_calls(results: &Results) -> Result<BTreeMap<String, Range>> {
    let Some(counts) = results.counts.first() else {
        let warning = results
            .warnings
            .iter()
            .map(ToString::to_string)
            .find(|text| text.contains("could not be counted"));
        bail!(
            "{}; try --counts FILE",
            warning.unwrap_or_else(|| "the command was not counted".to_owned())
        );
    };

    let mut calls = BTreeMap::new();
    for count in &counts.all {
        let call = match Counts::call(&count.name) {
            Some(call) => call,
            None if count.name == "faults" => "faults",
            None => continue,
        };
        calls.insert(call.to_owned(), count.range);
    }
    Ok(calls)
}
