//! The only place that spawns: carries out a plan, trial by trial, into a journal.

mod build;
mod burnin;
mod cgroup;
mod guardian;
mod program;
mod protocol;
mod signals;
mod steady;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::catalogue::{Copies, Test};
use crate::journal::{self, Record, Trial, Warning, Writer};
use crate::machine::{Fact, Machine};
use crate::plan::{Cell, Kind, Plan, Round, Window};

pub use build::{Programs, Wanted};
pub use burnin::{BurnSetting, Burning, burn_in};
pub use guardian::{NAME as GUARDIAN, main as guardian};
pub use protocol::{Said, Speech};

use cgroup::Cgroup;
use guardian::{Guardian, Scratch};
use signals::Signals;
use trial::{Bench, Command, Failure, Scene};

/// A cell that failed this often in a row is measured no more.
const TRIES: u32 = 2;

/// The window in which a score that others count by is measured.
const NAMED_WINDOW: Window = Window {
    slice: Duration::from_millis(100),
    slices: 2,
    warmup: 0,
    around: Duration::ZERO,
    rest: false,
    settle: Duration::ZERO,
};

/// What a run needs.
pub struct Setting<'a> {
    /// The machine under test.
    pub machine: &'a Machine,
    /// What to measure.
    pub plan: &'a Plan,
    /// The programs, or one of the user's own for every cell.
    pub programs: Option<&'a Programs>,
    /// `--program`: an executable in place of the catalogue's.
    pub own: Option<&'a Path>,
    /// Under which directory the programs work.
    pub dir: &'a Path,
    /// How long a silent program is waited for.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back also where the tool is killed.
    pub screen: Option<PathBuf>,
    /// Whether a cell's trials so far are enough.
    pub enough: &'a dyn Fn(&journal::Cell, &[Trial]) -> bool,
}

/// What happens during a run, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// A trial is about to begin: its cell and command line, and the share of the run that is done.
    Begin {
        /// The cell.
        cell: &'a Cell,
        /// Its number.
        number: usize,
        /// Block or pass, from 0.
        block: u32,
        /// The program and its arguments.
        command: String,
        /// Time left, as far as can be told.
        left: Duration,
        /// Share of the run that is done, 0 to 1.
        done: f64,
    },
    /// A trial ended.
    Ended {
        /// The cell.
        cell: &'a Cell,
        /// What was measured, or why not.
        trial: &'a Trial,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every cell was measured as often as the plan wanted.
    Complete,
    /// The budget was spent first.
    Budget,
    /// A frame broke the limit that should end the run.
    Broke,
    /// A signal stopped it.
    Stopped(i32),
}

/// A run in progress.
struct Run<'a> {
    setting: &'a Setting<'a>,
    cells: Vec<journal::Cell>,
    writer: &'a mut Writer,
    bench: Bench<'a>,
    /// Scores that arguments name as `{ID}`.
    given: BTreeMap<String, String>,
    scratch: &'a Scratch,
    began: Instant,
    trials: Vec<Vec<Trial>>,
    /// Cells that are measured no more.
    closed: BTreeSet<usize>,
    failures: Vec<u32>,
}

/// Carries out the plan: cells and trials go to the journal, events to `watch`.
///
/// # Errors
/// The journal cannot be written, or there is no scratch directory: the run cannot go on. Whatever
/// goes wrong in one trial is an error trial in the journal instead.
pub fn run(setting: &Setting<'_>, writer: &mut Writer, watch: &mut dyn FnMut(Event<'_>)) -> Result<Outcome> {
    let (signals, scratch, mut guardian) = wards(setting.dir, setting.screen.as_deref())?;
    let bench =
        Bench { machine: setting.machine, signals: &signals, guardian: &mut guardian, patience: setting.patience };
    let cells: Vec<journal::Cell> =
        setting.plan.cells.iter().enumerate().map(|(id, cell)| journal_cell(id, cell)).collect();
    for cell in &cells {
        writer.append(&Record::Cell(Box::new(cell.clone())))?;
    }
    let count = cells.len();
    let mut run = Run {
        setting,
        cells,
        writer,
        bench,
        given: BTreeMap::new(),
        scratch: &scratch,
        began: Instant::now(),
        trials: vec![Vec::new(); count],
        closed: BTreeSet::new(),
        failures: vec![0; count],
    };
    match run.measure_what_is_named()? {
        Some(end) => Ok(end),
        None => run.rounds(watch),
    }
}

