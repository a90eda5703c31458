//! The three procedures: how long, how often, and when it is enough.

use std::sync::Arc;
use std::time::Duration;

use super::{Cell, Limit};
use catalogue::{Condition, Metric, Test};

/// Which procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Short windows in random blocks until the intervals are narrow
    Standard,
    /// UnixBench 6.0.0's own procedure, to the letter
    Classic,
    /// A smoke run under a minute
    Quick,
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
    /// Half-width of a cell's interval, as a share of its score, below which it is measured no more.
    pub precision: Option<f64>,
    /// Time after which no further block is begun.
    pub budget: Option<Duration>,
    /// Length of an interactive test's window.
    pub frames: Duration,
    /// Length of the slices of other windows.
    pub slice: Duration,
    /// Numbers of blocks after which it is asked whether they are enough; after every one where there are none.
    pub looks: &'static [u32],
    /// Slices of a window, and how many of them are a warm-up.
    pub slices: (u32, u32),
    /// UnixBench's `-i`: blocks, or passes of a long test; a short one has a third.
    pub passes: Option<u32>,
}

/// The window of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Length of a slice.
    pub slice: Duration,
    /// Number of slices.
    pub slices: u32,
    /// How many of them, from the first, are not counted: until the scheduler has placed the processes.
    pub warmup: u32,
    /// About what a trial takes besides, for the estimate.
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

/// Window of an interactive test: 480 pictures, 8000 wake-ups of a timer of 1 ms.
const FRAMES: Duration = Duration::from_secs(8);
const QUICK_FRAMES: Duration = Duration::from_millis(1500);

/// Blocks of `unixmark latency`: the fewest with an interval that means something, in Interbench's time.
const LATENCY_BLOCKS: u32 = 3;

/// Blocks of `unixmark scale`: its many levels make one estimate, so that each may have few trials.
const SCALE_BLOCKS: u32 = 3;
const SCALE_SLICE: Duration = Duration::from_millis(100);

/// Looks of `unixmark cost`: twelve blocks are the fewest whose exact p value survives among thirty tests.
const LOOKS: &[u32] = &[12, 16, 24, 32, 48];
const COST_QUICK: u32 = 8;

/// Windows of `unixmark cost`: a second, of which a quarter is a warm-up that fills the queues of auditing.
const COST_SLICE: Duration = Duration::from_millis(125);
const COST_SLICES: (u32, u32) = (8, 2);
const COST_QUICK_SLICES: (u32, u32) = (3, 1);
const COST_FRAMES: Duration = Duration::from_secs(2);

/// Blocks are begun as long as a budget lasts, but not for ever.
const ENDLESS: u32 = 10_000;

impl Kind {
    /// The name in journals and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Standard => "standard",
            Kind::Classic => "classic",
            Kind::Quick => "quick",
        }
    }
}

impl Default for Procedure {
    fn default() -> Procedure {
        Procedure::new(Kind::Standard, None, None, None)
    }
}

impl Procedure {
    /// Returns the procedure of `kind` with the user's wishes: a `precision` to reach (a share), a
    /// `budget` to keep, and UnixBench's number of `passes`.
    #[must_use]
    pub fn new(kind: Kind, precision: Option<f64>, budget: Option<Duration>, passes: Option<u32>) -> Procedure {
        // Six trials are the fewest that carry a 95 % order-statistic interval of a median.
        let (least, most) = match (kind, passes) {
            (Kind::Standard | Kind::Quick, Some(passes)) => (passes, passes),
            (Kind::Standard, None) if budget.is_some() => (6, ENDLESS),
            // A precision without a budget must not run for ever on a noisy machine.
            (Kind::Standard, None) if precision.is_some() => (6, 60),
            (Kind::Standard, None) => (6, 12),
            (Kind::Quick, None) => (3, 3),
            (Kind::Classic, _) => (0, 0),
        };
        let wanted = precision.or((kind == Kind::Standard).then_some(0.01));
        let frames = if kind == Kind::Quick { QUICK_FRAMES } else { FRAMES };
        // Slices of a second in the classic one, so that a program notices within one that the tool is gone.
        let slice = Duration::from_millis(match kind {
            Kind::Standard => 200,
            Kind::Quick => 80,
            Kind::Classic => 1000,
        });
        Procedure { kind, least, most, precision: wanted, budget, frames, slice, looks: &[], slices: (5, 1), passes }
    }

