//! InfluxDB's line protocol: a line for each value, with its interval, at the moment the run began.

use anyhow::Result;
use jiff::Timestamp;
use journal::Run;

use crate::subject::{FeedValue, Subject};

/// # Errors
/// The subject has no figures.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let unknown = Run::default();
    let run = subject.last_run().unwrap_or(&unknown);
    // Without a moment, the database takes its own.
    let moment = match run.started.parse::<Timestamp>() {
        Ok(started) => format!(" {}", started.as_nanosecond()),
        Err(_) => String::new(),
    };

    let mut text = String::new();
    for value in subject.feed_values()? {
        text += &format!("{}{moment}\n", format_value(&value, &run.host));
    }
    Ok(text)
}

/// The line of a value without its moment.
fn format_value(value: &FeedValue, host: &str) -> String {
    let mut tags: Vec<(&str, &str)> =
        value.labels.iter().map(|(name, label)| (*name, label.as_str())).collect();
    tags.extend([("unit", value.unit.as_str()), ("better", value.better()), ("host", host)]);
    // The protocol has no tags without a value.
    tags.retain(|(_, tag)| !tag.is_empty());

    let measurement = if value.is_change { "unixmark_delta" } else { "unixmark_figure" };
    let mut line = measurement.to_owned();
    for (name, tag) in tags {
        line += &format!(",{name}={}", escape(tag));
    }
    line += &format!(" value={}", value.value.value);
    if value.value.bounded() {
        line += &format!(",low={},high={}", value.value.low, value.value.high);
    }
    line
}

/// A tag's value. A backslash becomes a slash, since it would escape what follows it.
fn escape(value: &str) -> String {
    let plain = words::log_lines(&words::visible(value)).replace('\\', "/");
    plain.replace(',', "\\,").replace('=', "\\=").replace(' ', "\\ ")
}
