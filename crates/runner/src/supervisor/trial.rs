//! Measures one trial.
//!
//! 1. Spawn the copies and the programs alongside them ([`Supervisor::spawn`]).
//! 2. Wait until all have printed `ready` ([`Supervisor::wait_until_ready`]), then start the
//!    programs alongside the copies.
//! 3. Tell all copies the same start, a little ahead ([`lead`]), and wait for their ends
//!    ([`Supervisor::wait_and_report`]).
//! 4. Collect the reports ([`collect_all_copies`]), check them, and prove that the condition was
//!    on.
//! 5. Whatever happened, end all programs and what they have left.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::setup::{Setup, Side};
use super::{Processes, Supervisor, Waited, cpu_time_ns, monotonic_ns, ns};
use crate::Slow;
use crate::program::{Command, Program, Stage};
use crate::protocol::{self, Conclusion};
use catalogue::{Metric, Test};
use conditions::{Entered, Refusal};
use journal::{Copy, Trial};
use machine::{noise, sample};
use plan::Window;
use processes::{Children, Started, last_child};

/// A command may be silent for a year: whoever waits for it ends it.
const COMMAND_SILENCE: Duration = Duration::from_secs(365 * 24 * 3600);

/// A load reads `mark` within this time, at its next pulse.
const MARK_TIME: Duration = Duration::from_millis(110);

/// The error of a program whose clock is ahead of ours.
pub(crate) const IN_THE_FUTURE: &str = "it reports a time in the future";

/// What shows that a sandbox is there, and holds it while its memory is read. It ends with its
/// stdin, as measured programs do, so that nothing stays where tool and guardian are both killed.
const HOLDER: &str = "echo ready; exec cat";

/// A command that takes long is reported this often.
const SLOW_NOTICE_EVERY: Duration = Duration::from_secs(10);

/// A command that is stopped is reported after this time.
const STOPPED_PATIENCE: Duration = Duration::from_secs(5);

/// Reports of commands that take long.
pub(crate) struct Patience<'a> {
    /// The first report comes this long after the window, or the start of a set-up.
    pub time: Duration,
    /// Hears the reports.
    pub tell: &'a mut dyn FnMut(&Slow),
}

/// The reports of a wait, if there are any.
struct Reports<'w, 'a> {
    /// The time that the programs take in any case.
    after: Duration,
    patience: Option<&'w mut Patience<'a>>,
}

