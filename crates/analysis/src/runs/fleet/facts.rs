//! Facts that slow nodes share, and facts in which nodes differ at all.
//!
//! In addition to its facts a summary has four properties, which are examined like facts: whether
//! other guests or other programs disturbed the run, the build of its programs, and its tool.
//!
//! A *trait* is a value that slow nodes have more often than the others of their groups:
//!
//! 1. Every value of every fact that differs is a candidate ([`candidate`]), by Fisher's exact
//!    test. Of numbers that nearly every node has its own value of, the lowest and the highest
//!    quarter are candidates ([`quarters`]).
//! 2. All candidates get q values over the report ([`traits`]).
//! 3. Those beyond chance are shown, and those that all slow nodes have and hardly any other
//!    ([`is_shown`]).

use std::collections::HashMap;

use super::{Delivered, Differing, Trait};
use crate::figures::Remark;
use crate::findings::Summary;
use journal::Quantity;
use stats::{false_discovery_rates, fisher_p};
use words::Grouped;

/// The properties that a summary has in addition to its facts: disturbances while it was measured,
/// its programs and its tool.
pub(super) const PROPERTIES: [&str; 4] = [STEAL, FOREIGN, BUILD, TOOL];
const STEAL: &str = "neighbours.steal";
const FOREIGN: &str = "neighbours.processes";
const BUILD: &str = "run.build";
const TOOL: &str = "run.tool";

/// The labels of [`PROPERTIES`].
const PROPERTY_LABELS: [&str; 4] =
    ["Other guests, steal", "Other programs", "Programs, build", "Tool"];

/// The value of either disturbance where there was one.
const DISTURBED: &str = "disturbed";

/// Values of a fact that a report lists.
const MAX_LISTED_VALUES: usize = 12;

/// Largest p value of a trait that is shown as beyond chance.
const MAX_SHOWN_P: f64 = 0.05;

/// A trait of all slow nodes is shown, however few they are, if at most one in this many of the
/// other nodes has it.
const RARE_ONE_IN: usize = 10;

/// The value of one of [`PROPERTIES`], or of a fact.
pub(super) fn value<'a>(summary: &'a Summary, name: &str) -> Option<&'a str> {
    property(summary, name).or_else(|| summary.facts.value(name))
}

/// The value of one of [`PROPERTIES`].
fn property<'a>(summary: &'a Summary, name: &str) -> Option<&'a str> {
    let disturbance = |is_sign: fn(&Remark) -> bool| {
        let mut remarks = summary.figures.iter().flat_map(|figure| &figure.warnings);
        Some(if remarks.any(is_sign) { DISTURBED } else { "quiet" })
    };
    match name {
        STEAL => disturbance(|remark| matches!(remark, Remark::Steal { .. })),
        FOREIGN => disturbance(|remark| matches!(remark, Remark::Foreign { .. })),
        BUILD => summary.run.build.as_ref().map(|build| build.hash.as_str()),
        TOOL => Some(&summary.run.tool),
        _ => None,
    }
}

/// One fact, or property, over the nodes.
struct FactOfNodes<'a> {
    name: &'a str,
    label: &'a str,
    /// Its place among the facts of the first node that has it.
    place: usize,
    /// True if it holds for a moment only.
    is_of_a_moment: bool,
    /// By node; `None` if it is not known.
    values: Vec<Option<&'a str>>,
    /// By node; `None` if it is not known, or not a number.
    quantities: Vec<Option<&'a Quantity>>,
}

impl<'a> FactOfNodes<'a> {
    fn unknown(name: &'a str, label: &'a str, place: usize, nodes: usize) -> FactOfNodes<'a> {
        FactOfNodes {
            name,
            label,
            place,
            is_of_a_moment: false,
            values: vec![None; nodes],
            quantities: vec![None; nodes],
        }
    }

    /// True if it is unknown on a node, or differs between nodes.
    fn differs(&self) -> bool {
        self.values.contains(&None) || self.values.windows(2).any(|two| two[0] != two[1])
    }

    fn known(&self) -> usize {
        self.values.iter().flatten().count()
    }
}

