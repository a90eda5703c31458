//! How the clock holds under load.
//!
//! 1. The threads' beats become a series of the clock and one of the rate for each thread
//!    ([`Threads`]), and these become one of each for the machine ([`combine`]).
//! 2. The *initial* level, of the first seconds, is compared with the *sustained* one, of the last
//!    quarter ([`held_levels`]).
//! 3. Falls of the clock are looked for, or of the throughput where no clock was measured
//!    ([`falls_of`]), and for each the machine's own signs of the cause ([`Cause`]).
//! 4. [`Cooling::verdict`] puts it in words.

use std::collections::BTreeMap;

use super::cause::{self, Cause};
use super::trend::{Falls, Series, first_falls, median_level, noise_of_values, running_median};
use super::{SUSTAINED_FROM_SHARE, faults_counted, is_under_load, sensors};
use journal::{self, Beat, Journal, Sample};
use stats::{Estimate, mean};

/// Seconds of the work that are its beginning: five, after the first.
const BEGINNING_SECONDS: std::ops::Range<f64> = 1.5..6.5;

/// Fewest values of a beginning.
const MIN_BEGINNING_VALUES: usize = 3;

/// Smallest share of its initial level that the clock of a machine without throttling keeps; and
/// the clock of a single core, of which there are many.
const MIN_KEPT_SHARE: f64 = 0.97;
const MIN_KEPT_SHARE_OF_CORE: f64 = 0.95;

/// Steal, in per cent, above which a second says nothing of the throughput.
const MAX_STOLEN_PERCENT: f64 = 1.0;

/// Seconds around a sample with steal whose throughput is left out: the second that a beat reports
/// and the one that a sample reports may overlap by half.
const STOLEN_SECONDS: f64 = 1.0;

/// Shortest time between two beats that gives a rate, in seconds. After a stop, beats come at once.
const MIN_BEAT_SECONDS: f64 = 0.2;

/// CPUs that a sentence names.
const MAX_NAMED_CPUS: usize = 8;

/// The findings of a cooling test. All times are in seconds since the work began.
#[derive(Debug, Clone, Default)]
pub struct Cooling {
    /// The clock in GHz, the mean of all threads.
    pub clock: Option<Held>,
    /// Pieces of work per second, of all threads.
    pub throughput: Option<Held>,
    /// The fall of the clock, for good or with a cause that the machine reports; where no clock was
    /// measured, of the throughput.
    pub fall: Option<Fall>,
    /// The time at which it fell for a while and came back.
    pub dip: Option<f64>,
    /// The time at which the throughput fell although the clock did not.
    pub slowed: Option<f64>,
    /// Seconds of rest until the clock was back.
    pub recovery: Option<f64>,
    /// Each thread's core.
    pub cores: Vec<Core>,
    /// The number of wrong results.
    pub wrong: u64,
    /// The share of time that the hypervisor took from the work, in per cent.
    pub steal: Option<f64>,
    /// The clock over time, with the rest after the work.
    pub clock_series: Series,
    /// Pieces of work per second over time.
    pub throughput_series: Series,
}

/// Two levels of something that should hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The level of the first seconds.
    pub initial: Estimate,
    /// The level of the last quarter.
    pub sustained: Estimate,
    /// Sustained over initial.
    pub ratio: Estimate,
    /// The lowest point of its trend.
    pub lowest: f64,
}

/// A fall of the clock.
#[derive(Debug, Clone)]
pub struct Fall {
    /// Seconds since the work began.
    pub at: f64,
    /// The machine's own signs of the reason.
    pub cause: Cause,
}

/// The processor of one thread, which stays on it.
#[derive(Debug, Clone)]
pub struct Core {
    /// The number of the thread.
    pub thread: u32,
    /// The number of its processor.
    pub cpu: u32,
    /// Its clock.
    pub clock: Option<Held>,
    /// The time at which its clock fell.
    pub fell: Option<f64>,
    /// The number of its wrong results.
    pub wrong: u64,
}

impl Cooling {
    /// The findings of a journal whose work ended after `worked` seconds.
    pub(super) fn new(journal: &Journal, asked: &journal::BurnIn, worked: f64) -> Cooling {
        let samples = &journal.samples;
        let threads = Threads::new(samples, worked);
        let clock_series = combine(&threads.clocks, |levels| mean(levels));
        let throughput_series = combine(&threads.rates, |levels| levels.iter().sum());
        let clocks = under_load(&clock_series, worked);
        let rates = under_load(&throughput_series, worked);
        let undisturbed_rates = without_steal(&rates, samples);

        let has_clock = !clocks.is_empty();
        let falls = falls_of(if has_clock { &clocks } else { &undisturbed_rates }, MIN_KEPT_SHARE);
        let explain = |at: f64| Fall { at, cause: Cause::new(samples, &asked.limits, at, worked) };
        // A dip that the machine itself explains as throttling is a fall, although it ended.
        let explained_dip =
            falls.dip.map(explain).filter(|fall| fall.cause.kind() != cause::UNKNOWN);
        let fall = explained_dip.or_else(|| falls.lasting.map(explain));

        let mut slowed = None;
        if fall.is_none() && has_clock {
            slowed = falls_of(&undisturbed_rates, MIN_KEPT_SHARE).lasting;
        }
        let recovery = if fall.is_some() { recovery(&clock_series, worked) } else { None };
        Cooling {
            clock: held_levels(&clocks, worked),
            throughput: held_levels(&rates, worked),
            dip: falls.dip.filter(|_| fall.is_none()),
            fall,
            slowed,
            recovery,
            cores: threads.cores(worked),
            wrong: threads.wrong_results().max(faults_counted(journal)),
            steal: sensors::median_of(samples, worked, |sample| sample.sensors.steal),
            clock_series,
            throughput_series,
        }
    }

