//! The figures as nodes × columns.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Delivered;
use crate::Figure;
use catalogue::Metric;
use journal::Key;
use stats::{Estimate, Exact, NORMAL_975, mean, quantile_975};

/// The fewest trials whose interval is one of order statistics; with fewer it is Student's.
const ORDERED: usize = 6;

/// A node's figure as logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// As it is reported.
    pub(super) figure: Estimate,
    /// Its logarithm, turned so that more is better.
    pub(super) log: f64,
    /// The logarithm's standard error; NaN where it is not known.
    pub(super) error: f64,
    /// The variance of the trials' logarithms and its degrees of freedom; NaN and 0 where there are not two.
    pub(super) scatter: (f64, f64),
}

/// All of them.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// One figure of each column, for what columns are called.
    pub(super) columns: Vec<&'a Figure>,
    /// By node, then by column.
    pub(super) rows: Vec<Vec<Option<Cell>>>,
}

impl<'a> Table<'a> {
    /// Returns the table of what was delivered; columns stand in the order in which nodes have them.
    pub(super) fn new(delivered: &[Delivered<'a>]) -> Table<'a> {
        Table::with(delivered, Cell::new)
    }

    /// Returns the table of what an operation took.
    pub(super) fn of_energy(delivered: &[Delivered<'a>]) -> Table<'a> {
        Table::with(delivered, |figure| Cell::with(figure, Metric::Time, figure.joules()?))
    }

    fn with(delivered: &[Delivered<'a>], cell: fn(&Figure) -> Option<Cell>) -> Table<'a> {
        let mut places: HashMap<Comparable<'a>, usize> = HashMap::new();
        let mut columns: Vec<&'a Figure> = Vec::new();
        let mut rows: Vec<Vec<Option<Cell>>> = Vec::with_capacity(delivered.len());
        for node in delivered {
            let mut row = vec![None; columns.len()];
            for figure in node.summary.figures.iter().filter(|figure| !figure.cell.control) {
                let place = *places.entry(key(figure)).or_insert_with(|| {
                    columns.push(figure);
                    columns.len() - 1
                });
                if row.len() <= place {
                    row.resize(place + 1, None);
                }
                row[place] = row[place].or_else(|| cell(figure));
            }
            rows.push(row);
        }
        rows.iter_mut().for_each(|row| row.resize(columns.len(), None));
        Table { columns, rows }
    }

    /// Returns the cells of some nodes, by column and node.
    pub(super) fn cells(&self, nodes: &[usize]) -> Vec<Vec<Option<Cell>>> {
        let column = |column: usize| nodes.iter().map(|node| self.rows[*node][column]).collect();
        (0..self.columns.len()).map(column).collect()
    }
}

/// The properties of figures that can be compared.
type Comparable<'a> = (&'a Key, &'a str, Metric);

/// Returns what makes a figure comparable with another.
pub(super) fn key(figure: &Figure) -> Comparable<'_> {
    (&figure.cell.key, &figure.cell.unit, figure.cell.metric)
}

impl Cell {
    fn new(figure: &Figure) -> Option<Cell> {
        Some(Cell { scatter: scatter(figure), ..Cell::with(figure, figure.cell.metric, figure.score)? })
    }

    /// Returns the logarithm of an estimate of a figure; none where it is not positive.
    fn with(figure: &Figure, metric: Metric, estimate: Estimate) -> Option<Cell> {
        if !(estimate.value.is_finite() && estimate.value > 0.0) {
            return None;
        }
        Some(Cell {
            figure: estimate,
            log: turned(metric, estimate.value),
            error: error(&estimate, figure.n),
            scatter: (f64::NAN, 0.0),
        })
    }
}

/// A figure's logarithm, turned so that more is better.
pub(super) fn turned(metric: Metric, figure: f64) -> f64 {
    if metric == Metric::Rate { figure.natural_log() } else { -figure.natural_log() }
}

/// The standard error behind the interval of the logarithm.
fn error(estimate: &Estimate, n: usize) -> f64 {
    if !estimate.bounded() || estimate.low <= 0.0 {
        return f64::NAN;
    }
    // A fleet has millions of figures, so quantiles are computed once.
    static FEW: LazyLock<[f64; ORDERED]> = LazyLock::new(|| std::array::from_fn(|n| quantile_975(n as f64 - 1.0)));
    let quantile = FEW.get(n).copied().unwrap_or(NORMAL_975);
    (estimate.high / estimate.low).natural_log() / 2.0 / quantile
}

/// The variance of the trials' logarithms, with its degrees of freedom.
fn scatter(figure: &Figure) -> (f64, f64) {
    let logs: Vec<f64> =
        figure.samples.iter().map(|sample| sample.value.natural_log()).filter(|log| log.is_finite()).collect();
    let count = logs.len() as f64;
    if logs.len() < 2 {
        return (f64::NAN, 0.0);
    }
    let mean = mean(&logs);
    (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0), count - 1.0)
}
