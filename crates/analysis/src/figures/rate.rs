//! The rate of one trial, the length of its window, and the processor time used in it.
//!
//! Copies of a program start and end at slightly different moments. What a copy does while another
//! has not begun, or has already ended, it does without competition, so a trial's rate covers only
//! the interval that all copies share.

use catalogue::Metric;
use journal::{Cell, Copy, Slice, Trial};
use stats::{Estimate, Mean, log_interval, median_interval};

/// Nanoseconds in a millisecond, the unit of every latency.
pub(crate) const MS: f64 = 1e6;

const NS_PER_SECOND: f64 = 1e9;

/// The median of `rates` with its order-statistic interval; of fewer than six, with Student's.
pub(crate) fn median_rate(rates: &[f64]) -> Estimate {
    let estimate = median_interval(rates);
    if estimate.bounded() {
        return estimate;
    }
    // What a program prints may be 0 or negative, and then has no logarithm.
    if rates.iter().any(|rate| *rate <= 0.0) {
        let half = Mean::new(rates).half_width(0.05);
        let Estimate { value, .. } = estimate;
        return if half.is_finite() {
            Estimate { value, low: value - half, high: value + half }
        } else {
            Estimate::alone(value)
        };
    }
    log_interval(estimate.value, rates)
}

/// The slices after the warm-up, or all of them if nothing was completed after it.
pub(crate) fn counted_slices<'a>(cell: &Cell, copy: &'a Copy) -> &'a [Slice] {
    let after_warmup = copy.slices.get(cell.warmup as usize..).unwrap_or_default();
    let is_usable = span_seconds(after_warmup) > 0.0 && work_done(after_warmup) > 0.0;
    if is_usable { after_warmup } else { &copy.slices }
}

/// Seconds from the start of the first slice to the end of the last.
pub(crate) fn span_seconds(slices: &[Slice]) -> f64 {
    match (slices.first(), slices.last()) {
        (Some(first), Some(last)) => last.end.saturating_sub(first.start) as f64 / NS_PER_SECOND,
        _ => 0.0,
    }
}

/// The sum of the slices' counts.
pub(crate) fn work_done(slices: &[Slice]) -> f64 {
    slices.iter().map(|slice| slice.count as f64).sum()
}

/// The rate of a trial in the cell's unit: the sum over its copies or, for a time per piece of
/// work, their mean. `None` if the trial has no result.
pub(crate) fn trial_rate(cell: &Cell, trial: &Trial) -> Option<f64> {
    if trial.copies.is_empty() {
        return None;
    }
    let rates = rates_while_all_run(cell, &trial.copies)
        .unwrap_or_else(|| trial.copies.iter().map(|copy| copy_rate(cell, copy)).collect());
    let sum: f64 = rates.iter().sum();
    match cell.metric {
        Metric::Time => Some(sum / trial.copies.len() as f64),
        _ => Some(sum),
    }
}

/// The copies' rates, or times per piece of work, from the last start to the first end.
///
/// `None` if the copies share no interval, if one has no time per piece of work in it because it
/// completed nothing, or if they report values of their own.
fn rates_while_all_run(cell: &Cell, copies: &[Copy]) -> Option<Vec<f64>> {
    if cell.value.is_some() {
        return None;
    }
    let counted: Vec<&[Slice]> = copies.iter().map(|copy| counted_slices(cell, copy)).collect();

    // A stall that stretches a slice may make the first counted one begin late. So the planned end
    // of the warm-up opens the window, and the stall counts against the copy. Old journals do not
    // say what was planned; there the first counted slice opens it.
    let knows_plan = cell.slice > 0;
    let planned_opening = u64::from(cell.warmup).saturating_mul(cell.slice);
    let last_start = if knows_plan {
        copies.iter().filter_map(|copy| first_start(&copy.slices)).max()?
    } else {
        counted.iter().filter_map(|slices| first_start(slices)).max()?
    };
    let from = last_start.max(planned_opening);
    let to = counted.iter().filter_map(|slices| Some(slices.last()?.end)).min()?;
    let seconds = to.checked_sub(from).filter(|ns| *ns > 0)? as f64 / NS_PER_SECOND;

    let rates: Vec<f64> = copies
        .iter()
        .map(|copy| rate_of_work(cell, work_between(&copy.slices, from, to), seconds))
        .collect();
    rates.iter().all(|rate| rate.is_finite()).then_some(rates)
}

fn first_start(slices: &[Slice]) -> Option<u64> {
    Some(slices.first()?.start)
}

/// The work done between two moments, in ns since the common start.
fn work_between(slices: &[Slice], from: u64, to: u64) -> f64 {
    slices.iter().map(|slice| work_of_slice(slice, from, to)).sum()
}

/// The part of a slice's count that belongs between two moments: in proportion if the slice
/// straddles one of them.
fn work_of_slice(slice: &Slice, from: u64, to: u64) -> f64 {
    let inside = slice.end.min(to).saturating_sub(slice.start.max(from));
    let (count, length) = (slice.count as f64, slice.length());
    // Not by the quotient, which is 0 ÷ 0 of a slice without length.
    if inside == length { count } else { count * inside as f64 / length as f64 }
}

/// Work per time in the cell's unit, or time per piece of work.
fn rate_of_work(cell: &Cell, work: f64, seconds: f64) -> f64 {
    match cell.metric {
        Metric::Time => seconds * cell.scale / work,
        _ => work * cell.scale * cell.timebase / seconds,
    }
}

/// A copy's rate in the cell's unit, or its time per piece of work, over its own counted slices.
pub(crate) fn copy_rate(cell: &Cell, copy: &Copy) -> f64 {
    if let Some(name) = &cell.value {
        return copy.values.get(name).map_or(0.0, |value| value.0);
    }
    let slices = counted_slices(cell, copy);
    rate_of_work(cell, work_done(slices), span_seconds(slices))
}

/// Length in seconds of the trial's window: that of the copy which ran longest.
pub(crate) fn window_seconds(trial: &Trial) -> f64 {
    trial.copies.iter().map(|copy| span_seconds(&copy.slices)).fold(0.0, f64::max)
}

/// Processor time in seconds that neither the measured programs nor their load used; `None` if the
/// journal does not say.
///
/// The kernel's counters are read after the last program has ended, a little after the window.
pub(crate) fn foreign_cpu_seconds(cell: &Cell, trial: &Trial) -> Option<f64> {
    // The usage of the first thread is that of its whole program.
    let processes = if cell.threads { 1 } else { trial.copies.len() };
    let load = trial.background.as_ref().map(|background| &background.copy);

    let mut used = 0.0;
    for copy in trial.copies.iter().take(processes).chain(load) {
        used += own_cpu_seconds(copy)?;
    }
    Some(trial.noise.as_ref()?.busy_s? - used)
}

/// Processor time in seconds that a program and its children used, if it is known.
pub(crate) fn own_cpu_seconds(copy: &Copy) -> Option<f64> {
    let usage = copy.usage.as_ref()?;
    Some(usage.user + usage.system + usage.child_user + usage.child_system)
}
