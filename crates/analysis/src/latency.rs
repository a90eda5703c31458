//! From frames to a latency: percentiles where the count carries them, deadlines, and what the load did meanwhile.

use serde::Serialize;

use super::holders::{HeldUp, WORST, holders};
use super::rate::{self, MS};
use super::{Figure, Remark, Sample};
use journal::{Cell, Copy, Frame, Frames, Latency as Kind, Trial};
use stats::{ByBlock, Estimate, Exact, Histogram, Sampled, mean, mean_half_width, mean_interval, without_blocks};
use words::Unique;

/// The percentiles that reports show, and their names.
pub const PERCENTILES: [(f64, &str); 5] = [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9")];

/// The figures of a cell's frames. Times are in ms, shares in per cent.
#[derive(Debug, Clone)]
pub struct Latency {
    /// Which latency it is.
    pub kind: Kind,
    /// The name of the percentile that is the row's value.
    pub value: &'static str,
    /// All trials' latencies, with every frame that was dropped counted as if it had waited: what is judged, since a
    /// task that drops more frames is not a faster one.
    pub histogram: Histogram,
    /// Those of the frames that came.
    pub came: Histogram,
    /// From the planned moment to done.
    pub response: Histogram,
    /// From frame to frame.
    pub jitter: Histogram,
    /// Frames that were planned.
    pub planned: u64,
    /// Frames done in time, of those planned; nothing without a deadline.
    pub deadlines_met: Option<Estimate>,
    /// Frames done too late, of those planned.
    pub late: f64,
    /// Frames never done, of those planned.
    pub dropped: f64,
    /// Work done, of that planned; of a task that takes all it gets, of what the time would hold.
    pub cpu_received: Option<Estimate>,
    /// Frames per second, of a task whose frames follow each other: all, and the slowest hundredth and thousandth.
    pub rates: Option<FrameRates>,
    /// The requests of a server.
    pub requests: Option<Requests>,
    /// The longest that the task was kept from its plan.
    pub stall: f64,
    /// The longest latency in each second, trial after trial: (seconds since the run began, ms).
    pub seconds: Vec<(f64, f64)>,
    /// The frames with the longest latencies, longest first, in ns since their trial's start.
    pub worst: Vec<Frame>,
    /// The causes of late frames; `None` unless the scheduler was traced.
    pub holders: Option<HeldUp>,
    /// Delays by the scheduler, per trial on average.
    pub attribution: Attribution,
    /// Median and p99 of each trial (ms) and its share of deadlines met (per cent), in order; for comparisons.
    pub trials: Vec<TrialFigures>,
}

/// Delays of a task by the scheduler, per trial on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Attribution {
    /// Time the thread was ready and waited for a processor, in ms per second of the window.
    pub runqueue_wait_ms: Option<f64>,
    /// Time the hypervisor took from the whole machine, in ms per second of the window.
    pub steal_ms: Option<f64>,
    /// Moves to another processor.
    pub migrations: Option<f64>,
    /// Page faults without I/O.
    pub minor_faults: f64,
    /// Page faults with I/O.
    pub major_faults: f64,
    /// Involuntary context switches.
    pub involuntary_switches: f64,
}

/// Frames per second as players count them: frames ÷ the time they took. Shares that hold fewer than ten frames have
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FrameRates {
    /// The mean of all frames.
    pub all: f64,
    /// The mean of the slowest 1 %.
    pub low_1: Option<f64>,
    /// The mean of the slowest 0.1 %.
    pub low_01: Option<f64>,
}

/// Requests per second of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Requests {
    /// Those that came on a schedule; nothing where each waits for an answer.
    pub offered: Option<f64>,
    /// Those that were answered.
    pub answered: Estimate,
}

/// One trial's figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TrialFigures {
    /// The block.
    pub block: u32,
    /// Median in ms.
    pub p50: f64,
    /// 99th percentile in ms, where the trial's count carries it.
    pub p99: Option<f64>,
    /// Deadlines met in per cent.
    pub met: Option<f64>,
}

