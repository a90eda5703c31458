//! The only place that spawns: carries out a plan, trial by trial, into a journal.

mod burnin;
mod cgroup;
mod guardian;
mod program;
mod protocol;
mod signals;
mod stage;
mod steady;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use build::Builds;
use conditions::{Entered, Experiment, Staging};
use display::Display;
use journal::{self, Record, Trial, Warning, Writer};
use machine::{Fact, Machine};
use plan::{Cell, Kind, Plan, Round, Window};

pub use burnin::{BurnSetting, Burning, burn_in};
pub use guardian::{NAME as GUARDIAN, main as guardian};
pub use protocol::{Said, Speech};

use guardian::{Guardian, Scratch};
pub use signals::Signals;
use stage::can_run;
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
    /// The programs by their build, the usual one without a name; none where one of the user's own runs in every cell.
    pub programs: &'a Builds,
    /// `--program`: an executable in place of the catalogue's.
    pub own: Option<&'a Path>,
    /// What graphics tests draw on.
    pub display: &'a Display,
    /// Under which directory the programs work.
    pub dir: &'a Path,
    /// How long a silent program is waited for.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back also where the tool is killed.
    pub screen: Option<PathBuf>,
    /// Whether the trials of cells that are compared with each other are enough: those that differ by condition only.
    pub enough: &'a dyn Fn(&[Measured<'_>]) -> bool,
    /// Which cells to look at again when all is measured, in fresh blocks.
    pub suspects: Option<&'a Suspects<'a>>,
}

/// Chooses the cells that are looked at again.
pub type Suspects<'a> = dyn Fn(&[journal::Cell], &[Vec<Trial>]) -> BTreeSet<usize> + 'a;

/// A cell and its trials so far.
pub type Measured<'a> = (&'a journal::Cell, &'a [Trial]);

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
    /// Something failed that would fail again and again.
    Hopeless,
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
    /// What switches conditions, where any cell has one.
    experiment: Option<Experiment>,
    /// Scores that arguments name as `{ID}`.
    given: BTreeMap<String, String>,
    scratch: &'a Scratch,
    began: Instant,
    trials: Vec<Vec<Trial>>,
    /// Cells that are measured no more.
    closed: BTreeSet<usize>,
    failures: Vec<u32>,
    /// Whether suspects are being looked at again.
    second: bool,
}

