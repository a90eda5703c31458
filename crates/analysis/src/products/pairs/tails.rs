//! A quantile of the times of commands that alternate: how long the slowest executions take.
//!
//! A round has one execution of each command, of which there is no p99. So the quantile is that of
//! all executions of a command in the run, one number on either side: [`stats::quantile_shift`] has
//! its interval. Simulated there, and in `tests/analysis/tails.rs`.

use journal::Cell;
use stats::{Exact, min_values_of_quantile, quantile, without_blocks};

use crate::figures::{Measure, Missing};
use crate::products::comparison::Scale;
use crate::products::comparison::engine::{Data, Design, Draft, Observed, Sides, Values};

/// The measures that are quantiles of a cell's executions.
pub(super) fn measures(cell: &Cell) -> impl Iterator<Item = Measure> {
    cell.tails.iter().filter_map(|share| Measure::of_quantile(*share))
}

/// Compares a quantile of a cell's times with that of the reference, from the times of both by
/// round. `None` if a side has too few.
pub(super) fn draft(cell: &Cell, measure: Measure, times: &Sides<Values>) -> Option<Draft> {
    let share = measure.share()?;
    let n = times.as_ref().map(Vec::len);
    if n.a.min(n.b) < min_values_of_quantile(share) {
        return None;
    }

    let shown = times.as_ref().map(|times| quantile(&without_blocks(times), share));
    // More is better in the data, so the few slow executions are the low ones.
    let Sides { a, b } = times.as_ref().map(|times| -> Values {
        times.iter().map(|(round, ms)| (*round, -ms.natural_log())).collect()
    });
    let data = Data::Quantiles([a, b], 1.0 - share);
    let observed = Observed::from_data(Design::Blocks, Scale::Ratio, shown, n, data);
    Some(Draft::new(&cell.key.condition, cell, measure, observed))
}

/// Says why a cell's quantile was not compared, though its times were.
pub(super) fn missing(cell: &Cell, measure: Measure, executions: usize) -> Option<Missing> {
    let wanted = min_values_of_quantile(measure.share()?);
    let name = measure.name();
    let reason = format!(
        "the {name} needs {wanted} executions of each command, and there are {executions}; try a longer --budget"
    );
    Some(Missing::new(cell, &reason))
}
