//! `unixmark unixbench`, or the tool called as `Run`: UnixBench 6.0.0's command line, variables and
//! files.
//!
//! The words and variables ([`Environment`]) become a run of the classic procedure, whose results
//! are also written as UnixBench's files ([`Files`]). The tool called by the name of one of
//! UnixBench's programs measures once and prints what that program prints ([`programs`]).

mod environment;
mod files;
mod install;
mod programs;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::measuring::job::{check_prepared, conclude, measure_observed};
use crate::measuring::options::{Copies, copies, new_seed, setup};
use crate::measuring::terminal::{Form, Loudness, RunDisplay};
use crate::options::Results;
use crate::status::{Status, usage};
use crate::terminal::say;
use catalogue::{Catalogue, Test};
use environment::Environment;
use files::Files;
use machine::Machine;
use measure::{Ask, Setup};
use plan::{Effort, Kind, Matrix, Procedure, Purpose};
pub(super) use programs::run_as_program;
use words::Unique;

/// The name that UnixBench's script has.
const RUN: &str = "Run";

const VERB: &str = "unixbench";

/// The groups and tests that `all` stands for: every test of UnixBench.
const ALL: [&str; 8] = ["dhry", "speed", "fs", "misc", "grep", "sysexec", "2d", "3d"];

/// The script of the shell tests, whose work `MULTI_SH_WORK_FACTOR` multiplies.
const SCRIPT: &str = "multi.sh";

#[derive(Debug, clap::Args)]
#[command(args_override_self = true, after_help = VARIABLES)]
pub(crate) struct Arguments {
    /// Tests or groups, by UnixBench's names [default: index]
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// Number of copies: `2`, `1,2,4`, `1..9`, `max`, `2max`, `max/2` or `1..max`; repeatable
    /// [default: 1 and one per processor]
    #[arg(short, long, value_name = "N", value_parser = copies)]
    copies: Vec<Copies>,
    /// Number of blocks (classic: passes per long test; short tests get a third); 0 means the
    /// default, as in UnixBench
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(..10_000))]
    iterations: Option<u32>,
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
    /// Measure nothing; lay out a directory like UnixBench's, with `Run` and `pgms/`, for scripts
    /// that call those
    #[arg(long, value_name = "DIR", exclusive = true)]
    install: Option<PathBuf>,
}

const VARIABLES: &str = "\
Environment, as UnixBench's: UB_RESULTDIR (default: ./results) holds the reports, UB_TMPDIR (default: ./tmp) is where \
programs work, UB_OUTPUT_FILE_NAME replaces HOST-YYYY-MM-DD-NN, UB_OUTPUT_CSV=true adds the .csv, \
MULTI_SH_WORK_FACTOR=N has the shell tests sort N texts in a row. The run is kept where UNIXMARK_RESULTS says. UB_BINDIR and UB_GCC_OPTIONS are refused: the programs \
are unixmark's own. A link called `Run` to the tool needs no verb.

Exit codes, as UnixBench's: 0 fine, 1 anything else; 128 + N ended by signal N.";

/// Adds the verb to a command line by which the tool was called as `Run`.
pub(super) fn add_verb(words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().and_then(|name| Path::new(name).file_name());
    if name != Some(OsStr::new(RUN)) {
        return words;
    }
    ["unixmark", VERB].into_iter().map(OsString::from).chain(words.into_iter().skip(1)).collect()
}

/// True if a command line is UnixBench's, which has exit codes of its own.
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
    let ask = to_ask(arguments, &environment, &catalogue, &machine)?;
    let prepared = measure::prepare(ask, &catalogue, &machine).map_err(usage)?;
    check_prepared(&prepared)?;

    let heading = machine::greeting(&machine, arguments.brief);
    let mut files = Files::claim(&environment, &machine)?;
    let comment = match environment.work_factor {
        1 => String::new(),
        factor => format!("MULTI_SH_WORK_FACTOR={factor}"),
    };
    let setup = setup(&Results::default(), Some(&environment.tmp))?;
    let setup = Setup { strict: true, comment, ..setup };

    // Passes are shown as UnixBench shows them where they are its passes.
    let loudness = Loudness::new(arguments.quiet, arguments.verbose);
    let kind = prepared.ask.matrix.procedure.effort.kind;
    let has_passes = kind == Kind::Classic && loudness == Loudness::Normal;
    let form = if has_passes { Form::Passes } else { Form::Lines };
    let display = RunDisplay::new(&prepared.plan, &machine, loudness, form);
    let (measured, kept) = measure_observed(files.log_run(display), &prepared, &setup, loudness)?;

    let written = files.write(&measured.journal, &measured.results, &heading);
    if written.is_ok() && !measured.results.figures.is_empty() {
        say(&format!(
            "unixmark: measured by the {} procedure; {} has the same figures with intervals and warnings",
            measured.results.run.procedure,
            measured.directory.join("report.txt").display()
        ));
    }

    // UnixBench has one code for whatever went wrong.
    match conclude(&measured, &[kept, written], loudness, None)? {
        Status::Nothing => Ok(Status::Failed),
        status => Ok(status),
    }
}

