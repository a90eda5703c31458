//! The map of tasks and loads: a figure per cell, coloured by how much later it is than without a load.

use super::latency::{anchor, load_name};
use super::words::{clean, number, range};
use crate::analysis::{Latency, Missing, PERCENTILES, Row};
use crate::report::tasks::{Task, figure_of, share_of, told};
use crate::report::{figure, plus_minus, share};

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
    let quiet = quiet(task);
    match task.rows.iter().find(|(row, _)| row.cell.load == load) {
        Some((row, latency)) => measured(task, (row, latency), quiet),
        None => task.missing.iter().find(|(_, missing)| missing.load == load).map_or_else(Field::default, gone),
    }
}

/// Returns what the others are compared with: the task without a load, else the least late of its rows.
fn quiet<'a>(task: &Task<'a>) -> Option<&'a Latency> {
    let median = |latency: &Latency| latency.histogram.quantile(0.5);
    let some = || task.rows.iter().filter(|(_, latency)| latency.histogram.count() > 0);
    let alone = some().find(|(row, _)| row.cell.load == "none");
    alone.or_else(|| some().min_by(|a, b| median(a.1).total_cmp(&median(b.1)))).map(|(_, latency)| *latency)
}

/// Returns how many times later one is than the other, at the higher percentile of those that both carry.
fn times(latency: &Latency, quiet: &Latency) -> Option<(f64, &'static str)> {
    let place = |name: &str| PERCENTILES.iter().position(|known| known.1 == name).unwrap_or(0);
    let (share, name) = PERCENTILES[place(latency.value).min(place(quiet.value))];
    let times = latency.histogram.quantile(share) / quiet.histogram.quantile(share).max(1.0);
    (latency.histogram.count() > 0 && times.is_finite()).then_some((times, name))
}

fn step(times: f64) -> usize {
    STEPS.iter().position(|most| times <= *most).unwrap_or(STEPS.len())
}

fn measured(task: &Task<'_>, (row, latency): (&Row, &Latency), quiet: Option<&Latency>) -> Field {
    let compared = quiet.and_then(|quiet| times(latency, quiet));
    let met = latency.deadlines_met.map(|met| format!("{} % met", share(met.value)));
    let some = row.score.value.is_finite();
    Field {
        class: compared.map_or_else(|| "tn".to_owned(), |(times, _)| format!("t{}", step(times))),
        figure: if some { figure(row.score.value) } else { "no frame".to_owned() },
        name: if some && latency.value != "p99" { latency.value } else { "" },
        more: met.unwrap_or_default(),
        title: title(task, row, latency, compared),
    }
}

fn title(task: &Task<'_>, row: &Row, latency: &Latency, compared: Option<(f64, &'static str)>) -> String {
    let histogram = &latency.histogram;
    let mut lines = vec![
        format!("{}, {}: {} in ms", task.title(), load_name(&row.cell.load), task.what()),
        format!(
            "{} {} {} ({})",
            latency.value,
            figure_of(finite(row.score.value)),
            plus_minus(&row.score),
            range(&row.score)
        ),
        format!("mean {}, max {}", told(latency, histogram.mean()), told(latency, histogram.max())),
        format!("{} frames of {} planned in {} trials", histogram.count(), latency.planned, row.n),
        format!(
            "{} % late, {} % dropped, longest stall {}",
            share(latency.late),
            share(latency.dropped),
            figure(latency.stall)
        ),
    ];
    if latency.deadlines_met.is_some() {
        lines.push(format!("{} % of deadlines met", share_of(latency.deadlines_met)));
    }
    if latency.cpu_received.is_some() {
        lines.push(format!("{} % of the planned work done", share_of(latency.cpu_received)));
    }
    if let Some(load) = &row.load {
        lines.push(format!("the load did {} % of what it does alone", share(load.achieved)));
    }
    if let Some((times, name)) = compared {
        lines.push(format!("{} times the quiet {name}", number(times)));
    }
    lines.extend(row.warnings.iter().cloned());
    titled(&lines)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn gone((kind, missing): &(&'static str, &Missing)) -> Field {
    Field {
        class: "gone".to_owned(),
        figure: if *kind == "error" { "failed" } else { kind }.to_owned(),
        title: titled(&[format!("{}, {}", missing.label, load_name(&missing.load)), missing.reason.clone()]),
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
