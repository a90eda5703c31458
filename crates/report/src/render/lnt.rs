//! LNT's report file, version 2 of its format (llvm.org/docs/lnt/importing_data.html): a machine, a run, and for each
//! test a metric of LNT's own suite: `score` (higher is better) or `execution_time` in seconds.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use journal::{Facts, Run};
use serde_json::{Map, Value, json};
use stats::Estimate;

use super::openmetrics::base;
use crate::subject::{FeedValue, Subject};
use crate::views::Line;

/// LNT's format of a moment, in UTC.
const MOMENT: &str = "%Y-%m-%dT%H:%M:%S";

/// Returns the report of a run; of a comparison that of its last run, for what is compared.
///
/// # Errors
/// The subject has no figures.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let tests: Vec<Value> = entries(subject)?.iter().filter_map(test).collect();
    let (nothing, unknown) = (Facts::default(), Run::default());
    let run = subject.last_run().unwrap_or(&unknown);
    let (facts, seconds) = match subject {
        Subject::Run(results) => (&results.facts, results.seconds),
        _ => (&nothing, 0.0),
    };
    let host = if run.host.is_empty() { "unknown" } else { &run.host };
    let mut machine = Map::from_iter([("name".to_owned(), json!(host))]);
    machine.extend(facts.iter().map(|fact| (fact.name.clone(), json!(fact.value))));
    let started: Option<Timestamp> = run.started.parse().ok();
    let ended = started.and_then(|start| start.checked_add(Duration::try_from_secs_f64(seconds).ok()?).ok());
    let moment = |at: Option<Timestamp>| at.unwrap_or_default().strftime(MOMENT).to_string();
    // LNT puts runs in the order of this field: a comment such as a commit, else the name, which has the date.
    let revision = if run.comment.is_empty() { &run.name } else { &run.comment };
    let report = json!({
        "format_version": "2",
        "machine": machine,
        "run": {
            "start_time": moment(started), "end_time": moment(ended.or(started)), "llvm_project_revision": revision,
            "name": run.name, "tool": run.tool, "procedure": run.procedure.name(),
        },
        "tests": tests,
    });
    Ok(words::json_text(&(serde_json::to_string_pretty(&report)? + "\n")))
}

/// Returns the names of the figures that LNT's suite has no metric for: for them less is better, and they are no times.
/// A report cannot say which way is better; LNT's suite does.
pub(super) fn left_out(subject: Subject<'_>) -> Result<Vec<String>> {
    let entries = entries(subject)?.into_iter();
    Ok(entries.filter(|entry| test(entry).is_none()).map(|entry| entry.name).collect())
}

/// Returns the figures of a run, or the changed side of what is compared.
fn entries(subject: Subject<'_>) -> Result<Vec<FeedValue>> {
    let mut entries = subject.feed_values()?;
    if entries.iter().all(|entry| entry.is_change) {
        return Ok(subject.changes().iter().map(changed).filter(|entry| entry.value.value.is_finite()).collect());
    }
    entries.retain(|entry| !entry.is_change);
    Ok(entries)
}

fn changed(line: &Line<'_>) -> FeedValue {
    let one = line.comparison;
    FeedValue::compared(line, &one.unit, Estimate::alone(line.sides()[1]))
}

/// Returns a test with its metric; none if LNT has no metric for it, as for a share where less is better.
fn test(entry: &FeedValue) -> Option<Value> {
    let FeedValue { name, unit, value, lower_is_better, .. } = entry;
    match (lower_is_better, base(unit)) {
        (false, _) => Some(json!({"name": name, "score": value.value})),
        (true, (unit, factor)) if unit == "seconds" => {
            Some(json!({"name": name, "execution_time": value.value * factor}))
        }
        (true, _) => None,
    }
}
