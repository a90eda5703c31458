//! The HTML report of a fleet run: what is named first, then the map of nodes and tests, every node in every test, and the facts.

mod map;
mod strips;

use anyhow::Result;
use askama::Template;

use super::Key;
use super::cost::Grid;
use super::svg::key;
use super::words::{clean, number, range};
use crate::copies;
use crate::fleet::{counted, headline};
use ::fleet::{Entry, State};
use analysis::fleet::{
    Against, Change, Column, Differing, FactChange, FleetReport, Group, Named, Node, Outlier, Trait,
};
use analysis::named as with_axes;
use map::Map;
use stats::Estimate;

/// Nodes that a ranking shows at either end.
const ENDS: usize = 20;

/// Outliers and facts that tables show.
const MOST: usize = 200;

/// What the template shows.
#[derive(Template)]
#[template(path = "fleet.html")]
struct Page {
    run: String,
    lead: Vec<String>,
    sentence: String,
    manner: Vec<(&'static str, String)>,
    /// Node, state and reason of every part that is not simply whole.
    states: Vec<(String, &'static str, String)>,
    /// Those beyond what a page holds.
    more_states: usize,
    map: Option<Map>,
    strips: Option<String>,
    strip_legend: Vec<Key>,
    dense: usize,
    named: Vec<Grid>,
    against: Vec<Grid>,
    only: Vec<String>,
    tests: Vec<Grid>,
    ranking: Vec<Grid>,
    facts: Vec<Grid>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// Returns the report of a fleet run whose parts are `entries`.
///
/// # Errors
/// The template cannot be rendered: a defect.
pub(crate) fn render(report: &FleetReport, entries: &[Entry]) -> Result<String> {
    let whole = entries.iter().filter(|entry| entry.state == State::Whole).count();
    let mut states: Vec<_> = entries.iter().filter_map(told).collect();
    // Those that lack something first, each kind by name.
    states.sort_by_key(|(_, state, _)| *state == State::Whole.name());
    let page = Page {
        run: clean(&report.run),
        lead: vec![
            format!("{whole} of {} nodes whole", entries.len()),
            format!("{} tests", report.columns.len()),
            format!("{} by {}", counted(report.groups.len(), "group"), clean(&report.by)),
        ],
        sentence: clean(&headline(report)),
        manner: report.groups.iter().map(|group| ("group", group_line(group))).take(6).collect(),
        more_states: states.len().saturating_sub(MOST),
        states: states.into_iter().take(MOST).collect(),
        map: map::map(report),
        strips: strips::draw(report),
        strip_legend: legend(report),
        dense: strips::DENSE,
        named: named(report),
        against: report.against.as_ref().map_or_else(Vec::new, |against| changes(report, against)),
        only: report.against.as_ref().map_or_else(Vec::new, only),
        tests: vec![tests(report)],
        ranking: ranking(report),
        facts: facts(report),
        warnings: report.warnings.iter().map(|text| clean(text)).collect(),
        notes: report.notes.iter().map(|text| clean(text)).collect(),
    };
    Ok(page.render()?)
}

fn group_line(group: &Group) -> String {
    let typical =
        group.overall.map_or_else(String::new, |ratio| format!(", {} times the fleet's typical", number(ratio)));
    let judged = if group.judged { "" } else { ", too few to name one" };
    format!("{}: {}{typical}{judged}", clean(&group.name), counted(group.nodes, "node"))
}

/// A part that is not simply whole.
fn told(entry: &Entry) -> Option<(String, &'static str, String)> {
    let why: Vec<&str> = entry.reason.iter().chain(&entry.notes).map(String::as_str).collect();
    (entry.state != State::Whole || !why.is_empty())
        .then(|| (clean(&entry.node), entry.state.name(), clean(&why.join("; "))))
}

/// The groups that have lanes.
fn legend(report: &FleetReport) -> Vec<Key> {
    if report.groups.len() < 2 {
        return Vec::new();
    }
    let name = |(place, group): (usize, &Group)| {
        let others = place + 1 == strips::LANES && report.groups.len() > strips::LANES;
        (key(place), if others { "other groups".to_owned() } else { clean(&group.name) })
    };
    report.groups.iter().enumerate().take(strips::LANES).map(name).collect()
}

/// What a column is called: the test with its load, condition, and copies where these are not the same in all columns.
fn title_of(report: &FleetReport, column: &Column) -> String {
    let name = with_axes(&column.label, &column.key.load, &column.key.condition);
    let alone = report.columns.iter().all(|other| other.key.copies == column.key.copies);
    if alone { name } else { format!("{name}, {}", copies(column.key.copies)) }
}

/// A deviation in per cent with its sign: `−12`, `+0.4`.
fn percent(value: f64) -> String {
    let text = match value.abs() {
        size if !size.is_finite() => return super::words::NOTHING.to_owned(),
        size if size < 0.05 => return "0".to_owned(),
        size if size < 9.95 => format!("{size:.1}"),
        size => format!("{size:.0}"),
    };
    format!("{}{text}", if value < 0.0 { "−" } else { "+" })
}

/// A deviation with its interval.
fn deviation(estimate: &Estimate) -> [String; 2] {
    let interval = if estimate.bounded() {
        format!("{} to {}", percent(estimate.low), percent(estimate.high))
    } else {
        "no interval".to_owned()
    };
    [format!("{} %", percent(estimate.value)), interval]
}

/// A table of fields whose columns' classes are in `head`.
fn grid(name: &str, remark: String, head: &[(&str, &'static str)], rows: Vec<Vec<String>>) -> Grid {
    let class = |(place, field): (usize, String)| (clean(&field), head.get(place).map_or("", |column| column.1));
    Grid {
        name: name.to_owned(),
        remark,
        small: head.len() < 6,
        head: head.iter().map(|(name, class)| ((*name).to_owned(), *class)).collect(),
        rows: rows.into_iter().map(|row| row.into_iter().enumerate().map(class).collect()).collect(),
    }
}

/// Says how many rows a table leaves out.
fn remark(count: usize) -> String {
    if count > MOST { format!("the first {MOST} of {count}") } else { String::new() }
}

fn outlier_row(report: &FleetReport, one: &Outlier) -> Vec<String> {
    let node = &report.nodes[one.node];
    let test =
        one.column.map_or_else(|| "all tests together".to_owned(), |place| title_of(report, &report.columns[place]));
    let [value, interval] = deviation(&one.deviation);
    vec![node.name.clone(), test, one.named.name().to_owned(), value, interval, number(one.q)]
}

const OUTLIER: [(&str, &str); 6] =
    [("node", ""), ("at", "main"), ("", ""), ("deviation", "n main"), ("interval", "n"), ("q", "n")];

/// A row per node that is named, with what it is worst (or best) at; the map has the rest.
fn named_row(report: &FleetReport, node: usize, all: &[&Outlier]) -> Option<Vec<String>> {
    let size = |one: &&&Outlier| one.deviation.value.abs();
    let together = all.iter().find(|one| one.column.is_none());
    let single = all.iter().filter(|one| one.column.is_some()).max_by(|a, b| size(a).total_cmp(&size(b)));
    let most = single.or(together)?;
    let overall = together.map_or_else(String::new, |one| format!("{} %", percent(one.deviation.value)));
    let others = all.iter().filter(|one| one.column.is_some()).count().saturating_sub(1);
    let more = if others > 0 { format!("and {}", counted(others, "other test")) } else { String::new() };
    let test = most.column.map_or_else(String::new, |place| title_of(report, &report.columns[place]));
    let [value, interval] = deviation(&most.deviation);
    Some(vec![
        report.nodes[node].name.clone(),
        most.named.name().to_owned(),
        overall,
        test,
        value,
        interval,
        number(most.q),
        more,
    ])
}

fn named(report: &FleetReport) -> Vec<Grid> {
    let head = [
        ("node", ""),
        ("", "main"),
        ("all together", "n main"),
        ("most at", "main"),
        ("deviation", "n main"),
        ("interval", "n"),
        ("q", "n"),
        ("", ""),
    ];
    let mut tables = Vec::new();
    let nodes: Vec<_> = report.named(Named::Slow).into_iter().chain(report.named(Named::Fast)).collect();
    if !nodes.is_empty() {
        let rows = nodes.iter().take(MOST).filter_map(|(node, all)| named_row(report, *node, all)).collect();
        tables.push(grid("Named nodes", remark(nodes.len()), &head, rows));
    }
    if !report.traits.is_empty() {
        let head = [
            ("fact", ""),
            ("value", "main"),
            ("slow nodes with it", "n main"),
            ("other nodes with it", "n"),
            ("q", "n"),
        ];
        let row = |one: &Trait| {
            vec![
                one.label.clone(),
                one.value.clone(),
                format!("{} of {}", one.slow_with, one.slow),
                format!("{} of {}", one.others_with, one.others),
                number(one.q),
            ]
        };
        let rows = report.traits.iter().take(MOST).map(row).collect();
        tables.push(grid("What slow nodes have in common", remark(report.traits.len()), &head, rows));
    }
    tables
}

fn change_row(report: &FleetReport, change: &Change) -> Vec<String> {
    let test =
        change.column.map_or_else(|| "all tests together".to_owned(), |place| title_of(report, &report.columns[place]));
    let [delta, interval] = deviation(&change.delta);
    vec![test, change.nodes.to_string(), delta, interval, number(change.q), change.verdict.word().to_owned()]
}

fn changes(report: &FleetReport, against: &Against) -> Vec<Grid> {
    let head = [("test", ""), ("nodes", "n"), ("change", "n main"), ("interval", "n"), ("q", "n"), ("verdict", "main")];
    let rows = against.changes.iter().map(|change| change_row(report, change)).collect();
    let name = format!("Against {}, node by node", clean(&against.run));
    let mut tables = vec![grid(&name, counted(against.pairs, "node"), &head, rows)];
    if !against.unlike.is_empty() {
        let rows = against.unlike.iter().take(MOST).map(|one| outlier_row(report, one)).collect();
        tables.push(grid("Nodes that changed unlike the others", remark(against.unlike.len()), &OUTLIER, rows));
    }
    if !against.facts.is_empty() {
        let head = [("fact", ""), ("before", ""), ("after", "main"), ("nodes", "n main")];
        let row = |fact: &FactChange| {
            vec![fact.label.clone(), fact.before.clone(), fact.after.clone(), fact.nodes.to_string()]
        };
        let rows = against.facts.iter().take(MOST).map(row).collect();
        tables.push(grid("Facts that changed", remark(against.facts.len()), &head, rows));
    }
    tables
}

/// Nodes that are in one of the runs alone.
fn only(against: &Against) -> Vec<String> {
    let list = |nodes: &[String], of: &str| {
        let shown: Vec<String> = nodes.iter().take(ENDS).map(|node| clean(node)).collect();
        let more = nodes.len().saturating_sub(ENDS);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!nodes.is_empty()).then(|| format!("In {of} alone: {}{rest}.", shown.join(", ")))
    };
    let before = list(&against.only_before, &clean(&against.run));
    before.into_iter().chain(list(&against.only_after, "this run")).collect()
}

/// The typical figure of each test and how it varies.
fn tests(report: &FleetReport) -> Grid {
    let groups = report.groups.len() > 1;
    let mut head = vec![
        ("test", ""),
        ("nodes", "n"),
        ("typical", "n main"),
        ("unit", ""),
        ("interval", "n"),
        ("within a node", "n"),
        ("between nodes", "n main"),
    ];
    head.extend(groups.then_some(("between groups", "n")));
    let row = |column: &Column| {
        let share =
            |value: f64| if value.is_finite() { format!("{value:.1} %") } else { super::words::NOTHING.to_owned() };
        let mut row = vec![
            title_of(report, column),
            column.nodes.to_string(),
            number(column.typical.value),
            column.unit.clone(),
            range(&column.typical),
            share(column.spread.within),
            share(column.spread.between),
        ];
        row.extend(groups.then(|| share(column.spread.groups.unwrap_or(f64::NAN))));
        row
    };
    let remark = "the median node; standard deviations, slow nodes hardly counting".to_owned();
    grid("Tests", remark, &head, report.columns.iter().map(row).collect())
}

/// The best and the worst nodes of every group.
fn ranking(report: &FleetReport) -> Vec<Grid> {
    let head = [("place", ""), ("node", "main"), ("of the typical", "n main"), ("interval", "n")];
    let row = |node: &&Node| {
        let (first, last) = node.rank;
        let place = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let partial = if node.whole { "" } else { " (partial)" };
        vec![place, format!("{}{partial}", node.name), number(node.overall.value), range(&node.overall)]
    };
    let table = |(place, group): (usize, &Group)| {
        let nodes: Vec<&Node> = report.nodes.iter().filter(|node| node.group == place && node.rank != (0, 0)).collect();
        let few = nodes.len() <= 2 * ENDS;
        let shown: Vec<&Node> = if few {
            nodes.clone()
        } else {
            nodes[..ENDS].iter().chain(&nodes[nodes.len() - ENDS..]).copied().collect()
        };
        let remark = if few { String::new() } else { format!("the first and the last {ENDS} of {}", nodes.len()) };
        let name = if report.groups.len() > 1 { clean(&group.name) } else { "Ranking".to_owned() };
        (!shown.is_empty()).then(|| grid(&name, remark, &head, shown.iter().map(row).collect()))
    };
    report.groups.iter().enumerate().take(strips::LANES).filter_map(table).collect()
}

fn facts(report: &FleetReport) -> Vec<Grid> {
    if report.differing.is_empty() {
        return Vec::new();
    }
    let row = |fact: &Differing| {
        let mut values: Vec<String> = fact.values.iter().map(|(value, nodes)| format!("{value} ({nodes})")).collect();
        let more = fact.distinct.saturating_sub(fact.values.len());
        values.extend((more > 0).then(|| format!("{more} more")));
        values.extend((fact.unknown > 0).then(|| format!("unknown ({})", fact.unknown)));
        vec![fact.label.clone(), values.join(" · ")]
    };
    let head = [("fact", ""), ("values, and on how many nodes", "main wrap")];
    let rows = report.differing.iter().take(MOST).map(row).collect();
    vec![grid("Facts that differ", remark(report.differing.len()), &head, rows)]
}
