//! What every measuring command does with its plan: journal, programs, runner, reports.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::fleet::Part;
use super::place::Place;
use super::progress::{Display, Loudness};
use super::watch::Screen;
use super::{Results, Status, print, report, say, usage};
use ::report::Format;
use analysis::{self, BurnIn, Comparison, Effect};
use build::{BuildKind, Builds, Programs};
use catalogue::{Catalogue, Test};
use conditions::{Experiment, Settings};
use journal::{
    self, Cell, End, Ended, FORMAT, Fact, Procedure, Record, Run, Store, Trial, View, Warning, Writer, today,
};
use machine::{self, Machine};
use plan::{self, Pin, Plan};
use runner::{self, Measured, Outcome, Policy, Setting};

/// The options of every measuring command with a plan.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Seed of the random order [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Have graphics tests draw on a private X server, Xvfb, that ends with the run
    #[arg(long)]
    xvfb: bool,
    #[command(flatten)]
    manner: Manner,
}

/// The options of every measuring command.
#[derive(Debug, clap::Args)]
pub(super) struct Manner {
    /// The programs' build [default: native where there is a compiler]
    #[arg(long, value_enum)]
    build: Option<BuildKind>,
    /// Where the measured programs work [default: /var/tmp, or /tmp where that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How long a silent program is waited for
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub(super) patience: Duration,
    /// Show the plan and its expected duration, and measure nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say each trial and its command
    #[arg(short, long)]
    verbose: bool,
    /// Draw the run on the whole terminal
    #[arg(long, conflicts_with_all = ["quiet", "verbose"])]
    watch: bool,
    #[command(flatten)]
    fleet: Part,
    #[command(flatten)]
    pub(super) results: Results,
}

impl Options {
    /// The seed of every random order.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| u64::from(jiff::Timestamp::now().subsec_nanosecond().unsigned_abs()))
    }
}

impl Manner {
    /// How much is to be said.
    pub(super) fn loudness(&self) -> Loudness {
        Loudness::of(self.quiet || self.fleet.emit, self.verbose)
    }

    /// The terminal that is to be drawn on as a whole, if one is.
    pub(super) fn screen(&self) -> Result<Option<PathBuf>> {
        self.watch.then(Screen::find).transpose().map_err(usage)
    }

    /// The directory the programs work in, as every process can name it.
    pub(super) fn dir(&self) -> Result<PathBuf> {
        usable(workplace(self.dir.as_deref())).map_err(usage)
    }
}

/// What a measuring command wants done.
#[derive(Clone)]
pub(super) struct Job<'a> {
    pub(super) options: &'a Options,
    pub(super) catalogue: &'a Catalogue,
    pub(super) machine: &'a Machine,
    pub(super) plan: &'a Plan,
    /// An executable of the user's in place of the catalogue's.
    pub(super) own: Option<&'a Path>,
    /// The run to divide by.
    pub(super) baseline: Option<&'a str>,
    /// The indexes to show; the usual ones where there are none.
    pub(super) indexes: Vec<String>,
    /// The user's remark.
    pub(super) comment: &'a str,
    /// Whether the run is only shown and not kept.
    pub(super) console: bool,
    /// Where copies run.
    pub(super) pin: Pin,
    /// What reports show, where that is not the scores.
    pub(super) view: View,
    /// How conditions are kept.
    pub(super) conditions: Settings,
    /// Where a loss of so many per cent is to be looked at again, and makes the command fail.
    pub(super) gate: Option<f64>,
}

impl<'a> Job<'a> {
    /// A plan of which nothing else is asked.
    pub(super) fn new(options: &'a Options, catalogue: &'a Catalogue, machine: &'a Machine, plan: &'a Plan) -> Job<'a> {
        Job {
            options,
            catalogue,
            machine,
            plan,
            own: None,
            baseline: None,
            indexes: Vec::new(),
            comment: "",
            console: false,
            pin: Pin::None,
            view: View::Scores,
            conditions: Settings::default(),
            gate: None,
        }
    }
}

