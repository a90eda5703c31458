//! Formats of dashboards and of continuous benchmarking: each figure of a document with its interval, and nothing else.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use super::json::rows;
use crate::document::{Block, Document, Reader};

/// One figure, or the change of one.
pub(super) struct Figure {
    /// `pipe x2, load compile`.
    pub(super) name: String,
    /// Where in the matrix it is, as labels.
    pub(super) labels: Vec<(&'static str, String)>,
    /// `lps`; of a change `%` or `points`.
    pub(super) unit: String,
    pub(super) value: f64,
    /// The ends of its interval, if it has one.
    pub(super) ends: Option<[f64; 2]>,
    pub(super) lower_is_better: bool,
    pub(super) is_change: bool,
}

/// What a row has beside its figure if its energy was read: key, measure, unit.
const ENERGY: [(&str, &str, &str); 2] = [("watts", "power", "W"), ("joules_per_operation", "energy", "J")];

/// The figures of a document, and the changes of one that compares.
pub(super) fn figures(document: &Document) -> Result<Vec<Figure>> {
    let results = program_rows(document, "results");
    let mut found: Vec<Figure> = results.iter().filter_map(|row| figure(row, "value")).collect();
    for (key, measure, unit) in ENERGY {
        found.extend(results.iter().filter_map(|row| energy(row, key, measure, unit)));
    }
    found.extend(program_rows(document, "comparisons").iter().filter_map(|row| figure(row, "delta")));
    if found.is_empty() {
        bail!("it has no figure that this format could hold; try --format json");
    }
    Ok(found)
}

/// Returns the rows that programs have under a key.
pub(super) fn program_rows(document: &Document, key: &str) -> Vec<Map<String, Value>> {
    let tables = document.blocks.iter().filter_map(|block| match block {
        Block::Table(table) if table.show.is_for(Reader::Program) && table.key == key => Some(table),
        _ => None,
    });
    tables.flat_map(rows).collect()
}

/// Returns the text under a key of a row; nothing where it has none.
pub(super) fn text(row: &Map<String, Value>, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns where a row is in the matrix, and what it measures: `pipe x2, load compile`.
pub(super) fn name(row: &Map<String, Value>) -> String {
    let mut name = text(row, "test");
    name += &measure(row).map_or(String::new(), |measure| format!(" {measure}"));
    let copies = copies(row);
    if copies != 1 {
        name += &format!(" x{copies}");
    }
    for axis in ["load", "condition"] {
        let level = text(row, axis);
        if !["", catalogue::NONE].contains(&level.as_str()) {
            name += &format!(", {axis} {level}");
        }
    }
    name
}

/// What a row compares, unless it is the score.
fn measure(row: &Map<String, Value>) -> Option<String> {
    Some(text(row, "measure")).filter(|measure| !measure.is_empty() && measure != "score")
}

/// Whether less is better of what a row measures.
pub(super) fn lower_is_better(row: &Map<String, Value>) -> bool {
    let declared = row.get("lower_is_better").and_then(Value::as_bool);
    declared.unwrap_or_else(|| ["time", "latency"].contains(&text(row, "metric").as_str()))
}

fn copies(row: &Map<String, Value>) -> u64 {
    row.get("copies").and_then(Value::as_u64).unwrap_or(1)
}

/// A row's figure; nothing where it is not a number.
fn figure(row: &Map<String, Value>, key: &str) -> Option<Figure> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    // The second arm of a reference is not a figure of its own.
    if row.get("control").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    // The conditions of one run are called after themselves.
    let run = Some(text(row, "run")).filter(|run| !run.is_empty() && *run != text(row, "condition"));
    let mut name = name(row);
    if let Some(run) = run.as_ref().filter(|run| !["A", "B"].contains(&run.as_str())) {
        name += &format!(", run {run}");
    }
    let mut labels: Vec<(&'static str, String)> =
        ["test", "load", "condition"].into_iter().map(|axis| (axis, text(row, axis))).collect();
    labels.push(("copies", copies(row).to_string()));
    labels.extend(measure(row).map(|measure| ("measure", measure)));
    labels.extend(run.map(|run| ("run", run)));
    let is_change = key == "delta";
    let unit = match text(row, "delta_unit").as_str() {
        "points" => "points".to_owned(),
        _ if is_change => "%".to_owned(),
        _ => text(row, "unit"),
    };
    Some(Figure {
        name,
        labels,
        unit,
        value: number(key)?,
        ends: number("low").zip(number("high")).map(|(low, high)| [low, high]),
        lower_is_better: lower_is_better(row),
        is_change,
    })
}

/// A row's power, or its energy per operation; nothing where that is not known.
fn energy(row: &Map<String, Value>, key: &str, measure: &str, unit: &str) -> Option<Figure> {
    let mut own = row.clone();
    for (to, from) in [("value", key.to_owned()), ("low", format!("{key}_low")), ("high", format!("{key}_high"))] {
        own.insert(to.to_owned(), row.get(&from)?.clone());
    }
    for (name, value) in [("measure", json!(measure)), ("unit", json!(unit)), ("lower_is_better", json!(true))] {
        own.insert(name.to_owned(), value);
    }
    figure(&own, "value")
}

/// Returns the Bencher Metric Format: an object of tests, each with its measures: the figure, named after its unit, and the change, `delta`.
pub(super) fn bmf(document: &Document) -> Result<String> {
    let mut all = Map::new();
    for Figure { name, unit, value, ends, is_change, .. } in figures(document)? {
        let mut metric = Map::from_iter([("value".to_owned(), json!(value))]);
        if let Some([low, high]) = ends {
            metric.insert("lower_value".to_owned(), json!(low));
            metric.insert("upper_value".to_owned(), json!(high));
        }
        let measure = if is_change { "delta".to_owned() } else { unit };
        all.entry(name).or_insert_with(|| json!({}))[measure] = metric.into();
    }
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

/// Returns the array that github-action-benchmark reads, of the figures where smaller, or bigger, is better: it has a tool
/// for each.
pub(super) fn github(document: &Document, smaller: bool) -> Result<String> {
    let entry = |Figure { name, unit, value, ends, is_change, .. }: Figure| {
        let name = if is_change { name + ": delta" } else { name };
        let mut entry = json!({"name": name, "unit": unit, "value": value});
        if let Some([low, high]) = ends {
            entry["range"] = json!(format!("{low}..{high}"));
        }
        entry
    };
    let own = figures(document)?.into_iter().filter(|figure| figure.lower_is_better == smaller);
    Ok(serde_json::to_string_pretty(&own.map(entry).collect::<Vec<Value>>())? + "\n")
}
