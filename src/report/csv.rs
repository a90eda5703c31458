//! The CSV report: one line per cell, results and reasons alike (RFC 4180).

use std::fmt::Write;

use crate::analysis::{PERCENTILES, Results, Row};
use crate::catalogue::Metric;
use crate::stats::Estimate;

/// The columns that a run about scaling has besides, the law's the same in every line of a test.
const SCALING: &str = ",per_copy,total,total_unit,gain,gain_low,gain_high,step,efficiency,normalised_gain,clock,fairness,\
in_law,sigma,sigma_low,sigma_high,kappa,kappa_low,kappa_high,peak,peak_low,peak_high";
const COLUMNS: usize = 21;

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let scaled = results.run.is_scaling();
    let mut text = String::from(
        "run,test,label,copies,load,condition,metric,unit,value,low,high,n,status,reason,\
         mean,spread,max,p50,p90,p95,p99,p99.9,deadlines_met,cpu_received,load_achieved",
    );
    text += if scaled { SCALING } else { "" };
    text.push('\n');
    let run = field(&results.run.name);
    for row in &results.rows {
        let cell = &row.cell;
        let bound = |end: f64| if end.is_finite() { end.to_string() } else { String::new() };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{run},{},{},{},{},{},{},{},{},{},{},{},ok,{},{}{}",
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
            if scaled { scaling(results, row) } else { String::new() },
        );
    }
    for (status, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list {
            let _ = writeln!(
                text,
                "{run},{},{},{},{},{},,,,,,0,{status},{},,,,,,,,,,,{}",
                field(&missing.test),
                field(&missing.label),
                missing.copies,
                field(&missing.load),
                field(&missing.condition),
                field(&missing.reason),
                if scaled { ",".repeat(COLUMNS) } else { String::new() },
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

/// Returns the columns of [`SCALING`], each with the comma before it.
fn scaling(results: &Results, row: &Row) -> String {
    let test = results.scaling.iter().find(|test| test.has(&row.cell));
    let place = test.and_then(|test| test.levels.iter().position(|level| level.copies == row.cell.copies));
    let Some((test, place)) = test.zip(place) else { return ",".repeat(COLUMNS) };
    let (first, level) = (&test.levels[0], &test.levels[place]);
    let normalised = level.normalised.zip(first.normalised).map(|(level, first)| level.value / first.value);
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
    };
    let ends = |estimate: Option<Estimate>| {
        [estimate.map(|e| e.value), estimate.map(|e| e.low), estimate.map(|e| e.high)].map(number)
    };
    let mut fields = vec![number(Some(level.per_copy.value)), number(Some(level.total.value)), field(&test.total_unit)];
    fields.extend(ends(Some(level.gain)));
    let more =
        [level.step.map(|step| step.value), Some(level.efficiency.value), normalised, level.clock, level.fairness];
    fields.extend(more.map(number));
    fields.push(if place < test.fitted { "yes" } else { "no" }.to_owned());
    fields.extend(ends(test.law.map(|law| law.sigma)));
    fields.extend(ends(test.law.and_then(|law| law.kappa)));
    fields.extend(ends(test.law.and_then(|law| law.peak)));
    fields.iter().map(|field| format!(",{field}")).collect()
}

/// Returns a field, quoted where it must be.
pub(super) fn field(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
