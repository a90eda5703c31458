//! One trial: spawn the copies, wait until all are ready, let them go at once, collect.

use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::guardian::Guardian;
use super::program::{Program, Stage};
use super::protocol::{self, Said};
use super::signals::Signals;
use crate::catalogue::Test;
use crate::journal::{Copy, Trial};
use crate::machine::{Machine, Noise, sample};
use crate::plan::Window;

/// Everything a trial needs besides the cell.
pub(super) struct Bench<'a> {
    pub machine: &'a Machine,
    pub signals: &'a Signals,
    pub guardian: &'a mut Guardian,
    pub patience: Duration,
}

/// A copy's executable and arguments.
pub(super) struct Command {
    pub path: std::path::PathBuf,
    pub args: Vec<String>,
}

/// Why a trial has no result.
pub(super) enum Failure {
    /// The user stopped the run.
    Stopped,
    /// The test cannot run here.
    Skip(String),
    /// Something went wrong.
    Error(String),
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Error(text)
    }
}

/// How a wait ended.
#[derive(PartialEq, Eq)]
enum Waited {
    Done,
    TooLong,
    Stopped,
}

impl Bench<'_> {
    /// Measures one trial in `folder`; cell, block and time are the caller's to fill in.
    pub fn measure(
        &mut self,
        test: &Test,
        commands: &[Command],
        window: Window,
        folder: &Path,
    ) -> Result<Trial, Failure> {
        let mut programs = Vec::with_capacity(commands.len());
        let result = self.spawn(commands, folder, &mut programs).and_then(|()| self.run(test, &mut programs, window));
        for program in &mut programs {
            program.end();
            // A guardian that is gone is found out by the next watch.
            let _ = self.guardian.forget(program.group());
        }
        result
    }

    fn spawn(&mut self, commands: &[Command], folder: &Path, programs: &mut Vec<Program>) -> Result<(), Failure> {
        for (number, command) in commands.iter().enumerate() {
            let program = Program::spawn(&command.path, &command.args, folder).map_err(|why| {
                if commands.len() > 1 { format!("copy {} of {}: {why}", number + 1, commands.len()) } else { why }
            })?;
            let group = program.group();
            programs.push(program);
            self.guardian.watch(group).map_err(|error| format!("{error:#}"))?;
        }
        Ok(())
    }

    fn run(&mut self, test: &Test, programs: &mut [Program], window: Window) -> Result<Trial, Failure> {
        let patience = self.patience;
        match self.wait(programs, patience, |program| program.stage() != Stage::Preparing) {
            Waited::Done => {}
            Waited::Stopped => return Err(Failure::Stopped),
            Waited::TooLong => {
                return Err(Failure::Error(format!(
                    "it did not get ready within {} s and was killed; --patience waits longer",
                    patience.as_secs()
                )));
            }
        }
        if let Some(failed) = programs.iter_mut().find(|program| program.stage() == Stage::Failed) {
            return Err(never_ready(failed));
        }
        let before = (sample(self.machine), cpu_time());
        let start = monotonic() + lead(programs.len());
        let go = format!("go {start} {} {}\n", window.slice.as_nanos(), window.slices);
        for program in programs.iter_mut() {
            program.tell(&go);
        }
        let limit = Duration::from_nanos(lead(programs.len())) + window.length() + window.length() + patience;
        match self.wait(programs, limit, Program::ended) {
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
        let copies = programs.iter().map(|program| collect(program, test, start)).collect::<Result<_, _>>()?;
        Ok(Trial {
            copies,
            noise: Some(Noise::between(&before.0, &after)),
            tool_cpu_s: Some((tool.saturating_sub(before.1)) as f64 / 1e9),
            ..Trial::default()
        })
    }

    /// Sleeps in poll(2) until `done` holds of every program. While a window is open nothing wakes
    /// the tool but a program that speaks or ends, or the user.
    fn wait(&self, programs: &mut [Program], limit: Duration, done: impl Fn(&Program) -> bool) -> Waited {
        let deadline = monotonic() + u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX / 2);
        loop {
            for program in programs.iter_mut() {
                program.listen();
            }
            if self.signals.stopped().is_some() {
                return Waited::Stopped;
            }
            if programs.iter().all(&done) || programs.iter().any(|program| program.stage() == Stage::Failed) {
                return Waited::Done;
            }
            let Some(left) = deadline.checked_sub(monotonic()).filter(|left| *left > 0) else {
                return Waited::TooLong;
            };
            let mut fds: Vec<PollFd<'_>> = programs
                .iter()
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
    match protocol::parse(&program.output(), 0) {
        Ok(Said::Skip(reason)) => Failure::Skip(reason),
        Ok(Said::Error(reason)) => Failure::Error(reason),
        Ok(Said::Done(_)) => Failure::Error("it said `done` before it was ready".to_owned()),
        Err(garbage) => Failure::Error(program.failure().filter(|_| program.output().is_empty()).unwrap_or(garbage)),
    }
}

fn collect(program: &Program, test: &Test, start: u64) -> Result<Copy, Failure> {
    match protocol::parse(&program.output(), start) {
        Ok(Said::Done(copy)) => {
            if let Some(why) = program.failure() {
                return Err(Failure::Error(why));
            }
            if copy.slices.last().is_some_and(|last| start + last.1 > monotonic()) {
                return Err(Failure::Error("it reports time that has not passed yet".to_owned()));
            }
            protocol::verify(&copy, test)?;
            if test.value.as_ref().is_some_and(|value| !copy.values.contains_key(value)) {
                return Err(Failure::Error("it did not report its value".to_owned()));
            }
            let (first, last) = (copy.slices.first(), copy.slices.last());
            let worked = first.zip(last).is_some_and(|(first, last)| first.0 < last.1);
            if !worked || copy.slices.iter().all(|slice| slice.2 == 0) {
                return Err(Failure::Error(
                    "it finished nothing within its window; try --procedure classic".to_owned(),
                ));
            }
            Ok(copy)
        }
        Ok(Said::Skip(reason)) => Err(Failure::Skip(reason)),
        Ok(Said::Error(reason)) => Err(Failure::Error(reason)),
        Err(garbage) => Err(Failure::Error(program.failure().unwrap_or(garbage))),
    }
}

/// The time between `go` and the common start, in ns: enough for every copy to wake up and sleep.
fn lead(copies: usize) -> u64 {
    20_000_000 + 300_000 * copies as u64
}

fn timespec(ns: u64) -> Timespec {
    // Both parts of a u64 of nanoseconds fit.
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// CLOCK_MONOTONIC in ns.
pub(super) fn monotonic() -> u64 {
    ns(ClockId::Monotonic)
}

fn cpu_time() -> u64 {
    ns(ClockId::ProcessCPUTime)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
