//! How the clock holds under load.

use std::collections::BTreeMap;

use super::cause::{self, Cause};
use super::trend::{Series, fall, level, noise, trend};
use super::{counted, sensors};
use journal::{self, Beat, Journal, Sample};
use stats::{Estimate, mean};

/// The beginning: five seconds after the first.
const BEGINNING: std::ops::Range<f64> = 1.5..6.5;

/// The last part of the work is what it sustains.
const SUSTAINED: f64 = 0.75;

/// The shares of its first speed that a machine keeps which does not throttle, and each core where there are many.
const KEEPS: f64 = 0.97;
const CORE_KEEPS: f64 = 0.95;

/// Seconds in which the hypervisor took more than this, in per cent, say nothing of the throughput.
const STOLEN: f64 = 1.0;

/// The findings of a cooling test.
#[derive(Debug, Clone, Default)]
pub struct Cooling {
    /// The clock in GHz, the mean of all threads.
    pub clock: Option<Held>,
    /// Pieces of work per second, of all threads.
    pub throughput: Option<Held>,
    /// When and why the clock fell, for good or by what the machine reports; where no clock was measured, the
    /// throughput.
    pub fall: Option<Fall>,
    /// When it fell for a while and came back.
    pub dip: Option<f64>,
    /// When the throughput fell although the clock did not.
    pub slowed: Option<f64>,
    /// Seconds of rest until the clock was back.
    pub recovery: Option<f64>,
    /// Each thread's own.
    pub cores: Vec<Core>,
    /// Wrong results.
    pub wrong: u64,
    /// The share of time that the hypervisor took meanwhile, in per cent.
    pub steal: Option<f64>,
    /// The clock over time, rest and all, and the throughput.
    pub clock_series: Series,
    /// Pieces of work per second over time.
    pub throughput_series: Series,
}

/// Something that should hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// In the first five seconds after the first.
    pub initial: Estimate,
    /// In the last quarter.
    pub sustained: Estimate,
    /// Sustained over initial.
    pub ratio: Estimate,
    /// The lowest that its trend came to.
    pub lowest: f64,
}

/// A fall of the clock.
#[derive(Debug, Clone)]
pub struct Fall {
    /// When, in seconds since the work began.
    pub at: f64,
    /// The machine's own signs of the reason.
    pub cause: Cause,
}

/// One thread, which stays on its processor.
#[derive(Debug, Clone)]
pub struct Core {
    /// The thread.
    pub thread: u32,
    /// Its processor.
    pub cpu: u32,
    /// Its clock.
    pub clock: Option<Held>,
    /// When its clock fell.
    pub fell: Option<f64>,
    /// Its wrong results.
    pub wrong: u64,
}

/// The threads' counts, second by second.
struct Threads {
    clocks: BTreeMap<u32, Series>,
    rates: BTreeMap<u32, Series>,
    last: BTreeMap<u32, Beat>,
}

impl Cooling {
    /// Computes it of a journal whose work ended after `worked` seconds.
    pub(super) fn new(journal: &Journal, asked: &journal::BurnIn, worked: f64) -> Cooling {
        let samples = &journal.samples;
        let threads = Threads::new(samples, worked);
        let clock_series = together(&threads.clocks, |levels| mean(levels));
        let throughput_series = together(&threads.rates, |levels| levels.iter().sum());
        let (clocks, rates) = (under_load(&clock_series, worked), under_load(&throughput_series, worked));
        let quiet = undisturbed(&rates, samples);
        let clock = held(&clocks, worked);
        let throughput = held(&rates, worked);
        let fell = |series: &Series| beginning(series).map_or((None, None), |level| fall(series, &level, KEEPS));
        let judged = if clocks.is_empty() { &quiet } else { &clocks };
        let (lasting, dip) = fell(judged);
        let caused = |at: f64| Fall { at, cause: Cause::new(samples, &asked.limits, at, worked) };
        // What the machine says was throttling is throttling, although it ended.
        let told = dip.map(caused).filter(|fall| fall.cause.kind() != cause::UNKNOWN);
        let fall = told.or_else(|| lasting.map(caused));
        let recovery = fall.as_ref().and_then(|_| recovery(&clock_series, worked));
        Cooling {
            slowed: if fall.is_none() && !clocks.is_empty() { fell(&quiet).0 } else { None },
            dip: dip.filter(|_| fall.is_none()),
            cores: threads.cores(worked),
            wrong: threads.last.values().fold(0, |sum: u64, beat| sum.saturating_add(beat.wrong)).max(counted(journal)),
            steal: sensors::median_of(samples, worked, |sample| sample.sensors.steal),
            clock,
            throughput,
            fall,
            recovery,
            clock_series,
            throughput_series,
        }
    }

