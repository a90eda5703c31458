//! The three procedures: how long, how often, and when it is enough.

use std::sync::Arc;
use std::time::Duration;

use super::matrix::Point;
use super::{Cell, Preset, Purpose};
use catalogue::{Condition, Copies, Metric, Test};

/// Which procedure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    #[default]
    /// Short windows in random blocks until the intervals are narrow
    Standard,
    /// UnixBench 6.0.0's own procedure, to the letter
    Classic,
    /// Smoke test, under a minute
    Quick,
}

/// How much the user wants to spend, in the same words for every verb.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Effort {
    /// Which procedure.
    pub kind: Kind,
    /// Half-width of an interval, as a share of the score, to reach.
    pub precision: Option<f64>,
    /// Time to keep.
    pub budget: Option<Duration>,
    /// Time over which the blocks are spread.
    pub over: Option<Duration>,
    /// UnixBench's `-i`: blocks, or passes of a long test; a short one has a third.
    pub blocks: Option<u32>,
}

/// How to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    /// How much the user wants to spend.
    pub effort: Effort,
    /// Lengths and looks.
    pub preset: Preset,
    /// The fewest blocks; 0 in the classic procedure, whose passes are those of each test.
    pub least: u32,
    /// The most blocks.
    pub most: u32,
}

/// The window of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Length of a slice.
    pub slice: Duration,
    /// Number of slices.
    pub slices: u32,
    /// The number of them, from the first, that are not counted: until the test works as fast as afterwards.
    pub warmup: u32,
    /// About what a trial takes in addition, for the estimate.
    pub around: Duration,
    /// UnixBench's rest before a pass: sync, 1 s, sync, 2 s.
    pub rest: bool,
    /// The time over which a load must be steady before the window opens.
    pub settle: Duration,
}

impl Window {
    /// The window's whole length.
    pub fn length(&self) -> Duration {
        self.slice * self.slices
    }
}

/// Blocks go on while a budget lasts, but not for ever.
const ENDLESS: u32 = 10_000;

/// Most blocks where the user wants a precision: it must not run for ever on a noisy machine.
const MOST_FOR_PRECISION: u32 = 160;

/// The control of a comparison is in every fourth block: it proves the intervals over all cells
/// together, which few trials of each do.
const CONTROL: u32 = 4;

/// Interactive tests are in every third block of a run, as are graphics tests by the catalogue.
const SPARSE: u32 = 3;

/// The shortest window of an interactive test.
const SHORTEST: Duration = Duration::from_millis(500);

impl From<Kind> for journal::Procedure {
    fn from(kind: Kind) -> journal::Procedure {
        match kind {
            Kind::Standard => journal::Procedure::Standard,
            Kind::Classic => journal::Procedure::Classic,
            Kind::Quick => journal::Procedure::Quick,
        }
    }
}

impl Default for Procedure {
    fn default() -> Procedure {
        Procedure::new(Purpose::Scores, Effort::default())
    }
}

impl Procedure {
    /// Returns the preset of a purpose with as many blocks as the user wants.
    pub fn new(purpose: Purpose, effort: Effort) -> Procedure {
        let preset = Preset::new(purpose, effort.kind);
        let (first, last) = (preset.looks[0], preset.looks[preset.looks.len() - 1]);
        let (least, most) = match effort {
            Effort { kind: Kind::Classic, .. } => (0, 0),
            Effort { blocks: Some(blocks), .. } => (blocks, blocks),
            Effort { budget: Some(_), .. } if preset.extends => (first, ENDLESS),
            Effort { precision: Some(_), .. } if preset.extends => (first, MOST_FOR_PRECISION),
            _ => (first, last),
        };
        Procedure { effort, preset, least, most }
    }

    /// Returns the procedure with a cell's interactive `time` shared by its blocks.
    pub fn with_time(mut self, time: Duration) -> Procedure {
        self.preset.frames = (time / self.least.max(1)).max(SHORTEST);
        self
    }

    /// Returns true if a cell is no longer measured once its interval is narrow enough: not where the number of blocks
    /// is fixed, or where they are spread over a time and no precision is wanted.
    pub fn stops_early(&self) -> bool {
        let spreads = self.effort.over.is_some() && self.effort.precision.is_none();
        self.least < self.most && !spreads
    }

    /// Returns how long after the run's begin the block of this number, from 0, is due.
    pub fn due(&self, block: u32) -> Duration {
        let share = f64::from(block) / f64::from(self.most.max(1));
        self.effort.over.map_or(Duration::ZERO, |over| over.mul_f64(share).min(over))
    }

    /// Returns true if a look is due after the block of this number, from 0: at the preset's looks, or, where the
    /// number of blocks is open, after the fewest and after every half as many more.
    pub fn is_look_due(&self, block: u32) -> bool {
        let measured = block + 1;
        if !self.stops_early() || measured < self.least {
            return false;
        }
        if self.preset.looks.last() == Some(&self.most) {
            return self.preset.looks.contains(&measured);
        }
        // Of many looks one finds a narrow interval by luck.
        (measured - self.least).is_multiple_of((self.least / 2).max(1))
    }

