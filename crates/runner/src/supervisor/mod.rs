//! Programs from spawn to result, and their surroundings: signals as bytes, a scratch directory, a
//! guardian, and the wait for all of them.

mod energy;
mod quiet;
mod setup;
mod sides;
mod steady;
mod trial;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use crate::guardian::{Guardian, SCREEN_BACK, Scratch};
use crate::program::{Command, Program, Stage};
use conditions::Experiment;
use energy::Source;
use machine::Machine;
use processes::{Failure, Interrupt, Signals};
pub(crate) use setup::{Role, Setup, Side};
pub(crate) use trial::{IN_THE_FUTURE, result};

/// The longest time that a build may take.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Starts programs, waits for them and ends them. At its end what conditions changed is undone, then the guardian is
/// dismissed.
pub struct Supervisor<'a> {
    pub(super) machine: &'a Machine,
    /// The longest silence of a program.
    pub(super) patience: Duration,
    /// The source of energy readings; a meter ends before the guardian.
    energy: Source,
    /// The ledger, and what switches conditions.
    pub(super) experiment: Experiment,
    pub(super) guardian: Guardian,
    pub(super) scratch: Scratch,
    pub(super) signals: Rc<Signals>,
    screen: Option<PathBuf>,
    /// For how long the user has had the run paused.
    pub(super) paused: Cell<Duration>,
}

/// The processes of a trial.
#[derive(Default)]
pub(super) struct Processes {
    pub copies: Vec<Program>,
    /// The programs beside the copies: the load, then the companion.
    pub sides: Vec<Program>,
}

impl Processes {
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.copies.iter().chain(&self.sides)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.copies.iter_mut().chain(&mut self.sides)
    }

    /// Returns true if anything beside the copies has ended, which it must not do by itself.
    pub fn side_ended(&self) -> bool {
        self.sides.iter().any(Program::ended)
    }
}

/// The end of a wait.
#[derive(PartialEq, Eq)]
pub(super) enum Waited {
    Done,
    TooLong,
    Stopped,
}

