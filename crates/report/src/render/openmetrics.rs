//! OpenMetrics 1.0: per unit a family of the figures, and two of the ends of their intervals. node_exporter's textfile
//! collector reads it too.

use std::fmt::Write;

use anyhow::Result;
use words::Grouped;

use stats::Estimate;

use crate::subject::{FeedValue, Subject};

/// The values that the families of a unit hold of each entry.
type Part = (&'static str, &'static str, fn(Estimate) -> Option<f64>);

const PARTS: [Part; 3] = [
    ("", "", |estimate| Some(estimate.value)),
    ("_low", ", lower end of the 95 % interval", |estimate| estimate.bounded().then_some(estimate.low)),
    ("_high", ", upper end of the 95 % interval", |estimate| estimate.bounded().then_some(estimate.high)),
];

/// Returns the text.
///
/// # Errors
/// The subject has no figures.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let entries = subject.feed_values()?;
    let run = subject.results().map(|results| &*results.run.name);
    let families = entries.iter().map(|entry| ((entry.is_change, base(&entry.unit).0), entry)).grouped();
    let mut text = String::new();
    for ((is_change, unit), own) in families {
        let (stem, what) =
            if is_change { ("delta", "Change of a test's figure") } else { ("figure", "Figure of a test") };
        for (part, more, value) in PARTS {
            let samples: Vec<(&FeedValue, f64)> =
                own.iter().filter_map(|entry| Some((*entry, value(entry.value)? * base(&entry.unit).1))).collect();
            if samples.is_empty() {
                continue;
            }
            let suffix = if unit.is_empty() { String::new() } else { format!("_{unit}") };
            let name = format!("unixmark_{stem}{part}{suffix}");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# HELP {name} {what}{more}.\n# TYPE {name} gauge");
            if !unit.is_empty() {
                let _ = writeln!(text, "# UNIT {name} {unit}");
            }
            for (entry, value) in samples {
                let _ = writeln!(text, "{name}{{{}}} {value}", labels(entry, run));
            }
        }
    }
    Ok(text + "# EOF\n")
}

/// Returns the unit as names of metrics have it, and how many of it one of `unit` is: times are in seconds, shares are
/// ratios.
pub(super) fn base(unit: &str) -> (String, f64) {
    let known = [
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
    if let Some((_, base, factor)) = known.iter().find(|(name, ..)| *name == unit) {
        return ((*base).to_owned(), *factor);
    }
    let spelled = match unit.split_once('/') {
        Some((of, "s")) => format!("{of}_per_second"),
        Some((of, "ms")) => format!("{of}_per_millisecond"),
        Some((of, "min")) => format!("{of}_per_minute"),
        Some((of, per)) => format!("{of}_per_{per}"),
        None => unit.to_owned(),
    };
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    (spelled.chars().map(letter).collect::<String>().trim_matches('_').to_owned(), 1.0)
}

fn labels(entry: &FeedValue, run: Option<&str>) -> String {
    let mut all = entry.labels.clone();
    all.push(("better", if entry.lower_is_better { "lower" } else { "higher" }.to_owned()));
    all.extend(run.filter(|run| !run.is_empty()).map(|run| ("run", run.to_owned())));
    let labels: Vec<String> = all.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    labels.join(",")
}

fn escaped(value: &str) -> String {
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
            assert_eq!(base(unit), (name.to_owned(), factor), "{unit}");
        }
    }
}
