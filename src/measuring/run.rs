//! `unixmark run`: tests and groups, in every combination of copies, loads and conditions.
//!
//! The names are tests of the catalogue or quoted commands, or arguments of --program
//! ([`find_program`]). `latency`, `scale` and `cost` are presets of this verb.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use crate::measuring::burnin::{Shown, find_burst};
use crate::measuring::job::carry_out;
use crate::measuring::options::{
    Commands, MatrixOptions, ModeOption, caption, counted, executable, with_default,
};
use crate::measuring::start::is_verb;
use crate::reports::baseline;
use crate::status::{Status, usage};
use catalogue::{Catalogue, Instructions, Test};
use machine::{self, Machine};
use measure::Ask;
use plan::{Arms, Matrix, Procedure, Purpose};
use words::Unique;

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| with_default(arg, "1 and one per processor")),
    mut_arg("load", |arg| with_default(arg, "none"))
)]
pub(crate) struct Arguments {
    /// Tests, groups or quoted commands [default: index]; with --program, its arguments as
    /// KEY=VALUE
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// State of the machine: one or more of `unixmark list conditions`, such as `thp=never`
    /// [default: none]
    #[arg(
        long,
        value_name = "CONDITION,…",
        value_delimiter = ',',
        default_value = "none",
        hide_default_value = true
    )]
    condition: Vec<String>,
    /// Measure an executable of your own that speaks the protocol
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Label of that program in reports [default: the file's name]
    #[arg(long, value_name = "TEXT", value_parser = caption, requires = "program")]
    label: Option<String>,
    /// Unit of that program's counts per second in reports [default: lps]
    #[arg(long, value_name = "UNIT", value_parser = caption, requires = "program")]
    unit: Option<String>,
    /// Use this run, or this entry of `unixmark reference`, as the baseline, instead of UnixBench's
    /// reference machine 'George', a SPARCstation of 1995 that scores 10
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Count what commands do, too: system calls by name, processes, memory, instructions,
    /// allocations; in executions that are not timed
    #[arg(long, conflicts_with = "program")]
    counts: bool,
    /// Say where the time of commands goes, too: by function, from samples of executions that are
    /// not timed
    #[arg(long = "where", conflicts_with = "program")]
    functions: bool,
    /// A command of yours, executed as it is
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "program")]
    words: Vec<OsString>,
    #[command(flatten)]
    mode: ModeOption,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

/// The name that measures as `burnin burst` does.
const BURST: &str = "burst";

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let options = &arguments.options;
    if arguments.names == [BURST] {
        return run_burst(options);
    }
    carry_out(options, &arguments.commands.report_exports(), |catalogue, machine| {
        let ask = to_ask(arguments, catalogue, machine).map_err(usage)?;
        let Some(name) = &arguments.baseline else {
            return Ok(ask);
        };
        let baseline = baseline(&options.measuring.results.store()?, catalogue, name)?;
        Ok(Ask { baseline: Some(baseline), ..ask })
    })
}

/// Finds how long a burst lasts, as `burnin burst` does.
fn run_burst(options: &MatrixOptions) -> Result<Status> {
    let machine = Machine::here();
    let (measuring, catalogue) = (&options.measuring, Catalogue::load()?);
    let usable = machine::cpus_usable(&machine);
    let copies = options.copies(machine::cpus_online(&machine), || vec![usable]).map_err(usage)?;
    let [threads] = copies[..] else {
        return Err(usage(anyhow!(
            "a burst has one number of threads; give --copies one value, such as --copies 4"
        )));
    };

    let shown = Shown { loudness: measuring.loudness(), layout: measuring.shown() };
    find_burst(threads, &measuring.setup(&machine)?, (&catalogue, &machine), shown)
}

/// The request that the arguments make.
pub(super) fn to_ask(
    arguments: &Arguments,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<Ask> {
    let Arguments { options, commands, .. } = arguments;
    let cpus = machine::cpus_online(machine);
    let tests = match &arguments.program {
        Some(path) => vec![find_program(arguments, path)?],
        None => find_tests(arguments, catalogue)?,
    };
    let matrix = Matrix {
        tests,
        copies: options.copies(cpus, || [1, cpus].into_iter().unique())?,
        loads: options.loads(catalogue)?,
        arms: Arms::apart(catalogue.expand_conditions(&arguments.condition)?),
        procedure: Procedure::new(Purpose::Scores, commands.effort(options.effort()?)),
        ..Matrix::default()
    };
    Ok(Ask {
        indexes: find_indexes(catalogue, &arguments.names),
        time_unit: commands.time_unit,
        ..options.ask(matrix)
    })
}

/// The test of the user's own program; the names are its arguments.
fn find_program(arguments: &Arguments, path: &Path) -> Result<Arc<Test>> {
    let Arguments { names, label, unit, .. } = arguments;
    if let Some(word) = names.iter().find(|word| !word.contains('=')) {
        bail!(
            "'{word}' is not an argument for {}: with --program, arguments are KEY=VALUE",
            path.display()
        );
    }

    let mut test = Test::foreign(&executable(path)?, names)?;
    if let Some(label) = label {
        test.label.clone_from(label);
    }
    if let Some(unit) = unit {
        test.unit.clone_from(unit);
    }
    Ok(Arc::new(test))
}

/// The tests and commands of the names.
fn find_tests(arguments: &Arguments, catalogue: &Catalogue) -> Result<Vec<Arc<Test>>> {
    let Arguments { names, words, commands, mode, .. } = arguments;
    if let Some(verb) = names.iter().find(|name| is_verb(name))
        && catalogue.expand(std::slice::from_ref(verb)).is_err()
    {
        bail!("'{verb}' is not a test but a verb; try `unixmark {verb}`");
    }

    let tests = commands.tests(catalogue, (names, words), "index")?;
    add_extras(arguments, catalogue, mode.apply(tests)?)
}

/// The tests, of which commands are also counted with --counts, and sampled with --where.
fn add_extras(
    arguments: &Arguments,
    catalogue: &Catalogue,
    tests: Vec<Arc<Test>>,
) -> Result<Vec<Arc<Test>>> {
    let has_command = tests.iter().any(|test| test.is_command());
    for (option, is_given) in [("--counts", arguments.counts), ("--where", arguments.functions)] {
        if is_given && !has_command {
            bail!(
                "{option} is for commands, and there is none; try `unixmark run {option} -- COMMAND`"
            );
        }
    }

    let mut complete = Vec::new();
    for mut test in tests {
        if arguments.counts {
            test = counted(catalogue, test, Instructions::IfShort)?;
        }
        if arguments.functions {
            test = arguments.commands.sampled(catalogue, test)?;
        }
        complete.push(test);
    }
    Ok(complete)
}

/// The indexes to show, in the catalogue's order: those that names of groups ask for, and those
/// that are always shown if other tests are named, too. None if only the latter are shown.
fn find_indexes(catalogue: &Catalogue, names: &[String]) -> Vec<String> {
    let is_asked = |id: &String| {
        names.contains(id) && !catalogue.indexes.iter().any(|index| index.always && index.id == *id)
    };
    if !catalogue.indexes.iter().any(|index| is_asked(&index.id)) {
        return Vec::new();
    }

    let has_other_names = !names.iter().all(is_asked);
    catalogue
        .indexes
        .iter()
        .filter(|index| is_asked(&index.id) || (index.always && has_other_names))
        .map(|index| index.id.clone())
        .collect()
}