/// How many slow nodes and how many others have something.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    slow: usize,
    others: usize,
}

impl Tally {
    /// Counts nodes, of which it is known whether they are slow.
    fn count(nodes: impl IntoIterator<Item = bool>) -> Tally {
        let mut tally = Tally::default();
        for is_slow in nodes {
            if is_slow {
                tally.slow += 1;
            } else {
                tally.others += 1;
            }
        }
        tally
    }

    fn nodes(self) -> usize {
        self.slow + self.others
    }
}

/// The facts in which nodes differ, in the order of reports. Facts of a moment are left out: they
/// always differ.
pub(super) fn differing(delivered: &[Delivered<'_>]) -> Vec<Differing> {
    // Only the number of nodes with a value is listed, so it does not matter which are slow.
    let none_is_slow = vec![false; delivered.len()];
    let mut differing = Vec::new();
    for fact in facts_of_nodes(delivered) {
        if fact.is_of_a_moment || !fact.differs() {
            continue;
        }

        let tallies = tally_values(&fact, &none_is_slow);
        let listed = tallies.iter().take(MAX_LISTED_VALUES);
        differing.push(Differing {
            name: fact.name.to_owned(),
            label: fact.label.to_owned(),
            distinct: tallies.len(),
            values: listed.map(|(value, tally)| ((*value).to_owned(), tally.nodes())).collect(),
            unknown: fact.values.len() - fact.known(),
        });
    }
    differing
}

/// The values that the slow nodes of `delivered` have in common more than the others, least p
/// first. `slow` is by node.
pub(super) fn traits(delivered: &[Delivered<'_>], slow: &[bool]) -> Vec<Trait> {
    let mut traits: Vec<Trait> = Vec::new();
    for fact in facts_of_nodes(delivered).iter().filter(|fact| fact.differs()) {
        let tallies = tally_values(fact, slow);
        let is_nearly_unique = 2 * tallies.len() > fact.known();
        if fact.is_of_a_moment || is_nearly_unique {
            traits.extend(quarters(fact, slow));
        } else {
            let values = tallies.into_iter();
            traits.extend(
                values.map(|(value, tally)| candidate(fact, value.to_owned(), tally, slow)),
            );
        }
    }
    // That nothing disturbed a node makes it no slower.
    traits.retain(|candidate| {
        !candidate.name.starts_with("neighbours.") || candidate.value == DISTURBED
    });

    let p: Vec<f64> = traits.iter().map(|candidate| candidate.p).collect();
    for (candidate, q) in traits.iter_mut().zip(false_discovery_rates(&p)) {
        candidate.q = q;
    }
    traits.retain(is_shown);
    traits.sort_by(|a, b| {
        a.p.total_cmp(&b.p)
            .then_with(|| b.slow_with.cmp(&a.slow_with))
            .then_with(|| a.name.cmp(&b.name))
    });
    traits
}

/// True for a trait of two slow nodes or of all, if it is beyond chance, or if all slow nodes have
/// it and hardly any other.
fn is_shown(candidate: &Trait) -> bool {
    let is_of_all_slow = candidate.slow_with == candidate.slow && candidate.slow > 0;
    if candidate.slow_with < 2 && !is_of_all_slow {
        return false;
    }

    let is_rare = candidate.others_with * RARE_ONE_IN <= candidate.others;
    candidate.p <= MAX_SHOWN_P || is_of_all_slow && is_rare
}

/// The facts of all nodes in the order of reports, each node's [`PROPERTIES`] after its facts.
fn facts_of_nodes<'a>(delivered: &[Delivered<'a>]) -> Vec<FactOfNodes<'a>> {
    let nodes = delivered.len();
    let mut by_name: HashMap<&str, FactOfNodes<'a>> = HashMap::new();
    for (node, Delivered { summary, .. }) in delivered.iter().enumerate() {
        for (place, fact) in summary.facts.iter().enumerate() {
            let entry = by_name
                .entry(&fact.name)
                .or_insert_with(|| FactOfNodes::unknown(&fact.name, &fact.label, place, nodes));
            entry.is_of_a_moment = fact.is_of_a_moment();
            entry.values[node] = Some(&fact.value);
            entry.quantities[node] = fact.quantity.as_ref();
        }

        let properties = PROPERTIES.into_iter().zip(PROPERTY_LABELS);
        for (place, (name, label)) in (summary.facts.len()..).zip(properties) {
            let Some(value) = value(summary, name) else { continue };
            let entry = by_name
                .entry(name)
                .or_insert_with(|| FactOfNodes::unknown(name, label, place, nodes));
            entry.values[node] = Some(value);
        }
    }

    let mut facts: Vec<FactOfNodes<'a>> = by_name.into_values().collect();
    facts.sort_by_key(|fact| (fact.place, fact.name));
    facts
}

