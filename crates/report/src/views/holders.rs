//! The causes of late frames: processes and interrupts, where the scheduler was traced.

use analysis::{Figure, HeldUp};
use journal::{Cause, Key};
use words::{figure, share};

use super::latency::Task;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Causes of a task beside one load, and worst frames of the run, that are shown.
const CAUSES: usize = 5;
const WORST: usize = 10;

/// Causes in the sentence, at most, and the smallest share that is worth a word.
const MAIN: usize = 3;
const SMALLEST: f64 = 0.05;

const EXPLAINED: &str = "Late frames: those that this held up longer than anything else did, and their share of the \
late frames that the trace explains. Held: ms that it held all late frames up. Kernel threads are listed without their \
number. Tracing takes time of its own: to compare latencies, measure without --why.";

/// One thing that held late frames of a task up beside a load.
struct Wait<'a> {
    task: String,
    key: &'a Key,
    holders: &'a HeldUp,
    cause: &'a Cause,
}

/// Returns the causes of late frames and the worst frames with theirs; nothing unless the scheduler was traced.
pub(super) fn blocks(tasks: &[Task<'_>]) -> Vec<Block> {
    let traced = || tasks.iter().flat_map(rows);
    if traced().all(|(_, _, holders)| holders.causes.is_empty() && holders.worst.is_empty()) {
        return Vec::new();
    }
    let waits = traced().flat_map(|(task, row, holders)| {
        let causes = holders.causes.iter().filter(|cause| cause.frames > 0).take(CAUSES);
        causes.map(move |cause| Wait { task: task.title(), key: &row.cell.key, holders, cause })
    });
    let waits: Vec<Wait<'_>> = waits.collect();
    let mut blocks = vec![Block::section("What held late frames up")];
    blocks.extend(causes(&waits));
    blocks.push(Block::Table(worst(traced())));
    blocks.extend(unexplained(&sum(tasks)));
    blocks.push(Block::text(EXPLAINED));
    blocks
}

/// Returns the rows of a task that were traced.
fn rows<'a>(task: &'a Task<'_>) -> impl Iterator<Item = (&'a Task<'a>, &'a Figure, &'a HeldUp)> {
    task.rows.iter().filter_map(move |(row, latency)| Some((task, *row, latency.holders.as_ref()?)))
}

/// One of the worst frames.
struct Worst<'a> {
    task: String,
    load: &'a str,
    ms: f64,
    causes: &'a [(String, f64)],
}

/// Returns the frames with the longest latencies of the run.
fn worst<'a>(traced: impl Iterator<Item = (&'a Task<'a>, &'a Figure, &'a HeldUp)>) -> Table {
    let frames = traced.flat_map(|(task, row, holders)| {
        let worst = holders.worst.iter();
        worst.map(move |(ms, causes)| Worst { task: task.title(), load: &row.cell.key.load, ms: *ms, causes })
    });
    let mut frames: Vec<Worst<'_>> = frames.collect();
    frames.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    frames.truncate(WORST);
    Columns::new()
        .with(Column::words("Task"), |frame: &Worst<'_>| Field::text(&frame.task))
        .with(Column::words("Load").wide(12), |frame| Field::text(frame.load))
        .with(Column::number("Latency").wide(8).main(), |frame| Field::Number(frame.ms, figure))
        .with(Column::words("Held up by, ms"), |frame| Field::Text(listed(frame.causes)))
        .of(&frames)
        .shown(Readers::PEOPLE)
        .titled("The worst frames", "")
}

fn causes(waits: &[Wait<'_>]) -> Option<Block> {
    Columns::new()
        .with(Column::words("Task"), |wait: &Wait<'_>| Field::text(&wait.task))
        .with(Column::words("Load").wide(12), |wait| Field::text(&wait.key.load))
        .with(Column::words("Held up by"), |wait| Field::text(&wait.cause.name))
        .with(Column::number("Late frames").wide(11).main(), |wait| Field::Count(wait.cause.frames))
        .with(Column::number("%").wide(6), |wait| Field::Number(percent(wait.cause.frames, wait.holders.traced), share))
        .with(Column::number("Held").wide(9), |wait| Field::Number(wait.cause.ns as f64 / 1e6, figure))
        .of(waits)
        .shown(Readers::PEOPLE)
        .unless_empty()
}

/// Returns how many late frames have no cause.
fn unexplained(HeldUp { late, traced, .. }: &HeldUp) -> Option<Block> {
    (traced < late).then(|| Block::notes(vec![format!("the trace explains {traced} of {late} late frames")]))
}

/// Returns what held a frame up longest, and what else counts.
fn listed(causes: &[(String, f64)]) -> String {
    let all: f64 = causes.iter().map(|(_, ms)| ms).sum();
    let causes = causes.iter().filter(|(_, ms)| *ms >= SMALLEST * all);
    causes.map(|(name, ms)| format!("{name} {}", figure(*ms))).collect::<Vec<_>>().join(", ")
}

/// Returns what held most late frames up, in a sentence.
pub(super) fn sentence(tasks: &[Task<'_>]) -> Option<String> {
    let HeldUp { traced, causes, .. } = sum(tasks);
    let shares = causes.iter().map(|cause| (&cause.name, percent(cause.frames, traced)));
    let main = shares.filter(|(_, percent)| *percent >= 100.0 * SMALLEST).take(MAIN);
    let main: Vec<String> = main.map(|(name, percent)| format!("{name} ({} %)", share(percent))).collect();
    (!main.is_empty()).then(|| format!("Late frames were held up by {}.", words::listed(&main, MAIN)))
}

fn sum(tasks: &[Task<'_>]) -> HeldUp {
    let rows = tasks.iter().flat_map(|task| &task.rows);
    HeldUp::sum(rows.filter_map(|(_, latency)| latency.holders.as_ref()))
}

fn percent(frames: u64, all: u64) -> f64 {
    100.0 * frames as f64 / all.max(1) as f64
}