    /// What there is to say first.
    pub(super) fn verdict(&self, journal: &Journal) -> String {
        let mut text = self.describe_level(journal);
        if let Some(at) = self.dip {
            text += &format!(" After {at:.0} s it dipped for a while and recovered.");
        }
        text += &self.describe_fallen_cores();
        if let Some(at) = self.slowed {
            text += &format!(
                " After {at:.0} s the throughput fell although the clock did not: something else \
                 held the work up, such as memory, another program or guest, or a kernel that \
                 injects idle time."
            );
        }
        if self.wrong > 0 {
            let wrong = words::count(self.wrong, "wrong result");
            text = format!("{wrong}: this machine computes wrong results under load. {text}");
        }
        text
    }

    /// Whether the clock, or else the throughput, held.
    fn describe_level(&self, journal: &Journal) -> String {
        let Some(held) = self.clock.as_ref().or(self.throughput.as_ref()) else {
            return "Too short to judge: later seconds are compared with the first ones."
                .to_owned();
        };
        let kept = 100.0 * held.ratio.value;
        let has_clock = self.clock.is_some();

        if let Some(Fall { at, cause }) = &self.fall {
            let is_virtual = is_virtual(journal);
            // What the clock of a virtual machine depends on, only its host knows.
            let lead = if is_virtual && cause.kind() == cause::UNKNOWN {
                "After"
            } else {
                "It throttled: after"
            };
            let what = if has_clock { "clock" } else { "throughput" };
            let why = cause.sentence(is_virtual);
            return format!(
                "{lead} {at:.0} s the {what} fell; in the last quarter it was {kept:.1} % of the \
                 initial one. {why}"
            );
        }
        if has_clock {
            return format!(
                "No throttling: in the last quarter the clock was {kept:.1} % of the initial one."
            );
        }
        format!(
            "No throttling seen: the clock could not be measured; in the last quarter the \
             throughput was {kept:.1} % of the initial one."
        )
    }

    /// The cores whose clock fell although the machine's did not; empty if there are none.
    fn describe_fallen_cores(&self) -> String {
        let fallen: Vec<&Core> = self.cores.iter().filter(|core| core.fell.is_some()).collect();
        if self.fall.is_some() || fallen.is_empty() {
            return String::new();
        }
        let named = fallen.iter().take(MAX_NAMED_CPUS);
        let cpus: Vec<String> = named.map(|core| core.cpu.to_string()).collect();
        let more = if fallen.len() > MAX_NAMED_CPUS { ", …" } else { "" };
        format!(" Only the clock of CPU {}{more} fell.", cpus.join(", "))
    }
}

/// What the threads reported, second by second.
#[derive(Default)]
struct Threads {
    /// The clock of each thread in GHz.
    clocks: BTreeMap<u32, Series>,
    /// Each thread's pieces of work per second.
    rates: BTreeMap<u32, Series>,
    last_beats: BTreeMap<u32, Beat>,
}

impl Threads {
    fn new(samples: &[Sample], worked: f64) -> Threads {
        let mut threads = Threads::default();
        for beat in samples.iter().flat_map(|sample| &sample.beats) {
            let before = threads.last_beats.insert(beat.thread, *beat);
            if beat.clock > 0.0 {
                threads.clocks.entry(beat.thread).or_default().push((beat.at, beat.clock));
            }
            let seconds = beat.at - before.map_or(0.0, |before| before.at);
            if is_under_load(beat.at, worked) && seconds > MIN_BEAT_SECONDS {
                let rate = beat.count as f64 / seconds;
                threads.rates.entry(beat.thread).or_default().push((beat.at, rate));
            }
        }
        threads
    }

    fn wrong_results(&self) -> u64 {
        self.last_beats.values().fold(0, |sum: u64, beat| sum.saturating_add(beat.wrong))
    }