impl Supervisor<'_> {
    /// Measures one trial under a condition that is on. The caller fills in cell, block and time.
    pub(crate) fn measure(
        &mut self,
        setup: &Setup<'_>,
        entered: &mut Entered,
        patience: Option<Patience<'_>>,
    ) -> Result<Trial, Refusal> {
        let mut processes = Processes::default();
        let mut patience = patience.filter(|_| setup.test.is_command());
        let spawned = Instant::now();
        let trial = self
            .spawn(setup, &mut processes)
            .and_then(|()| self.wait_until_ready(setup, &mut processes, patience.as_mut()))
            .and_then(|()| {
                self.ready_time = spawned.elapsed();
                self.run_programs(setup, &mut processes, entered, patience)
            });

        self.end(&mut processes);
        self.end_trial(setup.test.has_servers);
        match trial {
            Err(Refusal::Stopped) if self.signals.stopped().is_some() => {
                collect_until_stop(&mut processes, setup).ok_or(Refusal::Stopped)
            }
            trial => trial,
        }
    }

    /// The memory in KiB of sandboxes: of all children that have come since `before`, while each
    /// prefix has started a program that only waits. `None` if it may not be read.
    pub(crate) fn read_sandbox_memory(
        &mut self,
        (test, folder): (&Test, &Path),
        prefixes: &[Vec<OsString>],
        before: &Children,
    ) -> Result<Option<u64>, Refusal> {
        let copies = prefixes.iter().map(|prefix| waiting_program(prefix, folder)).collect();
        let setup = Setup { copies, ..Setup::empty(test) };
        let mut processes = Processes::default();
        let memory = self
            .spawn(&setup, &mut processes)
            .and_then(|()| self.wait_until_ready(&setup, &mut processes, None))
            .map(|()| Children::now().without(before).memory_kib());

        self.end(&mut processes);
        self.end_trial(false);
        memory
    }

    fn spawn(&mut self, setup: &Setup<'_>, processes: &mut Processes) -> Result<(), Refusal> {
        let count = setup.copies.len();
        for (number, command) in setup.copies.iter().enumerate() {
            let program = self.start(command).map_err(|why| {
                if count > 1 { format!("copy {} of {count}: {why}", number + 1) } else { why }
            })?;
            processes.copies.push(program);
        }

        for Side { role, test, command } in &setup.sides {
            processes.sides.push(self.start(command).map_err(|why| role.blame(test, why.into()))?);
        }
        Ok(())
    }

    fn run_programs(
        &mut self,
        setup: &Setup<'_>,
        processes: &mut Processes,
        entered: &mut Entered,
        patience: Option<Patience<'_>>,
    ) -> Result<Trial, Refusal> {
        let load = self.start_sides(setup, processes)?;

        let window = setup.window;
        let programs: Vec<u32> = processes.copies.iter().filter_map(process_number).collect();
        let watch = match setup.test.metric {
            Metric::Latency => self.experiment.watch(&programs, self.machine)?,
            _ => None,
        };
        let sample_before = sample(self.machine);
        let tool_cpu_before = cpu_time_ns();

        let mut lead = lead(processes.copies.len() * setup.threads as usize, window);
        if !setup.sides.is_empty() {
            lead += MARK_TIME;
        }
        let start = monotonic_ns() + ns(lead);
        for program in &mut processes.copies {
            program.output.start = start;
            program.send(&format!("go {start} {} {}\n", window.slice.as_nanos(), window.slices));
        }

        let counted_energy = self.count_energy(processes, start, window)?;
        let silence = if setup.test.is_command() { COMMAND_SILENCE } else { self.patience };
        let limit = lead + window.length() + window.length() + window.around + silence;
        let mut patience = patience;
        let reports = Reports { after: lead + window.length(), patience: patience.as_mut() };
        match self.wait_and_report(processes, limit, reports, Processes::have_copies_or_side_ended)
        {
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

        let tool_cpu = cpu_time_ns().saturating_sub(tool_cpu_before);
        let sample_after = sample(self.machine);
        let energy = counted_energy.or_else(|| self.metered_energy(start, window));
        let sides = self.end_sides(setup, processes, load)?;
        let (mut copies, error) = collect_all_copies(processes, setup, start)?;
        if let Some(watch) = watch {
            watch.end(&mut copies, start, &self.signals)?;
        }
        // Only the watch uses them, so they need not be in the journal.
        for frames in copies.iter_mut().filter_map(|copy| copy.frames.as_mut()) {
            frames.overdue = Vec::new();
        }

        let mut trial = Trial {
            copies,
            error,
            background: sides.load,
            noise: Some(noise(&sample_before, &sample_after)),
            energy,
            tool_cpu_s: Some(tool_cpu as f64 / 1e9),
            ..Trial::default()
        };
        let end = start + ns(window.length());
        let evidence = self.experiment.prove(entered, &trial, start..end, sides.companion_count)?;
        trial.evidence = evidence.map(Box::new);
        Ok(trial)
    }

    /// [`Supervisor::wait`], reporting what the first copy executes if that takes longer than the
    /// patience, or is stopped.
    fn wait_and_report(
        &self,
        processes: &mut Processes,
        limit: Duration,
        reports: Reports<'_, '_>,
        is_done: impl Fn(&Processes) -> bool,
    ) -> Waited {
        let Reports { after, patience: Some(Patience { time, tell }) } = reports else {
            return self.wait(processes, limit, is_done);
        };

        let began = Instant::now();
        let is_due = after + *time;
        let mut next_look = after + STOPPED_PATIENCE.min(*time);
        loop {
            let left = limit.saturating_sub(began.elapsed());
            match self.wait(processes, next_look.min(left), &is_done) {
                Waited::TooLong if began.elapsed() < limit => {}
                waited => return waited,
            }

            let is_slow = began.elapsed() >= is_due;
            let until_due = is_due.saturating_sub(began.elapsed());
            next_look = if is_slow { SLOW_NOTICE_EVERY } else { SLOW_NOTICE_EVERY.min(until_due) };
            let running = processes.copies.first().and_then(|copy| last_child(copy.pid));
            if let Some(Started { words, time, is_stopped }) = running
                && (is_slow || is_stopped)
            {
                tell(&Slow { command: typed_command(&words), time, is_stopped });
            }
        }
    }

    /// Waits until every program has printed `ready`.
    ///
    /// # Errors
    /// A program fails before it is ready, or takes too long.
    pub(crate) fn wait_until_ready(
        &mut self,
        setup: &Setup<'_>,
        processes: &mut Processes,
        patience: Option<&mut Patience<'_>>,
    ) -> Result<(), Refusal> {
        let reports = Reports { after: Duration::ZERO, patience };
        let waited = self.wait_and_report(processes, self.patience, reports, |processes| {
            processes.all().all(|program| program.stage() != Stage::Preparing)
        });
        // Programs at this stage are to blame, if there are any.
        let bad_stage = match waited {
            Waited::Done => Stage::Failed,
            Waited::Stopped => return Err(Refusal::Stopped),
            Waited::TooLong => Stage::Preparing,
        };

        if let Some(program) =
            processes.copies.iter_mut().find(|program| program.stage() == bad_stage)
        {
            return Err(self.explain_stage(program, setup.test));
        }
        let mut sides = setup.sides.iter().zip(&mut processes.sides);
        match sides.find(|(_, program)| program.stage() == bad_stage) {
            Some((side, program)) => {
                Err(side.role.blame(side.test, self.explain_stage(program, side.test)))
            }
            None => Ok(()),
        }
    }

    /// Why a program is not ready: it has failed, or takes too long.
    fn explain_stage(&self, program: &mut Program, test: &Test) -> Refusal {
        if program.stage() == Stage::Failed {
            return explain_not_ready(program);
        }

        let seconds = self.patience.as_secs();
        // Of a test, only its author would know what it has started.
        let started = if test.is_command() { last_child(program.pid) } else { None };
        if let Some(Started { words, .. }) = started {
            return format!(
                "'{}' was still running after {seconds} s, before anything was measured, and was \
                 killed; --patience waits longer",
                typed_command(&words)
            )
            .into();
        }
        format!("it did not get ready within {seconds} s and was killed; --patience waits longer")
            .into()
    }
}

