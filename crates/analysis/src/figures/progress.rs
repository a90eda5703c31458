//! Estimates while a run goes on.

use std::collections::BTreeMap;

use crate::figures::{Drifting, Figure, drift, latency, score};
use catalogue::Metric;
use journal::{Cell, Run, Trial};
use stats::Estimate;

/// The score of a cell's trials by themselves, as the standard procedure judges it.
pub fn estimate(cell: &Cell, trials: &[Trial]) -> Estimate {
    match cell.metric {
        Metric::Latency => latency::estimate(trials),
        _ => score::estimate(cell, trials),
    }
}

/// The scores of several cells' trials so far by the cells' numbers, with intervals that allow for
/// the drift that all of them show. Cells without a trial that worked have none.
pub fn estimates<'a>(
    cells: impl IntoIterator<Item = (&'a Cell, &'a [Trial])>,
) -> BTreeMap<usize, Estimate> {
    let mut rows: Vec<Figure> = Vec::new();
    for (cell, trials) in cells {
        let trials: Vec<&Trial> = trials.iter().collect();
        rows.extend(Figure::measured(cell, &trials, &Run::default()));
    }
    if let Some(drift) = drift::common(&rows) {
        Drifting::widen(&drift, &mut rows);
    }
    rows.into_iter().map(|row| (row.cell.id, row.score)).collect()
}

/// For each family of cells, whether all its intervals are at most ±`wanted`, a share of the score,
/// with the drift that the trials of all families show.
pub fn enough(families: &[Vec<(&Cell, &[Trial])>], wanted: f64) -> Vec<bool> {
    let scores = estimates(families.iter().flatten().copied());
    let is_narrow =
        |cell: &Cell| scores.get(&cell.id).is_some_and(|score| score.spread() <= wanted);
    families.iter().map(|family| family.iter().all(|(cell, _)| is_narrow(cell))).collect()
}
