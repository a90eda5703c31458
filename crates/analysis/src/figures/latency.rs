//! From frames to a latency: percentiles where the count carries them, deadlines, and what the load
//! did meanwhile.
//!
//! A task of the test plans *frames*: each has a planned moment, and is done in time, late, or
//! never (*dropped*). What is judged is the latency of every frame, with dropped ones counted as if
//! they had waited ([`judged`]): a task that drops more frames is not a faster one. The score of
//! the cell is one percentile of it ([`ShownPercentile`]), with an interval by resampling trials
//! ([`estimate_percentile`]).

use crate::figures::holders::{MAX_WORST_FRAMES, holders};
use crate::figures::rate;
use crate::figures::rate::MS;
use crate::figures::{
    Attribution, Figure, FrameRates, Latency, Load, PERCENTILES, Remark, Requests, Sample,
    TrialFigures,
};
use journal::{Background, Cell, Frame, Frames, Latency as Kind, Trial, Usage};
use stats::{
    ByBlock, Estimate, Exact, Histogram, Sampled, mean, mean_half_width, mean_interval,
    without_blocks,
};
use words::Unique;

/// The percentile that is judged where there are enough frames.
const JUDGED_PERCENTILE: &str = "p99";

/// Largest factor from the value to the ends of an interval. One beyond it says nothing: that of
/// three trials, one of them in a stall, would end at 1e10 ms. Reports write no larger factor,
/// either.
const MAX_INTERVAL_FACTOR: f64 = 99.0;

/// Shortest duration in seconds that is divided by.
const MIN_SECONDS: f64 = 1e-9;

/// The figure of an interactive test's cell, unless no trial has a result.
pub(crate) fn figure(cell: &Cell, trials: &[&Trial]) -> Option<Figure> {
    let measured: Vec<&Trial> =
        trials.iter().copied().filter(|trial| frames(trial).next().is_some()).collect();
    let first = measured.first()?;
    let window = mean(measured.iter().map(|trial| rate::span_seconds(&trial.copies[0].slices)));
    let histogram = Histogram::sum(measured.iter().map(|trial| judged(trial)));
    let shown = ShownPercentile::new(&histogram);
    let score = estimate_percentile(&measured, shown.share);

    let mut warnings = Vec::new();
    warnings.extend(shown.remark());
    if histogram.count() > 0 && !score.bounded() {
        warnings.push(match measured.len() {
            1 => Remark::NoInterval { trials: 1 },
            trials => Remark::TrialsTooUnlike { trials },
        });
    }
    let all_frames = measured.iter().flat_map(|trial| frames(trial));
    for late_ns in all_frames.filter_map(|frames| frames.broke) {
        warnings.push(Remark::FrameBroke { late_ms: late_ns as f64 / MS });
    }

    let samples = measured.iter().map(|trial| Sample::new(trial, percentile(trial, shown.share)));
    let latency = latency(frames(first).next()?, &measured, shown.name, histogram, window);
    Some(Figure {
        samples: samples.filter(|sample| sample.value.is_finite()).collect(),
        warnings,
        latency: Some(Box::new(latency)),
        ..Figure::new(cell, score, measured.len(), window)
    })
}

/// The latency of trials, whose `first` frames show what kind it is. `value` is the name of the
/// judged percentile, `histogram` has all judged latencies, and `window` is the mean length of the
/// windows in seconds.
fn latency(
    first: &Frames,
    measured: &[&Trial],
    value: &'static str,
    histogram: Histogram,
    window: f64,
) -> Latency {
    let all: Vec<&Frames> = measured.iter().flat_map(|trial| frames(trial)).collect();
    let response = Histogram::sum(all.iter().map(|frames| &frames.response));

    let planned: u64 = all.iter().map(|frames| frames.schedule.planned).sum();
    let late: u64 = all.iter().map(|frames| frames.late).sum();
    let dropped: u64 = all.iter().map(|frames| frames.dropped()).sum();
    let percent_of_planned = |count: u64| 100.0 * count as f64 / planned.max(1) as f64;

    let has_deadline = first.schedule.deadline > 0;
    let has_cpu_received = value_of(measured[0], "cpu_received").is_some();
    let cpu_received = has_cpu_received
        .then(|| share_interval(measured, |trial| value_of(trial, "cpu_received").unwrap_or(0.0)));
    let stalls = measured.iter().map(|trial| longest_stall(trial));
    Latency {
        kind: first.schedule.latency,
        value,
        came: Histogram::sum(all.iter().map(|frames| &frames.latency)),
        jitter: Histogram::sum(all.iter().map(|frames| &frames.jitter)),
        planned,
        deadlines_met: has_deadline.then(|| deadlines_met(measured)),
        late: percent_of_planned(late),
        dropped: percent_of_planned(dropped),
        cpu_received,
        rates: frame_rates(first, &response),
        response,
        requests: requests(measured),
        stall: stalls.fold(0.0, f64::max) / MS,
        seconds: measured.iter().flat_map(|trial| longest_by_second(trial)).collect(),
        worst: worst_frames(&all),
        holders: holders(all.iter().copied()),
        attribution: attribution(measured, window),
        trials: measured.iter().map(|trial| trial_figures(trial)).collect(),
        histogram,
    }
}