    /// Returns what there is to say first.
    pub(super) fn verdict(&self, journal: &Journal) -> String {
        let judged = self.clock.as_ref().or(self.throughput.as_ref());
        let what = if self.clock.is_some() { "clock" } else { "throughput" };
        let kept = judged.map_or(f64::NAN, |held| 100.0 * held.ratio.value);
        let mut text = match (&self.fall, what) {
            _ if judged.is_none() => "Too short to judge: later seconds are compared with the first ones.".to_owned(),
            (Some(Fall { at, cause }), what) => {
                let is_virtual = is_virtual(journal);
                // Whose clock a virtual machine's is, only its host knows.
                let lead = if is_virtual && cause.kind() == cause::UNKNOWN { "After" } else { "It throttled: after" };
                let why = cause.sentence(is_virtual);
                format!(
                    "{lead} {at:.0} s the {what} fell; in the last quarter it was {kept:.1} % of the initial one. {why}"
                )
            }
            (None, "clock") => {
                format!("No throttling: in the last quarter the clock was {kept:.1} % of the initial one.")
            }
            (None, _) => format!(
                "No throttling seen: the clock could not be measured; in the last quarter the throughput was {kept:.1} % \
                 of the initial one."
            ),
        };
        if let Some(at) = self.dip {
            text += &format!(" After {at:.0} s it dipped for a while and recovered.");
        }
        let fallen: Vec<&Core> = self.cores.iter().filter(|core| core.fell.is_some()).collect();
        if self.fall.is_none() && !fallen.is_empty() {
            let cpus: Vec<String> = fallen.iter().take(8).map(|core| core.cpu.to_string()).collect();
            let more = if fallen.len() > 8 { ", …" } else { "" };
            text += &format!(" Only the clock of CPU {}{more} fell.", cpus.join(", "));
        }
        if let Some(at) = self.slowed {
            text += &format!(
                " After {at:.0} s the throughput fell although the clock did not: something else held the work up, \
                 such as memory, another program or guest, or a kernel that injects idle time."
            );
        }
        if self.wrong > 0 {
            let wrong = words::count(self.wrong, "wrong result");
            text = format!("{wrong}: this machine computes wrong results under load. {text}");
        }
        text
    }
}

impl Threads {
    fn new(samples: &[Sample], worked: f64) -> Threads {
        let mut threads = Threads { clocks: BTreeMap::new(), rates: BTreeMap::new(), last: BTreeMap::new() };
        for beat in samples.iter().flat_map(|sample| &sample.beats) {
            let before = threads.last.insert(beat.thread, *beat).map_or(0.0, |before| before.at);
            if beat.clock > 0.0 {
                threads.clocks.entry(beat.thread).or_default().push((beat.at, beat.clock));
            }
            let passed = beat.at - before;
            // Beats that come at once after a stop tell of no time of their own.
            if beat.at <= worked + 0.5 && passed > 0.2 {
                threads.rates.entry(beat.thread).or_default().push((beat.at, beat.count as f64 / passed));
            }
        }
        threads
    }

