//! Estimates while a run goes on.

use std::collections::BTreeMap;

use super::drift::{self, Drifting};
use super::{Figure, latency, score};
use catalogue::Metric;
use journal::{Cell, Run, Trial};
use stats::Estimate;

/// Returns the value of a cell's trials by themselves, as the standard procedure judges it.
pub fn estimate(cell: &Cell, trials: &[Trial]) -> Estimate {
    match cell.metric {
        Metric::Rate | Metric::Time | Metric::Amount => score::estimate(cell, trials),
        Metric::Latency => latency::estimate(trials),
    }
}

/// Returns the values of several cells' trials so far by the cells' numbers, with the drift that the trials of all of
/// them show; none of cells without a trial that worked.
pub fn estimates<'a>(cells: impl IntoIterator<Item = (&'a Cell, &'a [Trial])>) -> BTreeMap<usize, Estimate> {
    let row =
        |(cell, trials): (&Cell, &[Trial])| Figure::measured(cell, &trials.iter().collect::<Vec<_>>(), &Run::default());
    let mut rows: Vec<Figure> = cells.into_iter().filter_map(row).collect();
    if let Some(drift) = drift::common(&rows) {
        Drifting::widen(&drift, &mut rows);
    }
    rows.into_iter().map(|row| (row.cell.id, row.score)).collect()
}

/// Returns for each family of cells whether all its intervals are at most ±`wanted`, a share of the score, with the
/// drift that the trials of all of them show.
pub fn enough(families: &[Vec<(&Cell, &[Trial])>], wanted: f64) -> Vec<bool> {
    let found = estimates(families.iter().flatten().copied());
    let narrow = |cell: &Cell| found.get(&cell.id).is_some_and(|score| score.spread() <= wanted);
    families.iter().map(|family| family.iter().all(|(cell, _)| narrow(cell))).collect()
}
