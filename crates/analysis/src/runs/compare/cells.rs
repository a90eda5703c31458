//! Which cells there are to compare, and which of them a run has.

use serde::Serialize;

use super::{Compared, Side};
use crate::figures::Measure;
use crate::findings::Results;
use crate::products::comparison::Sides;
use catalogue::NONE;
use journal::{Cell, Key};
use words::Grouped;

/// A cell's coordinates, and its test's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
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

    pub(super) fn missing(
        &self,
        run: &str,
        measure: Option<Measure>,
        lost: bool,
        reason: String,
    ) -> NotCompared {
        NotCompared { run: run.to_owned(), measure, cell: self.clone(), lost, reason }
    }
}

/// Removes the cells of all conditions but one, and that one's name: so its cells meet those of
/// another condition.
pub(super) fn keep_condition(results: &mut Results, condition: &str) {
    results.figures.retain(|row| row.cell.key.condition == condition);
    results.figures.iter_mut().for_each(|row| NONE.clone_into(&mut row.cell.key.condition));
    for gaps in [&mut results.skipped, &mut results.errors] {
        gaps.retain(|gap| gap.key.condition == condition);
        gaps.iter_mut().for_each(|gap| NONE.clone_into(&mut gap.key.condition));
    }
}

/// Every cell that any of the runs has: those with a result first, in the order of the first run
/// that has them.
pub(super) fn places(rounds: &[Sides<&Compared>]) -> Vec<Place> {
    let runs: Vec<&Results> =
        rounds.iter().flat_map(|round| [&round.a.results, &round.b.results]).collect();
    let with_result = runs
        .iter()
        .flat_map(|results| &results.figures)
        .map(|row| (&row.cell.key, &row.cell.label));
    let without_result = runs
        .iter()
        .flat_map(|results| results.skipped.iter().chain(&results.errors))
        .map(|gap| (&gap.key, &gap.label));

    let mut places = Vec::new();
    for (key, labels) in with_result.chain(without_result).grouped() {
        places.push(Place { key: key.clone(), label: labels[0].clone() });
    }
    places
}

/// A cell of a run, or why it has no result.
pub(super) fn find<'a>(run: &'a Compared, place: &Place) -> Result<Side<'a>, String> {
    let Results { figures, skipped, errors, .. } = &run.results;
    if let Some(row) = figures.iter().find(|row| row.cell.key == place.key) {
        return Ok(Side { run, row });
    }
    for (status, gaps) in [("skipped", skipped), ("failed", errors)] {
        if let Some(gap) = gaps.iter().find(|gap| gap.key == place.key) {
            return Err(format!("{status} in {}: {}", run.letter, gap.reason));
        }
    }

    // Go prints one benchmark at several levels.
    let at_other_level = figures.iter().map(|row| &row.cell).find(|cell| {
        cell.is_printed() && cell.label == place.label && cell.key.copies != place.key.copies
    });
    Err(match at_other_level {
        Some(cell) => {
            let copies = words::copies(cell.key.copies);
            format!("not in {0}, which has it of {copies}", run.letter)
        }
        None => format!("not in {}", run.letter),
    })
}
