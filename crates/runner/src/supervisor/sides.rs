//! The programs beside a trial's copies: the load, then the companion.

use std::time::Duration;

use conditions::Refusal;
use journal::{Background, Copy};

use super::setup::{Role, Setup, Side};
use super::steady::Steady;
use super::{Processes, Supervisor, Waited, monotonic};
use crate::program::Program;
use crate::protocol::Conclusion;

/// The longest time that a program beside the copies may take to report when its stdin has closed.
const SIDE_ENDS: Duration = Duration::from_secs(20);

/// The line that starts a program which works until its stdin closes.
const GO: &str = "go 0 0 0\n";

/// A load before the window opened.
pub(super) struct Alone {
    /// The moment when it started to work.
    start: u64,
    steady: Steady,
}

impl Supervisor<'_> {
    /// Lets what runs beside the copies go, the load first; returns what the load does alone.
    pub(super) fn start_sides(
        &mut self,
        setup: &Setup<'_>,
        processes: &mut Processes,
    ) -> Result<Option<Alone>, Refusal> {
        let mut alone = None;
        for (number, Side { role, test, .. }) in setup.sides.iter().enumerate() {
            let start = monotonic();
            let program = &mut processes.sides[number];
            program.output.start = start;
            program.send(GO);
            if *role == Role::Load {
                let steady = self.wait_until_steady(processes, number, start, setup.window.settle)?;
                alone = Some(Alone { start, steady });
            }
            let program = &mut processes.sides[number];
            if program.ended() {
                return Err(role.blame(test, ended_early(program)));
            }
            program.send("mark\n");
        }
        Ok(alone)
    }

    /// Waits until the load's own throughput is steady, or for three times the `settle` that takes.
    fn wait_until_steady(
        &mut self,
        processes: &mut Processes,
        number: usize,
        start: u64,
        settle: Duration,
    ) -> Result<Steady, Refusal> {
        let steady = |processes: &Processes| Steady::judge(&processes.sides[number].output.pulses, settle);
        let done = |processes: &Processes| steady(processes).is_some() || processes.side_ended();
        match self.wait(processes, settle * 3, done) {
            Waited::Stopped => Err(Refusal::Stopped),
            Waited::Done | Waited::TooLong => {
                Ok(steady(processes).unwrap_or_else(|| Steady::never(start, &processes.sides[number].output.pulses)))
            }
        }
    }

    /// Ends what runs beside the copies; returns what the load did in the window, and what the companion counted.
    pub(super) fn end_sides(
        &mut self,
        setup: &Setup<'_>,
        processes: &mut Processes,
        alone: Option<Alone>,
    ) -> Result<(Option<Box<Background>>, Option<f64>), Refusal> {
        let (mut background, mut counted) = (None, None);
        for (number, Side { role, test, .. }) in setup.sides.iter().enumerate() {
            let blame = |refusal| role.blame(test, refusal);
            let mut copies = self.end_side(processes, number).map_err(blame)?;
            match (role, &alone) {
                (Role::Load, Some(Alone { start, steady })) => {
                    let copy = copies.swap_remove(0);
                    // A load reports one slice of the time since `mark`.
                    if copy.slices.len() != 1 || start + copy.slices[0].end > monotonic() {
                        let why = "it did not report exactly one slice, or reported more time than has passed";
                        return Err(blame(why.into()));
                    }
                    background = Some(Box::new(Background { alone: steady.rate, steady: steady.steady, copy }));
                }
                _ => counted = Some(copies.iter().flat_map(|copy| &copy.slices).map(|slice| slice.count as f64).sum()),
            }
        }
        Ok((background, counted))
    }

    /// Ends one program beside the copies and returns what it reported.
    fn end_side(&mut self, processes: &mut Processes, number: usize) -> Result<Vec<Copy>, Refusal> {
        let program = &mut processes.sides[number];
        if program.ended() {
            return Err(ended_early(program));
        }
        program.close_stdin();
        match self.wait(processes, SIDE_ENDS, |processes| processes.sides[number].ended()) {
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

/// Why a program has ended that should work until its stdin closes.
fn ended_early(program: &mut Program) -> Refusal {
    program.read_output();
    match program.output.conclusion() {
        Conclusion::Skip(reason) => Refusal::Unavailable(reason),
        Conclusion::Error(reason) => reason.into(),
        Conclusion::Done(_) | Conclusion::Garbage(_) => {
            program.failure().unwrap_or_else(|| "it exited before it was told to stop".to_owned()).into()
        }
    }
}
