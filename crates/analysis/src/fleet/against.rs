//! A fleet run against one before, paired by node: what changed on all, and where otherwise.

use std::collections::{BTreeSet, HashMap};

use super::judge::{self, Judged};
use super::judge::{Family, gravest_first, named};
use super::table::{Cell, Table, key};
use super::{Against, Change, Delivered, FEWEST, FactChange, Outlier};
use crate::compare::Measure;
use crate::compare::engine::{self, Data, Difference};
use journal::NodeId;
use stats::{Exact, Shift, mean};

/// Where the nodes stand in the report.
pub(super) struct Places<'a> {
    /// The delivered node of each of the report's.
    pub(super) order: &'a [usize],
    /// The groups.
    pub(super) families: &'a [Family],
}

/// Compares what was `delivered` with what was delivered `before`.
pub(super) fn against(
    run: &str,
    before: &[Delivered<'_>],
    delivered: &[Delivered<'_>],
    table: &Table<'_>,
    places: &Places<'_>,
    threshold: f64,
) -> Against {
    let known: HashMap<&NodeId, usize> = before.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
    let here: BTreeSet<&NodeId> = delivered.iter().map(|node| node.id).collect();
    let partner: Vec<Option<usize>> = delivered.iter().map(|node| known.get(node.id).copied()).collect();
    let differences = differences(table, &Table::new(before), &partner);
    let pairs: Vec<(&Delivered<'_>, &Delivered<'_>)> =
        delivered.iter().zip(&partner).filter_map(|(after, place)| Some((&before[(*place)?], after))).collect();
    Against {
        run: run.to_owned(),
        pairs: pairs.len(),
        changes: changes(&differences, table.columns.len(), threshold),
        unlike: unlike(&differences, table.columns.len(), places, threshold),
        only_before: before.iter().filter(|one| !here.contains(one.id)).map(|one| one.name.to_owned()).collect(),
        only_after: delivered.iter().filter(|one| !known.contains_key(one.id)).map(|one| one.name.to_owned()).collect(),
        facts: facts(&pairs),
    }
}

/// Returns the changes of each node's cells, as logarithms.
fn differences(after: &Table<'_>, before: &Table<'_>, partner: &[Option<usize>]) -> Vec<Vec<Option<Cell>>> {
    let places: HashMap<_, usize> =
        before.columns.iter().enumerate().map(|(place, figure)| (key(figure), place)).collect();
    let place: Vec<Option<usize>> = after.columns.iter().map(|figure| places.get(&key(figure)).copied()).collect();
    let of_node = |(row, partner): (&Vec<Option<Cell>>, &Option<usize>)| {
        let difference = |(cell, place): (&Option<Cell>, &Option<usize>)| {
            let (cell, old) = ((*cell)?, before.rows[(*partner)?][(*place)?]?);
            Some(Cell { log: cell.log - old.log, error: cell.error.hypotenuse(old.error), ..cell })
        };
        row.iter().zip(&place).map(difference).collect()
    };
    after.rows.iter().zip(partner).map(of_node).collect()
}

fn changes(differences: &[Vec<Option<Cell>>], columns: usize, threshold: f64) -> Vec<Change> {
    let of_node = |row: &Vec<Option<Cell>>| {
        let logs: Vec<f64> = row.iter().flatten().map(|cell| cell.log).collect();
        (!logs.is_empty()).then(|| mean(logs))
    };
    let together: Vec<f64> = differences.iter().filter_map(of_node).collect();
    let of_columns = (0..columns)
        .map(|column| (Some(column), differences.iter().filter_map(|row| Some(row[column]?.log)).collect()));
    let all = std::iter::once((None, together)).chain(of_columns).filter(|(_, logs)| !logs.is_empty());
    let (places, mut found): (Vec<(Option<usize>, usize)>, Vec<Difference>) = all
        .map(|(column, logs)| {
            ((column, logs.len()), Difference::new(Measure::Score, Data::Paired((0..).zip(logs).collect())))
        })
        .unzip();
    engine::judge(&mut found, threshold);
    let change = |((column, nodes), difference): ((Option<usize>, usize), Difference)| {
        let (delta, Difference { q, verdict, shift: Shift { p, method, .. }, .. }) = (difference.delta(), difference);
        Change { column, nodes, delta, p, q, method, verdict }
    };
    places.into_iter().zip(found).map(change).collect()
}

/// A node's place, the column, and how unlike the others it changed.
type Found = (usize, Option<usize>, judge::Deviation);

/// Nodes that changed unlike the others of their group.
fn unlike(differences: &[Vec<Option<Cell>>], columns: usize, places: &Places<'_>, threshold: f64) -> Vec<Outlier> {
    let mut rank = vec![0; places.order.len()];
    places.order.iter().enumerate().for_each(|(place, delivered)| rank[*delivered] = place);
    let (mut cells, mut nodes) = (Vec::new(), Vec::new());
    for family in places.families.iter().filter(|family| family.nodes.len() >= FEWEST) {
        let of_columns =
            (0..columns).map(|column| family.nodes.iter().map(|node| differences[*node][column]).collect());
        let verdicts = judge::group(&of_columns.collect::<Vec<Vec<_>>>(), family.nodes.len());
        let all = |judged: &Judged, column: Option<usize>| -> Vec<Found> {
            let members = judged.deviations.iter().zip(&family.nodes);
            members.filter_map(|(one, node)| Some((rank[*node], column, (*one)?))).collect()
        };
        nodes.extend(all(&verdicts.together, None));
        verdicts.columns.iter().enumerate().for_each(|(column, judged)| cells.extend(all(judged, Some(column))));
    }
    let p = |found: &[Found]| found.iter().map(|(_, _, one)| one.p).collect::<Vec<f64>>();
    let (of_cells, of_nodes) = judge::rates(&p(&cells), &p(&nodes));
    let found = cells.into_iter().chain(nodes).zip(of_cells.into_iter().chain(of_nodes));
    let mut outliers: Vec<Outlier> = found
        .filter_map(|((node, column, one), q)| {
            let deviation = one.percent();
            let named = named(deviation.value, q, threshold)?;
            Some(Outlier { node, column, named, deviation, p: one.p, q })
        })
        .collect();
    gravest_first(&mut outliers);
    outliers
}

/// Facts that changed, and on how many nodes; those of a moment, and those that changed to something else on nearly
/// every node, tell nothing.
fn facts(pairs: &[(&Delivered<'_>, &Delivered<'_>)]) -> Vec<FactChange> {
    /// Its label, and how often it changed from what to what.
    type Changed<'a> = (&'a str, HashMap<(&'a str, &'a str), usize>);
    let mut found: HashMap<&str, Changed<'_>> = HashMap::new();
    for (before, after) in pairs {
        let old: HashMap<&str, &str> =
            before.summary.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect();
        for fact in after.summary.facts.iter().filter(|fact| !fact.is_of_a_moment()) {
            let value = old.get(fact.name.as_str()).copied().unwrap_or(super::groups::UNKNOWN);
            if value != fact.value {
                let (_, changes) = found.entry(&fact.name).or_insert_with(|| (&fact.label, HashMap::new()));
                *changes.entry((value, &fact.value)).or_default() += 1;
            }
        }
    }
    let mut changed: Vec<FactChange> = Vec::new();
    for (name, (label, changes)) in found {
        if pairs.len() > 3 && 2 * changes.len() > pairs.len() {
            continue;
        }
        changed.extend(changes.into_iter().map(|((before, after), nodes)| {
            let [name, label, before, after] = [name, label, before, after].map(str::to_owned);
            FactChange { name, label, before, after, nodes }
        }));
    }
    let key = |one: &FactChange| (one.name.clone(), one.before.clone(), one.after.clone());
    changed.sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| key(a).cmp(&key(b))));
    changed
}
