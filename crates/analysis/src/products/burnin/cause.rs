//! Why the clock fell, as far as the machine reports it: heat, a power limit, or no evidence.
//!
//! Direct evidence comes first: throttle counters that rose, the kernel's own brakes, a processor
//! at its limit of temperature, a package at its limit of power. Only without any of these does a
//! package that draws less power although it is cool count as evidence of a power limit.

use super::is_under_load;
use journal::{Sample, SensorKind, SensorLimits};
use stats::median;

/// Distance in °C from its limit within which a processor is held there.
const NEAR_LIMIT_CELSIUS: f64 = 5.0;

/// Distance in °C from its limit beyond which a processor is certainly not hot.
const COOL_CELSIUS: f64 = 3.0 * NEAR_LIMIT_CELSIUS;

/// Distance from its limit, as a share, within which power is held there.
const NEAR_LIMIT_SHARE: f64 = 0.03;

/// Share of the power before the fall below which a package draws less after it.
const LESS_POWER_SHARE: f64 = 0.95;

/// The kind of a cause without evidence.
pub const UNKNOWN: &str = "unknown";

/// Counters that are evidence of heat, with their words in reports.
const HEAT_COUNTERS: [(&str, &str); 2] = [
    ("throttle.core", "the cores' throttle counters"),
    ("throttle.package", "the package's throttle counter"),
];

/// Counters that are evidence of a power limit, with their words in reports.
const POWER_COUNTERS: [(&str, &str); 2] = [
    ("power_limit.core", "the cores' power limit counters"),
    ("power_limit.package", "the package's power limit counter"),
];

/// The evidence for heat, and for a power limit, each in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// Evidence of heat.
    pub thermal: Vec<String>,
    /// Evidence of a power limit.
    pub power: Vec<String>,
    /// True if the machine has any sensor that could give evidence.
    pub has_sensors: bool,
}

impl Cause {
    /// Looks for evidence while the machine worked, which it did until `worked_until`; the clock
    /// fell at `fell_at`. Both are in seconds since the work began.
    pub(super) fn new(
        samples: &[Sample],
        limits: &SensorLimits,
        fell_at: f64,
        worked_until: f64,
    ) -> Cause {
        let load: Vec<&Sample> =
            samples.iter().filter(|sample| is_under_load(sample.at, worked_until)).collect();
        let fallen: Vec<&Sample> =
            load.iter().copied().filter(|sample| sample.at > fell_at).collect();

        let mut cause = Cause {
            has_sensors: load.iter().any(|sample| can_give_evidence(sample)),
            ..Cause::default()
        };
        cause.thermal.extend(counter_rises(&load, &HEAT_COUNTERS));
        cause.thermal.extend(kernel_brakes(&load));
        cause.thermal.extend(temperature_at_limit(&fallen, limits));
        cause.power.extend(counter_rises(&load, &POWER_COUNTERS));
        cause.power.extend(power_at_limit(&fallen, limits));
        if cause.thermal.is_empty() && cause.power.is_empty() {
            cause.power.extend(power_drop(&load, fell_at, limits));
        }
        cause
    }

    /// `thermal`, `power`, `thermal and power` or `unknown`.
    pub fn kind(&self) -> &'static str {
        match (self.thermal.is_empty(), self.power.is_empty()) {
            (false, true) => "thermal",
            (true, false) => "power",
            (false, false) => "thermal and power",
            (true, true) => UNKNOWN,
        }
    }

    /// The cause with its evidence, or why it is unknown, as a sentence.
    pub fn sentence(&self, is_virtual: bool) -> String {
        let evidence: Vec<&str> =
            self.thermal.iter().chain(&self.power).map(String::as_str).collect();
        let evidence = evidence.join("; ");
        match self.kind() {
            "thermal" => format!("The cause is heat: {evidence}."),
            "power" => format!("The cause is a power limit: {evidence}."),
            "thermal and power" => format!("The causes are heat and a power limit: {evidence}."),
            _ if is_virtual => {
                "The cause is unknown: this is a virtual machine, and its host may be hot, \
                 power-limited or busy."
                    .to_owned()
            }
            _ if self.has_sensors => {
                "The cause is unknown: no sensor was near its limit.".to_owned()
            }
            _ => "The cause is unknown: this machine has no sensors for it.".to_owned(),
        }
    }
}

/// True if a sample has readings other than counts of memory errors, which no clock depends on.
fn can_give_evidence(sample: &Sample) -> bool {
    let sensors = &sample.sensors;
    let mut counters = sensors.count.keys();
    !sensors.temperature.is_empty()
        || !sensors.power.is_empty()
        || counters.any(|name| SensorKind::from_name(name) != SensorKind::MemoryErrors)
}

