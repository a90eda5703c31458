//! Feeds of dashboards in JSON: each entry with its interval, and nothing else.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::subject::{FeedValue, Subject};

/// Returns the Bencher Metric Format: an object of tests, each with its measures: the figure, named after its unit, and
/// the change, `delta`.
pub(super) fn bmf(subject: Subject<'_>) -> Result<String> {
    let mut all = Map::new();
    for FeedValue { name, unit, value, is_change, .. } in subject.feed_values()? {
        let mut metric = json!({"value": value.value});
        if value.bounded() {
            metric["lower_value"] = json!(value.low);
            metric["upper_value"] = json!(value.high);
        }
        let measure = if is_change { "delta".to_owned() } else { unit };
        all.entry(name).or_insert_with(|| json!({}))[measure] = metric;
    }
    Ok(words::json_text(&(serde_json::to_string_pretty(&all)? + "\n")))
}

/// Returns the array that github-action-benchmark reads of the entries where bigger or `smaller` is better.
pub(super) fn github(subject: Subject<'_>, smaller: bool) -> Result<String> {
    let own = subject.feed_values()?.into_iter().filter(|entry| entry.lower_is_better == smaller).map(github_entry);
    Ok(words::json_text(&(serde_json::to_string_pretty(&own.collect::<Value>())? + "\n")))
}

fn github_entry(FeedValue { name, unit, value, is_change, .. }: FeedValue) -> Value {
    let name = if is_change { name + ": delta" } else { name };
    let mut entry = json!({"name": name, "unit": unit, "value": value.value});
    if value.bounded() {
        entry["range"] = json!(format!("{}..{}", value.low, value.high));
    }
    entry
}
