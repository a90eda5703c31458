//! Interbench's text, and its logs, to which every run is appended: how late simulated tasks ran
//! beside simulated loads.
//!
//! ```text
//! Using 1844991 loops per ms, running every load for 30 seconds
//! Benchmarking kernel 2.6.13-rc6-2 at datestamp 200508181941
//!
//! --- Benchmarking simulated cpu of Audio in the presence of simulated ---
//! Load    Latency +/- SD (ms)  Max Latency   % Desired CPU  % Deadlines Met
//! None      0.017 +/- 0.0267     0.458             100            100
//! ```
//!
//! With `-r` the task is "Audio real time" and latencies are in us. A game has no deadlines, and
//! its table has no such column. The deviation is left out: Interbench computes it wrongly.

use super::{Draft, Heading, Journal, Result, Starts, Text, date, ensure};
use crate::figure;

/// What the first line of a table has before the task.
const TABLE_START: &str = "Benchmarking simulated cpu of ";

/// What it has after the task, before the loads' settings.
const LOADS_START: &str = " in the presence of simulated";

/// Words of the line with the settings, the first of a run.
const SETTINGS: &str = " loops per ms, running every load for ";

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(|line| parse_task(line).is_some())
}

/// Notes where runs begin: at the line of their settings, or where a task comes again.
pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if line.contains(SETTINGS) {
            starts.begin(number);
        } else if let Some(task) = parse_task(line) {
            starts.note_mark_or_begin(number, task);
        }
    }
}

/// The task whose table a line begins, with the niceness of the loads: `Audio real time`, `Video,
/// loads nice 5`.
fn parse_task(line: &str) -> Option<String> {
    let (_, names) = line.split_once(TABLE_START)?;
    let (task, loads) = names.split_once(LOADS_START)?;
    let loads = loads.trim_matches(['-', ' ']);
    let loads = if loads.is_empty() { String::new() } else { format!(", loads {loads}") };
    Some(format!("{}{loads}", task.trim()))
}

/// A table that is being read.
struct Table {
    task: String,
    /// The unit of its latencies; empty until the columns' heads are read.
    unit: &'static str,
    has_deadlines: bool,
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "Interbench".clone_into(&mut draft.run.tool);
    let mut table: Option<Table> = None;
    for (number, line) in source.lines() {
        if let Some(task) = parse_task(line) {
            table = Some(Table { task, unit: "", has_deadlines: false });
        } else if let Some(kernel) = line.trim_start().strip_prefix("Benchmarking kernel ") {
            let (release, stamp) = kernel.split_once(" at datestamp ").unwrap_or((kernel, ""));
            draft.add_fact("kernel.release", "Release", "Kernel", release);
            draft.set_start_or_quote(stamp, date::from_packed_minutes(stamp));
        } else if let Some(comment) = line.strip_prefix("Comment: ") {
            draft.run.comment = comment.trim().to_owned();
        } else if let Some(table) = table.as_mut().filter(|table| table.unit.is_empty()) {
            ensure!(
                line.contains("Max Latency") && line.contains("Latency +/- SD ("),
                source.damaged_line_error(
                    number,
                    line,
                    "columns as known here of Interbench's table"
                )
            );
            table.unit = if line.contains("(us)") { "us" } else { "ms" };
            table.has_deadlines = line.contains("% Deadlines Met");
        } else if !line.contains("+/-") {
            table = None;
        } else if let Some(table) = &table {
            add_load(table, line, &mut draft)
                .ok_or_else(|| source.damaged_line_error(number, line, "figures of a load"))?;
        }
    }
    Ok(vec![draft.finish()])
}

/// Adds the cells of a load; `None` where a word is no number.
fn add_load(table: &Table, line: &str, draft: &mut Draft<'_>) -> Option<()> {
    let (load, figures) = line.trim_start().split_once(char::is_whitespace)?;
    let (mean, after) = figures.split_once("+/-")?;
    let mean = figure::parse_number(mean.trim())?;
    // After the deviation.
    let mut figures = after.split_whitespace().skip(1).map(figure::parse_number);
    let (max, desired) = (figures.next()??, figures.next()??);
    let met = if table.has_deadlines { Some(figures.next()??) } else { None };

    let label = |figure: &str| format!("{} beside {load} {figure}", table.task);
    draft.add_values(&Heading::time(label("latency"), table.unit), [mean]);
    draft.add_values(&Heading::time(label("max latency"), table.unit), [max]);
    draft.add_values(&Heading::rate(label("desired CPU"), "%"), [desired]);
    draft.add_values(&Heading::rate(label("deadlines met"), "%"), met);
    Some(())
}
