//! The rate of one trial, its window, and who used the processors in it.

use catalogue::Metric;
use journal::{Cell, Copy, Slice, Trial};
use stats::{Estimate, log_interval, median_interval};

/// ns in the unit of every latency, ms.
pub(super) const MS: f64 = 1e6;

/// Returns the median of rates with its order-statistic interval; with fewer than six trials, Student's.
pub(super) fn typical(rates: &[f64]) -> Estimate {
    let estimate = median_interval(rates);
    if estimate.bounded() { estimate } else { log_interval(estimate.value, rates) }
}

/// Returns the slices that count: those after the warm-up, unless nothing was completed in them.
pub(super) fn counted<'a>(cell: &Cell, copy: &'a Copy) -> &'a [Slice] {
    let after = copy.slices.get(cell.warmup as usize..).unwrap_or_default();
    if length(after) > 0.0 && count(after) > 0.0 { after } else { &copy.slices }
}

/// Returns the seconds from the first slice's start to the last one's end.
pub(super) fn length(slices: &[Slice]) -> f64 {
    match (slices.first(), slices.last()) {
        (Some(first), Some(last)) => last.end.saturating_sub(first.start) as f64 / 1e9,
        _ => 0.0,
    }
}

/// Returns the work done in slices.
pub(super) fn count(slices: &[Slice]) -> f64 {
    slices.iter().map(|slice| slice.count as f64).sum()
}

/// Returns the sum of the copies' rates in the cell's unit over the interval that all of them share, or the mean of
/// their times per piece of work; nothing of a trial without a result.
pub(super) fn rate(cell: &Cell, trial: &Trial) -> Option<f64> {
    if trial.copies.is_empty() {
        return None;
    }
    let rates = shared_rates(cell, &trial.copies)
        .unwrap_or_else(|| trial.copies.iter().map(|copy| copy_rate(cell, copy)).collect());
    let sum: f64 = rates.iter().sum();
    Some(if cell.metric == Metric::Time { sum / trial.copies.len() as f64 } else { sum })
}

/// Returns the copies' rates, or times per piece of work, over the interval from the last start to the first end: what
/// a copy did alone is in none of them, and a stall across an edge in its copy's. `None` if they share no interval or
/// report values of their own, or a copy did nothing in it.
fn shared_rates(cell: &Cell, copies: &[Copy]) -> Option<Vec<f64>> {
    if cell.value.is_some() {
        return None;
    }
    let counted: Vec<&[Slice]> = copies.iter().map(|copy| counted(cell, copy)).collect();
    // By the plan, where the journal says it: a slice that a stall makes longer may begin in the warm-up.
    let opening = u64::from(cell.warmup).saturating_mul(cell.slice);
    let first = if cell.slice > 0 { copies.iter().map(|copy| &copy.slices[..]).collect() } else { counted.clone() };
    let from = first.iter().filter_map(|slices| Some(slices.first()?.start)).max()?.max(opening);
    let to = counted.iter().filter_map(|slices| Some(slices.last()?.end)).min()?;
    let seconds = to.checked_sub(from).filter(|ns| *ns > 0)? as f64 / 1e9;
    let worth = |copy: &Copy| match cell.metric {
        Metric::Time => seconds * cell.scale / done_within(&copy.slices, from, to),
        _ => done_within(&copy.slices, from, to) * cell.scale * cell.timebase / seconds,
    };
    let rates: Vec<f64> = copies.iter().map(worth).collect();
    rates.iter().all(|rate| rate.is_finite()).then_some(rates)
}

/// Returns the work between two moments, where a slice that lies across one of them counts by its share.
fn done_within(slices: &[Slice], from: u64, to: u64) -> f64 {
    let part = |slice: &Slice| {
        let inside = slice.end.min(to).saturating_sub(slice.start.max(from));
        let (count, length) = (slice.count as f64, slice.length());
        if inside == length { count } else { count * inside as f64 / length as f64 }
    };
    slices.iter().map(part).sum()
}

/// Returns a copy's rate in the cell's unit, or its time per piece of work.
pub(super) fn copy_rate(cell: &Cell, copy: &Copy) -> f64 {
    match &cell.value {
        Some(name) => copy.values.get(name).map_or(0.0, |value| value.0),
        None => {
            let slices = counted(cell, copy);
            match cell.metric {
                Metric::Time => length(slices) * cell.scale / count(slices),
                _ => count(slices) * cell.scale * cell.timebase / length(slices),
            }
        }
    }
}

/// Returns the seconds of the longest copy's window.
pub(super) fn window(trial: &Trial) -> f64 {
    trial.copies.iter().map(|copy| length(&copy.slices)).fold(0.0, f64::max)
}

/// Returns the processor time in seconds that neither the measured programs nor their load used; `None` where the
/// journal does not say. Counters go on until the last program ended, a little after the window.
pub(super) fn foreign_time(cell: &Cell, trial: &Trial) -> Option<f64> {
    // The first thread tells for all of a program.
    let copies = trial.copies.iter().take(if cell.threads { 1 } else { usize::MAX });
    let programs = copies.chain(trial.background.as_ref().map(|load| &load.copy));
    let own: f64 = programs.map(own_time).collect::<Option<Vec<f64>>>()?.iter().sum();
    Some(trial.noise.as_ref()?.busy_s? - own)
}

/// Returns the processor time in seconds that a program and its children used, if it is known.
pub(super) fn own_time(copy: &Copy) -> Option<f64> {
    let usage = copy.usage.as_ref()?;
    Some(usage.user + usage.system + usage.child_user + usage.child_system)
}
