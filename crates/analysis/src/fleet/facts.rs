//! Facts that slow nodes share, and facts in which nodes differ at all.

use std::collections::HashMap;

use super::{Delivered, Differing, Trait};
use crate::{Remark, Summary};
use journal::Quantity;
use stats::{false_discovery_rates, fisher_p};
use words::Grouped;

/// The values of every run beside its facts: what the hypervisor and other processes took while it was
/// measured, its programs and its tool.
pub(super) const OWN: [&str; 4] = [STEAL, FOREIGN, BUILD, TOOL];
const STEAL: &str = "neighbours.steal";
const FOREIGN: &str = "neighbours.processes";
const BUILD: &str = "run.build";
const TOOL: &str = "run.tool";
const LABELS: [&str; 4] = ["Other guests, steal", "Other programs", "Programs, build", "Tool"];

/// The value of both where something was taken.
const DISTURBED: &str = "disturbed";

/// Values of a fact that a report tells.
const MOST: usize = 12;

/// The share of the other nodes that may have what all slow nodes have, for it to be told however few the nodes are.
const RARE: usize = 10;

/// Returns the value of a fact, or of what is told beside them.
pub(super) fn value<'a>(summary: &'a Summary, name: &str) -> Option<&'a str> {
    beside_facts(summary, name).or_else(|| summary.facts.value(name))
}

/// Returns what is told beside the facts: disturbances, the build and the tool.
fn beside_facts<'a>(summary: &'a Summary, name: &str) -> Option<&'a str> {
    let state = |is_it: fn(&Remark) -> bool| {
        let mut remarks = summary.figures.iter().flat_map(|figure| &figure.warnings);
        Some(if remarks.any(is_it) { DISTURBED } else { "quiet" })
    };
    match name {
        STEAL => state(|remark| matches!(remark, Remark::Steal { .. })),
        FOREIGN => state(|remark| matches!(remark, Remark::Foreign { .. })),
        BUILD => summary.run.build.as_ref().map(|build| build.hash.as_str()),
        TOOL => Some(&summary.run.tool),
        _ => None,
    }
}

/// One fact over the fleet.
struct Told<'a> {
    label: &'a str,
    /// Where it stands in the first node's report that has it.
    place: usize,
    /// True if it holds for a moment only.
    is_of_a_moment: bool,
    /// By node; `None` if it is not known.
    values: Vec<Option<&'a str>>,
    /// By node; `None` if it is not known, or not a number.
    quantities: Vec<Option<&'a Quantity>>,
}

impl Told<'_> {
    /// Returns true if it is unknown on a node, or differs between nodes.
    fn differs(&self) -> bool {
        self.values.contains(&None) || self.values.windows(2).any(|two| two[0] != two[1])
    }
}

/// Returns in what nodes differ, in the order of reports. What is true of a moment always does.
pub(super) fn differing(delivered: &[Delivered<'_>]) -> Vec<Differing> {
    let nobody = vec![false; delivered.len()];
    let told = told(delivered).into_iter().filter(|(_, fact)| !fact.is_of_a_moment && fact.differs());
    told.map(|(name, fact)| differs(name, &fact, &counts(&fact, &nobody))).collect()
}

/// Returns what the slow nodes of `delivered` have in common more than the others, least p first.
pub(super) fn traits(delivered: &[Delivered<'_>], slow: &[bool]) -> Vec<Trait> {
    let mut traits: Vec<Trait> = Vec::new();
    for (name, fact) in told(delivered).into_iter().filter(|(_, fact)| fact.differs()) {
        let counts = counts(&fact, slow);
        let known = fact.values.iter().flatten().count();
        if fact.is_of_a_moment || 2 * counts.len() > known {
            traits.extend(binned(name, &fact, slow));
        } else {
            let values = counts.into_iter().map(|(value, with)| (value.to_owned(), with));
            traits.extend(values.map(|(value, with)| candidate(name, fact.label, value, with, slow)));
        }
    }
    traits.retain(|one| !one.name.starts_with("neighbours.") || one.value == DISTURBED);
    let q = false_discovery_rates(&traits.iter().map(|one| one.p).collect::<Vec<f64>>());
    traits.iter_mut().zip(q).for_each(|(one, q)| one.q = q);
    traits.retain(is_shown);
    traits.sort_by(|a, b| {
        a.p.total_cmp(&b.p).then_with(|| b.slow_with.cmp(&a.slow_with)).then_with(|| a.name.cmp(&b.name))
    });
    traits
}

/// Two slow nodes or all of them share it, more than the others, and not by chance; or all of them and hardly any
/// other.
fn is_shown(one: &Trait) -> bool {
    let all = one.slow_with == one.slow && one.slow > 0;
    (one.slow_with >= 2 || all) && (one.p <= 0.05 || all && one.others_with * RARE <= one.others)
}

/// The facts in the order of reports, those that are made of warnings and of the run last.
fn told<'a>(delivered: &[Delivered<'a>]) -> Vec<(&'a str, Told<'a>)> {
    let mut found: HashMap<&str, Told<'a>> = HashMap::new();
    let unknown = |label: &'a str, place: usize| {
        let (values, quantities) = (vec![None; delivered.len()], vec![None; delivered.len()]);
        Told { label, place, is_of_a_moment: false, values, quantities }
    };
    for (node, Delivered { summary, .. }) in delivered.iter().enumerate() {
        for (place, fact) in summary.facts.iter().enumerate() {
            let told = found.entry(&fact.name).or_insert_with(|| unknown(&fact.label, place));
            told.is_of_a_moment = fact.is_of_a_moment();
            told.values[node] = Some(&fact.value);
            told.quantities[node] = fact.quantity.as_ref();
        }
        for (place, (name, label)) in (summary.facts.len()..).zip(OWN.into_iter().zip(LABELS)) {
            if let Some(value) = value(summary, name) {
                found.entry(name).or_insert_with(|| unknown(label, place)).values[node] = Some(value);
            }
        }
    }
    let mut told: Vec<(&str, Told<'a>)> = found.into_iter().collect();
    told.sort_by_key(|(name, fact)| (fact.place, *name));
    told
}

