//! Traces of a condition: the trail of auditing, processor time, and what proves that it was on.

use std::collections::BTreeMap;

use super::arms::Arms;
use super::{Cell, Sides, TrailFigures, Trial};
use crate::{latency, rate};
use stats::median;
use words::Unique;

/// Returns the work of a trial in its whole window: the counts of all slices, or the frames of an interactive test.
fn work(trial: &Trial) -> f64 {
    let frames: u64 = latency::frames(trial).map(|frames| frames.done).sum();
    if frames > 0 { frames as f64 } else { trial.copies.iter().map(|copy| rate::count(&copy.slices)).sum() }
}

/// Sums a figure over things, as a number.
fn sum<T>(all: &[T], of: impl Fn(&T) -> f64) -> f64 {
    all.iter().map(of).sum()
}

/// Returns what auditing wrote in all trials that have both a trail and a result; nothing without any. Where nothing
/// was counted, figures per count are NaN.
pub(super) fn figures(cell: &Cell, trials: &[&Trial]) -> Option<TrailFigures> {
    let own = trials.iter().filter(|trial| trial.cell == cell.id && !trial.copies.is_empty());
    let audited = own.filter_map(|trial| Some((work(trial), trial.evidence.as_ref()?.trail.as_ref()?)));
    let audited: Vec<(f64, &journal::Trail)> = audited.collect();
    if audited.is_empty() {
        return None;
    }
    // NaN of nothing, and not infinite.
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { f64::NAN };
    let count = sum(&audited, |one| one.0);
    let seconds = sum(&audited, |one| one.1.seconds);
    let (events, bytes) = (sum(&audited, |one| one.1.events as f64), sum(&audited, |one| one.1.bytes as f64));
    let records = sum(&audited, |one| one.1.records as f64);
    Some(TrailFigures {
        events_per: ratio(events, count),
        bytes_per: ratio(bytes, count),
        bytes_per_event: ratio(bytes, events),
        bytes_per_second: ratio(bytes, seconds),
        events: audited.iter().map(|one| one.1.all_events).sum(),
        bytes: audited.iter().map(|one| one.1.all_bytes).sum(),
        lost: audited.iter().map(|one| one.1.lost).sum(),
        waited: ratio(sum(&audited, |one| one.1.waited_s), seconds),
        backlog: audited.iter().map(|one| one.1.backlog).max().unwrap_or(0),
        queued: ratio(sum(&audited, |one| one.1.queued as f64), records),
        outside_cpu: ratio(sum(&audited, |one| one.1.kernel_cpu_s + one.1.sink_cpu_s), seconds),
    })
}

/// Returns the system calls per count that the programs tell.
pub(super) fn calls(trials: &[&Trial]) -> Option<f64> {
    let copies = trials.iter().flat_map(|trial| &trial.copies);
    let told: Vec<f64> = copies.filter_map(|copy| Some(copy.values.get("calls")?.0)).collect();
    (!told.is_empty()).then(|| median(&told))
}

/// Returns the processor time in ns per count of the arms compared with and of a condition's cell; nothing where a
/// program did not tell its own, or nothing was counted.
pub(super) fn processor_time(compared: &[&Cell], cell: &Cell, arms: &Arms<'_>) -> Option<Sides<f64>> {
    // One program executes the commands of all arms.
    if cell.in_turn {
        return None;
    }
    let off: Vec<&Trial> = compared.iter().flat_map(|cell| arms.trials(cell).iter().copied()).collect();
    Some(Sides { a: per_count(&off)?, b: per_count(arms.trials(cell))? })
}

fn per_count(trials: &[&Trial]) -> Option<f64> {
    let measured: Vec<&&Trial> = trials.iter().filter(|trial| !trial.copies.is_empty()).collect();
    let copies = measured.iter().flat_map(|trial| &trial.copies);
    let seconds = copies.map(rate::own_time).collect::<Option<Vec<f64>>>()?;
    let count = sum(&measured, |trial| work(trial));
    (count > 0.0 && !seconds.is_empty()).then(|| 1e9 * seconds.iter().sum::<f64>() / count)
}

/// Returns what proves that a condition was on, each once: figures with their range over trials, and words.
pub(super) fn evidence(arms: &Arms<'_>, condition: &str) -> Vec<String> {
    let mut figures: BTreeMap<&str, (f64, f64, &str)> = BTreeMap::new();
    let cells = arms.cells.iter().filter(|cell| cell.key.condition == condition && !cell.control);
    let all = || cells.clone().flat_map(|cell| arms.trials(cell)).filter_map(|trial| trial.evidence.as_ref());
    for (name, (value, unit)) in all().flat_map(|evidence| &evidence.figures) {
        let range = figures.entry(name).or_insert((*value, *value, unit));
        (range.0, range.1) = (range.0.min(*value), range.1.max(*value));
    }
    let notes = all().flat_map(|evidence| &evidence.notes).unique();
    let range = |(name, (low, high, unit)): (&str, (f64, f64, &str))| {
        let unit = if unit.is_empty() || unit == name { String::new() } else { format!(" {unit}") };
        if low < high { format!("{name}: {low} to {high}{unit}") } else { format!("{name}: {low}{unit}") }
    };
    figures.into_iter().map(range).chain(notes.into_iter().cloned()).collect()
}
