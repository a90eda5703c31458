//! One trial: spawn the copies and what runs beside them, wait until all are ready, let them go at once, collect.

use std::time::Duration;

use super::setup::{Setup, Side};
use super::{Processes, Supervisor, Waited, cpu_time, monotonic, ns};
use crate::program::{Program, Stage};
use crate::protocol::{self, Conclusion};
use catalogue::Metric;
use conditions::{Entered, Refusal};
use journal::{Copy, Trial};
use machine::{noise, sample};
use plan::Window;

/// A year: whoever waits for a command ends it.
const UNLIMITED: Duration = Duration::from_secs(365 * 24 * 3600);

/// A load sees `mark` at its next pulse.
const MARKED: Duration = Duration::from_millis(110);

/// A program's clock is ahead of ours.
pub(crate) const IN_THE_FUTURE: &str = "it reports a time in the future";

impl Supervisor<'_> {
    /// Measures one trial under what was entered; cell, block and time are the caller's to fill in.
    pub(crate) fn measure(&mut self, setup: &Setup<'_>, entered: &mut Entered) -> Result<Trial, Refusal> {
        let mut processes = Processes::default();
        let result = self.spawn(setup, &mut processes).and_then(|()| self.run(setup, &mut processes, entered));
        self.end(&mut processes);
        result
    }

    fn spawn(&mut self, setup: &Setup<'_>, processes: &mut Processes) -> Result<(), Refusal> {
        let count = setup.copies.len();
        for (number, command) in setup.copies.iter().enumerate() {
            let program = self
                .start(command)
                .map_err(|why| if count > 1 { format!("copy {} of {count}: {why}", number + 1) } else { why })?;
            processes.copies.push(program);
        }
        for Side { role, test, command } in &setup.sides {
            processes.sides.push(self.start(command).map_err(|why| role.blame(test, why.into()))?);
        }
        Ok(())
    }

    fn run(&mut self, setup: &Setup<'_>, processes: &mut Processes, entered: &mut Entered) -> Result<Trial, Refusal> {
        self.wait_until_ready(setup, processes)?;
        let alone = self.start_sides(setup, processes)?;
        let window = setup.window;
        let programs: Vec<u32> = processes.copies.iter().filter_map(number).collect();
        let watch = match setup.test.metric {
            Metric::Latency => self.experiment.watch(&programs, self.machine)?,
            _ => None,
        };
        let before = (sample(self.machine), cpu_time());
        let mut lead = lead(processes.copies.len() * setup.threads as usize, window);
        if !setup.sides.is_empty() {
            lead += MARKED;
        }
        let start = monotonic() + ns(lead);
        for program in &mut processes.copies {
            program.output.start = start;
            program.send(&format!("go {start} {} {}\n", window.slice.as_nanos(), window.slices));
        }
        let counted = self.count_energy(processes, start, window)?;
        // A command may take as long as it likes.
        let patience = if setup.test.is_command() { UNLIMITED } else { self.patience };
        let limit = lead + window.length() + window.length() + window.around + patience;
        let ended = |all: &Processes| all.copies.iter().all(Program::ended) || all.side_ended();
        match self.wait(processes, limit, ended) {
            Waited::Done => {}
            Waited::Stopped => return Err(Refusal::Stopped),
            Waited::TooLong => {
                let seconds = (limit - window.length()).as_secs();
                return Err(format!(
                    "it was still running {seconds} s after its window and was killed; --patience waits longer"
                )
                .into());
            }
        }
        let tool = cpu_time();
        let after = sample(self.machine);
        let energy = counted.or_else(|| self.metered_energy(start, window));
        let (background, companion) = self.end_sides(setup, processes, alone)?;
        let copies = processes.copies.iter().map(|program| collect(program, setup, start));
        let mut copies = copies.collect::<Result<Vec<_>, _>>()?.concat();
        if let Some(watch) = watch {
            watch.end(&mut copies, start, &self.signals)?;
        }
        copies.iter_mut().filter_map(|copy| copy.frames.as_mut()).for_each(|frames| frames.overdue = Vec::new());
        let mut trial = Trial {
            copies,
            background,
            noise: Some(noise(&before.0, &after)),
            energy,
            tool_cpu_s: Some((tool.saturating_sub(before.1)) as f64 / 1e9),
            ..Trial::default()
        };
        let end = start + ns(window.length());
        let evidence = self.experiment.prove(entered, &trial, start..end, companion)?;
        trial.evidence = evidence.map(Box::new);
        Ok(trial)
    }

    /// Waits until every program has printed `ready`.
    ///
    /// # Errors
    /// One of them fails first, or takes too long.
    pub(crate) fn wait_until_ready(&mut self, setup: &Setup<'_>, processes: &mut Processes) -> Result<(), Refusal> {
        let is_settled = |program: &Program| program.stage() != Stage::Preparing;
        let bad = match self.wait(processes, self.patience, |processes| processes.all().all(is_settled)) {
            Waited::Done => Stage::Failed,
            Waited::Stopped => return Err(Refusal::Stopped),
            Waited::TooLong => Stage::Preparing,
        };
        let seconds = self.patience.as_secs();
        let failure = |program: &mut Program| match bad {
            Stage::Failed => never_ready(program),
            _ => format!("it did not get ready within {seconds} s and was killed; --patience waits longer").into(),
        };
        if let Some(program) = processes.copies.iter_mut().find(|program| program.stage() == bad) {
            return Err(failure(program));
        }
        let mut sides = setup.sides.iter().zip(&mut processes.sides);
        match sides.find(|(_, program)| program.stage() == bad) {
            Some((side, program)) => Err(side.role.blame(side.test, failure(program))),
            None => Ok(()),
        }
    }
}

