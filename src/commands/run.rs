//! `unixmark run`: from arguments to a journal and its reports.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::progress::{Loudness, Progress};
use super::{Results, Status, print, report, say, usage};
use crate::analysis;
use crate::catalogue::{Catalogue, Classic, Extra, Metric, Role, Test};
use crate::journal::{self, End, FORMAT, Record, Run, Warning, Writer, today};
use crate::machine::{self, Machine};
use crate::plan::{self, Kind, Plan, Procedure, Request};
use crate::report::{Format, render};
use crate::runner::{self, Outcome, Programs, Setting, Wanted};

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
    /// The programs' build [default: native where there is a compiler]
    #[arg(long, value_enum)]
    build: Option<Wanted>,
    /// Seed of the random order [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the measured programs work
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    dir: PathBuf,
    /// Measure an executable of your own that speaks the protocol
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Divide by the scores of this run instead of George's
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// How long a silent program is waited for
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    patience: Duration,
    /// Show the plan and its expected duration, and measure nothing
    #[arg(long)]
    dry_run: bool,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say each trial and its command
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    results: Results,
}

/// One `-c`: numbers of copies, where 0 stands for one per processor.
#[derive(Debug, Clone)]
struct Copies(Vec<u32>);

const MAX: u32 = 0;

fn copies(text: &str) -> Result<Copies> {
    let number = |text: &str| -> Result<u32> {
        match text.trim() {
            "max" => Ok(MAX),
            digits => match digits.parse::<u32>() {
                Ok(0) => bail!("there is nothing to measure with 0 copies; try 1"),
                Ok(number) if number <= 100_000 => Ok(number),
                _ => bail!("'{text}' is no number of copies; try 2, 1,2,4, 1..9 or max"),
            },
        }
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from == MAX || to == MAX || from > to || to - from > 4096 {
                    bail!("'{part}' is no range of copies; try 1..9");
                }
                list.extend(from..=to);
            }
            None => list.push(number(part)?),
        }
    }
    Ok(Copies(list))
}

fn duration(text: &str) -> Result<Duration> {
    let parsed = text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    match parsed {
        Some(time) if !time.is_zero() => Ok(time),
        _ => bail!("'{text}' is no length of time; try 90s, 3m or 1h"),
    }
}

fn share(text: &str) -> Result<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share / unit < 1.0 => Ok(share / unit),
        _ => bail!("'{text}' is no share; try 1% or 0.01"),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let plan = plan(arguments, &catalogue, &machine).map_err(usage)?;
    if arguments.dry_run {
        print(&plan::show(&plan))?;
        return Ok(Status::Fine);
    }
    measure(arguments, &catalogue, &machine, &plan)
}

/// Makes the plan of the arguments.
fn plan(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Plan> {
    let tests = match &arguments.program {
        Some(path) => vec![Arc::new(own_test(path, &arguments.names)?)],
        None if arguments.names.is_empty() => catalogue.expand(&["index".to_owned()])?,
        None => catalogue.expand(&arguments.names)?,
    };
    let cpus = u32::try_from(machine::cpus_online(machine)).unwrap_or(1);
    let mut copies: Vec<u32> = if arguments.copies.is_empty() {
        vec![1, MAX]
    } else {
        arguments.copies.iter().flat_map(|list| list.0.iter().copied()).collect()
    };
    for count in &mut copies {
        if *count == MAX {
            *count = cpus;
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    copies.retain(|count| seen.insert(*count));
    // UnixBench's `-i 0` is its default.
    let iterations = arguments.iterations.filter(|number| *number > 0);
    let procedure = Procedure::new(arguments.procedure, arguments.precision, arguments.budget, iterations);
    let seed = arguments.seed.unwrap_or_else(|| u64::from(jiff::Timestamp::now().subsec_nanosecond().unsigned_abs()));
    let request = Request {
        tests,
        copies,
        loads: arguments.load.clone(),
        conditions: arguments.condition.clone(),
        procedure,
        seed,
    };
    Plan::new(&request, catalogue)
}

/// The catalogue row of a program of the user's own.
fn own_test(path: &Path, words: &[String]) -> Result<Test> {
    if let Some(word) = words.iter().find(|word| !word.contains('=')) {
        bail!("'{word}' is no argument of {}: with --program, words are key=value", path.display());
    }
    let id = path.file_stem().map_or_else(|| "program".to_owned(), |stem| stem.to_string_lossy().into_owned());
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
        roles: vec![Role::Bench],
        category: "own".to_owned(),
        classic: Classic { seconds: 10, passes: 10, prepare: 0, args: Vec::new() },
        standard: Extra::default(),
        baseline: std::collections::BTreeMap::new(),
        checks: std::collections::BTreeMap::new(),
        also: Vec::new(),
        doc: String::new(),
    })
}

fn measure(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine, plan: &Plan) -> Result<Status> {
    let store = arguments.results.store()?;
    let baseline = arguments.baseline.as_deref().map(|name| report::baseline(&store, catalogue, name));
    let baseline = baseline.transpose().map_err(usage)?;
    let own = arguments.program.as_deref().map(absolute).transpose().map_err(usage)?;
    let loudness = Loudness::of(arguments.quiet, arguments.verbose);
    // Held until the end: the kernel gives the name back however the tool ends.
    let place = Place::take();
    let mut warnings = Vec::new();
    if place.shared {
        warnings.push("another unixmark run was going on on this machine: the figures share it".to_owned());
    }
    let programs = if own.is_some() {
        None
    } else {
        let tests: Vec<&Test> = plan.cells.iter().map(|cell| &*cell.test).collect();
        Some(Programs::prepare(machine, &tests, arguments.build)?)
    };
    warnings.extend(programs.as_ref().and_then(|programs| programs.warning.clone()));
    warnings.extend(too_many_copies(machine, plan));
    let host = machine.read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned());
    let (name, directory) = store.create(&host, &today())?;
    let began = Instant::now();
    let mut writer = Writer::create(&directory)?;
    writer.append(&Record::Run(Box::new(Run {
        format: FORMAT.to_owned(),
        name,
        host,
        tool: concat!("unixmark ", env!("CARGO_PKG_VERSION")).to_owned(),
        started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        procedure: plan.procedure.kind.name().to_owned(),
        seed: plan.seed,
        arguments: std::env::args().skip(1).collect(),
        cpus: machine::cpus_online(machine),
        indexes: indexes(catalogue, &arguments.names),
        build: programs.as_ref().map(|programs| programs.build.clone()),
        baseline,
    })))?;
    for fact in machine::facts(machine, &arguments.dir) {
        writer.append(&Record::Fact(fact))?;
    }
    for text in warnings {
        if loudness != Loudness::Quiet {
            say(&format!("warning: {text}"));
        }
        writer.append(&Record::Warning(Warning { cell: None, text }))?;
    }
    let setting = Setting {
        machine,
        plan,
        programs: programs.as_ref(),
        own: own.as_deref(),
        dir: &arguments.dir,
        patience: arguments.patience,
        enough: &|cell, trials| {
            let wanted = plan.procedure.precision.unwrap_or(0.0);
            analysis::estimate(cell, trials).spread() <= wanted
        },
    };
    let mut progress = Progress::new(plan, loudness);
    let outcome = runner::run(&setting, &mut writer, &mut |event| progress.show(event));
    progress.finish();
    conclude(&mut writer, began, outcome, catalogue, &directory, loudness)
}