/// The request that the arguments and the variables make.
fn to_ask(
    arguments: &Arguments,
    environment: &Environment,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<Ask> {
    let tests = find_tests(&arguments.names, catalogue, environment.work_factor)?;
    let cpus = machine::cpus_online(machine);
    let copies = match &arguments.copies[..] {
        [] => [1, cpus].into_iter().unique(),
        counts => Copies::all(counts, cpus)?,
    };

    let kind = arguments.procedure.or(environment.procedure).unwrap_or(Kind::Classic);
    let blocks = arguments.iterations.filter(|number| *number > 0);
    let effort = Effort { kind, blocks, ..Effort::default() };
    let procedure = Procedure::new(Purpose::Scores, effort);
    let matrix = Matrix { tests, copies, procedure, seed: new_seed(), ..Matrix::default() };
    Ok(Ask { matrix, ..Ask::default() })
}

/// The tests of UnixBench's names, the index without any.
fn find_tests(names: &[String], catalogue: &Catalogue, work_factor: u32) -> Result<Vec<Arc<Test>>> {
    let mut expanded = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => expanded.extend(ALL.map(str::to_owned)),
            _ => expanded.push(name.clone()),
        }
    }
    if expanded.is_empty() {
        expanded.push("index".to_owned());
    }

    let mut tests = catalogue.expand(&expanded).map_err(usage)?;
    for test in &mut tests {
        set_work_factor(Arc::make_mut(test), work_factor);
    }
    Ok(tests)
}

/// Has the script of a test, if it runs one, sort `factor` texts in a row.
fn set_work_factor(test: &mut Test, factor: u32) {
    let is_script = test.command.first().is_some_and(|script| script.ends_with(SCRIPT));
    if is_script && factor > 1 {
        test.command.push(factor.to_string());
    }
}

/// Makes a directory unless it is there; `variable` names it.
fn make_directory(path: &Path, variable: &str) -> Result<()> {
    if let Err(error) = ::files::make_directories(path) {
        bail!(
            "the directory {} cannot be made ({error}); set {variable} to one that can be written",
            path.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a command line and the variables ask for, where the variables name a procedure and a
    /// factor.
    fn parsed(words: &str, procedure: Option<Kind>, work_factor: u32) -> Ask {
        let words = [VERB].into_iter().chain(words.split_whitespace());
        let command = <Arguments as clap::Args>::augment_args(clap::Command::default());
        let matches = command.try_get_matches_from(words).unwrap();
        let arguments = <Arguments as clap::FromArgMatches>::from_arg_matches(&matches).unwrap();
        let (results, tmp) = (PathBuf::from("results"), PathBuf::from("tmp"));
        let environment =
            Environment { results, tmp, file_name: None, csv: false, work_factor, procedure };
        to_ask(&arguments, &environment, &Catalogue::load().unwrap(), &Machine::here()).unwrap()
    }

    #[test]
    fn what_unixbench_s_words_ask_for() {
        let Matrix { tests, copies, loads, procedure, .. } = parsed("", None, 1).matrix;
        let cpus = machine::cpus_online(&Machine::here());
        assert_eq!((copies, loads.len()), ([1, cpus].into_iter().unique(), 1));
        assert_eq!((procedure.effort.kind, procedure.effort.blocks), (Kind::Classic, None));
        let names: Vec<&str> = tests.iter().map(|test| &*test.id).collect();
        assert!(
            names.len() == 12 && names.contains(&"dhry2reg") && names.contains(&"shell8"),
            "{names:?}"
        );
        let Matrix { tests, copies, procedure, .. } =
            parsed("-c 2 -c 1 -i 6 pipe", Some(Kind::Quick), 1).matrix;
        assert_eq!((tests.len(), copies, procedure.min_blocks), (1, vec![2, 1], 6));
        assert_eq!(procedure.effort.kind, Kind::Quick);
        let named = parsed("-i 0 --procedure standard all", Some(Kind::Quick), 1).matrix;
        assert_eq!(
            (named.procedure.effort.kind, named.procedure.effort.blocks),
            (Kind::Standard, None)
        );
        assert!(named.tests.len() > 40, "{}", named.tests.len());
    }

    #[test]
    fn a_work_factor_has_scripts_sort_more_and_is_noted() {
        let command = |factor| parsed("shell8 pipe", None, factor).matrix.tests[0].command.clone();
        let (one, three) = (command(1), command(3));
        assert_eq!((three.len(), three.last().map(String::as_str)), (one.len() + 1, Some("3")));
        assert_eq!(
            parsed("pipe", None, 3).matrix.tests[0].command,
            parsed("pipe", None, 1).matrix.tests[0].command
        );
    }
}