/// How many slow nodes and how many others have each value, by value.
fn counts<'a>(fact: &Told<'a>, slow: &[bool]) -> Vec<(&'a str, (usize, usize))> {
    let known = fact.values.iter().zip(slow).filter_map(|(value, slow)| Some(((*value)?, *slow)));
    let count = |(value, slow): (&'a str, Vec<bool>)| {
        let with = slow.iter().filter(|slow| **slow).count();
        (value, (with, slow.len() - with))
    };
    let mut counts: Vec<_> = known.grouped().into_iter().map(count).collect();
    counts.sort_by(|a, b| (b.1.0 + b.1.1).cmp(&(a.1.0 + a.1.1)).then_with(|| a.0.cmp(b.0)));
    counts
}

fn differs(name: &str, fact: &Told<'_>, counts: &[(&str, (usize, usize))]) -> Differing {
    Differing {
        name: name.to_owned(),
        label: fact.label.to_owned(),
        distinct: counts.len(),
        values: counts.iter().take(MOST).map(|(value, (slow, others))| ((*value).to_owned(), slow + others)).collect(),
        unknown: fact.values.iter().filter(|value| value.is_none()).count(),
    }
}

fn candidate(name: &str, label: &str, value: String, (slow_with, others_with): (usize, usize), slow: &[bool]) -> Trait {
    let all = slow.len();
    let slow = slow.iter().filter(|slow| **slow).count();
    let others = all - slow;
    let p = fisher_p((slow_with, slow), (others_with, others));
    let [name, label] = [name, label].map(str::to_owned);
    Trait { name, label, value, slow_with, slow, others_with, others, p, q: 1.0 }
}

/// A fact whose value nearly every node has to itself: numbers are reported by the least and the greatest quarter of
/// the nodes, anything else not at all.
fn binned(name: &str, fact: &Told<'_>, slow: &[bool]) -> Vec<Trait> {
    let known = fact.values.iter().flatten().count();
    let nodes = fact.quantities.iter().zip(slow);
    let mut numbers: Vec<(&Quantity, bool)> = nodes.filter_map(|(number, slow)| Some(((*number)?, *slow))).collect();
    numbers.sort_by(|a, b| a.0.number.total_cmp(&b.0.number));
    let quarter = numbers.len() / 4;
    let alike = numbers.windows(2).all(|two| two[0].0.unit == two[1].0.unit);
    if quarter == 0 || numbers.len() < known || !alike {
        return Vec::new();
    }
    let (low, high) = (numbers[quarter - 1].0, numbers[numbers.len() - quarter].0);
    let with = |has: &dyn Fn(f64) -> bool| {
        let having = numbers.iter().filter(|(quantity, _)| has(quantity.number));
        having.fold((0, 0), |(with, others), (_, slow)| if *slow { (with + 1, others) } else { (with, others + 1) })
    };
    let candidate = |value: String, with| candidate(name, fact.label, value, with, slow);
    vec![
        candidate(format!("at most {low}"), with(&|number| number <= low.number)),
        candidate(format!("at least {high}"), with(&|number| number >= high.number)),
    ]
}
