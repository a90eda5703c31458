//! A fleet run against an earlier one, paired by node: what changed on all nodes, and which nodes
//! changed unlike the others.
//!
//! A node's change in a column is the difference of its two logarithms. The changes of one column
//! over all nodes are paired differences, and are judged as any comparison is ([`changes`]). Within
//! a group of nodes the changes are judged like figures: a node that changed unlike the others is
//! an outlier ([`unlike`]).

use std::collections::{BTreeSet, HashMap};

use super::judge::{
    Deviation, Deviations, JudgedGroup, judge_group, named, q_values, sort_gravest_first,
};
use super::table::{Cell, ColumnKey, Table};
use super::{Against, Change, Delivered, FactChange, MIN_NODES, Outlier, groups};
use crate::products::comparison::Scale;
use crate::products::comparison::engine;
use crate::products::comparison::engine::{Data, Difference};
use journal::NodeId;
use stats::{Exact, mean};

/// Pairs of nodes above which a fact that changed differently on more than half of them is left
/// out: it tells nothing.
const MAX_PAIRS_WITH_ANY_CHANGE: usize = 3;

/// Where the nodes stand in the report.
pub(super) struct Places<'a> {
    /// The place among what was delivered, of each node of the report.
    pub(super) order: &'a [usize],
    pub(super) groups: &'a [JudgedGroup],
}

/// A node that delivered in both fleet runs.
#[derive(Clone, Copy)]
struct Pair<'a> {
    before: &'a Delivered<'a>,
    after: &'a Delivered<'a>,
}

/// The changes of each node's cells, by node and column; `None` where one of both runs lacks it.
type Changes = Vec<Vec<Option<Cell>>>;

