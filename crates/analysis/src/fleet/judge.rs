//! How far nodes lie from what is typical of their group, and whether that is more than chance.

use super::table::Cell;
use super::{FEWEST, Named, Outlier};
use crate::Measure;
use crate::compare::RATE;
use stats::{Estimate, Exact, NORMAL_975, false_discovery_rates, mean, median, qn, student_p, tail_degrees};

/// Degrees of freedom that the tails of n values over their own Qₙ lack, by simulation.
const LOST: f64 = 3.0;

/// The least that nodes are taken to differ by, in typical standard errors: a few may be alike by luck or by rounding,
/// and intervals of order statistics are wider than they need be.
const LEAST: f64 = 0.5;

/// The verdicts on a group's nodes.
#[derive(Debug)]
pub(super) struct Verdicts {
    /// In each column.
    pub(super) columns: Vec<Judged>,
    /// In all of them, by the mean of their deviations.
    pub(super) together: Judged,
}

/// The verdicts on a group's nodes in one column, or in all of them.
#[derive(Debug)]
pub(super) struct Judged {
    /// The typical logarithm: the median; NaN of nothing.
    pub(super) centre: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// How nodes differ as they were measured: a robust standard deviation, no less than half of what measuring makes.
    pub(super) scale: f64,
    /// By node of the group, where it has a figure.
    pub(super) deviations: Vec<Option<Deviation>>,
}

/// How far a logarithm lies from the typical one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    /// How far, negative where it is worse.
    pub(super) value: f64,
    /// The standard error of that: of the node's own measurement and of the typical logarithm; NaN where it is not
    /// known.
    pub(super) error: f64,
    /// The standard error of the node's own measurement, which is what places are told apart by: the typical logarithm
    /// is the same for all.
    pub(super) own: f64,
    /// The node's own noise, as variance beyond the common one.
    excess: f64,
    /// How many of the standard deviations that chance makes.
    z: f64,
    /// The two-sided p value; 1 where the group is too small.
    pub(super) p: f64,
}

/// A node's logarithm, its standard error, and its excess of variance.
type Raw = (f64, f64, f64);

impl Deviation {
    /// Returns it in per cent, with the interval of its measurement.
    pub(super) fn percent(&self) -> Estimate {
        let (value, half) = (self.value, NORMAL_975 * self.error);
        Measure::Score.delta(&Estimate { value, low: value - half, high: value + half })
    }
}

/// Judges the `nodes` nodes of a group, whose cells are given by column and node.
pub(super) fn group(cells: &[Vec<Option<Cell>>], nodes: usize) -> Verdicts {
    let noise = noise(cells, nodes);
    let mut columns: Vec<Judged> = cells.iter().map(|cells| column(cells, &noise)).collect();
    let mut together = together(&columns, nodes);
    let all = |column: &Judged| column.deviations.iter().flatten().map(|one| one.z).collect::<Vec<f64>>();
    let degrees = tail_degrees(&columns.iter().flat_map(all).collect::<Vec<f64>>());
    columns.iter_mut().for_each(|column| column.judge(degrees));
    together.judge(degrees);
    Verdicts { columns, together }
}

/// Returns the q values of cells and of nodes over all columns: weighted, so that each of the two kinds has half of the
/// false discoveries, however many cells a node has (Genovese, Roeder & Wasserman 2006).
pub(super) fn rates(cells: &[f64], nodes: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let half = (cells.len() + nodes.len()) as f64 / 2.0;
    let weighted = |p: &[f64]| p.iter().map(|one| one * p.len() as f64 / half).collect::<Vec<f64>>();
    let mut rates = false_discovery_rates(&[weighted(cells), weighted(nodes)].concat());
    let of_nodes = rates.split_off(cells.len());
    (rates, of_nodes)
}

/// The typical standard error of a column.
fn usual(cells: &[Option<Cell>]) -> f64 {
    median(&cells.iter().flatten().map(|cell| cell.error).filter(|error| error.is_finite()).collect::<Vec<f64>>())
}

/// Returns the noise of each node: the median over the columns of the ratio of its standard error to the typical one. A
/// single error of few trials may be small by luck; all of them are not.
fn noise(cells: &[Vec<Option<Cell>>], nodes: usize) -> Vec<f64> {
    let usual: Vec<f64> = cells.iter().map(|cells| usual(cells)).collect();
    let of_node = |node: usize| {
        let ratios = cells.iter().zip(&usual).filter_map(|(cells, usual)| Some(cells[node]?.error / usual));
        median(&ratios.filter(|ratio| ratio.is_finite()).collect::<Vec<f64>>())
    };
    (0..nodes).map(of_node).collect()
}