/// The work of the load beside a cell's trials, with remarks on it; `None` where none ran.
pub(crate) fn load(cell: &Cell, trials: &[&Trial]) -> Option<(Load, Vec<Remark>)> {
    let scale = cell.background.as_ref()?;
    let loads: Vec<&Background> =
        trials.iter().filter_map(|trial| trial.background.as_deref()).collect();
    if loads.is_empty() {
        return None;
    }

    let mut remarks = Vec::new();
    let windows = loads.iter().filter(|load| !load.steady).count();
    if windows > 0 {
        remarks.push(Remark::LoadUnsteady { windows, of: loads.len() });
    }
    let notes = loads.iter().flat_map(|load| &load.copy.notes).unique();
    remarks.extend(notes.into_iter().cloned().map(Remark::LoadNote));

    // Without a rate of the load alone there is nothing to compare with.
    let comparable = loads.iter().filter(|load| load.alone > 0.0);
    let percents: Vec<f64> = comparable.map(|load| 100.0 * load_rate(load) / load.alone).collect();
    let interval = mean_interval(&percents);
    let load = Load {
        label: scale.label.clone(),
        throughput: mean(loads.iter().map(|load| load_rate(load))) * scale.worth,
        unit: scale.unit.clone(),
        achieved: interval.value,
        interval,
    };
    Some((load, remarks))
}

/// Counts per second of a load in its last slice.
fn load_rate(load: &Background) -> f64 {
    let slice = load.copy.slices.last().copied().unwrap_or_default();
    slice.count as f64 / (slice.length() as f64 / 1e9).max(MIN_SECONDS)
}

/// The value of the cell's trials so far, as the standard procedure judges it.
pub(crate) fn estimate(trials: &[Trial]) -> Estimate {
    let measured: Vec<&Trial> =
        trials.iter().filter(|trial| frames(trial).next().is_some()).collect();
    let histogram = Histogram::sum(measured.iter().map(|trial| judged(trial)));
    estimate_percentile(&measured, ShownPercentile::new(&histogram).share)
}

/// The percentile that is a cell's score: p99, or the highest below it that the count carries, or
/// the median of few frames.
struct ShownPercentile {
    share: f64,
    name: &'static str,
    /// False of frames so few that they do not even carry a median.
    is_carried: bool,
}

impl ShownPercentile {
    fn new(histogram: &Histogram) -> ShownPercentile {
        // The highest percentile is beyond p99.
        let mut candidates = PERCENTILES.iter().rev().skip(1);
        let carried = candidates.find(|(share, _)| histogram.carries(*share));
        let (share, name) = *carried.unwrap_or(&PERCENTILES[0]);
        ShownPercentile { share, name, is_carried: histogram.carries(share) }
    }

    fn remark(&self) -> Option<Remark> {
        let is_judged = self.name == JUDGED_PERCENTILE;
        let percentile = self.name.to_owned();
        (!is_judged).then_some(Remark::FewFrames { percentile, carried: self.is_carried })
    }
}

/// A percentile of all trials' frames in ms, with an interval by resampling trials: frames of one
/// trial are not independent.
fn estimate_percentile(measured: &[&Trial], share: f64) -> Estimate {
    let frames = PooledFrames::new(measured);
    // What is resampled are the numbers of the trials.
    let numbers: ByBlock =
        (0..measured.len()).map(|number| (number as u32, number as f64)).collect();
    let ns = frames.quantile(&without_blocks(&numbers), share);
    if ns.is_nan() {
        return Estimate::alone(f64::NAN);
    }

    let statistic = |numbers: &[f64]| frames.quantile(numbers, share).natural_log();
    let half_width = mean_half_width(&[Sampled { values: &numbers, statistic: &statistic }]);
    if half_width > MAX_INTERVAL_FACTOR.natural_log() {
        return Estimate::alone(ns / MS);
    }
    Estimate::within(ns / MS, half_width)
}

