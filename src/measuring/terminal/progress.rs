//! A run in progress in lines.

use std::time::Duration;

use super::status_line::bar;
use super::{Loudness, StatusLine, say};
use journal::Trial;
use plan::{Cell, Kind, Plan};
use runner::{Event, journal_cell};
use words::{clock, signed_fine};

/// Columns of the bar.
const BAR: usize = 16;

/// Characters of a command in a line.
const NAME: usize = 20;

/// Cells of two commands: the first has a control.
const OF_TWO: usize = 3;

/// Returns what is known so far of commands that are executed in turn; `None` before there is an interval.
fn known(commands: &[(journal::Cell, Vec<Trial>)]) -> Option<String> {
    let family: Vec<_> = commands.iter().map(|(cell, trials)| (cell, &trials[..])).collect();
    let changes = analysis::changes(&family);
    let pairs = words::count(changes.first()?.1, "pair");
    let shown = changes.iter().filter(|(_, _, change)| change.bounded()).map(|(name, _, change)| {
        let [value, low, high] = [change.value, change.low, change.high].map(signed_fine);
        // Of two commands it is clear which.
        let name = if commands.len() > OF_TWO { words::shortened(name, NAME) + " " } else { String::new() };
        format!("{name}{value} % ({low} to {high})")
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| format!("{pairs}: {}", shown.join("; ")))
}

/// The display of a run in lines.
pub(crate) struct Progress {
    loudness: Loudness,
    classic: bool,
    line: Option<StatusLine>,
    /// The tenths of the run that plain lines have told of.
    told: u32,
    /// Commands that are executed in turn, with their trials.
    in_turn: Vec<(journal::Cell, Vec<Trial>)>,
}

impl Progress {
    pub(super) fn new(plan: &Plan, loudness: Loudness) -> Progress {
        let line = if loudness == Loudness::Normal { StatusLine::new() } else { None };
        if loudness == Loudness::Normal && line.is_none() {
            say(&format!("expected duration: {} at most", clock(plan.duration().1)));
        }
        let cells = plan.cells.iter().enumerate().map(|(id, cell)| journal_cell(id, cell));
        Progress {
            loudness,
            classic: plan.procedure.effort.kind == Kind::Classic,
            line,
            told: 0,
            in_turn: cells.filter(|cell| cell.in_turn).map(|cell| (cell, Vec::new())).collect(),
        }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { cell, block, command, left, done, .. } => self.begin(cell, *block, command, *left, *done),
            Event::Counting { .. } if self.loudness == Loudness::Quiet => {}
            Event::Counting { cell } => self.say(&format!("counting what {} does", cell.test.label)),
            Event::Ended { cell, trial } => {
                let mut in_turn = self.in_turn.iter_mut();
                if let Some((_, trials)) = in_turn.find(|(known, _)| known.id == trial.cell) {
                    trials.push((*trial).clone());
                }
                if let Some(reason) = &trial.error {
                    self.say(&format!("error: {} x {}: {reason}", cell.copies, cell.test.label));
                } else if let Some(reason) = trial.skip.as_ref().filter(|_| self.loudness != Loudness::Quiet) {
                    self.say(&format!("skipped: {} x {}: {reason}", cell.copies, cell.test.label));
                }
            }
        }
    }

    fn begin(&mut self, cell: &Cell, block: u32, command: &str, left: Duration, done: f64) {
        let what = format!("{} x {}", cell.copies, cell.test.label);
        let part = if self.classic { "pass" } else { "block" };
        if self.loudness == Loudness::Verbose {
            say(&format!("{part} {}: {what}: {command}", block + 1));
            return;
        }
        if self.loudness == Loudness::Quiet {
            return;
        }
        if let Some(line) = &mut self.line {
            let left = format!("{} at most {} left", bar(done, BAR), clock(left));
            let before = format!("{:<40} {left}", format!("{part} {}  {what}", block + 1));
            line.set(vec![known(&self.in_turn).map_or(before, |known| format!("{left}, {known}"))]);
            return;
        }
        let tenth = (done.clamp(0.0, 1.0) * 10.0) as u32;
        if tenth > self.told {
            self.told = tenth;
            let subject = if self.classic { what } else { format!("block {}", block + 1) };
            say(&format!("{subject}, {tenth}0 % done, at most {} left", clock(left)));
        }
    }

    fn say(&mut self, text: &str) {
        match &mut self.line {
            Some(line) => line.say(text),
            None => say(text),
        }
    }
}
