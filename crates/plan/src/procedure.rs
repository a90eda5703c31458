//! The three procedures: how long, how often, and when it is enough.

use std::sync::Arc;
use std::time::Duration;

use super::{Cell, Point};
use catalogue::{CgroupLimit, Copies, Metric, Test};

/// Which procedure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    #[default]
    /// Short windows in random blocks until the intervals are narrow
    Standard,
    /// UnixBench 6.0.0's own procedure, to the letter
    Classic,
    /// A smoke run under a minute
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
    /// Which procedure.
    pub kind: Kind,
    /// Trials of every cell, at least.
    pub least: u32,
    /// Trials of every cell, at most.
    pub most: u32,
    /// Whether a cell is measured no more once its interval is narrow enough.
    pub closes: bool,
    /// The half-width that is narrow enough, as a share of the score, if the user set one.
    pub precision: Option<f64>,
    /// Time after which no further block begins.
    pub budget: Option<Duration>,
    /// Time over which the blocks are spread evenly: a machine whose speed wanders is then looked at more often
    /// independently in the same measuring time.
    pub over: Option<Duration>,
    /// Length of an interactive test's window.
    pub frames: Duration,
    /// Length of the slices of other windows.
    pub slice: Duration,
    /// Whether cells whose trials are much longer than others are left out of most blocks.
    pub sparse: bool,
    /// After how many blocks it is asked whether they are enough; if this is empty, after the least
    /// number of them and each half of that number from there on.
    pub looks: &'static [u32],
    /// Slices of a window that are counted.
    pub slices: u32,
    /// Time before them that is not counted, whatever the test's own warm-up.
    pub warmup: Duration,
    /// Passes of a long classic test, or blocks, if their number is set: such blocks have every cell.
    pub passes: Option<u32>,
}

/// The window of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Length of a slice.
    pub slice: Duration,
    /// Number of slices.
    pub slices: u32,
    /// How many of them, from the first, are not counted: until the test works as fast as afterwards.
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
    #[must_use]
    pub fn length(&self) -> Duration {
        self.slice * self.slices
    }
}

/// Windows of a quarter of a second: longer ones spend time on noise that slices share, and shorter ones spend it on
/// starting processes (docs/methodology.md).
const SLICE: Duration = Duration::from_millis(50);
const SLICES: u32 = 5;

/// Blocks of `unixmark run`: from 16 on it is asked whether they are enough.
const RUN_LOOKS: &[u32] = &[16, 24, 32];

/// Blocks of a smoke run.
const QUICK_BLOCKS: u32 = 3;

/// Most blocks where the user wants a precision: it must not run for ever on a noisy machine.
const MOST_FOR_PRECISION: u32 = 160;

/// The control of `unixmark cost` is in every fourth block: it proves the intervals over all cells together, which few trials
/// of each do.
const CONTROL: u32 = 4;

/// Interactive tests are in every third block of a run, as are graphics tests by the catalogue.
const SPARSE: u32 = 3;

/// Window of an interactive test.
const FRAMES: Duration = Duration::from_secs(8);
const QUICK_FRAMES: Duration = Duration::from_millis(1500);

/// Windows and blocks of `unixmark latency`: 240 pictures, 4000 wake-ups of a timer of 1 ms; the fewest trials whose
/// interval holds where they are not alike, in Interbench's time.
const LATENCY_FRAMES: Duration = Duration::from_secs(4);
const LATENCY_BLOCKS: u32 = 6;

/// Blocks of `unixmark scale`: its many levels make one estimate, so that each may have few trials.
const SCALE_BLOCKS: u32 = 6;

/// Time of `unixmark ab`.
const AB_BUDGET: Duration = Duration::from_secs(60);

/// Looks of `unixmark cost`: twelve blocks are the fewest whose exact p value survives among thirty tests.
const LOOKS: &[u32] = &[12, 16, 24, 32, 48];
const COST_QUICK: u32 = 8;

