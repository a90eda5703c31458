//! The supervisor: starts programs, waits for them, and leaves nothing behind.
//!
//! It sleeps in one poll(2) ([`Supervisor::wait`]) on the pipes of all programs and on a pipe that
//! signals write to, so that in an open window nothing wakes the tool but a program or a signal.
//!
//! Whatever a program starts is ended, by one of four: the program itself, which is asked first
//! ([`Supervisor::end`]); its process group; the tool, to which orphans fall as their subreaper;
//! or, if the tool dies, the guardian. Two kinds of children are exempt until the run ends: the
//! tool's own (`own`: a meter, what a condition has started), and servers that `--setup` has
//! started (`servers`).
//!
//! `trial` measures one trial, `sides` what runs next to the copies, `steady` when a load is
//! steady, `energy` what the machine takes, and `quiet` runs a command that is not measured.

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

use crate::guardian::{Guardian, RESTORE_SCREEN, Scratch};
use crate::program::{Command, Program, Stage};
use conditions::Experiment;
use energy::EnergyReader;
use machine::Machine;
use processes::{Children, Failure, Group, Interrupt, Signals};
pub(crate) use setup::{Role, SHORT_WINDOW, Setup, Side};
pub(crate) use trial::{IN_THE_FUTURE, Patience, reported_copies};

/// A command that is not measured may take this long: a day, for builds.
const MAX_BUILD_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Programs that are asked to end may take this long to end what they have started.
const MAX_ENDING_TIME: Duration = Duration::from_secs(1);

/// Killed processes may take this long to end.
const MAX_DYING_TIME: Duration = Duration::from_secs(5);

/// Starts programs, waits for them and ends them. When it is dropped, the changes of conditions are
/// undone, then the guardian is dismissed.
pub struct Supervisor<'a> {
    pub(super) machine: &'a Machine,
    /// The longest silence of a program.
    pub(super) patience: Duration,
    // Fields are dropped in this order: a meter ends before the guardian.
    energy: EnergyReader,
    /// Switches conditions, and records in the ledger how to undo that.
    pub(super) experiment: Experiment,
    pub(super) guardian: Guardian,
    pub(super) scratch: Scratch,
    pub(super) signals: Rc<Signals>,
    /// The terminal on which a display draws.
    screen: Option<PathBuf>,
    /// For how long the user has paused the run so far.
    pub(super) paused: Cell<Duration>,
    /// The children that are neither programs of a trial nor leftovers of one.
    own: Children,
    /// Leftovers that go on until the run ends, such as a server that --setup has started. The
    /// guardian knows these groups.
    servers: Vec<Group>,
    /// How long the programs of the last trial took from their start until all were ready.
    pub(super) ready_time: Duration,
}

/// The processes of a trial.
#[derive(Default)]
pub(super) struct Processes {
    pub copies: Vec<Program>,
    /// The programs alongside the copies: the load, then the companion.
    pub sides: Vec<Program>,
}

impl Processes {
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.copies.iter().chain(&self.sides)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.copies.iter_mut().chain(&mut self.sides)
    }

    /// True if a program alongside the copies has ended, which none must do by itself.
    pub fn has_side_ended(&self) -> bool {
        self.sides.iter().any(Program::has_ended)
    }

    /// True if a trial need not be waited for any longer.
    pub fn have_copies_or_side_ended(&self) -> bool {
        self.copies.iter().all(Program::has_ended) || self.has_side_ended()
    }
}

/// The end of a wait.
#[derive(PartialEq, Eq)]
pub(super) enum Waited {
    /// The condition holds, or a program has failed.
    Done,
    /// The limit has passed.
    TooLong,
    /// A signal asks the run to stop or to pause.
    Stopped,
}

impl<'a> Supervisor<'a> {
    /// Handles signals from now on, makes a scratch directory below `folder`, and starts the
    /// guardian, which also gives back the terminal `screen`.
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
        // As subreaper the tool is the parent of every orphan among the measured processes. Without
        // one (Linux before 3.4, an emulator of user programs), orphans fall to process 1, which
        // reaps them.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let signals = Rc::new(Signals::install()?);
        experiment.open_ledger()?;
        experiment.hear_signals(Rc::clone(&signals));