    fn cores(&self, worked: f64) -> Vec<Core> {
        let core = |(thread, last): (&u32, &Beat)| {
            let series = under_load(self.clocks.get(thread).map_or(&[][..], |series| series), worked);
            let fell = beginning(&series).and_then(|level| fall(&series, &level, CORE_KEEPS).0);
            Core { thread: *thread, cpu: last.cpu, clock: held(&series, worked), fell, wrong: last.wrong }
        };
        self.last.iter().map(core).collect()
    }
}

/// Returns one series of all threads': in each second the mean of what each kept of its own beginning, times what the
/// beginnings come to together. So a thread that says nothing in a second does not move it.
fn together(threads: &BTreeMap<u32, Series>, join: impl Fn(&[f64]) -> f64) -> Series {
    let begun = threads.values().filter_map(|series| Some((series, beginning(series)?.value)));
    let begun: Vec<(&Series, f64)> = begun.filter(|(_, level)| *level > 0.0).collect();
    let levels: Vec<f64> = begun.iter().map(|(_, level)| *level).collect();
    if levels.is_empty() {
        return Vec::new();
    }
    let mut seconds: BTreeMap<i64, (f64, f64, f64)> = BTreeMap::new();
    for (series, level) in &begun {
        for (at, value) in *series {
            // A run of centuries has fewer seconds than an i64 can count.
            let second = seconds.entry(at.round() as i64).or_default();
            *second = (second.0 + at, second.1 + value / level, second.2 + 1.0);
        }
    }
    let whole = join(&levels);
    seconds.values().map(|(at, kept, number)| (at / number, kept / number * whole)).collect()
}

/// Returns the part of a series until the work ended.
fn under_load(series: &[(f64, f64)], worked: f64) -> Series {
    series.iter().copied().filter(|point| point.0 <= worked + 0.5).collect()
}

/// The median of the first five seconds after the first; nothing where fewer than three of them were measured.
fn beginning(series: &[(f64, f64)]) -> Option<Estimate> {
    let values = values(series, |at| BEGINNING.contains(&at));
    level(&values, noise(series)).filter(|_| values.len() >= 3)
}

fn values(series: &[(f64, f64)], is_wanted: impl Fn(f64) -> bool) -> Vec<f64> {
    series.iter().filter(|point| is_wanted(point.0)).map(|point| point.1).collect()
}

fn held(series: &[(f64, f64)], worked: f64) -> Option<Held> {
    let initial = beginning(series)?;
    let sustained = level(&values(series, |at| at > SUSTAINED * worked), noise(series))?;
    let lowest = trend(series).into_iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    Some(Held { initial, sustained, ratio: sustained.over(&initial), lowest })
}

/// Returns the points of a series that lie more than a second from any sample in which the hypervisor took more than
/// [`STOLEN`].
fn undisturbed(series: &[(f64, f64)], samples: &[Sample]) -> Series {
    let stolen = samples.iter().filter(|sample| sample.sensors.steal.is_some_and(|steal| steal > STOLEN));
    let stolen: Vec<f64> = stolen.map(|sample| sample.at).collect();
    // The second that a beat tells of and the one that a sample does may overlap by half.
    let is_quiet = |at: f64| {
        let place = stolen.partition_point(|moment| *moment < at - 1.0);
        stolen.get(place).is_none_or(|moment| *moment > at + 1.0)
    };
    series.iter().copied().filter(|point| is_quiet(point.0)).collect()
}

/// Returns how long after the work the clock was back where it began.
fn recovery(series: &[(f64, f64)], worked: f64) -> Option<f64> {
    let level = beginning(series)?.value;
    let rest: Series = series.iter().copied().filter(|point| point.0 > worked + 0.5).collect();
    let back = trend(&rest).into_iter().find(|point| point.1 >= KEEPS * level)?;
    Some((back.0 - worked).max(0.0))
}

fn is_virtual(journal: &Journal) -> bool {
    journal.facts.get("system.virtualisation").is_some()
}