    /// Returns the procedure of `unixmark scale`: few `blocks` of short windows, or with a wish more of them.
    #[must_use]
    pub fn scale(kind: Kind, precision: Option<f64>, budget: Option<Duration>, blocks: Option<u32>) -> Procedure {
        let open = blocks.is_none() && kind == Kind::Standard && (precision.is_some() || budget.is_some());
        let mut procedure = Procedure::new(kind, precision, budget, blocks.or((!open).then_some(SCALE_BLOCKS)));
        procedure.least = procedure.least.min(SCALE_BLOCKS).max(blocks.unwrap_or(0));
        procedure.slice = procedure.slice.min(SCALE_SLICE);
        procedure
    }

    /// Returns the procedure of `unixmark cost`: blocks until the intervals are narrow, asked at fixed looks only, so that
    /// looking often does not widen what an interval claims; or a fixed number of `blocks`, or as many as a `budget` holds.
    #[must_use]
    pub fn cost(kind: Kind, budget: Option<Duration>, blocks: Option<u32>) -> Procedure {
        let fixed = blocks.or((kind == Kind::Quick).then_some(COST_QUICK));
        let mut procedure = Procedure::new(kind, None, budget, fixed);
        procedure.frames = procedure.frames.min(COST_FRAMES);
        procedure.slice = COST_SLICE;
        procedure.slices = if kind == Kind::Quick { COST_QUICK_SLICES } else { COST_SLICES };
        if fixed.is_none() {
            procedure.looks = LOOKS;
            (procedure.least, procedure.most) = (LOOKS[0], LOOKS[LOOKS.len() - 1]);
        } else {
            procedure.precision = None;
        }
        procedure
    }

    /// Whether it is asked after the block of this number, from 0, whether what was measured is enough.
    #[must_use]
    pub fn looks_after(&self, block: u32) -> bool {
        let asks = self.kind != Kind::Classic && self.precision.is_some() && block + 1 >= self.least;
        asks && (self.looks.is_empty() || self.looks.contains(&(block + 1)))
    }

    /// Returns the procedure of `unixmark latency`: a fixed number of `blocks`, whose windows share the `time` of a cell.
    #[must_use]
    pub fn latency(kind: Kind, time: Option<Duration>, blocks: Option<u32>) -> Procedure {
        let blocks = blocks.unwrap_or(if kind == Kind::Quick { 1 } else { LATENCY_BLOCKS });
        let mut procedure = Procedure::new(kind, None, None, Some(blocks));
        procedure.precision = None;
        if let Some(time) = time {
            procedure.frames = (time / blocks).max(Duration::from_millis(500));
        }
        procedure
    }

    /// Returns the cell of `test` at the given coordinates as this procedure measures it.
    pub(super) fn cell(
        &self,
        test: &Arc<Test>,
        copies: u32,
        load: Option<&Arc<Test>>,
        condition: &Arc<Condition>,
    ) -> Cell {
        let window = self.window(test);
        let extra = if self.kind == Kind::Classic { &test.classic.args } else { &test.standard.args };
        Cell {
            test: Arc::clone(test),
            copies,
            load: load.cloned(),
            condition: Arc::clone(condition),
            control: false,
            window,
            args: test.args.iter().chain(extra).cloned().collect(),
            load_args: load.iter().flat_map(|load| load.args.iter().chain(&load.standard.args)).cloned().collect(),
            load_cgroups: load.and_then(|load| load.memory).map(|mib| Limit::Memory(mib << 20)).into_iter().collect(),
            least: if self.kind == Kind::Classic { self.classic_passes(test) } else { self.least },
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
            Kind::Standard | Kind::Quick => Window {
                slice: self.slice,
                slices: self.slices.0,
                warmup: self.slices.1,
                around: Duration::from_millis(150) + Duration::from_secs(test.standard.around.into()),
                rest: false,
                settle,
            },
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
