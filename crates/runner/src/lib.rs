//! Carries out a plan, trial by trial, into a journal. Only this crate starts what is measured.
//!
//! ```text
//! run ── Rounds ── Bench: Rig ── Supervisor ── Program ── Parser
//! ```
//!
//! - [`run`] writes the journal and tells the display of events.
//! - `rounds` decide which cell is measured next. They know no processes, only a [`Bench`].
//! - `rig` is the bench that spawns: it turns a cell into executables, arguments and directories.
//! - `supervisor` starts programs, waits for them, and ends whatever they leave behind; `guardian`
//!   is the process that does so if the tool dies.
//! - `program` and `protocol` are one process, and the lines that it prints.
//! - `burnin` is a run of its own kind: one program for hours, and the sensors once a second.
//!   `single` is one trial without a journal.

mod burnin;
mod fields;
mod guardian;
mod printed;
mod program;
mod protocol;
mod rig;
mod rounds;
mod sampled;
pub mod single;
mod supervisor;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use build::Builds;
use display::Display;
use journal::{self, Ended, Record, Trial, Warning, Writer};
use machine::Machine;
use plan::{Cell, Plan};

pub use burnin::{BurnEvent, BurnSetting, IsEnough, burn_in};
pub use guardian::{NAME as GUARDIAN, main as guardian, other_runs};
pub use printed::Figures;
pub use processes::Signals;
pub use protocol::{Conclusion, Parser};

pub use rig::Rig;
pub use rounds::{Bench, Closing};
pub use supervisor::Supervisor;

use rounds::Rounds;

/// The setting of a bench that spawns programs.
pub struct Setting<'a> {
    pub machine: &'a Machine,
    pub plan: &'a Plan,
    /// The programs by their build; the usual build has no name. Empty if all are the user's own.
    pub programs: &'a Builds,
    /// The display of graphics tests.
    pub display: &'a Display,
    /// Cycles of a dependent addition on this machine's cores, by which programs measure their
    /// clock.
    pub add_cycles: u32,
    /// A command that prints the joules so far, in place of the machine's own counters.
    pub meter: Option<&'a str>,
    /// The reader of the figures that commands print; `None` if they print none.
    pub figures: Option<&'a Figures<'a>>,
    /// The directory below which the programs work.
    pub dir: &'a Path,
    /// The longest silence of a program.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back even if the tool is killed.
    pub screen: Option<&'a Path>,
}

/// The caller's answers about a run's trials: the runner knows no statistics.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    /// For each family, whose cells differ by condition only: true if it has enough trials.
    pub enough: &'a dyn Fn(&[Vec<Measured<'_>>]) -> Vec<bool>,
    /// True of a family that has enough trials, but would be known better with more builds.
    pub wants_units: Option<&'a WantsUnits<'a>>,
    /// Chooses cells for the second look; `None` if there is none.
    pub suspects: Option<&'a Suspects<'a>>,
}

/// True if more builds of a family's commands narrow its interval.
pub type WantsUnits<'a> = dyn Fn(&[Measured<'_>]) -> bool + 'a;

/// The numbers of the cells to measure again, in blocks of their own.
pub type Suspects<'a> = dyn Fn(&[journal::Cell], &[Vec<Trial>]) -> BTreeSet<usize> + 'a;

/// A cell and its trials so far.
pub type Measured<'a> = (&'a journal::Cell, &'a [Trial]);

/// An event of a run, for the display.
#[derive(Debug)]
pub enum Event<'a> {
    /// A trial is about to begin.
    Begin {
        cell: &'a Cell,
        /// The cell's number.
        number: usize,
        /// Block or pass, from 0.
        block: u32,
        /// The program and its arguments.
        command: String,
        /// The maximum time that is left.
        left: Duration,
        /// The share of the run that is done, 0 to 1.
        done: f64,
    },
    /// So many more builds of each command of a cell are about to be made.
    Building(u32),
    /// The commands of a cell are about to be executed and counted.
    Counting,
    /// The commands of a cell are about to be executed and sampled.
    Sampling,
    /// A command has been running for longer than planned.
    Slow(&'a Slow),
    /// A trial ended. It has a result, or the reason why there is none.
    Ended { cell: &'a Cell, trial: &'a Trial },
}

/// A command of the user's that is still running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slow {
    /// The command as it was typed.
    pub command: String,
    /// The time since it was started.
    pub time: Duration,
    /// True if a signal has stopped it, so that it waits for another.
    pub is_stopped: bool,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub ended: Ended,
    /// The signal that interrupted it, if one did.
    pub signal: Option<i32>,
    /// Failures after all was measured.
    pub failures: Vec<String>,
}

impl Outcome {
    /// `signal` counts only if it interrupted the run or its --cleanup: it may have come after the
    /// last trial where nothing was left to do.
    fn new(ended: Ended, closing: &Closing, signal: Option<i32>) -> Outcome {
        let is_interrupted = ended == Ended::Interrupted;
        let signal = signal.filter(|_| is_interrupted || closing.is_cut_short);

        let mut failures = closing.failures.clone();
        if let Some(number) = signal
            && !is_interrupted
        {
            failures.push(format!(
                "--cleanup was interrupted by signal {number}, so what it removes may still be \
                 there; execute it by hand"
            ));
        }
        Outcome { ended, signal, failures }
    }
}

/// Carries out the plan on a bench: cells and trials go to the journal, events to `watch`.
///
/// # Errors
/// The run cannot go on: the journal cannot be written, or a condition cannot be undone. Whatever
/// else goes wrong in a trial becomes an error trial in the journal.
pub fn run(
    plan: &Plan,
    policy: Policy<'_>,
    mut bench: impl Bench,
    writer: &mut Writer,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome> {
    let clock_before = clock_difference();
    for fact in bench.begin() {
        writer.append(&Record::Fact(fact))?;
    }

    let mut rounds = Rounds::new(plan, policy, bench, writer, watch);
    let ended = rounds.run()?;
    let Rounds { bench, watch, .. } = &mut rounds;
    let closing = bench.end(&mut |slow| watch(Event::Slow(slow)));
    let outcome = Outcome::new(ended, &closing, rounds.bench.signal());
    drop(rounds);

    let clock_remark = describe_clock_change(clock_before);
    for text in closing.remarks.into_iter().chain(outcome.failures.clone()).chain(clock_remark) {
        writer.append(&Record::Warning(Warning { cell: None, text }))?;
    }
    Ok(outcome)
}

/// The plan's cell, with its number `id`, as journals have it.
pub fn journal_cell(id: usize, cell: &Cell) -> journal::Cell {
    let Cell { test, copies, load, condition, control, window, .. } = cell;
    let new = journal::Cell::new(id, test, *copies, load.as_deref(), condition);
    journal::Cell {
        warmup: window.warmup,
        slice: supervisor::ns(window.slice),
        control: *control,
        ..new
    }
}

/// The wall clock minus CLOCK_MONOTONIC in ns. It changes when the wall clock is set or the machine
/// is suspended.
fn clock_difference() -> i128 {
    jiff::Timestamp::now().as_nanosecond() - i128::from(supervisor::monotonic_ns())
}

/// A remark if the clocks' difference has changed by more than a second.
fn describe_clock_change(before: i128) -> Option<String> {
    let seconds = (clock_difference() - before) as f64 / 1e9;
    (seconds.abs() > 1.0).then(|| {
        format!(
            "the wall clock was set or the machine was suspended ({seconds:+.1} s) during the \
             run: dates may be wrong, figures are not affected"
        )
    })
}