/// The program that shows and holds a sandbox, as the sandbox's prefix starts it.
fn waiting_program<'a>(prefix: &[OsString], folder: &'a Path) -> Command<'a> {
    let words = ["/bin/sh", "-c", HOLDER].map(OsString::from);
    let mut words = prefix.iter().cloned().chain(words);
    // There are three words at least.
    let path = words.next().map(PathBuf::from).unwrap_or_default();
    Command { path, args: words.collect(), folder: Some(folder), environment: &[] }
}

/// A command as its user typed it: without the shell that executes it.
fn typed_command(words: &[String]) -> String {
    match words {
        [_, option, command] if option == "-c" => command.clone(),
        words => words::shell(words),
    }
}

/// Why a program failed before it was ready.
fn explain_not_ready(program: &mut Program) -> Refusal {
    // It may have printed its last line and not have ended yet, or the other way round.
    program.end();
    program.read_output();
    match program.output.conclusion() {
        Conclusion::Skip(reason) => Refusal::Unavailable(reason),
        Conclusion::Error(reason) => reason.into(),
        Conclusion::Done(_) => "it printed `done` before `ready`".into(),
        Conclusion::Garbage(why) => {
            program.failure().filter(|_| program.output.is_silent()).unwrap_or(why).into()
        }
    }
}

/// The report of a program that has ended.
pub(crate) fn reported_copies(program: &Program) -> Result<Vec<Copy>, Refusal> {
    match (program.output.conclusion(), program.failure()) {
        (Conclusion::Done(copies), None) => Ok(copies),
        (Conclusion::Done(_), Some(why)) | (Conclusion::Error(why), _) => Err(why.into()),
        (Conclusion::Skip(why), _) => Err(Refusal::Unavailable(why)),
        (Conclusion::Garbage(why), _) => Err(program.reason(why).into()),
    }
}

fn process_number(program: &Program) -> Option<u32> {
    u32::try_from(program.pid.as_raw_nonzero().get()).ok()
}

