//! The score of a cell, computed from its trials.
//!
//! The procedure of the run decides how:
//!
//! | trials | score | interval |
//! |---|---|---|
//! | of commands | median of all executions ([`executed`]) | order statistics of a series |
//! | windows | median of the rates | order statistics; Student's t for fewer than six |
//! | passes (`classic`) | geometric mean of the best two thirds | Student's t over all passes |
//! | another suite's results | as printed, or the median | as printed, or order statistics |
//!
//! Passes are accounted exactly as UnixBench's harness does it, oddities included, so that a
//! `classic` score can be compared with a published one: see [`Pass`].

use std::borrow::Borrow;
use std::ops::Range;

use crate::figures::neighbour::visible_neighbour;
use crate::figures::rate::{
    copy_rate, counted_slices, foreign_cpu_seconds, median_rate, span_seconds, trial_rate,
    window_seconds, work_done,
};
use crate::figures::{Executed, Figure, Remark, Sample, executed};
use catalogue::Metric;
use journal::{Cell, Copy, Journal, Run, Score, Slice, Trial};
use stats::{Estimate, Exact, Mean, log_interval, mean, median, median_interval, qn};

/// Smallest share of the processors' time, at the median of a cell's windows, for which steal and
/// foreign load are reported.
const MIN_REPORTED_STEAL: f64 = 0.02;
const MIN_REPORTED_FOREIGN: f64 = 0.05;

/// Shortest window, in seconds, whose disturbances are reported. The kernel counts processor time
/// in ticks of 10 ms, which say nothing about a window that was broken off at once.
const MIN_ACCOUNTED_SECONDS: f64 = 0.2;

/// Fewest trials whose extremes enclose the median with a probability of at least 95 %:
/// 1 − 2^(1 − 6) = 97 %.
const MIN_TRIALS_FOR_RANKS: usize = 6;

/// Fewest slices whose scatter is used.
const MIN_SLICES: usize = 3;

/// The score of the trials that a cell has so far.
pub(crate) fn estimate(cell: &Cell, trials: &[Trial]) -> Estimate {
    let rates: Vec<f64> = trials.iter().filter_map(|trial| trial_rate(cell, trial)).collect();
    widen_to_one_count(median_rate(&rates), cell, trials)
}

/// The figure of a cell, or `None` if no trial has a result.
pub(crate) fn figure(cell: &Cell, trials: &[&Trial], run: &Run) -> Option<Figure> {
    if trials.iter().any(|trial| trial.score.is_some()) {
        return Some(imported_figure(cell, trials));
    }
    let measured: Vec<&Trial> =
        trials.iter().copied().filter(|trial| !trial.copies.is_empty()).collect();
    if measured.is_empty() {
        return None;
    }

    let scored = if run.is_classic() {
        score_passes(cell, &measured)
    } else {
        score_windows(cell, &measured)
    };
    let executed = executed::score(cell, &measured);
    let estimate = executed.as_ref().map_or(scored.estimate, |executed| executed.estimate);
    let score = widen_to_one_count(estimate, cell, &measured);

    let mut warnings = Vec::new();
    if let Some(executed) = executed {
        let few = Remark::FewExecutions { executions: executed.executions };
        warnings.extend((!score.bounded()).then_some(few));
    } else if !score.bounded() {
        warnings.push(Remark::NoInterval { trials: scored.n });
    } else if !run.is_classic() && scored.n < MIN_TRIALS_FOR_RANKS {
        warnings.push(Remark::LogNormal { trials: scored.n });
    }

    // Each measured trial has copies, and so exactly one value.
    let mut samples = Vec::new();
    let mut slices = Vec::new();
    for (&trial, &value) in measured.iter().zip(&scored.values) {
        let neighbour = visible_neighbour(cell, trial, run.cpus);
        samples.push(Sample { neighbour, ..Sample::new(trial, value) });
        slices.push(slice_values(cell, trial, value));
    }

    Some(Figure {
        samples,
        slices,
        warnings,
        within: variance_share_of_slices(cell, &measured, &scored.values),
        executed: Executed::new(&measured).map(Box::new),
        ..Figure::new(cell, score, scored.n, scored.seconds)
    })
}

/// A score with what it was computed from.
struct Scored {
    estimate: Estimate,
    /// Number of trials behind the score.
    n: usize,
    /// Mean length of their windows in seconds.
    seconds: f64,
    /// The value of every trial, whether or not it is behind the score.
    values: Vec<f64>,
}

