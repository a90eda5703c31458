//! A fleet run: which nodes are slow, at what, by how much, and what they have in common.
//!
//! The answer comes first, in sentences ([`headline`]). Tables follow from the nodes that are
//! flagged to those of all nodes ([`nodes`]), with what slow nodes have in common and how figures
//! vary between them; [`map`] draws every node in every test. People see the first rows of a long
//! table; programs get all.

mod headline;
mod map;
mod nodes;

use ::fleet::{Entry, Fleet, State};
use analysis::fleet::{
    Against, Change, Column as Test, Differing, FactChange, FleetReport, Group, Node, Trait,
};
use analysis::{RATE, Verdict};
use serde_json::{Value, json};
use words::{count, listed, shortened};

use super::shared::{brief_verdict, coordinates, name};
use crate::document::{Block, Column, Columns, Document, Field, List, Pair, Pairs, Readers, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-fleet-report/2";

/// The rows of a table that people see; JSON has all.
const MAX_ROWS: usize = 40;

/// The nodes that a sentence lists.
const MAX_LISTED_NODES: usize = 3;

/// The groups above the tables.
const MAX_HEADING_GROUPS: usize = 6;

/// The values of a fact that a line lists.
const MAX_LISTED_VALUES: usize = 4;

/// Widths of names in text: of a node, of a node behind a figure, and of a fact's value.
const NODE_WIDTH: usize = 24;
const SLOWEST_WIDTH: usize = 12;
const VALUE_WIDTH: usize = 40;

/// The report of a fleet run with the states of its nodes.
pub fn fleet(fleet: &Fleet, report: &FleetReport) -> Document {
    let title = format!("Fleet run {}", report.run);
    let mut document =
        Document::new(FORMAT, "unixmark fleet report", &title, &["figures", "energy"]);
    document.run.clone_from(&report.run);
    document.extend([Block::Lead(vec![headline::headline(report)]), heading(fleet, report)]);
    document.extend([
        Block::Data("run", json!(report.run)),
        Block::Data("by", json!(report.by)),
        Block::Data("threshold", json!(report.threshold)),
        Block::Data("false_discovery_rate", json!(RATE)),
    ]);

    let suited = in_suited_units(report);
    document.extend(state_blocks(fleet));
    document.extend(nodes::flagged_blocks(&suited));
    document.extend(trait_blocks(report));
    document.extend(report.against.iter().flat_map(|against| change_blocks(report, against)));
    document.extend(group_blocks(report));
    document.extend(test_blocks(report, &suited));
    document.extend([Block::Table(map::table(&suited)), Block::Chart(map::chart(&suited))]);
    document.extend(nodes::ranking_blocks(report));
    document.extend(nodes::energy_blocks(report));
    document.extend(differing_blocks(report));

    let warnings = report.warnings.clone();
    let warnings = List { key: "warnings", lead: "Warning: ", items: warnings, ..List::default() };
    document.extend(warnings.unless_empty());
    let how_to_read = Block::Text(Readers::PEOPLE, "How to read: ".to_owned(), how_to_read(report));
    document.extend([how_to_read]);
    let notes =
        List { key: "notes", lead: "Note: ", items: report.notes.clone(), ..List::default() };
    document.extend(notes.unless_empty());
    document
}

/// The report with the times of each test in the unit in which people read them.
fn in_suited_units(report: &FleetReport) -> FleetReport {
    let mut suited = report.clone();
    for (place, test) in suited.columns.iter_mut().enumerate() {
        let typical = test.typical.value;
        let Some((unit, factor)) = words::suited_unit(typical, &test.cell.unit) else {
            continue;
        };
        test.cell.unit = unit;
        test.typical = test.typical.scaled(factor);
        for value in suited.nodes.iter_mut().filter_map(|node| node.values[place].as_mut()) {
            value.value = value.value.scaled(factor);
        }
    }
    suited
}

fn how_to_read(report: &FleetReport) -> String {
    let (threshold, rate_percent) = (report.threshold, 100.0 * RATE);
    format!(
        "a node is flagged if it is more than {threshold} % from its group's median, and further \
         than chance would put it given how much these nodes differ, at a false discovery rate of \
         {rate_percent:.0} % over all nodes and tests. Negative is worse. Intervals are those of \
         the measurement. Spread: standard deviations from trial to trial within a node, between \
         the nodes of a group, and between groups. A node's places are the best and the worst in \
         its group that the intervals allow."
    )
}

fn shorten_name(node: &Node) -> String {
    shortened(&node.name, NODE_WIDTH)
}

/// A test's name in few letters.
fn name_in_short(test: &Test) -> String {
    format!("{}{}", test.cell.key.test, coordinates(&test.cell.key))
}

/// A test's name on pages.
fn name_in_full(test: &Test) -> String {
    let cell = &test.cell;
    let mut full = name(&cell.label, &cell.key);
    if cell.key.copies != 1 {
        full += &format!(", {}", words::copies(cell.key.copies));
    }
    full
}

/// The columns that name a test: in short at a terminal, in full on pages, its id for programs.
/// `column` reads the test's place in the report; `None` is all tests together.
fn test_columns<'a, T>(
    report: &'a FleetReport,
    column: impl Fn(&T) -> Option<usize> + Copy + 'a,
) -> Columns<'a, T> {
    Columns::new()
        .with(Column::words("Test").narrow("test"), move |row| {
            let Some(place) = column(row) else {
                return Field::text("all together");
            };
            let test = &report.columns[place];
            Field::Text(name_in_full(test)).narrow(name_in_short(test))
        })
        .data(move |row| {
            let test = column(row).map(|place| &report.columns[place].cell.key.test);
            json!({"column": column(row), "test": test})
        })
}

