//! What the runner asks while it measures: whether intervals are narrow enough, and what deserves a second look.

use super::arms::Arms;
use super::{BTreeSet, Cell, Measure, Trial};
use crate::compare::engine::{Design, Draft};
use catalogue::Metric;

/// Half-widths of logarithms that are enough: of rates, and of latencies.
const NARROW: f64 = 0.005;
const NARROW_LATENCY: f64 = 0.05;

/// Of a large difference, so much of it is enough.
const SHARE: f64 = 0.2;

/// The condition compared with is the one that has a control; without any, the first.
pub(super) fn against(cells: &[Cell]) -> &str {
    cells.iter().find(|cell| cell.control).or(cells.first()).map_or("", |cell| cell.key.condition.as_str())
}

/// Whether every condition of one test (with its copies and load) is measured well enough: the half-width of its
/// difference is at most 0.5 %, or a fifth of the difference; of an interactive test's median and p99 5 %; or the user's own
/// `precision` in place of both. Whether a difference is shown decides nothing, so looking several times makes no false alarm. That
/// a large one may be known less narrowly does: by simulation it costs up to two points of coverage, and 0.3 points of bias away
/// from 0. A condition without a result, and one that was measured in blocks of its own, want no more blocks.
#[must_use]
pub fn enough(family: &[(&Cell, &[Trial])], precision: Option<f64>) -> bool {
    let cells: Vec<Cell> = family.iter().enumerate().map(|(id, (cell, _))| Cell { id, ..(*cell).clone() }).collect();
    let trials: Vec<Vec<&Trial>> = family.iter().map(|(_, trials)| trials.iter().collect()).collect();
    let arms = Arms { cells: &cells, trials: &trials, against: against(&cells) };
    let treated = arms.treated().filter(|cell| !cell.first);
    let judged = |draft: &Draft| matches!(draft.comparison.measure, Measure::Score | Measure::P50 | Measure::P99);
    treated.flat_map(|cell| arms.drafts(cell).0).filter(judged).all(|draft| {
        let estimate = draft.difference.shift.estimate;
        let usual = if draft.comparison.cell.metric == Metric::Latency { NARROW_LATENCY } else { NARROW };
        let narrow = precision.unwrap_or(usual);
        (estimate.high - estimate.low) / 2.0 <= f64::max(narrow, SHARE * estimate.value.abs())
    })
}

/// Returns the numbers of the cells that lose at least `size` per cent (points for deadlines) significantly, with the arms
/// that they are compared with: what deserves a second look. `trials` are those of each cell.
#[must_use]
pub fn suspects(cells: &[Cell], trials: &[Vec<Trial>], size: f64) -> BTreeSet<usize> {
    let trials: Vec<Vec<&Trial>> = trials.iter().map(|trials| trials.iter().collect()).collect();
    let arms = Arms { cells, trials: &trials, against: against(cells) };
    let lost = arms.judged().filter(|one| one.design == Design::Blocks && one.is_loss_of(size));
    lost.flat_map(|one| arms.compared_with(&one.cell).into_iter().map(|cell| cell.id).chain([one.cell.id])).collect()
}