/// Scores trials of the standard procedure by the median of their rates.
fn score_windows(cell: &Cell, trials: &[&Trial]) -> Scored {
    let rates: Vec<f64> = trials.iter().filter_map(|trial| trial_rate(cell, trial)).collect();
    let seconds = mean(trials.iter().map(|trial| Pass::new(cell, trial).seconds));

    Scored { estimate: median_rate(&rates), n: rates.len(), seconds, values: rates }
}

/// Scores passes as UnixBench does; the interval is ours, since UnixBench has none.
fn score_passes(cell: &Cell, trials: &[&Trial]) -> Scored {
    let passes: Vec<Pass> = trials.iter().map(|trial| Pass::new(cell, trial)).collect();
    let best = drop_worst_third(&passes);
    let rates: Vec<f64> = passes.iter().map(|pass| pass.rate).collect();

    Scored {
        estimate: log_interval(geometric_mean(&best), &rates),
        n: best.len(),
        seconds: mean(best.iter().map(|pass| pass.seconds)),
        values: rates,
    }
}

/// The figure of a cell that another suite measured: its only score, or the median of several.
fn imported_figure(cell: &Cell, trials: &[&Trial]) -> Figure {
    let scores: Vec<(&Trial, &Score)> =
        trials.iter().filter_map(|trial| Some((*trial, trial.score.as_ref()?))).collect();
    if let [(_, score)] = scores[..] {
        return quoted_figure(cell, score);
    }

    let values: Vec<f64> = scores.iter().map(|(_, score)| score.value).collect();
    let seconds = mean(scores.iter().map(|(_, score)| score.seconds));
    // Nobody knows how another suite's values are distributed: single executions have tails, which
    // a logarithm does not remove. So the only interval is that of ranks.
    let score = median_interval(&values);
    let few = Remark::FewValues { values: values.len() };
    Figure {
        samples: scores.iter().map(|(trial, score)| Sample::new(trial, score.value)).collect(),
        warnings: (!score.bounded()).then_some(few).into_iter().collect(),
        ..Figure::new(cell, score, values.len(), seconds)
    }
}

/// The figure of a cell for which another suite printed one score, with its interval if it has one.
fn quoted_figure(cell: &Cell, score: &Score) -> Figure {
    let mut warnings = Vec::new();
    let estimate = match score.ends {
        Some([low, high]) => Estimate { value: score.value, low, high },
        None => {
            warnings.push(Remark::ImportedScore);
            Estimate::alone(score.value)
        }
    };
    Figure { warnings, ..Figure::new(cell, estimate, score.samples as usize, score.seconds) }
}

/// Replaces an interval of no width by one of ± one count.
///
/// Trials with equal counts do not scatter, yet the truth may lie up to one count away from them.
fn widen_to_one_count<T: Borrow<Trial>>(estimate: Estimate, cell: &Cell, trials: &[T]) -> Estimate {
    let one_count = log_of_one_count(cell, trials);
    let is_flat = estimate.low >= estimate.high;
    if is_flat && one_count > 0.0 { Estimate::within(estimate.value, one_count) } else { estimate }
}

/// How far one more count moves the logarithm of a trial's score, at the median of the trials.
///
/// It is 0 for programs that report a value of their own: nobody knows its resolution.
pub(crate) fn log_of_one_count<T: Borrow<Trial>>(cell: &Cell, trials: &[T]) -> f64 {
    if cell.value.is_some() {
        return 0.0;
    }
    let counts: Vec<f64> = trials
        .iter()
        .map(Borrow::borrow)
        .filter(|trial| !trial.copies.is_empty())
        .map(|trial| total_count(cell, trial).max(1.0))
        .collect();
    1.0 / median(&counts)
}

fn total_count(cell: &Cell, trial: &Trial) -> f64 {
    trial.copies.iter().map(|copy| work_done(counted_slices(cell, copy))).sum()
}

/// The value of each slice of a trial in the cell's unit.
///
/// A slice is rated relative to the whole trial, whose value is `value`. Its rate is the sum over
/// the copies, so only slices that all copies have are rated; one in which nothing was done has no
/// value. A value that the program itself reports belongs to the whole trial.
fn slice_values(cell: &Cell, trial: &Trial, value: f64) -> Vec<f64> {
    if cell.value.is_some() {
        return vec![value];
    }
    let copies: Vec<&[Slice]> =
        trial.copies.iter().map(|copy| counted_slices(cell, copy)).collect();
    let shared = copies.iter().map(|slices| slices.len()).min().unwrap_or(0);

    let overall = sum_of_rates(&copies, 0..shared);
    let relative_rates: Vec<f64> = (0..shared)
        .map(|index| sum_of_rates(&copies, index..index + 1) / overall)
        .filter(|rate| rate.is_finite() && *rate > 0.0)
        .collect();
    if relative_rates.is_empty() {
        return vec![value];
    }
    relative_rates
        .into_iter()
        .map(|rate| match cell.metric {
            Metric::Time => value / rate,
            _ => value * rate,
        })
        .collect()
}

