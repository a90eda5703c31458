//! One trial: spawn the copies and what runs beside them, wait until all are ready, let them go at once, collect.

use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::guardian::Guardian;
use super::program::{Program, Stage};
use super::protocol::{self, Said};
use super::signals::Signals;
use super::steady::Steady;
use catalogue::{Metric, Test};
use conditions::{Entered, FinishedTrial, Refusal};
use display::Variable;
use journal::{Background, Copy, Trial};
use machine::{Machine, Noise, sample};
use plan::Window;

/// How long a load may take to report when its stdin has closed.
const LOAD_ENDS: Duration = Duration::from_secs(20);

/// A load hears `mark` at its next pulse.
const MARKED: Duration = Duration::from_millis(110);

/// Everything a trial needs besides the cell.
pub(super) struct Bench<'a> {
    pub machine: &'a Machine,
    pub signals: &'a Signals,
    pub guardian: &'a mut Guardian,
    pub patience: Duration,
}

/// An executable, its arguments, and where it works.
pub(super) struct Command<'a> {
    pub path: std::path::PathBuf,
    pub args: Vec<String>,
    pub folder: &'a Path,
    /// What it finds in its environment besides the tool's own.
    pub environment: &'a [Variable],
}

/// What a trial runs.
pub(super) struct Scene<'a> {
    pub test: &'a Test,
    pub copies: Vec<Command<'a>>,
    pub load: Option<(&'a Test, Command<'a>)>,
    /// What its condition runs beside the programs, to count what they do.
    pub companion: Option<(&'a Test, Command<'a>)>,
    pub window: Window,
    /// How many copies each program is: more than one where they are its threads.
    pub threads: u32,
}

/// The processes of a trial.
#[derive(Default)]
pub(super) struct Cast {
    pub copies: Vec<Program>,
    load: Option<Program>,
    companion: Option<Program>,
}

impl Cast {
    fn all(&self) -> impl Iterator<Item = &Program> {
        self.copies.iter().chain(&self.load).chain(&self.companion)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.copies.iter_mut().chain(&mut self.load).chain(&mut self.companion)
    }

    /// Whether the load ended, which it must not do by itself.
    fn load_ended(&self) -> bool {
        self.load.as_ref().is_some_and(Program::ended)
    }

    fn companion_ended(&self) -> bool {
        self.companion.as_ref().is_some_and(Program::ended)
    }
}

/// What a load did before the window opened.
struct Alone {
    /// When it was let go.
    start: u64,
    steady: Steady,
}

/// Why a trial has no result.
pub(super) enum Failure {
    /// The user stopped the run.
    Stopped,
    /// The test cannot run here.
    Skip(String),
    /// Something went wrong.
    Error(String),
    /// Something went wrong, and will go wrong in every trial.
    Fatal(String),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Unavailable(why) => Failure::Skip(why),
            Refusal::Failed(why) => Failure::Error(why),
            Refusal::Fatal(why) => Failure::Fatal(why),
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Error(text)
    }
}

impl Failure {
    /// Says that the reason is the load's.
    pub fn of_load(self, load: &Test) -> Failure {
        self.of("its load", load)
    }

    /// Says that the reason is that of what its condition runs beside it.
    pub fn of_companion(self, companion: &Test) -> Failure {
        self.of("its condition's", companion)
    }

    fn of(self, whose: &str, test: &Test) -> Failure {
        match self {
            Failure::Stopped => Failure::Stopped,
            Failure::Skip(why) => Failure::Skip(format!("{whose} {} cannot run here: {why}", test.id)),
            Failure::Error(why) | Failure::Fatal(why) => Failure::Error(format!("{whose} {} failed: {why}", test.id)),
        }
    }
}

/// How a wait ended.
#[derive(PartialEq, Eq)]
pub(super) enum Waited {
    Done,
    TooLong,
    Stopped,
}

