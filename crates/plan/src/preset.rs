//! The presets: what each purpose measures in each procedure.

use std::time::Duration;

/// The procedures.
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

impl From<Kind> for journal::Procedure {
    fn from(kind: Kind) -> journal::Procedure {
        match kind {
            Kind::Standard => journal::Procedure::Standard,
            Kind::Classic => journal::Procedure::Classic,
            Kind::Quick => journal::Procedure::Quick,
        }
    }
}

/// The purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Scores and indexes: `unixmark run`.
    Scores,
    /// The gain from more copies: `unixmark scale`.
    Scaling,
    /// The cost of conditions: `unixmark cost`.
    Cost,
    /// The smoothness of interactive tasks: `unixmark latency`.
    Latency,
    /// Which of several commands is faster: `unixmark ab`.
    Ab,
    /// The prices of many system calls, and a command that makes them: `unixmark bill`.
    Bill,
}

/// Lengths and looks, unless the user wants others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// After each of these numbers of blocks a look decides whether they are enough. The last is
    /// the maximum, unless blocks are extended.
    pub looks: &'static [u32],
    /// True if blocks go on while the user's budget lasts, or until the precision is reached.
    pub extends: bool,
    /// The slices of a window that are counted.
    pub slices: u32,
    /// The length of a slice.
    pub slice: Duration,
    /// The minimum time before these slices that is not counted; a test's own warm-up may be
    /// longer.
    pub warmup: Duration,
    /// The length of an interactive test's window.
    pub frames: Duration,
    /// True if cells whose trials are much longer than others are left out of most blocks, unless
    /// the user counts these.
    pub sparse: bool,
}

impl Preset {
    /// The preset of a purpose in a procedure. Times are in milliseconds.
    ///
    /// - Scores: windows of a quarter of a second. Longer ones spend time on noise that slices
    ///   share, shorter ones on starting processes (docs/methodology.md).
    /// - Scaling: its many levels make one estimate, so each may have few trials.
    /// - Cost: longer windows, with a warm-up that fills the queues of auditing. Twelve blocks are
    ///   the minimum with an exact p value that survives among thirty tests. Looks are only the
    ///   planned ones, so that looking does not widen what an interval claims.
    /// - Bill: some thirty calls, each of which adds little to it. Windows are as short as starting
    ///   a program, and the least known calls are measured again.
    /// - Latency: six windows of four seconds, with 240 pictures or 4000 wake-ups of a timer of
    ///   1 ms, are the minimum with an interval that holds where trials differ, in Interbench's
    ///   time.
    /// - Ab: looks after each second, or each round of longer commands, which the statistics allow
    ///   for (`stats::look_level`).
    /// - Classic: slices of a second, so that a program notices within one that the tool is gone.
    #[rustfmt::skip]
    pub(super) fn new(purpose: Purpose, kind: Kind) -> Preset {
        use {Kind::{Classic, Quick, Standard}, Purpose::{Ab, Bill, Cost, Latency, Scaling, Scores}};
        type Row = (&'static [u32], bool, u32, u64, u64, u64, bool);
        let row: Row = match (purpose, kind) {
            //                       looks               extends slices slice warm-up frames  sparse
            (Scores,  Standard) => (&[16, 24, 32],         true,  5,     50,    0,     8_000,  true),
            (Scores,  Quick)    => (&[3],                  false, 5,     50,    0,     1_500,  false),
            (Scaling, Standard) => (&[6],                  true,  5,     50,    0,     8_000,  false),
            (Scaling, Quick)    => (&[3],                  false, 5,     50,    0,     1_500,  false),
            (Cost,    Standard) => (&[12, 16, 24, 32, 48], false, 6,     125,   250,   2_000,  false),
            (Cost,    Quick)    => (&[8],                  false, 2,     125,   125,   1_500,  false),
            (Latency, Standard) => (&[6],                  true,  5,     50,    0,     4_000,  false),
            (Latency, Quick)    => (&[1],                  false, 5,     50,    0,     1_500,  false),
            (Ab,      Standard) => (&[1],                  true,  20,    50,    0,     8_000,  false),
            (Ab,      Quick)    => (&[1],                  true,  5,     50,    0,     1_500,  false),
            (Bill,    Standard) => (&[8, 12],              false, 4,     15,    15,    1_500,  false),
            (Bill,    Quick)    => (&[8],                  false, 2,     15,    15,    1_500,  false),
            // Passes and seconds are each test's own.
            (_,       Classic)  => (&[0],                  false, 0,     1000,  0,     8_000,  false),
        };
        let (looks, extends, slices, slice, warmup, frames, sparse) = row;
        let [slice, warmup, frames] = [slice, warmup, frames].map(Duration::from_millis);
        Preset { looks, extends, slices, slice, warmup, frames, sparse }
    }
}
