//! `unixmark ab`: commands that are executed in turn, and which is faster.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::limits::Limit;
use crate::measuring::job::answer;
use crate::measuring::options::{Commands, MatrixOptions, Parameters, counted, with_default};
use crate::status::{Status, usage};
use catalogue::{Catalogue, Command, Condition, Test};
use interop::harness::Harness;
use journal::View;
use measure::{Ask, Measured};
use plan::{Arms, Matrix, Procedure, Purpose};

/// The time that an answer may take, unless the user gives it another.
const BUDGET: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("budget", |arg| with_default(arg, "1m")),
    mut_arg("copies", |arg| arg.hide(true)),
    // As in hyperfine.
    mut_arg("iterations", |arg| arg.short(None)),
    mut_arg("ignore_failure", |arg| arg.short('i'))
)]
pub(crate) struct Arguments {
    /// Commands, each quoted as one word and executed by a shell; all are compared with the first
    #[arg(value_name = "COMMAND", required_unless_present = "base")]
    quoted: Vec<String>,
    /// Execute one command in two directories, this one and that of --head
    #[arg(long, value_name = "DIR", requires_all = ["head", "words"], conflicts_with = "quoted")]
    base: Option<PathBuf>,
    /// The directory that is compared with --base
    #[arg(long, value_name = "DIR", requires = "base")]
    head: Option<PathBuf>,
    /// The command for --base and --head
    #[arg(last = true, value_name = "COMMAND", requires = "base")]
    words: Vec<OsString>,
    /// Exit with status 1 if a command is significantly slower than the first by at least this much (2%), or exceeds it
    /// in a count by more than a limit (syscalls:0,rss:5%). Counts are syscalls, processes, threads, bytes_read,
    /// bytes_written, rss, faults, switches, instructions, cycles and any system call (openat:1)
    #[arg(long, value_name = "PERCENT|COUNT:LIMIT,…", value_delimiter = ',')]
    fail_on: Vec<Limit>,
    /// Exit with status 4 if a loss of the --fail-on size is neither shown nor ruled out: too few executions, or too
    /// much noise
    #[arg(long, requires = "fail_on", conflicts_with = "bisect")]
    strict_gate: bool,
    /// Also count what each command does: system calls by name, processes, memory; in extra executions that are not
    /// timed
    #[arg(long)]
    counts: bool,
    /// For `git bisect run`: status 0 if no command is slower than the first by more than --fail-on, 1 if one is, 125
    /// if undecided
    #[arg(long, requires = "fail_on", conflicts_with_all = ["counts", "harness"])]
    bisect: bool,
    /// Check first that all commands print the same
    #[arg(long)]
    same_output: bool,
    /// Compare the figures that the commands print, not their times: gobench (go test -bench), gbench (Google
    /// Benchmark's JSON), criterion, pytest (pytest-benchmark's JSON), jmh, nanobench (their JSON), json ({"name":
    /// number}), or auto
    #[arg(long, value_name = "KIND", conflicts_with_all = ["same_output", "output", "export_json"])]
    harness: Option<Harness>,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = arguments.fail_on.iter().find_map(Limit::time).filter(|_| arguments.bisect);
    let status = |measured: &Measured, status| gate.map_or(status, |gate| bisected(measured, status, gate));
    let exports = arguments.commands.exports();
    answer(&arguments.options, &exports, |catalogue, _| ask(arguments, catalogue).map_err(usage), status)
}

/// Returns the exit status of a run for `git bisect run`.
fn bisected(measured: &Measured, status: Status, gate: f64) -> Status {
    match (status, measured.results.cost().and_then(|cost| cost.is_slower(gate))) {
        (Status::Signal(_), _) => status,
        (_, Some(true)) => Status::Failed,
        (Status::Fine, Some(false)) => Status::Fine,
        _ => Status::Undecided,
    }
}