/// Windows of `unixmark cost`: a second; its first quarter is a warm-up that fills the queues of auditing.
const COST_SLICE: Duration = Duration::from_millis(125);
const COST_SLICES: u32 = 6;
const COST_WARMUP: Duration = Duration::from_millis(250);
const COST_QUICK_SLICES: u32 = 2;
const COST_QUICK_WARMUP: Duration = Duration::from_millis(125);
const COST_FRAMES: Duration = Duration::from_secs(2);

/// Blocks go on while a budget lasts, but not for ever.
const ENDLESS: u32 = 10_000;

impl From<Kind> for journal::Procedure {
    fn from(kind: Kind) -> journal::Procedure {
        match kind {
            Kind::Standard => journal::Procedure::Standard,
            Kind::Classic => journal::Procedure::Classic,
            Kind::Quick => journal::Procedure::Quick,
        }
    }
}

impl Effort {
    /// Whether a number of blocks that is fixed otherwise is left open, for a precision or a budget to end.
    fn is_open(&self) -> bool {
        let wanted = self.precision.is_some() || self.budget.is_some();
        self.blocks.is_none() && self.kind == Kind::Standard && wanted
    }

    /// Returns an effort of `usual` blocks, unless the user wants others or leaves them open.
    fn or_blocks(self, usual: u32) -> Effort {
        Effort { blocks: self.blocks.or((!self.is_open()).then_some(usual)), ..self }
    }
}

impl Default for Procedure {
    fn default() -> Procedure {
        Procedure::new(Effort::default())
    }
}

impl Procedure {
    /// Returns the procedure of `unixmark run`.
    #[must_use]
    pub fn new(effort: Effort) -> Procedure {
        let Effort { kind, precision, budget, over, blocks } = effort;
        let first = RUN_LOOKS[0];
        let (least, most) = match (kind, blocks) {
            (Kind::Standard | Kind::Quick, Some(blocks)) => (blocks, blocks),
            (Kind::Standard, None) if budget.is_some() => (first, ENDLESS),
            (Kind::Standard, None) if precision.is_some() => (first, MOST_FOR_PRECISION),
            (Kind::Standard, None) => (first, RUN_LOOKS[RUN_LOOKS.len() - 1]),
            (Kind::Quick, None) => (QUICK_BLOCKS, QUICK_BLOCKS),
            (Kind::Classic, _) => (0, 0),
        };
        let is_open = Effort::is_open(&effort);
        Procedure {
            kind,
            least,
            most,
            // Blocks that are spread over a time are all wanted.
            closes: (kind == Kind::Standard && over.is_none()) || precision.is_some(),
            precision,
            budget,
            over,
            frames: if kind == Kind::Quick { QUICK_FRAMES } else { FRAMES },
            // Slices of a second in the classic one, so that a program notices within one that the tool is gone.
            slice: if kind == Kind::Classic { Duration::from_secs(1) } else { SLICE },
            sparse: kind == Kind::Standard && blocks.is_none(),
            looks: if kind == Kind::Standard && blocks.is_none() && !is_open { RUN_LOOKS } else { &[] },
            slices: SLICES,
            warmup: Duration::ZERO,
            passes: blocks,
        }
    }

    /// Returns the procedure of `unixmark scale`: a few blocks of short windows.
    #[must_use]
    pub fn scale(effort: Effort) -> Procedure {
        let usual = if effort.kind == Kind::Quick { QUICK_BLOCKS } else { SCALE_BLOCKS };
        let mut procedure = Procedure::new(effort.or_blocks(usual));
        procedure.least = procedure.least.min(usual).max(effort.blocks.unwrap_or(0));
        procedure.sparse = false;
        procedure
    }

    /// Returns the procedure of `unixmark cost`: blocks until the intervals are narrow, which is asked at fixed looks only,
    /// so that looking often does not widen what an interval claims; or a fixed number of blocks.
    #[must_use]
    pub fn cost(effort: Effort) -> Procedure {
        let fixed = effort.blocks.or((effort.kind == Kind::Quick).then_some(COST_QUICK));
        let mut procedure = Procedure::new(Effort { blocks: fixed, ..effort });
        procedure.frames = procedure.frames.min(COST_FRAMES);
        procedure.slice = COST_SLICE;
        (procedure.slices, procedure.warmup) = match effort.kind {
            Kind::Quick => (COST_QUICK_SLICES, COST_QUICK_WARMUP),
            Kind::Standard | Kind::Classic => (COST_SLICES, COST_WARMUP),
        };
        procedure.sparse = false;
        procedure.closes = fixed.is_none() && effort.over.is_none();
        if fixed.is_none() {
            procedure.looks = LOOKS;
            (procedure.least, procedure.most) = (LOOKS[0], LOOKS[LOOKS.len() - 1]);
        }
        procedure
    }