/// The sum of the copies' rates over the slices in `range`, in counts per second.
fn sum_of_rates(copies: &[&[Slice]], range: Range<usize>) -> f64 {
    let slices = copies.iter().map(|slices| &slices[range.clone()]);
    slices.map(|slices| work_done(slices) / span_seconds(slices)).sum()
}

/// The share of the variance between trials that the scatter of their slices explains, from 0 to 1.
///
/// It is 0 if the trials have too few slices to tell.
fn variance_share_of_slices(cell: &Cell, trials: &[&Trial], values: &[f64]) -> f64 {
    let slice_variances: Vec<f64> =
        trials.iter().filter_map(|trial| variance_by_slices(cell, trial)).collect();
    let logs: Vec<f64> = values.iter().map(|value| value.natural_log()).collect();
    let spread = qn(&logs);

    let share = median(&slice_variances) / (spread * spread);
    if share.is_finite() { share.min(1.0) } else { 0.0 }
}

/// The variance that a trial's logarithm has if only its slices scatter, independently; `None` if a
/// copy has fewer than [`MIN_SLICES`].
fn variance_by_slices(cell: &Cell, trial: &Trial) -> Option<f64> {
    let mut variances = Vec::new();
    for copy in &trial.copies {
        let logs: Vec<f64> = counted_slices(cell, copy)
            .iter()
            .filter(|slice| slice.count > 0 && slice.length() > 0)
            .map(|slice| (slice.count as f64 / slice.length() as f64).natural_log())
            .collect();
        if logs.len() < MIN_SLICES {
            return None;
        }
        variances.push(Mean::new(&logs).error.powi(2));
    }
    // The trial is the mean of its copies.
    Some(mean(&variances) / variances.len() as f64)
}

/// The numbers that one copy reported in a pass, as UnixBench's programs print them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reported {
    /// Loops, or a rate where there is no time base.
    pub count: f64,
    /// Seconds that the rate is per; 0 if `count` is a rate already.
    pub timebase: f64,
    /// Length of the pass in seconds.
    pub seconds: f64,
}

impl Reported {
    /// The numbers that `copy` would have printed: its count, or a rate if its program computes
    /// one.
    pub fn new(cell: &Cell, copy: &Copy) -> Reported {
        let seconds = span_seconds(&copy.slices);
        let prints_count = cell.value.is_none()
            && cell.metric != Metric::Time
            && !cell.truncate
            && cell.scale == 1.0;
        if prints_count {
            return Reported { count: work_done(&copy.slices), timebase: cell.timebase, seconds };
        }
        Reported { count: printed_rate(cell, copy), timebase: 0.0, seconds }
    }
}

/// A copy's rate as its program prints it: UnixBench's file programs cut the fraction off.
fn printed_rate(cell: &Cell, copy: &Copy) -> f64 {
    let rate = copy_rate(cell, copy);
    if cell.truncate { rate.trunc() } else { rate }
}

/// One pass as UnixBench's harness accounts it: the copies' counts are summed, their times
/// averaged (docs/methodology.md).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    /// The sum of the copies' counts, by which passes are sorted.
    pub count: f64,
    /// The mean of the copies' times in seconds.
    pub seconds: f64,
    /// The score of the pass.
    pub rate: f64,
}

impl Pass {
    pub(crate) fn new(cell: &Cell, trial: &Trial) -> Pass {
        let copies = trial.copies.iter();
        let seconds = mean(copies.clone().map(|copy| span_seconds(&copy.slices)));

        let (count, rate) = if cell.value.is_some() {
            let rate = copies.map(|copy| copy_rate(cell, copy)).sum();
            (rate, rate)
        } else if cell.metric == Metric::Time {
            let time = trial_rate(cell, trial).unwrap_or(0.0);
            // Negative, so that the worst pass has the smallest count here too.
            (-time, time)
        } else if cell.truncate {
            let rate = copies.map(|copy| printed_rate(cell, copy)).sum();
            (rate, rate)
        } else {
            let count: f64 = copies.map(|copy| work_done(&copy.slices)).sum();
            let rate = count * cell.timebase * cell.scale / seconds;
            (count, if cell.timebase > 0.0 { rate } else { count })
        };
        Pass { count, seconds, rate }
    }
}