/// The work of a load beside the measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// Its name in reports.
    pub label: String,
    /// Its throughput during the windows.
    pub throughput: f64,
    /// The unit of that.
    pub unit: String,
    /// Its throughput beside the measurement, of that alone just before, in per cent.
    pub achieved: f64,
    /// The ends of that, in per cent; infinite with one trial.
    #[serde(skip)]
    pub interval: Estimate,
}

impl Latency {
    /// Returns the percentiles that the count carries, with their names, in ms.
    pub fn percentiles<'a>(&self, histogram: &'a Histogram) -> impl Iterator<Item = (&'static str, f64)> + 'a {
        let told = PERCENTILES.iter().filter(|(share, _)| histogram.carries(*share));
        told.map(|(share, name)| (*name, histogram.quantile(*share) / MS))
    }

    /// Returns a percentile of the latency in ms; nothing where the count does not carry it.
    pub fn percentile(&self, name: &str) -> Option<f64> {
        self.percentiles(&self.histogram).find(|(known, _)| *known == name).map(|(_, ms)| ms)
    }
}

/// Returns the row of an interactive test's cell, unless no trial has a result.
pub(super) fn row(cell: &Cell, trials: &[&Trial]) -> Option<Figure> {
    let measured: Vec<&Trial> = trials.iter().copied().filter(|trial| frames(trial).next().is_some()).collect();
    let first = frames(measured.first()?).next()?;
    let all = || measured.iter().flat_map(|trial| frames(trial));
    let histogram = Histogram::sum(measured.iter().map(|trial| judged(trial)));
    let mut warnings = Vec::new();
    let (share, name) = told(&histogram, &mut warnings);
    let score = estimate_of(&measured, share);
    if histogram.count() > 0 && !score.bounded() {
        warnings.push(Remark::NoInterval { trials: 1 });
    }
    let planned: u64 = all().map(|frames| frames.schedule.planned).sum();
    let share_of = |count: u64| 100.0 * count as f64 / planned.max(1) as f64;
    let samples = measured.iter().map(|trial| Sample::new(trial, quantile(trial, share)));
    let window = mean(measured.iter().map(|trial| rate::length(&trial.copies[0].slices)));
    let broke = all().filter_map(|frames| frames.broke);
    warnings.extend(broke.map(|delay| Remark::FrameBroke { late_ms: delay as f64 / MS }));
    Some(Figure {
        samples: samples.filter(|sample| sample.value.is_finite()).collect(),
        warnings,
        latency: Some(Box::new(Latency {
            kind: first.schedule.latency,
            value: name,
            came: Histogram::sum(all().map(|frames| &frames.latency)),
            response: Histogram::sum(all().map(|frames| &frames.response)),
            jitter: Histogram::sum(all().map(|frames| &frames.jitter)),
            planned,
            deadlines_met: (first.schedule.deadline > 0).then(|| deadlines_met(&measured)),
            late: share_of(all().map(|frames| frames.late).sum()),
            dropped: share_of(all().map(Frames::dropped).sum()),
            cpu_received: value_of(measured[0], "cpu_received")
                .map(|_| share_interval(&measured, |trial| value_of(trial, "cpu_received").unwrap_or(0.0))),
            rates: rates(first, &Histogram::sum(all().map(|frames| &frames.response))),
            requests: requests(&measured),
            stall: measured.iter().map(|trial| stall(trial)).fold(0.0, f64::max) / MS,
            seconds: measured.iter().flat_map(|trial| over_time(trial)).collect(),
            worst: worst(all()),
            holders: holders(all()),
            attribution: attribution(&measured, window),
            trials: measured.iter().map(|trial| figures(trial)).collect(),
            histogram,
        })),
        ..Figure::new(cell, score, measured.len(), window)
    })
}

