//! `unixmark unixbench`, or the tool called as `Run`: UnixBench 6.0.0's command line, variables and files.

mod environment;
mod files;
mod install;
mod programs;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use crate::measuring::job::Job;
use crate::measuring::options::{Matrix, typed};
use crate::options::name;
use crate::status::{Status, usage};
use crate::terminal::say;
use analysis::Results;
use catalogue::{Catalogue, Condition, Test};
use environment::Environment;
use files::Files;
use journal::Journal;
use machine::Machine;
use plan::{Kind, Procedure, Request};
pub(super) use programs::called_as_program;
use runner::Event;
use words::Unique;

/// The name that UnixBench's script has.
const RUN: &str = "Run";

/// The verb.
const VERB: &str = "unixbench";

/// Every test of UnixBench, which `all` stands for here.
const ALL: [&str; 8] = ["dhry", "speed", "fs", "misc", "grep", "sysexec", "2d", "3d"];

/// What the shell tests run, whose work `MULTI_SH_WORK_FACTOR` multiplies.
const SCRIPT: &str = "multi.sh";

#[derive(Debug, clap::Args)]
#[command(args_override_self = true, after_help = VARIABLES)]
pub(crate) struct Arguments {
    /// Tests or groups, by UnixBench's names [default: index]
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// Number of copies: `2`, `1,2,4`, `1..9`, `max`, `2max`, `max/2` or `1..max`; repeatable [default: 1 and one per processor]
    #[arg(short, long, value_name = "N")]
    copies: Vec<String>,
    /// Number of blocks (classic: passes per long test; short tests get a third); 0 means the default, as in UnixBench
    #[arg(short, long, value_name = "N")]
    iterations: Option<String>,
    /// How to measure [env: UNIXMARK_PROCEDURE] [default: classic]
    #[arg(long, value_enum)]
    procedure: Option<Kind>,
    /// Print nothing but errors, and the report
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show each trial and its command
    #[arg(short, long)]
    verbose: bool,
    /// Leave the lines about processors out of the report
    #[arg(short, long)]
    brief: bool,
    /// Measure nothing; lay out a directory like UnixBench's, with `Run` and `pgms/`, for scripts that call those
    #[arg(long, value_name = "DIR", exclusive = true)]
    install: Option<PathBuf>,
}

const VARIABLES: &str = "\
Environment, as UnixBench's: UB_RESULTDIR (default: ./results) holds the reports, UB_TMPDIR (default: ./tmp) is where \
programs work, UB_OUTPUT_FILE_NAME replaces HOST-YYYY-MM-DD-NN, UB_OUTPUT_CSV=true adds the .csv, \
MULTI_SH_WORK_FACTOR=N has the shell tests sort N texts in a row. The run is kept where UNIXMARK_RESULTS says. UB_BINDIR and UB_GCC_OPTIONS are refused: the programs \
are unixmark's own. A link called `Run` to the tool needs no verb.

Exit codes, as UnixBench's: 0 fine, 1 anything else; 128 + N ended by signal N.";

/// Returns the command line with the verb, if the tool was called as `Run`.
pub(super) fn called_as_run(words: Vec<OsString>) -> Vec<OsString> {
    let is_run = words.first().is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(RUN)));
    if !is_run {
        return words;
    }
    ["unixmark", VERB].into_iter().map(OsString::from).chain(words.into_iter().skip(1)).collect()
}

/// Whether a command line is UnixBench's, which has exit codes of its own.
pub(crate) fn is_unixbench(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|verb| verb == VERB)
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if let Some(folder) = &arguments.install {
        return install::install(folder);
    }
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let environment = Environment::read()?;
    let tests = tests(&arguments.names, &catalogue, environment.work_factor)?;
    let matrix = options(arguments, &environment)?;
    let cpus = u32::try_from(machine::cpus_online(&machine)).unwrap_or(1);
    let request = Request {
        tests,
        copies: matrix.copies(cpus, || [1, cpus].into_iter().unique())?,
        loads: vec![None],
        conditions: vec![Condition::none()],
        procedure: Procedure::new(matrix.effort()?),
        ..Request::default()
    };
    let heading = machine::greeting(&machine, arguments.brief);
    let files = Files::claim(&environment, &machine)?;
    let ending = |journal: &Journal, results: &Results, directory: &Path| {
        files.write(journal, results, &heading)?;
        if results.figures.is_empty() {
            return Ok(());
        }
        say(&format!(
            "unixmark: measured by the {} procedure; {} has the same figures with intervals and warnings",
            results.run.procedure,
            directory.join("report.txt").display()
        ));
        Ok(())
    };
    let watch = |event: &Event<'_>| files.passed(event);
    let job = Job { ending: Some(&ending), watch: Some(&watch), ..Job::new(&matrix, request) };
    let status = job.carry_out(&catalogue, &machine)?;
    // UnixBench has one code for whatever went wrong.
    Ok(if status == Status::Nothing { Status::Failed } else { status })
}

/// Returns the tests of UnixBench's names.
fn tests(names: &[String], catalogue: &Catalogue, work_factor: u32) -> Result<Vec<Arc<Test>>> {
    let names: Vec<&str> = if names.is_empty() { vec!["index"] } else { names.iter().map(String::as_str).collect() };
    let names = names.iter().flat_map(|name| if *name == "all" { ALL.to_vec() } else { vec![*name] });
    let names: Vec<String> = names.map(str::to_owned).collect();
    let tests = catalogue.expand(&names).map_err(usage)?;
    let with_factor = |test: Arc<Test>| if work_factor == 1 { test } else { Arc::new(with_factor(&test, work_factor)) };
    Ok(tests.into_iter().map(with_factor).collect())
}

/// Returns a test whose script, if it runs one, sorts `factor` texts in a row.
fn with_factor(test: &Test, factor: u32) -> Test {
    let is_script = test.command.first().is_some_and(|script| script.ends_with(SCRIPT));
    let factor = (is_script && factor > 1).then(|| factor.to_string());
    Test { command: test.command.iter().cloned().chain(factor).collect(), ..test.clone() }
}

/// Returns the options of `unixmark run` that do what UnixBench's ask for.
fn options(arguments: &Arguments, environment: &Environment) -> Result<Matrix> {
    let asked = arguments.procedure.map(name).or_else(|| environment.procedure.clone());
    let kind = asked.unwrap_or_else(|| name(Kind::Classic));
    let mut words: Vec<OsString> = ["--strict", "--procedure"].map(OsString::from).to_vec();
    words.extend([kind.into(), "--dir".into(), environment.tmp.clone().into_os_string()]);
    let flags = [("--quiet", arguments.quiet), ("--verbose", arguments.verbose)];
    words.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.into()));
    let numbers = arguments.copies.iter().map(|copies| ("--copies", copies));
    for (name, value) in numbers.chain(arguments.iterations.iter().map(|number| ("--iterations", number))) {
        words.push(format!("{name}={value}").into());
    }
    if environment.work_factor > 1 {
        words.push(format!("--comment=MULTI_SH_WORK_FACTOR={}", environment.work_factor).into());
    }
    typed(words).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        usage(anyhow!("{}", first.trim_start_matches("error: ")))
    })
}

/// Returns a directory that exists from now on.
fn directory(path: &Path, variable: &str) -> Result<()> {
    if let Err(error) = std::fs::create_dir_all(path) {
        bail!("the directory {} cannot be made ({error}); set {variable} to one that can be written", path.display());
    }
    Ok(())
}
