//! The tables of nodes: outliers, the ranking, every figure, and energy.

use analysis::fleet::{FleetReport, Named, Node, Outlier, Taken, Value as FigureValue};
use serde_json::{Value, json};
use stats::Estimate;
use words::shortened;

use super::{MAX_ROWS, shorten_name, split_by_reader, test_columns};
use crate::document::{Block, Column, Columns, Field, Readers, Table};
use crate::views::rank;

/// The width of a group's name in the ranking.
const GROUP_WIDTH: usize = 18;

const RANKING_REMARK: &str = "difference from the group's typical node over all tests. Nodes that \
share places cannot be told apart";

const ENERGY_REMARK: &str = "power, and how much more energy an operation took than on the group's \
typical node, over all tests, of everything that the energy source sees";

/// The flagged nodes, each with the tests in which it is slow or fast.
pub(super) fn flagged_blocks(report: &FleetReport) -> Vec<Block> {
    let by_node = [report.named(Named::Slow), report.named(Named::Fast)].concat();
    let outliers: Vec<Outlier> =
        by_node.into_iter().flat_map(|(_, outliers)| outliers).copied().collect();
    let table = outlier_columns(report).table(&outliers);
    split_by_reader(table, "Slow and fast nodes", "outliers")
}

/// The columns of nodes that are unlike the others.
pub(super) fn outlier_columns(report: &FleetReport) -> Columns<'_, Outlier> {
    Columns::new()
        .with(Column::words("node"), |outlier: &Outlier| {
            Field::Text(shorten_name(&report.nodes[outlier.node]))
        })
        .data(|outlier| json!({"node": report.nodes[outlier.node].name}))
        .and(test_columns(report, |outlier: &Outlier| outlier.column))
        .with(Column::words("").keyed("named").shown(Readers::PAGE), |outlier| {
            Field::text(outlier.named.name())
        })
        .with(Column::number("figure"), |outlier| {
            let column = outlier.column;
            match column.and_then(|column| report.nodes[outlier.node].values[column]) {
                Some(value) => Field::Number(value.value.value, words::compact),
                None => Field::Nothing,
            }
        })
        .with(Column::number("dev. %").keyed("deviation").main(), |outlier| {
            Field::Estimate(outlier.deviation, words::signed)
        })
        .with(Column::number("95 %"), |outlier| Field::Interval(outlier.deviation, words::signed))
        .with(Column::data("p"), |outlier| Field::Number(outlier.p, words::figure))
        .with(Column::number("q").keyed("q").shown(Readers::PAGE), |outlier| {
            Field::Text(words::probability(outlier.q))
        })
}

pub(super) fn ranking_blocks(report: &FleetReport) -> Vec<Block> {
    let columns = ranking_columns(report);
    let nodes = columns.table(&report.nodes).keyed("nodes").shown(Readers::PROGRAM);
    let shown = columns
        .table(&report.nodes)
        .titled("Ranking", RANKING_REMARK)
        .shown(Readers::PEOPLE)
        .ends(MAX_ROWS / 2);
    vec![Block::Table(nodes), Block::Table(table_of_figures(report)), Block::Table(shown)]
}

fn ranking_columns(report: &FleetReport) -> Columns<'_, Node> {
    let columns = Columns::new()
        .with(Column::words("node"), |node: &Node| Field::Text(shorten_name(node)))
        .data(|node| json!({"node": node.name, "group": node.group, "whole": node.whole}))
        .with(Column::number("place"), |node| match rank_of(node) {
            Some(places) => Field::Text(rank(places)),
            None => Field::text(words::NOTHING),
        })
        .with(Column::data("rank"), |node| Field::data(&rank_of(node)))
        .with(Column::data("overall"), |node| Field::Estimate(node.overall, words::gain))
        .with(Column::number("overall %").main(), |node| {
            Field::Number(node.deviation().value, words::signed)
        })
        .with(Column::number("95 %"), |node| Field::Interval(node.deviation(), words::signed))
        .data(|node| json!({"p": node.p, "q": node.q, "named": node.named.map(Named::name)}))
        .with(Column::words(""), |node| Field::Text(describe_state(node)));
    let has_several_groups = report.groups.len() > 1;
    if !has_several_groups {
        return columns;
    }
    columns.with(Column::words("group"), |node| {
        Field::Text(shortened(&report.groups[node.group].name, GROUP_WIDTH))
    })
}