/// A table for people, of limited length, and whole for programs.
fn split_by_reader(table: Table, title: &str, key: &'static str) -> Vec<Block> {
    let for_programs = table.clone().keyed(key).shown(Readers::PROGRAM);
    let for_people = table.titled(title, "").shown(Readers::PEOPLE).at_most(MAX_ROWS);
    vec![Block::Table(for_programs), Block::Table(for_people)]
}

/// The number of nodes that delivered a whole part.
fn count_whole(fleet: &Fleet) -> usize {
    fleet.entries.iter().filter(|entry| entry.state == State::Whole).count()
}

fn heading(fleet: &Fleet, report: &FleetReport) -> Block {
    let nodes = count(fleet.entries.len(), "node");
    let groups = format!("{} by {}", report.groups.len(), report.by);
    let mut items = vec![
        pair("Delivered", format!("{} of {nodes} whole", count_whole(fleet))),
        pair("Tests", report.columns.len().to_string()),
        pair("Groups", groups),
    ];
    for group in report.groups.iter().take(MAX_HEADING_GROUPS) {
        items.push(pair("Group", describe_group(group)));
    }
    Block::Pairs(Pairs { key: "", title: String::new(), items })
}

fn pair(label: &str, value: String) -> Pair {
    Pair { label: label.to_owned(), value, ..Pair::default() }
}

fn describe_group(group: &Group) -> String {
    let mut text = format!("{}: {}", group.name, count(group.nodes, "node"));
    if let Some(ratio) = group.overall {
        text += &format!(", {} of the fleet's typical", words::gain(ratio));
    }
    if !group.judged {
        text += ", too few to flag one";
    }
    text
}

/// Parts of the fleet run that are not whole or need a remark; programs get all parts.
fn state_blocks(fleet: &Fleet) -> Vec<Block> {
    let mut remarkable: Vec<&Entry> = fleet
        .entries
        .iter()
        .filter(|entry| entry.state != State::Whole || !entry.notes.is_empty())
        .collect();
    remarkable.sort_by_key(|entry| entry.state == State::Whole);

    let title = format!("Delivered: {} of {} whole", count_whole(fleet), fleet.entries.len());
    let table = Columns::new()
        .with(Column::words("Node"), |entry: &Entry| {
            Field::Text(shortened(&entry.id.node, NODE_WIDTH))
        })
        .with(Column::words("State").main(), |entry| Field::text(entry.state.name()))
        .with(Column::words("Why"), |entry| {
            Field::Words(entry.reason.iter().chain(&entry.notes).cloned().collect())
        })
        .table(remarkable)
        .titled(title, "")
        .shown(Readers::PEOPLE)
        .at_most(MAX_ROWS);
    let data = fleet.entries.iter().map(entry_data).collect();
    vec![Block::Data("states", data), Block::Table(table)]
}

fn entry_data(entry: &Entry) -> Value {
    let Entry { id, state, reason, notes, .. } = entry;
    json!({
        "node": id.node,
        "task": id.task,
        "state": state.name(),
        "reason": reason,
        "notes": notes,
    })
}

