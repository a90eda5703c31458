//! Which of two machines: what two cards say of each kind of work that a machine does.
//!
//! The index is compared as the cards show it, with one copy and with as many as either machine has
//! processors; memory and disk by the mean of their figures; wake-ups by their median, since single
//! late ones differ between any two runs. The intervals of all kinds hold together: each is one of
//! 99 %, so that all five are right in 95 of 100 cases (Bonferroni).

use catalogue::Metric;
use journal::View;
use stats::{Estimate, Exact, NORMAL_975};

use super::Compared;
use crate::figures::{Measure, Remark};
use crate::findings::Results;
use crate::products::comparison::Sides;
use crate::products::comparison::engine::Draft;
use crate::products::comparison::pool::{self, Pool};

/// The tests of the memory and the disk, by the beginnings of their names, and that of wake-ups.
const MEMORY: [&str; 2] = ["copy-ram", "latency-ram"];
const DISK: [&str; 1] = ["disk-mix-"];
const WAKE_UPS: &str = "cyclic";

/// The normal quantile of 99.5 %: the half-width of an interval of 99 %.
const NORMAL_995: f64 = 2.576;

/// What may change between two runs of one machine, as a logarithm: an interval of one run does not
/// show it. Chosen: with it, simulated cards of machines that drift by some 5 % during a card are
/// called different in at most one pair of twenty (tests/analysis/machines.rs).
const RUN_TO_RUN: f64 = 0.05;

/// A difference below this share is nothing to choose a machine by.
pub const MIN_DIFFERENCE: f64 = 0.05;

/// Machines are about as fast if the interval lies within this share. Chosen: the allowance for
/// what changes between runs alone takes 5 %, and a card's own interval as much again.
pub const MAX_SAME: f64 = 0.15;

/// A kind of work that machines do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The index with one copy.
    OneCopy,
    /// The index with a copy per processor.
    AllProcessors,
    Memory,
    Disk,
    WakeUps,
}

/// How two machines compare in a kind of work.
#[derive(Debug, Clone, PartialEq)]
pub struct AtWork {
    pub work: Work,
    /// The speed of the second machine as a multiple of the first one's.
    pub speed: Estimate,
}

/// What can be said of a speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Found {
    Faster,
    Slower,
    /// The difference is surely smaller than [`MAX_SAME`].
    Same,
    Undecided,
}

/// Two machines by their cards.
#[derive(Debug, Clone, PartialEq)]
pub struct Machines {
    /// The letter of the second one.
    pub letter: String,
    /// What they are called: by their comments or hosts if these differ, else by their letters.
    pub names: Sides<String>,
    /// The processors that their cards used.
    pub processors: Sides<u32>,
    /// What kept each from using all of its processors: an affinity or a quota.
    pub limits: Sides<Option<Remark>>,
    pub at_work: Vec<AtWork>,
}

impl AtWork {
    /// What the interval says.
    pub fn found(&self) -> Found {
        let Estimate { value, low, high } = self.speed;
        let [least, most] = [1.0 / (1.0 + MIN_DIFFERENCE), 1.0 + MIN_DIFFERENCE];
        match () {
            () if low > 1.0 && value >= most => Found::Faster,
            () if high < 1.0 && value <= least => Found::Slower,
            () if low >= 1.0 / (1.0 + MAX_SAME) && high <= 1.0 + MAX_SAME => Found::Same,
            () => Found::Undecided,
        }
    }
}