    /// Returns the cell at a point as this procedure measures it.
    pub(super) fn cell(&self, point: &Point<'_>) -> Cell {
        let Point { test, load, condition, control, .. } = *point;
        let usual = if test.metric == Metric::Latency { SPARSE } else { 1 };
        let every = match (self.least < self.most, control) {
            // Its program knows when the control's turn is.
            _ if test.arms > 0 => 1,
            (true, true) => CONTROL,
            (true, false) if self.preset.sparse => test.standard.sparse.unwrap_or(usual),
            _ => 1,
        };
        let is_classic = self.effort.kind == Kind::Classic;
        let classic = is_classic.then(|| self.classic_passes(test));
        let extra = if is_classic { &test.classic.args } else { &test.standard.args };
        Cell {
            test: Arc::clone(test),
            copies: if test.copies == Copies::One { 1 } else { point.copies },
            load: load.cloned(),
            condition: Arc::clone(condition),
            control,
            window: self.window(test),
            args: test.args.iter().chain(extra).cloned().collect(),
            load_args: load.iter().flat_map(|load| load.args.iter().chain(&load.standard.args)).cloned().collect(),
            load_condition: load.map_or_else(Condition::none, |load| Arc::clone(&load.condition)),
            least: classic.unwrap_or(self.least.div_ceil(every)),
            most: classic.unwrap_or(self.most.div_ceil(every)),
            every,
            cpus: Vec::new(),
        }
    }

    /// UnixBench's two kinds of repetition: long tests (10 passes) take `-i` passes, short ones
    /// (3 passes) max(1, ⌊(i+1)/3⌋).
    fn classic_passes(&self, test: &Test) -> u32 {
        match self.effort.blocks {
            None => test.classic.passes,
            Some(passes) if test.classic.passes >= 10 => passes,
            Some(passes) => ((passes + 1) / 3).max(1),
        }
    }

    fn window(&self, test: &Test) -> Window {
        let preset = &self.preset;
        let settle = Duration::from_millis(if self.effort.kind == Kind::Quick { 400 } else { 1000 });
        match self.effort.kind {
            _ if test.metric == Metric::Latency => {
                // Slices of about a second: the tool hears nothing in between, but reports show them.
                let slices = (preset.frames.as_secs_f64().round() as u32).clamp(1, 3600);
                let around = Duration::from_millis(150);
                Window { slice: preset.frames / slices, slices, warmup: 0, around, rest: false, settle }
            }
            Kind::Standard | Kind::Quick => {
                let number = |time: Duration| time.as_nanos().div_ceil(preset.slice.as_nanos()) as u32;
                let own = |ms: u32| number(Duration::from_millis(ms.into()));
                let warmup = own(test.standard.warmup).max(number(preset.warmup));
                Window {
                    slice: preset.slice,
                    slices: warmup + test.standard.window.map_or(0, own).max(preset.slices),
                    warmup,
                    around: Duration::from_millis(50) + Duration::from_secs(test.standard.around.into()),
                    rest: false,
                    settle,
                }
            }
            Kind::Classic => Window {
                slice: preset.slice,
                slices: test.classic.seconds,
                warmup: 0,
                around: Duration::from_millis(3100) + Duration::from_secs(test.classic.prepare.into()),
                rest: true,
                settle,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDARD: Effort = Effort { kind: Kind::Standard, precision: None, budget: None, over: None, blocks: None };

    fn trials(procedure: &Procedure) -> (u32, u32, bool) {
        (procedure.least, procedure.most, procedure.stops_early())
    }

    #[test]
    fn how_often_each_verb_measures() {
        let quick = Effort { kind: Kind::Quick, ..STANDARD };
        let four = Effort { blocks: Some(4), ..STANDARD };
        let minute = Effort { budget: Some(Duration::from_secs(60)), ..STANDARD };
        let narrow = Effort { precision: Some(0.02), ..STANDARD };
        for (effort, run, scale, cost, latency) in [
            (STANDARD, (16, 32, true), (6, 6, false), (12, 48, true), (6, 6, false)),
            (quick, (3, 3, false), (3, 3, false), (8, 8, false), (1, 1, false)),
            (four, (4, 4, false), (4, 4, false), (4, 4, false), (4, 4, false)),
            (minute, (16, ENDLESS, true), (6, ENDLESS, true), (12, 48, true), (6, ENDLESS, true)),
            (narrow, (16, 160, true), (6, 160, true), (12, 48, true), (6, 160, true)),
        ] {
            assert_eq!(trials(&Procedure::new(Purpose::Scores, effort)), run, "run {effort:?}");
            assert_eq!(trials(&Procedure::new(Purpose::Scaling, effort)), scale, "scale {effort:?}");
            assert_eq!(trials(&Procedure::new(Purpose::Cost, effort)), cost, "cost {effort:?}");
            assert_eq!(trials(&Procedure::new(Purpose::Latency, effort)), latency, "latency {effort:?}");
        }
    }

    #[test]
    fn the_time_of_a_cell_is_shared_by_its_blocks() {
        let time = Duration::from_secs(24);
        let frames = |effort| Procedure::new(Purpose::Latency, effort).with_time(time).preset.frames;
        assert_eq!(frames(STANDARD), Duration::from_secs(4));
        assert_eq!(frames(Effort { blocks: Some(4), ..STANDARD }), Duration::from_secs(6));
        assert_eq!(Procedure::new(Purpose::Latency, STANDARD).preset.frames, Duration::from_secs(4));
    }

    #[test]
    fn looks_come_from_the_least_on() {
        let asked = |procedure: &Procedure| (0..60).filter(|block| procedure.is_look_due(*block)).collect::<Vec<_>>();
        assert_eq!(asked(&Procedure::new(Purpose::Scores, STANDARD)), [15, 23, 31]);
        let narrow = Effort { precision: Some(0.02), ..STANDARD };
        assert_eq!(asked(&Procedure::new(Purpose::Scores, narrow)), [15, 23, 31, 39, 47, 55]);
        assert_eq!(asked(&Procedure::new(Purpose::Cost, STANDARD)), [11, 15, 23, 31, 47]);
        assert!(asked(&Procedure::new(Purpose::Scores, Effort { kind: Kind::Classic, ..STANDARD })).is_empty());
    }
}
