//! A run in progress: lines, or the whole terminal. Both are drawn between trials only, never while
//! a window is open.

use anyhow::Result;

use super::passes::Passes;
use super::progress::Progress;
use super::screen::{RunScreen, Screen};
use super::{Loudness, say};
use machine::Machine;
use measure::Observer;
use plan::Plan;
use runner::Event;

/// The display of a run.
pub(crate) struct RunDisplay<'a> {
    plan: &'a Plan,
    machine: &'a Machine,
    loudness: Loudness,
    form: Form,
    /// The state that is drawn while the run goes on.
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
    pub(crate) fn new(
        plan: &'a Plan,
        machine: &'a Machine,
        loudness: Loudness,
        form: Form,
    ) -> Self {
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
