//! The JSON form. What does not exist is null.

use anyhow::Result;
use serde::Serialize;

use ::fleet::Fleet;
use analysis::fleet::{
    Against, Change, Column, Differing, FactChange, FleetReport, Group, Named, Node, Outlier, Trait, Value,
};
use analysis::{RATE, Verdict};
use catalogue::Metric;
use stats::{Estimate, Method};

/// The version of this report's keys.
const FORMAT: &str = "unixmark-fleet-report/1";

#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    run: &'a str,
    by: &'a str,
    threshold: f64,
    false_discovery_rate: f64,
    states: Vec<State<'a>>,
    groups: Vec<Of<'a>>,
    columns: Vec<Test<'a>>,
    nodes: Vec<One<'a>>,
    outliers: Vec<Unlike<'a>>,
    traits: Vec<Shared<'a>>,
    differing: Vec<Differs<'a>>,
    against: Option<Before<'a>>,
    notes: &'a [String],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct State<'a> {
    node: &'a str,
    task: &'a str,
    state: ::fleet::State,
    reason: Option<&'a str>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Of<'a> {
    name: &'a str,
    nodes: usize,
    judged: bool,
    overall: Option<f64>,
}

#[derive(Serialize)]
struct Test<'a> {
    test: &'a str,
    label: &'a str,
    copies: u32,
    load: &'a str,
    condition: &'a str,
    unit: &'a str,
    metric: Metric,
    nodes: usize,
    typical: Estimate,
    typical_of: Vec<Option<Estimate>>,
    within: Option<f64>,
    between: Option<f64>,
    groups: Option<f64>,
}

#[derive(Serialize)]
struct One<'a> {
    node: &'a str,
    group: usize,
    whole: bool,
    overall: Estimate,
    p: f64,
    q: f64,
    named: Option<&'static str>,
    rank: Option<(usize, usize)>,
    values: Vec<Option<Figure>>,
}

#[derive(Serialize)]
struct Figure {
    #[serde(flatten)]
    value: Estimate,
    deviation: Estimate,
    p: f64,
    q: f64,
    named: Option<&'static str>,
}

#[derive(Serialize)]
struct Unlike<'a> {
    node: &'a str,
    /// The place in `columns`; null where it is all of them together.
    column: Option<usize>,
    test: Option<&'a str>,
    named: &'static str,
    deviation: Estimate,
    p: f64,
    q: f64,
}

#[derive(Serialize)]
struct Shared<'a> {
    name: &'a str,
    label: &'a str,
    value: &'a str,
    slow_with: usize,
    slow: usize,
    others_with: usize,
    others: usize,
    p: f64,
    q: f64,
}

#[derive(Serialize)]
struct Differs<'a> {
    name: &'a str,
    label: &'a str,
    distinct: usize,
    values: Vec<Counted<'a>>,
    unknown: usize,
}

#[derive(Serialize)]
struct Counted<'a> {
    value: &'a str,
    nodes: usize,
}

#[derive(Serialize)]
struct Before<'a> {
    run: &'a str,
    pairs: usize,
    changes: Vec<Changed<'a>>,
    unlike: Vec<Unlike<'a>>,
    only_before: &'a [String],
    only_after: &'a [String],
    facts: Vec<Fact<'a>>,
}

#[derive(Serialize)]
struct Changed<'a> {
    column: Option<usize>,
    test: Option<&'a str>,
    nodes: usize,
    delta: Estimate,
    p: f64,
    q: f64,
    method: Method,
    verdict: &'static str,
    /// What `same` is within, or what `undecided` would have seen.
    size: Option<f64>,
}

#[derive(Serialize)]
struct Fact<'a> {
    name: &'a str,
    label: &'a str,
    before: &'a str,
    after: &'a str,
    nodes: usize,
}

