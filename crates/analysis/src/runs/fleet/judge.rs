//! How far nodes lie from what is typical of their group, and whether that is more than chance.
//!
//! A group is judged in each column, and in all columns together, in these steps:
//!
//! 1. *Typical.* The median logarithm of the nodes, and how they scatter about it: Qₙ, a robust
//!    standard deviation, so that slow nodes hardly widen it ([`deviations`]).
//! 2. *Noisy nodes.* A node that was measured worse than others may lie further away, by as much as
//!    its variance exceeds the usual one ([`noise_by_node`]).
//! 3. *Together.* The mean of a node's deviations over the columns is judged as one more column
//!    ([`deviations_together`]).
//! 4. *Chance.* Deviations in units of their standard deviation follow Student's t. Its degrees of
//!    freedom come from the tails of all columns, but are no more than the nodes allow
//!    ([`Deviations::add_p`]).
//! 5. *Names.* q values over the whole report ([`q_values`]) and the threshold decide which nodes
//!    are named ([`named`]).

use super::table::Cell;
use super::{MIN_NODES, Named, Outlier};
use crate::products::comparison::{RATE, Scale};
use stats::{
    Estimate, Exact, NORMAL_975, false_discovery_rates, mean, median, qn, student_p, tail_degrees,
};

/// Degrees of freedom that the tails of n values over their own Qₙ lack, by simulation.
const LOST_DEGREES: f64 = 3.0;

/// Least spread of nodes, in typical standard errors: a few may agree by luck or by rounding, and
/// intervals of order statistics are wider than they need be.
const MIN_SPREAD_OF_ERRORS: f64 = 0.5;

/// A group as it is judged.
pub(super) struct JudgedGroup {
    pub(super) name: String,
    /// The places of its nodes in what was delivered.
    pub(super) nodes: Vec<usize>,
    pub(super) verdicts: Verdicts,
}

/// The verdicts on a group's nodes.
#[derive(Debug)]
pub(super) struct Verdicts {
    /// In each column.
    pub(super) columns: Vec<Deviations>,
    /// In all columns, by the mean of the deviations.
    pub(super) together: Deviations,
}

/// The deviations of a group's nodes in one column, or in all columns together.
#[derive(Debug)]
pub(super) struct Deviations {
    /// The typical logarithm: the median; NaN of nothing.
    pub(super) centre: f64,
    /// The standard error of `centre`.
    pub(super) error: f64,
    /// How nodes differ as they were measured: a robust standard deviation, no less than half of
    /// what measuring adds.
    pub(super) scale: f64,
    /// By node of the group; `None` where it has no figure.
    pub(super) by_node: Vec<Option<Deviation>>,
}

/// How far a logarithm lies from the typical one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    /// The distance, negative where the node is worse.
    pub(super) value: f64,
    /// The standard error of `value`: of the node's own measurement and of the typical logarithm;
    /// NaN where it is not known.
    pub(super) error: f64,
    /// The standard error of the node's own measurement. Ranks use it alone: the typical logarithm
    /// is the same for all nodes.
    pub(super) own_error: f64,
    /// The node's own noise, as variance beyond the common one.
    excess: f64,
    /// `value` in standard deviations; NaN if all nodes are equal.
    z: f64,
    /// The two-sided p value; 1 where the group is too small.
    pub(super) p: f64,
}

/// The logarithm of a node's figure, before it is compared with others.
#[derive(Debug, Clone, Copy)]
struct Measured {
    log: f64,
    /// Its standard error.
    error: f64,
    /// Its noise, as variance beyond the common one.
    excess: f64,
}

impl Deviation {
    /// The deviation in per cent, with the interval of its measurement.
    pub(super) fn to_percent(self) -> Estimate {
        let half = NORMAL_975 * self.error;
        let log = Estimate { value: self.value, low: self.value - half, high: self.value + half };
        Scale::Ratio.delta(&log)
    }
}