/// The values of a fact with the nodes that have them, most nodes first.
fn tally_values<'a>(fact: &FactOfNodes<'a>, slow: &[bool]) -> Vec<(&'a str, Tally)> {
    let known =
        fact.values.iter().zip(slow).filter_map(|(value, is_slow)| Some(((*value)?, *is_slow)));
    let mut tallies: Vec<(&str, Tally)> =
        known.grouped().into_iter().map(|(value, slow)| (value, Tally::count(slow))).collect();
    tallies.sort_by(|a, b| b.1.nodes().cmp(&a.1.nodes()).then_with(|| a.0.cmp(b.0)));
    tallies
}

/// A value as a trait, `with` the nodes that have it; its q value is found later.
fn candidate(fact: &FactOfNodes<'_>, value: String, with: Tally, slow: &[bool]) -> Trait {
    let all = Tally::count(slow.iter().copied());
    Trait {
        name: fact.name.to_owned(),
        label: fact.label.to_owned(),
        value,
        slow_with: with.slow,
        slow: all.slow,
        others_with: with.others,
        others: all.others,
        p: fisher_p((with.slow, all.slow), (with.others, all.others)),
        q: 1.0,
    }
}

/// The lowest and the highest quarter of a number as traits; none of a fact that is not a number of
/// one unit on every node that has it, or of fewer than four nodes.
fn quarters(fact: &FactOfNodes<'_>, slow: &[bool]) -> Vec<Trait> {
    let nodes = fact.quantities.iter().zip(slow);
    let mut numbers: Vec<(&Quantity, bool)> =
        nodes.filter_map(|(quantity, is_slow)| Some(((*quantity)?, *is_slow))).collect();
    numbers.sort_by(|a, b| a.0.number.total_cmp(&b.0.number));

    let quarter = numbers.len() / 4;
    let has_one_unit = numbers.windows(2).all(|two| two[0].0.unit == two[1].0.unit);
    if quarter == 0 || numbers.len() < fact.known() || !has_one_unit {
        return Vec::new();
    }

    let low = numbers[quarter - 1].0;
    let high = numbers[numbers.len() - quarter].0;
    // Nodes with the same number as the quarter's last belong to it.
    let in_lowest = numbers.iter().filter(|(quantity, _)| quantity.number <= low.number);
    let in_highest = numbers.iter().filter(|(quantity, _)| quantity.number >= high.number);
    let in_lowest = Tally::count(in_lowest.map(|(_, is_slow)| *is_slow));
    let in_highest = Tally::count(in_highest.map(|(_, is_slow)| *is_slow));
    vec![
        candidate(fact, format!("at most {low}"), in_lowest, slow),
        candidate(fact, format!("at least {high}"), in_highest, slow),
    ]
}