/// Returns the load's work over the trials; nothing where none ran.
pub(super) fn load(cell: &Cell, trials: &[&Trial]) -> Option<(Load, Vec<Remark>)> {
    let scale = cell.background.as_ref()?;
    let all: Vec<_> = trials.iter().filter_map(|trial| trial.background.as_deref()).collect();
    let rate = |copy: &Copy| {
        let slice = copy.slices.last().copied().unwrap_or_default();
        slice.count as f64 / (slice.length() as f64 / 1e9).max(1e-9)
    };
    let ratios: Vec<f64> =
        all.iter().filter(|load| load.alone > 0.0).map(|load| 100.0 * rate(&load.copy) / load.alone).collect();
    if all.is_empty() {
        return None;
    }
    let throughput = mean(all.iter().map(|load| rate(&load.copy))) * scale.worth;
    let interval = mean_interval(&ratios);
    let windows = all.iter().filter(|load| !load.steady).count();
    let unsteady = (windows > 0).then_some(Remark::LoadUnsteady { windows, of: all.len() });
    let notes = all.iter().flat_map(|load| &load.copy.notes).unique();
    let warnings = unsteady.into_iter().chain(notes.into_iter().cloned().map(Remark::LoadNote)).collect();
    let (label, unit) = (scale.label.clone(), scale.unit.clone());
    Some((Load { label, throughput, unit, achieved: interval.value, interval }, warnings))
}

/// Returns the value of the cell's trials so far, as the standard procedure judges it.
pub(super) fn estimate(trials: &[Trial]) -> Estimate {
    let measured: Vec<&Trial> = trials.iter().filter(|trial| frames(trial).next().is_some()).collect();
    let histogram = Histogram::sum(measured.iter().map(|trial| judged(trial)));
    estimate_of(&measured, told(&histogram, &mut Vec::new()).0)
}

/// p99, or the highest percentile below it that the count carries, or the median of few.
fn told(histogram: &Histogram, warnings: &mut Vec<Remark>) -> (f64, &'static str) {
    let known = || PERCENTILES.iter().rev().skip(1);
    let (share, name) = known().find(|(share, _)| histogram.carries(*share)).unwrap_or(&PERCENTILES[0]);
    if *name != "p99" {
        warnings.push(Remark::FewFrames { percentile: (*name).to_owned(), carried: histogram.carries(*share) });
    }
    (*share, name)
}

/// The percentile of all trials' frames, with an interval by resampling trials: frames of one trial are not
/// independent.
fn estimate_of(measured: &[&Trial], share: f64) -> Estimate {
    let frames = Merged::new(measured);
    let places: ByBlock = (0..measured.len()).map(|place| (place as u32, place as f64)).collect();
    let value = frames.quantile(&without_blocks(&places), share);
    if value.is_nan() {
        return Estimate::alone(f64::NAN);
    }
    let statistic = |places: &[f64]| frames.quantile(places, share).natural_log();
    Estimate::within(value / MS, mean_half_width(&[Sampled { values: &places, statistic: &statistic }]))
}

/// Several trials' frames together.
struct Merged {
    /// Latencies in ns, ascending, with the place of the trial and how many it has of it.
    latencies: Vec<(u64, usize, u64)>,
    /// The frames of each trial.
    frames: Vec<u64>,
}

impl Merged {
    fn new(trials: &[&Trial]) -> Merged {
        let histograms: Vec<Histogram> = trials.iter().map(|trial| judged(trial)).collect();
        let of_trial = |(place, histogram): (usize, &Histogram)| -> Vec<(u64, usize, u64)> {
            histogram.counts().map(|(ns, count)| (ns, place, count)).collect()
        };
        let mut latencies: Vec<(u64, usize, u64)> = histograms.iter().enumerate().flat_map(of_trial).collect();
        latencies.sort_unstable();
        Merged { latencies, frames: histograms.iter().map(Histogram::count).collect() }
    }

    /// The quantile in ns of the trials at `places`, each as often as it is there; at least 1 ns, so that it has a
    /// logarithm.
    fn quantile(&self, places: &[f64], share: f64) -> f64 {
        let mut times = vec![0; self.frames.len()];
        // Places are whole numbers below the number of trials.
        places.iter().for_each(|place| times[*place as usize] += 1);
        let total: u64 = self.frames.iter().zip(&times).map(|(frames, times)| frames * times).sum();
        let mut wanted = (share * total as f64).ceil().max(1.0);
        for (ns, place, count) in &self.latencies {
            wanted -= (count * times[*place]) as f64;
            if wanted <= 0.0 {
                return (*ns as f64).max(1.0);
            }
        }
        f64::NAN
    }
}