    /// Returns the procedure of `unixmark ab`: windows of a second, or of a round where that takes longer, until the question is
    /// answered or the budget, a minute, is spent.
    #[must_use]
    pub fn ab(effort: Effort) -> Procedure {
        let budget = effort.budget.or((effort.blocks.is_none()).then_some(AB_BUDGET));
        let mut procedure = Procedure::new(Effort { budget, ..effort });
        procedure.least = effort.blocks.unwrap_or(1);
        procedure.sparse = false;
        procedure
    }

    /// Returns the procedure of `unixmark latency`: a few blocks, whose windows share the `time` of a cell.
    #[must_use]
    pub fn latency(effort: Effort, time: Option<Duration>) -> Procedure {
        let usual = if effort.kind == Kind::Quick { 1 } else { LATENCY_BLOCKS };
        let mut procedure = Procedure::new(effort.or_blocks(usual));
        procedure.least = procedure.least.min(usual).max(effort.blocks.unwrap_or(0));
        procedure.closes = effort.is_open();
        procedure.sparse = false;
        procedure.frames = procedure.frames.min(LATENCY_FRAMES);
        if let Some(time) = time {
            procedure.frames = (time / effort.blocks.unwrap_or(usual)).max(Duration::from_millis(500));
        }
        procedure
    }

    /// Returns how long after the run's begin the block of this number, from 0, is due.
    #[must_use]
    pub fn due(&self, block: u32) -> Duration {
        self.over.map_or(Duration::ZERO, |over| over.mul_f64(f64::from(block) / f64::from(self.most.max(1))).min(over))
    }

    /// Whether it is asked after the block of this number, from 0, whether what was measured is enough.
    #[must_use]
    pub fn looks_after(&self, block: u32) -> bool {
        let asks = self.kind != Kind::Classic && self.closes && block + 1 >= self.least;
        asks && match self.looks {
            // Of many looks one finds a narrow interval by luck.
            [] => (block + 1 - self.least).is_multiple_of((self.least / 2).max(1)),
            looks => looks.contains(&(block + 1)),
        }
    }

    /// Returns the cell at a point as this procedure measures it.
    pub(super) fn cell(&self, point: &Point<'_>) -> Cell {
        let Point { test, load, condition, control, .. } = *point;
        let usual = if test.metric == Metric::Latency { SPARSE } else { 1 };
        let every = match (control && self.passes.is_none(), self.sparse) {
            // Its program knows when the control's turn is.
            _ if test.arms > 0 => 1,
            (true, _) => CONTROL,
            (_, true) => test.standard.sparse.unwrap_or(usual),
            _ => 1,
        };
        let classic = (self.kind == Kind::Classic).then(|| self.classic_passes(test));
        let extra = if self.kind == Kind::Classic { &test.classic.args } else { &test.standard.args };
        Cell {
            test: Arc::clone(test),
            copies: if test.copies == Copies::One { 1 } else { point.copies },
            load: load.cloned(),
            condition: Arc::clone(condition),
            control,
            window: self.window(test),
            args: test.args.iter().chain(extra).cloned().collect(),
            load_args: load.iter().flat_map(|load| load.args.iter().chain(&load.standard.args)).cloned().collect(),
            load_cgroups: load
                .and_then(|load| load.memory)
                .map(|mib| CgroupLimit::Memory(mib << 20))
                .into_iter()
                .collect(),
            least: classic.unwrap_or(self.least.div_ceil(every)),
            most: classic.unwrap_or(self.most.div_ceil(every)),
            every,
            cpus: Vec::new(),
        }
    }