    fn cores(&self, worked: f64) -> Vec<Core> {
        let mut cores = Vec::new();
        for (thread, last) in &self.last_beats {
            let clocks = self.clocks.get(thread).map_or(&[][..], |series| series);
            let clocks = under_load(clocks, worked);
            cores.push(Core {
                thread: *thread,
                cpu: last.cpu,
                clock: held_levels(&clocks, worked),
                fell: falls_of(&clocks, MIN_KEPT_SHARE_OF_CORE).lasting,
                wrong: last.wrong,
            });
        }
        cores
    }
}

/// The work of all threads per second, second by second, until it ended after `worked` seconds.
pub(super) fn rates(samples: &[Sample], worked: f64) -> Series {
    let series = combine(&Threads::new(samples, worked).rates, |levels| levels.iter().sum());
    under_load(&series, worked)
}

/// The values of all threads in one second.
#[derive(Default)]
struct Second {
    /// The sum of the times.
    at: f64,
    /// The sum of the shares of their beginnings that the threads kept.
    kept: f64,
    /// The number of values: one of each thread that reported, more of one whose beats came late
    /// and at once.
    values: f64,
}

/// The series of all threads together: in each second the mean share that the threads kept of their
/// own beginnings, times what `total_of` makes of the beginnings: their mean for a clock, their sum
/// for a throughput. So neither falls in a second in which a thread reports nothing. A thread
/// without a beginning is left out altogether.
fn combine(threads: &BTreeMap<u32, Series>, total_of: impl Fn(&[f64]) -> f64) -> Series {
    let mut beginnings = Vec::new();
    let mut seconds: BTreeMap<i64, Second> = BTreeMap::new();
    for series in threads.values() {
        let beginning = initial_level(series).map(|level| level.value).filter(|level| *level > 0.0);
        let Some(beginning) = beginning else { continue };
        beginnings.push(beginning);
        for (at, value) in series {
            // A run of centuries has fewer seconds than an i64 can count.
            let second = seconds.entry(at.round() as i64).or_default();
            second.at += at;
            second.kept += value / beginning;
            second.values += 1.0;
        }
    }
    if beginnings.is_empty() {
        return Vec::new();
    }

    let total = total_of(&beginnings);
    let points = seconds.values().map(|second| {
        let mean_kept = second.kept / second.values;
        (second.at / second.values, mean_kept * total)
    });
    points.collect()
}

/// The part of a series until the work ended.
fn under_load(series: &[(f64, f64)], worked: f64) -> Series {
    series.iter().copied().filter(|point| is_under_load(point.0, worked)).collect()
}

/// The initial level; `None` if too few of the first seconds were measured.
fn initial_level(series: &[(f64, f64)]) -> Option<Estimate> {
    let points = series.iter().filter(|point| BEGINNING_SECONDS.contains(&point.0));
    let values: Vec<f64> = points.map(|point| point.1).collect();
    if values.len() < MIN_BEGINNING_VALUES {
        return None;
    }
    median_level(&values, noise_of_values(series))
}

/// The first falls below `share` of the initial level; none if that is not known.
fn falls_of(series: &[(f64, f64)], share: f64) -> Falls {
    let Some(initial) = initial_level(series) else { return Falls::default() };
    first_falls(series, &initial, share)
}

/// The initial and the sustained level, and the lowest; `None` if one was not measured.
fn held_levels(series: &[(f64, f64)], worked: f64) -> Option<Held> {
    let initial = initial_level(series)?;
    let last_quarter = series.iter().filter(|point| point.0 > SUSTAINED_FROM_SHARE * worked);
    let values: Vec<f64> = last_quarter.map(|point| point.1).collect();
    let sustained = median_level(&values, noise_of_values(series))?;

    let trend = running_median(series);
    let lowest = trend.into_iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    Some(Held { initial, sustained, ratio: sustained.over(&initial), lowest })
}

/// The points of a series, without those that lie within [`STOLEN_SECONDS`] of a sample with more
/// steal than [`MAX_STOLEN_PERCENT`].
fn without_steal(series: &[(f64, f64)], samples: &[Sample]) -> Series {
    let stolen: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.sensors.steal.is_some_and(|steal| steal > MAX_STOLEN_PERCENT))
        .map(|sample| sample.at)
        .collect();
    let is_stolen = |at: f64| {
        let first = stolen.partition_point(|moment| *moment < at - STOLEN_SECONDS);
        stolen.get(first).is_some_and(|moment| *moment <= at + STOLEN_SECONDS)
    };
    series.iter().copied().filter(|point| !is_stolen(point.0)).collect()
}

/// Seconds after the work until the clock was back at its initial level.
fn recovery(series: &[(f64, f64)], worked: f64) -> Option<f64> {
    let initial = initial_level(series)?.value;
    let rest: Series =
        series.iter().copied().filter(|point| !is_under_load(point.0, worked)).collect();
    let trend = running_median(&rest);
    let back = trend.into_iter().find(|point| point.1 >= MIN_KEPT_SHARE * initial)?;
    Some((back.0 - worked).max(0.0))
}

fn is_virtual(journal: &Journal) -> bool {
    journal.facts.get("system.virtualisation").is_some()
}
