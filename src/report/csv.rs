//! The CSV report: one line per cell, results and reasons alike (RFC 4180).

use std::fmt::Write;

use crate::analysis::{PERCENTILES, Results, Row};
use crate::catalogue::Metric;
use crate::stats::Estimate;

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let mut text = String::from(
        "run,test,label,copies,load,condition,metric,unit,value,low,high,n,status,reason,\
         mean,spread,max,p50,p90,p95,p99,p99.9,deadlines_met,cpu_received,load_achieved\n",
    );
    let run = field(&results.run.name);
    for row in &results.rows {
        let cell = &row.cell;
        let bound = |end: f64| if end.is_finite() { end.to_string() } else { String::new() };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{run},{},{},{},{},{},{},{},{},{},{},{},ok,{},{}",
            field(&cell.test),
            field(&cell.label),
            cell.copies,
            field(&cell.load),
            field(&cell.condition),
            metric(row.cell.metric),
            field(&cell.unit),
            row.score.value,
            bound(row.score.low),
            bound(row.score.high),
            row.n,
            field(&row.warnings.join("; ")),
            latency(row),
        );
    }
    for (status, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list {
            let _ = writeln!(
                text,
                "{run},{},{},{},{},{},,,,,,0,{status},{},,,,,,,,,,,",
                field(&missing.test),
                field(&missing.label),
                missing.copies,
                field(&missing.load),
                field(&missing.condition),
                field(&missing.reason)
            );
        }
    }
    text
}

fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "rate",
        Metric::Time => "time",
        Metric::Latency => "latency",
    }
}

/// Returns the last columns, which only interactive tests and loads have: times in ms, shares in per cent.
fn latency(row: &Row) -> String {
    let mut columns = vec![String::new(); 10];
    if let Some(latency) = &row.latency {
        let histogram = &latency.histogram;
        let moments = [histogram.mean(), histogram.deviation(), histogram.max()].map(|ns| ns / 1e6);
        let share = |share: Option<Estimate>| share.map_or(f64::NAN, |share| share.value);
        let percentiles = PERCENTILES.map(|(_, name)| latency.percentile(name).unwrap_or(f64::NAN));
        let shares = [share(latency.deadlines_met), share(latency.cpu_received)];
        let values = moments.into_iter().chain(percentiles).chain(shares);
        columns = values.map(|value| if value.is_finite() { value.to_string() } else { String::new() }).collect();
    }
    columns.push(row.load.as_ref().map(|load| load.achieved.to_string()).unwrap_or_default());
    columns.join(",")
}

/// Returns a field, quoted where it must be.
pub(super) fn field(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
