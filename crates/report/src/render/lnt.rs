//! LNT's report file, version 2 of its format (llvm.org/docs/lnt/importing_data.html): a machine, a run, and for each test a
//! metric of LNT's own suite: `score` (higher is better) or `execution_time` in seconds.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::commit::data;
use super::figures::{figures, lower_is_better, name, program_rows, text};
use super::openmetrics::base;
use crate::document::Document;

/// How LNT writes a moment, in UTC.
const MOMENT: &str = "%Y-%m-%dT%H:%M:%S";

/// Returns the report of a run; of a comparison that of its last run, for what is compared.
///
/// # Errors
/// The document has no figures.
pub(super) fn render(document: &Document) -> Result<String> {
    let figures = figures(document)?;
    let own = figures.into_iter().filter(|figure| !figure.is_change);
    let mut tests: Vec<Value> =
        own.filter_map(|figure| test(&figure.name, &figure.unit, figure.value, figure.lower_is_better)).collect();
    if tests.is_empty() {
        tests = program_rows(document, "comparisons").iter().filter_map(compared).collect();
    }
    let last = data(document, "runs").and_then(Value::as_array).and_then(|runs| runs.last());
    let run = data(document, "run").or(last).and_then(Value::as_object).cloned().unwrap_or_default();
    let facts = data(document, "facts").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut machine = Map::from_iter([("name".to_owned(), json!(or(&text(&run, "host"), "unknown")))]);
    machine.extend(facts);
    let started: Option<Timestamp> = text(&run, "started").parse().ok();
    let seconds = data(document, "seconds").and_then(Value::as_f64).unwrap_or(0.0);
    let ended = started.and_then(|start| start.checked_add(Duration::try_from_secs_f64(seconds).ok()?).ok());
    let moment = |at: Option<Timestamp>| at.unwrap_or_default().strftime(MOMENT).to_string();
    // LNT puts runs in the order of this field: a comment such as a commit, else the name, which has the date.
    let revision = or(&text(&run, "comment"), &text(&run, "name"));
    let report = json!({
        "format_version": "2",
        "machine": machine,
        "run": {
            "start_time": moment(started), "end_time": moment(ended.or(started)), "llvm_project_revision": revision,
            "name": text(&run, "name"), "tool": text(&run, "tool"), "procedure": text(&run, "procedure"),
        },
        "tests": tests,
    });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// Returns the names of the figures that LNT's suite has no metric for: less is better of them, and they are no times. Which
/// way is better a report cannot say: that stands in the suite on LNT's side.
pub(super) fn left_out(document: &Document) -> Result<Vec<String>> {
    let is_left = |unit: &str, lower: bool| test("", unit, 0.0, lower).is_none();
    let own = figures(document)?.into_iter().filter(|figure| !figure.is_change);
    let mut names: Vec<String> =
        own.filter(|figure| is_left(&figure.unit, figure.lower_is_better)).map(|figure| figure.name).collect();
    let rows = program_rows(document, "comparisons");
    names.extend(rows.iter().filter(|row| is_left(&text(row, "unit"), lower_is_better(row))).map(name));
    Ok(names)
}

fn or(text: &str, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text.to_owned() }
}

/// Returns a test with its metric; none if LNT has no metric for it, as for a share where less is better.
fn test(name: &str, unit: &str, value: f64, lower_is_better: bool) -> Option<Value> {
    match (lower_is_better, base(unit)) {
        (false, _) => Some(json!({"name": name, "score": value})),
        (true, (unit, factor)) if unit == "seconds" => Some(json!({"name": name, "execution_time": value * factor})),
        (true, _) => None,
    }
}

/// The changed side of a comparison.
fn compared(row: &Map<String, Value>) -> Option<Value> {
    let side = if text(row, "against") == "B" { "a" } else { "b" };
    let run = Some(text(row, "run")).filter(|run| !["", "A", "B"].contains(&run.as_str()));
    let name = name(row) + &run.map_or(String::new(), |run| format!(", run {run}"));
    test(&name, &text(row, "unit"), row.get(side)?.as_f64()?, lower_is_better(row))
}
