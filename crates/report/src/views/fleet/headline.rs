//! The answer of a fleet run in a few sentences.

use analysis::RATE;
use analysis::fleet::{FleetReport, Named, Outlier, Taken};
use words::{count, listed};

use super::{MAX_LISTED_NODES, name_in_short, shorten_name};

/// So many of the tests at which a slow node is slow are named.
const MAX_NAMED_TESTS: usize = 2;

pub(super) fn headline(report: &FleetReport) -> String {
    let mut text = format!("{}{}.", describe_slow_nodes(report), describe_common_trait(report));

    let without_figure = report.nodes.len() - report.measured();
    if without_figure > 0 && !report.columns.is_empty() {
        text += &format!(" {} delivered no figure.", count(without_figure, "node"));
    }
    let fast = names_of_fast_nodes(report);
    if !fast.is_empty() {
        text += &format!(" Faster than the others: {}.", listed(&fast, MAX_LISTED_NODES));
    }
    let hungry = describe_hungry_nodes(report);
    if !hungry.is_empty() {
        let nodes = listed(&hungry, MAX_LISTED_NODES);
        text += &format!(" More energy for the same work: {nodes}.");
    }
    text
}

/// How many nodes are slow and which, or why that cannot be known.
fn describe_slow_nodes(report: &FleetReport) -> String {
    let delivered = count(report.nodes.len(), "node");
    if report.columns.is_empty() {
        return format!("{delivered} delivered, and nothing was measured");
    }
    if report.groups.iter().all(|group| !group.judged) {
        return format!("{delivered} delivered: too few similar nodes to call any of them slow");
    }

    let measured = count(report.measured(), "node");
    let slow = report.slow();
    let mut nodes = Vec::new();
    for (node, outliers) in &slow {
        let name = shorten_name(&report.nodes[*node]);
        nodes.push(format!("{name} ({})", describe_outliers(report, outliers)));
    }
    let nodes = listed(&nodes, MAX_LISTED_NODES);
    match slow.len() {
        0 => format!("None of {measured} is shown to be slow"),
        1 => format!("1 of {measured} is slow: {nodes}"),
        slow => format!("{slow} of {measured} are slow: {nodes}"),
    }
}

/// `7.1 % slower overall, 9.0 % slower at pipe, …`
fn describe_outliers(report: &FleetReport, outliers: &[&Outlier]) -> String {
    let mut places = Vec::new();
    for outlier in outliers.iter().take(MAX_NAMED_TESTS) {
        let percent = outlier.deviation.value;
        let way = if percent < 0.0 { "slower" } else { "faster" };
        let place = match outlier.column {
            Some(column) => format!("at {}", name_in_short(&report.columns[column])),
            None => "overall".to_owned(),
        };
        places.push(format!("{:.1} % {way} {place}", percent.abs()));
    }
    let more = if outliers.len() > MAX_NAMED_TESTS { ", …" } else { "" };
    format!("{}{more}", places.join(", "))
}

/// The most significant trait that several slow nodes share; of a single one, what no other node
/// has.
fn describe_common_trait(report: &FleetReport) -> String {
    let Some(first) = report.traits.first() else {
        return String::new();
    };

    let fact = format!("{} {}", first.name, first.value);
    if first.slow == 1 {
        let is_unique = first.others_with == 0;
        return if is_unique { format!(", the only one with {fact}") } else { String::new() };
    }
    if first.q > RATE {
        return String::new();
    }
    format!(
        ", with {fact} in common ({} of {}, {} of {} others)",
        first.slow_with, first.slow, first.others_with, first.others
    )
}

/// The nodes that are fast at something and slow at nothing.
fn names_of_fast_nodes(report: &FleetReport) -> Vec<String> {
    let slow = report.slow();
    let mut names = Vec::new();
    for (node, _) in report.named(Named::Fast) {
        let is_slow = slow.iter().any(|(other, _)| *other == node);
        if !is_slow {
            names.push(shorten_name(&report.nodes[node]));
        }
    }
    names
}

/// The nodes that took more energy, each with how much more.
fn describe_hungry_nodes(report: &FleetReport) -> Vec<String> {
    let mut nodes = Vec::new();
    for (node, Taken { named, excess, .. }) in report.taken() {
        if named == Some(Named::Slow) {
            nodes.push(format!("{} ({} %)", shorten_name(node), words::signed(excess.value)));
        }
    }
    nodes
}
