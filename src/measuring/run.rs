//! `unixmark run`: tests and groups, in every combination of copies, loads and conditions.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::measuring::job::carry_out;
use crate::measuring::options::{Commands, MatrixOptions, caption, counted, executable, with_default};
use crate::reports::baseline;
use crate::status::{Status, usage};
use catalogue::{Catalogue, Test};
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
    /// Tests, groups or quoted commands [default: index]; with --program, its arguments as KEY=VALUE
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// State of the machine: one or more of `unixmark list conditions`, such as `thp=never` [default: none]
    #[arg(long, value_name = "CONDITION,…", value_delimiter = ',', default_value = "none", hide_default_value = true)]
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
    /// Use this run, or this entry of `unixmark reference`, as the baseline, instead of UnixBench's reference machine
    /// 'George', a SPARCstation of 1995 that scores 10
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Count what commands do, too: system calls by name, processes, memory; in executions that are not timed
    #[arg(long, conflicts_with = "program")]
    counts: bool,
    /// A command of yours, executed as it is
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "program")]
    words: Vec<OsString>,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let options = &arguments.options;
    carry_out(options, &arguments.commands.exports(), |catalogue, machine| {
        let ask = ask(arguments, catalogue, machine).map_err(usage)?;
        let Some(name) = &arguments.baseline else { return Ok(ask) };
        let baseline = baseline(&options.measuring.results.store()?, catalogue, name)?;
        Ok(Ask { baseline: Some(baseline), ..ask })
    })
}

/// Returns what the arguments ask for.
pub(super) fn ask(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Ask> {
    let options = &arguments.options;
    let cpus = machine::cpus_online(machine);
    let matrix = Matrix {
        tests: tests(arguments, catalogue)?,
        copies: options.copies(cpus, || [1, cpus].into_iter().unique())?,
        loads: options.loads(catalogue)?,
        arms: Arms::apart(catalogue.expand_conditions(&arguments.condition)?),
        procedure: Procedure::new(Purpose::Scores, arguments.commands.effort(options.effort()?)),
        ..Matrix::default()
    };
    let time_unit = arguments.commands.time_unit;
    Ok(Ask { indexes: indexes(catalogue, &arguments.names), time_unit, ..options.ask(matrix) })
}

fn tests(arguments: &Arguments, catalogue: &Catalogue) -> Result<Vec<Arc<Test>>> {
    let names = &arguments.names;
    let Some(path) = &arguments.program else {
        let unknown = |name: &&String| catalogue.expand(std::slice::from_ref(*name)).is_err();
        if let Some(verb) = names.iter().find(|name| super::start::is_verb(name)).filter(unknown) {
            bail!("'{verb}' is not a test but a verb; try `unixmark {verb}`");
        }
        let tests = arguments.commands.tests(catalogue, (names, &arguments.words), "index")?;
        if !arguments.counts {
            return Ok(tests);
        }
        if !tests.iter().any(|test| test.is_command()) {
            bail!("--counts is for commands, and there is none; try `unixmark run --counts -- COMMAND`");
        }
        return tests.into_iter().map(|test| counted(catalogue, test)).collect();
    };
    if let Some(word) = names.iter().find(|word| !word.contains('=')) {
        bail!("'{word}' is not an argument for {}: with --program, arguments are KEY=VALUE", path.display());
    }
    let row = Test::foreign(&executable(path)?, names)?;
    let label = arguments.label.clone().unwrap_or_else(|| row.label.clone());
    let unit = arguments.unit.clone().unwrap_or_else(|| row.unit.clone());
    Ok(vec![Arc::new(Test { label, unit, ..row })])
}

/// The indexes to show: those that groups of their names ask for, and the usual ones if there is more.
fn indexes(catalogue: &Catalogue, names: &[String]) -> Vec<String> {
    let is_asked =
        |id: &String| names.contains(id) && !catalogue.indexes.iter().any(|index| index.always && index.id == *id);
    if !catalogue.indexes.iter().any(|index| is_asked(&index.id)) {
        return Vec::new();
    }
    let only = names.iter().all(is_asked);
    let shown = catalogue.indexes.iter().filter(|index| is_asked(&index.id) || (index.always && !only));
    shown.map(|index| index.id.clone()).collect()
}