/// Judges the `nodes` nodes of a group, whose cells are given by column and node.
pub(super) fn judge_group(cells: &[Vec<Option<Cell>>], nodes: usize) -> Verdicts {
    let noise = noise_by_node(cells, nodes);
    let mut columns: Vec<Deviations> =
        cells.iter().map(|cells| deviations_of_column(cells, &noise)).collect();
    let mut together = deviations_together(&columns, nodes);

    let deviations = columns.iter().flat_map(|column| column.by_node.iter().flatten());
    let z: Vec<f64> = deviations.map(|deviation| deviation.z).collect();
    let degrees = tail_degrees(&z);
    for column in &mut columns {
        column.add_p(degrees);
    }
    together.add_p(degrees);
    Verdicts { columns, together }
}

/// The typical logarithm of cells of any groups, with its standard error.
pub(super) fn typical(cells: &[Option<Cell>]) -> (f64, f64) {
    let deviations = deviations_of_column(cells, &vec![1.0; cells.len()]);
    (deviations.centre, deviations.error)
}

/// The typical standard error of a column.
fn typical_error(cells: &[Option<Cell>]) -> f64 {
    let errors = cells.iter().flatten().map(|cell| cell.error);
    let known: Vec<f64> = errors.filter(|error| error.is_finite()).collect();
    median(&known)
}

/// Step 2: the noise of each node, which is the median over the columns of the ratio of its
/// standard error to the typical one. A single error of few trials may be small by luck; all of
/// them are not.
fn noise_by_node(cells: &[Vec<Option<Cell>>], nodes: usize) -> Vec<f64> {
    let typical: Vec<f64> = cells.iter().map(|cells| typical_error(cells)).collect();
    let mut noise = Vec::new();
    for node in 0..nodes {
        let mut ratios = Vec::new();
        for (cells, typical) in cells.iter().zip(&typical) {
            let ratio = cells[node].map(|cell| cell.error / typical);
            ratios.extend(ratio.filter(|ratio| ratio.is_finite()));
        }
        noise.push(median(&ratios));
    }
    noise
}

/// The deviations in one column; `noise` is by node.
fn deviations_of_column(cells: &[Option<Cell>], noise: &[f64]) -> Deviations {
    let typical = typical_error(cells);
    let measured: Vec<Option<Measured>> = cells
        .iter()
        .zip(noise)
        .map(|(cell, noise)| {
            let cell = (*cell)?;
            // The maximum of NaN and a number is the number. So an error that is not known is what
            // the node's noise makes of the typical one, and a node of unknown noise has no excess;
            // nor has one that was measured as well as others.
            let error = cell.error.max(typical * noise);
            let excess = (error.powi(2) - typical.powi(2)).max(0.0);
            Some(Measured { log: cell.log, error: cell.error, excess })
        })
        .collect();
    deviations(&measured)
}

/// Step 3: the means of the nodes' deviations over the columns, as one more column. A node that
/// lacks columns, or is noisy in some, may lie further away, as in step 2; for this alone the
/// columns are taken to be independent.
fn deviations_together(columns: &[Deviations], nodes: usize) -> Deviations {
    let scales = columns.iter().map(|column| column.scale).filter(|scale| scale.is_finite());
    let count = scales.clone().count() as f64;
    // The variance of such a mean, if the node has a figure in every column and no excess of
    // noise.
    let usual_variance = scales.map(|scale| scale.powi(2)).sum::<f64>() / count.powi(2);

    let measured: Vec<Option<Measured>> =
        (0..nodes).map(|node| measured_together(columns, node, usual_variance)).collect();
    deviations(&measured)
}

/// The mean deviation of a node over the columns in which it has one; `None` if it has none.
fn measured_together(columns: &[Deviations], node: usize, usual_variance: f64) -> Option<Measured> {
    let known: Vec<(&Deviations, Deviation)> =
        columns.iter().filter_map(|column| Some((column, column.by_node[node]?))).collect();
    if known.is_empty() {
        return None;
    }
    let count = known.len() as f64;

    // An error that is not known is taken to be as large as the others.
    let errors = known.iter().map(|(_, deviation)| deviation.own_error.powi(2));
    let errors: Vec<f64> = errors.filter(|error| error.is_finite()).collect();

    // The mean of fewer columns, or of noisier ones, varies more.
    let variances = known.iter().map(|(column, deviation)| column.scale.powi(2) + deviation.excess);
    let variance = variances.sum::<f64>() / count.powi(2);
    Some(Measured {
        log: mean(known.iter().map(|(_, deviation)| deviation.value)),
        error: (mean(errors) / count).sqrt(),
        excess: (variance - usual_variance).max(0.0),
    })
}