/// The frames of several trials together.
struct PooledFrames {
    /// In ascending order of latency.
    bins: Vec<Bin>,
    /// The number of frames of each trial.
    frames: Vec<u64>,
}

/// Frames of one trial with one latency.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Bin {
    ns: u64,
    /// The number of the trial.
    trial: usize,
    count: u64,
}

impl PooledFrames {
    fn new(trials: &[&Trial]) -> PooledFrames {
        let mut pooled = PooledFrames { bins: Vec::new(), frames: Vec::new() };
        for (number, trial) in trials.iter().enumerate() {
            let histogram = judged(trial);
            let counts = histogram.counts();
            pooled.bins.extend(counts.map(|(ns, count)| Bin { ns, trial: number, count }));
            pooled.frames.push(histogram.count());
        }
        pooled.bins.sort_unstable();
        pooled
    }

    /// The quantile in ns of the trials with these `numbers`, each as often as its number is there.
    /// It is at least 1 ns, so that it has a logarithm; NaN without frames.
    fn quantile(&self, numbers: &[f64], share: f64) -> f64 {
        let mut times_drawn = vec![0; self.frames.len()];
        for number in numbers {
            // Whole numbers below the number of trials.
            times_drawn[*number as usize] += 1;
        }

        let frames = self.frames.iter().zip(&times_drawn);
        let total: u64 = frames.map(|(frames, times)| frames * times).sum();
        let mut left = (share * total as f64).ceil().max(1.0);
        for Bin { ns, trial, count } in &self.bins {
            left -= (count * times_drawn[*trial]) as f64;
            if left <= 0.0 {
                return (*ns as f64).max(1.0);
            }
        }
        f64::NAN
    }
}

/// The frames of each copy of a trial.
pub(crate) fn frames(trial: &Trial) -> impl Iterator<Item = &Frames> {
    trial.copies.iter().filter_map(|copy| copy.frames.as_deref())
}

/// The latencies of a trial that are judged, compared and kept: with every frame that was dropped.
pub(crate) fn judged(trial: &Trial) -> Histogram {
    Histogram::sum(frames(trial).map(|frames| &frames.corrected))
}

/// A percentile of a trial in ms; NaN without frames.
fn percentile(trial: &Trial, share: f64) -> f64 {
    let histogram = judged(trial);
    if histogram.count() == 0 { f64::NAN } else { histogram.quantile(share) / MS }
}

/// The difference in points that may be hidden where all of `trials` have the same share. With 95 %
/// confidence no more than 1 − 0.05^(1/n) of trials are otherwise (Clopper & Pearson 1934), and
/// such a one may miss everything. Frames say less than they seem to: a stall hits all of a burst.
pub(crate) fn hidden(trials: usize) -> f64 {
    100.0 * (1.0 - 0.05_f64.to_the_power(1.0 / trials.max(1) as f64))
}

/// The mean of a share in per cent over trials, with Student's interval cut to 0 and 100 %.
fn share_interval(measured: &[&Trial], share: impl Fn(&Trial) -> f64) -> Estimate {
    let shares: Vec<f64> = measured.iter().map(|trial| share(trial)).collect();
    let Estimate { value, low, high } = mean_interval(&shares);
    // An end that is not known stays infinite.
    let [low, high] =
        [low, high].map(|end| if end.is_finite() { end.clamp(0.0, 100.0) } else { end });
    Estimate { value, low, high }
}

/// The share of deadlines met in per cent. An interval without any width is of trials that all have
/// the same share.
fn deadlines_met(measured: &[&Trial]) -> Estimate {
    let share = share_interval(measured, met);
    if share.low < share.high {
        return share;
    }
    Estimate { low: (share.value - hidden(measured.len())).max(0.0), ..share }
}

/// The share of a trial's planned frames that met their deadline, in per cent.
pub(crate) fn met(trial: &Trial) -> f64 {
    let met: u64 = frames(trial).map(Frames::met).sum();
    let planned: u64 = frames(trial).map(|frames| frames.schedule.planned).sum();
    100.0 * met as f64 / planned.max(1) as f64
}

