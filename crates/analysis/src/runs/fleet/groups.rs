//! Which nodes are compared with each other.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};

use super::facts::{PROPERTIES, value};
use super::{By, Delivered};
use crate::findings::Summary;
use words::{Grouped, nearest};

/// The stand-in for a fact that is not known.
pub(super) const UNKNOWN: &str = "unknown";

/// Nodes that are compared with each other.
pub(super) struct Members {
    pub(super) name: String,
    /// The places of its nodes in what was delivered.
    pub(super) nodes: Vec<usize>,
}

/// The groups of the nodes: largest first, those of one size by name.
///
/// # Errors
/// No node has the fact by which they are to be grouped.
pub(super) fn group_nodes(delivered: &[Delivered<'_>], by: &By) -> Result<Vec<Members>> {
    if let By::Fact(fact) = by {
        check_fact(delivered, fact)?;
    }

    let names = delivered.iter().map(|node| group_name(node.summary, by));
    let places = names.enumerate().map(|(place, name)| (name, place));
    let mut groups: Vec<Members> =
        places.grouped().into_iter().map(|(name, nodes)| Members { name, nodes }).collect();
    groups.sort_by(|a, b| b.nodes.len().cmp(&a.nodes.len()).then_with(|| a.name.cmp(&b.name)));
    Ok(groups)
}

/// What makes the groups, in words.
pub(super) fn criterion(by: &By) -> &str {
    match by {
        By::Machine => "type of machine",
        By::Nothing => "nothing",
        By::Fact(fact) => fact,
    }
}

/// The name of the group that a node belongs to.
fn group_name(summary: &Summary, by: &By) -> String {
    match by {
        By::Machine => machine_type(summary),
        By::Nothing => "all nodes".to_owned(),
        By::Fact(fact) => value(summary, fact).unwrap_or(UNKNOWN).to_owned(),
    }
}

/// Processor, number of CPUs and model (or hypervisor), such as `AMD EPYC, 2 CPUs, KVM`.
fn machine_type(summary: &Summary) -> String {
    let processor = summary.facts.value("cpu.model").unwrap_or("unknown processor").to_owned();
    let cpus = (summary.run.cpus > 0).then(|| words::count(summary.run.cpus, "CPU"));
    // Clouds report the instance's type as the model.
    let model = summary
        .facts
        .value("system.model")
        .or_else(|| summary.facts.value("system.virtualisation"))
        .map(str::to_owned);

    let parts: Vec<String> = [Some(processor), cpus, model].into_iter().flatten().collect();
    parts.join(", ")
}

/// Refuses a fact that no node has.
fn check_fact(delivered: &[Delivered<'_>], name: &str) -> Result<()> {
    if delivered.iter().any(|node| value(node.summary, name).is_some()) {
        return Ok(());
    }

    let facts = delivered.iter().flat_map(|node| &node.summary.facts);
    let names: BTreeSet<&str> = facts.map(|fact| fact.name.as_str()).chain(PROPERTIES).collect();
    Err(match nearest(name, names.into_iter()) {
        Some(near) => anyhow!("no node has the fact '{name}'; did you mean '{near}'?"),
        None => anyhow!("no node has the fact '{name}'; try kernel.release, cpu.microcode or none"),
    })
}
