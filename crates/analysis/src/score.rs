//! From trials to a score: the median of short trials, or UnixBench's arithmetic over passes.

use std::borrow::Borrow;
use std::ops::Range;

use super::quiet::neighbour;
use super::rate::{copy_rate, count, counted, foreign_time, length, rate, typical, window};
use super::{Executed, Figure, Remark, Sample, executed};
use catalogue::Metric;
use journal::{Cell, Copy, Journal, Run, Score, Slice, Trial};
use stats::{Estimate, Exact, Mean, log_interval, mean, median, qn};

/// Shares of a window from which on a disturbance is told.
const STEAL: f64 = 0.02;
const FOREIGN: f64 = 0.05;

/// Windows from this many seconds have their disturbances reported.
const SHORTEST: f64 = 0.2;

/// One pass as UnixBench sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    /// The key that passes are sorted by: the sum of the copies' counts.
    pub count: f64,
    /// The mean of the copies' times.
    pub seconds: f64,
    /// Score of the pass.
    pub rate: f64,
}

/// The score of the cell's trials so far.
pub(super) fn estimate(cell: &Cell, trials: &[Trial]) -> Estimate {
    let rates: Vec<f64> = trials.iter().filter_map(|trial| rate(cell, trial)).collect();
    resolved(typical(&rates), cell, trials)
}

/// Returns an estimate as counts can show it: equal ones leave an interval without any width, and
/// then the truth may still be a count away.
fn resolved<T: Borrow<Trial>>(estimate: Estimate, cell: &Cell, trials: &[T]) -> Estimate {
    let quantum = quantum(cell, trials);
    let is_flat = estimate.low >= estimate.high && quantum > 0.0;
    if is_flat { Estimate::within(estimate.value, quantum) } else { estimate }
}

/// Returns what one count more changes the logarithm of a trial's score by; 0 of values that programs
/// report.
pub(super) fn quantum<T: Borrow<Trial>>(cell: &Cell, trials: &[T]) -> f64 {
    if cell.value.is_some() {
        return 0.0;
    }
    let measured = trials.iter().map(Borrow::borrow).filter(|trial| !trial.copies.is_empty());
    let counts = measured.map(|trial| trial.copies.iter().map(|copy| count(counted(cell, copy))).sum::<f64>().max(1.0));
    1.0 / median(&counts.collect::<Vec<f64>>())
}

/// Returns the row of a cell, unless no trial has a result.
pub(super) fn row(cell: &Cell, trials: &[&Trial], run: &Run) -> Option<Figure> {
    let classic = run.is_classic();
    if trials.iter().any(|trial| trial.score.is_some()) {
        return Some(imported(cell, trials));
    }
    let measured: Vec<&Trial> = trials.iter().copied().filter(|trial| !trial.copies.is_empty()).collect();
    if measured.is_empty() {
        return None;
    }
    let mut warnings = Vec::new();
    let (score, seconds, n, values) = if classic {
        let passes: Vec<Pass> = measured.iter().map(|trial| pass(cell, trial)).collect();
        let kept = kept(&passes);
        let rates: Vec<f64> = passes.iter().map(|pass| pass.rate).collect();
        let seconds = mean(kept.iter().map(|pass| pass.seconds));
        (log_interval(geometric(&kept), &rates), seconds, kept.len(), rates)
    } else {
        let rates: Vec<f64> = measured.iter().filter_map(|trial| rate(cell, trial)).collect();
        let seconds = mean(measured.iter().map(|trial| pass(cell, trial).seconds));
        (typical(&rates), seconds, rates.len(), rates)
    };
    let of_executions = executed::wall(cell, &measured);
    let few = of_executions.is_none() && !classic && n < 6;
    let score = resolved(of_executions.unwrap_or(score), cell, &measured);
    if !score.bounded() {
        warnings.push(Remark::NoInterval { trials: n });
    } else if few {
        warnings.push(Remark::LogNormal { trials: n });
    }
    let sample = |(trial, value): (&&Trial, &f64)| Sample {
        neighbour: neighbour(cell, trial, run.cpus),
        ..Sample::new(trial, *value)
    };
    let samples = measured.iter().zip(&values).map(sample).collect();
    let within = within(cell, &measured, &values);
    let slices = measured.iter().zip(&values).map(|(trial, value)| slices(cell, trial, *value)).collect();
    let executed = Executed::new(&measured).map(Box::new);
    Some(Figure { samples, slices, warnings, within, executed, ..Figure::new(cell, score, n, seconds) })
}

