//! A run in progress: lines, or the whole terminal. Both are drawn between trials only, never while a window is open.

use std::time::Duration;

use anyhow::Result;

use super::passes::Passes;
use super::screen::{RunScreen, Screen};
use super::status_line::bar;
use super::{Loudness, StatusLine, say};
use machine::Machine;
use measure::Observer;
use plan::{Cell, Kind, Plan};
use runner::Event;
use words::clock;

/// Columns of the bar.
const BAR: usize = 16;

/// The display of a run.
pub(crate) struct RunDisplay<'a> {
    plan: &'a Plan,
    machine: &'a Machine,
    loudness: Loudness,
    form: Form,
    /// What is drawn, while the run goes on.
    shown: Option<Shown>,
}

/// The forms that a run is shown in.
pub(crate) enum Form {
    Lines,
    /// UnixBench's.
    Passes,
    Screen,
}

enum Shown {
    Lines(Progress),
    Passes(Passes),
    Screen(Box<(Screen, RunScreen)>),
}

impl<'a> RunDisplay<'a> {
    /// Returns the display of a run that has not begun.
    pub(crate) fn new(plan: &'a Plan, machine: &'a Machine, loudness: Loudness, form: Form) -> Self {
        RunDisplay { plan, machine, loudness, form, shown: None }
    }
}

impl Observer for RunDisplay<'_> {
    fn began(&mut self, name: &str) -> Result<()> {
        self.shown = Some(match self.form {
            Form::Lines => Shown::Lines(Progress::new(self.plan, self.loudness)),
            Form::Passes => Shown::Passes(Passes::new(Progress::new(self.plan, Loudness::Quiet))),
            Form::Screen => {
                let watch = RunScreen::new(name, self.plan, self.machine);
                Shown::Screen(Box::new((Screen::take()?, watch)))
            }
        });
        Ok(())
    }

    fn warned(&mut self, text: &str) {
        // After the last trial the terminal is given back first.
        self.shown = None;
        if self.loudness != Loudness::Quiet {
            say(&format!("warning: {text}"));
        }
    }

    fn happened(&mut self, event: &Event<'_>) {
        match &mut self.shown {
            None => {}
            Some(Shown::Lines(progress)) => progress.show(event),
            Some(Shown::Passes(passes)) => passes.show(event),
            Some(Shown::Screen(both)) => {
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
        Progress { loudness, classic: plan.procedure.effort.kind == Kind::Classic, line, printed: None }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { cell, block, command, left, done, .. } => self.begin(cell, *block, command, *left, *done),
            Event::Counting { .. } if self.loudness == Loudness::Quiet => {}
            Event::Counting { cell } => self.say(&format!("counting what {} does", cell.test.label)),
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
