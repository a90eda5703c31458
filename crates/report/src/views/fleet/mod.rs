//! A fleet run: which nodes are slow, at what, by how much, and what they have in common.

mod map;

use ::fleet::{Entry, Fleet, State};
use analysis::fleet::{
    Against, Change, Column as Test, Differing, FactChange, FleetReport, Group, Named, Node, Outlier, Taken, Trait,
    Value as FigureValue,
};
use analysis::{RATE, Verdict};
use serde_json::{Value as Json, json};
use stats::Estimate;
use words::{count, listed, shortened};

use super::rank;
use super::shared::{coordinates, name as labelled, verdict_words};
use crate::document::{Block, Column, Columns, Document, Field, List, Pair, Pairs, Readers, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-fleet-report/2";

/// Rows of a table before the rest is left to programs.
const MOST: usize = 40;

/// Nodes that a sentence lists.
const FEW: usize = 3;

/// Returns the report of a fleet run with the states of its nodes.
pub fn fleet(fleet: &Fleet, report: &FleetReport) -> Document {
    let title = format!("Fleet run {}", report.run);
    let mut document = Document::new(FORMAT, "unixmark fleet report", &title, &["figures", "energy"]);
    document.run.clone_from(&report.run);
    document.extend([Block::Lead(vec![headline(report)]), heading(fleet, report)]);
    document.extend([
        Block::Data("run", json!(report.run)),
        Block::Data("by", json!(report.by)),
        Block::Data("threshold", json!(report.threshold)),
        Block::Data("false_discovery_rate", json!(RATE)),
    ]);
    document.extend(states(fleet));
    document.extend(flagged(report));
    document.extend(traits(report));
    document.extend(report.against.iter().flat_map(|against| changes(report, against)));
    document.extend(groups(report));
    document.extend(tests(report));
    document.extend([Block::Table(map::table(report)), Block::Chart(map::chart(report))]);
    document.extend(ranking(report));
    document.extend(energy(report));
    document.extend(differing(report));
    let warnings = report.warnings.clone();
    document.extend(List { key: "warnings", lead: "Warning: ", items: warnings, ..List::default() }.unless_empty());
    document.blocks.push(Block::Text(Readers::PEOPLE, "How to read: ".to_owned(), reading(report)));
    document
        .extend(List { key: "notes", lead: "Note: ", items: report.notes.clone(), ..List::default() }.unless_empty());
    document
}

fn reading(report: &FleetReport) -> String {
    format!(
        "a node is flagged if it is more than {} % from its group's median, and further than chance would put it given \
         how much these nodes differ, at a false discovery rate of {:.0} % over all nodes and tests. Negative is \
         worse. Intervals are those of the measurement. Spread: standard deviations from trial to trial within a node, \
         between the nodes of a group, and between groups. A node's places are the best and the worst in its group that \
         the intervals allow.",
        report.threshold,
        100.0 * RATE
    )
}

/// The answer in a few sentences.
fn headline(report: &FleetReport) -> String {
    let delivered = count(report.nodes.len(), "node");
    let nodes = count(report.measured(), "node");
    let slow = report.slow();
    let mut fast = report.named(Named::Fast);
    fast.retain(|(node, _)| slow.iter().all(|(other, _)| other != node));
    let fast: Vec<String> = fast.iter().map(|(node, _)| short(&report.nodes[*node])).collect();
    let mut text = match slow.len() {
        _ if report.columns.is_empty() => format!("{delivered} delivered, and nothing was measured"),
        _ if report.groups.iter().all(|group| !group.judged) => {
            format!("{delivered} delivered: too few similar nodes to call any of them slow")
        }
        0 => format!("None of {nodes} is shown to be slow"),
        1 => format!("1 of {nodes} is slow: {}", slow_nodes(report, &slow)),
        many => format!("{many} of {nodes} are slow: {}", slow_nodes(report, &slow)),
    };
    text += &in_common(report);
    text += ".";
    let without = report.nodes.len() - report.measured();
    if without > 0 && !report.columns.is_empty() {
        text += &format!(" {} delivered no figure.", count(without, "node"));
    }
    if !fast.is_empty() {
        text += &format!(" Faster than the others: {}.", listed(&fast, FEW));
    }
    let hungry = report.taken().into_iter().filter(|(_, taken)| taken.named == Some(Named::Slow));
    let hungry: Vec<String> =
        hungry.map(|(node, taken)| format!("{} ({} %)", short(node), words::signed(taken.excess.value))).collect();
    if !hungry.is_empty() {
        text += &format!(" More energy for the same work: {}.", listed(&hungry, FEW));
    }
    text
}

/// Returns the most significant trait that several slow nodes share; of a single one, what no other node has.
fn in_common(report: &FleetReport) -> String {
    let Some(first) = report.traits.first() else { return String::new() };
    let fact = format!("{} {}", first.name, first.value);
    match first.slow {
        1 if first.others_with == 0 => format!(", the only one with {fact}"),
        1 => String::new(),
        _ if first.q > RATE => String::new(),
        _ => format!(
            ", with {fact} in common ({} of {}, {} of {} others)",
            first.slow_with, first.slow, first.others_with, first.others
        ),
    }
}

/// The slowest nodes, each with how slow it is and where.
fn slow_nodes(report: &FleetReport, slow: &[(usize, Vec<&Outlier>)]) -> String {
    let node = |(node, found): &(usize, Vec<&Outlier>)| {
        let places: Vec<String> = found.iter().take(2).map(|outlier| how_far(report, outlier)).collect();
        let more = if found.len() > 2 { ", …" } else { "" };
        format!("{} ({}{more})", short(&report.nodes[*node]), places.join(", "))
    };
    listed(&slow.iter().map(node).collect::<Vec<String>>(), FEW)
}

fn how_far(report: &FleetReport, outlier: &Outlier) -> String {
    let way = if outlier.deviation.value < 0.0 { "slower" } else { "faster" };
    let place = outlier.column.map_or("overall".to_owned(), |column| format!("at {}", id(&report.columns[column])));
    format!("{:.1} % {way} {place}", outlier.deviation.value.abs())
}

fn short(node: &Node) -> String {
    shortened(&node.name, 24)
}

/// A column's name in few letters.
fn id(test: &Test) -> String {
    format!("{}{}", test.cell.key.test, coordinates(&test.cell.key))
}

/// A column's name on pages.
fn title(test: &Test) -> String {
    let copies =
        if test.cell.key.copies == 1 { String::new() } else { format!(", {}", words::copies(test.cell.key.copies)) };
    format!("{}{copies}", labelled(&test.cell.label, &test.cell.key))
}

/// Returns the name of a column; `None` stands for all tests together.
fn column_name(report: &FleetReport, column: Option<usize>) -> Field {
    let name = |name: fn(&Test) -> String| {
        column.map_or_else(|| "all together".to_owned(), |column| name(&report.columns[column]))
    };
    Field::Text(name(title)).narrow(name(id))
}

/// The columns that name a test: short at a terminal, its label on pages, its id for programs.
fn of_test<'a, T>(report: &'a FleetReport, column: impl Fn(&T) -> Option<usize> + Copy + 'a) -> Columns<'a, T> {
    Columns::new().with(Column::words("Test").narrow("test"), move |row| column_name(report, column(row))).data(
        move |row| {
            let test = column(row).map(|place| &report.columns[place].cell.key.test);
            json!({"column": column(row), "test": test})
        },
    )
}

/// Returns the number of nodes that delivered a whole part.
fn whole(fleet: &Fleet) -> usize {
    fleet.entries.iter().filter(|entry| entry.state == State::Whole).count()
}

fn heading(fleet: &Fleet, report: &FleetReport) -> Block {
    let pair = |label: &str, value: String| Pair { label: label.to_owned(), value, ..Pair::default() };
    let group = |group: &Group| {
        let typical =
            group.overall.map_or_else(String::new, |ratio| format!(", {} of the fleet's typical", words::gain(ratio)));
        let judged = if group.judged { "" } else { ", too few to flag one" };
        pair("Group", format!("{}: {}{typical}{judged}", group.name, count(group.nodes, "node")))
    };
    let mut items = vec![
        pair("Delivered", format!("{} of {} whole", whole(fleet), count(fleet.entries.len(), "node"))),
        pair("Tests", report.columns.len().to_string()),
        pair("Groups", format!("{} by {}", report.groups.len(), report.by)),
    ];
    items.extend(report.groups.iter().take(6).map(group));
    Block::Pairs(Pairs { key: "", title: String::new(), items })
}

/// Parts of the fleet run that are not whole or need a remark.
fn states(fleet: &Fleet) -> Vec<Block> {
    let why = |entry: &&Entry| entry.reason.iter().chain(&entry.notes).cloned().collect::<Vec<String>>();
    let data = |entry: &&Entry| {
        let Entry { id, state, reason, notes, .. } = entry;
        json!({"node": id.node, "task": id.task, "state": state.name(), "reason": reason, "notes": notes})
    };
    let all: Vec<&Entry> = fleet.entries.iter().collect();
    let mut odd: Vec<&Entry> =
        all.iter().copied().filter(|entry| entry.state != State::Whole || !entry.notes.is_empty()).collect();
    odd.sort_by_key(|entry| entry.state == State::Whole);
    let shown = Columns::new()
        .with(Column::words("Node"), |entry: &&Entry| Field::text(shortened(&entry.id.node, 24)))
        .with(Column::words("State").main(), |entry| Field::text(entry.state.name()))
        .with(Column::words("Why"), move |entry| Field::Words(why(entry)));
    let title = format!("Delivered: {} of {} whole", whole(fleet), all.len());
    let mut blocks = vec![Block::Data("states", all.iter().map(data).collect())];
    blocks.push(Block::Table(shown.table(&odd).titled(title, "").shown(Readers::PEOPLE).at_most(MOST)));
    blocks
}

/// The columns of nodes that are unlike the others.
fn outliers(report: &FleetReport) -> Columns<'_, Outlier> {
    let figure = |outlier: &Outlier| {
        let value = outlier.column.and_then(|column| report.nodes[outlier.node].values[column]);
        value.map_or(Field::Nothing, |value| Field::Number(value.value.value, words::compact))
    };
    Columns::new()
        .with(Column::words("node"), |outlier: &Outlier| Field::text(short(&report.nodes[outlier.node])))
        .data(|outlier| json!({"node": report.nodes[outlier.node].name}))
        .and(of_test(report, |outlier: &Outlier| outlier.column))
        .with(Column::words("").keyed("named").shown(Readers::PAGE), |outlier| Field::text(outlier.named.name()))
        .with(Column::number("figure"), figure)
        .with(Column::number("dev. %").keyed("deviation").main(), |outlier| {
            Field::Estimate(outlier.deviation, words::signed)
        })
        .with(Column::number("95 %"), |outlier| Field::Interval(outlier.deviation, words::signed))
        .with(Column::data("p"), |outlier| Field::Number(outlier.p, words::figure))
        .with(Column::number("q").keyed("q").shown(Readers::PAGE), |outlier| Field::Text(words::probability(outlier.q)))
}

