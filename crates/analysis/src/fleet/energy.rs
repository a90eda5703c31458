//! Which nodes take more energy than others of their group for the same work. Judged for itself, so that what is called
//! slow does not depend on whether energy could be read.

use super::judge::{Family, named};
use super::table::Table;
use super::{Delivered, Named, Taken, judge};
use crate::compare::inverse;
use journal::Fact;
use stats::{Exact, false_discovery_rates, mean};
use words::Grouped;

/// Returns what each node took, where it is known, in the order in which they were delivered. Nodes are compared within
/// their group and with those whose energy comes from the same source.
pub(super) fn taken(delivered: &[Delivered<'_>], families: &[Family], threshold: f64) -> Vec<Option<Taken>> {
    let table = Table::of_energy(delivered);
    let mut found: Vec<Option<Taken>> = vec![None; delivered.len()];
    let mut judged: Vec<usize> = Vec::new();
    for nodes in families.iter().flat_map(|family| alike(delivered, &family.nodes)) {
        let verdicts = judge::group(&table.cells(&nodes), nodes.len());
        for (node, deviation) in nodes.iter().zip(&verdicts.together.deviations) {
            let Some(deviation) = deviation else { continue };
            let (watts, excess) = (watts(&delivered[*node]), inverse(deviation.percent()));
            found[*node] = Some(Taken { watts, excess, p: deviation.p, q: 1.0, named: None });
        }
        judged.extend(verdicts.any().then_some(nodes).into_iter().flatten());
    }
    judged.retain(|node| found[*node].is_some());
    let p: Vec<f64> = judged.iter().filter_map(|node| Some(found[*node]?.p)).collect();
    for (node, q) in judged.into_iter().zip(false_discovery_rates(&p)) {
        if let Some(taken) = &mut found[node] {
            // More of it is worse.
            (taken.q, taken.named) = (q, named(-taken.excess.value, q, threshold));
        }
    }
    found
}

/// Nodes of a group by the source of their energy; not those that have none.
fn alike(delivered: &[Delivered<'_>], nodes: &[usize]) -> Vec<Vec<usize>> {
    let source = |node: &usize| Some((delivered[*node].summary.facts.value(Fact::ENERGY)?, *node));
    nodes.iter().filter_map(source).grouped().into_iter().map(|(_, nodes)| nodes).collect()
}

/// The geometric mean of a node's power over the tests whose energy is known.
fn watts(node: &Delivered<'_>) -> f64 {
    let figures = node.summary.figures.iter().filter(|figure| !figure.cell.control && figure.joules().is_some());
    mean(figures.filter_map(|figure| Some(figure.energy.as_deref()?.watts.value.natural_log()))).exponential()
}

impl Named {
    /// Its word in reports on energy.
    pub fn of_energy(self) -> &'static str {
        match self {
            Named::Slow => "more",
            Named::Fast => "less",
        }
    }
}
