//! A bench that spawns nothing and has a clock of its own.

use std::time::Duration;

use anyhow::Result;

use crate::{Observer, Setup};
use catalogue::Test;
use conditions::Refusal;
use journal::{Copy, Slice, Store, Trial};
use plan::Cell;
use runner::{Bench, Event};

/// The count of a slice that nothing disturbs.
pub const COUNT: u64 = 1_000_000;

type Script<'a> = Box<dyn FnMut(&Cell, u32) -> Result<Trial, Refusal> + 'a>;

/// Measures by a script: what the trial of a cell comes to, by how many it had before.
pub struct Fake<'a> {
    script: Script<'a>,
    /// The trial during which a signal comes.
    signal: Option<(usize, i32)>,
    /// Why what a condition changed cannot be undone.
    stuck: Option<&'static str>,
    /// What counting comes to, execution by execution.
    counts: Vec<Result<Vec<Copy>, Refusal>>,
    clock: Duration,
    trials: Vec<String>,
}

impl<'a> Fake<'a> {
    pub fn new(script: impl FnMut(&Cell, u32) -> Result<Trial, Refusal> + 'a) -> Fake<'a> {
        let script = Box::new(script);
        Fake {
            script,
            signal: None,
            stuck: None,
            counts: Vec::new(),
            clock: Duration::ZERO,
            trials: Vec::new(),
        }
    }

    /// The bench with a signal during this trial, from 1.
    pub fn stopped_at(self, trial: usize, signal: i32) -> Fake<'a> {
        Fake { signal: Some((trial, signal)), ..self }
    }

    /// The bench on which nothing can be undone.
    pub fn stuck(self, why: &'static str) -> Fake<'a> {
        Fake { stuck: Some(why), ..self }
    }

    /// The bench on which counting comes to this, execution by execution.
    pub fn counting(self, counts: Vec<Result<Vec<Copy>, Refusal>>) -> Fake<'a> {
        Fake { counts, ..self }
    }

    /// A bench on which every cell has this share of the full speed, give or take a
    /// thousandth.
    pub fn at(share: impl Fn(&Cell) -> f64 + 'a) -> Fake<'a> {
        Fake::new(move |cell, number| Ok(trial(cell, share(cell) * wobble(number, 0.001))))
    }
}

/// A factor near 1 that no two trials of a few share.
pub fn wobble(number: u32, size: f64) -> f64 {
    1.0 + size * (f64::from(number) * 2.4).sin()
}

/// A trial at this share of the full speed.
pub fn trial(cell: &Cell, share: f64) -> Trial {
    let slice = u64::try_from(cell.window.slice.as_nanos()).unwrap();
    let count = (COUNT as f64 * share) as u64;
    let slices = (0..u64::from(cell.window.slices)).map(|at| Slice {
        start: at * slice,
        end: (at + 1) * slice,
        count,
    });
    let copy = Copy { slices: slices.collect(), ..Copy::default() };
    Trial { copies: vec![copy; cell.copies as usize], ..Trial::default() }
}

impl Bench for Fake<'_> {
    fn measure(
        &mut self,
        cell: &Cell,
        _tell: &mut dyn FnMut(&runner::Slow),
    ) -> Result<Result<Trial, Refusal>> {
        if let Some(why) = self.stuck.filter(|_| !self.trials.is_empty()) {
            anyhow::bail!(why);
        }
        let name = self.command_line(cell);
        let before = self.trials.iter().filter(|trial| **trial == name).count();
        self.trials.push(name);
        self.clock += Duration::from_secs_f64(cell.seconds());
        Ok((self.script)(cell, u32::try_from(before)?))
    }

    fn count(&mut self, _cell: &Cell) -> Result<Vec<Copy>, Refusal> {
        self.counts.remove(0)
    }

    fn measure_named(&mut self, _test: &Test) -> Result<f64, Refusal> {
        Ok(1.0)
    }

    fn command_line(&self, cell: &Cell) -> String {
        format!("{} {} {} {}", cell.test.id, cell.copies, cell.condition.name, cell.control)
    }

    fn rest(&mut self) -> bool {
        true
    }

    fn sleep_until(&mut self, due: Duration) -> bool {
        self.clock = self.clock.max(due);
        true
    }

    fn elapsed(&self) -> Duration {
        self.clock
    }

    fn signal(&self) -> Option<i32> {
        self.signal.filter(|(trial, _)| self.trials.len() >= *trial).map(|(_, number)| number)
    }

    fn pause(&mut self) -> bool {
        false
    }
}

/// An observer that notes what it is told.
#[derive(Default)]
pub struct Notes {
    pub name: String,
    pub warnings: Vec<String>,
    pub trials: usize,
    /// Why nothing can be shown.
    pub blind: Option<&'static str>,
}

impl Observer for Notes {
    fn began(&mut self, name: &str) -> Result<()> {
        self.name = name.to_owned();
        self.blind.map_or(Ok(()), |why| Err(anyhow::Error::msg(why)))
    }

    fn warned(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }

    fn happened(&mut self, event: &Event<'_>) {
        self.trials += usize::from(matches!(event, Event::Ended { .. }));
    }
}

/// A setup below a directory.
pub fn setup(folder: &std::path::Path) -> Setup {
    let store = Store::at(Some(folder.join("results"))).unwrap();
    Setup::new(store, folder.to_path_buf())
}
