//! `unixmark run`: from arguments to a plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use super::measure::{self, Job, Options, duration};
use super::values::{Copies, copies, share, unique};
use super::{Status, usage};
use catalogue::{self, Catalogue, Classic, Extra, Metric, Role, Test};
use machine::{self, Machine};
use plan::{Kind, Pin, Plan, Procedure, Request};

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(super) struct Arguments {
    /// Tests or groups [default: index]; with --program, its arguments as key=value
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// How to measure
    #[arg(long, value_enum, default_value_t = Kind::Standard)]
    procedure: Kind,
    /// How many copies: `2`, `1,2,4`, `1..9` or `max` [default: 1 and one per processor]
    #[arg(short, long, value_name = "N", value_parser = copies)]
    copies: Vec<Copies>,
    /// Blocks (classic: passes of a long test; a short one has a third)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(..10_000))]
    iterations: Option<u32>,
    /// What runs in the background
    #[arg(long, value_name = "L,…", value_delimiter = ',', default_value = "none")]
    load: Vec<String>,
    /// What is switched on the machine
    #[arg(long, value_name = "C,…", value_delimiter = ',', default_value = "none")]
    condition: Vec<String>,
    /// Begin no further block after this time: 90s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Measure a cell until its interval is this narrow: 1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    precision: Option<f64>,
    /// Measure an executable of your own that speaks the protocol
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Which processor each copy runs on
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    pin: Pin,
    /// Divide by the scores of this run instead of George's
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let plan = plan(arguments, &catalogue, &machine).map_err(usage)?;
    let job = Job {
        own: arguments.program.as_deref(),
        baseline: arguments.baseline.as_deref(),
        indexes: indexes(&catalogue, &arguments.names),
        pin: arguments.pin,
        ..Job::new(&arguments.options, &catalogue, &machine, &plan)
    };
    measure::carry_out(&job)
}

/// Makes the plan of the arguments.
fn plan(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Plan> {
    let tests = match &arguments.program {
        Some(path) => vec![Arc::new(own_test(path, &arguments.names)?)],
        None if arguments.names.is_empty() => catalogue.expand(&["index".to_owned()])?,
        None => catalogue.expand(&arguments.names)?,
    };
    let cpus = u32::try_from(machine::cpus_online(machine)).unwrap_or(1);
    let copies = if arguments.copies.is_empty() { unique(&[1, cpus]) } else { Copies::all(&arguments.copies, cpus)? };
    if arguments.procedure == Kind::Classic && (arguments.budget.is_some() || arguments.precision.is_some()) {
        bail!("the classic procedure has a length of its own; --budget and --precision go with the standard one");
    }
    // UnixBench's `-i 0` is its default.
    let iterations = arguments.iterations.filter(|number| *number > 0);
    let procedure = Procedure::new(arguments.procedure, arguments.precision, arguments.budget, iterations);
    let request = Request {
        tests,
        copies,
        loads: catalogue.expand_loads(&arguments.load)?,
        conditions: catalogue.expand_conditions(&arguments.condition)?,
        procedure,
        seed: arguments.options.seed(),
        pin: arguments.pin.order(&machine::topology(machine)),
        ..Request::default()
    };
    Plan::new(&request, catalogue)
}

/// The catalogue row of a program of the user's own.
pub(super) fn own_test(path: &Path, words: &[String]) -> Result<Test> {
    if let Some(word) = words.iter().find(|word| !word.contains('=')) {
        bail!("'{word}' is no argument of {}: with --program, words are key=value", path.display());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id: String = stem.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    Ok(Test {
        label: id.clone(),
        id,
        unit: "lps".to_owned(),
        metric: Metric::Rate,
        value: None,
        program: path.display().to_string(),
        sources: Vec::new(),
        define: Vec::new(),
        args: words.to_vec(),
        command: Vec::new(),
        timebase: 1.0,
        scale: 1.0,
        needs: Vec::new(),
        copies: catalogue::Copies::Processes,
        limit: None,
        truncate: false,
        clock: None,
        calls: false,
        keep: false,
        number: None,
        memory: None,
        roles: vec![Role::Bench],
        category: "own".to_owned(),
        classic: Classic::default(),
        standard: Extra::default(),
        baseline: std::collections::BTreeMap::new(),
        checks: std::collections::BTreeMap::new(),
        also: Vec::new(),
        doc: String::new(),
    })
}

/// The indexes to show: those that groups of their names ask for, and the usual ones if there is more.
fn indexes(catalogue: &Catalogue, names: &[String]) -> Vec<String> {
    let asked =
        |id: &String| names.contains(id) && !catalogue.indexes.iter().any(|index| index.always && index.id == *id);
    let ids = || catalogue.indexes.iter().map(|index| &index.id);
    if !ids().any(asked) {
        return Vec::new();
    }
    let only = names.iter().all(asked);
    let shown = catalogue.indexes.iter().filter(|index| asked(&index.id) || (index.always && !only));
    shown.map(|index| index.id.clone()).collect()
}
