//! How far nodes lie from what is typical of their group, and whether that is more than chance.

use super::FEWEST;
use super::table::Cell;
use crate::stats::{Estimate, Outlying, median, outlying};

/// Half-widths of 95 % intervals in standard errors.
const NORMAL_975: f64 = 1.96;

/// What a group's nodes come to in one column, or in all of them.
#[derive(Debug)]
pub(super) struct Judged {
    /// The typical logarithm; NaN of nothing.
    pub(super) centre: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// How nodes differ as they were measured: a robust standard deviation.
    pub(super) scale: f64,
    /// By node of the group: its deviation and the p value, where it has a figure.
    pub(super) deviations: Vec<Option<Deviation>>,
}

/// How far a logarithm lies from the typical one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    /// How far, negative where it is worse.
    pub(super) value: f64,
    /// The standard error of that as it was measured; NaN where it is not known.
    pub(super) error: f64,
    /// What the node's own noise adds to the variance that all have.
    pub(super) excess: f64,
    /// The two-sided p value; 1 where the group is too small.
    pub(super) p: f64,
}

impl Deviation {
    /// Returns it in per cent.
    pub(super) fn percent(&self) -> Estimate {
        percent(self.value, self.error)
    }
}

/// Returns a logarithm as a difference in per cent, with its interval.
pub(super) fn percent(value: f64, error: f64) -> Estimate {
    let of = |log: f64| 100.0 * log.exp_m1();
    let half = NORMAL_975 * error;
    if half.is_finite() {
        Estimate { value: of(value), low: of(value - half), high: of(value + half) }
    } else {
        Estimate::alone(of(value))
    }
}

/// Judges a column's cells of one group.
pub(super) fn column(cells: &[Option<Cell>]) -> Judged {
    let errors: Vec<f64> = cells.iter().flatten().map(|cell| cell.error).filter(|error| error.is_finite()).collect();
    let usual = median(&errors).powi(2);
    // A node that was measured as well as others has no excess; nor has one of which that is not known.
    let excess = |cell: &Cell| (cell.error.powi(2) - usual).max(0.0);
    let logs: Vec<Option<(f64, f64, f64)>> =
        cells.iter().map(|cell| cell.map(|cell| (cell.log, cell.error, excess(&cell)))).collect();
    judged(&logs)
}

/// Judges the nodes of a group over all columns by the mean of their deviations.
pub(super) fn together(columns: &[Judged], nodes: usize) -> Judged {
    let all: f64 = columns.iter().filter(|column| column.scale.is_finite()).map(|column| column.scale.powi(2)).sum();
    let usual = all / (columns.len() as f64).powi(2);
    let of_node = |node: usize| {
        let own: Vec<(&Judged, Deviation)> =
            columns.iter().filter_map(|column| Some((column, column.deviations[node]?))).collect();
        let count = own.len() as f64;
        let mean = own.iter().map(|(_, one)| one.value).sum::<f64>() / count;
        let error = own.iter().map(|(_, one)| one.error.powi(2)).sum::<f64>().sqrt() / count;
        // The mean of fewer columns, or of noisier ones, varies more.
        let variance = own.iter().map(|(column, one)| column.scale.powi(2) + one.excess).sum::<f64>() / count.powi(2);
        (!own.is_empty()).then_some((mean, error, (variance - usual).max(0.0)))
    };
    judged(&(0..nodes).map(of_node).collect::<Vec<_>>())
}

fn judged(logs: &[Option<(f64, f64, f64)>]) -> Judged {
    let known: Vec<(f64, f64, f64)> = logs.iter().flatten().copied().collect();
    let values: Vec<f64> = known.iter().map(|one| one.0).collect();
    let excess: Vec<f64> = known.iter().map(|one| one.2).collect();
    let Outlying { centre, error, scale, p } = outlying(&values, &excess);
    let judges = known.len() >= FEWEST;
    let mut p = p.into_iter();
    let deviations = logs.iter().map(|one| {
        let (value, own, excess) = (*one)?;
        let p = p.next().filter(|_| judges).unwrap_or(1.0);
        Some(Deviation { value: value - centre, error: own.hypot(error), excess, p })
    });
    Judged { centre, error, scale, deviations: deviations.collect() }
}
