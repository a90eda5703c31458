//! What is known while a run goes on.

use super::drift::{self, Drifting};
use super::{Row, latency, score};
use catalogue::Metric;
use journal::{Cell, Run, Trial};
use stats::Estimate;

/// Returns the value of the cell's trials so far, as the standard procedure judges it.
#[must_use]
pub fn estimate(cell: &Cell, trials: &[Trial]) -> Estimate {
    match cell.metric {
        Metric::Rate | Metric::Time => score::estimate(cell, trials),
        Metric::Latency => latency::estimate(trials),
    }
}

/// Returns for each family of cells whether all its intervals are at most ±`wanted`, a share of the score, with the drift
/// that the trials of all of them show.
#[must_use]
pub fn enough(families: &[Vec<(&Cell, &[Trial])>], wanted: f64) -> Vec<bool> {
    let row =
        |(cell, trials): &(&Cell, &[Trial])| Row::of(cell, &trials.iter().collect::<Vec<&Trial>>(), &Run::default());
    let mut rows: Vec<Row> = families.iter().flatten().filter_map(row).collect();
    if let Some(drift) = drift::of(&rows) {
        Drifting::widen(&drift, &mut rows);
    }
    let narrow = |cell: &Cell| rows.iter().any(|row| row.cell.id == cell.id && row.score.spread() <= wanted);
    families.iter().map(|family| family.iter().all(|(cell, _)| narrow(cell))).collect()
}
