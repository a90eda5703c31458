//! Feeds of dashboards in JSON: each value with its interval, and nothing else.

use analysis::ask_direction;
use anyhow::{Result, bail};
use serde_json::{Map, Value, json};
use words::Unique;

use crate::subject::{FeedValue, Subject};
use crate::views::sentences;

/// The Bencher Metric Format: an object of tests, each with its measures: the figure, named after
/// its unit, and the change, `delta`.
pub(super) fn bmf(subject: Subject<'_>) -> Result<String> {
    let mut tests = Map::new();
    for FeedValue { name, unit, value, is_change, .. } in subject.feed_values()? {
        let mut metric = json!({"value": value.value});
        if value.bounded() {
            metric["lower_value"] = json!(value.low);
            metric["upper_value"] = json!(value.high);
        }
        let measure = if is_change { "delta".to_owned() } else { unit };
        tests.entry(name).or_insert_with(|| json!({}))[measure] = metric;
    }
    Ok(words::json_text(&(serde_json::to_string_pretty(&tests)? + "\n")))
}

/// The array that github-action-benchmark reads, of the values where lower is better, or of those
/// where higher is; those whose direction nobody knows are in neither. What must be known of a
/// value, and of the whole run, is its `extra`, which the action shows.
///
/// # Errors
/// There is no such value; an empty array would pass for one of a run that measured nothing.
pub(super) fn github(subject: Subject<'_>, lower_is_better: bool) -> Result<String> {
    let run_warnings =
        subject.results().map(|results| sentences(&results.warnings)).unwrap_or_default();

    let values = subject.feed_values()?;
    let has_direction = |lower| values.iter().any(|value| value.lower_is_better == Some(lower));
    match (has_direction(lower_is_better), has_direction(!lower_is_better), lower_is_better) {
        (true, ..) => {}
        (false, true, false) => {
            bail!("lower is better for all figures of this report; try --format github-smaller")
        }
        (false, true, true) => {
            bail!("higher is better for all figures of this report; try --format github-bigger")
        }
        (false, false, _) => {
            let names: Vec<String> = values.iter().map(|value| value.name.clone()).unique();
            bail!("{}", ask_direction(&names))
        }
    }

    let mut entries = Vec::new();
    for mut value in values {
        if value.lower_is_better == Some(lower_is_better) {
            value.notes.extend(run_warnings.iter().cloned());
            entries.push(github_entry(value));
        }
    }
    Ok(words::json_text(&(serde_json::to_string_pretty(&entries)? + "\n")))
}

fn github_entry(FeedValue { name, unit, value, is_change, notes, .. }: FeedValue) -> Value {
    let name = if is_change { name + ": delta" } else { name };
    let mut entry = json!({"name": name, "unit": unit, "value": value.value});
    if value.bounded() {
        entry["range"] = json!(format!("{}..{}", value.low, value.high));
    }
    if !notes.is_empty() {
        entry["extra"] = json!(notes.join("\n"));
    }
    entry
}
