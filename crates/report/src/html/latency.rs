//! The part of the page for interactive tasks: the map, and a block per task with tables and charts.

use super::over_time::{Chart, Charts, Each};
use super::words::{clean, end};
use super::{Key, curve, heat, svg};
use crate::tasks::{NOT_INTERBENCH, Task, figure_of, loads, share_of, tasks, told};
use crate::{Footnotes, figure, plus_minus, share};
use analysis::{Latency, Load, PERCENTILES, Row};

/// Most cells of a page whose curves have a hover text per mark.
const HOVERS: usize = 120;

/// Everything of interactive tasks that a page shows.
pub(super) struct Latencies {
    /// The loads: the columns of the map, and the series of every chart.
    pub(super) loads: Vec<Key>,
    /// The rows of the map.
    pub(super) map: Vec<heat::Line>,
    /// Its colours.
    pub(super) colours: Vec<(String, String)>,
    /// A block per task.
    pub(super) blocks: Vec<Block>,
    /// What must not be compared.
    pub(super) not_interbench: &'static str,
}

/// A task.
pub(super) struct Block {
    pub(super) anchor: String,
    pub(super) title: String,
    pub(super) what: &'static str,
    pub(super) legend: Vec<Key>,
    pub(super) tables: Vec<Table>,
    pub(super) curves: Option<String>,
    pub(super) times: Option<Chart>,
    pub(super) trials: Option<Chart>,
}

/// A table with a row per load.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) head: Vec<&'static str>,
    pub(super) lines: Vec<Line>,
    pub(super) missing: Vec<Missing>,
}

/// A row with its cells.
pub(super) struct Line {
    pub(super) load: String,
    pub(super) notes: Vec<usize>,
    pub(super) cells: Vec<(String, &'static str)>,
}

/// A load beside which there is no result.
pub(super) struct Missing {
    pub(super) load: String,
    pub(super) kind: &'static str,
    pub(super) reason: String,
}

/// Returns the part; nothing where the run has no interactive task. Its footnotes are added to `notes`.
pub(super) fn latencies(results: &analysis::Results, notes: &mut Footnotes) -> Option<Latencies> {
    let tasks = tasks(results);
    if tasks.is_empty() {
        return None;
    }
    let loads = loads(&tasks);
    let kinds = [Each::Second, Each::Trial].map(|each| Charts::new(each, &tasks, &loads));
    let hovers = tasks.iter().map(|task| task.rows.len()).sum::<usize>() <= HOVERS;
    let block = |(place, task): (usize, &Task<'_>)| Block {
        anchor: anchor(place),
        title: clean(&task.title()),
        what: task.what(),
        legend: legend(task, &loads),
        tables: tables(task, notes),
        curves: curve::chart(task, &loads, hovers),
        times: kinds[0].chart(task),
        trials: kinds[1].chart(task),
    };
    let blocks = tasks.iter().enumerate().map(block).collect();
    Some(Latencies {
        loads: loads.iter().enumerate().map(|(series, load)| (svg::key(series), clean(load))).collect(),
        map: heat::lines(&tasks, &loads),
        colours: heat::key(),
        blocks,
        not_interbench: NOT_INTERBENCH,
    })
}

/// Returns where on the page a task is.
pub(super) fn anchor(place: usize) -> String {
    format!("task-{}", place + 1)
}

/// Returns what ran beside a task, in words.
pub(super) fn load_name(load: &str) -> String {
    if load == "none" { "without a load".to_owned() } else { format!("beside {}", clean(load)) }
}

fn legend(task: &Task<'_>, loads: &[&str]) -> Vec<Key> {
    let measured = |load: &str| task.rows.iter().any(|(row, _)| row.cell.key.load == load);
    let shown = loads.iter().enumerate().filter(|(_, load)| measured(load));
    shown.map(|(series, load)| (svg::key(series), clean(load))).collect()
}

fn tables(task: &Task<'_>, notes: &mut Footnotes) -> Vec<Table> {
    // The percentiles that the frames beside some load carry; the value's own in any case.
    let carried = |name: &str| {
        let has = |(_, latency): &(&Row, &Latency)| latency.value == name || latency.percentile(name).is_some();
        task.rows.iter().any(has)
    };
    let names: Vec<&'static str> = PERCENTILES.iter().map(|known| known.1).filter(|name| carried(name)).collect();
    let missing = task.missing.iter().map(|(kind, missing)| Missing {
        load: clean(&missing.key.load),
        kind,
        reason: clean(&missing.reason),
    });
    let mut head = vec!["Mean", "Spread", "Max"];
    head.extend(&names);
    head.extend(["±", "Low", "High", "% CPU", "% met", "Load %"]);
    let mut delays = |(row, latency): &(&Row, &Latency)| Line {
        load: clean(&row.cell.key.load),
        notes: row.warnings.iter().map(|warning| notes.number(&warning.to_string())).collect(),
        cells: delays(row, latency, &names),
    };
    let delays =
        Table { name: "Latency", head, lines: task.rows.iter().map(&mut delays).collect(), missing: missing.collect() };
    if delays.lines.is_empty() { vec![delays] } else { vec![delays, frames(task)] }
}

fn delays(row: &Row, latency: &Latency, names: &[&'static str]) -> Vec<(String, &'static str)> {
    let histogram = &latency.histogram;
    let mut cells: Vec<(String, &'static str)> = [histogram.mean(), histogram.deviation(), histogram.max()]
        .into_iter()
        .map(|ns| (told(latency, ns), "n"))
        .collect();
    for name in names {
        let (value, class) = match *name == latency.value {
            true => (finite(row.score.value), "n main"),
            false => (latency.percentile(name), "n"),
        };
        cells.push((figure_of(value), class));
    }
    cells.push((plus_minus(&row.score), "n half"));
    cells.extend([row.score.low, row.score.high].map(|value| (end_of(value), "n")));
    cells.push((share_of(latency.cpu_received), "n"));
    cells.push((share_of(latency.deadlines_met), "n main"));
    cells.push((row.load.as_ref().map_or_else(|| "-".to_owned(), |load| share(load.achieved)), "n"));
    cells
}

fn frames(task: &Task<'_>) -> Table {
    let line = |(row, latency): &(&Row, &Latency)| {
        let highest = |histogram| figure_of(latency.percentiles(histogram).last().map(|(_, ms)| ms));
        let attribution = &latency.attribution;
        let texts = vec![
            row.n.to_string(),
            latency.planned.to_string(),
            share(latency.late),
            share(latency.dropped),
            figure(latency.stall),
            highest(&latency.jitter),
            highest(&latency.response),
            highest(&latency.corrected),
            figure_of(attribution.runqueue_wait_ms),
            figure_of(attribution.steal_ms),
            row.load.as_ref().map_or_else(|| "-".to_owned(), throughput),
        ];
        Line {
            load: clean(&row.cell.key.load),
            notes: Vec::new(),
            cells: texts.into_iter().map(|text| (text, "n")).collect(),
        }
    };
    Table {
        name: "Frames",
        head: vec![
            "Trials", "Planned", "% late", "% drop", "Stall", "Jitter", "Done", "Omitted", "Queued", "Steal",
            "Load did",
        ],
        lines: task.rows.iter().map(line).collect(),
        missing: Vec::new(),
    }
}

/// Returns what a load did, with its unit.
pub(super) fn throughput(load: &Load) -> String {
    format!("{} {}", figure(load.throughput), clean(&load.unit))
}

/// Returns the end of an interval in the form of the value.
pub(super) fn end_of(value: f64) -> String {
    if value.is_finite() { figure(value) } else { end(value) }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
