//! Notes and warnings on a fleet report.

use std::collections::{BTreeMap, BTreeSet};

use super::{Delivered, FEWEST, FleetReport};
use crate::Summary;

/// Returns what is to be known of the method on these data.
pub(super) fn notes(report: &FleetReport) -> Vec<String> {
    let mut notes = Vec::new();
    let small: Vec<&str> =
        report.groups.iter().filter(|group| !group.judged).map(|group| group.name.as_str()).collect();
    if small.len() == 1 && report.groups.len() == 1 {
        notes.push(format!("with fewer than {FEWEST} nodes none can be told apart from the others"));
    } else if !small.is_empty() {
        let few: Vec<&str> = small.iter().take(3).copied().collect();
        let more = if small.len() > 3 { ", …" } else { "" };
        notes.push(format!(
            "no node is flagged in groups of fewer than {FEWEST} nodes; there are {}: {}{more}; `--by none` compares all nodes",
            small.len(),
            few.join(" · ")
        ));
    }
    let nodes = report.nodes.len();
    let gaps = report.columns.iter().filter(|column| column.nodes < nodes);
    let gaps: Vec<&str> = gaps.map(|column| column.cell.key.test.as_str()).collect();
    if !gaps.is_empty() {
        notes.push(format!("not all nodes have a figure of {}", listed(&gaps)));
    }
    notes
}

/// The first few of several names, each once.
fn listed(names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    let few: Vec<&str> = names.iter().take(5).copied().collect();
    let more = if names.len() > few.len() { format!(" and {} more", names.len() - few.len()) } else { String::new() };
    few.join(", ") + &more
}

/// Returns what may make nodes differ that is not their speed.
pub(super) fn warnings(delivered: &[Delivered<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    let kinds = |what: &dyn Fn(&Delivered<'_>) -> Option<String>| -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        delivered.iter().filter_map(what).for_each(|kind| *kinds.entry(kind).or_default() += 1);
        kinds
    };
    let several = |kinds: &BTreeMap<String, usize>| {
        let mut counts: Vec<(&String, &usize)> = kinds.iter().collect();
        counts.sort_by(|a, b| b.1.cmp(a.1));
        counts.iter().map(|(kind, count)| format!("{kind} ({count})")).collect::<Vec<String>>().join(", ")
    };
    let builds = kinds(&|node| Some(node.summary.run.build.as_ref()?.hash.clone()));
    if builds.len() > 1 {
        let builds = builds.len();
        warnings.push(format!("the programs are of {builds} different builds: `--by run.build` compares within each"));
    }
    let procedures = kinds(&|node| Some(node.summary.run.procedure.name().to_owned()));
    if procedures.len() > 1 {
        warnings.push(format!("nodes measured by different procedures: {}", several(&procedures)));
    }
    if procedures.contains_key("quick") {
        warnings.push("quick runs have few trials: a node must be slower by more to be flagged".to_owned());
    }
    let tools = kinds(&|node| Some(node.summary.run.tool.clone()));
    if tools.len() > 1 {
        warnings.push(format!("nodes measured by different versions: {}", several(&tools)));
    }
    let cut = delivered.iter().filter(|node| !node.whole).count();
    if cut > 0 {
        warnings.push(format!("not whole: {}; what was measured is used", words::count(cut, "run")));
    }
    warnings
}

/// Returns what may make two fleet runs differ that is not the nodes' speed.
pub(super) fn since(before: &[Delivered<'_>], after: &[Delivered<'_>]) -> Vec<String> {
    /// A property that all runs must share, where it is told.
    type Kind = fn(&Summary) -> Option<&str>;
    let all = |nodes: &[Delivered<'_>], what: Kind| -> BTreeSet<String> {
        nodes.iter().filter_map(|node| what(node.summary)).map(str::to_owned).collect()
    };
    let kinds: [(&str, Kind); 3] = [
        ("programs of another build", |summary| Some(&summary.run.build.as_ref()?.hash)),
        ("another procedure", |summary| Some(summary.run.procedure.name())),
        ("another version of the tool", |summary| Some(&summary.run.tool)),
    ];
    let unlike = kinds.into_iter().filter(|(_, what)| all(before, *what) != all(after, *what));
    unlike.map(|(words, _)| format!("the earlier fleet run measured with {words}")).collect()
}