/// Returns what the arguments ask for.
fn ask(arguments: &Arguments, catalogue: &Catalogue) -> Result<Ask> {
    let Arguments { commands, options, harness, .. } = arguments;
    let (gate, limits) = Limit::split(&arguments.fail_on)?;
    if arguments.bisect && (gate.is_none() || !limits.is_empty()) {
        bail!("--bisect goes by the time alone; try --fail-on 2%");
    }
    if options.copies(2, || vec![1])? != [1] {
        bail!("commands that are compared are executed one at a time; leave --copies out, or try `unixmark scale`");
    }
    let arms = arms(arguments)?;
    if let [_] = &arms[..] {
        return alone(arguments, catalogue, arms);
    }
    let (mut test, names) = commands.in_turn(catalogue, arms, [arguments.same_output, harness.is_some()])?;
    if arguments.counts || !limits.is_empty() {
        test = counted(catalogue, test)?;
    }
    Ok(Ask {
        gate,
        is_gate_strict: arguments.strict_gate,
        limits,
        harness: *harness,
        ..comparison(catalogue, (test, &names), (commands, options))?
    })
}

/// Returns the ask to compare commands that are executed in turn with the first.
pub(super) fn comparison(
    catalogue: &Catalogue,
    (test, names): (Arc<Test>, &[String]),
    (commands, options): (&Commands, &MatrixOptions),
) -> Result<Ask> {
    let (base, others) = names.split_first().context("there is no command; name two")?;
    let condition = |name: &String| Arc::new(Condition { name: name.clone(), parts: Vec::new() });
    let mut effort = commands.effort(options.effort_in_blocks()?);
    if effort.blocks.is_none() {
        effort.budget = effort.budget.or(Some(BUDGET));
    }
    let matrix = Matrix {
        tests: vec![test],
        copies: vec![1],
        loads: options.loads(catalogue)?,
        arms: Arms::compared(condition(base), others.iter().map(condition).collect()),
        procedure: Procedure::new(Purpose::Ab, effort),
        ..Matrix::default()
    };
    Ok(Ask { view: View::Ab, time_unit: commands.time_unit, ..options.ask(matrix) })
}

/// Returns the ask for the time of a single command, as `unixmark run` has it.
fn alone(arguments: &Arguments, catalogue: &Catalogue, only: Vec<Command>) -> Result<Ask> {
    let Arguments { commands, options, fail_on, same_output, counts, harness, .. } = arguments;
    if !fail_on.is_empty() || *same_output || harness.is_some() {
        bail!("--fail-on, --same-output and --harness compare commands, and there is only one; name another");
    }
    let mut tests = commands.alone(catalogue, only)?;
    if *counts {
        tests = tests.into_iter().map(|test| counted(catalogue, test)).collect::<Result<_>>()?;
    }
    let matrix = Matrix {
        tests,
        copies: vec![1],
        loads: options.loads(catalogue)?,
        procedure: Procedure::new(Purpose::Scores, commands.effort(options.effort()?)),
        ..Matrix::default()
    };
    Ok(Ask { time_unit: commands.time_unit, ..options.ask(matrix) })
}

/// Returns the commands, the one that the others are compared with first.
fn arms(arguments: &Arguments) -> Result<Vec<Command>> {
    let Arguments { quoted, base, head, words, commands, parameters, .. } = arguments;
    if let Some((base, head)) = base.as_ref().zip(head.as_ref()) {
        let command = Commands::from_words(words)?;
        let executable = command.words.first().filter(|word| word.contains('/') && !commands.are_prepared());
        let arm = |(name, folder): (&str, &PathBuf)| {
            let why = || format!("the directory {} cannot be used; try another --base or --head", folder.display());
            let folder = folder.canonicalize().with_context(why)?;
            if let Some(missing) = executable.filter(|word| !folder.join(word).exists()) {
                bail!("{missing} does not exist in {} (--{name}); was it built?", folder.display());
            }
            Ok(Command { label: name.to_owned(), folder: Some(folder), ..command.clone() })
        };
        return [("base", base), ("head", head)].into_iter().map(arm).collect();
    }
    let quoted = parameters.expanded(quoted)?;
    quoted.iter().map(|command| commands.quoted(command)).collect()
}
