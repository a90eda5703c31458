//! From a cell's trials to its figure, by the procedure that its kind of number asks for.

use crate::figures::{Figure, latency, score};
use catalogue::Metric;
use journal::{Cell, Run, Trial};

impl Figure {
    /// The figure of a cell's trials; `None` if none has a result.
    pub(crate) fn measured(cell: &Cell, trials: &[&Trial], run: &Run) -> Option<Figure> {
        let is_imported = trials.iter().any(|trial| trial.score.is_some());
        if cell.metric == Metric::Latency && !is_imported {
            return latency::figure(cell, trials);
        }
        score::figure(cell, trials, run)
    }
}
