//! Notes and warnings on a fleet report.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Delivered, FleetReport, MIN_NODES};
use crate::findings::Summary;

/// Names of groups, and of tests, that a note lists.
const MAX_LISTED_GROUPS: usize = 3;
const MAX_LISTED_TESTS: usize = 5;

/// What readers must know of the method on these data.
pub(super) fn notes(report: &FleetReport) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(note_on_small_groups(report));

    let nodes = report.nodes.len();
    let gaps = report.columns.iter().filter(|column| column.nodes < nodes);
    let gaps: Vec<&str> = gaps.map(|column| column.cell.key.test.as_str()).collect();
    if !gaps.is_empty() {
        notes.push(format!("not all nodes have a figure of {}", list_names(&gaps)));
    }
    notes
}

fn note_on_small_groups(report: &FleetReport) -> Option<String> {
    let small = report.groups.iter().filter(|group| !group.judged);
    let small: Vec<&str> = small.map(|group| group.name.as_str()).collect();
    if small.is_empty() {
        return None;
    }
    if report.groups.len() == 1 {
        return Some(format!(
            "with fewer than {MIN_NODES} nodes none can be told apart from the others"
        ));
    }

    let listed: Vec<&str> = small.iter().take(MAX_LISTED_GROUPS).copied().collect();
    let more = if small.len() > MAX_LISTED_GROUPS { ", …" } else { "" };
    Some(format!(
        "no node is flagged in groups of fewer than {MIN_NODES} nodes; there are {}: {}{more}; \
         `--by none` compares all nodes",
        small.len(),
        listed.join(" · ")
    ))
}

/// The first few of several names, each once where equal ones follow each other.
fn list_names(names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    let more = names.len().saturating_sub(MAX_LISTED_TESTS);
    names.truncate(MAX_LISTED_TESTS);

    let listed = names.join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

/// Reasons for nodes to differ other than their speed.
pub(super) fn warnings(delivered: &[Delivered<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();

    let builds = count_nodes(delivered, build_hash).len();
    if builds > 1 {
        warnings.push(format!(
            "the programs are of {builds} different builds: `--by run.build` compares within each"
        ));
    }

    let procedures = count_nodes(delivered, procedure_name);
    if procedures.len() > 1 {
        let kinds = list_most_frequent_first(&procedures);
        warnings.push(format!("nodes measured by different procedures: {kinds}"));
    }
    if procedures.contains_key("quick") {
        warnings.push(
            "quick runs have few trials: a node must be slower by more to be flagged".to_owned(),
        );
    }

    let tools = count_nodes(delivered, tool_version);
    if tools.len() > 1 {
        let kinds = list_most_frequent_first(&tools);
        warnings.push(format!("nodes measured by different versions: {kinds}"));
    }

    let cut = delivered.iter().filter(|node| !node.whole).count();
    if cut > 0 {
        let runs = words::count(cut, "run");
        warnings.push(format!("not whole: {runs}; what was measured is used"));
    }
    warnings
}

/// Reasons for two fleet runs to differ other than the nodes' speed.
pub(super) fn warnings_since(before: &[Delivered<'_>], after: &[Delivered<'_>]) -> Vec<String> {
    let properties: [(&str, Property); 3] = [
        ("programs of another build", build_hash),
        ("another procedure", procedure_name),
        ("another version of the tool", tool_version),
    ];

    let mut warnings = Vec::new();
    for (words, property) in properties {
        let kinds_before = count_nodes(before, property);
        let kinds_after = count_nodes(after, property);
        if !kinds_before.keys().eq(kinds_after.keys()) {
            warnings.push(format!("the earlier fleet run measured with {words}"));
        }
    }
    warnings
}

/// A property of a run; `None` where it is not known.
type Property = fn(&Summary) -> Option<&str>;

fn build_hash(summary: &Summary) -> Option<&str> {
    Some(&summary.run.build.as_ref()?.hash)
}

fn procedure_name(summary: &Summary) -> Option<&str> {
    Some(summary.run.procedure.name())
}

fn tool_version(summary: &Summary) -> Option<&str> {
    Some(&summary.run.tool)
}

/// The values of a property, and on how many nodes each is found.
fn count_nodes<'a>(delivered: &[Delivered<'a>], property: Property) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for value in delivered.iter().filter_map(|node| property(node.summary)) {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

fn list_most_frequent_first(counts: &BTreeMap<&str, usize>) -> String {
    let mut counts: Vec<(&str, usize)> =
        counts.iter().map(|(value, nodes)| (*value, *nodes)).collect();
    counts.sort_by_key(|(_, nodes)| Reverse(*nodes));
    let words: Vec<String> =
        counts.iter().map(|(value, nodes)| format!("{value} ({nodes})")).collect();
    words.join(", ")
}