/// The flagged nodes, each with the tests in which it is slow or fast.
fn flagged(report: &FleetReport) -> Vec<Block> {
    let sorted = [report.named(Named::Slow), report.named(Named::Fast)].concat();
    let found: Vec<Outlier> = sorted.into_iter().flat_map(|(_, outliers)| outliers).copied().collect();
    table_of(outliers(report).table(&found), "Slow and fast nodes", "outliers")
}

/// Returns a table for people, of limited length, and whole for programs.
fn table_of(table: Table, title: &str, key: &'static str) -> Vec<Block> {
    let data = Block::Table(table.clone().keyed(key).shown(Readers::PROGRAM));
    vec![data, Block::Table(table.titled(title, "").shown(Readers::PEOPLE).at_most(MOST))]
}

fn traits(report: &FleetReport) -> Vec<Block> {
    let columns = Columns::new()
        .with(Column::words("fact"), |found: &Trait| Field::text(&found.name))
        .data(|found| json!({"name": found.name, "label": found.label}))
        .with(Column::words("value").keyed("value").main(), |found| Field::text(&found.value))
        .with(Column::number("slow").main(), |found| Field::text(format!("{}/{}", found.slow_with, found.slow)))
        .with(Column::number("others"), |found| Field::text(format!("{}/{}", found.others_with, found.others)))
        .data(|found| {
            let Trait { slow_with, slow, others_with, others, p, .. } = found;
            json!({"slow_with": slow_with, "slow": slow, "others_with": others_with, "others": others, "p": p})
        })
        .with(Column::number("q").keyed("q"), |found| Field::Number(found.q, words::probability));
    table_of(columns.table(&report.traits), "What slow nodes have in common", "traits")
}

