//! The presets: what each purpose measures in each procedure.

use std::time::Duration;

use super::Kind;

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
}

/// Lengths and looks, unless the user wants others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The numbers of blocks after which a look decides whether they are enough; the last is the most, unless they are
    /// extended.
    pub looks: &'static [u32],
    /// True if blocks go on while the user's budget lasts or precision is not reached.
    pub extends: bool,
    /// Slices of a window that are counted.
    pub slices: u32,
    /// Length of a slice.
    pub slice: Duration,
    /// Time before them that is not counted, whatever the test's own warm-up.
    pub warmup: Duration,
    /// Length of an interactive test's window.
    pub frames: Duration,
    /// True if cells whose trials are much longer than others are left out of most blocks, unless the user counts
    /// these.
    pub sparse: bool,
}

impl Preset {
    /// Returns the preset of a purpose in a procedure. Times are in milliseconds.
    ///
    /// Windows of a quarter of a second: longer ones spend time on noise that slices share, and
    /// shorter ones spend it on starting processes (docs/methodology.md). Those of costs are longer
    /// and have a warm-up, which fills the queues of auditing. Twelve blocks are the fewest whose
    /// exact p value survives among thirty tests; costs are looked at only as often as is planned,
    /// so that looking does not widen what an interval claims. The many levels of scaling make one
    /// estimate, so that each may have few trials. Six windows of four seconds, with 240 pictures or
    /// 4000 wake-ups of a timer of 1 ms, are the fewest whose interval holds where trials are not
    /// alike, in Interbench's time. The classic slices are a second long, so that a program notices
    /// within one that the tool is gone. Commands that are compared are looked at after each second,
    /// or each round of longer ones, which the statistics allow for (`stats::look_level`).
    #[rustfmt::skip]
    pub(super) fn new(purpose: Purpose, kind: Kind) -> Preset {
        use {Kind::{Classic, Quick, Standard}, Purpose::{Ab, Cost, Latency, Scaling, Scores}};
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
            // Passes and seconds are each test's own.
            (_,       Classic)  => (&[0],                  false, 0,     1000,  0,     8_000,  false),
        };
        let (looks, extends, slices, slice, warmup, frames, sparse) = row;
        let [slice, warmup, frames] = [slice, warmup, frames].map(Duration::from_millis);
        Preset { looks, extends, slices, slice, warmup, frames, sparse }
    }
}
