//! The map of tasks and loads: a figure per cell, coloured by how much later it is than without a load.

use super::latency::{anchor, load_name};
use super::words::{clean, number, range};
use crate::tasks::{Task, figure_of, share_of, told};
use crate::{figure, plus_minus, share};
use analysis::{Latency, Missing, PERCENTILES, Row};
use stats::Estimate;

/// How many times the quiet latency a colour reaches; the last reaches everything.
const STEPS: [f64; 5] = [1.5, 3.0, 10.0, 30.0, 100.0];

/// A task's fields.
pub(super) struct Line {
    /// Where the task's own block is.
    pub(super) anchor: String,
    /// The task.
    pub(super) label: String,
    /// One per load.
    pub(super) fields: Vec<Field>,
}

/// A cell of the run.
#[derive(Default)]
pub(super) struct Field {
    /// The colour.
    pub(super) class: String,
    /// The latency in ms, or why there is none, in a word.
    pub(super) figure: String,
    /// The percentile, where it is not p99.
    pub(super) name: &'static str,
    /// Whether chance alone may have made it later than without a load.
    pub(super) doubt: bool,
    /// Deadlines met.
    pub(super) more: String,
    /// Everything, on hover.
    pub(super) title: String,
}

/// Returns the rows of the map.
pub(super) fn lines(tasks: &[Task<'_>], loads: &[&str]) -> Vec<Line> {
    let line = |(place, task): (usize, &Task<'_>)| Line {
        anchor: anchor(place),
        label: clean(&task.title()),
        fields: loads.iter().map(|load| field(task, load)).collect(),
    };
    tasks.iter().enumerate().map(line).collect()
}

/// Returns the colours and what they mean.
pub(super) fn key() -> Vec<(String, String)> {
    let up_to = STEPS.iter().enumerate().map(|(step, times)| (format!("t{step}"), format!("to {times}×")));
    let mut key: Vec<(String, String)> = up_to.collect();
    key.push((format!("t{}", STEPS.len()), "more".to_owned()));
    key
}

fn field(task: &Task<'_>, load: &str) -> Field {
    match task.rows.iter().find(|(row, _)| row.cell.key.load == load) {
        Some(found) => measured(task, *found, quiet(task)),
        None => task.missing.iter().find(|(_, missing)| missing.key.load == load).map_or_else(Field::default, gone),
    }
}

/// A row with its latency.
type Beside<'a> = (&'a Row, &'a Latency);

/// Returns what the others are compared with: the task without a load, else the least late of its rows.
fn quiet<'a>(task: &Task<'a>) -> Option<Beside<'a>> {
    let median = |latency: &Latency| latency.histogram.quantile(0.5);
    let some = || task.rows.iter().filter(|(_, latency)| latency.histogram.count() > 0);
    let alone = some().find(|(row, _)| row.cell.key.load == "none");
    alone.or_else(|| some().min_by(|a, b| median(a.1).total_cmp(&median(b.1)))).copied()
}

/// A latency compared with the quiet one.
struct Compared {
    /// How many times later.
    times: f64,
    /// At which percentile: the higher of those that both carry.
    name: &'static str,
    /// Whether the interval of the quotient holds 1, or has no end.
    doubt: bool,
}

fn compared((row, latency): Beside<'_>, (other, quiet): Beside<'_>) -> Option<Compared> {
    let place = |name: &str| PERCENTILES.iter().position(|known| known.1 == name).unwrap_or(0);
    let (share, name) = PERCENTILES[place(latency.value).min(place(quiet.value))];
    let times = latency.histogram.quantile(share) / quiet.histogram.quantile(share).max(1.0);
    let quotient = row.score.over(&other.score);
    let apart = quotient.bounded() && !(quotient.low..=quotient.high).contains(&1.0);
    let doubt = latency.value == quiet.value && !apart;
    (latency.histogram.count() > 0 && times.is_finite()).then_some(Compared { times, name, doubt })
}