/// Drops the ⌊n/3⌋ passes with the smallest counts. UnixBench goes by the counts alone, so a pass
/// that was short goes even if its rate was the highest.
pub(crate) fn drop_worst_third(passes: &[Pass]) -> Vec<Pass> {
    let mut passes = passes.to_vec();
    passes.sort_by(|a, b| a.count.total_cmp(&b.count));
    passes.split_off(passes.len() / 3)
}

/// The geometric mean of the passes' rates. As in UnixBench, a pass that counted nothing is a rate
/// of 1.
pub(crate) fn geometric_mean(passes: &[Pass]) -> f64 {
    let logs = passes.iter().map(|pass| match pass.rate {
        rate if rate > 0.0 => rate.natural_log(),
        _ => 0.0,
    });
    mean(logs).exponential()
}

/// Remarks on what disturbed the windows of a cell: the hypervisor, other programs, late copies.
pub(crate) fn disturbances(cell: &Cell, trials: &[&Trial], cpus: usize) -> Vec<Remark> {
    let mut steal_shares = Vec::new();
    let mut foreign_shares = Vec::new();
    for trial in trials {
        let window = window_seconds(trial);
        if window < MIN_ACCOUNTED_SECONDS {
            continue;
        }
        let capacity = window * cpus as f64;
        if let Some(steal) = steal_seconds(trial) {
            steal_shares.push(steal / capacity);
        }
        if let Some(foreign) = foreign_cpu_seconds(cell, trial) {
            foreign_shares.push((foreign / capacity).min(1.0));
        }
    }

    let mut remarks = Vec::new();
    // The median of no shares at all is NaN, which exceeds nothing.
    let steal = median(&steal_shares);
    if steal > MIN_REPORTED_STEAL {
        remarks.push(Remark::Steal { percent: rounded_percent(steal) });
    }
    let foreign = median(&foreign_shares);
    if foreign > MIN_REPORTED_FOREIGN {
        remarks.push(Remark::Foreign { percent: rounded_percent(foreign) });
    }
    if let Some(latest) = trials.iter().flat_map(|trial| &trial.late).max() {
        let late = trials.iter().filter(|trial| !trial.late.is_empty()).count();
        let most_ms = *latest as f64 / 1e6;
        remarks.push(Remark::Late { trials: late, of: trials.len(), most_ms });
    }
    remarks
}

/// The share of the processors' time that the hypervisor gave to other guests during the windows of
/// a run; `None` if the kernel does not report it.
pub(crate) fn steal_share(journal: &Journal) -> Option<f64> {
    let mut stolen = 0.0;
    let mut capacity = 0.0;
    for trial in &journal.trials {
        if let Some(steal) = steal_seconds(trial)
            && !trial.copies.is_empty()
        {
            stolen += steal;
            capacity += window_seconds(trial) * journal.run.cpus as f64;
        }
    }
    (capacity > 0.0).then(|| stolen / capacity)
}

fn steal_seconds(trial: &Trial) -> Option<f64> {
    trial.noise.as_ref()?.steal_s
}