        // The guardian and the ledger know the directory before it is made: killed at any moment,
        // the tool leaves none.
        let scratch = Scratch::below(folder);
        let mut guardian = Guardian::start(&scratch.path, &experiment)?;
        experiment.record_scratch(&scratch.path).map_err(anyhow::Error::msg)?;
        scratch.make()?;
        if let Some(screen) = screen {
            guardian.watch_screen(screen)?;
        }

        let own = Children::now();
        Ok(Supervisor {
            machine,
            patience,
            energy: EnergyReader::Nowhere,
            experiment,
            guardian,
            scratch,
            signals,
            screen: screen.map(Path::to_path_buf),
            paused: Cell::new(Duration::ZERO),
            own,
            servers: Vec::new(),
            ready_time: Duration::ZERO,
        })
    }

    /// The run's scratch directory.
    pub fn scratch(&self) -> &Path {
        &self.scratch.path
    }

    /// The signal that asked the run to stop, if one did.
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
        let command = processes::Command { words, folder, limit: MAX_BUILD_TIME, cgroup: None };
        let mut watched = None;
        let output = command.run(Some(interrupt), &mut |group| {
            guardian.watch(&group).map_err(|error| format!("{error:#}"))?;
            watched = Some(group);
            Ok(())
        });

        // What the command leaves running on purpose is not the guardian's to end.
        if let Some(group) = &watched {
            let _ = guardian.forget(group);
        }
        output
    }

    /// Starts a program and registers its group with the guardian.
    ///
    /// # Errors
    /// It cannot be started; the sentence says why.
    pub(super) fn start(&mut self, command: &Command<'_>) -> Result<Program, String> {
        let mut program = Program::spawn(command)?;
        if let Err(error) = self.guardian.watch(&program.group) {
            program.end();
            return Err(format!("{error:#}"));
        }
        Ok(program)
    }

    /// Makes the children that have come since `before` the tool's own: what a condition has
    /// started ends with the condition.
    pub(super) fn own_children_since(&mut self, before: &Children) {
        Children::now().without(before).iter().for_each(|child| self.own.insert(child));
    }

    /// Ends the leftovers of a trial, whatever group or session they went to. If the test
    /// `has_servers`, they become servers instead, and go on until the run ends.
    pub(super) fn end_trial(&mut self, has_servers: bool) {
        let is_over = self.signals.stopped().is_some();
        if !has_servers || is_over {
            return self.end_servers();
        }

        let leftovers = Children::now().without(&self.own);
        leftovers.reap();

        let known = std::mem::take(&mut self.servers);
        let (alive, ended): (Vec<Group>, Vec<Group>) = known.into_iter().partition(Group::is_alive);
        self.servers = alive;
        for group in ended {
            let _ = self.guardian.forget(&group);
        }

        for child in leftovers.iter() {
            if !self.servers.iter().any(|group| group.has(child))
                && let Some(group) = Group::around(child)
                && self.guardian.watch(&group).is_ok()
            {
                self.servers.push(group);
            }
        }
    }

    /// Ends all leftovers, servers among them.
    pub(super) fn end_servers(&mut self) {
        self.own.end_others(MAX_DYING_TIME);
        for group in self.servers.drain(..) {
            let _ = self.guardian.forget(&group);
        }
    }

    /// Ends all programs and their groups. Those that still work are asked first, since one that
    /// executes commands knows what these have started.
    pub(super) fn end(&mut self, processes: &mut Processes) {
        processes.all_mut().for_each(Program::ask_to_end);
        let deadline = Instant::now() + MAX_ENDING_TIME;
        while !processes.all().all(Program::is_gone) && Instant::now() < deadline {
            // A last report may be more than a pipe holds.
            processes.all_mut().for_each(Program::read_output);
            std::thread::sleep(Duration::from_millis(1));
        }

        for program in processes.all_mut() {
            program.end();
            // A guardian that is gone is noticed when the next program is registered.
            let _ = self.guardian.forget(&program.group);
        }
    }

    /// Sleeps in poll(2) until `is_done` holds, a program fails before it is ready, a signal comes
    /// or the limit has passed.
    pub(super) fn wait(
        &self,
        processes: &mut Processes,
        limit: Duration,
        is_done: impl Fn(&Processes) -> bool,
    ) -> Waited {
        let deadline = monotonic_ns() + ns(limit);
        loop {
            for program in processes.all_mut() {
                program.read_output();
            }

            if self.signals.stopped().is_some() || self.signals.wants_pause() {
                return Waited::Stopped;
            }
            if is_done(processes) || processes.all().any(|program| program.stage() == Stage::Failed)
            {
                return Waited::Done;
            }

            if !self.poll(processes.all(), deadline) {
                return Waited::TooLong;
            }
            self.reap_servers(processes);
        }
    }

    /// Rests as UnixBench does before a pass: `sync; sleep 1; sync; sleep 2`. False if a signal
    /// stops the run.
    pub(super) fn rest(&self) -> bool {
        [1, 2].into_iter().all(|seconds| {
            rustix::fs::sync();
            self.sleep(Duration::from_secs(seconds))
        })
    }

    /// Sleeps for `time`, of which a pause that the user asks for is a part. False if a signal
    /// stops the run.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        let deadline = monotonic_ns() + ns(time);
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

    /// Stops this process until something continues it, as Ctrl-Z does to any other. No condition
    /// must be on.
    pub(super) fn pause(&self) {
        let began = Instant::now();
        if let Some(screen) = &self.screen {
            // The display takes it again when it next draws.
            let _ = files::overwrite(screen, RESTORE_SCREEN);
        }
        self.signals.pause();
        self.paused.set(self.paused.get() + began.elapsed());
    }

    /// Sleeps until one of `programs` prints or ends, a signal comes, or the deadline (ns of
    /// CLOCK_MONOTONIC). False if the deadline was over before.
    fn poll<'p>(&'p self, programs: impl Iterator<Item = &'p Program>, deadline: u64) -> bool {
        let Some(left) = deadline.checked_sub(monotonic_ns()).filter(|left| *left > 0) else {
            return false;
        };

        let pipes = programs.flat_map(Program::pipes).chain([self.signals.fd()]);
        let mut fds: Vec<PollFd<'_>> =
            pipes.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        // Both parts of a u64 of nanoseconds fit.
        let left = Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        };

        // An interrupted poll is a wake-up like any other.
        let _ = poll(&mut fds, Some(&left));
        self.signals.drain();
        true
    }

    /// Reaps servers that have ended, as process 1 would: a command may wait until one of them is
    /// gone.
    fn reap_servers(&self, processes: &Processes) {
        if self.servers.is_empty() {
            return;
        }
        let mut known = self.own.clone();
        processes.all().for_each(|program| known.insert(program.pid));
        Children::now().without(&known).reap();
    }
}

impl Drop for Supervisor<'_> {
    fn drop(&mut self) {
        if !self.servers.is_empty() {
            self.end_servers();
        }

        // A user who has asked twice does not wait any longer: the guardian then undoes the rest.
        self.guardian.is_awaited = self.signals.stops() < 2;
        if self.guardian.is_awaited {
            // A failure stays in the ledger: the guardian tries again, and the next start of the
            // tool says what is left.
            let _ = self.experiment.end();
        }
    }
}

/// The time of CLOCK_MONOTONIC in ns.
pub(super) fn monotonic_ns() -> u64 {
    read_clock_ns(ClockId::Monotonic)
}

/// The processor time of this process in ns.
pub(super) fn cpu_time_ns() -> u64 {
    read_clock_ns(ClockId::ProcessCPUTime)
}

/// A duration in ns, at most 146 years, so that its sum with the clock still fits.
pub(super) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).map_or(u64::MAX / 4, |ns| ns.min(u64::MAX / 4))
}

fn read_clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