/// Returns the row of a cell that another suite measured: of what it printed once the figure alone, of several their
/// median.
fn imported(cell: &Cell, trials: &[&Trial]) -> Figure {
    let scores: Vec<(&Trial, &Score)> =
        trials.iter().filter_map(|trial| Some((*trial, trial.score.as_ref()?))).collect();
    if let [(_, score)] = scores[..] {
        let told = score.ends.map(|[low, high]| Estimate { value: score.value, low, high });
        let warnings = if told.is_some() { Vec::new() } else { vec![Remark::ImportedScore] };
        let estimate = told.unwrap_or(Estimate::alone(score.value));
        return Figure { warnings, ..Figure::new(cell, estimate, score.samples as usize, score.seconds) };
    }
    let values: Vec<f64> = scores.iter().map(|(_, score)| score.value).collect();
    let sample = |(trial, score): &(&Trial, &Score)| Sample::new(trial, score.value);
    let seconds = mean(scores.iter().map(|(_, score)| score.seconds));
    let row = Figure::new(cell, typical(&values), values.len(), seconds);
    let warnings = if values.len() < 6 { vec![Remark::LogNormal { trials: values.len() }] } else { Vec::new() };
    Figure { samples: scores.iter().map(sample).collect(), warnings, ..row }
}

/// Returns the values of a trial's slices, its own being `value`: what all copies did in each of those that all have. A
/// slice in which nothing was done has none; a value that programs report is that of the whole trial.
fn slices(cell: &Cell, trial: &Trial, value: f64) -> Vec<f64> {
    let copies: Vec<&[Slice]> = trial.copies.iter().map(|copy| counted(cell, copy)).collect();
    let shared = copies.iter().map(|slices| slices.len()).min().unwrap_or(0);
    let sum = |part: Range<usize>| -> f64 {
        copies.iter().map(|copy| &copy[part.clone()]).map(|part| count(part) / length(part)).sum()
    };
    let whole = sum(0..shared);
    let relative = (0..shared).map(|at| sum(at..at + 1) / whole);
    let relative: Vec<f64> = relative.filter(|rate| rate.is_finite() && *rate > 0.0).collect();
    if cell.value.is_some() || relative.is_empty() {
        return vec![value];
    }
    let of = |rate: f64| if cell.metric == Metric::Time { value / rate } else { value * rate };
    relative.into_iter().map(of).collect()
}

/// The share of the trials' variance that the noise of their slices explains, from 0 to 1; 0 if it is not known.
fn within(cell: &Cell, trials: &[&Trial], values: &[f64]) -> f64 {
    let of_copy = |copy: &Copy| {
        let slices = counted(cell, copy).iter().filter(|slice| slice.count > 0 && slice.length() > 0);
        let logs: Vec<f64> = slices.map(|slice| (slice.count as f64 / slice.length() as f64).natural_log()).collect();
        (logs.len() > 2).then(|| Mean::new(&logs).error.powi(2))
    };
    let of_trial = |trial: &&Trial| {
        let copies = trial.copies.iter().map(of_copy).collect::<Option<Vec<f64>>>()?;
        Some(mean(copies.iter().copied()) / copies.len() as f64)
    };
    let slices: Vec<f64> = trials.iter().filter_map(of_trial).collect();
    let spread = qn(&values.iter().map(|value| value.natural_log()).collect::<Vec<f64>>());
    let share = median(&slices) / (spread * spread);
    if share.is_finite() { share.min(1.0) } else { 0.0 }
}

/// The numbers that one copy reported in a pass, as UnixBench's programs do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reported {
    /// Loops, or a rate where there is no time base.
    pub count: f64,
    /// Seconds that the rate is per; 0 of what is a rate already.
    pub timebase: f64,
    /// Length of the pass in seconds.
    pub seconds: f64,
}

/// Returns what a copy reported: its count, unless its program prints a rate of its own.
pub fn reported(cell: &Cell, copy: &Copy) -> Reported {
    let seconds = length(&copy.slices);
    let is_count = cell.value.is_none() && cell.metric != Metric::Time && !cell.is_truncated() && cell.scale == 1.0;
    if is_count {
        return Reported { count: count(&copy.slices), timebase: cell.timebase, seconds };
    }
    let rate = copy_rate(cell, copy);
    Reported { count: if cell.is_truncated() { rate.trunc() } else { rate }, timebase: 0.0, seconds }
}

