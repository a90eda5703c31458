//! The three procedures: how long a window is, how often a cell is measured, and when that is
//! enough.
//!
//! A [`Procedure`] is a [`Preset`] for the purpose of the verb, changed by the [`Effort`] that the
//! user wants to spend. Blocks go on from `min_blocks` to `max_blocks`; in between there are looks
//! ([`Procedure::is_look_due`]), after which cells with narrow intervals are measured no more.

use std::sync::Arc;
use std::time::Duration;

use super::point::Point;
use super::{Cell, Kind, Preset, Purpose};
use catalogue::{Condition, Copies, Metric, Test};

/// The time and the precision that the user wants to spend and to reach.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Effort {
    pub kind: Kind,
    /// The half-width of an interval to reach, as a share of the score.
    pub precision: Option<f64>,
    /// The time that a run may take.
    pub budget: Option<Duration>,
    /// The time over which the blocks are spread.
    pub over: Option<Duration>,
    /// UnixBench's `-i`: blocks, or passes of a long test; a short one has a third.
    pub blocks: Option<u32>,
    /// Executions of each command, whatever the budget and the precision.
    pub min_executions: u32,
    /// A limit of blocks, whatever the budget and the precision.
    pub max_blocks: Option<u32>,
}

/// How a run measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    pub effort: Effort,
    pub preset: Preset,
    /// 0 in the classic procedure, in which each test has passes of its own.
    pub min_blocks: u32,
    pub max_blocks: u32,
}

/// The window of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The length of a slice.
    pub slice: Duration,
    /// The number of slices, those of the warm-up among them.
    pub slices: u32,
    /// The number of slices at the beginning that are not counted: until the test works as fast as
    /// afterwards.
    pub warmup: u32,
    /// About the time that a trial takes in addition to its window, for estimates.
    pub around: Duration,
    /// UnixBench's rest before a pass: sync, 1 s, sync, 2 s.
    pub rest: bool,
    /// A load must be steady for this long before the window opens.
    pub settle: Duration,
}

impl Window {
    /// The length of all slices.
    pub fn length(&self) -> Duration {
        self.slice * self.slices
    }
}

/// Blocks go on while a budget lasts, but not for ever.
const MAX_BLOCKS_IN_BUDGET: u32 = 10_000;

/// Blocks go on until a precision is reached, but not for ever on a noisy machine.
const MAX_BLOCKS_FOR_PRECISION: u32 = 160;

/// The control of a comparison is in every fourth block: it proves the intervals over all cells
/// together, so few trials of each are enough.
const CONTROL_INTERVAL: u32 = 4;

/// Interactive tests are in every third block of a run, as are graphics tests by the catalogue.
const SPARSE_INTERVAL: u32 = 3;

/// The window of an interactive test is not shorter.
const MIN_FRAMES_TIME: Duration = Duration::from_millis(500);

impl Default for Procedure {
    fn default() -> Procedure {
        Procedure::new(Purpose::Scores, Effort::default())
    }
}

impl Procedure {
    /// The preset of a purpose, with as many blocks as the user wants.
    pub fn new(purpose: Purpose, effort: Effort) -> Procedure {
        let preset = Preset::new(purpose, effort.kind);
        let first_look = preset.looks[0];
        let last_look = preset.looks[preset.looks.len() - 1];
        let (min, max) = match effort {
            Effort { kind: Kind::Classic, .. } => (0, 0),
            Effort { blocks: Some(blocks), .. } => (blocks, blocks),
            Effort { budget: Some(_), .. } if preset.extends => (first_look, MAX_BLOCKS_IN_BUDGET),
            Effort { precision: Some(_), .. } if preset.extends => {
                (first_look, MAX_BLOCKS_FOR_PRECISION)
            }
            _ => (first_look, last_look),
        };

        // A block has at least one execution of each command.
        let max_blocks = max.max(effort.min_executions).min(effort.max_blocks.unwrap_or(u32::MAX));
        Procedure { effort, preset, min_blocks: min.min(max_blocks), max_blocks }
    }