fn changes(report: &FleetReport, against: &Against) -> Vec<Block> {
    let size = |change: &Change| match change.verdict {
        Verdict::Same(size) | Verdict::Undecided(size) => Field::Number(size, words::figure),
        _ => Field::Missing,
    };
    let columns = of_test(report, |change: &Change| change.column)
        .with(Column::number("nodes").keyed("nodes"), |change| Field::Count(change.nodes as u64))
        .with(Column::number("change %").keyed("delta").main(), |change| Field::Estimate(change.delta, words::signed))
        .with(Column::number("95 %"), |change| Field::Interval(change.delta, words::signed))
        .data(|change| json!({"p": change.p, "q": change.q, "method": change.method}))
        .with(Column::words("verdict").keyed("verdict").main(), |change| {
            Field::Worded(verdict_words(change.verdict, "%"), change.verdict.word().into())
        })
        .with(Column::data("size"), size);
    let title = format!("Against {}, node by node: {}", against.run, count(against.pairs, "node"));
    let facts = Columns::new()
        .with(Column::words("fact").keyed("label"), |change: &FactChange| Field::text(&change.label))
        .with(Column::data("name"), |change| Field::text(&change.name))
        .with(Column::words("before").keyed("before"), |change| Field::text(&change.before))
        .with(Column::words("after").keyed("after").main(), |change| Field::text(&change.after))
        .with(Column::number("nodes").keyed("nodes"), |change| Field::Count(change.nodes as u64));
    let lists = [(&against.only_before, against.run.as_str()), (&against.only_after, "this run")];
    let only = lists.into_iter().filter(|(nodes, _)| !nodes.is_empty());
    let lone = only.map(|(nodes, run)| Block::Text(Readers::PEOPLE, format!("Only in {run}: "), listed(nodes, FEW)));
    let about = json!({
        "run": against.run, "pairs": against.pairs,
        "only_before": against.only_before, "only_after": against.only_after,
    });
    let mut blocks = vec![Block::Data("against", about)];
    blocks.extend(table_of(columns.table(&against.changes), &title, "changes"));
    blocks.extend(table_of(outliers(report).table(&against.unlike), "Nodes that changed unlike the others", "unlike"));
    blocks.extend(table_of(facts.table(&against.facts), "Facts that changed", "fact_changes"));
    blocks.extend(lone);
    blocks
}

