//! A run in progress: lines, or the whole terminal. Both are drawn between trials only, never while a window is open.

use std::time::Duration;

use anyhow::Result;

use super::passes::Passes;
use super::screen::{RunScreen, Screen};
use super::status_line::bar;
use super::{Loudness, StatusLine, say};
use machine::Machine;
use plan::{Cell, Kind, Plan};
use runner::Event;
use words::clock;

/// Columns of the bar.
const BAR: usize = 16;

/// The display of a run.
pub(crate) enum RunDisplay {
    Lines(Progress),
    Passes(Passes),
    Screen(Box<(Screen, RunScreen)>),
}

impl RunDisplay {
    /// Begins to show the run `title`, on the `whole` terminal or in lines.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn new(plan: &Plan, loudness: Loudness, whole: bool, title: &str, machine: &Machine) -> Result<Self> {
        Ok(if whole {
            RunDisplay::Screen(Box::new((Screen::take()?, RunScreen::new(title, plan, machine))))
        } else {
            RunDisplay::Lines(Progress::new(plan, loudness))
        })
    }

    /// Begins to show a run as UnixBench does, if that is not too much or too little and its passes are in order.
    pub(crate) fn as_unixbench(plan: &Plan, loudness: Loudness) -> Self {
        let is_classic = plan.procedure().kind == Kind::Classic;
        match loudness {
            Loudness::Normal if is_classic => RunDisplay::Passes(Passes::new(Progress::new(plan, Loudness::Quiet))),
            loudness => RunDisplay::Lines(Progress::new(plan, loudness)),
        }
    }

    /// Shows what happened.
    pub(crate) fn show(&mut self, event: &Event<'_>) {
        match self {
            RunDisplay::Lines(progress) => progress.show(event),
            RunDisplay::Passes(passes) => passes.show(event),
            RunDisplay::Screen(both) => {
                let (screen, watch) = &mut **both;
                watch.update(event);
                screen.draw(|size| watch.draw(size));
            }
        }
    }
}

/// The display of a run in lines.
pub(crate) struct Progress {
    loudness: Loudness,
    classic: bool,
    line: Option<StatusLine>,
    /// What the last plain line was about: a block, or a cell of the classic procedure.
    printed: Option<(u32, String)>,
}

impl Progress {
    fn new(plan: &Plan, loudness: Loudness) -> Progress {
        let line = if loudness == Loudness::Normal { StatusLine::new() } else { None };
        if loudness == Loudness::Normal && line.is_none() {
            say(&format!("expected duration: {} at most", clock(plan.duration().1)));
        }
        Progress { loudness, classic: plan.procedure().kind == Kind::Classic, line, printed: None }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { cell, block, command, left, done, .. } => self.begin(cell, *block, command, *left, *done),
            Event::Ended { cell, trial } => {
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
            let now = format!("{part} {}  {what}", block + 1);
            line.set(vec![format!("{now:<40} {} at most {} left", bar(done, BAR), clock(left))]);
            return;
        }
        let about = if self.classic { (0, what.clone()) } else { (block, String::new()) };
        if self.printed.as_ref() != Some(&about) {
            let subject = if self.classic { what } else { format!("block {}", block + 1) };
            say(&format!("{subject}, at most {} left", clock(left)));
            self.printed = Some(about);
        }
    }

    fn say(&mut self, text: &str) {
        match &mut self.line {
            Some(line) => line.say(text),
            None => say(text),
        }
    }
}