pub(super) fn frames(trial: &Trial) -> impl Iterator<Item = &Frames> {
    trial.copies.iter().filter_map(|copy| copy.frames.as_deref())
}

/// The latencies of a trial that are judged, compared and kept: with every frame that was dropped.
pub(super) fn judged(trial: &Trial) -> Histogram {
    Histogram::sum(frames(trial).map(|frames| &frames.corrected))
}

fn quantile(trial: &Trial, share: f64) -> f64 {
    let histogram = judged(trial);
    if histogram.count() == 0 { f64::NAN } else { histogram.quantile(share) / MS }
}

/// Returns what may be hidden where all of `trials` have the same share, in points: with 95 % confidence no more than 1
/// − 0.05^(1/n) of trials are otherwise (Clopper & Pearson 1934), and such a one may miss everything. Frames say less
/// than they seem to: a stall hits all of a burst.
pub(crate) fn hidden(trials: usize) -> f64 {
    100.0 * (1.0 - 0.05_f64.to_the_power(1.0 / trials.max(1) as f64))
}

/// The mean of a share over trials with Student's interval, cut to 0 and 100 %.
fn share_interval(measured: &[&Trial], share: impl Fn(&Trial) -> f64) -> Estimate {
    let shares: Vec<f64> = measured.iter().map(|trial| share(trial)).collect();
    let found = mean_interval(&shares);
    let cut = |end: f64| if end.is_finite() { end.clamp(0.0, 100.0) } else { end };
    Estimate { value: found.value, low: cut(found.low), high: cut(found.high) }
}

fn deadlines_met(measured: &[&Trial]) -> Estimate {
    let found = share_interval(measured, met);
    if found.low < found.high {
        found
    } else {
        Estimate { low: (found.value - hidden(measured.len())).max(0.0), ..found }
    }
}

pub(super) fn met(trial: &Trial) -> f64 {
    let (met, planned) =
        frames(trial).fold((0, 0), |sum, frames| (sum.0 + frames.met(), sum.1 + frames.schedule.planned));
    100.0 * met as f64 / planned.max(1) as f64
}

/// The mean over the copies of a value they report.
fn value_of(trial: &Trial, name: &str) -> Option<f64> {
    let values: Vec<f64> = trial.copies.iter().filter_map(|copy| copy.values.get(name)).map(|value| value.0).collect();
    (!values.is_empty()).then(|| mean(values))
}

fn largest(trial: &Trial, name: &str) -> Option<f64> {
    trial.copies.iter().filter_map(|copy| copy.values.get(name)).map(|value| value.0).max_by(f64::total_cmp)
}

/// The longest delay of a trial, in ns; of a command, which reports none, its longest latency.
fn stall(trial: &Trial) -> f64 {
    let longest = || frames(trial).map(|frames| frames.latency.max()).fold(0.0, f64::max);
    largest(trial, "stall_ns").unwrap_or_else(longest)
}

fn over_time(trial: &Trial) -> Vec<(f64, f64)> {
    let longest = frames(trial).map(|frames| frames.seconds.len()).max().unwrap_or(0);
    let second = |number: usize| {
        let worst = frames(trial).filter_map(|frames| frames.seconds.get(number)).max().copied().unwrap_or(0);
        (trial.at + number as f64, worst as f64 / MS)
    };
    // A second without frames has no latency: the one that held them up is told where it was planned.
    (0..longest).map(second).filter(|(_, worst)| *worst > 0.0).collect()
}

/// The longest of the trials' worst frames, or the last second of them where a limit was broken.
fn worst<'a>(all: impl Iterator<Item = &'a Frames>) -> Vec<Frame> {
    let mut found: Vec<(u64, Frame)> = Vec::new();
    for frames in all {
        if !frames.last.is_empty() {
            return frames.last.clone();
        }
        let latency = |frame: &Frame| frame.latency(&frames.schedule).unwrap_or(0);
        found.extend(frames.worst.iter().map(|frame| (latency(frame), *frame)));
    }
    found.sort_by_key(|(latency, _)| std::cmp::Reverse(*latency));
    found.into_iter().take(WORST).map(|(_, frame)| frame).collect()
}