/// Why a program failed before it was ready.
fn never_ready(program: &mut Program) -> Refusal {
    // What it prints and how it ends may come in two pieces.
    program.end();
    program.read_output();
    match program.output.conclusion() {
        Conclusion::Skip(reason) => Refusal::Unavailable(reason),
        Conclusion::Error(reason) => reason.into(),
        Conclusion::Done(_) => "it printed `done` before `ready`".into(),
        Conclusion::Garbage(why) => program.failure().filter(|_| program.output.is_silent()).unwrap_or(why).into(),
    }
}

/// Returns what a program reported that has ended.
pub(crate) fn result(program: &Program) -> Result<Vec<Copy>, Refusal> {
    match (program.output.conclusion(), program.failure()) {
        (Conclusion::Done(copies), None) => Ok(copies),
        (Conclusion::Done(_), Some(why)) | (Conclusion::Error(why), _) => Err(why.into()),
        (Conclusion::Skip(why), _) => Err(Refusal::Unavailable(why)),
        (Conclusion::Garbage(why), _) => Err(program.reason(why).into()),
    }
}

/// Returns the number of a program's process.
fn number(program: &Program) -> Option<u32> {
    u32::try_from(program.pid.as_raw_nonzero().get()).ok()
}

/// Returns the result of one program: one copy, or one of each of its threads.
fn collect(program: &Program, setup: &Setup<'_>, start: u64) -> Result<Vec<Copy>, Refusal> {
    let mut copies = result(program)?;
    copies.iter_mut().for_each(|copy| copy.pid = number(program));
    if copies.len() != setup.threads as usize {
        return Err(format!("it reports {} threads and should have {}", copies.len(), setup.threads).into());
    }
    let slices = copies.iter().filter_map(|copy| copy.slices.last()).map(|last| start + last.end);
    let executions = copies.iter().filter_map(|copy| copy.executions.last()).map(|last| start + last.end);
    if slices.chain(executions).max().unwrap_or(0).max(program.output.latest) > monotonic() {
        return Err(IN_THE_FUTURE.into());
    }
    let (test, first) = (setup.test, &copies[0]);
    protocol::verify(first, test)?;
    if test.value.as_ref().is_some_and(|value| !first.values.contains_key(value)) {
        return Err("it did not report its value".into());
    }
    let end = ns(setup.window.length());
    let slept = copies.iter().any(|copy| copy.slices.first().is_some_and(|first| first.start >= end));
    match (test.metric, &first.frames) {
        (Metric::Latency, Some(_)) => Ok(copies),
        // A command's are its wake-ups, which the kernel's trace has.
        (Metric::Latency, None) if test.is_command() => Ok(copies),
        (Metric::Latency, None) => Err("it did not report its frames".into()),
        // That a copy slept through the window is the caller's to judge.
        (_, _) if slept || copies.iter().any(worked) => Ok(copies),
        _ => Err("nothing was completed within its window; try --procedure classic".into()),
    }
}

/// Returns true if anything was done, in time that passed. A frame that is never done is a result; a rate of zero is
/// not.
fn worked(copy: &Copy) -> bool {
    let (first, last) = (copy.slices.first(), copy.slices.last());
    first.zip(last).is_some_and(|(first, last)| first.start < last.end)
        && copy.slices.iter().any(|slice| slice.count > 0)
}

/// The time between `go` and the common start: enough for every copy to wake up, to touch the memory that a long window
/// needs, and to sleep.
fn lead(copies: usize, window: Window) -> Duration {
    Duration::from_millis(20)
        + Duration::from_micros(300) * u32::try_from(copies).unwrap_or(1)
        + window.length() / 10_000
}