/// Reads a length of time.
pub(super) fn duration(text: &str) -> Result<Duration> {
    let parsed = text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    match parsed {
        Some(time) if !time.is_zero() => Ok(time),
        _ => bail!("'{text}' is no length of time; try 90s, 3m or 1h"),
    }
}

/// Carries out a plan, or with --dry-run shows it.
///
/// # Errors
/// The run could not begin or its journal could not be written.
pub(super) fn carry_out(job: &Job<'_>) -> Result<Status> {
    if job.options.manner.dry_run {
        print(&plan::show(job.plan))?;
        return Ok(Status::Fine);
    }
    measure(job)
}

fn measure(job: &Job<'_>) -> Result<Status> {
    let Job { catalogue, machine, plan, .. } = *job;
    let manner = &job.options.manner;
    // A run that is not kept goes with this directory.
    let unkept = job.console.then(|| Unkept::make(workplace(manner.dir.as_deref()))).transpose()?;
    let store = match &unkept {
        Some(unkept) => Store::at(Some(unkept.0.clone()))?,
        None => manner.results.store()?,
    };
    let baseline = job.baseline.map(|name| report::baseline(&store, catalogue, name));
    let baseline = baseline.transpose().map_err(usage)?;
    let own = job.own.map(absolute).transpose().map_err(usage)?;
    let loudness = manner.loudness();
    let dir = manner.dir()?;
    let against = job.plan.cells.iter().find(|cell| cell.control).map(|cell| cell.condition.name.clone());
    let against = against.unwrap_or_default();
    let suspects =
        job.gate.map(|size| move |cells: &[Cell], trials: &[Vec<Trial>]| analysis::suspects(cells, trials, size));
    let tests = if own.is_some() { Vec::new() } else { plan.tests().collect() };
    let run = Run {
        procedure: procedure(plan.procedure.kind),
        seed: plan.seed,
        indexes: job.indexes.clone(),
        comment: job.comment.to_owned(),
        baseline,
        view: job.view,
        against: against.clone(),
        pin: if job.pin == Pin::None { String::new() } else { job.pin.name().to_owned() },
        borders: job.pin.borders(&machine::topology(machine), most_copies(plan)),
        ..Run::default()
    };
    let warnings = too_many_copies(machine, plan).into_iter().collect();
    let screen = manner.screen()?;
    let experiment = plan.switches().then(|| Experiment::begin(job.conditions.clone())).transpose()?;
    let mut builds = builds(machine, plan, &tests)?;
    let graphics = plan.cells.iter().any(|cell| cell.test.graphics().is_some());
    let mut canvas =
        if job.options.xvfb && graphics { display::Display::private()? } else { display::Display::default() };
    let facts = if graphics { canvas.facts() } else { Vec::new() };
    let mut open = open(Opening { machine, store: &store, manner, dir: &dir, tests, facts, warnings, run })?;
    builds.extend(open.programs.clone().map(|programs| (String::new(), programs)));
    let setting = Setting {
        machine,
        plan,
        programs: &builds,
        own: own.as_deref(),
        display: &canvas,
        dir: &dir,
        patience: manner.patience,
        screen,
        policy: Policy {
            enough: &|family| enough(plan, job, family),
            suspects: suspects.as_ref().map(|suspects| suspects as _),
        },
    };
    // Messages before and after it stay on the terminal.
    let mut display = Display::new(plan, loudness, manner.watch, &open.name, machine)?;
    let outcome = runner::run(&setting, experiment, &mut open.writer, &mut |event| display.show(&event));
    drop(display);
    if let Some(text) = canvas.died() {
        say(&format!("warning: {text}"));
        open.writer.append(&Record::Warning(Warning { cell: None, text }))?;
    }
    conclude(open, outcome, catalogue, loudness, job.gate)
}

/// Whether the cells that are compared with each other were measured narrowly enough.
fn enough(plan: &Plan, job: &Job<'_>, family: &[Measured<'_>]) -> bool {
    if job.view == View::Cost {
        return analysis::enough_cost(family);
    }
    let wanted = plan.procedure.precision.unwrap_or(0.0);
    family.iter().all(|(cell, trials)| analysis::estimate(cell, trials).spread() <= wanted)
}