/// The checked report of one program: a copy, or one for each of its threads. `start` is that of
/// the window, in ns of CLOCK_MONOTONIC.
fn collect_copies(program: &Program, setup: &Setup<'_>, start: u64) -> Result<Vec<Copy>, Refusal> {
    let mut copies = reported_copies(program)?;
    for copy in &mut copies {
        copy.pid = process_number(program);
    }
    if copies.len() != setup.threads as usize {
        return Err(format!(
            "it reports {} threads and should have {}",
            copies.len(),
            setup.threads
        )
        .into());
    }

    let slice_ends = copies.iter().filter_map(|copy| Some(start + copy.slices.last()?.end));
    let execution_ends = copies.iter().filter_map(|copy| Some(start + copy.executions.last()?.end));
    let latest = slice_ends.chain(execution_ends).max().unwrap_or(0).max(program.output.latest);
    if latest > monotonic_ns() {
        return Err(IN_THE_FUTURE.into());
    }

    // Answers and values are the program's, and stand in its first copy.
    let test = setup.test;
    let first = &copies[0];
    protocol::verify(first, test)?;
    if test.value.as_ref().is_some_and(|value| !first.values.contains_key(value)) {
        return Err("it did not report its value".into());
    }

    let window_end = ns(setup.window.length());
    let slept_through = |copy: &Copy| copy.slices.first().is_some_and(|s| s.start >= window_end);
    match (test.metric, &first.frames) {
        (Metric::Latency, Some(_)) => Ok(copies),
        // The frames of a command are its wake-ups, which come from the kernel's trace.
        (Metric::Latency, None) if test.is_command() => Ok(copies),
        (Metric::Latency, None) => Err("it did not report its frames".into()),
        // The caller judges copies that slept through the window.
        (_, _) if copies.iter().any(slept_through) || copies.iter().any(has_worked) => Ok(copies),
        _ => Err("nothing was completed within its window; try --procedure classic".into()),
    }
}

/// The reports of all copies. If one of several compared commands failed after others were
/// executed, the reports until then, with the error.
fn collect_all_copies(
    processes: &Processes,
    setup: &Setup<'_>,
    start: u64,
) -> Result<(Vec<Copy>, Option<String>), Refusal> {
    let mut copies = Vec::new();
    for program in &processes.copies {
        match collect_copies(program, setup, start) {
            Ok(collected) => copies.extend(collected),
            Err(refusal) => {
                return match reports_until_failure(processes, setup) {
                    Some(reports) => Ok((reports, Some(refusal.to_string()))),
                    None => Err(refusal),
                };
            }
        }
    }

    Ok((copies, None))
}

/// The reports of the commands that are compared, where one of them failed after others were
/// executed.
fn reports_until_failure(processes: &Processes, setup: &Setup<'_>) -> Option<Vec<Copy>> {
    let [program] = &processes.copies[..] else { return None };
    let has_failed = matches!(program.output.conclusion(), Conclusion::Error(_));
    let copies = program.output.reports_until_failure();
    (has_failed && copies.len() == setup.threads as usize).then_some(copies)
}

/// What was executed until the run was stopped, of commands that have reported it: those that are
/// measured one after the other, all in one trial.
fn collect_until_stop(processes: &mut Processes, setup: &Setup<'_>) -> Option<Trial> {
    processes.copies.iter_mut().for_each(Program::read_output);
    let copies = reports_until_failure(processes, setup)?;
    let has_executions = copies.iter().any(|copy| !copy.executions.is_empty());
    has_executions.then(|| Trial { copies, ..Trial::default() })
}

/// True if the copy has done anything, in time that passed: a frame that is never done is a result,
/// but a rate of zero is none.
fn has_worked(copy: &Copy) -> bool {
    let (Some(first), Some(last)) = (copy.slices.first(), copy.slices.last()) else {
        return false;
    };
    first.start < last.end && copy.slices.iter().any(|slice| slice.count > 0)
}

/// The time between `go` and the common start: enough for every copy to wake up, to touch the
/// memory that a long window needs, and to sleep.
fn lead(copies: usize, window: Window) -> Duration {
    Duration::from_millis(20)
        + Duration::from_micros(300) * u32::try_from(copies).unwrap_or(1)
        + window.length() / 10_000
}
