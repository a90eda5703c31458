//! Carries out a plan, trial by trial, into a journal. Only this crate starts what is measured.

mod burnin;
mod fields;
mod guardian;
mod printed;
mod program;
mod protocol;
mod rig;
mod rounds;
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

pub use burnin::{BurnEvent, BurnSetting, burn_in};
pub use guardian::{NAME as GUARDIAN, main as guardian, other_runs};
pub use printed::Figures;
pub use processes::Signals;
pub use protocol::{Conclusion, Parser};

pub use rig::Rig;
pub use rounds::Bench;
pub use supervisor::Supervisor;

use rounds::Rounds;

/// The setting of a bench that spawns programs.
pub struct Setting<'a> {
    /// The machine under test.
    pub machine: &'a Machine,
    /// The plan.
    pub plan: &'a Plan,
    /// The programs by their build, the usual one without a name; empty if all are the user's own.
    pub programs: &'a Builds,
    /// The display of graphics tests.
    pub display: &'a Display,
    /// Cycles of a dependent addition on this machine's cores, by which programs measure their clock.
    pub add_cycles: u32,
    /// A command that prints the joules so far, in place of the machine's own counters.
    pub meter: Option<&'a str>,
    /// The reader of the figures that commands print; `None` if they print none.
    pub figures: Option<&'a Figures<'a>>,
    /// Under which directory the programs work.
    pub dir: &'a Path,
    /// The longest silence of a program.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back even if the tool is killed.
    pub screen: Option<&'a Path>,
}

/// The questions of a run about its trials: the runner knows no statistics.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    /// Returns for each family, whose cells differ by condition only, true if it has enough trials.
    pub enough: &'a dyn Fn(&[Vec<Measured<'_>>]) -> Vec<bool>,
    /// The choice of cells to measure again at the end, in fresh blocks.
    pub suspects: Option<&'a Suspects<'a>>,
}

/// Returns the cells to measure again, in fresh blocks.
pub type Suspects<'a> = dyn Fn(&[journal::Cell], &[Vec<Trial>]) -> BTreeSet<usize> + 'a;

/// A cell and its trials so far.
pub type Measured<'a> = (&'a journal::Cell, &'a [Trial]);

/// An event of a run, for the display.
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
        /// The longest time that is left.
        left: Duration,
        /// Share of the run that is done, 0 to 1.
        done: f64,
    },
    /// The commands of a cell are about to be executed and counted.
    Counting {
        /// The cell.
        cell: &'a Cell,
    },
    /// A trial ended.
    Ended {
        /// The cell.
        cell: &'a Cell,
        /// The trial, or the reason why there is no result.
        trial: &'a Trial,
    },
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Why.
    pub ended: Ended,
    /// The signal that interrupted it, if one did.
    pub signal: Option<i32>,
}

impl Outcome {
    /// Returns that outcome of a run which `signal` may have interrupted.
    fn new(ended: Ended, signal: Option<i32>) -> Outcome {
        Outcome { ended, signal: signal.filter(|_| ended == Ended::Interrupted) }
    }
}

/// Carries out the plan on a bench: cells and trials go to the journal, events to `watch`.
///
/// # Errors
/// The journal cannot be written, or a condition not be undone: the run cannot go on. Whatever goes
/// wrong in one trial is an error trial in the journal instead.
pub fn run(
    plan: &Plan,
    policy: Policy<'_>,
    mut bench: impl Bench,
    writer: &mut Writer,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome> {
    let clock = clock_difference();
    for fact in bench.begin() {
        writer.append(&Record::Fact(fact))?;
    }
    let mut rounds = Rounds::new(plan, policy, bench, writer, watch);
    let outcome = Outcome::new(rounds.run()?, rounds.bench.signal());
    let remark = rounds.bench.end();
    drop(rounds);
    for text in remark.into_iter().chain(jump(clock)) {
        writer.append(&Record::Warning(Warning { cell: None, text }))?;
    }
    Ok(outcome)
}

/// Returns the plan's cell number `id` as journals have it.
pub fn journal_cell(id: usize, cell: &Cell) -> journal::Cell {
    let Cell { test, copies, load, condition, control, window, .. } = cell;
    let new = journal::Cell::new(id, test, *copies, load.as_deref(), condition);
    journal::Cell { warmup: window.warmup, slice: supervisor::ns(window.slice), control: *control, ..new }
}

/// Returns the wall clock less CLOCK_MONOTONIC in ns. It changes when the wall clock is set or the machine is
/// suspended.
fn clock_difference() -> i128 {
    jiff::Timestamp::now().as_nanosecond() - i128::from(supervisor::monotonic())
}

/// Returns a remark if this difference has changed.
fn jump(before: i128) -> Option<String> {
    let seconds = (clock_difference() - before) as f64 / 1e9;
    (seconds.abs() > 1.0).then(|| {
        format!(
            "the wall clock was set or the machine was suspended ({seconds:+.1} s) during the run: dates may be wrong, \
             figures are not affected"
        )
    })
}
