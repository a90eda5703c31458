//! InfluxDB's line protocol: a line for each entry, with its interval, at the moment the run began.

use anyhow::Result;
use jiff::Timestamp;
use journal::Run;

use crate::subject::{FeedValue, Subject};

/// Returns the lines.
///
/// # Errors
/// The subject has no figures.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let unknown = Run::default();
    let run = subject.last_run().unwrap_or(&unknown);
    // Without a moment, the database takes its own.
    let moment = run.started.parse::<Timestamp>().map_or(String::new(), |at| format!(" {}", at.as_nanosecond()));
    let lines = subject.feed_values()?.into_iter().map(|entry| line(&entry, run) + &moment + "\n");
    Ok(lines.collect())
}

fn line(entry: &FeedValue, run: &Run) -> String {
    let measurement = if entry.is_change { "unixmark_delta" } else { "unixmark_figure" };
    let better = if entry.lower_is_better { "lower" } else { "higher" };
    let own = entry.labels.iter().map(|(name, value)| (*name, value.as_str()));
    let tags = own.chain([("unit", entry.unit.as_str()), ("better", better), ("host", &run.host)]);
    // A tag without a value is no tag.
    let tags = tags.filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!(",{name}={}", escaped(value)));
    let tags: String = tags.collect();
    let estimate = entry.value;
    let ends = if estimate.bounded() { format!(",low={},high={}", estimate.low, estimate.high) } else { String::new() };
    format!("{measurement}{tags} value={}{ends}", estimate.value)
}

/// Returns a tag's value; a backslash would escape what follows it.
fn escaped(value: &str) -> String {
    let plain = words::log_lines(&words::visible(value)).replace('\\', "/");
    plain.replace(',', "\\,").replace('=', "\\=").replace(' ', "\\ ")
}
