//! The effect of a machine whose speed wanders on intervals: trials close in time resemble each
//! other, and so are worth less than as many independent ones.

use std::collections::HashMap;

use crate::figures::{Drifting, Figure, Measure, Widening, is_printed};
use journal::Key;
use stats::{Drift, Estimate, Exact, Timed, median};

impl Drifting {
    /// Widens the intervals of the rows by `drift`; returns what that did.
    pub(crate) fn widen(drift: &Drift, rows: &mut [Figure]) -> Drifting {
        let cells_at_level = cells_at_level(rows);
        let mut widenings = Vec::new();
        for (row, cells) in rows.iter_mut().zip(cells_at_level) {
            if row.samples.len() < 2 {
                continue;
            }
            let times: Vec<f64> = row.samples.iter().map(|sample| sample.at).collect();
            row.widening = Widening::new(drift, &times, cells);

            // The interval of executions already allows for what wanders from one to the next.
            let is_of_executions = row.executed.is_some() || is_printed(&row.cell);
            if !is_of_executions {
                row.score = widened(&row.score, row.widening.alone);
                widenings.push(row.widening.alone);
            }
            if let Some(energy) = &mut row.energy
                && let Some(joules) = &mut energy.per_operation
            {
                *joules = widened(joules, row.widening.alone);
            }
        }

        let (share, seconds) = drift.most_likely();
        let widening = if widenings.is_empty() { 1.0 } else { median(&widenings) };
        Drifting { share, seconds, widening }
    }
}

/// For each row, the number of rows at its level, itself included.
fn cells_at_level(rows: &[Figure]) -> Vec<f64> {
    let levels: Vec<Key> =
        rows.iter().map(|row| Key { test: String::new(), ..row.cell.key.clone() }).collect();
    let mut counts: HashMap<&Key, u32> = HashMap::new();
    for level in &levels {
        *counts.entry(level).or_default() += 1;
    }
    levels.iter().map(|level| f64::from(counts[level])).collect()
}

/// The drift that the trials of the rows show; `None` if they are too few.
pub(crate) fn common(rows: &[Figure]) -> Option<Drift> {
    Drift::new(&rows.iter().map(timed).collect::<Vec<Vec<Timed>>>())
}

/// The trials of a row as logarithms that fall when the machine is slow: it has low rates and long
/// times. None if one of them has no logarithm, as what a program prints may be 0.
fn timed(row: &Figure) -> Vec<Timed> {
    if row.samples.iter().any(|sample| sample.value <= 0.0) {
        return Vec::new();
    }
    let timed = row.samples.iter().map(|sample| {
        let value = Measure::Score.goodness(row.cell.metric, sample.value);
        Timed { at: sample.at, value }
    });
    timed.collect()
}

/// The estimate with each end `factor` times as far from the value, in logarithms.
fn widened(estimate: &Estimate, factor: f64) -> Estimate {
    let Estimate { value, low, high } = *estimate;
    if !(estimate.bounded() && low > 0.0) {
        return *estimate;
    }
    let [low, high] = [low, high].map(|end| value * (end / value).to_the_power(factor));
    Estimate { value, low, high }
}