fn step(times: f64) -> usize {
    STEPS.iter().position(|most| times <= *most).unwrap_or(STEPS.len())
}

fn measured(task: &Task<'_>, (row, latency): Beside<'_>, quiet: Option<Beside<'_>>) -> Field {
    let compared = quiet.and_then(|quiet| compared((row, latency), quiet));
    let step = compared.as_ref().map(|compared| step(compared.times));
    let met = latency.deadlines_met.map(|met| format!("{} %", share(met.value)));
    let some = row.score.value.is_finite();
    Field {
        class: step.map_or_else(|| "tn".to_owned(), |step| format!("t{step}")),
        doubt: step > Some(0) && compared.as_ref().is_some_and(|compared| compared.doubt),
        figure: if some { figure(row.score.value) } else { "no frame".to_owned() },
        name: if some && latency.value != "p99" { latency.value } else { "" },
        more: met.unwrap_or_default(),
        title: title(task, (row, latency), compared.as_ref()),
    }
}

fn title(task: &Task<'_>, (row, latency): Beside<'_>, compared: Option<&Compared>) -> String {
    let histogram = &latency.histogram;
    let (score, value) = (&row.score, figure_of(finite(row.score.value)));
    let told_of = |(name, ms): (&'static str, f64)| format!(", {name} {}", figure(ms));
    let percentiles: String = latency.percentiles(histogram).map(told_of).collect();
    let mut lines = vec![
        format!("{}, {}: {} in ms", task.title(), load_name(&row.cell.key.load), task.what()),
        format!("{} {value} {} ({})", latency.value, plus_minus(score), range(score)),
        format!("mean {}{percentiles}, max {}", told(latency, histogram.mean()), told(latency, histogram.max())),
    ];
    if let Some(compared) = compared {
        let doubt = if compared.doubt { ", within what chance does" } else { "" };
        lines.push(format!("{} times the quiet {}{doubt}", number(compared.times), compared.name));
    }
    let (late, dropped) = (share(latency.late), share(latency.dropped));
    lines.push(format!("{} frames of {} planned in {} trials", histogram.count(), latency.planned, row.n));
    lines.push(format!("{late} % late, {dropped} % dropped, longest stall {}", figure(latency.stall)));
    lines.extend(shares(row, latency));
    lines.extend(crate::texts(&row.warnings));
    titled(&lines)
}

/// What was not measured in ms.
fn shares(row: &Row, latency: &Latency) -> Vec<String> {
    let attribution = &latency.attribution;
    let per_second = |ms: Option<f64>, what: &str| ms.map(|ms| format!("{} ms per s {what}", figure_of(Some(ms))));
    let of = |known: Option<Estimate>, what: &str| known.map(|_| format!("{} % of {what}", share_of(known)));
    let load = row.load.as_ref().map(|load| format!("the load did {} % of what it does alone", share(load.achieved)));
    let all = [
        of(latency.deadlines_met, "deadlines met"),
        of(latency.cpu_received, "the planned work done"),
        per_second(attribution.runqueue_wait_ms, "ready without a processor"),
        per_second(attribution.steal_ms, "taken by the hypervisor"),
        load,
    ];
    all.into_iter().flatten().collect()
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn gone((kind, missing): &(&'static str, &Missing)) -> Field {
    Field {
        class: "gone".to_owned(),
        figure: if *kind == "error" { "failed" } else { kind }.to_owned(),
        title: titled(&[format!("{}, {}", missing.label, load_name(&missing.key.load)), missing.reason.clone()]),
        ..Field::default()
    }
}

fn titled(lines: &[String]) -> String {
    lines.iter().map(|line| clean(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_up() {
        let steps: Vec<usize> = [0.1, 1.0, 1.6, 5.0, 30.0, 31.0, 1e9].into_iter().map(step).collect();
        assert_eq!(steps, [0, 0, 1, 2, 3, 4, 5]);
        assert_eq!(key().len(), STEPS.len() + 1);
    }
}