/// The places of a node, if it has any: they begin at 1.
fn rank_of(node: &Node) -> Option<(usize, usize)> {
    Some(node.rank).filter(|(best, _)| *best > 0)
}

/// What is unusual about a node: `slow, not whole`.
fn describe_state(node: &Node) -> String {
    let flag = node.named.map_or("", Named::name);
    let partial = if node.whole { "" } else { "not whole" };
    let mut words = vec![flag, partial];
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// A figure of a node; that of all tests together has no test.
struct NodeFigure<'a> {
    node: &'a Node,
    test: Option<(usize, FigureValue)>,
}

/// Every figure of every node, for programs: a row each, after the row of all tests together.
fn table_of_figures(report: &FleetReport) -> Table {
    let mut figures = Vec::new();
    for node in &report.nodes {
        figures.push(NodeFigure { node, test: None });
        for (column, value) in node.values.iter().enumerate() {
            if let Some(value) = value {
                figures.push(NodeFigure { node, test: Some((column, *value)) });
            }
        }
    }
    Columns::new()
        .data(|figure: &NodeFigure<'_>| figure_data(report, figure))
        .table(&figures)
        .keyed("figures")
        .shown(Readers::PROGRAM)
}

fn figure_data(report: &FleetReport, figure: &NodeFigure<'_>) -> Value {
    let node = figure.node;
    let column = figure.test.map(|(column, _)| column);
    let cell = column.map(|column| &report.columns[column].cell);
    let key = cell.map(|cell| &cell.key);
    // All tests together have a deviation and no figure.
    let score = figure.test.map(|(_, value)| value.value);
    let (deviation, p, q, named) = match figure.test {
        Some((_, value)) => (value.deviation, value.p, value.q, value.named),
        None => (node.deviation(), node.p, node.q, node.named),
    };
    json!({
        "node": node.name,
        "group": report.groups[node.group].name,
        "column": column,
        "test": key.map(|key| &key.test),
        "copies": key.map(|key| key.copies),
        "load": key.map(|key| &key.load),
        "condition": key.map(|key| &key.condition),
        "unit": cell.map(|cell| &cell.unit),
        "value": score.map(|score| score.value),
        "low": score.map(|score| score.low),
        "high": score.map(|score| score.high),
        "deviation": deviation.value,
        "deviation_low": deviation.low,
        "deviation_high": deviation.high,
        "p": p,
        "q": q,
        "named": named.map(Named::name),
    })
}

/// A node with the energy that it took for the same work.
struct NodeEnergy<'a> {
    node: &'a Node,
    taken: Taken,
}

/// The energy of the nodes for the same work, those that took most first; nothing where none is
/// known.
pub(super) fn energy_blocks(report: &FleetReport) -> Vec<Block> {
    let mut energies = Vec::new();
    for (node, taken) in report.taken() {
        energies.push(NodeEnergy { node, taken });
    }
    if energies.is_empty() {
        return Vec::new();
    }

    let table = energy_columns().table(&energies);
    let for_programs = table.clone().keyed("energy").shown(Readers::PROGRAM);
    let for_people = table
        .titled("Energy of the same work", ENERGY_REMARK)
        .shown(Readers::PEOPLE)
        .ends(MAX_ROWS / 2);
    vec![Block::Table(for_programs), Block::Table(for_people)]
}

fn energy_columns<'a>() -> Columns<'a, NodeEnergy<'a>> {
    Columns::new()
        .with(Column::words("node").keyed("node"), |energy: &NodeEnergy<'_>| {
            Field::Worded(shorten_name(energy.node), energy.node.name.as_str().into())
        })
        .with(Column::number("watts").keyed("watts"), |energy| {
            Field::Number(energy.taken.watts, words::figure)
        })
        .with(Column::number("energy %").main(), |energy| {
            Field::Estimate(energy.taken.excess, words::signed)
        })
        .with(Column::number("95 %"), |energy| Field::Interval(energy.taken.excess, words::signed))
        .data(|energy| {
            let Taken { excess: Estimate { value, low, high }, p, .. } = energy.taken;
            json!({"excess": value, "excess_low": low, "excess_high": high, "p": p})
        })
        .with(Column::number("q").keyed("q").shown(Readers::PAGE), |energy| {
            Field::Number(energy.taken.q, words::probability)
        })
        .with(Column::words("").keyed("named"), |energy| {
            let named = energy.taken.named.map(Named::of_energy);
            Field::Worded(named.unwrap_or_default().to_owned(), json!(named))
        })
}