    /// Divides the `time` of an interactive cell equally among the minimum of blocks.
    pub fn with_time(mut self, time: Duration) -> Procedure {
        self.preset.frames = (time / self.min_blocks.max(1)).max(MIN_FRAMES_TIME);
        self
    }

    /// True if a cell is measured no more once its interval is narrow enough. False if the number
    /// of blocks is fixed, or if blocks are spread over a time and no precision is wanted.
    pub fn stops_early(&self) -> bool {
        let spreads = self.effort.over.is_some() && self.effort.precision.is_none();
        self.min_blocks < self.max_blocks && !spreads
    }

    /// When the block of this number, from 0, is due after the run's begin.
    pub fn due(&self, block: u32) -> Duration {
        let share = f64::from(block) / f64::from(self.max_blocks.max(1));
        self.effort.over.map_or(Duration::ZERO, |over| over.mul_f64(share).min(over))
    }

    /// True if a look is due after the block of this number, from 0: at the preset's looks, or, if
    /// the number of blocks is open, after the minimum and after every half as many more.
    pub fn is_look_due(&self, block: u32) -> bool {
        let measured = block + 1;
        if !self.stops_early() || measured < self.min_blocks {
            return false;
        }
        if self.preset.looks.last() == Some(&self.max_blocks) {
            return self.preset.looks.contains(&measured);
        }

        // Not after each block: one of many looks finds a narrow interval by chance.
        (measured - self.min_blocks).is_multiple_of((self.min_blocks / 2).max(1))
    }

    /// The cell at a point, as this procedure measures it.
    pub(super) fn cell(&self, point: &Point<'_>) -> Cell {
        let Point { test, load, condition, control, .. } = *point;
        let block_interval = self.block_interval(test, control);
        let is_classic = self.effort.kind == Kind::Classic;
        let classic = is_classic.then(|| self.classic_passes(test));
        let extra_args = if is_classic { &test.classic.args } else { &test.standard.args };
        Cell {
            test: Arc::clone(test),
            copies: if test.copies == Copies::One { 1 } else { point.copies },
            load: load.cloned(),
            condition: Arc::clone(condition),
            control,
            window: self.window(test),
            args: test.args.iter().chain(extra_args).cloned().collect(),
            load_args: load
                .iter()
                .flat_map(|load| load.args.iter().chain(&load.standard.args))
                .cloned()
                .collect(),
            load_condition: load.map_or_else(Condition::none, |load| Arc::clone(&load.condition)),
            min_trials: classic.unwrap_or(self.min_blocks.div_ceil(block_interval)),
            max_trials: classic.unwrap_or(self.max_blocks.div_ceil(block_interval)),
            block_interval,
            cpus: Vec::new(),
        }
    }