/// Returns the plan's cell number `id` as journals have it.
#[must_use]
pub fn journal_cell(id: usize, cell: &Cell) -> journal::Cell {
    let Cell { test, copies, load, condition, control, window, .. } = cell;
    let new = journal::Cell::new(id, test, *copies, load.as_deref(), &condition.name);
    journal::Cell { warmup: window.warmup, control: *control, ..new }
}

/// What every run has around its programs: signals as bytes, a directory below `dir`, and who cleans up if the tool is killed.
fn wards(dir: &Path, screen: Option<&Path>) -> Result<(Signals, Scratch, Guardian)> {
    // As subreaper the tool is the parent of every orphan among the measured processes.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .context("the kernel does not let the tool adopt orphans")?;
    let signals = Signals::install()?;
    let scratch = Scratch::make(dir)?;
    let mut guardian = Guardian::start(scratch.path())?;
    if let Some(screen) = screen {
        guardian.watch_screen(screen)?;
    }
    Ok((signals, scratch, guardian))
}

impl Run<'_> {
    fn rounds(&mut self, watch: &mut dyn FnMut(Event<'_>)) -> Result<Outcome> {
        let wall = WallClock::look();
        let mut outcome = Outcome::Complete;
        'run: for round in self.setting.plan.rounds() {
            if self.closed.len() == self.cells.len() {
                break;
            }
            if round.block > 0 && self.spent(&round) {
                outcome = Outcome::Budget;
                break;
            }
            for number in &round.cells {
                if self.closed.contains(number) {
                    continue;
                }
                if let Some(end) = self.trial(*number, &round, watch)? {
                    outcome = end;
                    break 'run;
                }
            }
            self.close_what_is_enough(round.block);
        }
        if let Some(text) = wall.jumped() {
            self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
        }
        Ok(outcome)
    }

    /// Measures the scores that arguments name, once and for all cells; a fact each. Returns how the run ends, if that ends it.
    fn measure_what_is_named(&mut self) -> Result<Option<Outcome>> {
        for test in &self.setting.plan.named {
            let folder = self.scratch.trial()?;
            let command = self.executable(test, 0).map(|path| {
                let args = self.words(test, &test.args, 1);
                Command { path, args, folder: &folder }
            });
            let scene = |command| Scene { test, copies: vec![command], load: None, window: NAMED_WINDOW, threads: 1 };
            let name = test.value.as_deref().unwrap_or_default();
            match command.and_then(|command| self.bench.measure(&scene(command))) {
                Ok(trial) => {
                    let number =
                        trial.copies.first().and_then(|copy| copy.values.get(name)).map_or(0.0, |value| value.0);
                    self.given.insert(test.id.clone(), format!("{number:.0}"));
                    self.writer.append(&Record::Fact(Fact {
                        name: format!("run.{}", test.id),
                        label: test.label.clone(),
                        group: "Run".to_owned(),
                        value: format!("{number:.0} {}", test.unit),
                    }))?;
                }
                Err(Failure::Stopped) => return Ok(Some(self.stopped())),
                Err(Failure::Skip(why) | Failure::Error(why)) => {
                    // Nothing given is measured by each program for itself.
                    self.given.insert(test.id.clone(), "0".to_owned());
                    let text =
                        format!("{} could not be measured, so that every trial measures its own: {why}", test.id);
                    self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
                }
            }
        }
        Ok(None)
    }

    /// Measures one trial; returns how the run ends, if that ends it.
    fn trial(&mut self, number: usize, round: &Round, watch: &mut dyn FnMut(Event<'_>)) -> Result<Option<Outcome>> {
        let setting = self.setting;
        let cell = &setting.plan.cells[number];
        if cell.window.rest && !self.bench.rest() {
            return Ok(Some(self.stopped()));
        }
        let (left, done) = self.left(round);
        watch(Event::Begin { cell, number, block: round.block, command: self.command_line(cell), left, done });
        let at = self.began.elapsed().as_secs_f64();
        let mut trial = match self.measure(cell) {
            Ok(trial) => trial,
            Err(Failure::Stopped) => return Ok(Some(self.stopped())),
            Err(Failure::Skip(reason)) => Trial { skip: Some(reason), ..Trial::default() },
            Err(Failure::Error(reason)) => Trial { error: Some(reason), ..Trial::default() },
        };
        (trial.cell, trial.block, trial.at) = (number, round.block, at);
        self.writer.append(&Record::Trial(Box::new(trial.clone())))?;
        watch(Event::Ended { cell, trial: &trial });
        self.judge(number, &trial);
        let broke = trial.copies.iter().any(|copy| copy.frames.as_ref().is_some_and(|frames| frames.broke.is_some()));
        self.trials[number].push(trial);
        Ok(match self.bench.signals.stopped() {
            Some(signal) => Some(Outcome::Stopped(signal)),
            None => broke.then_some(Outcome::Broke),
        })
    }

    fn measure(&mut self, cell: &Cell) -> Result<Trial, Failure> {
        let why = |error: anyhow::Error| Failure::Error(format!("{error:#}"));
        let test = &cell.test;
        let folder = if test.keep { self.scratch.kept(test.binary()) } else { self.scratch.trial() }.map_err(why)?;
        let background = match &cell.load {
            Some(load) => self.scratch.kept(&format!("load-{}", load.id)).map_err(why)?,
            None => folder.clone(),
        };
        let cgroups = self.cgroups(cell)?;
        let load = cell
            .load
            .as_deref()
            .map(|load| self.load(cell, load, &background, &cgroups).map_err(|why| why.of_load(load)));
        let scene = Scene {
            test: &cell.test,
            copies: self.copies(cell, &folder)?,
            load: load.transpose()?,
            window: cell.window,
            threads: cell.threads(),
        };
        self.bench.measure(&scene)
    }

    fn stopped(&self) -> Outcome {
        Outcome::Stopped(self.signal())
    }

    fn signal(&self) -> i32 {
        self.bench.signals.stopped().unwrap_or(signal_hook::consts::SIGINT)
    }

    /// Closes a cell that cannot run or fails again and again.
    fn judge(&mut self, number: usize, trial: &Trial) {
        self.failures[number] = if trial.error.is_some() { self.failures[number] + 1 } else { 0 };
        if trial.skip.is_some() || self.failures[number] >= TRIES {
            self.closed.insert(number);
        }
    }

    /// Closes what is measured narrowly enough. Conditions are compared within a block, so the cells
    /// that differ by condition only are closed together.
    fn close_what_is_enough(&mut self, block: u32) {
        let procedure = &self.setting.plan.procedure;
        if procedure.kind == Kind::Classic || procedure.precision.is_none() || block + 1 < procedure.least {
            return;
        }
        let enough: Vec<bool> = (0..self.cells.len())
            .map(|number| {
                self.closed.contains(&number) || (self.setting.enough)(&self.cells[number], &self.trials[number])
            })
            .collect();
        for (number, cell) in self.cells.iter().enumerate() {
            let mut family =
                self.cells.iter().zip(&enough).filter(|(other, _)| {
                    other.test == cell.test && other.copies == cell.copies && other.load == cell.load
                });
            if family.all(|(_, enough)| *enough) {
                self.closed.insert(number);
            }
        }
    }

    /// Whether the budget does not carry one more round.
    fn spent(&self, round: &Round) -> bool {
        let open = round.cells.iter().filter(|number| !self.closed.contains(number));
        let next: f64 = open.map(|number| self.setting.plan.cells[*number].seconds()).sum();
        self.setting
            .plan
            .procedure
            .budget
            .is_some_and(|budget| self.began.elapsed().as_secs_f64() + next > budget.as_secs_f64())
    }

    /// Returns the time left and the share done, were every open cell measured to the plan's most.
    fn left(&self, round: &Round) -> (Duration, f64) {
        let plan = self.setting.plan;
        let wanted = |cell: &Cell| if plan.procedure.kind == Kind::Classic { cell.least } else { plan.procedure.most };
        let mut left = 0.0;
        for (number, cell) in plan.cells.iter().enumerate() {
            if !self.closed.contains(&number) {
                let had = u32::try_from(self.trials[number].len()).unwrap_or(u32::MAX);
                let had = if plan.procedure.kind == Kind::Classic { had } else { had.max(round.block) };
                left += cell.seconds() * f64::from(wanted(cell).saturating_sub(had));
            }
        }
        let elapsed = self.began.elapsed().as_secs_f64();
        if let Some(budget) = plan.procedure.budget {
            left = f64::min(left, (budget.as_secs_f64() - elapsed).max(0.0));
        }
        (Duration::from_secs_f64(left), elapsed / (elapsed + left).max(1e-9))
    }

    fn command_line(&self, cell: &Cell) -> String {
        let program = self.setting.own.map_or_else(|| PathBuf::from(cell.test.binary()), Path::to_path_buf);
        let mut words = vec![program.display().to_string()];
        words.extend(self.words(&cell.test, &cell.args, cell.copies));
        words.join(" ")
    }

    /// The words for a program: a row's arguments with what they name, and the command it is to run.
    fn words(&self, test: &Test, args: &[String], copies: u32) -> Vec<String> {
        let folder = self.setting.programs.map(|programs| programs.folder().display().to_string()).unwrap_or_default();
        let filled = |word: &String| {
            let word = word.replace("{programs}", &folder).replace("{copies}", &copies.to_string());
            self.given.iter().fold(word, |word, (name, number)| word.replace(&format!("{{{name}}}"), number))
        };
        let mut words: Vec<String> = args.iter().map(filled).collect();
        if !test.command.is_empty() {
            words.push("--".to_owned());
            words.extend(test.command.iter().map(filled));
        }
        words
    }

    fn copies<'f>(&self, cell: &Cell, folder: &'f Path) -> Result<Vec<Command<'f>>, Failure> {
        can_run(&cell.test)?;
        let mut args = self.words(&cell.test, &cell.args, cell.copies);
        if cell.test.copies == Copies::Threads {
            args.push(format!("threads={}", cell.copies));
        }
        (0..cell.copies / cell.threads())
            .map(|copy| {
                let path = match self.setting.own {
                    Some(own) => own.to_path_buf(),
                    None => self.executable(&cell.test, copy)?,
                };
                let args = args.iter().cloned().chain(cell.pinned(copy * cell.threads(), cell.threads())).collect();
                Ok(Command { path, args, folder })
            })
            .collect()
    }

    /// Makes the cgroups that the cell's load is to run in; they go with what is returned.
    fn cgroups(&mut self, cell: &Cell) -> Result<Vec<Cgroup>, Failure> {
        if cell.load_cgroups.len() > 1 && crate::machine::cgroups_above(self.setting.machine, "cpu").0 {
            // Version 2 has one tree, and a process is in one group of it.
            return Err(Failure::Skip(
                "its load has a memory cgroup already; try --placement same or session".to_owned(),
            ));
        }
        let mut made = Vec::new();
        for limit in &cell.load_cgroups {
            let cgroup = Cgroup::make(self.setting.machine, *limit).map_err(Failure::Skip)?;
            self.bench.guardian.watch_cgroup(cgroup.path()).map_err(|error| Failure::Error(format!("{error:#}")))?;
            made.push(cgroup);
        }
        Ok(made)
    }

    /// The load has an executable of its own, as copies have.
    fn load<'f, 't>(
        &self,
        cell: &Cell,
        load: &'t Test,
        folder: &'f Path,
        cgroups: &[Cgroup],
    ) -> Result<(&'t Test, Command<'f>), Failure> {
        can_run(load)?;
        let mut args = cell.load_args.clone();
        if !cgroups.is_empty() {
            let paths: Vec<String> = cgroups.iter().map(|cgroup| cgroup.path().display().to_string()).collect();
            args.push(format!("cgroup={}", paths.join(":")));
        }
        let args = self.words(load, &args, 1);
        Ok((load, Command { path: self.executable(load, cell.copies)?, args, folder }))
    }

    fn executable(&self, test: &Test, copy: u32) -> Result<PathBuf, Failure> {
        let programs = self.setting.programs.ok_or_else(|| Failure::Error("its program was not built".to_owned()))?;
        programs.executable(test, copy).map_err(|error| Failure::Error(format!("{error:#}")))
    }
}