impl<'a> Supervisor<'a> {
    /// Handles signals from now on, makes a scratch directory below `folder`, and starts the guardian, which also gives
    /// back the terminal `screen`.
    ///
    /// # Errors
    /// The kernel refuses any of this, or nothing can be written below `folder`.
    pub fn new(
        machine: &'a Machine,
        patience: Duration,
        folder: &Path,
        screen: Option<&Path>,
        mut experiment: Experiment,
    ) -> Result<Supervisor<'a>> {
        // As subreaper the tool is the parent of every orphan among the measured processes. Where there is none (Linux
        // before 3.4, an emulator of user programs), orphans are process 1's, which reaps them.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let signals = Rc::new(Signals::install()?);
        experiment.hear(Rc::clone(&signals));
        let scratch = Scratch::below(folder);
        // The guardian and the ledger are first: killed at any moment, the tool leaves no directory.
        let mut guardian = Guardian::start(&scratch.path, &experiment)?;
        experiment.record_scratch(&scratch.path).map_err(anyhow::Error::msg)?;
        scratch.make()?;
        if let Some(screen) = screen {
            guardian.watch_screen(screen)?;
        }
        Ok(Supervisor {
            machine,
            patience,
            energy: Source::Nowhere,
            experiment,
            guardian,
            scratch,
            signals,
            screen: screen.map(Path::to_path_buf),
            paused: Cell::new(Duration::ZERO),
        })
    }

    /// Returns the run's scratch directory.
    pub fn scratch(&self) -> &Path {
        &self.scratch.path
    }

    /// Returns the signal that asked the run to stop, if one did.
    pub fn signal(&self) -> Option<i32> {
        self.signals.stopped()
    }

    /// Runs a command that is not measured, in `folder`, and returns the end of what it printed.
    ///
    /// # Errors
    /// It failed, or a signal came.
    pub fn execute(&mut self, words: &[&str], folder: &Path) -> Result<String, Failure> {
        let Supervisor { guardian, signals, .. } = self;
        let interrupt = Interrupt { signals, is_due: &|signals| signals.stopped().is_some() };
        let command = processes::Command { words, folder, limit: DAY, cgroup: None };
        let mut known = None;
        let ended = command.run(Some(interrupt), &mut |group| {
            guardian.watch(&group).map_err(|error| format!("{error:#}"))?;
            known = Some(group);
            Ok(())
        });
        // What it leaves behind on purpose goes on.
        known.iter().for_each(|group| drop(guardian.forget(group)));
        ended
    }

    /// Starts a program and registers its group with the guardian.
    ///
    /// # Errors
    /// A sentence saying why it could not be started.
    pub(super) fn start(&mut self, command: &Command<'_>) -> Result<Program, String> {
        let mut program = Program::spawn(command)?;
        if let Err(error) = self.guardian.watch(&program.group) {
            program.end();
            return Err(format!("{error:#}"));
        }
        Ok(program)
    }

    /// Ends all programs and their groups.
    pub(super) fn end(&mut self, processes: &mut Processes) {
        for program in processes.all_mut() {
            program.end();
            // That the guardian is gone shows when the next program is registered.
            let _ = self.guardian.forget(&program.group);
        }
    }

    /// Sleeps in poll(2) until `done` holds, a program fails, a signal comes or the limit has passed. While a window is
    /// open nothing wakes the tool but a program that prints or ends, or a signal.
    pub(super) fn wait(&self, processes: &mut Processes, limit: Duration, done: impl Fn(&Processes) -> bool) -> Waited {
        let deadline = monotonic() + ns(limit);
        loop {
            for program in processes.all_mut() {
                program.read_output();
            }
            if self.signals.stopped().is_some() || self.signals.wants_pause() {
                return Waited::Stopped;
            }
            if done(processes) || processes.all().any(|program| program.stage() == Stage::Failed) {
                return Waited::Done;
            }
            if !self.poll(processes.all(), deadline) {
                return Waited::TooLong;
            }
        }
    }

    /// Rests as UnixBench does before a pass; returns whether no signal stopped it.
    pub(super) fn rest(&self) -> bool {
        [1, 2].into_iter().all(|seconds| {
            rustix::fs::sync();
            self.sleep(Duration::from_secs(seconds))
        })
    }

    /// Sleeps for a time; returns whether no signal stopped it.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        let deadline = monotonic() + ns(time);
        while self.signals.stopped().is_none() {
            if self.signals.wants_pause() {
                self.pause();
            }
            if !self.poll(std::iter::empty(), deadline) {
                return true;
            }
        }
        false
    }

    /// Stops this process until something continues it, as Ctrl-Z does to any other. Nothing must be switched on.
    pub(super) fn pause(&self) {
        let began = Instant::now();
        if let Some(screen) = &self.screen {
            // The display takes it again when it next draws.
            let _ = std::fs::write(screen, SCREEN_BACK);
        }
        self.signals.pause();
        self.paused.set(self.paused.get() + began.elapsed());
    }

    /// Sleeps until one of `programs` prints or ends, or a signal comes; returns false once the deadline is over.
    fn poll<'p>(&'p self, programs: impl Iterator<Item = &'p Program>, deadline: u64) -> bool {
        let Some(left) = deadline.checked_sub(monotonic()).filter(|left| *left > 0) else { return false };
        let pipes = programs.flat_map(Program::pipes).chain([self.signals.fd()]);
        let mut fds: Vec<PollFd<'_>> = pipes.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        // Both parts of a u64 of nanoseconds fit.
        let left = Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
        // An interrupted poll is like any other wake-up.
        let _ = poll(&mut fds, Some(&left));
        self.signals.drain();
        true
    }
}

impl Drop for Supervisor<'_> {
    fn drop(&mut self) {
        // A user who has asked twice does not wait any longer: the guardian undoes the rest alone.
        self.guardian.is_awaited = self.signals.stops() < 2;
        if self.guardian.is_awaited {
            // A failure stays in the ledger: the guardian tries again, and the next start of the tool says what is
            // left.
            let _ = self.experiment.end();
        }
    }
}

/// CLOCK_MONOTONIC in ns.
pub(super) fn monotonic() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Processor time of this process in ns.
pub(super) fn cpu_time() -> u64 {
    nanoseconds(ClockId::ProcessCPUTime)
}

/// Returns a time in ns, at most 146 years, so that its sum with the clock still fits.
pub(super) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).map_or(u64::MAX / 4, |ns| ns.min(u64::MAX / 4))
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