    /// A cell is measured in one of this many blocks.
    fn block_interval(&self, test: &Test, is_control: bool) -> u32 {
        // All blocks are alike if their number is fixed. The program of commands itself decides in
        // which rounds the control is due.
        if self.min_blocks == self.max_blocks || test.arms > 0 {
            return 1;
        }
        if is_control {
            return CONTROL_INTERVAL;
        }
        if !self.preset.sparse {
            return 1;
        }

        let usual = if test.metric == Metric::Latency { SPARSE_INTERVAL } else { 1 };
        test.standard.sparse.unwrap_or(usual)
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

    /// The window of a trial of `test`.
    fn window(&self, test: &Test) -> Window {
        let preset = &self.preset;
        let settle =
            Duration::from_millis(if self.effort.kind == Kind::Quick { 400 } else { 1000 });

        if test.metric == Metric::Latency {
            // Slices of about a second: the tool hears nothing in between, but reports show them.
            let slices = (preset.frames.as_secs_f64().round() as u32).clamp(1, 3600);
            return Window {
                slice: preset.frames / slices,
                slices,
                warmup: 0,
                around: Duration::from_millis(150),
                rest: false,
                settle,
            };
        }

        match self.effort.kind {
            Kind::Standard | Kind::Quick => {
                let own_warmup = Duration::from_millis(test.standard.warmup.into());
                let own_window = Duration::from_millis(test.standard.window.unwrap_or(0).into());
                let warmup = count_slices(own_warmup.max(preset.warmup), preset.slice);
                let counted = count_slices(own_window, preset.slice).max(preset.slices);
                Window {
                    slice: preset.slice,
                    slices: warmup + counted,
                    warmup,
                    around: Duration::from_millis(50)
                        + Duration::from_secs(test.standard.around.into()),
                    rest: false,
                    settle,
                }
            }
            Kind::Classic => Window {
                slice: preset.slice,
                slices: test.classic.seconds,
                warmup: 0,
                // UnixBench's rest takes 3 s of it.
                around: Duration::from_millis(3100)
                    + Duration::from_secs(test.classic.prepare.into()),
                rest: true,
                settle,
            },
        }
    }
}

/// The number of slices that `time` takes, the last of which it may not fill.
fn count_slices(time: Duration, slice: Duration) -> u32 {
    time.as_nanos().div_ceil(slice.as_nanos()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDARD: Effort = Effort {
        kind: Kind::Standard,
        precision: None,
        budget: None,
        over: None,
        blocks: None,
        min_executions: 0,
        max_blocks: None,
    };

    fn trials(procedure: &Procedure) -> (u32, u32, bool) {
        (procedure.min_blocks, procedure.max_blocks, procedure.stops_early())
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
            (
                minute,
                (16, MAX_BLOCKS_IN_BUDGET, true),
                (6, MAX_BLOCKS_IN_BUDGET, true),
                (12, 48, true),
                (6, MAX_BLOCKS_IN_BUDGET, true),
            ),
            (narrow, (16, 160, true), (6, 160, true), (12, 48, true), (6, 160, true)),
        ] {
            assert_eq!(trials(&Procedure::new(Purpose::Scores, effort)), run, "run {effort:?}");
            assert_eq!(
                trials(&Procedure::new(Purpose::Scaling, effort)),
                scale,
                "scale {effort:?}"
            );
            assert_eq!(trials(&Procedure::new(Purpose::Cost, effort)), cost, "cost {effort:?}");
            assert_eq!(
                trials(&Procedure::new(Purpose::Latency, effort)),
                latency,
                "latency {effort:?}"
            );
        }
    }

    #[test]
    fn the_time_of_a_cell_is_shared_by_its_blocks() {
        let time = Duration::from_secs(24);
        let frames =
            |effort| Procedure::new(Purpose::Latency, effort).with_time(time).preset.frames;
        assert_eq!(frames(STANDARD), Duration::from_secs(4));
        assert_eq!(frames(Effort { blocks: Some(4), ..STANDARD }), Duration::from_secs(6));
        assert_eq!(
            Procedure::new(Purpose::Latency, STANDARD).preset.frames,
            Duration::from_secs(4)
        );
    }

    #[test]
    fn looks_come_from_the_least_on() {
        let asked = |procedure: &Procedure| {
            (0..60).filter(|block| procedure.is_look_due(*block)).collect::<Vec<_>>()
        };
        assert_eq!(asked(&Procedure::new(Purpose::Scores, STANDARD)), [15, 23, 31]);
        let narrow = Effort { precision: Some(0.02), ..STANDARD };
        assert_eq!(asked(&Procedure::new(Purpose::Scores, narrow)), [15, 23, 31, 39, 47, 55]);
        assert_eq!(asked(&Procedure::new(Purpose::Cost, STANDARD)), [11, 15, 23, 31, 47]);
        assert!(
            asked(&Procedure::new(Purpose::Scores, Effort { kind: Kind::Classic, ..STANDARD }))
                .is_empty()
        );
    }
}