/// The programs by the builds that conditions want.
fn builds(machine: &Machine, plan: &Plan, tests: &[&Test]) -> Result<Builds> {
    let named = |name: String| Ok((name.clone(), Programs::named(machine, tests, &name)?));
    plan.builds().into_iter().map(named).collect()
}

/// What a run begins with.
pub(super) struct Opening<'a> {
    pub(super) machine: &'a Machine,
    pub(super) store: &'a Store,
    pub(super) manner: &'a Manner,
    pub(super) dir: &'a Path,
    /// What is to be built.
    pub(super) tests: Vec<&'a Test>,
    /// What is known of the display and not of the machine.
    pub(super) facts: Vec<Fact>,
    pub(super) warnings: Vec<String>,
    /// What was asked for; the rest is filled in.
    pub(super) run: Run,
}

/// A run that has begun.
pub(super) struct Open {
    pub(super) writer: Writer,
    pub(super) programs: Option<Programs>,
    /// The run's name.
    pub(super) name: String,
    directory: PathBuf,
    began: Instant,
    /// Held until the end: the kernel gives the name back however the tool ends.
    place: Place,
}

/// What is said where two runs go on at once.
const SHARED: &str = "another unixmark run was going on on this machine: the figures share it";

/// Begins a run: its directory, its programs, and the first lines of its journal.
///
/// # Errors
/// The run cannot be kept, or its programs cannot be built.
pub(super) fn open(opening: Opening<'_>) -> Result<Open> {
    let Opening { machine, store, manner, dir, tests, .. } = opening;
    let place = if manner.fleet.is_part() { Place::alone()? } else { Place::take() };
    let mut warnings: Vec<String> = place.shared().then(|| SHARED.to_owned()).into_iter().collect();
    let host = machine.read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned());
    let (name, directory) = store.create(&host, &today())?;
    let programs = (!tests.is_empty()).then(|| {
        Programs::prepare(machine, &tests, manner.build).inspect_err(|_| {
            // Only an empty directory goes; nothing was measured.
            let _ = std::fs::remove_dir(&directory);
        })
    });
    let programs = programs.transpose()?;
    warnings.extend(programs.as_ref().and_then(|programs| programs.warning.clone()));
    warnings.extend(opening.warnings);
    let began = Instant::now();
    let mut writer = Writer::create(&directory)?;
    if manner.fleet.emit {
        writer.emit();
    }
    writer.append(&Record::Run(Box::new(Run {
        format: FORMAT.to_owned(),
        name: name.clone(),
        fleet: manner.fleet.attempt(&host),
        host,
        tool: concat!("unixmark ", env!("CARGO_PKG_VERSION")).to_owned(),
        started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        arguments: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        cpus: machine::cpus_online(machine),
        build: programs.as_ref().map(|programs| programs.build.clone()),
        ..opening.run
    })))?;
    for fact in machine::facts(machine, dir).into_iter().chain(opening.facts) {
        writer.append(&Record::Fact(fact))?;
    }
    for text in warnings {
        if manner.loudness() != Loudness::Quiet {
            say(&format!("warning: {text}"));
        }
        writer.append(&Record::Warning(Warning { cell: None, text }))?;
    }
    Ok(Open { writer, programs, name, directory, began, place })
}

/// The results directory of a run that is only shown.
struct Unkept(PathBuf);