/// The path of an executable of the user's, for a process that starts elsewhere.
fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("{} cannot be run", path.display()))
}

/// Warns of more copies than processes are allowed.
fn too_many_copies(machine: &Machine, plan: &Plan) -> Option<String> {
    let limit = machine::copies_limit(machine)?;
    let most = plan.cells.iter().map(|cell| u64::from(cell.copies)).max()?;
    (most > limit).then(|| format!("{most} copies are wanted and about {limit} processes are allowed here"))
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

/// Ends the journal, writes the reports and shows the result.
fn conclude(
    writer: &mut Writer,
    began: Instant,
    outcome: Result<Outcome>,
    catalogue: &Catalogue,
    directory: &Path,
    loudness: Loudness,
) -> Result<Status> {
    let (end, signal) = match outcome {
        Ok(Outcome::Complete) => (Ok("complete"), None),
        Ok(Outcome::Budget) => (Ok("budget"), None),
        Ok(Outcome::Stopped(number)) => (Ok("interrupted"), Some(number)),
        Err(error) => (Err(error), None),
    };
    let ended = end.and_then(|reason| {
        writer.append(&Record::End(End { reason: reason.to_owned(), seconds: began.elapsed().as_secs_f64() }))?;
        writer.sync()
    });
    let mut failed = ended.err();
    if let Some(error) = &failed {
        say(&format!("unixmark: {error:#}"));
    }
    let journal = journal::read(directory)?;
    let results = analysis::Results::new(&journal, catalogue, None);
    if let Err(error) = report::write_all(&results, directory) {
        say(&format!("unixmark: {error:#}"));
        failed = Some(error);
    }
    if loudness != Loudness::Quiet {
        print(&render(&results, Format::Text)?)?;
        say(&format!("\nThe run and its reports lie in {}", directory.display()));
    }
    Ok(match signal {
        Some(number) => Status::Signal(number),
        None if results.rows.is_empty() => Status::Nothing,
        None if failed.is_some() || !results.errors.is_empty() => Status::Failed,
        None => Status::Fine,
    })
}

/// One of a few names that one process of the machine can have at a time.
struct Place {
    /// Held, not used: the name is this process's as long as the socket is open.
    _socket: Option<UnixListener>,
    /// Whether another process has one of them.
    shared: bool,
}

impl Place {
    /// Takes the first name that is free. An abstract socket needs no file, works across users and is
    /// gone with its process, however that ends.
    fn take() -> Place {
        let mut place = Place { _socket: None, shared: false };
        for number in 0..16 {
            let name = SocketAddr::from_abstract_name(format!("unixmark-run-{number}"));
            match name.and_then(|name| UnixListener::bind_addr(&name)) {
                Ok(socket) => place._socket = place._socket.take().or(Some(socket)),
                Err(error) => place.shared |= error.kind() == ErrorKind::AddrInUse,
            }
        }
        place
    }
}