/// Carries out the plan: cells and trials go to the journal, events to `watch`.
///
/// # Errors
/// The journal cannot be written, or there is no scratch directory: the run cannot go on. Whatever
/// goes wrong in one trial is an error trial in the journal instead.
pub fn run(
    setting: &Setting<'_>,
    experiment: Option<Experiment>,
    writer: &mut Writer,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome> {
    let (signals, scratch, mut guardian) = wards(setting.dir, setting.screen.as_deref())?;
    if let Some(experiment) = &experiment {
        guardian.watch_ledger(experiment.ledger())?;
    }
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
        experiment,
        given: BTreeMap::new(),
        scratch: &scratch,
        began: Instant::now(),
        trials: vec![Vec::new(); count],
        closed: BTreeSet::new(),
        failures: vec![0; count],
        second: false,
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
        let plan = self.setting.plan;
        let mut outcome = self.go_through(plan.rounds(), watch)?;
        if matches!(outcome, Outcome::Complete | Outcome::Budget) {
            let suspects =
                self.setting.suspects.map(|suspects| suspects(&self.cells, &self.trials)).unwrap_or_default();
            if !suspects.is_empty() {
                self.second = true;
                self.closed = (0..self.cells.len()).filter(|number| !suspects.contains(number)).collect();
                let first = self.trials.iter().flatten().map(|trial| trial.block + 1).max().unwrap_or(0);
                let again = self.go_through(plan.second_look(suspects.into_iter().collect(), first), watch)?;
                outcome = if again == Outcome::Complete { outcome } else { again };
            }
        }
        if let Some(text) = wall.jumped() {
            self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
        }
        Ok(outcome)
    }

    fn go_through(&mut self, rounds: impl Iterator<Item = Round>, watch: &mut dyn FnMut(Event<'_>)) -> Result<Outcome> {
        for round in rounds {
            if self.closed.len() == self.cells.len() {
                break;
            }
            if !self.second && round.block > 0 && self.spent(&round) {
                return Ok(Outcome::Budget);
            }
            for number in &round.cells {
                if self.closed.contains(number) {
                    continue;
                }
                if let Some(end) = self.trial(*number, &round, watch)? {
                    return Ok(end);
                }
            }
            if !self.second {
                self.close_what_is_enough(round.block);
            }
        }
        Ok(Outcome::Complete)
    }

    fn measured(&self) -> Vec<Measured<'_>> {
        self.cells.iter().zip(self.trials.iter().map(Vec::as_slice)).collect()
    }

    /// Measures the scores that arguments name, once and for all cells; a fact each. Returns how the run ends, if that ends it.
    fn measure_what_is_named(&mut self) -> Result<Option<Outcome>> {
        for test in &self.setting.plan.named {
            let folder = self.scratch.trial()?;
            let command = self.executable(test, 0, &Staging::default()).map(|path| {
                let args = self.words(test, &test.args, 1);
                Command { path, args, folder: &folder, environment: &[] }
            });
            let scene = |command| Scene {
                test,
                copies: vec![command],
                load: None,
                companion: None,
                window: NAMED_WINDOW,
                threads: 1,
            };
            let name = test.value.as_deref().unwrap_or_default();
            match command.and_then(|command| self.bench.measure(&scene(command), &mut Entered::default())) {
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
                Err(Failure::Skip(why) | Failure::Error(why) | Failure::Fatal(why)) => {
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
        let measured = self.measure(cell)?;
        let mut hopeless = false;
        let mut trial = match measured {
            Ok(trial) => trial,
            Err(Failure::Stopped) => return Ok(Some(self.stopped())),
            Err(Failure::Skip(reason)) => Trial { skip: Some(reason), ..Trial::default() },
            Err(Failure::Error(reason)) => Trial { error: Some(reason), ..Trial::default() },
            Err(Failure::Fatal(reason)) => {
                hopeless = true;
                Trial { error: Some(reason), ..Trial::default() }
            }
        };
        (trial.cell, trial.block, trial.at, trial.second) = (number, round.block, at, self.second);
        self.writer.append(&Record::Trial(Box::new(trial.clone())))?;
        watch(Event::Ended { cell, trial: &trial });
        self.judge(number, &trial);
        let broke = trial.copies.iter().any(|copy| copy.frames.as_ref().is_some_and(|frames| frames.broke.is_some()));
        self.trials[number].push(trial);
        Ok(match self.bench.signals.stopped() {
            Some(signal) => Some(Outcome::Stopped(signal)),
            None if hopeless => Some(Outcome::Hopeless),
            None => broke.then_some(Outcome::Broke),
        })
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

    /// Closes what is measured narrowly enough. Conditions are compared within a block, so the cells that differ by
    /// condition only are judged and closed together.
    fn close_what_is_enough(&mut self, block: u32) {
        let plan = self.setting.plan;
        if !plan.procedure.looks_after(block) {
            return;
        }
        let measured = self.measured();
        let mut closing = Vec::new();
        for cell in &self.cells {
            // What is measured before all others has a number of blocks of its own.
            let family: Vec<Measured<'_>> = measured
                .iter()
                .filter(|(other, _)| {
                    (&other.key.test, other.key.copies, &other.key.load)
                        == (&cell.key.test, cell.key.copies, &cell.key.load)
                        && !self.closed.contains(&other.id)
                        && !plan.cells[other.id].condition.is_first()
                })
                .copied()
                .collect();
            if (self.setting.enough)(&family) {
                closing.push(cell.id);
            }
        }
        self.closed.extend(closing);
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