/// What slow nodes have in common.
fn trait_blocks(report: &FleetReport) -> Vec<Block> {
    let columns = Columns::new()
        .with(Column::words("fact"), |common: &Trait| Field::text(&common.name))
        .data(|common| json!({"name": common.name, "label": common.label}))
        .with(Column::words("value").keyed("value").main(), |common| Field::text(&common.value))
        .with(Column::number("slow").main(), |common| {
            Field::Text(format!("{}/{}", common.slow_with, common.slow))
        })
        .with(Column::number("others"), |common| {
            Field::Text(format!("{}/{}", common.others_with, common.others))
        })
        .data(|common| {
            let Trait { slow_with, slow, others_with, others, p, .. } = common;
            json!({
                "slow_with": slow_with,
                "slow": slow,
                "others_with": others_with,
                "others": others,
                "p": p,
            })
        })
        .with(Column::number("q").keyed("q"), |common| Field::Number(common.q, words::probability));
    split_by_reader(columns.table(&report.traits), "What slow nodes have in common", "traits")
}

/// What changed since an earlier run: tests, single nodes, facts, and which nodes came and went.
fn change_blocks(report: &FleetReport, against: &Against) -> Vec<Block> {
    let Against { run, pairs, only_before, only_after, .. } = against;
    let mut blocks = vec![Block::Data(
        "against",
        json!({
            "run": run,
            "pairs": pairs,
            "only_before": only_before,
            "only_after": only_after,
        }),
    )];

    let changes = change_columns(report).table(&against.changes);
    let title = format!("Against {run}, node by node: {}", count(*pairs, "node"));
    blocks.extend(split_by_reader(changes, &title, "changes"));
    let unlike = nodes::outlier_columns(report).table(&against.unlike);
    blocks.extend(split_by_reader(unlike, "Nodes that changed unlike the others", "unlike"));
    let facts = fact_change_columns().table(&against.facts);
    blocks.extend(split_by_reader(facts, "Facts that changed", "fact_changes"));

    for (nodes, run) in [(only_before, run.as_str()), (only_after, "this run")] {
        if !nodes.is_empty() {
            let lead = format!("Only in {run}: ");
            let nodes = listed(nodes, MAX_LISTED_NODES);
            blocks.push(Block::Text(Readers::PEOPLE, lead, nodes));
        }
    }
    blocks
}

fn change_columns(report: &FleetReport) -> Columns<'_, Change> {
    test_columns(report, |change: &Change| change.column)
        .with(Column::number("nodes").keyed("nodes"), |change| Field::Count(change.nodes as u64))
        .with(Column::number("change %").keyed("delta").main(), |change| {
            Field::Estimate(change.delta, words::signed)
        })
        .with(Column::number("95 %"), |change| Field::Interval(change.delta, words::signed))
        .data(|change| json!({"p": change.p, "q": change.q, "method": change.method}))
        .with(Column::words("verdict").keyed("verdict").main(), |change| {
            Field::Worded(brief_verdict(change.verdict, "%"), change.verdict.word().into())
        })
        .with(Column::data("size"), |change| match change.verdict {
            Verdict::Same(size) | Verdict::Undecided(size) => Field::Number(size, words::figure),
            _ => Field::Missing,
        })
}

fn fact_change_columns() -> Columns<'static, FactChange> {
    Columns::new()
        .with(Column::words("fact").keyed("label"), |change: &FactChange| {
            Field::text(&change.label)
        })
        .with(Column::data("name"), |change| Field::text(&change.name))
        .with(Column::words("before").keyed("before"), |change| Field::text(&change.before))
        .with(Column::words("after").keyed("after").main(), |change| Field::text(&change.after))
        .with(Column::number("nodes").keyed("nodes"), |change| Field::Count(change.nodes as u64))
}

/// The groups, which people see if there are several.
fn group_blocks(report: &FleetReport) -> Vec<Block> {
    let columns = Columns::new()
        .with(Column::words("group").keyed("name"), |group: &Group| Field::text(&group.name))
        .with(Column::number("nodes").keyed("nodes"), |group| Field::Count(group.nodes as u64))
        .data(|group| json!({"judged": group.judged, "overall": group.overall}))
        .with(Column::number("typical %").main(), |group| {
            Field::maybe(group.overall.map(|ratio| 100.0 * (ratio - 1.0)), words::signed)
        });
    let table = columns.table(&report.groups);
    if report.groups.len() < 2 {
        return vec![Block::Table(table.keyed("groups").shown(Readers::PROGRAM))];
    }
    split_by_reader(table, &format!("Groups by {}", report.by), "groups")
}

