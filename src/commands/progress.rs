//! What a person sees while a run goes on. Nothing is drawn while a window is open: the tool draws
//! between trials only.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::say;
use super::watch::{Screen, Watch};
use machine::Machine;
use plan::{Cell, Kind, Plan};
use runner::Event;
use words::clock;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loudness {
    /// Nothing but errors.
    Quiet,
    /// A bar on a terminal, a line per block or test elsewhere.
    Normal,
    /// Each trial and its command.
    Verbose,
}

impl Loudness {
    pub(super) fn of(quiet: bool, verbose: bool) -> Loudness {
        match (quiet, verbose) {
            (true, _) => Loudness::Quiet,
            (_, true) => Loudness::Verbose,
            _ => Loudness::Normal,
        }
    }
}

/// The display of a run: lines and a bar, or the whole terminal.
pub(super) enum Display {
    Lines(Progress),
    Screen(Box<(Screen, Watch)>),
}

impl Display {
    /// # Errors
    /// The whole terminal is wanted and there is none.
    pub(super) fn new(plan: &Plan, loudness: Loudness, watch: bool, title: &str, machine: &Machine) -> Result<Self> {
        Ok(if watch {
            Display::Screen(Box::new((Screen::take()?, Watch::new(title, plan, machine))))
        } else {
            Display::Lines(Progress::new(plan, loudness))
        })
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        match self {
            Display::Lines(progress) => progress.show(event),
            Display::Screen(both) => {
                let (screen, watch) = &mut **both;
                watch.see(event);
                screen.draw(|frame| watch.draw(frame));
            }
        }
    }
}

/// The display of a run in lines.
pub(super) struct Progress {
    loudness: Loudness,
    classic: bool,
    bar: Option<ProgressBar>,
    /// What the last plain line was about: a block, or a cell of the classic procedure.
    told: Option<(u32, String)>,
}

impl Progress {
    pub(super) fn new(plan: &Plan, loudness: Loudness) -> Progress {
        let bar = (loudness == Loudness::Normal && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{wide_msg} {bar:16} {prefix}") {
                bar.set_style(style);
            }
            bar
        });
        if loudness == Loudness::Normal && bar.is_none() {
            say(&format!("expected duration: {} at most", clock(plan.duration().1)));
        }
        Progress { loudness, classic: plan.procedure.kind == Kind::Classic, bar, told: None }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { cell, block, command, left, done, .. } => self.begin(cell, *block, command, *left, *done),
            Event::Ended { cell, trial } => {
                if let Some(reason) = &trial.error {
                    self.line(&format!("error: {} x {}: {reason}", cell.copies, cell.test.label));
                } else if let Some(reason) = trial.skip.as_ref().filter(|_| self.loudness != Loudness::Quiet) {
                    self.line(&format!("skipped: {} x {}: {reason}", cell.copies, cell.test.label));
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
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{part} {}  {what}", block + 1));
            bar.set_prefix(format!("at most {} left", clock(left)));
            // A share of 1 at most: the position fits.
            bar.set_position((done * 1000.0) as u64);
            return;
        }
        let about = if self.classic { (0, what.clone()) } else { (block, String::new()) };
        if self.told.as_ref() != Some(&about) {
            let subject = if self.classic { what } else { format!("block {}", block + 1) };
            say(&format!("{subject}, at most {} left", clock(left)));
            self.told = Some(about);
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
