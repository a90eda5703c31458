//! Which nodes are compared with each other.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};

use super::facts::{OWN, value};
use super::{By, Delivered};
use crate::Summary;
use words::{Grouped, nearest};

/// The stand-in for a fact that is not known.
pub(super) const UNKNOWN: &str = "unknown";

/// A group's name and the places of its nodes.
pub(super) type Members = (String, Vec<usize>);

/// Returns what makes the groups, in words, and the groups: largest first, those of one size by name.
///
/// # Errors
/// No node has the fact.
pub(super) fn grouped(delivered: &[Delivered<'_>], by: &By) -> Result<(String, Vec<Members>)> {
    if let By::Fact(fact) = by {
        known(delivered, fact)?;
    }
    let words = match by {
        By::Machine => "type of machine",
        By::Nothing => "nothing",
        By::Fact(fact) => fact,
    };
    let name = |summary: &Summary| match by {
        By::Machine => machine(summary),
        By::Nothing => "all nodes".to_owned(),
        By::Fact(fact) => value(summary, fact).unwrap_or(UNKNOWN).to_owned(),
    };
    let mut groups: Vec<Members> =
        delivered.iter().enumerate().map(|(place, node)| (name(node.summary), place)).grouped();
    groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    Ok((words.to_owned(), groups))
}

/// The type of a machine: clouds tell the instance's type as its model.
fn machine(summary: &Summary) -> String {
    let cpus = (summary.run.cpus > 0).then(|| words::count(summary.run.cpus, "CPU"));
    let kind = summary.facts.value("system.model").or_else(|| summary.facts.value("system.virtualisation"));
    let model = summary.facts.value("cpu.model").unwrap_or("unknown processor");
    [Some(model.to_owned()), cpus, kind.map(str::to_owned)].into_iter().flatten().collect::<Vec<String>>().join(", ")
}

fn known(delivered: &[Delivered<'_>], name: &str) -> Result<()> {
    if delivered.iter().any(|node| value(node.summary, name).is_some()) {
        return Ok(());
    }
    let names: BTreeSet<&str> =
        delivered.iter().flat_map(|node| &node.summary.facts).map(|fact| fact.name.as_str()).chain(OWN).collect();
    Err(match nearest(name, names.into_iter()) {
        Some(near) => anyhow!("no node has the fact '{name}'; did you mean '{near}'?"),
        None => anyhow!("no node has the fact '{name}'; try kernel.release, cpu.microcode or none"),
    })
}