/// The typical figure of each test and how it varies.
fn test_blocks(report: &FleetReport, suited: &FleetReport) -> Vec<Block> {
    let data = table_of_tests(report).keyed("columns").shown(Readers::PROGRAM);
    let shown = table_of_tests(suited).titled("How figures vary", "").shown(Readers::PEOPLE);
    vec![Block::Table(data), Block::Table(shown.at_most(MAX_ROWS))]
}

fn table_of_tests(report: &FleetReport) -> Table {
    let columns = Columns::new()
        .keyed(|test: &Test| &test.cell.key)
        .with(Column::words("Test").narrow("test"), |test| {
            let narrow = format!("{}, {}", name_in_short(test), test.cell.unit);
            Field::Text(name_in_full(test)).narrow(narrow)
        })
        .data(|test| json!({"label": test.cell.label, "metric": test.cell.metric}))
        .with(Column::number("Nodes").keyed("nodes").shown(Readers::PAGE), |test| {
            Field::Count(test.nodes as u64)
        })
        .with(Column::number("typical").keyed("typical").main(), |test| {
            Field::Estimate(test.typical, words::compact)
        })
        .with(Column::words("Unit").keyed("unit").shown(Readers::PAGE), |test| {
            Field::text(&test.cell.unit)
        })
        .with(Column::data("typical_of"), |test| Field::data(&test.typical_of))
        .with(Column::number("within %").keyed("within"), |test| {
            Field::Number(test.spread.within, words::figure)
        })
        .with(Column::number("between %").keyed("between"), |test| {
            Field::Number(test.spread.between, words::figure)
        })
        .with(Column::number("groups %").keyed("groups"), |test| {
            Field::Number(test.spread.groups.unwrap_or(f64::NAN), words::figure)
        })
        .with(Column::words("slowest").shown(Readers::PEOPLE), |test| slowest_field(report, test));
    columns.table(&report.columns)
}

/// The node that is furthest below its group's typical one.
fn slowest_field(report: &FleetReport, test: &Test) -> Field {
    let is_test = |other: &Test| std::ptr::eq(other, test);
    let Some(place) = report.columns.iter().position(is_test) else { return Field::Missing };

    let deviations =
        report.nodes.iter().filter_map(|node| Some((node, node.values[place]?.deviation.value)));
    match deviations.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((node, percent)) => {
            let name = shortened(&node.name, SLOWEST_WIDTH);
            Field::Text(format!("{} {name}", words::signed(percent)))
        }
        None => Field::Missing,
    }
}

/// Facts that differ between nodes; people do not see those that nearly every node has to itself.
fn differing_blocks(report: &FleetReport) -> Vec<Block> {
    let max_distinct = report.nodes.len().div_ceil(2);
    let shared = report.differing.iter().filter(|fact| fact.distinct <= max_distinct);
    let list = List {
        title: "The nodes differ in".to_owned(),
        lead: "  ",
        items: shared
            .take(MAX_ROWS)
            .map(|fact| format!("{}: {}", fact.name, list_values(fact)))
            .collect(),
        readers: Readers::PEOPLE,
        ..List::default()
    };
    let data = report.differing.iter().map(differing_data).collect();
    vec![Block::Data("differing", data), Block::List(list)]
}

fn differing_data(fact: &Differing) -> Value {
    let mut values = Vec::new();
    for (value, nodes) in &fact.values {
        values.push(json!({"value": value, "nodes": nodes}));
    }
    json!({
        "name": fact.name,
        "label": fact.label,
        "distinct": fact.distinct,
        "unknown": fact.unknown,
        "values": values,
    })
}

/// The values that most nodes have, each with how many have it, and how many others there are.
fn list_values(fact: &Differing) -> String {
    let mut values = Vec::new();
    for (value, nodes) in fact.values.iter().take(MAX_LISTED_VALUES) {
        values.push(format!("{} ({nodes})", shortened(value, VALUE_WIDTH)));
    }
    let more = fact.distinct.saturating_sub(values.len());
    if more > 0 {
        values.push(format!("{more} more"));
    }
    if fact.unknown > 0 {
        values.push(format!("unknown ({})", fact.unknown));
    }
    values.join(", ")
}