impl Machines {
    /// Two machines by their cards and what was compared of these; `None` of other runs.
    pub(super) fn new(a: &Compared, b: &Compared, drafts: &[Draft]) -> Option<Machines> {
        if !is_card(a) || !is_card(b) {
            return None;
        }

        let sides = Sides { a: &a.results, b: &b.results };
        let processors = sides.map(|results| results.levels().last().copied().unwrap_or(1));
        let is_several = processors.a > 1 || processors.b > 1;
        let with_all = is_several.then(|| index_ratio(sides, processors)).flatten();
        let speeds = [
            (Work::OneCopy, index_ratio(sides, Sides { a: 1, b: 1 })),
            (Work::AllProcessors, with_all),
            (Work::Memory, mean_ratio(drafts, &MEMORY)),
            (Work::Disk, mean_ratio(drafts, &DISK)),
            (Work::WakeUps, wake_up_ratio(drafts)),
        ];

        let mut at_work = Vec::new();
        for (work, speed) in speeds {
            let speed = speed.filter(|speed| speed.value.is_finite()).map(to_joint_interval);
            at_work.extend(speed.map(|speed| AtWork { work, speed }));
        }
        Some(Machines {
            letter: b.letter.clone(),
            names: name_machines(a, b),
            processors,
            limits: sides.map(find_limit),
            at_work,
        })
    }
}

/// True if a run is a card.
pub(super) fn is_card(run: &Compared) -> bool {
    run.results.run.view == View::Card
}

/// The remark on processors that a run could not use, or only in part.
fn find_limit(results: &Results) -> Option<Remark> {
    let is_limit =
        |remark: &&Remark| matches!(remark, Remark::Affinity { .. } | Remark::Quota { .. });
    results.warnings.iter().find(is_limit).cloned()
}

/// The names of two machines: what differs first of their comments, hosts and letters.
fn name_machines(a: &Compared, b: &Compared) -> Sides<String> {
    let [first, second] = [a, b].map(|card| &card.results.run);
    for (name, other) in [(&first.comment, &second.comment), (&first.host, &second.host)] {
        if name != other && !name.is_empty() && !other.is_empty() {
            return Sides { a: name.clone(), b: other.clone() };
        }
    }
    Sides { a: a.letter.clone(), b: b.letter.clone() }
}

/// The index of the second machine over that of the first, each with its number of copies.
fn index_ratio(sides: Sides<&Results>, copies: Sides<u32>) -> Option<Estimate> {
    let a = sides.a.unixbench_index(copies.a)?;
    let b = sides.b.unixbench_index(copies.b)?;
    // Indexes of different tests have no ratio.
    a.has_parts_of(b).then(|| b.score.over(&a.score))
}

/// The mean ratio of the speeds of tests whose names begin so, at one copy: more copies would show
/// the processors again.
fn mean_ratio(drafts: &[Draft], names: &[&str]) -> Option<Estimate> {
    let tests: Vec<&Draft> = drafts
        .iter()
        .filter(|draft| {
            let key = &draft.comparison.cell.key;
            key.copies == 1 && names.iter().any(|name| key.test.starts_with(name))
        })
        .collect();
    let mean = pool::mean_of_rates(&tests, Pool::Resampled)?;
    Some(to_ratio(mean.delta))
}

fn wake_up_ratio(drafts: &[Draft]) -> Option<Estimate> {
    let mut comparisons = drafts.iter().map(|draft| &draft.comparison);
    let median = comparisons.find(|comparison| {
        comparison.cell.key.test == WAKE_UPS
            && comparison.measure == Measure::P50
            && comparison.cell.metric == Metric::Latency
    })?;
    Some(to_ratio(median.delta))
}

/// A change of a rate in per cent as a ratio of speeds.
fn to_ratio(delta: Estimate) -> Estimate {
    delta.image(|delta| 1.0 + delta / 100.0)
}

/// A ratio with an interval of 99 % in place of its 95 %, and with the allowance for what changes
/// from run to run.
fn to_joint_interval(ratio: Estimate) -> Estimate {
    if !ratio.bounded() || ratio.low <= 0.0 {
        return Estimate::alone(ratio.value);
    }

    let half_width = |end: f64| {
        let within_runs = (end / ratio.value).natural_log().abs() * NORMAL_995 / NORMAL_975;
        within_runs.hypotenuse(RUN_TO_RUN)
    };
    Estimate {
        value: ratio.value,
        low: ratio.value * (-half_width(ratio.low)).exponential(),
        high: ratio.value * half_width(ratio.high).exponential(),
    }
}
