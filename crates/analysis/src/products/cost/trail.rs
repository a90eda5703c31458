//! Traces of a condition: the trail of auditing, processor time, and what proves that it was on.

use std::collections::BTreeMap;

use super::{Cell, Sides, TrailFigures, Trial};
use crate::figures::{latency, rate};
use crate::products::pairs::Arms;
use journal::{Evidence, Trail};
use stats::median;
use words::Unique;

/// The work of a trial in its whole window: the counts of all slices, or the frames of an
/// interactive test.
fn work(trial: &Trial) -> f64 {
    let frames: u64 = latency::frames(trial).map(|frames| frames.done).sum();
    if frames > 0 {
        return frames as f64;
    }
    trial.copies.iter().map(|copy| rate::work_done(&copy.slices)).sum()
}

/// What auditing wrote in all trials that have both a trail and a result; `None` without any. Where
/// nothing was counted, figures per count are NaN.
pub(super) fn figures(cell: &Cell, trials: &[&Trial]) -> Option<TrailFigures> {
    let mut count = 0.0;
    let mut trails: Vec<&Trail> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.cell == cell.id && !trial.copies.is_empty()) {
        if let Some(trail) = trial.evidence.as_ref().and_then(|evidence| evidence.trail.as_ref()) {
            count += work(trial);
            trails.push(trail);
        }
    }
    if trails.is_empty() {
        return None;
    }

    let sum = |figure: fn(&Trail) -> f64| trails.iter().map(|trail| figure(trail)).sum::<f64>();
    let seconds = sum(|trail| trail.seconds);
    let events = sum(|trail| trail.events as f64);
    let bytes = sum(|trail| trail.bytes as f64);
    let records = sum(|trail| trail.records as f64);
    Some(TrailFigures {
        events_per: ratio(events, count),
        bytes_per: ratio(bytes, count),
        bytes_per_event: ratio(bytes, events),
        bytes_per_second: ratio(bytes, seconds),
        events: trails.iter().map(|trail| trail.all_events).sum(),
        bytes: trails.iter().map(|trail| trail.all_bytes).sum(),
        lost: trails.iter().map(|trail| trail.lost).sum(),
        waited: ratio(sum(|trail| trail.waited_s), seconds),
        backlog: trails.iter().map(|trail| trail.backlog).max().unwrap_or(0),
        queued: ratio(sum(|trail| trail.queued as f64), records),
        outside_cpu: ratio(sum(|trail| trail.kernel_cpu_s + trail.sink_cpu_s), seconds),
    })
}

/// A part of a whole; of nothing it is NaN, and not infinite.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

/// The median of the system calls per count that the programs report, if any does.
pub(super) fn calls(trials: &[&Trial]) -> Option<f64> {
    let copies = trials.iter().flat_map(|trial| &trial.copies);
    let calls: Vec<f64> = copies.filter_map(|copy| Some(copy.values.get("calls")?.0)).collect();
    (!calls.is_empty()).then(|| median(&calls))
}

/// The processor time in ns per count of the reference arms and of a condition's cell; `None` where
/// a program did not report its own, where nothing was counted, and of commands that alternate.
pub(super) fn processor_time(
    compared: &[&Cell],
    cell: &Cell,
    arms: &Arms<'_>,
) -> Option<Sides<f64>> {
    // One program executes the commands of all arms.
    if cell.is_alternating() {
        return None;
    }
    let reference: Vec<&Trial> =
        compared.iter().flat_map(|cell| arms.trials(cell).iter().copied()).collect();
    Some(Sides { a: cpu_per_count(&reference)?, b: cpu_per_count(arms.trials(cell))? })
}

/// Processor time of the programs in ns per count.
fn cpu_per_count(trials: &[&Trial]) -> Option<f64> {
    let measured: Vec<&&Trial> = trials.iter().filter(|trial| !trial.copies.is_empty()).collect();
    let copies = measured.iter().flat_map(|trial| &trial.copies);
    let seconds = copies.map(rate::own_cpu_seconds).collect::<Option<Vec<f64>>>()?;
    let count: f64 = measured.iter().map(|trial| work(trial)).sum();
    (count > 0.0 && !seconds.is_empty()).then(|| 1e9 * seconds.iter().sum::<f64>() / count)
}

/// What proves that a condition was on, each once: figures with their range over trials, and words.
pub(super) fn evidence(arms: &Arms<'_>, condition: &str) -> Vec<String> {
    let cells = arms.cells.iter().filter(|cell| cell.key.condition == condition && !cell.control);
    let trials = cells.flat_map(|cell| arms.trials(cell));
    let evidence: Vec<&Evidence> = trials.filter_map(|trial| trial.evidence.as_deref()).collect();

    let mut ranges: BTreeMap<&str, EvidenceRange<'_>> = BTreeMap::new();
    for (name, (value, unit)) in evidence.iter().flat_map(|evidence| &evidence.figures) {
        let range = ranges.entry(name).or_insert(EvidenceRange { low: *value, high: *value, unit });
        range.low = range.low.min(*value);
        range.high = range.high.max(*value);
    }

    let mut proofs = Vec::new();
    for (name, EvidenceRange { low, high, unit }) in ranges {
        let has_unit = !unit.is_empty() && unit != name;
        let unit = if has_unit { format!(" {unit}") } else { String::new() };
        proofs.push(if low < high {
            format!("{name}: {low} to {high}{unit}")
        } else {
            format!("{name}: {low}{unit}")
        });
    }
    let notes = evidence.iter().flat_map(|evidence| &evidence.notes).unique();
    proofs.extend(notes.into_iter().cloned());
    proofs
}

/// A figure of evidence over all trials.
struct EvidenceRange<'a> {
    low: f64,
    high: f64,
    unit: &'a str,
}
