//! Which cells there are to compare, and which of them a run has.

use serde::Serialize;

use super::{Compared, Measure, Side, Sides};
use crate::Results;
use catalogue::NONE;
use journal::{Cell, Key};
use words::Grouped;

/// A cell's coordinates, and the names its test goes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its place in the matrix.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
}

/// A cell, or a measure of one, that is not in both runs.
#[derive(Debug, Clone)]
pub struct NotCompared {
    /// The run that should have been compared.
    pub run: String,
    /// The measure that is missing; `None` where the whole cell is.
    pub measure: Option<Measure>,
    /// The cell.
    pub cell: Place,
    /// True if what it should have been compared with has it, so that it was lost.
    pub lost: bool,
    /// Why.
    pub reason: String,
}

impl Place {
    /// The place of a cell.
    pub(super) fn new(cell: &Cell) -> Place {
        Place { key: cell.key.clone(), label: cell.label.clone() }
    }

    pub(super) fn missing(&self, run: &str, measure: Option<Measure>, lost: bool, reason: String) -> NotCompared {
        NotCompared { run: run.to_owned(), measure, cell: self.clone(), lost, reason }
    }
}

/// Leaves the cells of one condition, as if it were none: so they meet those of another.
pub(super) fn keep(results: &mut Results, condition: &str) {
    results.figures.retain(|row| row.cell.key.condition == condition);
    results.figures.iter_mut().for_each(|row| NONE.clone_into(&mut row.cell.key.condition));
    for gaps in [&mut results.skipped, &mut results.errors] {
        gaps.retain(|gap| gap.key.condition == condition);
        gaps.iter_mut().for_each(|gap| NONE.clone_into(&mut gap.key.condition));
    }
}

/// Every cell that any of the runs has: those with a result first, in the order of the first run that has them.
pub(super) fn places(rounds: &[Sides<&Compared>]) -> Vec<Place> {
    let runs = || rounds.iter().flat_map(|round| [round.a, round.b]).map(|run| &run.results);
    let figures = runs().flat_map(|results| &results.figures).map(|row| (&row.cell.key, &row.cell.label));
    let gaps = runs().flat_map(|results| results.skipped.iter().chain(&results.errors));
    let all = figures.chain(gaps.map(|gap| (&gap.key, &gap.label))).grouped();
    all.into_iter().map(|(key, labels)| Place { key: key.clone(), label: labels[0].clone() }).collect()
}

/// Returns a cell of a run, or why it has no result.
pub(super) fn find<'a>(run: &'a Compared, place: &Place) -> Result<Side<'a>, String> {
    let Results { figures, skipped, errors, .. } = &run.results;
    if let Some(row) = figures.iter().find(|row| row.cell.key == place.key) {
        return Ok(Side { run, row });
    }
    for (what, gaps) in [("skipped", skipped), ("failed", errors)] {
        if let Some(gap) = gaps.iter().find(|gap| gap.key == place.key) {
            return Err(format!("{what} in {}: {}", run.letter, gap.reason));
        }
    }
    Err(format!("not in {}", run.letter))
}
