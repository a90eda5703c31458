//! A run in progress in lines: one that changes on a terminal, elsewhere one for each tenth.

use std::collections::BTreeSet;
use std::time::Duration;

use super::status_line::bar;
use super::{COUNTING, Loudness, SAMPLING, StatusLine, say};
use analysis::pairs::{Change, changes};
use journal::Trial;
use plan::{Cell, Kind, Plan};
use runner::{Event, Slow, journal_cell};
use words::{clock, signed_fine};

/// Columns of the bar.
const BAR_WIDTH: usize = 16;

/// Characters of a command in a line.
const MAX_NAME_LENGTH: usize = 20;

/// Cells of two commands: the first has a control.
const CELLS_OF_TWO: usize = 3;

/// A command that is executed in turn with others, and its trials so far.
struct Alternating {
    cell: journal::Cell,
    trials: Vec<Trial>,
}

/// The differences so far of commands that are executed in turn; `None` before there is an
/// interval.
fn describe_differences(commands: &[Alternating]) -> Option<String> {
    let family: Vec<_> =
        commands.iter().map(|command| (&command.cell, &command.trials[..])).collect();
    let changes = changes(&family);
    let pairs = words::count(changes.first()?.pairs, "pair");

    let mut differences = Vec::new();
    for Change { command, percent, .. } in changes.iter().filter(|change| change.percent.bounded())
    {
        // Of two commands it is clear which.
        let name = match commands.len() > CELLS_OF_TWO {
            true => words::shortened(command, MAX_NAME_LENGTH) + " ",
            false => String::new(),
        };
        let [value, low, high] = [percent.value, percent.low, percent.high].map(signed_fine);
        differences.push(format!("{name}{value} % ({low} to {high})"));
    }
    (!differences.is_empty()).then(|| format!("{pairs}: {}", differences.join("; ")))
}

/// The display of a run in lines.
pub(crate) struct Progress {
    loudness: Loudness,
    is_classic: bool,
    line: Option<StatusLine>,
    /// The tenths of the run that plain lines have reported.
    reported_tenths: u32,
    /// The command that was last named for taking long.
    slow: Option<Slow>,
    /// Commands that alternate, with their trials.
    alternating: Vec<Alternating>,
    /// The errors of trials that it has shown.
    shown_errors: BTreeSet<String>,
}

impl Progress {
    pub(super) fn new(plan: &Plan, loudness: Loudness) -> Progress {
        let line = if loudness == Loudness::Normal { StatusLine::new() } else { None };
        if loudness == Loudness::Normal && line.is_none() {
            say(&describe_duration(plan));
        }
        let alternating = plan
            .cells
            .iter()
            .enumerate()
            .map(|(id, cell)| journal_cell(id, cell))
            .filter(|cell| cell.is_alternating())
            .map(|cell| Alternating { cell, trials: Vec::new() })
            .collect();
        Progress {
            loudness,
            is_classic: plan.procedure.effort.kind == Kind::Classic,
            line,
            reported_tenths: 0,
            slow: None,
            shown_errors: BTreeSet::new(),
            alternating,
        }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        let is_quiet = self.loudness == Loudness::Quiet;
        match event {
            Event::Begin { cell, block, command, left, done, .. } => {
                self.show_begin(cell, *block, command, *left, *done)
            }
            Event::Ended { cell, trial } => self.show_end(cell, trial),
            // Also when quiet: otherwise nobody could see why nothing happens.
            Event::Slow(slow) if slow.is_stopped => self.name_slow(slow),
            _ if is_quiet => {}
            Event::Building(more) => {
                let builds = words::count(*more, "more build");
                self.say(&format!("making {builds} of each, to narrow the interval"));
            }
            Event::Counting => self.say(COUNTING),
            Event::Sampling => self.say(SAMPLING),
            Event::Slow(slow) => self.name_slow(slow),
        }
    }

    /// Says why a trial failed, once for all trials that failed for the same reason.
    fn say_error(&mut self, error: String) {
        if !self.shown_errors.contains(&error) {
            self.say(&error);
            self.shown_errors.insert(error);
        }
    }

    /// Shows what begins and what is left; `done` is a share, 0 to 1.
    fn show_begin(&mut self, cell: &Cell, block: u32, command: &str, left: Duration, done: f64) {
        let subject = format!("{} x {}", cell.copies, cell.test.label);
        let part = if self.is_classic { "pass" } else { "block" };
        let number = block + 1;
        if self.loudness == Loudness::Verbose {
            say(&format!("{part} {number}: {subject}: {command}"));
            return;
        }
        if self.loudness == Loudness::Quiet {
            return;
        }

        let left = format!("at most {} left", clock(left));
        if let Some(line) = &mut self.line {
            let left = format!("{} {left}", bar(done, BAR_WIDTH));
            line.set(vec![match describe_differences(&self.alternating) {
                Some(differences) => format!("{left}, {differences}"),
                None => format!("{:<40} {left}", format!("{part} {number}  {subject}")),
            }]);
            return;
        }
        let tenths = (done.clamp(0.0, 1.0) * 10.0) as u32;
        if tenths > self.reported_tenths {
            self.reported_tenths = tenths;
            let subject = if self.is_classic { subject } else { format!("block {number}") };
            say(&format!("{subject}, {tenths}0 % done, {left}"));
        }
    }

    /// Keeps the trial of a command for its difference, and says why one failed or was skipped.
    fn show_end(&mut self, cell: &Cell, trial: &Trial) {
        let mut commands = self.alternating.iter_mut();
        if let Some(command) = commands.find(|command| command.cell.id == trial.cell) {
            command.trials.push(trial.clone());
        }

        let subject = format!("{} x {}", cell.copies, cell.test.label);
        // A command that fails ends its part of the run, which says why.
        let error = trial.error.as_ref().filter(|_| !cell.test.is_command());
        if let Some(reason) = error {
            self.say_error(format!("error: {subject}: {reason}"));
        } else if self.loudness != Loudness::Quiet
            && let Some(reason) = &trial.skip
        {
            self.say(&format!("skipped: {subject}: {reason}"));
        }
    }

    /// Names a command that takes long: on a line that changes, else whenever its time has doubled.
    fn name_slow(&mut self, slow: &Slow) {
        let Slow { command, time, is_stopped } = slow;
        let time_since = clock(*time);
        let text = match is_stopped {
            false => format!("'{command}' has been running for {time_since}"),
            true => format!(
                "'{command}', started {time_since} ago, was stopped by a signal; `kill -CONT` \
                 continues it"
            ),
        };
        if let Some(line) = &mut self.line {
            return line.set(vec![format!("{text}; Ctrl-C ends the run")]);
        }
        // A shorter time is of another execution.
        let last = self.slow.as_ref();
        let last = last.filter(|last| last.command == *command && last.time <= *time);
        if last.is_none_or(|last| *time >= 2 * last.time) {
            say(&format!("{text}; --timeout ends a command that takes too long"));
            self.slow = Some(slow.clone());
        }
    }

    fn say(&mut self, text: &str) {
        match &mut self.line {
            Some(line) => line.say(text),
            None => say(text),
        }
    }
}

/// The expected duration of a run, and what follows it.
fn describe_duration(plan: &Plan) -> String {
    let (_, max) = plan.duration();
    let mut text = format!("expected duration: {} at most", clock(max));
    if plan.is_sampled() {
        text += ", sampling included";
    }
    if plan.cells.iter().any(|cell| cell.test.counting.is_some()) {
        text += "; then nine to twelve more executions of each command count what it does";
    }
    text
}