/// The increase of a counter from the first reading to the last; `None` if there are fewer
/// than two.
pub(super) fn counter_rise(samples: &[&Sample], name: &str) -> Option<u64> {
    let mut counts = samples.iter().filter_map(|sample| sample.sensors.count.get(name));
    let first = counts.next()?;
    let last = counts.next_back()?;
    Some(last.saturating_sub(*first))
}

/// The counters that rose, in words.
fn counter_rises(load: &[&Sample], counters: &[(&str, &str)]) -> Vec<String> {
    let mut evidence = Vec::new();
    for (name, words) in counters {
        if let Some(rise) = counter_rise(load, name).filter(|rise| *rise > 0) {
            evidence.push(format!("{words} rose by {rise}"));
        }
    }
    evidence
}

/// The kernel's own brakes on processors that were off at first and went on, in words.
fn kernel_brakes(load: &[&Sample]) -> Vec<String> {
    let Some(first) = load.first() else {
        return Vec::new();
    };
    let mut evidence = Vec::new();
    for (name, state) in &first.sensors.cooling {
        if *state != 0 || !is_processor_brake(name) {
            continue;
        }
        let states = load.iter().filter_map(|sample| sample.sensors.cooling.get(name));
        if let Some(highest) = states.max().filter(|highest| **highest > 0) {
            evidence.push(format!("the kernel's brake '{name}' went to {highest}"));
        }
    }
    evidence
}

fn is_processor_brake(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("processor") || name.contains("cpu") || name.contains("powerclamp")
}

/// The processor's temperature sensors with their limits in °C.
fn processor_limits(limits: &SensorLimits) -> impl Iterator<Item = (&String, &f64)> {
    let limits = limits.temperature.iter();
    limits.filter(|(name, _)| SensorKind::from_name(name) == SensorKind::Processor)
}

/// The highest reading of a temperature sensor; −∞ without any.
fn highest_celsius(samples: &[&Sample], sensor: &str) -> f64 {
    let readings = samples.iter().filter_map(|sample| sample.sensors.temperature.get(sensor));
    readings.copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The processor's sensor that came nearest to its limit, if any came near, in words.
fn temperature_at_limit(fallen: &[&Sample], limits: &SensorLimits) -> Option<String> {
    let near = processor_limits(limits)
        .map(|(name, limit)| (name, highest_celsius(fallen, name), limit))
        .filter(|(_, highest, limit)| *highest >= **limit - NEAR_LIMIT_CELSIUS);
    let (name, highest, limit) = near.max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)))?;
    Some(format!("{name} reached {highest:.0} °C; its limit is {limit:.0} °C"))
}

/// The first domain whose power after the fall is at its long-term limit, in words, if any is.
fn power_at_limit(fallen: &[&Sample], limits: &SensorLimits) -> Option<String> {
    for (name, limit) in &limits.power {
        let Some(watts) = median_watts(fallen, name) else { continue };
        if (watts / limit - 1.0).abs() <= NEAR_LIMIT_SHARE {
            return Some(format!("{name} draws {watts:.0} W; its long-term limit is {limit:.0} W"));
        }
    }
    None
}

/// A fall of the first package's power when the clock fell, in words, if no processor was hot
/// afterwards: then a power limit is likely.
fn power_drop(load: &[&Sample], fell_at: f64, limits: &SensorLimits) -> Option<String> {
    let (before, after): (Vec<&Sample>, Vec<&Sample>) =
        load.iter().copied().partition(|sample| sample.at <= fell_at);
    let domains = load.iter().flat_map(|sample| sample.sensors.power.keys());
    let package = domains.filter(|name| name.starts_with("package")).min()?;
    let watts_before = median_watts(&before, package)?;
    let watts_after = median_watts(&after, package)?;

    // A sensor needs a limit and readings: without readings the distance is infinite.
    let below_limits: Vec<f64> = processor_limits(limits)
        .map(|(sensor, limit)| limit - highest_celsius(&after, sensor))
        .filter(|celsius| celsius.is_finite())
        .collect();
    let is_cool =
        !below_limits.is_empty() && below_limits.iter().all(|celsius| *celsius > COOL_CELSIUS);
    let draws_less = watts_after < LESS_POWER_SHARE * watts_before;
    (is_cool && draws_less).then(|| {
        format!(
            "{package} went from {watts_before:.0} W to {watts_after:.0} W without being hot: \
             probably a power limit"
        )
    })
}

fn median_watts(samples: &[&Sample], name: &str) -> Option<f64> {
    let readings = samples.iter().filter_map(|sample| sample.sensors.power.get(name));
    let watts: Vec<f64> = readings.copied().collect();
    (!watts.is_empty()).then(|| median(&watts))
}
