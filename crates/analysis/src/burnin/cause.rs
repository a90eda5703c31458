//! Why the clock fell, if the machine says: heat, a limit of power, or nothing to go by.

use journal::{Sample, SensorKind, SensorLimits};
use stats::median;

/// A processor this near to its limit, in °C, is held there.
const NEAR: f64 = 5.0;

/// Power this near to its limit, as a share, is held there.
const AT_LIMIT: f64 = 0.03;

/// Where nothing speaks for anything.
pub const UNKNOWN: &str = "unknown";

/// The evidence for heat, and for a limit of power.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// Evidence of heat.
    pub thermal: Vec<String>,
    /// Evidence of a limit of power.
    pub power: Vec<String>,
    /// True if there is any sensor to go by.
    pub has_sensors: bool,
}

impl Cause {
    /// Looks for evidence between the beginning of the work and its end; the fall was at `fell`.
    pub(super) fn new(samples: &[Sample], limits: &SensorLimits, fell: f64, worked: f64) -> Cause {
        let load: Vec<&Sample> = samples.iter().filter(|sample| sample.at <= worked + 0.5).collect();
        let fallen: Vec<&Sample> = load.iter().copied().filter(|sample| sample.at > fell).collect();
        let has = |sample: &&Sample| {
            let sensors = &sample.sensors;
            !(sensors.temperature.is_empty()
                && sensors.power.is_empty()
                && sensors.count.keys().all(|name| SensorKind::from_name(name) == SensorKind::MemoryErrors))
        };
        let mut cause = Cause { has_sensors: load.iter().any(has), ..Cause::default() };
        for (name, words, thermal) in [
            ("throttle.core", "the cores' throttle counters", true),
            ("throttle.package", "the package's throttle counter", true),
            ("power_limit.core", "the cores' power limit counters", false),
            ("power_limit.package", "the package's power limit counter", false),
        ] {
            if let Some(rise) = rise(&load, name).filter(|rise| *rise > 0) {
                let list = if thermal { &mut cause.thermal } else { &mut cause.power };
                list.push(format!("{words} rose by {rise}"));
            }
        }
        cause.thermal.extend(brakes(&load));
        cause.thermal.extend(near_limit(&fallen, limits));
        cause.power.extend(at_limit(&fallen, limits));
        if cause.thermal.is_empty() && cause.power.is_empty() {
            cause.power.extend(less_power(&load, fell, limits));
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

    /// Returns a sentence.
    pub fn sentence(&self, is_virtual: bool) -> String {
        let evidence: Vec<&str> = self.thermal.iter().chain(&self.power).map(String::as_str).collect();
        let evidence = evidence.join("; ");
        match self.kind() {
            "thermal" => format!("The cause is heat: {evidence}."),
            "power" => format!("The cause is a power limit: {evidence}."),
            "thermal and power" => format!("The causes are heat and a power limit: {evidence}."),
            _ if is_virtual => {
                "The cause is unknown: this is a virtual machine, and its host may be hot, power-limited or busy."
                    .to_owned()
            }
            _ if self.has_sensors => "The cause is unknown: no sensor was near its limit.".to_owned(),
            _ => "The cause is unknown: this machine has no sensors for it.".to_owned(),
        }
    }
}

/// By how much a counter rose.
pub(super) fn rise(samples: &[&Sample], name: &str) -> Option<u64> {
    let mut counts = samples.iter().filter_map(|sample| sample.sensors.count.get(name));
    let first = counts.next()?;
    Some(counts.next_back()?.saturating_sub(*first))
}

/// The kernel's own brakes on processors, where they were off at first.
fn brakes(load: &[&Sample]) -> Vec<String> {
    let Some(first) = load.first() else { return Vec::new() };
    let is_brake = |name: &str| {
        let folded = name.to_lowercase();
        folded.contains("processor") || folded.contains("cpu") || folded.contains("powerclamp")
    };
    let off = first.sensors.cooling.iter().filter(|(name, state)| is_brake(name) && **state == 0);
    let on = off.filter_map(|(name, _)| {
        let most = load.iter().filter_map(|sample| sample.sensors.cooling.get(name)).max()?;
        (*most > 0).then(|| format!("the kernel's brake '{name}' went to {most}"))
    });
    on.collect()
}

/// The processor's temperatures and their limits.
fn processor(limits: &SensorLimits) -> impl Iterator<Item = (&String, &f64)> {
    limits.temperature.iter().filter(|(name, _)| SensorKind::from_name(name) == SensorKind::Processor)
}

/// The processor's hottest sensor, where it stands at its limit.
fn near_limit(fallen: &[&Sample], limits: &SensorLimits) -> Option<String> {
    let near = processor(limits).filter_map(|(name, limit)| {
        let values: Vec<f64> =
            fallen.iter().filter_map(|sample| sample.sensors.temperature.get(name).copied()).collect();
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (highest >= limit - NEAR).then_some((name, highest, limit))
    });
    let (name, highest, limit) = near.max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)))?;
    Some(format!("{name} reached {highest:.0} °C; its limit is {limit:.0} °C"))
}

/// A domain whose power stands at what it may take in the long run.
fn at_limit(fallen: &[&Sample], limits: &SensorLimits) -> Option<String> {
    limits.power.iter().find_map(|(name, limit)| {
        let watts = power(fallen, name)?;
        let held = (watts / limit - 1.0).abs() <= AT_LIMIT;
        held.then(|| format!("{name} draws {watts:.0} W; its long-term limit is {limit:.0} W"))
    })
}

/// A package that takes less than it did at first although it is not hot: something holds it down.
fn less_power(load: &[&Sample], fell: f64, limits: &SensorLimits) -> Option<String> {
    let (before, after): (Vec<&Sample>, Vec<&Sample>) = load.iter().copied().partition(|sample| sample.at <= fell);
    let names = load.iter().flat_map(|sample| sample.sensors.power.keys());
    let name = names.filter(|name| name.starts_with("package")).min()?;
    let (first, then) = (power(&before, name)?, power(&after, name)?);
    // Without a limit to hold it against, a temperature says nothing.
    let cool = processor(limits).any(|(sensor, limit)| {
        let hottest = after.iter().filter_map(|sample| sample.sensors.temperature.get(sensor)).copied();
        hottest.fold(f64::NEG_INFINITY, f64::max) < limit - 3.0 * NEAR
    });
    (cool && then < 0.95 * first)
        .then(|| format!("{name} went from {first:.0} W to {then:.0} W without being hot: probably a power limit"))
}

fn power(samples: &[&Sample], name: &str) -> Option<f64> {
    let values: Vec<f64> = samples.iter().filter_map(|sample| sample.sensors.power.get(name).copied()).collect();
    (!values.is_empty()).then(|| median(&values))
}