/// A share in per cent, rounded to 1 below 10 % and to 5 above: rows that were disturbed about
/// equally then share one remark.
fn rounded_percent(share: f64) -> f64 {
    let step = if share < 0.1 { 1.0 } else { 5.0 };
    (share * 100.0 / step).round() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(counts: &[(f64, f64)]) -> Vec<Pass> {
        counts
            .iter()
            .map(|(count, seconds)| Pass {
                count: *count,
                seconds: *seconds,
                rate: count / seconds,
            })
            .collect()
    }

    /// Three real passes of Process Creation and the published arithmetic's result
    /// (tests/vectors/unixbench_score_1copy.json).
    #[test]
    fn published_score() {
        let passes =
            passes(&[(247_371.0, 30.003_119), (242_919.0, 30.002_898), (243_989.0, 30.002_732)]);
        let best = drop_worst_third(&passes);
        assert_eq!(best.len(), 2);
        assert!((geometric_mean(&best) - 8_188.340_847_389_01).abs() < 1e-9);
        assert!(
            (best.iter().map(|pass| pass.seconds).sum::<f64>() / 2.0 - 30.002_925_5).abs() < 1e-9
        );
    }

    fn of_copies(copies: &[&[[u64; 3]]], cell: &Cell) -> Option<f64> {
        let copy = |slices: &&[[u64; 3]]| {
            let slices = slices.iter().copied().map(Slice::from).collect();
            Copy { slices, ..Copy::default() }
        };
        trial_rate(cell, &Trial { copies: copies.iter().map(copy).collect(), ..Trial::default() })
    }

    const MS: u64 = 1_000_000;

    /// What a copy does before the last one has begun or after the first has ended is nobody's
    /// score.
    #[test]
    fn a_rate_is_that_of_the_interval_which_all_copies_share() {
        let cell = Cell { timebase: 1.0, scale: 1.0, ..Cell::default() };
        let prompt = [[0, 50 * MS, 50], [50 * MS, 100 * MS, 50]];
        assert_eq!(of_copies(&[&prompt], &cell), Some(1000.0));
        assert_eq!(of_copies(&[&prompt, &prompt], &cell), Some(2000.0));
        // The first copy is twice as fast while it is alone, for 50 ms; what it does then was in
        // the sum.
        let alone = [[0, 50 * MS, 100], [50 * MS, 100 * MS, 50]];
        let late = [[50 * MS, 50 * MS, 0], [50 * MS, 100 * MS, 50]];
        assert_eq!(of_copies(&[&alone, &late], &cell), Some(2000.0));
        // The second is stopped across the closing edge, from 75 ms to 125 ms: a third of its last
        // slice is a stall.
        let stalled = [[0, 50 * MS, 50], [50 * MS, 125 * MS, 25]];
        let found = of_copies(&[&prompt, &stalled], &cell).unwrap();
        assert!((found - (1000.0 + (50.0 + 25.0 * 50.0 / 75.0) / 0.1)).abs() < 1e-9, "{found}");
        assert!((of_copies(&[&stalled], &cell).unwrap() - 75.0 / 0.125).abs() < 1e-9);
        // Times per piece are averaged over the same interval.
        let times = Cell { metric: Metric::Time, ..cell.clone() };
        assert!((of_copies(&[&alone, &late], &times).unwrap() - 0.001).abs() < 1e-12);
        // Copies that share nothing are what they are; the runner repeats such trials.
        assert_eq!(
            of_copies(&[&[[0, 50 * MS, 50]], &[[50 * MS, 100 * MS, 50]]], &cell),
            Some(2000.0)
        );
    }

    /// A stall from the warm-up into what is counted is in the score, from the planned end of the
    /// warm-up on.
    #[test]
    fn a_stall_across_the_end_of_the_warm_up_counts_from_there() {
        let slices = [[0, 150 * MS, 30], [150 * MS, 150 * MS, 0], [150 * MS, 200 * MS, 50]];
        let cell = Cell { timebase: 1.0, scale: 1.0, warmup: 1, slice: 50 * MS, ..Cell::default() };
        let found = of_copies(&[&slices], &cell).unwrap();
        assert!((found - (30.0 * 100.0 / 150.0 + 50.0) / 0.15).abs() < 1e-9, "{found}");
        // Journals that do not say how long a slice was planned count from where the next one
        // began.
        assert_eq!(of_copies(&[&slices], &Cell { slice: 0, ..cell }), Some(1000.0));
    }

    /// Seven counts in each of 16 windows are not seven exactly: a cell with so few is not closed.
    #[test]
    fn equal_counts_are_known_to_a_count() {
        let cell = Cell { timebase: 1.0, scale: 1.0, ..Cell::default() };
        let copy = Copy { slices: vec![[0, 1000 * MS, 7].into()], ..Copy::default() };
        let trials = vec![Trial { copies: vec![copy], ..Trial::default() }; 16];
        let found = estimate(&cell, &trials);
        assert!(
            (found.high.ln() - (7.0_f64.ln() + 1.0 / 7.0)).abs() < 1e-12 && found.spread() > 0.1,
            "{found:?}"
        );
        let figure = figure(&cell, &trials.iter().collect::<Vec<_>>(), &Run::default()).unwrap();
        assert_eq!(figure.score, found);
    }

    #[test]
    fn worst_third_goes_by_count() {
        // The smallest count has the highest rate here, and is dropped all the same.
        assert_eq!(
            drop_worst_third(&passes(&[(9.0, 1.0), (10.0, 10.0), (11.0, 10.0)]))[0].count,
            10.0
        );
        for (had, left) in [(1, 1), (2, 2), (3, 2), (10, 7)] {
            assert_eq!(drop_worst_third(&passes(&vec![(1.0, 1.0); had])).len(), left);
        }
    }

    #[test]
    fn a_pass_without_counts_is_a_rate_of_one() {
        assert!((geometric_mean(&passes(&[(0.0, 1.0), (100.0, 1.0)])) - 10.0).abs() < 1e-12);
    }
}