/// The frame rates of a task whose frames follow each other.
fn rates(frames: &Frames, response: &Histogram) -> Option<FrameRates> {
    let schedule = &frames.schedule;
    if schedule.period > 0 || schedule.deadline > 0 || schedule.latency != Kind::Response || response.count() == 0 {
        return None;
    }
    let low = |share: f64| response.carries(1.0 - share).then(|| 1e9 / slowest(response, share));
    Some(FrameRates { all: 1e9 / response.mean(), low_1: low(0.01), low_01: low(0.001) })
}

/// The requests of a server, summed over copies; the interval is one of trials.
fn requests(measured: &[&Trial]) -> Option<Requests> {
    let sum = |trial: &&Trial, name: &str| -> Option<f64> {
        trial.copies.iter().map(|copy| copy.values.get(name).map(|value| value.0)).sum()
    };
    let answered: Vec<f64> = measured.iter().filter_map(|trial| sum(trial, "requests")).collect();
    let offered = sum(measured.first()?, "offered");
    (!answered.is_empty()).then(|| Requests { offered, answered: mean_interval(&answered) })
}

/// The mean in ns of the slowest share of frames.
fn slowest(response: &Histogram, share: f64) -> f64 {
    let wanted = (share * response.count() as f64).floor().max(1.0);
    let counts: Vec<(u64, u64)> = response.counts().collect();
    let (mut sum, mut left) = (0.0, wanted);
    for (ns, count) in counts.into_iter().rev() {
        let taken = f64::min(left, count as f64);
        sum += taken * ns as f64;
        left -= taken;
    }
    sum / wanted
}

fn attribution(measured: &[&Trial], window: f64) -> Attribution {
    let mean = |of: &dyn Fn(&Trial) -> Option<f64>| {
        let values: Vec<f64> = measured.iter().filter_map(|trial| of(trial)).collect();
        (!values.is_empty()).then(|| stats::mean(values))
    };
    let used = |of: fn(&journal::Usage) -> u64| {
        mean(&|trial| Some(trial.copies.iter().filter_map(|copy| copy.usage.as_ref()).map(of).sum::<u64>() as f64))
            .unwrap_or(0.0)
    };
    let window = window.max(1e-9);
    Attribution {
        runqueue_wait_ms: mean(&|trial| Some(value_of(trial, "runqueue_wait_ns")? / MS)).map(|ms| ms / window),
        steal_ms: mean(&|trial| Some(trial.noise.as_ref()?.steal_s? * 1e3)).map(|ms| ms / window),
        migrations: mean(&|trial| value_of(trial, "migrations")),
        minor_faults: used(|usage| usage.minor_faults),
        major_faults: used(|usage| usage.major_faults),
        involuntary_switches: used(|usage| usage.involuntary),
    }
}

fn figures(trial: &Trial) -> TrialFigures {
    let histogram = judged(trial);
    TrialFigures {
        block: trial.block,
        p50: histogram.quantile(0.5) / MS,
        p99: histogram.carries(0.99).then(|| histogram.quantile(0.99) / MS),
        met: frames(trial).any(|frames| frames.schedule.deadline > 0).then(|| met(trial)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Frame, Recorder, Schedule};

    /// Frames of these lengths in ms, one after the other.
    fn game(lengths: &[u64]) -> Frames {
        let planned = lengths.len() as u64;
        let mut recorder = Recorder::new(Schedule { planned, latency: Kind::Response, ..Schedule::default() });
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
        let rates = rates(&frames, &frames.response).unwrap();
        assert!((rates.all - 1010.0 / 10.5).abs() < 0.1, "{rates:?}");
        assert!((rates.low_1.unwrap() - 20.0).abs() < 0.1 && rates.low_01.is_none());
        let few = game(&[10; 999]);
        assert!(super::rates(&few, &few.response).unwrap().low_1.is_none(), "nine frames have no hundredth");
    }

    #[test]
    fn events_that_are_never_answered_are_omitted_ones() {
        let schedule = Schedule { planned: 3, deadline: 5, latency: Kind::Response, ..Schedule::default() };
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