/// One column; `noise` is by node.
fn column(cells: &[Option<Cell>], noise: &[f64]) -> Judged {
    let usual = usual(cells);
    // A node that was measured as well as others has no excess; nor has one for which that is unknown.
    let excess = |cell: &Cell, noise: f64| (cell.error.max(usual * noise).powi(2) - usual.powi(2)).max(0.0);
    let raw: Vec<Option<Raw>> = (cells.iter().zip(noise))
        .map(|(cell, noise)| cell.map(|cell| (cell.log, cell.error, excess(&cell, *noise))))
        .collect();
    judged(&raw)
}

/// All columns by the mean of their deviations.
fn together(columns: &[Judged], nodes: usize) -> Judged {
    let known = || columns.iter().filter(|column| column.scale.is_finite());
    let usual = known().map(|column| column.scale.powi(2)).sum::<f64>() / (known().count() as f64).powi(2);
    let of_node = |node: usize| -> Option<Raw> {
        let own: Vec<(&Judged, Deviation)> =
            columns.iter().filter_map(|column| Some((column, column.deviations[node]?))).collect();
        let count = own.len() as f64;
        let middle = mean(own.iter().map(|(_, one)| one.value));
        // One that is not known is as large as the others.
        let errors: Vec<f64> = own.iter().map(|(_, one)| one.own.powi(2)).filter(|one| one.is_finite()).collect();
        let error = (mean(errors) / count).sqrt();
        // The mean of fewer columns, or of noisier ones, varies more.
        let variance = own.iter().map(|(column, one)| column.scale.powi(2) + one.excess).sum::<f64>() / count.powi(2);
        (!own.is_empty()).then_some((middle, error, (variance - usual).max(0.0)))
    };
    judged(&(0..nodes).map(of_node).collect::<Vec<_>>())
}

fn judged(raw: &[Option<Raw>]) -> Judged {
    let known = || raw.iter().flatten();
    let values: Vec<f64> = known().map(|one| one.0).collect();
    let errors: Vec<f64> = known().map(|one| one.1).filter(|error| error.is_finite()).collect();
    let centre = median(&values);
    // The maximum of a number and NaN is the number.
    let scale = qn(&values).max(LEAST * median(&errors));
    let error = scale * (std::f64::consts::FRAC_PI_2 / values.len() as f64).sqrt();
    let deviation = |(log, own, excess): Raw| {
        let value = log - centre;
        // Where most figures are equal, chance makes nothing that others could be judged by.
        let z = if scale > 0.0 { value / (scale.powi(2) + error.powi(2) + excess).sqrt() } else { f64::NAN };
        Deviation { value, error: own.hypotenuse(error), own, excess, z, p: 1.0 }
    };
    Judged { centre, error, scale, deviations: raw.iter().map(|one| one.map(deviation)).collect() }
}

impl Verdicts {
    /// Returns true if anything of them could be judged.
    pub(super) fn any(&self) -> bool {
        self.columns
            .iter()
            .chain([&self.together])
            .any(|judged| judged.deviations.iter().flatten().filter(|one| one.z.is_finite()).count() >= FEWEST)
    }
}

impl Judged {
    /// Finds the p values, of tails with `degrees` of freedom at most.
    fn judge(&mut self, degrees: f64) {
        let count = self.deviations.iter().flatten().count();
        if count < FEWEST {
            return;
        }
        let degrees = degrees.min(count as f64 - LOST);
        self.deviations.iter_mut().flatten().for_each(|one| one.p = student_p(one.z, degrees));
    }
}

/// Returns the typical logarithm of any cells, with its standard error.
pub(super) fn typical(cells: &[Option<Cell>]) -> (f64, f64) {
    let judged = column(cells, &vec![1.0; cells.len()]);
    (judged.centre, judged.error)
}

/// A group as it is judged.
pub(super) struct Family {
    /// Its name.
    pub(super) name: String,
    /// The places of its nodes in what was delivered.
    pub(super) nodes: Vec<usize>,
    /// Their verdicts.
    pub(super) verdicts: Verdicts,
}

/// Sorts what is named: the slow ones by how far they lie, then the fast ones.
pub(super) fn gravest_first(found: &mut [Outlier]) {
    found.sort_by(|a, b| {
        let slow = |one: &Outlier| one.named == Named::Slow;
        slow(b)
            .cmp(&slow(a))
            .then_with(|| b.deviation.value.abs().total_cmp(&a.deviation.value.abs()))
            .then_with(|| (a.node, a.column).cmp(&(b.node, b.column)))
    });
}

/// Returns the way in which a deviation in per cent is named; `None` if it is not.
pub(super) fn named(deviation: f64, q: f64, threshold: f64) -> Option<Named> {
    let beyond = q <= RATE && deviation.abs() > threshold;
    beyond.then_some(if deviation < 0.0 { Named::Slow } else { Named::Fast })
}