/// Step 1, of one column or of the means of step 3: how far each node lies from the median of all.
fn deviations(measured: &[Option<Measured>]) -> Deviations {
    let logs: Vec<f64> = measured.iter().flatten().map(|node| node.log).collect();
    let errors = measured.iter().flatten().map(|node| node.error);
    let errors: Vec<f64> = errors.filter(|error| error.is_finite()).collect();

    let centre = median(&logs);
    // The maximum of a number and NaN is the number.
    let scale = qn(&logs).max(MIN_SPREAD_OF_ERRORS * median(&errors));
    // The standard error of a median of normal values.
    let error = scale * (std::f64::consts::FRAC_PI_2 / logs.len() as f64).sqrt();

    let mut by_node = Vec::new();
    for node in measured {
        let Some(node) = node else {
            by_node.push(None);
            continue;
        };
        let value = node.log - centre;
        let variance = scale.powi(2) + error.powi(2) + node.excess;
        by_node.push(Some(Deviation {
            value,
            error: node.error.hypotenuse(error),
            own_error: node.error,
            excess: node.excess,
            // Where most figures are equal there is no scatter to judge the others by.
            z: if scale > 0.0 { value / variance.sqrt() } else { f64::NAN },
            p: 1.0,
        }));
    }
    Deviations { centre, error, scale, by_node }
}

impl Verdicts {
    /// True if nodes could be judged in any column, or in all together.
    pub(super) fn are_any(&self) -> bool {
        self.columns.iter().chain([&self.together]).any(|column| {
            let deviations = column.by_node.iter().flatten();
            deviations.filter(|deviation| deviation.z.is_finite()).count() >= MIN_NODES
        })
    }
}

impl Deviations {
    /// Step 4: adds the p values, of tails with at most `degrees` of freedom.
    fn add_p(&mut self, degrees: f64) {
        let count = self.by_node.iter().flatten().count();
        if count < MIN_NODES {
            return;
        }

        let degrees = degrees.min(count as f64 - LOST_DEGREES);
        for deviation in self.by_node.iter_mut().flatten() {
            deviation.p = student_p(deviation.z, degrees);
        }
    }
}

/// The q values of a report.
pub(super) struct QValues {
    pub(super) cells: Vec<f64>,
    pub(super) nodes: Vec<f64>,
}

/// The q values of cells and of nodes over all columns, from their p values.
///
/// They are weighted, so that each of the two kinds has half of the false discoveries, however many
/// cells a node has (Genovese, Roeder & Wasserman 2006).
pub(super) fn q_values(cells: &[f64], nodes: &[f64]) -> QValues {
    let half = (cells.len() + nodes.len()) as f64 / 2.0;
    let mut weighted = Vec::new();
    for kind in [cells, nodes] {
        weighted.extend(kind.iter().map(|p| p * kind.len() as f64 / half));
    }

    let mut cell_rates = false_discovery_rates(&weighted);
    let node_rates = cell_rates.split_off(cells.len());
    QValues { cells: cell_rates, nodes: node_rates }
}

/// The name of a deviation in per cent; `None` if it may be chance, or is within the threshold.
pub(super) fn named(deviation: f64, q: f64, threshold: f64) -> Option<Named> {
    let is_beyond = q <= RATE && deviation.abs() > threshold;
    is_beyond.then_some(if deviation < 0.0 { Named::Slow } else { Named::Fast })
}

/// Sorts outliers: the slow ones by how far they lie, then the fast ones.
pub(super) fn sort_gravest_first(outliers: &mut [Outlier]) {
    outliers.sort_by(|a, b| {
        let is_slow = |outlier: &Outlier| outlier.named == Named::Slow;
        is_slow(b)
            .cmp(&is_slow(a))
            .then_with(|| b.deviation.value.abs().total_cmp(&a.deviation.value.abs()))
            .then_with(|| (a.node, a.column).cmp(&(b.node, b.column)))
    });
}