/// Returns a trial as UnixBench's harness accounts it (docs/methodology.md): counts are summed,
/// times are averaged; its file programs, which print a rate of their own, cut the fraction off.
pub(super) fn pass(cell: &Cell, trial: &Trial) -> Pass {
    let seconds = mean(trial.copies.iter().map(|copy| length(&copy.slices)));
    if cell.value.is_some() {
        let count = trial.copies.iter().map(|copy| copy_rate(cell, copy)).sum();
        Pass { count, seconds, rate: count }
    } else if cell.metric == Metric::Time {
        let rate = rate(cell, trial).unwrap_or(0.0);
        Pass { count: -rate, seconds, rate }
    } else if !cell.is_truncated() {
        let count: f64 = trial.copies.iter().map(|copy| count(&copy.slices)).sum();
        Pass {
            count,
            seconds,
            rate: if cell.timebase > 0.0 { count * cell.timebase * cell.scale / seconds } else { count },
        }
    } else {
        let count = trial.copies.iter().map(|copy| copy_rate(cell, copy).trunc()).sum();
        Pass { count, seconds, rate: count }
    }
}

/// Drops UnixBench's worst third: the ⌊P/3⌋ passes with the smallest counts, whatever their times.
pub(super) fn kept(passes: &[Pass]) -> Vec<Pass> {
    let mut passes = passes.to_vec();
    passes.sort_by(|a, b| a.count.total_cmp(&b.count));
    passes.split_off(passes.len() / 3)
}

/// The geometric mean of the rates, where a pass that counted nothing is a rate of 1, as in
/// UnixBench.
pub(super) fn geometric(passes: &[Pass]) -> f64 {
    let logs = passes.iter().map(|pass| if pass.rate > 0.0 { pass.rate.natural_log() } else { 0.0 });
    mean(logs).exponential()
}

/// Returns what disturbed the windows: steal, and load that is not the measured programs'.
pub(super) fn disturbances(cell: &Cell, trials: &[&Trial], cpus: usize) -> Vec<Remark> {
    let mut found = Vec::new();
    // The counters go by ticks of 10 ms: of a window that was broken off at once they say nothing.
    let long = || trials.iter().filter(|trial| window(trial) >= SHORTEST);
    let capacity = |trial: &Trial| window(trial) * cpus as f64;
    let steal = long().filter_map(|trial| Some(trial.noise.as_ref()?.steal_s? / capacity(trial)));
    let steal = median(&steal.collect::<Vec<f64>>());
    if steal > STEAL {
        found.push(Remark::Steal { percent: about(steal) });
    }
    let foreign = long().filter_map(|trial| Some((foreign_time(cell, trial)? / capacity(trial)).min(1.0)));
    let foreign = median(&foreign.collect::<Vec<f64>>());
    if foreign > FOREIGN {
        found.push(Remark::Foreign { percent: about(foreign) });
    }
    let late = trials.iter().filter(|trial| !trial.late.is_empty()).count();
    if let Some(most) = trials.iter().flat_map(|trial| &trial.late).max() {
        found.push(Remark::Late { trials: late, of: trials.len(), most_ms: *most as f64 / 1e6 });
    }
    found
}

/// Returns the share of processor time that the hypervisor gave to others during windows; `None` where the kernel does
/// not say.
pub fn steal(journal: &Journal) -> Option<f64> {
    let each = journal.trials.iter().filter(|trial| !trial.copies.is_empty());
    let each = each.filter_map(|trial| Some((trial.noise.as_ref()?.steal_s?, window(trial) * journal.run.cpus as f64)));
    let (steal, time) = each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (time > 0.0).then(|| steal / time)
}