impl Bench<'_> {
    /// Measures one trial under what was entered; cell, block and time are the caller's to fill in.
    pub fn measure(&mut self, scene: &Scene<'_>, entered: &mut Entered) -> Result<Trial, Failure> {
        let mut cast = Cast::default();
        let result = self.spawn(scene, &mut cast).and_then(|()| self.run(scene, &mut cast, entered));
        for program in cast.all_mut() {
            program.end();
            // A guardian that is gone is found out by the next watch.
            let _ = self.guardian.forget(program.group());
        }
        result
    }

    fn spawn(&mut self, scene: &Scene<'_>, cast: &mut Cast) -> Result<(), Failure> {
        let count = scene.copies.len();
        for (number, command) in scene.copies.iter().enumerate() {
            let program = self
                .start(command)
                .map_err(|why| if count > 1 { format!("copy {} of {count}: {why}", number + 1) } else { why })?;
            cast.copies.push(program);
        }
        if let Some((load, command)) = &scene.load {
            cast.load = Some(self.start(command).map_err(|why| Failure::Error(why).of_load(load))?);
        }
        if let Some((companion, command)) = &scene.companion {
            cast.companion = Some(self.start(command).map_err(|why| Failure::Error(why).of_companion(companion))?);
        }
        Ok(())
    }

    pub fn start(&mut self, command: &Command<'_>) -> Result<Program, String> {
        let mut program = Program::spawn(command)?;
        if let Err(error) = self.guardian.watch(program.group()) {
            program.end();
            return Err(format!("{error:#}"));
        }
        Ok(program)
    }

    fn run(&mut self, scene: &Scene<'_>, cast: &mut Cast, entered: &mut Entered) -> Result<Trial, Failure> {
        self.wait_until_ready(scene, cast)?;
        let alone = self.start_load(scene, cast)?;
        if let Some(companion) = &mut cast.companion {
            companion.begin(monotonic());
            companion.tell("go 0 0 0\nmark\n");
        }
        entered.before_window();
        let window = scene.window;
        let before = (sample(self.machine), cpu_time());
        let mut lead = lead(cast.copies.len() * scene.threads as usize, window);
        if cast.load.is_some() || cast.companion.is_some() {
            lead += MARKED;
        }
        let start = monotonic() + u64::try_from(lead.as_nanos()).unwrap_or(u64::MAX / 4);
        for program in &mut cast.copies {
            program.begin(start);
            program.tell(&format!("go {start} {} {}\n", window.slice.as_nanos(), window.slices));
        }
        let limit = lead + window.length() + window.length() + window.around + self.patience;
        let ended = |cast: &Cast| cast.copies.iter().all(Program::ended) || cast.load_ended() || cast.companion_ended();
        match self.wait(cast, limit, ended) {
            Waited::Done => {}
            Waited::Stopped => return Err(Failure::Stopped),
            Waited::TooLong => {
                return Err(Failure::Error(format!(
                    "it was still running {} s after its window and was killed; --patience waits longer",
                    (limit - window.length()).as_secs()
                )));
            }
        }
        let tool = cpu_time();
        let after = sample(self.machine);
        let background = self.end_load(scene, cast, alone)?;
        let companion = self.end_companion(scene, cast)?;
        let copies =
            cast.copies.iter().map(|program| collect(program, scene, start)).collect::<Result<Vec<_>, _>>()?.concat();
        let mut trial = Trial {
            copies,
            background,
            noise: Some(Noise::between(&before.0, &after)),
            tool_cpu_s: Some((tool.saturating_sub(before.1)) as f64 / 1e9),
            ..Trial::default()
        };
        let end = start + u64::try_from(window.length().as_nanos()).unwrap_or(u64::MAX / 4);
        trial.evidence = entered.prove(&FinishedTrial { trial: &trial, start, end, companion })?.map(Box::new);
        Ok(trial)
    }

    pub fn wait_until_ready(&mut self, scene: &Scene<'_>, cast: &mut Cast) -> Result<(), Failure> {
        let patience = self.patience;
        let settled = |cast: &Cast| cast.all().all(|program| program.stage() != Stage::Preparing);
        match self.wait(cast, patience, settled) {
            Waited::Done => {}
            Waited::Stopped => return Err(Failure::Stopped),
            Waited::TooLong => {
                let slow =
                    if cast.copies.iter().any(|copy| copy.stage() == Stage::Preparing) { "it" } else { "its load" };
                return Err(Failure::Error(format!(
                    "{slow} did not get ready within {} s and was killed; --patience waits longer",
                    patience.as_secs()
                )));
            }
        }
        if let Some(failed) = cast.copies.iter_mut().find(|program| program.stage() == Stage::Failed) {
            return Err(never_ready(failed));
        }
        match (&scene.load, &mut cast.load) {
            (Some((load, _)), Some(program)) if program.stage() == Stage::Failed => {
                return Err(never_ready(program).of_load(load));
            }
            _ => {}
        }
        match (&scene.companion, &mut cast.companion) {
            (Some((test, _)), Some(program)) if program.stage() == Stage::Failed => {
                Err(never_ready(program).of_companion(test))
            }
            _ => Ok(()),
        }
    }

    /// Lets the load go and waits until its own throughput is steady; returns that.
    fn start_load(&mut self, scene: &Scene<'_>, cast: &mut Cast) -> Result<Option<Alone>, Failure> {
        let Some(((load, _), program)) = scene.load.as_ref().zip(cast.load.as_mut()) else { return Ok(None) };
        let start = monotonic();
        program.begin(start);
        program.tell("go 0 0 0\n");
        let judge = |cast: &Cast| {
            let pulses = cast.load.as_ref().map_or(&[][..], |load| load.speech().pulses());
            Steady::judge(pulses, scene.window.settle)
        };
        match self.wait(cast, scene.window.settle * 3, |cast| judge(cast).is_some() || cast.load_ended()) {
            Waited::Stopped => return Err(Failure::Stopped),
            Waited::Done | Waited::TooLong => {}
        }
        let steady = judge(cast).unwrap_or_else(|| {
            let pulses = cast.load.as_ref().map_or(&[][..], |load| load.speech().pulses());
            Steady::never(start, pulses)
        });
        if let Some(program) = &mut cast.load {
            if program.ended() {
                return Err(gone(program).of_load(load));
            }
            program.tell("mark\n");
        }
        Ok(Some(Alone { start, steady }))
    }

    /// Ends the load and returns what it did in the window.
    fn end_load(
        &mut self,
        scene: &Scene<'_>,
        cast: &mut Cast,
        alone: Option<Alone>,
    ) -> Result<Option<Box<Background>>, Failure> {
        let Some((((load, _), program), alone)) = scene.load.as_ref().zip(cast.load.as_mut()).zip(alone) else {
            return Ok(None);
        };
        if program.ended() {
            return Err(gone(program).of_load(load));
        }
        program.hush();
        match self.wait(cast, LOAD_ENDS, Cast::load_ended) {
            Waited::Stopped => return Err(Failure::Stopped),
            Waited::TooLong => return Err(Failure::Error("it did not end when told to".to_owned()).of_load(load)),
            Waited::Done => {}
        }
        let Some(program) = &cast.load else { return Ok(None) };
        let copy = match program.speech().conclusion() {
            Said::Done(mut copies) => copies.swap_remove(0),
            Said::Skip(why) | Said::Error(why) | Said::Garbage(why) => {
                return Err(Failure::Error(blame(program, why)).of_load(load));
            }
        };
        // A load reports one slice of the time since `mark`.
        if copy.slices.len() != 1 || alone.start + copy.slices[0].1 > monotonic() {
            return Err(
                Failure::Error("it did not report one slice of the time that has passed".to_owned()).of_load(load)
            );
        }
        Ok(Some(Box::new(Background { alone: alone.steady.rate, steady: alone.steady.steady, copy })))
    }

    /// Ends the companion and returns what it has counted.
    fn end_companion(&mut self, scene: &Scene<'_>, cast: &mut Cast) -> Result<Option<f64>, Failure> {
        let Some(((test, _), program)) = scene.companion.as_ref().zip(cast.companion.as_mut()) else { return Ok(None) };
        if program.ended() {
            return Err(gone(program).of_companion(test));
        }
        program.hush();
        match self.wait(cast, LOAD_ENDS, Cast::companion_ended) {
            Waited::Stopped => return Err(Failure::Stopped),
            Waited::TooLong => {
                return Err(Failure::Error("it did not end when told to".to_owned()).of_companion(test));
            }
            Waited::Done => {}
        }
        let Some(program) = &cast.companion else { return Ok(None) };
        match program.speech().conclusion() {
            Said::Done(copies) => {
                Ok(Some(copies.iter().flat_map(|copy| &copy.slices).map(|slice| slice.2 as f64).sum()))
            }
            Said::Skip(why) | Said::Error(why) | Said::Garbage(why) => {
                Err(Failure::Error(blame(program, why)).of_companion(test))
            }
        }
    }

    /// Sleeps in poll(2) until `done` holds of every program. While a window is open nothing wakes
    /// the tool but a program that speaks or ends, or the user.
    pub fn wait(&self, cast: &mut Cast, limit: Duration, done: impl Fn(&Cast) -> bool) -> Waited {
        let deadline = monotonic() + u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX / 2);
        loop {
            for program in cast.all_mut() {
                program.listen();
            }
            if self.signals.stopped().is_some() {
                return Waited::Stopped;
            }
            if done(cast) || cast.all().any(|program| program.stage() == Stage::Failed) {
                return Waited::Done;
            }
            let Some(left) = deadline.checked_sub(monotonic()).filter(|left| *left > 0) else {
                return Waited::TooLong;
            };
            let mut fds: Vec<PollFd<'_>> = cast
                .all()
                .flat_map(Program::pipes)
                .chain([self.signals.fd()])
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            // An interrupted poll is looked at like any other wake-up.
            let _ = poll(&mut fds, Some(&timespec(left)));
            self.signals.drain();
        }
    }

    /// Rests as UnixBench does before a pass; returns whether the user did not stop it.
    pub fn rest(&self) -> bool {
        [1_000_000_000, 2_000_000_000].into_iter().all(|length| {
            rustix::fs::sync();
            self.sleep(length)
        })
    }

    /// Sleeps for `length` ns; returns whether the user did not stop it.
    fn sleep(&self, length: u64) -> bool {
        let deadline = monotonic() + length;
        while self.signals.stopped().is_none() {
            let Some(left) = deadline.checked_sub(monotonic()).filter(|left| *left > 0) else { return true };
            let mut fds = [PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
            let _ = poll(&mut fds, Some(&timespec(left)));
            self.signals.drain();
        }
        false
    }
}