    /// UnixBench's two kinds of repetition: long tests (10 passes) take `-i` passes, short ones
    /// (3 passes) max(1, ⌊(i+1)/3⌋).
    fn classic_passes(&self, test: &Test) -> u32 {
        match self.passes {
            None => test.classic.passes,
            Some(passes) if test.classic.passes >= 10 => passes,
            Some(passes) => ((passes + 1) / 3).max(1),
        }
    }

    fn window(&self, test: &Test) -> Window {
        let settle = Duration::from_millis(if self.kind == Kind::Quick { 400 } else { 1000 });
        match self.kind {
            _ if test.metric == Metric::Latency => {
                // Slices of about a second: the tool hears nothing in between, but reports show them.
                let slices = (self.frames.as_secs_f64().round() as u32).clamp(1, 3600);
                let around = Duration::from_millis(150);
                Window { slice: self.frames / slices, slices, warmup: 0, around, rest: false, settle }
            }
            Kind::Standard | Kind::Quick => {
                let number = |time: Duration| time.as_nanos().div_ceil(self.slice.as_nanos()) as u32;
                let own = |ms: u32| number(Duration::from_millis(ms.into()));
                let warmup = own(test.standard.warmup).max(number(self.warmup));
                Window {
                    slice: self.slice,
                    slices: warmup + test.standard.window.map_or(0, own).max(self.slices),
                    warmup,
                    around: Duration::from_millis(50) + Duration::from_secs(test.standard.around.into()),
                    rest: false,
                    settle,
                }
            }
            Kind::Classic => Window {
                slice: self.slice,
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
        (procedure.least, procedure.most, procedure.closes)
    }

    #[test]
    fn how_often_each_verb_measures() {
        let quick = Effort { kind: Kind::Quick, ..STANDARD };
        let four = Effort { blocks: Some(4), ..STANDARD };
        let minute = Effort { budget: Some(Duration::from_secs(60)), ..STANDARD };
        let narrow = Effort { precision: Some(0.02), ..STANDARD };
        for (effort, run, scale, cost, latency) in [
            (STANDARD, (16, 32, true), (6, 6, true), (12, 48, true), (6, 6, false)),
            (quick, (3, 3, false), (3, 3, false), (8, 8, false), (1, 1, false)),
            (four, (4, 4, true), (4, 4, true), (4, 4, false), (4, 4, false)),
            (minute, (16, ENDLESS, true), (6, ENDLESS, true), (12, 48, true), (6, ENDLESS, true)),
            (narrow, (16, 160, true), (6, 160, true), (12, 48, true), (6, 160, true)),
        ] {
            assert_eq!(trials(&Procedure::new(effort)), run, "run {effort:?}");
            assert_eq!(trials(&Procedure::scale(effort)), scale, "scale {effort:?}");
            assert_eq!(trials(&Procedure::cost(effort)), cost, "cost {effort:?}");
            assert_eq!(trials(&Procedure::latency(effort, None)), latency, "latency {effort:?}");
        }
    }

    #[test]
    fn the_time_of_a_cell_is_shared_by_its_blocks() {
        let time = Some(Duration::from_secs(24));
        assert_eq!(Procedure::latency(STANDARD, time).frames, Duration::from_secs(4));
        assert_eq!(Procedure::latency(Effort { blocks: Some(4), ..STANDARD }, time).frames, Duration::from_secs(6));
        assert_eq!(Procedure::latency(STANDARD, None).frames, LATENCY_FRAMES);
    }

    #[test]
    fn looks_come_from_the_least_on() {
        let asked = |procedure: &Procedure| (0..60).filter(|block| procedure.looks_after(*block)).collect::<Vec<_>>();
        assert_eq!(asked(&Procedure::new(STANDARD)), [15, 23, 31]);
        let narrow = Effort { precision: Some(0.02), ..STANDARD };
        assert_eq!(asked(&Procedure::new(narrow)), [15, 23, 31, 39, 47, 55]);
        assert_eq!(asked(&Procedure::cost(STANDARD)), [11, 15, 23, 31, 47]);
        assert!(asked(&Procedure::new(Effort { kind: Kind::Classic, ..STANDARD })).is_empty());
    }
}