/// A share in per cent, by steps of 5 from 10 on: rows that were disturbed alike have one remark.
fn about(share: f64) -> f64 {
    let step = if share < 0.1 { 1.0 } else { 5.0 };
    (share * 100.0 / step).round() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(counts: &[(f64, f64)]) -> Vec<Pass> {
        counts.iter().map(|(count, seconds)| Pass { count: *count, seconds: *seconds, rate: count / seconds }).collect()
    }

    /// Three real passes of Process Creation and the published arithmetic's result
    /// (tests/vectors/unixbench_score_1copy.json).
    #[test]
    fn published_score() {
        let passes = passes(&[(247_371.0, 30.003_119), (242_919.0, 30.002_898), (243_989.0, 30.002_732)]);
        let kept = kept(&passes);
        assert_eq!(kept.len(), 2);
        assert!((geometric(&kept) - 8_188.340_847_389_01).abs() < 1e-9);
        assert!((kept.iter().map(|pass| pass.seconds).sum::<f64>() / 2.0 - 30.002_925_5).abs() < 1e-9);
    }

    fn of_copies(copies: &[&[[u64; 3]]], cell: &Cell) -> Option<f64> {
        let copy = |slices: &&[[u64; 3]]| {
            let slices = slices.iter().copied().map(Slice::from).collect();
            Copy { slices, ..Copy::default() }
        };
        rate(cell, &Trial { copies: copies.iter().map(copy).collect(), ..Trial::default() })
    }

    const MS: u64 = 1_000_000;

    /// What a copy does before the last one has begun or after the first has ended is nobody's score.
    #[test]
    fn a_rate_is_that_of_the_interval_which_all_copies_share() {
        let cell = Cell { timebase: 1.0, scale: 1.0, ..Cell::default() };
        let prompt = [[0, 50 * MS, 50], [50 * MS, 100 * MS, 50]];
        assert_eq!(of_copies(&[&prompt], &cell), Some(1000.0));
        assert_eq!(of_copies(&[&prompt, &prompt], &cell), Some(2000.0));
        // The first copy is twice as fast while it is alone, for 50 ms; what it does then was in the sum.
        let alone = [[0, 50 * MS, 100], [50 * MS, 100 * MS, 50]];
        let late = [[50 * MS, 50 * MS, 0], [50 * MS, 100 * MS, 50]];
        assert_eq!(of_copies(&[&alone, &late], &cell), Some(2000.0));
        // The second is stopped across the closing edge, from 75 ms to 125 ms: a third of its last slice is a stall.
        let stalled = [[0, 50 * MS, 50], [50 * MS, 125 * MS, 25]];
        let found = of_copies(&[&prompt, &stalled], &cell).unwrap();
        assert!((found - (1000.0 + (50.0 + 25.0 * 50.0 / 75.0) / 0.1)).abs() < 1e-9, "{found}");
        assert!((of_copies(&[&stalled], &cell).unwrap() - 75.0 / 0.125).abs() < 1e-9);
        // Times per piece are averaged over the same interval.
        let times = Cell { metric: Metric::Time, ..cell.clone() };
        assert!((of_copies(&[&alone, &late], &times).unwrap() - 0.001).abs() < 1e-12);
        // Copies that share nothing are what they are; the runner repeats such trials.
        assert_eq!(of_copies(&[&[[0, 50 * MS, 50]], &[[50 * MS, 100 * MS, 50]]], &cell), Some(2000.0));
    }

    /// A stall from the warm-up into what is counted is in the score, from the planned end of the warm-up on.
    #[test]
    fn a_stall_across_the_end_of_the_warm_up_counts_from_there() {
        let slices = [[0, 150 * MS, 30], [150 * MS, 150 * MS, 0], [150 * MS, 200 * MS, 50]];
        let cell = Cell { timebase: 1.0, scale: 1.0, warmup: 1, slice: 50 * MS, ..Cell::default() };
        let found = of_copies(&[&slices], &cell).unwrap();
        assert!((found - (30.0 * 100.0 / 150.0 + 50.0) / 0.15).abs() < 1e-9, "{found}");
        // Journals that do not say how long a slice was planned count from where the next one began.
        assert_eq!(of_copies(&[&slices], &Cell { slice: 0, ..cell }), Some(1000.0));
    }

    /// Seven counts in each of 16 windows are not seven exactly: a cell with so few is not closed.
    #[test]
    fn equal_counts_are_known_to_a_count() {
        let cell = Cell { timebase: 1.0, scale: 1.0, ..Cell::default() };
        let copy = Copy { slices: vec![[0, 1000 * MS, 7].into()], ..Copy::default() };
        let trials = vec![Trial { copies: vec![copy], ..Trial::default() }; 16];
        let found = estimate(&cell, &trials);
        assert!((found.high.ln() - (7.0_f64.ln() + 1.0 / 7.0)).abs() < 1e-12 && found.spread() > 0.1, "{found:?}");
        let row = row(&cell, &trials.iter().collect::<Vec<_>>(), &Run::default()).unwrap();
        assert_eq!(row.score, found);
    }

    #[test]
    fn worst_third_goes_by_count() {
        // The smallest count has the highest rate here, and is dropped all the same.
        assert_eq!(kept(&passes(&[(9.0, 1.0), (10.0, 10.0), (11.0, 10.0)]))[0].count, 10.0);
        for (had, left) in [(1, 1), (2, 2), (3, 2), (10, 7)] {
            assert_eq!(kept(&passes(&vec![(1.0, 1.0); had])).len(), left);
        }
    }

    #[test]
    fn a_pass_without_counts_is_a_rate_of_one() {
        assert!((geometric(&passes(&[(0.0, 1.0), (100.0, 1.0)])) - 10.0).abs() < 1e-12);
    }
}