fn never_ready(program: &mut Program) -> Failure {
    // What it says and how it ends may come in two pieces.
    program.end();
    program.listen();
    match program.speech().conclusion() {
        Said::Skip(reason) => Failure::Skip(reason),
        Said::Error(reason) => Failure::Error(reason),
        Said::Done(_) => Failure::Error("it said `done` before it was ready".to_owned()),
        Said::Garbage(why) => Failure::Error(program.failure().filter(|_| program.speech().is_silent()).unwrap_or(why)),
    }
}

/// What to blame: the protocol where it was broken, since such a program is killed for it, else how the program ended.
pub(super) fn blame(program: &Program, why: String) -> String {
    if program.speech().is_broken() { why } else { program.failure().unwrap_or(why) }
}

/// Why a load that should go on has ended.
fn gone(program: &mut Program) -> Failure {
    program.listen();
    match program.speech().conclusion() {
        Said::Skip(reason) => Failure::Skip(reason),
        Said::Error(reason) => Failure::Error(reason),
        Said::Done(_) | Said::Garbage(_) => {
            Failure::Error(program.failure().unwrap_or_else(|| "it ended by itself".to_owned()))
        }
    }
}

/// What one program measured: one copy, or one of each of its threads.
fn collect(program: &Program, scene: &Scene<'_>, start: u64) -> Result<Vec<Copy>, Failure> {
    let copies = match program.speech().conclusion() {
        Said::Done(copies) => copies,
        Said::Skip(reason) => return Err(Failure::Skip(reason)),
        Said::Error(reason) => return Err(Failure::Error(reason)),
        Said::Garbage(why) => return Err(Failure::Error(blame(program, why))),
    };
    if let Some(why) = program.failure() {
        return Err(Failure::Error(why));
    }
    if copies.len() != scene.threads as usize {
        return Err(Failure::Error(format!("it reports {} threads and should have {}", copies.len(), scene.threads)));
    }
    let latest = copies.iter().filter_map(|copy| copy.slices.last()).map(|last| start + last.1);
    if latest.max().unwrap_or(0).max(program.speech().latest()) > monotonic() {
        return Err(Failure::Error("it reports time that has not passed yet".to_owned()));
    }
    let (test, first) = (scene.test, &copies[0]);
    protocol::verify(first, test)?;
    if test.value.as_ref().is_some_and(|value| !first.values.contains_key(value)) {
        return Err(Failure::Error("it did not report its value".to_owned()));
    }
    match (test.metric, &first.frames) {
        (Metric::Latency, Some(_)) => Ok(copies),
        (Metric::Latency, None) => Err(Failure::Error("it did not report its frames".to_owned())),
        (Metric::Rate | Metric::Time, _) if copies.iter().any(worked) => Ok(copies),
        (Metric::Rate | Metric::Time, _) => {
            Err(Failure::Error("it finished nothing within its window; try --procedure classic".to_owned()))
        }
    }
}

/// Whether anything was done, in time that passed. A frame that is never done is a result; a rate of nothing is none.
fn worked(copy: &Copy) -> bool {
    let (first, last) = (copy.slices.first(), copy.slices.last());
    first.zip(last).is_some_and(|(first, last)| first.0 < last.1) && copy.slices.iter().any(|slice| slice.2 > 0)
}

/// The time between `go` and the common start: enough for every copy to wake up, to touch the memory that a long window
/// needs, and to sleep.
fn lead(copies: usize, window: Window) -> Duration {
    Duration::from_millis(20)
        + Duration::from_micros(300) * u32::try_from(copies).unwrap_or(1)
        + window.length() / 10_000
}

fn timespec(ns: u64) -> Timespec {
    // Both parts of a u64 of nanoseconds fit.
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// CLOCK_MONOTONIC in ns.
pub(super) fn monotonic() -> u64 {
    ns(ClockId::Monotonic)
}

pub(super) fn cpu_time() -> u64 {
    ns(ClockId::ProcessCPUTime)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
