//! Formats of dashboards and of continuous benchmarking: each figure of a document with its interval, and nothing else.

use std::fmt::Write;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use super::json::rows;
use crate::document::{Block, Document, Reader};

/// One figure.
struct Figure {
    /// `pipe x2, load compile`.
    name: String,
    /// Where in the matrix it is, as labels.
    labels: Vec<(&'static str, String)>,
    /// `lps`; of a comparison `%`.
    unit: String,
    value: f64,
    /// The ends of its interval, if it has one.
    ends: Option<[f64; 2]>,
    lower_is_better: bool,
}

/// The figures of a document: those of a run, or the changes of a comparison.
fn figures(document: &Document) -> Result<Vec<Figure>> {
    let of = |key: &str, value: &str| -> Vec<Figure> {
        let tables = document.blocks.iter().filter_map(|block| match block {
            Block::Table(table) if table.show.is_for(Reader::Program) && table.key == key => Some(table),
            _ => None,
        });
        tables.flat_map(rows).filter_map(|row| figure(&row, value)).collect()
    };
    let mut found = of("results", "value");
    if found.is_empty() {
        found = of("comparisons", "delta");
    }
    if found.is_empty() {
        bail!("it has no figure that this format could hold; try --format json");
    }
    Ok(found)
}

/// A row's figure; nothing where it is no number.
fn figure(row: &Map<String, Value>, key: &str) -> Option<Figure> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    // The second arm of a reference is no figure of its own.
    if row.get("control").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let copies = row.get("copies").and_then(Value::as_u64).unwrap_or(1);
    let measure = Some(text("measure")).filter(|measure| !measure.is_empty() && measure != "score");
    let mut name = text("test");
    name += &measure.as_ref().map_or(String::new(), |measure| format!(" {measure}"));
    if copies != 1 {
        name += &format!(" x{copies}");
    }
    for axis in ["load", "condition"] {
        let level = text(axis);
        if !["", catalogue::NONE].contains(&level.as_str()) {
            name += &format!(", {axis} {level}");
        }
    }
    let run = text("run");
    if !["", "A", "B"].contains(&run.as_str()) {
        name += &format!(", run {run}");
    }
    let mut labels: Vec<(&'static str, String)> =
        ["test", "load", "condition"].into_iter().map(|axis| (axis, text(axis))).collect();
    labels.push(("copies", copies.to_string()));
    labels.extend(measure.map(|measure| ("measure", measure)));
    labels.extend(Some(run).filter(|run| !run.is_empty()).map(|run| ("run", run)));
    let is_change = key == "delta";
    let unit = match text("delta_unit").as_str() {
        "points" => "points".to_owned(),
        _ if is_change => "%".to_owned(),
        _ => text("unit"),
    };
    let declared = row.get("lower_is_better").and_then(Value::as_bool);
    Some(Figure {
        name,
        labels,
        unit,
        value: number(key)?,
        ends: number("low").zip(number("high")).map(|(low, high)| [low, high]),
        lower_is_better: declared.unwrap_or_else(|| ["time", "latency"].contains(&text("metric").as_str())),
    })
}

/// Returns the Bencher Metric Format: an object of tests, each with its measure, named after the unit.
pub(super) fn bmf(document: &Document) -> Result<String> {
    let mut all = Map::new();
    for Figure { name, unit, value, ends, .. } in figures(document)? {
        let mut metric = Map::from_iter([("value".to_owned(), json!(value))]);
        if let Some([low, high]) = ends {
            metric.insert("lower_value".to_owned(), json!(low));
            metric.insert("upper_value".to_owned(), json!(high));
        }
        all.insert(name, json!({ unit: metric }));
    }
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

/// Returns the array that github-action-benchmark reads, of the figures of which less, or more, is better: it has a tool for
/// each.
pub(super) fn github(document: &Document, smaller: bool) -> Result<String> {
    let entry = |Figure { name, unit, value, ends, .. }: Figure| {
        let mut entry = json!({"name": name, "unit": unit, "value": value});
        if let Some([low, high]) = ends {
            entry["range"] = json!(format!("{low}..{high}"));
        }
        entry
    };
    let own = figures(document)?.into_iter().filter(|figure| figure.lower_is_better == smaller);
    Ok(serde_json::to_string_pretty(&own.map(entry).collect::<Vec<Value>>())? + "\n")
}

/// Returns OpenMetrics text, which node_exporter's textfile collector reads too.
pub(super) fn openmetrics(document: &Document) -> Result<String> {
    let figures = figures(document)?;
    let about = [
        ("unixmark_figure", "The figure of a test, in the unit of its label."),
        ("unixmark_figure_low", "The lower end of the figure's 95 % interval."),
        ("unixmark_figure_high", "The upper end of the figure's 95 % interval."),
    ];
    let mut text = String::new();
    for (place, (name, help)) in about.into_iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for figure in &figures {
            let value = match place {
                0 => Some(figure.value),
                end => figure.ends.map(|ends| ends[end - 1]),
            };
            if let Some(value) = value {
                let _ = writeln!(text, "{name}{{{}}} {value}", labels(figure, &document.run));
            }
        }
    }
    Ok(text + "# EOF\n")
}

fn labels(figure: &Figure, run: &str) -> String {
    let way = if figure.lower_is_better { "lower" } else { "higher" };
    let mut all = figure.labels.clone();
    all.extend([("unit", figure.unit.clone()), ("better", way.to_owned())]);
    if !run.is_empty() {
        all.push(("run", run.to_owned()));
    }
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    all.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect::<Vec<String>>().join(",")
}
