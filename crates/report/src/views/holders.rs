//! The causes of late frames: processes and interrupts, where the scheduler was traced.

use analysis::HeldUp;
use journal::Cause;
use words::{figure, share};

use super::tasks::{Task, TaskRow};
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Causes that are shown of a task under one load.
const MAX_CAUSES: usize = 5;

/// Worst frames that are shown of the run.
const MAX_WORST_FRAMES: usize = 10;

/// Causes that a sentence names.
const MAX_NAMED_CAUSES: usize = 3;

/// A cause of a smaller share is not worth a word.
const MIN_NAMED_SHARE: f64 = 0.05;

const NS_PER_MS: f64 = 1e6;

const HOW_TO_READ: &str = "Late frames: those that this held up longer than anything else did, and \
their share of the late frames that the trace explains. Held: ms that it held all late frames up. \
Kernel threads are listed without their number. Tracing takes time of its own: to compare \
latencies, measure without --why.";

/// A row of a task that was traced.
#[derive(Clone, Copy)]
struct Traced<'a> {
    task: &'a Task<'a>,
    row: TaskRow<'a>,
    held: &'a HeldUp,
}

/// A cause of late frames in a row.
struct RowCause<'a> {
    traced: Traced<'a>,
    cause: &'a Cause,
}

/// One of the worst frames, and how long each cause held it up.
struct WorstFrame<'a> {
    traced: Traced<'a>,
    latency_ms: f64,
    causes_ms: &'a [(String, f64)],
}

impl Traced<'_> {
    fn task_field(&self) -> Field {
        Field::Text(self.task.title())
    }

    fn load_field(&self) -> Field {
        Field::text(self.row.load())
    }
}

/// The causes of late frames, and the worst frames with theirs; nothing unless the scheduler was
/// traced.
pub(super) fn blocks(tasks: &[Task<'_>]) -> Vec<Block> {
    let traced = traced_rows(tasks);
    let has_any =
        traced.iter().any(|row| !row.held.causes.is_empty() || !row.held.worst.is_empty());
    if !has_any {
        return Vec::new();
    }

    let mut blocks = vec![Block::section("What held late frames up")];
    blocks.extend(table_of_causes(&traced).unless_empty());
    blocks.push(Block::Table(table_of_worst(&traced)));
    blocks.extend(note_on_unexplained(&sum_of_tasks(tasks)));
    blocks.push(Block::text(HOW_TO_READ));
    blocks
}

fn traced_rows<'a>(tasks: &'a [Task<'a>]) -> Vec<Traced<'a>> {
    let mut traced = Vec::new();
    for task in tasks {
        for row in task.rows.iter().copied() {
            if let Some(held) = &row.latency.holders {
                traced.push(Traced { task, row, held });
            }
        }
    }
    traced
}

/// What held late frames of each task up under each load.
fn table_of_causes(traced: &[Traced<'_>]) -> Table {
    let mut rows = Vec::new();
    for traced in traced.iter().copied() {
        let causes = traced.held.causes.iter().filter(|cause| cause.frames > 0);
        rows.extend(causes.take(MAX_CAUSES).map(|cause| RowCause { traced, cause }));
    }

    Columns::new()
        .with(Column::words("Task"), |row: &RowCause<'_>| row.traced.task_field())
        .with(Column::words("Load").wide(12), |row| row.traced.load_field())
        .with(Column::words("Held up by"), |row| Field::text(&row.cause.name))
        .with(Column::number("Late frames").wide(11).main(), |row| Field::Count(row.cause.frames))
        .with(Column::number("%").wide(6), |row| {
            Field::Number(percent_of(row.cause.frames, row.traced.held.traced), share)
        })
        .with(Column::number("Held").wide(9), |row| {
            Field::Number(row.cause.ns as f64 / NS_PER_MS, figure)
        })
        .table(&rows)
        .shown(Readers::PEOPLE)
}

/// The frames with the longest latencies of the run.
fn table_of_worst(traced: &[Traced<'_>]) -> Table {
    let mut frames = Vec::new();
    for traced in traced.iter().copied() {
        for (latency_ms, causes_ms) in &traced.held.worst {
            frames.push(WorstFrame { traced, latency_ms: *latency_ms, causes_ms });
        }
    }
    frames.sort_by(|a, b| b.latency_ms.total_cmp(&a.latency_ms));
    frames.truncate(MAX_WORST_FRAMES);

    Columns::new()
        .with(Column::words("Task"), |frame: &WorstFrame<'_>| frame.traced.task_field())
        .with(Column::words("Load").wide(12), |frame| frame.traced.load_field())
        .with(Column::number("Latency").wide(8).main(), |frame| {
            Field::Number(frame.latency_ms, figure)
        })
        .with(Column::words("Held up by, ms"), |frame| Field::Text(list_causes(frame.causes_ms)))
        .table(&frames)
        .shown(Readers::PEOPLE)
        .titled("The worst frames", "")
}

/// The causes of a frame that count, each with its ms.
fn list_causes(causes_ms: &[(String, f64)]) -> String {
    let total_ms: f64 = causes_ms.iter().map(|(_, ms)| ms).sum();
    let named: Vec<String> = causes_ms
        .iter()
        .filter(|(_, ms)| *ms >= MIN_NAMED_SHARE * total_ms)
        .map(|(name, ms)| format!("{name} {}", figure(*ms)))
        .collect();
    named.join(", ")
}

fn note_on_unexplained(HeldUp { late, traced, .. }: &HeldUp) -> Option<Block> {
    if traced >= late {
        return None;
    }
    Some(Block::notes(vec![format!("the trace explains {traced} of {late} late frames")]))
}

/// What held most late frames up, in a sentence; `None` if nothing is known.
pub(super) fn sentence(tasks: &[Task<'_>]) -> Option<String> {
    let HeldUp { traced, causes, .. } = sum_of_tasks(tasks);
    let mut named = Vec::new();
    for cause in &causes {
        let percent = percent_of(cause.frames, traced);
        if percent >= 100.0 * MIN_NAMED_SHARE && named.len() < MAX_NAMED_CAUSES {
            named.push(format!("{} ({} %)", cause.name, share(percent)));
        }
    }
    if named.is_empty() {
        return None;
    }
    let causes = words::listed(&named, MAX_NAMED_CAUSES);
    Some(format!("Late frames were held up by {causes}."))
}

fn sum_of_tasks(tasks: &[Task<'_>]) -> HeldUp {
    let rows = tasks.iter().flat_map(|task| &task.rows);
    HeldUp::sum(rows.filter_map(|row| row.latency.holders.as_ref()))
}

fn percent_of(frames: u64, all: u64) -> f64 {
    100.0 * frames as f64 / all.max(1) as f64
}