fn can_run(test: &Test) -> Result<(), Failure> {
    match missing_tool(&test.needs) {
        Some(missing) => Err(Failure::Skip(format!("it needs `{missing}`, which is not installed here"))),
        None => Ok(()),
    }
}

/// Returns the first of `needs` that asks for a tool that is not on the PATH.
fn missing_tool(needs: &[String]) -> Option<&str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |tool: &str| {
        std::env::split_paths(&path)
            .any(|folder| rustix::fs::access(folder.join(tool), rustix::fs::Access::EXEC_OK).is_ok())
    };
    needs.iter().filter_map(|need| need.strip_prefix("tool:")).find(|tool| !there(tool))
}

/// The difference of the wall clock and the monotonic one, which only a jump changes.
struct WallClock {
    offset: i128,
}

impl WallClock {
    fn look() -> WallClock {
        let wall = jiff::Timestamp::now().as_nanosecond();
        WallClock { offset: wall - i128::from(trial::monotonic()) }
    }

    fn jumped(&self) -> Option<String> {
        let seconds = (WallClock::look().offset - self.offset) as f64 / 1e9;
        (seconds.abs() > 1.0).then(|| {
            format!(
                "the wall clock was set by {seconds:+.1} s during the run; the figures are by the monotonic clock and hold, the dates may not"
            )
        })
    }
}