/// The mean over the copies of a value that they report.
fn value_of(trial: &Trial, name: &str) -> Option<f64> {
    mean_of_known(values_of(trial, name))
}

/// The values that copies of a trial report by a name.
fn values_of(trial: &Trial, name: &str) -> impl Iterator<Item = f64> {
    trial.copies.iter().filter_map(move |copy| Some(copy.values.get(name)?.0))
}

/// The longest delay of a trial in ns; of a command, which reports none, its longest latency.
fn longest_stall(trial: &Trial) -> f64 {
    if let Some(stall) = values_of(trial, "stall_ns").max_by(f64::total_cmp) {
        return stall;
    }
    frames(trial).map(|frames| frames.latency.max()).fold(0.0, f64::max)
}

/// The longest latency in each second of a trial: seconds since the run began, and ms. A second
/// without frames has none: the frame that delayed the others is reported where it was planned.
fn longest_by_second(trial: &Trial) -> Vec<(f64, f64)> {
    let seconds = frames(trial).map(|frames| frames.seconds.len()).max().unwrap_or(0);
    let mut longest = Vec::new();
    for number in 0..seconds {
        let of_copies = frames(trial).filter_map(|frames| frames.seconds.get(number));
        let ns = of_copies.max().copied().unwrap_or(0);
        if ns > 0 {
            longest.push((trial.at + number as f64, ns as f64 / MS));
        }
    }
    longest
}

/// The worst frames of all trials, longest latency first; or, where a limit was broken, the frames
/// of the last second before that.
fn worst_frames(all: &[&Frames]) -> Vec<Frame> {
    if let Some(broken) = all.iter().find(|frames| !frames.last.is_empty()) {
        return broken.last.clone();
    }

    let mut by_latency: Vec<(u64, Frame)> = Vec::new();
    for frames in all {
        for frame in &frames.worst {
            by_latency.push((frame.latency(&frames.schedule).unwrap_or(0), *frame));
        }
    }
    by_latency.sort_by_key(|(latency, _)| std::cmp::Reverse(*latency));
    by_latency.into_iter().take(MAX_WORST_FRAMES).map(|(_, frame)| frame).collect()
}

/// The frame rates of a task whose frames follow each other; `None` of one with a schedule.
fn frame_rates(frames: &Frames, response: &Histogram) -> Option<FrameRates> {
    let schedule = &frames.schedule;
    let has_schedule = schedule.period > 0 || schedule.deadline > 0;
    if has_schedule || schedule.latency != Kind::Response || response.count() == 0 {
        return None;
    }
    Some(FrameRates {
        all: 1e9 / response.mean(),
        low_1: rate_of_slowest(response, 0.01),
        low_01: rate_of_slowest(response, 0.001),
    })
}

/// Frames per second of the slowest share of frames; `None` if they are too few.
fn rate_of_slowest(response: &Histogram, share: f64) -> Option<f64> {
    if !response.carries(1.0 - share) {
        return None;
    }

    let wanted = (share * response.count() as f64).floor().max(1.0);
    let counts: Vec<(u64, u64)> = response.counts().collect();
    let mut sum_ns = 0.0;
    let mut left = wanted;
    for (ns, count) in counts.into_iter().rev() {
        let taken = f64::min(left, count as f64);
        sum_ns += taken * ns as f64;
        left -= taken;
    }
    Some(1e9 / (sum_ns / wanted))
}

/// The requests of a server, summed over copies; the interval is one of trials. `None` if no trial
/// has them from all of its copies.
fn requests(measured: &[&Trial]) -> Option<Requests> {
    let answered: Vec<f64> =
        measured.iter().filter_map(|trial| sum_of_values(trial, "requests")).collect();
    if answered.is_empty() {
        return None;
    }
    let offered = sum_of_values(measured.first()?, "offered");
    Some(Requests { offered, answered: mean_interval(&answered) })
}

/// The sum over the copies of a value; `None` unless all report it.
fn sum_of_values(trial: &Trial, name: &str) -> Option<f64> {
    trial.copies.iter().map(|copy| copy.values.get(name).map(|value| value.0)).sum()
}