/// Returns the report.
pub(super) fn render(fleet: &Fleet, report: &FleetReport) -> Result<String> {
    let document = Report {
        format: FORMAT,
        run: &report.run,
        by: &report.by,
        threshold: report.threshold,
        false_discovery_rate: RATE,
        states: fleet.entries.iter().map(state).collect(),
        groups: report.groups.iter().map(group).collect(),
        columns: report.columns.iter().map(column).collect(),
        nodes: report.nodes.iter().map(node).collect(),
        outliers: report.outliers.iter().map(|one| unlike(report, one)).collect(),
        traits: report.traits.iter().map(shared).collect(),
        differing: report.differing.iter().map(differs).collect(),
        against: report.against.as_ref().map(|against| before(report, against)),
        notes: &report.notes,
        warnings: &report.warnings,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

fn state(entry: &::fleet::Entry) -> State<'_> {
    State {
        node: &entry.node,
        task: &entry.task,
        state: entry.state,
        reason: entry.reason.as_deref(),
        notes: &entry.notes,
    }
}

fn group(group: &Group) -> Of<'_> {
    Of { name: &group.name, nodes: group.nodes, judged: group.judged, overall: group.overall }
}

fn column(column: &Column) -> Test<'_> {
    Test {
        test: &column.key.test,
        label: &column.label,
        copies: column.key.copies,
        load: &column.key.load,
        condition: &column.key.condition,
        unit: &column.unit,
        metric: column.metric,
        nodes: column.nodes,
        typical: column.typical,
        typical_of: column.typical_of.clone(),
        within: finite(column.spread.within),
        between: finite(column.spread.between),
        groups: column.spread.groups.and_then(finite),
    }
}

fn node(node: &Node) -> One<'_> {
    One {
        node: &node.name,
        group: node.group,
        whole: node.whole,
        overall: node.overall,
        p: node.p,
        q: node.q,
        named: node.named.map(Named::name),
        rank: Some(node.rank).filter(|rank| rank.0 > 0),
        values: node.values.iter().map(|value| value.as_ref().map(figure)).collect(),
    }
}

fn figure(value: &Value) -> Figure {
    Figure {
        value: value.value,
        deviation: value.deviation,
        p: value.p,
        q: value.q,
        named: value.named.map(Named::name),
    }
}

fn unlike<'a>(report: &'a FleetReport, one: &Outlier) -> Unlike<'a> {
    Unlike {
        node: &report.nodes[one.node].name,
        column: one.column,
        test: one.column.map(|column| report.columns[column].key.test.as_str()),
        named: one.named.name(),
        deviation: one.deviation,
        p: one.p,
        q: one.q,
    }
}

fn shared(one: &Trait) -> Shared<'_> {
    Shared {
        name: &one.name,
        label: &one.label,
        value: &one.value,
        slow_with: one.slow_with,
        slow: one.slow,
        others_with: one.others_with,
        others: one.others,
        p: one.p,
        q: one.q,
    }
}

fn differs(fact: &Differing) -> Differs<'_> {
    Differs {
        name: &fact.name,
        label: &fact.label,
        distinct: fact.distinct,
        values: fact.values.iter().map(|(value, nodes)| Counted { value, nodes: *nodes }).collect(),
        unknown: fact.unknown,
    }
}

fn before<'a>(report: &'a FleetReport, against: &'a Against) -> Before<'a> {
    Before {
        run: &against.run,
        pairs: against.pairs,
        changes: against.changes.iter().map(|change| changed(report, change)).collect(),
        unlike: against.unlike.iter().map(|one| unlike(report, one)).collect(),
        only_before: &against.only_before,
        only_after: &against.only_after,
        facts: against.facts.iter().map(fact).collect(),
    }
}

fn changed<'a>(report: &'a FleetReport, change: &Change) -> Changed<'a> {
    let size = match change.verdict {
        Verdict::Same(size) | Verdict::Undecided(size) => finite(size),
        _ => None,
    };
    Changed {
        column: change.column,
        test: change.column.map(|column| report.columns[column].key.test.as_str()),
        nodes: change.nodes,
        delta: change.delta,
        p: change.p,
        q: change.q,
        method: change.method,
        verdict: change.verdict.word(),
        size,
    }
}

fn fact(fact: &FactChange) -> Fact<'_> {
    Fact { name: &fact.name, label: &fact.label, before: &fact.before, after: &fact.after, nodes: fact.nodes }
}
