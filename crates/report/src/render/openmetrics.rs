//! OpenMetrics 1.0: per unit a family of the figures, and two of the ends of their intervals.
//! node_exporter's textfile collector reads it too.

use std::fmt::Write;

use anyhow::Result;
use stats::Estimate;
use words::Grouped;

use crate::subject::{FeedValue, Subject};

/// One of the families of a unit.
struct Family {
    suffix: &'static str,
    /// Its addition to the help text.
    help: &'static str,
    /// What it has of an estimate.
    value: fn(Estimate) -> Option<f64>,
}

const FAMILIES: [Family; 3] = [
    Family { suffix: "", help: "", value: |estimate| Some(estimate.value) },
    Family {
        suffix: "_low",
        help: ", lower end of the 95 % interval",
        value: |estimate| estimate.bounded().then_some(estimate.low),
    },
    Family {
        suffix: "_high",
        help: ", upper end of the 95 % interval",
        value: |estimate| estimate.bounded().then_some(estimate.high),
    },
];

/// Units with a base unit, and how many of the base one of them is: times are in seconds, shares
/// are ratios.
const BASE_UNITS: [(&str, &str, f64); 9] = [
    ("s", "seconds", 1.0),
    ("ms", "seconds", 1e-3),
    ("us", "seconds", 1e-6),
    ("µs", "seconds", 1e-6),
    ("ns", "seconds", 1e-9),
    ("%", "ratio", 1e-2),
    ("points", "ratio", 1e-2),
    ("W", "watts", 1.0),
    ("J", "joules", 1.0),
];

/// # Errors
/// The subject has no figures.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let values = subject.feed_values()?;
    let run = subject.results().map(|results| &*results.run.name);
    let by_unit = values
        .iter()
        .map(|value| ((value.is_change, MetricUnit::new(&value.unit).name), value))
        .grouped();

    let mut text = String::new();
    for ((is_change, unit), values) in by_unit {
        for family in &FAMILIES {
            write_family(&mut text, family, is_change, &unit, &values, run);
        }
    }
    Ok(text + "# EOF\n")
}

/// Writes a family of a unit, if any value has what the family is of.
fn write_family(
    text: &mut String,
    family: &Family,
    is_change: bool,
    unit: &str,
    values: &[&FeedValue],
    run: Option<&str>,
) {
    let mut samples = Vec::new();
    for value in values {
        if let Some(number) = (family.value)(value.value) {
            samples.push((labels(value, run), number * MetricUnit::new(&value.unit).factor));
        }
    }
    if samples.is_empty() {
        return;
    }

    let (stem, subject) = match is_change {
        true => ("delta", "Change of a test's figure"),
        false => ("figure", "Figure of a test"),
    };
    let unit_suffix = if unit.is_empty() { String::new() } else { format!("_{unit}") };
    let name = format!("unixmark_{stem}{}{unit_suffix}", family.suffix);

    // Writing to a String cannot fail.
    let _ = writeln!(text, "# HELP {name} {subject}{}.\n# TYPE {name} gauge", family.help);
    if !unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    for (labels, number) in samples {
        let _ = writeln!(text, "{name}{{{labels}}} {number}");
    }
}

/// A unit as names of metrics have it, and how many of it one of the report's unit is.
#[derive(Debug, PartialEq)]
struct MetricUnit {
    name: String,
    factor: f64,
}

impl MetricUnit {
    fn new(unit: &str) -> MetricUnit {
        if let Some((_, base, factor)) = BASE_UNITS.iter().find(|(name, ..)| *name == unit) {
            return MetricUnit { name: (*base).to_owned(), factor: *factor };
        }

        let spelled = match unit.split_once('/') {
            Some((dividend, "s")) => format!("{dividend}_per_second"),
            Some((dividend, "ms")) => format!("{dividend}_per_millisecond"),
            Some((dividend, "min")) => format!("{dividend}_per_minute"),
            Some((dividend, divisor)) => format!("{dividend}_per_{divisor}"),
            None => unit.to_owned(),
        };
        let name: String = spelled.chars().map(to_metric_character).collect();
        MetricUnit { name: name.trim_matches('_').to_owned(), factor: 1.0 }
    }
}

fn to_metric_character(c: char) -> char {
    if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }
}

fn labels(value: &FeedValue, run: Option<&str>) -> String {
    let mut labels: Vec<(&str, &str)> =
        value.labels.iter().map(|(name, label)| (*name, label.as_str())).collect();
    labels.push(("better", value.better()));
    if let Some(run) = run.filter(|run| !run.is_empty()) {
        labels.push(("run", run));
    }

    let labels: Vec<String> =
        labels.iter().map(|(name, label)| format!("{name}=\"{}\"", escape(label))).collect();
    labels.join(",")
}

fn escape(value: &str) -> String {
    words::log_lines(&words::visible(value)).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_metrics() {
        for (unit, name, factor) in [
            ("ns", "seconds", 1e-9),
            ("%", "ratio", 1e-2),
            ("J", "joules", 1.0),
            ("KBps", "kbps", 1.0),
            ("Mop/s", "mop_per_second", 1.0),
            ("ops/ms", "ops_per_millisecond", 1.0),
            ("pages (4 KiB)", "pages__4_kib", 1.0),
            ("°", "", 1.0),
        ] {
            let expected = MetricUnit { name: name.to_owned(), factor };
            assert_eq!(MetricUnit::new(unit), expected, "{unit}");
        }
    }
}
