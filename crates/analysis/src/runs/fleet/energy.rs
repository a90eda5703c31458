//! Which nodes take more energy than others of their group for the same work. Judged for itself, so
//! that what is called slow does not depend on whether energy could be read.

use super::judge::{JudgedGroup, judge_group, named};
use super::table::Table;
use super::{Delivered, Named, Taken};
use crate::products::comparison::inverse;
use journal::Fact;
use stats::{Exact, false_discovery_rates, mean};
use words::Grouped;

/// The energy that each node took, in the order in which they were delivered; `None` where it is
/// not known. Nodes are compared within their group, with those whose energy comes from the same
/// source.
pub(super) fn energy_taken(
    delivered: &[Delivered<'_>],
    groups: &[JudgedGroup],
    threshold: f64,
) -> Vec<Option<Taken>> {
    let table = Table::of_energy(delivered);
    let mut taken: Vec<Option<Taken>> = vec![None; delivered.len()];
    let mut judged: Vec<usize> = Vec::new();
    for group in groups {
        for nodes in group_by_source(delivered, &group.nodes) {
            let verdicts = judge_group(&table.cells(&nodes), nodes.len());
            for (node, deviation) in nodes.iter().zip(&verdicts.together.by_node) {
                let Some(deviation) = deviation else { continue };
                taken[*node] = Some(Taken {
                    watts: mean_watts(&delivered[*node]),
                    excess: inverse(deviation.to_percent()),
                    p: deviation.p,
                    q: 1.0,
                    named: None,
                });
            }
            if verdicts.are_any() {
                judged.extend(nodes);
            }
        }
    }

    // Only nodes that could be judged count among the p values of the report.
    judged.retain(|node| taken[*node].is_some());
    let p: Vec<f64> = judged.iter().filter_map(|node| Some(taken[*node]?.p)).collect();
    for (node, q) in judged.into_iter().zip(false_discovery_rates(&p)) {
        if let Some(taken) = &mut taken[node] {
            taken.q = q;
            // More energy is worse.
            taken.named = named(-taken.excess.value, q, threshold);
        }
    }
    taken
}

/// The nodes of a group by the source of their energy, without those that have none.
fn group_by_source(delivered: &[Delivered<'_>], nodes: &[usize]) -> Vec<Vec<usize>> {
    nodes
        .iter()
        .filter_map(|node| Some((delivered[*node].summary.facts.value(Fact::ENERGY)?, *node)))
        .grouped()
        .into_iter()
        .map(|(_, nodes)| nodes)
        .collect()
}

/// The geometric mean of a node's power over the tests whose energy is known.
fn mean_watts(node: &Delivered<'_>) -> f64 {
    let figures = node.summary.figures.iter();
    let known = figures.filter(|figure| !figure.cell.control && figure.joules().is_some());
    let logs = known.filter_map(|figure| Some(figure.energy.as_deref()?.watts.value.natural_log()));
    mean(logs).exponential()
}

impl Named {
    /// The word for it in reports on energy.
    pub fn of_energy(self) -> &'static str {
        match self {
            Named::Slow => "more",
            Named::Fast => "less",
        }
    }
}
