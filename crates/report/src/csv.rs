//! The CSV report: one line per cell, results and reasons alike (RFC 4180).

use std::fmt::Write;

use crate::cost;
use analysis::{BurnIn, Cost, Effect, Held, PERCENTILES, Results, Row};
use catalogue::Metric;
use stats::Estimate;

/// The columns that a run about scaling has besides, the law's the same in every line of a test.
const SCALING: &str = ",per_copy,total,total_unit,gain,gain_low,gain_high,step,efficiency,normalised_gain,clock,fairness,\
in_law,sigma,sigma_low,sigma_high,kappa,kappa_low,kappa_high,peak,peak_low,peak_high";

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let scaled = results.run.is_scaling();
    let mut text = String::from(
        "run,test,label,copies,load,condition,metric,unit,value,low,high,n,status,reason,\
         mean,spread,max,p50,p90,p95,p99,p99.9,deadlines_met,cpu_received,load_achieved",
    );
    text += if scaled { SCALING } else { "" };
    text += if results.cost().is_some() { cost::csv::HEAD } else { "" };
    text.push('\n');
    let run = field(&results.run.name);
    for row in results.rows.iter().chain(results.controls()) {
        let cell = &row.cell;
        let effects = results.cost().map_or(Vec::new(), |cost| cost::csv::effects(cost, results, row));
        let bound = |end: f64| if end.is_finite() { end.to_string() } else { String::new() };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{run},{},{},{},{},{},{},{},{},{},{},{},ok,{},{}{}{}",
            field(&cell.key.test),
            field(&cell.label),
            cell.key.copies,
            field(&cell.key.load),
            field(&cell.key.condition),
            metric(row.cell.metric),
            field(&cell.unit),
            row.score.value,
            bound(row.score.low),
            bound(row.score.high),
            row.n,
            field(&crate::texts(&row.warnings).join("; ")),
            latency(row),
            if scaled { scaling(results, row) } else { String::new() },
            costs(results, effects.first().copied()),
        );
        // Other measures of a latency have a line each, with their name as a figure of a burn-in has it.
        for effect in effects.iter().skip(1) {
            let one = &effect.comparison;
            let (test, label, load) = (field(&cell.key.test), field(&cell.label), field(&cell.key.load));
            let _ = writeln!(
                text,
                "{run},{test},{label},{},{load},{},{},{},{},,,{},ok,{}{}",
                cell.key.copies,
                field(&cell.key.condition),
                one.measure.name(),
                field(&one.unit),
                one.b,
                one.n.1,
                ",".repeat(11),
                costs(results, Some(*effect)),
            );
        }
    }
    if let Some(burnin) = results.burnin() {
        self::burnin(&mut text, &run, burnin);
    }
    for (status, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list {
            let _ = writeln!(
                text,
                "{run},{},{},{},{},{},,,,,,0,{status},{},,,,,,,,,,,{}{}",
                field(&missing.key.test),
                field(&missing.label),
                missing.key.copies,
                field(&missing.key.load),
                field(&missing.key.condition),
                field(&missing.reason),
                if scaled { no_scaling() } else { String::new() },
                costs(results, None),
            );
        }
    }
    text
}

/// The columns of scaling, empty.
fn no_scaling() -> String {
    ",".repeat(SCALING.matches(',').count())
}

/// The columns of cost, empty without an effect.
fn costs(results: &Results, effect: Option<&Effect>) -> String {
    let fields = |cost: &Cost| effect.map_or_else(cost::csv::nothing, |effect| cost::csv::fields(cost, effect));
    results.cost().map_or_else(String::new, fields)
}

fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "rate",
        Metric::Time => "time",
        Metric::Latency => "latency",
    }
}

/// A line per figure of a burn-in, and one per fault that was told.
fn burnin(text: &mut String, run: &str, burnin: &BurnIn) {
    let (test, label, threads) = (field(&burnin.test), field(&burnin.label), burnin.asked.threads);
    let mut line = |metric: &str, unit: &str, value: &Estimate, status: &str, reason: &str| {
        let end = |end: f64| if end.is_finite() { end.to_string() } else { String::new() };
        let (value, low, high) = (end(value.value), end(value.low), end(value.high));
        let (metric, reason) = (field(metric), field(reason));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{run},{test},{label},{threads},none,none,{metric},{unit},{value},{low},{high},1,{status},{reason},,,,,,,,,,,"
        );
    };
    let alone = |value: f64| Estimate::alone(value);
    let status = if burnin.good { "ok" } else { "error" };
    line("seconds", "s", &alone(burnin.worked), status, &burnin.verdict);
    if let Some(cooling) = &burnin.cooling {
        for (name, unit, held) in [("clock", "GHz", &cooling.clock), ("throughput", "pieces/s", &cooling.throughput)] {
            let Some(Held { initial, sustained, ratio, .. }) = held else { continue };
            line(&format!("{name}_initial"), unit, initial, "ok", "");
            line(&format!("{name}_sustained"), unit, sustained, "ok", "");
            line(&format!("{name}_kept"), "", ratio, "ok", "");
        }
        if let Some(fall) = &cooling.fall {
            line("fell", "s", &alone(fall.at), "ok", fall.cause.kind());
        }
        line("wrong", "", &alone(cooling.wrong as f64), if cooling.wrong > 0 { "error" } else { "ok" }, "");
    }
    if let Some(memory) = &burnin.memory {
        line("passes", "", &alone(memory.passes as f64), "ok", "");
        line("moved", "B", &alone(memory.moved as f64), "ok", "");
        if let Some(rate) = &memory.rate {
            line("rate", "B/s", rate, "ok", "");
        }
        line("faults", "", &alone(memory.faults as f64), if memory.faults > 0 { "error" } else { "ok" }, "");
        for rise in &memory.errors {
            let kind = if rise.corrected { "corrected" } else { "uncorrected" };
            line(&format!("{kind} {}", rise.controller), "", &alone(rise.count as f64), "error", "");
        }
    }
    for sensor in &burnin.sensors {
        let name = format!("highest {}", sensor.name);
        line(&name, sensor.unit, &alone(sensor.highest.unwrap_or(f64::NAN)), "ok", "");
    }
    for fault in &burnin.faults {
        let physical = fault.physical.map(|physical| format!(" physical {physical}")).unwrap_or_default();
        let reason = format!(
            "pass {} {} at {}{physical}: {} instead of {}, again {}",
            fault.pass, fault.pattern, fault.address, fault.read, fault.expected, fault.retest
        );
        line("fault", "s", &alone(fault.at), "error", &reason);
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
    let test = results.scaling().iter().find(|test| test.has(&row.cell));
    let place = test.and_then(|test| test.levels.iter().position(|level| level.copies == row.cell.key.copies));
    let Some((test, place)) = test.zip(place) else { return no_scaling() };
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
