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
    if arguments.procedure == Kind::Classic && (arguments.budget.is_some() || arguments.precision.is_some()) {
        bail!("the classic procedure has a length of its own; --budget and --precision go with the standard one");
    }
    // UnixBench's `-i 0` is its default.
    let iterations = arguments.iterations.filter(|number| *number > 0);
    let procedure = Procedure::new(arguments.procedure, arguments.precision, arguments.budget, iterations);
    let seed = arguments.seed.unwrap_or_else(|| u64::from(jiff::Timestamp::now().subsec_nanosecond().unsigned_abs()));
    let request = Request {
        tests,
        copies: unique(&copies),
        loads: unique(&arguments.load),
        conditions: unique(&arguments.condition),
        procedure,
        seed,
    };
    Plan::new(&request, catalogue)
}

/// The values, each once, in order.
fn unique<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

/// The catalogue row of a program of the user's own.
fn own_test(path: &Path, words: &[String]) -> Result<Test> {
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

fn measure(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine, plan: &Plan) -> Result<Status> {
    let store = arguments.results.store()?;
    let baseline = arguments.baseline.as_deref().map(|name| report::baseline(&store, catalogue, name));
    let baseline = baseline.transpose().map_err(usage)?;
    let own = arguments.program.as_deref().map(absolute).transpose().map_err(usage)?;
    let loudness = Loudness::of(arguments.quiet, arguments.verbose);
    // Held until the end: the kernel gives the name back however the tool ends.
    let place = Place::take();
    let mut warnings = Vec::new();
    if place.shared() {
        warnings.push("another unixmark run was going on on this machine: the figures share it".to_owned());
    }
    let dir = usable(&arguments.dir).map_err(usage)?;
    let host = machine.read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned());
    let (name, directory) = store.create(&host, &today())?;
    let programs = if own.is_some() {
        None
    } else {
        let tests: Vec<&Test> = plan.cells.iter().map(|cell| &*cell.test).collect();
        let programs = Programs::prepare(machine, &tests, arguments.build).inspect_err(|_| {
            // Only an empty directory goes; nothing was measured.
            let _ = std::fs::remove_dir(&directory);
        });
        Some(programs?)
    };
    warnings.extend(programs.as_ref().and_then(|programs| programs.warning.clone()));
    warnings.extend(too_many_copies(machine, plan));
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
        arguments: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        cpus: machine::cpus_online(machine),
        indexes: indexes(catalogue, &arguments.names),
        build: programs.as_ref().map(|programs| programs.build.clone()),
        baseline,
    })))?;
    for fact in machine::facts(machine, &dir) {
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
        dir: &dir,
        patience: arguments.patience,
        enough: &|cell, trials| {
            let wanted = plan.procedure.precision.unwrap_or(0.0);
            analysis::estimate(cell, trials).spread() <= wanted
        },
    };
    let mut progress = Progress::new(plan, loudness);
    let outcome = runner::run(&setting, &mut writer, &mut |event| progress.show(event));
    progress.finish();
    if place.shared() {
        let text = "another unixmark run was going on on this machine: the figures share it".to_owned();
        // A journal that cannot be written shows in conclude.
        let _ = writer.append(&Record::Warning(Warning { cell: None, text }));
    }
    conclude(&mut writer, began, outcome, catalogue, &directory, loudness)
}

/// The path of an executable of the user's, for a process that starts elsewhere.
fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("{} cannot be run", path.display()))
}

/// The directory the programs work in, as every process can name it.
fn usable(dir: &Path) -> Result<PathBuf> {
    let dir =
        dir.canonicalize().with_context(|| format!("the directory {} cannot be used; try --dir DIR", dir.display()))?;
    if !dir.is_dir() {
        bail!("{} is no directory; try --dir DIR", dir.display());
    }
    Ok(dir)
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
    let failed = failed.is_some() || journal.trials.iter().any(|trial| trial.error.is_some());
    if loudness != Loudness::Quiet {
        // Whoever reads the report may have gone; how the run went is told by the exit code all the same.
        if let Err(error) = print(&render(&results, Format::Text)?) {
            say(&format!("unixmark: the report cannot be shown: {error:#}"));
        }
        say(&format!("\nThe run and its reports lie in {}", directory.display()));
    }
    Ok(match signal {
        Some(number) => Status::Signal(number),
        None if results.rows.is_empty() => Status::Nothing,
        None if failed || !results.errors.is_empty() => Status::Failed,
        None => Status::Fine,
    })
}

/// One of a few names that one process of the machine can have at a time. An abstract socket needs no
/// file, works across users and is gone with its process, however that ends.
struct Place {
    number: Option<u32>,
    /// Held, not used: the name is this process's as long as the socket is open.
    _socket: Option<UnixListener>,
}

impl Place {
    const NUMBERS: std::ops::Range<u32> = 0..16;

    /// Takes the first name that is free.
    fn take() -> Place {
        let mut numbers = Place::NUMBERS;
        let free = numbers.find_map(|number| Some((number, Place::bind(number).ok()?)));
        match free {
            Some((number, socket)) => Place { number: Some(number), _socket: Some(socket) },
            None => Place { number: None, _socket: None },
        }
    }

    /// Whether another process has one of the names now.
    fn shared(&self) -> bool {
        let mut others = Place::NUMBERS.filter(|number| Some(*number) != self.number);
        others.any(|number| Place::bind(number).is_err_and(|error| error.kind() == ErrorKind::AddrInUse))
    }

    fn bind(number: u32) -> std::io::Result<UnixListener> {
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(format!("unixmark-run-{number}"))?)
    }
}
