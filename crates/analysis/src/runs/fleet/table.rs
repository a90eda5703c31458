//! The figures of a fleet as a table: a row per node, a column per cell of the runs.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Delivered;
use crate::figures::Figure;
use catalogue::Metric;
use journal::Key;
use stats::{Estimate, Exact, NORMAL_975, mean, quantile_975};

/// Fewest trials whose interval is one of order statistics; with fewer it is Student's.
const MIN_TRIALS_FOR_RANKS: usize = 6;

/// A node's figure as a logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// As it is reported.
    pub(super) figure: Estimate,
    /// Its logarithm, turned so that more is better.
    pub(super) log: f64,
    /// The standard error of the logarithm; NaN where it is not known.
    pub(super) error: f64,
    /// How its trials scatter.
    pub(super) scatter: Scatter,
}

/// The scatter of trials as logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scatter {
    /// NaN of fewer than two trials.
    pub(super) variance: f64,
    /// Degrees of freedom; 0 of fewer than two trials.
    pub(super) degrees: f64,
}

impl Scatter {
    const UNKNOWN: Scatter = Scatter { variance: f64::NAN, degrees: 0.0 };
}

/// The figures of all nodes.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// One figure of each column, for what the column is called.
    pub(super) columns: Vec<&'a Figure>,
    /// By node, then by column.
    pub(super) rows: Vec<Vec<Option<Cell>>>,
}

impl<'a> Table<'a> {
    /// The scores of the nodes, with the columns in the order in which nodes first have them.
    pub(super) fn new(delivered: &[Delivered<'a>]) -> Table<'a> {
        Table::build(delivered, Cell::of_score)
    }

    /// The energy that an operation took on each node.
    pub(super) fn of_energy(delivered: &[Delivered<'a>]) -> Table<'a> {
        Table::build(delivered, |figure| Cell::new(figure, Metric::Time, figure.joules()?))
    }

    fn build(delivered: &[Delivered<'a>], to_cell: fn(&Figure) -> Option<Cell>) -> Table<'a> {
        let mut places: HashMap<ColumnKey<'a>, usize> = HashMap::new();
        let mut columns: Vec<&'a Figure> = Vec::new();
        let mut rows: Vec<Vec<Option<Cell>>> = Vec::with_capacity(delivered.len());
        for node in delivered {
            let mut row = vec![None; columns.len()];
            for figure in node.summary.figures.iter().filter(|figure| !figure.cell.control) {
                let place = *places.entry(ColumnKey::new(figure)).or_insert_with(|| {
                    columns.push(figure);
                    columns.len() - 1
                });
                if row.len() <= place {
                    row.resize(place + 1, None);
                }
                row[place] = row[place].or_else(|| to_cell(figure));
            }
            rows.push(row);
        }

        // Earlier rows lack the columns that only later nodes have.
        for row in &mut rows {
            row.resize(columns.len(), None);
        }
        Table { columns, rows }
    }

    /// The cells of some nodes, by column and node.
    pub(super) fn cells(&self, nodes: &[usize]) -> Vec<Vec<Option<Cell>>> {
        (0..self.columns.len())
            .map(|column| nodes.iter().map(|node| self.rows[*node][column]).collect())
            .collect()
    }
}

/// What figures must share to stand in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ColumnKey<'a> {
    key: &'a Key,
    unit: &'a str,
    metric: Metric,
}

impl ColumnKey<'_> {
    pub(super) fn new(figure: &Figure) -> ColumnKey<'_> {
        let cell = &figure.cell;
        ColumnKey { key: &cell.key, unit: &cell.unit, metric: cell.metric }
    }
}

impl Cell {
    fn of_score(figure: &Figure) -> Option<Cell> {
        let cell = Cell::new(figure, figure.cell.metric, figure.score)?;
        Some(Cell { scatter: scatter(figure), ..cell })
    }

    /// An estimate of a figure as a logarithm; `None` where it is not positive.
    fn new(figure: &Figure, metric: Metric, estimate: Estimate) -> Option<Cell> {
        if !(estimate.value.is_finite() && estimate.value > 0.0) {
            return None;
        }
        Some(Cell {
            figure: estimate,
            log: to_log(metric, estimate.value),
            error: standard_error(&estimate, figure.n),
            scatter: Scatter::UNKNOWN,
        })
    }
}

/// The logarithm of a figure, turned so that more is better.
pub(super) fn to_log(metric: Metric, figure: f64) -> f64 {
    if metric == Metric::Rate { figure.natural_log() } else { -figure.natural_log() }
}

/// The standard error of the logarithm, from the interval of `trials` trials.
fn standard_error(estimate: &Estimate, trials: usize) -> f64 {
    if !estimate.bounded() || estimate.low <= 0.0 {
        return f64::NAN;
    }

    // A fleet has millions of figures, so Student's quantiles are computed once.
    static STUDENT: LazyLock<[f64; MIN_TRIALS_FOR_RANKS]> =
        LazyLock::new(|| std::array::from_fn(|trials| quantile_975(trials as f64 - 1.0)));
    let quantile = STUDENT.get(trials).copied().unwrap_or(NORMAL_975);
    (estimate.high / estimate.low).natural_log() / 2.0 / quantile
}

fn scatter(figure: &Figure) -> Scatter {
    let logs = figure.samples.iter().map(|sample| sample.value.natural_log());
    let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
    if logs.len() < 2 {
        return Scatter::UNKNOWN;
    }

    let mean = mean(&logs);
    let degrees = logs.len() as f64 - 1.0;
    let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
    Scatter { variance: squares / degrees, degrees }
}
