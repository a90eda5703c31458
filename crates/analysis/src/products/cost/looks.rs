//! The runner's questions while it measures what conditions cost: is this known well enough, and
//! what deserves a second look?
//!
//! The answer to the first does not depend on whether a difference shows, so asking it after every
//! block makes no false alarm. Both look at the intervals that the report will show; the first
//! before the report's control widens them.

use std::collections::BTreeSet;

use catalogue::Metric;
use journal::{Cell, Trial};

use crate::figures::Measure;
use crate::products::comparison::engine::{Design, Draft};
use crate::products::pairs::{Arms, renumber};

/// Half-width, as a difference of logarithms, at which the cost of a condition is known well
/// enough: of a rate, and of an interactive test's median and p99.
const MAX_HALF_WIDTH: f64 = 0.005;
const MAX_LATENCY_HALF_WIDTH: f64 = 0.05;

/// Half-width that is narrow enough for a large difference, as a share of the difference.
const MAX_SHARE_OF_DIFFERENCE: f64 = 0.2;

/// True if every condition of one test, at one level of copies and load, is measured well enough.
///
/// The half-width of a difference must be at most 0.5 % (5 % for the median and p99 of an
/// interactive test) or a fifth of the difference, whichever is more; `precision` replaces the
/// first of these. Conditions without a result, and those measured in blocks of their own, want no
/// more blocks.
///
/// That a large difference may be known less narrowly costs up to two points of coverage and 0.3
/// points of bias away from 0, by simulation.
pub fn is_precise(family: &[(&Cell, &[Trial])], precision: Option<f64>) -> bool {
    let (cells, trials) = renumber(family);
    let arms = Arms::new(&cells, &trials);

    let drafts = arms.treated().filter(|cell| !cell.first).flat_map(|cell| arms.drafts(cell).0);
    drafts.filter(decides_precision).all(|draft| {
        let usual = match draft.comparison.cell.metric {
            Metric::Latency => MAX_LATENCY_HALF_WIDTH,
            _ => MAX_HALF_WIDTH,
        };
        let estimate = draft.difference.shift.estimate;
        let wanted =
            f64::max(precision.unwrap_or(usual), MAX_SHARE_OF_DIFFERENCE * estimate.value.abs());
        estimate.half_width() <= wanted
    })
}

/// True for the measures that a run goes on for: neither p99.9, nor deadlines, nor energy.
fn decides_precision(draft: &Draft) -> bool {
    matches!(draft.comparison.measure, Measure::Score | Measure::P50 | Measure::P99)
}

/// The cells that lose at least `size` per cent (points for deadlines) significantly, and the cells
/// that they are compared with: what deserves a second look.
///
/// `trials` holds the trials of each cell; the result holds the cells' numbers.
pub fn suspects(cells: &[Cell], trials: &[Vec<Trial>], size: f64) -> BTreeSet<usize> {
    let trials: Vec<Vec<&Trial>> = trials.iter().map(|trials| trials.iter().collect()).collect();
    let arms = Arms::new(cells, &trials);

    let mut suspects = BTreeSet::new();
    for comparison in arms.judged() {
        if comparison.design == Design::Blocks && comparison.is_loss_of(size) {
            suspects.insert(comparison.cell.id);
            let compared = arms.compared_with(&comparison.cell);
            suspects.extend(compared.iter().map(|cell| cell.id));
        }
    }
    suspects
}
