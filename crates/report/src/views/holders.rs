//! The causes of late frames: processes and interrupts, where the scheduler was traced.

use analysis::{Figure, HeldUp};
use journal::Cause;
use words::{figure, share};

use super::tasks::Task;
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

/// A row of a task that was traced.
type Traced<'a> = (&'a Task<'a>, &'a Figure, &'a HeldUp);

/// Returns the causes of late frames and the worst frames with theirs; nothing unless the scheduler was traced.
pub(super) fn blocks(tasks: &[Task<'_>]) -> Vec<Block> {
    let traced = || tasks.iter().flat_map(rows);
    if traced().all(|(_, _, holders)| holders.causes.is_empty() && holders.worst.is_empty()) {
        return Vec::new();
    }
    let mut blocks = vec![Block::section("What held late frames up")];
    blocks.extend(causes(traced()));
    blocks.push(Block::Table(worst(traced())));
    blocks.extend(unexplained(&sum(tasks)));
    blocks.push(Block::text(EXPLAINED));
    blocks
}

/// Returns the rows of a task that were traced.
fn rows<'a>(task: &'a Task<'_>) -> impl Iterator<Item = Traced<'a>> {
    task.rows.iter().filter_map(move |(row, latency)| Some((task, *row, latency.holders.as_ref()?)))
}

/// Returns the frames with the longest latencies of the run.
fn worst<'a>(traced: impl Iterator<Item = Traced<'a>>) -> Table {
    /// A row, the latency in ms, and its causes.
    type Worst<'a> = (Traced<'a>, &'a (f64, Vec<(String, f64)>));
    let frames = traced.flat_map(|row| row.2.worst.iter().map(move |frame| (row, frame)));
    let mut frames: Vec<Worst<'a>> = frames.collect();
    frames.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    frames.truncate(WORST);
    Columns::new()
        .with(Column::words("Task"), |((task, ..), _): &Worst<'a>| Field::Text(task.title()))
        .with(Column::words("Load").wide(12), |((_, row, _), _)| Field::text(&row.cell.key.load))
        .with(Column::number("Latency").wide(8).main(), |(_, (ms, _))| Field::Number(*ms, figure))
        .with(Column::words("Held up by, ms"), |(_, (_, causes))| Field::Text(listed(causes)))
        .table(&frames)
        .shown(Readers::PEOPLE)
        .titled("The worst frames", "")
}

/// Returns what held late frames of each task up beside each load.
fn causes<'a>(traced: impl Iterator<Item = Traced<'a>>) -> Option<Block> {
    let causes = traced.flat_map(|row| {
        let causes = row.2.causes.iter().filter(|cause| cause.frames > 0).take(CAUSES);
        causes.map(move |cause| (row, cause))
    });
    let causes: Vec<(Traced<'a>, &'a Cause)> = causes.collect();
    Columns::new()
        .with(Column::words("Task"), |((task, ..), _): &(Traced<'a>, &'a Cause)| Field::Text(task.title()))
        .with(Column::words("Load").wide(12), |((_, row, _), _)| Field::text(&row.cell.key.load))
        .with(Column::words("Held up by"), |(_, cause)| Field::text(&cause.name))
        .with(Column::number("Late frames").wide(11).main(), |(_, cause)| Field::Count(cause.frames))
        .with(Column::number("%").wide(6), |((.., held), cause)| {
            Field::Number(percent(cause.frames, held.traced), share)
        })
        .with(Column::number("Held").wide(9), |(_, cause)| Field::Number(cause.ns as f64 / 1e6, figure))
        .table(&causes)
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