impl Unkept {
    fn make(dir: &Path) -> Result<Unkept> {
        let path = dir.join(format!("unixmark-unkept-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("{} cannot be made; try --dir DIR", path.display()))?;
        Ok(Unkept(path))
    }
}

impl Drop for Unkept {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The path of an executable of the user's, for a process that starts elsewhere.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("{} cannot be run", path.display()))
}

/// Where programs work unless the user says so: on a file system that keeps files, if there is such a place.
pub(super) fn workplace(wanted: Option<&Path>) -> &Path {
    let usual = Path::new("/var/tmp");
    wanted.unwrap_or(if usual.is_dir() { usual } else { Path::new("/tmp") })
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

/// The procedure as journals have it.
fn procedure(kind: plan::Kind) -> Procedure {
    match kind {
        plan::Kind::Standard => Procedure::Standard,
        plan::Kind::Classic => Procedure::Classic,
        plan::Kind::Quick => Procedure::Quick,
    }
}

fn most_copies(plan: &Plan) -> u32 {
    plan.cells.iter().map(|cell| cell.copies).max().unwrap_or(1)
}

/// Warns of more copies than processes are allowed.
fn too_many_copies(machine: &Machine, plan: &Plan) -> Option<String> {
    let limit = machine::copies_limit(machine)?;
    let most = u64::from(most_copies(plan));
    (most > limit).then(|| format!("{most} copies are wanted and about {limit} processes are allowed here"))
}

/// Ends the journal, writes the reports and shows the result.
pub(super) fn conclude(
    open: Open,
    outcome: Result<Outcome>,
    catalogue: &Catalogue,
    loudness: Loudness,
    gate: Option<f64>,
) -> Result<Status> {
    let Open { mut writer, directory, began, place, .. } = open;
    if place.shared() {
        // A journal that cannot be written shows below.
        let _ = writer.append(&Record::Warning(Warning { cell: None, text: SHARED.to_owned() }));
    }
    let (end, signal) = match outcome {
        Ok(Outcome::Complete) => (Ok(Ended::Complete), None),
        Ok(Outcome::Budget) => (Ok(Ended::Budget), None),
        Ok(Outcome::Hopeless) => (Ok(Ended::Failed), None),
        Ok(Outcome::Broke) => (Ok(Ended::Broke), None),
        Ok(Outcome::Stopped(number)) => (Ok(Ended::Interrupted), Some(number)),
        Err(error) => (Err(error), None),
    };
    let ended = end.and_then(|reason| {
        writer.append(&Record::End(End { reason, seconds: began.elapsed().as_secs_f64() }))?;
        writer.sync()
    });
    let mut failed = ended.err();
    if let Some(error) = &failed {
        say(&format!("unixmark: {error:#}"));
    }
    let journal = journal::read(&directory)?;
    let results = analysis::Results::new(&journal, catalogue, None);
    if let Err(error) = report::write_all(&results, &directory) {
        say(&format!("unixmark: {error:#}"));
        failed = Some(error);
    }
    let broke = results.end == Some(Ended::Broke);
    let burnin = results.burnin();
    // Of trials it was said when they failed; a burn-in is one.
    for missing in results.skipped.iter().chain(&results.errors).filter(|_| burnin.is_some()) {
        say(&format!("error: {}", missing.reason));
    }
    let losses = gate.zip(results.cost()).map_or_else(Vec::new, |(size, cost)| cost.losses(size));
    for loss in &losses {
        say(&format!("unixmark: {}", told(loss)));
    }
    let failed = failed.is_some()
        || broke
        || !losses.is_empty()
        || burnin.is_some_and(|burnin| !burnin.good)
        || journal.trials.iter().any(|trial| trial.error.is_some());
    if loudness != Loudness::Quiet {
        // Whoever reads the report may have gone; how the run went is told by the exit code all the same.
        if let Err(error) = print(&::report::report(&results, Format::Text)?) {
            say(&format!("unixmark: the report cannot be shown: {error:#}"));
        }
        say(&format!("\nThe run and its reports lie in {}", directory.display()));
    }
    Ok(match signal {
        Some(number) => Status::Signal(number),
        None if results.rows.is_empty() && !burnin.is_some_and(BurnIn::has_worked) => Status::Nothing,
        None if failed || !results.errors.is_empty() => Status::Failed,
        None => Status::Fine,
    })
}

/// A loss in a sentence.
fn told(effect: &Effect) -> String {
    let loss = &effect.comparison;
    let Comparison { cell, measure, delta, .. } = loss;
    let (word, unit) = (loss.verdict.word(), measure.delta_unit());
    format!(
        "{} x {} ({}) is {word} under {} by {:.1} {unit}",
        cell.key.copies,
        cell.key.test,
        measure.name(),
        cell.key.condition,
        -delta.value
    )
}