/// What may have delayed frames. `window` is the mean length of the windows in seconds.
fn attribution(measured: &[&Trial], window: f64) -> Attribution {
    let window = window.max(MIN_SECONDS);
    let waits_ms =
        measured.iter().filter_map(|trial| Some(value_of(trial, "runqueue_wait_ns")? / MS));
    let steals_ms = measured.iter().filter_map(|trial| Some(trial.noise.as_ref()?.steal_s? * 1e3));
    let migrations = measured.iter().filter_map(|trial| value_of(trial, "migrations"));
    Attribution {
        runqueue_wait_ms: mean_of_known(waits_ms).map(|ms| ms / window),
        steal_ms: mean_of_known(steals_ms).map(|ms| ms / window),
        migrations: mean_of_known(migrations),
        minor_faults: mean_usage(measured, |usage| usage.minor_faults),
        major_faults: mean_usage(measured, |usage| usage.major_faults),
        involuntary_switches: mean_usage(measured, |usage| usage.involuntary),
    }
}

fn mean_of_known(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| mean(values))
}

/// The mean over trials of what all copies of one used.
fn mean_usage(measured: &[&Trial], amount: fn(&Usage) -> u64) -> f64 {
    let sums = measured.iter().map(|trial| {
        let usages = trial.copies.iter().filter_map(|copy| copy.usage.as_ref());
        usages.map(amount).sum::<u64>() as f64
    });
    mean_of_known(sums).unwrap_or(0.0)
}

fn trial_figures(trial: &Trial) -> TrialFigures {
    let histogram = judged(trial);
    let has_deadline = frames(trial).any(|frames| frames.schedule.deadline > 0);
    TrialFigures {
        block: trial.block,
        p50: histogram.quantile(0.5) / MS,
        p99: histogram.carries(0.99).then(|| histogram.quantile(0.99) / MS),
        met: has_deadline.then(|| met(trial)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Copy, Frame, Recorder, Schedule};

    /// Frames of these lengths in ms, one after the other.
    fn game(lengths: &[u64]) -> Frames {
        let planned = lengths.len() as u64;
        let mut recorder =
            Recorder::new(Schedule { planned, latency: Kind::Response, ..Schedule::default() });
        let mut at = 0;
        for length in lengths {
            let done = at + length * 1_000_000;
            recorder.add(Frame { planned: at, sent: at, woke: at, done: Some(done) });
            at = done;
        }
        recorder.finish(None)
    }

    #[test]
    fn lows_are_of_the_slowest_frames() {
        let frames = game(&[vec![10; 1000], vec![50; 10]].concat());
        let rates = frame_rates(&frames, &frames.response).unwrap();
        assert!((rates.all - 1010.0 / 10.5).abs() < 0.1, "{rates:?}");
        assert!((rates.low_1.unwrap() - 20.0).abs() < 0.1 && rates.low_01.is_none());
        let few = game(&[10; 999]);
        assert!(
            frame_rates(&few, &few.response).unwrap().low_1.is_none(),
            "nine frames have no hundredth"
        );
    }

    #[test]
    fn events_that_are_never_answered_are_omitted_ones() {
        let schedule =
            Schedule { planned: 3, deadline: 5, latency: Kind::Response, ..Schedule::default() };
        let mut recorder = Recorder::new(schedule);
        recorder.add(Frame { planned: 0, sent: 0, woke: 1, done: Some(4) });
        recorder.add(Frame { planned: 10, sent: 10, woke: 100, done: None });
        let frames = recorder.finish(None);
        assert_eq!((frames.done, frames.dropped(), frames.late, frames.met()), (1, 2, 0, 1));
        assert_eq!((frames.latency.count(), frames.corrected.count()), (1, 2));
        assert_eq!(frames.corrected.max(), 90.0);
    }

    /// A trial at a time, so that the interval knows that frames of one trial are alike.
    #[test]
    fn intervals_are_between_trials() {
        let trial = |block: u32, ms: u64| {
            let copy = Copy { frames: Some(Box::new(game(&vec![ms; 500]))), ..Copy::default() };
            Trial { block, copies: vec![copy], ..Trial::default() }
        };
        let apart = [trial(0, 10), trial(1, 20), trial(2, 40)];
        let alike = [trial(0, 20), trial(1, 20), trial(2, 20)];
        assert!(estimate(&apart).spread() > 0.5 && estimate(&alike).spread() < 1e-3);
        assert!(!estimate(&apart[..1]).bounded());
    }
}