fn groups(report: &FleetReport) -> Vec<Block> {
    let columns = Columns::new()
        .with(Column::words("group").keyed("name"), |group: &Group| Field::text(&group.name))
        .with(Column::number("nodes").keyed("nodes"), |group| Field::Count(group.nodes as u64))
        .data(|group| json!({"judged": group.judged, "overall": group.overall}))
        .with(Column::number("typical %").main(), |group| {
            Field::maybe(group.overall.map(|ratio| 100.0 * (ratio - 1.0)), words::signed)
        });
    let table = columns.table(&report.groups);
    match report.groups.len() {
        0 | 1 => vec![Block::Table(table.keyed("groups").shown(Readers::PROGRAM))],
        _ => table_of(table, &format!("Groups by {}", report.by), "groups"),
    }
}

/// The typical figure of each test and how it varies.
fn tests(report: &FleetReport) -> Vec<Block> {
    let spread = |key: &str, head: &str, of: fn(&Test) -> f64| (Column::number(head).keyed(key), of);
    let mut columns = Columns::new()
        .keyed(|test: &Test| &test.cell.key)
        .with(Column::words("Test").narrow("test"), |test| {
            Field::text(title(test)).narrow(format!("{}, {}", id(test), test.cell.unit))
        })
        .data(|test| json!({"label": test.cell.label, "metric": test.cell.metric}))
        .with(Column::number("Nodes").keyed("nodes").shown(Readers::PAGE), |test| Field::Count(test.nodes as u64))
        .with(Column::number("typical").keyed("typical").main(), |test| Field::Estimate(test.typical, words::compact))
        .with(Column::words("Unit").keyed("unit").shown(Readers::PAGE), |test| Field::text(&test.cell.unit))
        .with(Column::data("typical_of"), |test| Field::data(&test.typical_of));
    for (column, of) in [
        spread("within", "within %", |test| test.spread.within),
        spread("between", "between %", |test| test.spread.between),
        spread("groups", "groups %", |test| test.spread.groups.unwrap_or(f64::NAN)),
    ] {
        columns = columns.with(column, move |test: &Test| Field::Number(of(test), words::figure));
    }
    let slowest = |test: &Test| {
        let place = report.columns.iter().position(|other| std::ptr::eq(other, test));
        let found = place.and_then(|place| slowest(report, place));
        found
            .map_or(Field::Missing, |(node, by)| Field::text(format!("{} {}", words::signed(by), shortened(&node, 12))))
    };
    let columns = columns.with(Column::words("slowest").shown(Readers::PEOPLE), slowest);
    table_of(columns.table(&report.columns), "How figures vary", "columns")
}

