//! What conditions cost: every condition against the one they are compared with, within the blocks of one run.

use std::collections::BTreeSet;

use super::{Comparison, Missing};
use crate::journal::{Cell, Trial};
use crate::stats::Estimate;

/// What a run about cost has found.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The condition that the others are compared with.
    pub against: String,
    /// Differences up to this many per cent (points for deadlines) are no verdict.
    pub threshold: f64,
    /// Every condition, in the order of the run.
    pub conditions: Vec<Condition>,
    /// The control: the second arm of `against` compared with the first, one per cell and measure.
    pub floor: Vec<Effect>,
    /// Cells that could not be compared, and why.
    pub missing: Vec<Missing>,
    /// How to read the numbers, and what spoils them (drift, too few blocks, an arm measured first).
    pub notes: Vec<String>,
}

/// One condition over all cells.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// What it costs in one or two sentences, for people.
    pub sentence: String,
    /// One per cell and measure, in the order of the rows.
    pub effects: Vec<Effect>,
    /// Per index (its id, or `all` for the geometric mean of all rates) and number of copies: the difference in per cent, by
    /// resampling blocks jointly.
    pub totals: Vec<Total>,
    /// What proves that it was on, each once.
    pub evidence: Vec<String>,
}

/// The geometric mean of a condition's rates over those it is compared with.
#[derive(Debug, Clone)]
pub struct Total {
    /// The index's id, or `all`.
    pub id: String,
    /// Its name in reports.
    pub name: String,
    /// How many copies.
    pub copies: u32,
    /// What ran in the background.
    pub load: String,
    /// Rates behind it.
    pub rates: usize,
    /// Difference in per cent with its 95 % interval; negative is worse.
    pub delta: Estimate,
    /// The label of the rate that fares worst, and its difference in per cent.
    pub worst: (String, f64),
}

/// One cell under a condition, by one measure.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The comparison: A is the condition compared with, B this one; `pairs` are the blocks.
    pub comparison: Comparison,
    /// The larger end of the control's interval in per cent (points): what is no larger may be noise. None without a control.
    pub floor: Option<f64>,
    /// Whether a second look at fresh blocks shows the loss again; none where there was no second look.
    pub confirmed: Option<bool>,
    /// The trail that auditing left.
    pub trail: Option<TrailFigures>,
    /// System calls per count, where the program tells it (`value calls N`).
    pub calls: Option<f64>,
    /// Processor time of the programs in ns per count, compared with and here (user + system, with children).
    pub cpu_ns: Option<(f64, f64)>,
}

/// What auditing wrote per operation, in the windows of all trials, and in total.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TrailFigures {
    /// Events per count of the test.
    pub events_per: f64,
    /// Bytes per count.
    pub bytes_per: f64,
    /// Bytes per event.
    pub bytes_per_event: f64,
    /// Bytes per second of the window.
    pub bytes_per_second: f64,
    /// Events of all trials, with the programs' start and end.
    pub events: u64,
    /// Bytes of all trials.
    pub bytes: u64,
    /// Records that the kernel dropped.
    pub lost: u64,
    /// Seconds that processes slept for room in the backlog, per second of the window.
    pub waited: f64,
    /// The longest backlog.
    pub backlog: u32,
    /// Share of the windows' records that were not drained when the window closed.
    pub queued: f64,
    /// Processor time outside the programs (the kernel's thread and the receiver), per second of the window.
    pub outside_cpu: f64,
}

/// Whether the trials of one test under all its conditions are enough.
#[must_use]
pub fn enough_cost(_family: &[(&Cell, &[Trial])]) -> bool {
    false
}

/// Returns the cells of tests that a condition slows by `size` per cent or more, beyond doubt, with those they are compared with.
#[must_use]
pub fn suspects(_measured: &[(&Cell, &[Trial])], _against: &str, _size: f64) -> BTreeSet<usize> {
    BTreeSet::new()
}

impl Cost {
    /// Returns every loss of at least `size` per cent beyond doubt that a second look did not dispel.
    #[must_use]
    pub fn losses(&self, size: f64) -> Vec<&Comparison> {
        let effects = self.conditions.iter().flat_map(|condition| &condition.effects);
        let lost = |effect: &&Effect| {
            let one = &effect.comparison;
            one.verdict.is_loss() && one.delta.value <= -size && effect.confirmed != Some(false)
        };
        effects.filter(lost).map(|effect| &effect.comparison).collect()
    }
}
