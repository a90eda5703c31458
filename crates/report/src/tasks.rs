//! The interactive tasks of a run, a block per task and a row per load, and the words that reports share about them.

use super::{figure, share};
use analysis::{Latency, Missing, Results, Row};
use journal::Latency as Kind;
use stats::Estimate;

/// Why the numbers of another tool with the same rows must not be put beside these.
pub(super) const NOT_INTERBENCH: &str = "Interbench's figures are not comparable with these: its latency adds whole \
missed intervals to wake-up delays and leaves out the timer's own, its spread is a root mean square, its X hides most \
delays, and its shares count bursts that ran, not those that were planned.";

/// What stands where there is no number.
const NOTHING: &str = "-";

/// A task at one number of copies and under one condition, beside every load.
pub(super) struct Task<'a> {
    test: &'a str,
    label: &'a str,
    copies: u32,
    condition: &'a str,
    /// The rows that have a latency, in the order of the run.
    pub(super) rows: Vec<(&'a Row, &'a Latency)>,
    /// `skipped` or `error`, and the cell.
    pub(super) missing: Vec<(&'static str, &'a Missing)>,
}

impl Task<'_> {
    /// Returns its name, with copies and condition where they are out of the ordinary.
    pub(super) fn title(&self) -> String {
        let mut title = self.label.to_owned();
        if self.copies > 1 {
            title += &format!(", {} copies", self.copies);
        }
        if self.condition != "none" {
            title += &format!(", condition {}", self.condition);
        }
        title
    }

    /// Returns what its latency is; nothing where no row says it.
    pub(super) fn what(&self) -> &'static str {
        self.rows.first().map_or("latency", |(_, latency)| what(latency.kind))
    }
}

/// Returns the tasks in the order of the run.
pub(super) fn tasks(results: &Results) -> Vec<Task<'_>> {
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for row in &results.rows {
        let cell = &row.cell;
        if let Some(latency) = &row.latency {
            of(&mut tasks, (&cell.key.test, &cell.label, cell.key.copies, &cell.key.condition))
                .rows
                .push((row, latency));
        }
    }
    for (kind, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list.iter().filter(|missing| missing.latency) {
            let key = (&*missing.key.test, &*missing.label, missing.key.copies, &*missing.key.condition);
            of(&mut tasks, key).missing.push((kind, missing));
        }
    }
    tasks
}

/// Test, label, copies and condition.
type Key<'a> = (&'a str, &'a str, u32, &'a str);

fn of<'t, 'a>(tasks: &'t mut Vec<Task<'a>>, (test, label, copies, condition): Key<'a>) -> &'t mut Task<'a> {
    let same = |task: &Task<'_>| (task.test, task.copies, task.condition) == (test, copies, condition);
    let place = tasks.iter().position(same).unwrap_or_else(|| {
        tasks.push(Task { test, label, copies, condition, rows: Vec::new(), missing: Vec::new() });
        tasks.len() - 1
    });
    &mut tasks[place]
}

/// Returns the loads beside any task: none first, then in the order of the run.
pub(super) fn loads<'a>(tasks: &[Task<'a>]) -> Vec<&'a str> {
    let mut loads: Vec<&str> = Vec::new();
    let rows = tasks.iter().flat_map(|task| task.rows.iter().map(|(row, _)| row.cell.key.load.as_str()));
    let missing = tasks.iter().flat_map(|task| task.missing.iter().map(|(_, missing)| missing.key.load.as_str()));
    for load in rows.chain(missing) {
        if !loads.contains(&load) {
            loads.push(load);
        }
    }
    loads.sort_by_key(|load| *load != "none");
    loads
}

/// What a latency is, in words.
pub(super) fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Wake => "wake-up latency",
        Kind::Response => "time to the response",
        Kind::Overrun => "time beyond the work",
    }
}

/// Returns a figure of a histogram in ms, from ns; a dash where nothing was counted.
pub(super) fn told(latency: &Latency, ns: f64) -> String {
    if latency.histogram.count() > 0 { figure(ns / 1e6) } else { NOTHING.to_owned() }
}

/// Returns a share that may be missing.
pub(super) fn share_of(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| NOTHING.to_owned(), |estimate| share(estimate.value))
}

/// Returns a figure that may be missing.
pub(super) fn figure_of(value: Option<f64>) -> String {
    match value {
        None => NOTHING.to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) => figure(value),
    }
}