/// The node that is furthest below its group's typical one.
fn slowest(report: &FleetReport, column: usize) -> Option<(String, f64)> {
    let deviations = report.nodes.iter().filter_map(|node| Some((node, node.values[column]?.deviation.value)));
    let (node, by) = deviations.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((node.name.clone(), by))
}

fn ranking(report: &FleetReport) -> Vec<Block> {
    let several = report.groups.len() > 1;
    let place = |node: &Node| match node.rank {
        (0, _) => words::NOTHING.to_owned(),
        range => rank(range),
    };
    let mark = |node: &Node| {
        let partial = if node.whole { "" } else { "not whole" };
        let flag = node.named.map_or("", Named::name);
        [flag, partial].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let mut columns = Columns::new()
        .with(Column::words("node"), |node: &Node| Field::text(short(node)))
        .data(|node| json!({"node": node.name, "group": node.group, "whole": node.whole}))
        .with(Column::number("place"), move |node| Field::text(place(node)))
        .with(Column::data("rank"), |node| Field::data(&Some(node.rank).filter(|rank| rank.0 > 0)))
        .with(Column::data("overall"), |node| Field::Estimate(node.overall, words::gain))
        .with(Column::number("overall %").main(), |node| Field::Number(node.deviation().value, words::signed))
        .with(Column::number("95 %"), |node| Field::Interval(node.deviation(), words::signed))
        .data(|node| json!({"p": node.p, "q": node.q, "named": node.named.map(Named::name)}))
        .with(Column::words(""), move |node| Field::text(mark(node)));
    if several {
        columns =
            columns.with(Column::words("group"), |node| Field::text(shortened(&report.groups[node.group].name, 18)));
    }
    let mut shown = columns.table(&report.nodes).titled(
        "Ranking",
        "difference from the group's typical node over all tests. Nodes that share places cannot be told apart",
    );
    shown = shown.shown(Readers::PEOPLE).ends(MOST / 2);
    let nodes = columns.table(&report.nodes).keyed("nodes").shown(Readers::PROGRAM);
    vec![Block::Table(nodes), Block::Table(figures(report)), Block::Table(shown)]
}

/// Returns every figure of every node, for programs: a row each, after the row of all tests together.
fn figures(report: &FleetReport) -> Table {
    let figure = |(node, column, value): &(&Node, Option<usize>, Option<FigureValue>)| {
        let place = column.map(|column| &report.columns[column]);
        let key = place.map(|test| &test.cell.key);
        let score = value.map(|value| value.value);
        let all =
            FigureValue { value: node.overall, deviation: node.deviation(), p: node.p, q: node.q, named: node.named };
        let FigureValue { deviation, p, q, named, .. } = value.unwrap_or(all);
        json!({
            "node": node.name, "group": report.groups[node.group].name, "column": column,
            "test": key.map(|key| &key.test), "copies": key.map(|key| key.copies),
            "load": key.map(|key| &key.load), "condition": key.map(|key| &key.condition),
            "unit": place.map(|test| &test.cell.unit), "value": score.map(|score| score.value),
            "low": score.map(|score| score.low), "high": score.map(|score| score.high),
            "deviation": deviation.value, "deviation_low": deviation.low, "deviation_high": deviation.high,
            "p": p, "q": q, "named": named.map(Named::name),
        })
    };
    let rows = report.nodes.iter().flat_map(|node| {
        let values = node.values.iter().enumerate();
        let known = values.filter_map(move |(column, value)| Some((node, Some(column), Some((*value)?))));
        [(node, None, None)].into_iter().chain(known)
    });
    Columns::new().data(figure).table(&rows.collect::<Vec<_>>()).keyed("figures").shown(Readers::PROGRAM)
}

/// Returns the energy of the nodes for the same work, those that took most first; nothing where none is known.
fn energy(report: &FleetReport) -> Vec<Block> {
    let known = report.taken();
    if known.is_empty() {
        return Vec::new();
    }
    let columns = Columns::new()
        .with(Column::words("node").keyed("node"), |(node, _): &(&Node, Taken)| {
            Field::Worded(short(node), node.name.as_str().into())
        })
        .with(Column::number("watts").keyed("watts"), |(_, taken)| Field::Number(taken.watts, words::figure))
        .with(Column::number("energy %").main(), |(_, taken)| Field::Estimate(taken.excess, words::signed))
        .with(Column::number("95 %"), |(_, taken)| Field::Interval(taken.excess, words::signed))
        .data(|(_, taken)| {
            let Taken { excess: Estimate { value, low, high }, p, .. } = taken;
            json!({"excess": value, "excess_low": low, "excess_high": high, "p": p})
        })
        .with(Column::number("q").keyed("q").shown(Readers::PAGE), |(_, taken)| {
            Field::Number(taken.q, words::probability)
        })
        .with(Column::words("").keyed("named"), |(_, taken)| {
            let named = taken.named.map(Named::of_energy);
            Field::Worded(named.unwrap_or_default().to_owned(), json!(named))
        });
    let remark = "power, and how much more energy an operation took than on the group's typical node, over all tests, \
                  of everything that the energy source sees";
    let table = columns.table(&known);
    let data = Block::Table(table.clone().keyed("energy").shown(Readers::PROGRAM));
    vec![data, Block::Table(table.titled("Energy of the same work", remark).shown(Readers::PEOPLE).ends(MOST / 2))]
}

/// Facts that differ between nodes, except those that nearly every node has to itself.
fn differing(report: &FleetReport) -> Vec<Block> {
    let json = |fact: &Differing| {
        let value = |(value, nodes): &(String, usize)| json!({"value": value, "nodes": nodes});
        json!({
            "name": fact.name, "label": fact.label, "distinct": fact.distinct, "unknown": fact.unknown,
            "values": fact.values.iter().map(value).collect::<Vec<Json>>(),
        })
    };
    let shared = report.differing.iter().filter(|fact| 2 * fact.distinct <= report.nodes.len() + 1);
    let list = List {
        title: "The nodes differ in".to_owned(),
        lead: "  ",
        items: shared.take(MOST).map(|fact| format!("{}: {}", fact.name, values(fact))).collect(),
        readers: Readers::PEOPLE,
        ..List::default()
    };
    let data = Block::Data("differing", report.differing.iter().map(json).collect());
    vec![data, Block::List(list)]
}

/// Returns the values that most nodes have, each with how many have it, and how many others there are.
fn values(fact: &Differing) -> String {
    let most = fact.values.iter().take(4);
    let mut values: Vec<String> = most.map(|(value, nodes)| format!("{} ({nodes})", shortened(value, 40))).collect();
    let more = fact.distinct.saturating_sub(values.len());
    values.extend((more > 0).then(|| format!("{more} more")));
    values.extend((fact.unknown > 0).then(|| format!("unknown ({})", fact.unknown)));
    values.join(", ")
}
