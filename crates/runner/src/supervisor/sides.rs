//! The programs alongside a trial's copies: the load, then the companion.
//!
//! Both work from `go` until their stdin closes, and report what they have done since the line
//! `mark`. So they start before the copies: the load works alone until it is steady, both read
//! `mark`, the window opens and ends, and then their stdin closes.

use std::time::Duration;

use conditions::Refusal;
use journal::{Background, Copy};

use super::setup::{Role, Setup, Side};
use super::steady::LoadAlone;
use super::{Processes, Supervisor, Waited, monotonic_ns};
use crate::program::Program;
use crate::protocol::Conclusion;

/// A program alongside the copies may take this long to report when its stdin has closed.
const MAX_REPORT_TIME: Duration = Duration::from_secs(20);

/// The line that starts a program which works until its stdin closes.
const GO: &str = "go 0 0 0\n";

/// A load that has started to work.
pub(super) struct StartedLoad {
    /// The moment when it started, in ns of CLOCK_MONOTONIC.
    start: u64,
    alone: LoadAlone,
}

/// The reports of the programs alongside the copies.
#[derive(Default)]
pub(super) struct SideReports {
    pub load: Option<Box<Background>>,
    /// What the companion counted in the window.
    pub companion_count: Option<f64>,
}

impl Supervisor<'_> {
    /// Starts the programs alongside the copies, the load first, and waits until that is steady.
    pub(super) fn start_sides(
        &mut self,
        setup: &Setup<'_>,
        processes: &mut Processes,
    ) -> Result<Option<StartedLoad>, Refusal> {
        let mut load = None;
        for (number, Side { role, test, .. }) in setup.sides.iter().enumerate() {
            let start = monotonic_ns();
            let program = &mut processes.sides[number];
            program.output.start = start;
            program.send(GO);
            if *role == Role::Load {
                let settle = setup.window.settle;
                let alone = self.wait_until_steady(processes, number, start, settle)?;
                load = Some(StartedLoad { start, alone });
            }

            let program = &mut processes.sides[number];
            if program.has_ended() {
                return Err(role.blame(test, explain_early_end(program)));
            }
            program.send("mark\n");
        }
        Ok(load)
    }

    /// Waits until the load's throughput is steady, but no longer than three times `settle`.
    fn wait_until_steady(
        &mut self,
        processes: &mut Processes,
        number: usize,
        start: u64,
        settle: Duration,
    ) -> Result<LoadAlone, Refusal> {
        let waited = self.wait(processes, settle * 3, |processes| {
            LoadAlone::if_steady(&processes.sides[number].output.pulses, settle).is_some()
                || processes.has_side_ended()
        });
        if waited == Waited::Stopped {
            return Err(Refusal::Stopped);
        }

        let pulses = &processes.sides[number].output.pulses;
        Ok(LoadAlone::if_steady(pulses, settle)
            .unwrap_or_else(|| LoadAlone::unsteady(start, pulses)))
    }

    /// Ends the programs alongside the copies, and returns what they did in the window.
    pub(super) fn end_sides(
        &mut self,
        setup: &Setup<'_>,
        processes: &mut Processes,
        load: Option<StartedLoad>,
    ) -> Result<SideReports, Refusal> {
        let mut reports = SideReports::default();
        for (number, Side { role, test, .. }) in setup.sides.iter().enumerate() {
            let copies =
                self.end_side(processes, number).map_err(|refusal| role.blame(test, refusal))?;
            match (role, &load) {
                (Role::Load, Some(load)) => {
                    let background =
                        load.judge_report(copies).map_err(|why| role.blame(test, why.into()))?;
                    reports.load = Some(Box::new(background));
                }
                _ => reports.companion_count = Some(count_work(&copies)),
            }
        }
        Ok(reports)
    }

    /// Ends one program alongside the copies, and returns its report.
    fn end_side(&mut self, processes: &mut Processes, number: usize) -> Result<Vec<Copy>, Refusal> {
        let program = &mut processes.sides[number];
        if program.has_ended() {
            return Err(explain_early_end(program));
        }

        program.close_stdin();
        let has_ended = |processes: &Processes| processes.sides[number].has_ended();
        match self.wait(processes, MAX_REPORT_TIME, has_ended) {
            Waited::Stopped => return Err(Refusal::Stopped),
            Waited::TooLong => return Err("it did not end when its stdin was closed".into()),
            Waited::Done => {}
        }

        let program = &processes.sides[number];
        match program.output.conclusion() {
            Conclusion::Done(copies) => Ok(copies),
            Conclusion::Skip(why) | Conclusion::Error(why) | Conclusion::Garbage(why) => {
                Err(program.reason(why).into())
            }
        }
    }
}

impl StartedLoad {
    /// The load's report, which has one slice: the time since `mark`.
    fn judge_report(&self, mut copies: Vec<Copy>) -> Result<Background, &'static str> {
        let copy = copies.swap_remove(0);
        if copy.slices.len() != 1 || self.start + copy.slices[0].end > monotonic_ns() {
            return Err(
                "it did not report exactly one slice, or reported more time than has passed",
            );
        }

        Ok(Background { alone: self.alone.rate, steady: self.alone.is_steady, copy })
    }
}

/// The work in all slices of all copies.
fn count_work(copies: &[Copy]) -> f64 {
    copies.iter().flat_map(|copy| &copy.slices).map(|slice| slice.count as f64).sum()
}

/// Why a program has ended that should work until its stdin closes.
fn explain_early_end(program: &mut Program) -> Refusal {
    program.read_output();
    match program.output.conclusion() {
        Conclusion::Skip(reason) => Refusal::Unavailable(reason),
        Conclusion::Error(reason) => reason.into(),
        Conclusion::Done(_) | Conclusion::Garbage(_) => program
            .failure()
            .unwrap_or_else(|| "it exited before it was told to stop".to_owned())
            .into(),
    }
}