/// Compares what was `delivered` with what was delivered `before`, in the fleet run `run`.
pub(super) fn compare_with(
    run: &str,
    before: &[Delivered<'_>],
    delivered: &[Delivered<'_>],
    table: &Table<'_>,
    places: &Places<'_>,
    threshold: f64,
) -> Against {
    let places_before: HashMap<&NodeId, usize> =
        before.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
    let ids: BTreeSet<&NodeId> = delivered.iter().map(|node| node.id).collect();
    let partners: Vec<Option<usize>> =
        delivered.iter().map(|node| places_before.get(node.id).copied()).collect();

    let mut pairs = Vec::new();
    for (after, partner) in delivered.iter().zip(&partners) {
        pairs.extend(partner.map(|place| Pair { before: &before[place], after }));
    }
    let only_before = before.iter().filter(|node| !ids.contains(node.id));
    let only_after = delivered.iter().filter(|node| !places_before.contains_key(node.id));

    let columns = table.columns.len();
    let changes_of_nodes = subtract(table, &Table::new(before), &partners);
    Against {
        run: run.to_owned(),
        pairs: pairs.len(),
        changes: changes(&changes_of_nodes, columns, threshold),
        unlike: unlike(&changes_of_nodes, columns, places, threshold),
        only_before: only_before.map(|node| node.name.to_owned()).collect(),
        only_after: only_after.map(|node| node.name.to_owned()).collect(),
        facts: changed_facts(&pairs),
    }
}

/// The change of every cell since `before`; `partners` has the row of each node there.
fn subtract(after: &Table<'_>, before: &Table<'_>, partners: &[Option<usize>]) -> Changes {
    let places: HashMap<ColumnKey<'_>, usize> = before
        .columns
        .iter()
        .enumerate()
        .map(|(place, figure)| (ColumnKey::new(figure), place))
        .collect();
    let columns_before: Vec<Option<usize>> =
        after.columns.iter().map(|figure| places.get(&ColumnKey::new(figure)).copied()).collect();

    let mut changes = Vec::new();
    for (row, partner) in after.rows.iter().zip(partners) {
        let row_before = partner.map(|place| &before.rows[place]);
        let cells = row.iter().zip(&columns_before).map(|(cell, column)| {
            let cell = (*cell)?;
            let old = row_before?[(*column)?]?;
            Some(Cell { log: cell.log - old.log, error: cell.error.hypotenuse(old.error), ..cell })
        });
        changes.push(cells.collect());
    }
    changes
}

/// The changes of all columns together (each node by its mean change), and of each column.
fn changes(of_nodes: &Changes, columns: usize, threshold: f64) -> Vec<Change> {
    let mut together: Vec<f64> = Vec::new();
    for row in of_nodes {
        let logs: Vec<f64> = row.iter().flatten().map(|cell| cell.log).collect();
        if !logs.is_empty() {
            together.push(mean(logs));
        }
    }
    let mut logs_by_place: Vec<(Option<usize>, Vec<f64>)> = vec![(None, together)];
    for column in 0..columns {
        let logs = of_nodes.iter().filter_map(|row| Some(row[column]?.log));
        logs_by_place.push((Some(column), logs.collect()));
    }
    logs_by_place.retain(|(_, logs)| !logs.is_empty());

    // Judged together, since q values are over the whole report.
    let mut differences: Vec<Difference> = Vec::new();
    for (_, logs) in &logs_by_place {
        let pairs = (0..).zip(logs.iter().copied()).collect();
        differences.push(Difference::new(Scale::Ratio, Data::Paired(pairs)));
    }
    engine::judge(&mut differences, threshold);

    let mut changes = Vec::new();
    for ((column, logs), difference) in logs_by_place.into_iter().zip(differences) {
        changes.push(Change {
            column,
            nodes: logs.len(),
            delta: difference.delta(),
            p: difference.shift.p,
            q: difference.q,
            method: difference.shift.method,
            verdict: difference.verdict,
        });
    }
    changes
}

/// The deviation of a node's change from the typical change of its group.
struct Found {
    /// The place of the node in the report.
    node: usize,
    /// `None` of all columns together.
    column: Option<usize>,
    deviation: Deviation,
}

/// The nodes that changed unlike the others of their group, gravest first.
fn unlike(of_nodes: &Changes, columns: usize, places: &Places<'_>, threshold: f64) -> Vec<Outlier> {
    let mut place_in_report = vec![0; places.order.len()];
    for (place, delivered) in places.order.iter().enumerate() {
        place_in_report[*delivered] = place;
    }

    let mut cells = Vec::new();
    let mut nodes = Vec::new();
    for group in places.groups.iter().filter(|group| group.nodes.len() >= MIN_NODES) {
        let changes: Vec<Vec<Option<Cell>>> = (0..columns)
            .map(|column| group.nodes.iter().map(|node| of_nodes[*node][column]).collect())
            .collect();
        let verdicts = judge_group(&changes, group.nodes.len());

        let members: Vec<usize> = group.nodes.iter().map(|node| place_in_report[*node]).collect();
        nodes.extend(deviations_found(&verdicts.together, None, &members));
        for (column, deviations) in verdicts.columns.iter().enumerate() {
            cells.extend(deviations_found(deviations, Some(column), &members));
        }
    }

    let p_of_cells: Vec<f64> = cells.iter().map(|found| found.deviation.p).collect();
    let p_of_nodes: Vec<f64> = nodes.iter().map(|found| found.deviation.p).collect();
    let q = q_values(&p_of_cells, &p_of_nodes);
    let found = cells.into_iter().zip(q.cells).chain(nodes.into_iter().zip(q.nodes));

    let mut outliers = Vec::new();
    for (Found { node, column, deviation }, q) in found {
        let percent = deviation.to_percent();
        if let Some(named) = named(percent.value, q, threshold) {
            let p = deviation.p;
            outliers.push(Outlier { node, column, named, deviation: percent, p, q });
        }
    }
    sort_gravest_first(&mut outliers);
    outliers
}

/// The deviations of a group's nodes, whose places in the report are `members`.
fn deviations_found(
    deviations: &Deviations,
    column: Option<usize>,
    members: &[usize],
) -> Vec<Found> {
    let nodes = members.iter().zip(&deviations.by_node);
    nodes
        .filter_map(|(node, one)| Some(Found { node: *node, column, deviation: (*one)? }))
        .collect()
}

/// Facts that changed, and on how many nodes. Two kinds are left out, since they tell nothing:
/// facts of a moment, and those that changed to something else on more than half of the nodes.
fn changed_facts(pairs: &[Pair<'_>]) -> Vec<FactChange> {
    /// A fact's label, and on how many nodes it changed from one value to another.
    struct Changed<'a> {
        label: &'a str,
        nodes_by_change: HashMap<(&'a str, &'a str), usize>,
    }

    let mut by_name: HashMap<&str, Changed<'_>> = HashMap::new();
    for Pair { before, after } in pairs {
        let facts_before = before.summary.facts.iter();
        let values_before: HashMap<&str, &str> =
            facts_before.map(|fact| (fact.name.as_str(), fact.value.as_str())).collect();
        for fact in after.summary.facts.iter().filter(|fact| !fact.is_of_a_moment()) {
            let old = values_before.get(fact.name.as_str()).copied().unwrap_or(groups::UNKNOWN);
            if old == fact.value {
                continue;
            }
            let changed = by_name
                .entry(&fact.name)
                .or_insert_with(|| Changed { label: &fact.label, nodes_by_change: HashMap::new() });
            *changed.nodes_by_change.entry((old, &fact.value)).or_default() += 1;
        }
    }

    let mut changes: Vec<FactChange> = Vec::new();
    for (name, Changed { label, nodes_by_change }) in by_name {
        let is_nearly_unique = 2 * nodes_by_change.len() > pairs.len();
        if pairs.len() > MAX_PAIRS_WITH_ANY_CHANGE && is_nearly_unique {
            continue;
        }
        for ((before, after), nodes) in nodes_by_change {
            let [name, label, before, after] = [name, label, before, after].map(str::to_owned);
            changes.push(FactChange { name, label, before, after, nodes });
        }
    }
    changes.sort_by(|a, b| {
        let key = |change: &FactChange| {
            (change.name.clone(), change.before.clone(), change.after.clone())
        };
        b.nodes.cmp(&a.nodes).then_with(|| key(a).cmp(&key(b)))
    });
    changes
}
