//! The readings of each sensor, and how the machine cooled down.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use journal::{BurnIn, Reading, Sample, SensorKind};
use stats::{mean, median};

/// A rise of fewer °C has no half worth timing.
const LEAST_RISE: f64 = 5.0;

/// The readings of one sensor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensor {
    /// Its name.
    pub name: String,
    /// °C, W or MHz.
    pub unit: &'static str,
    /// Before the work began.
    pub before: Option<f64>,
    /// The highest while it worked.
    pub highest: Option<f64>,
    /// The median of the work's last quarter.
    pub sustained: Option<f64>,
    /// The last that it said.
    pub end: Option<f64>,
    /// Its highest value allowed.
    pub limit: Option<f64>,
}

/// The cooling of the processor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoolDown {
    /// The sensor.
    pub sensor: String,
    /// °C before the work.
    pub before: f64,
    /// °C at the work's end.
    pub hot: f64,
    /// Seconds until half of the difference was gone; nothing where the rest was too short.
    pub half: Option<f64>,
}

/// Values by the names of sensors.
type Values = BTreeMap<String, f64>;

/// A unit, the values in it, and their limits.
type Kind<'a> = (&'static str, fn(&Reading) -> &Values, &'a Values);

/// Returns what each sensor said: temperatures, then power, then the kernel's frequency.
pub(super) fn sensors(samples: &[Sample], asked: &BurnIn, worked: f64) -> Vec<Sensor> {
    let kinds: [Kind<'_>; 2] = [
        ("°C", |reading| &reading.temperature, &asked.limits.temperature),
        ("W", |reading| &reading.power, &asked.limits.power),
    ];
    let mut found = Vec::new();
    for (unit, values, limits) in kinds {
        let names: BTreeSet<&String> = samples.iter().flat_map(|sample| values(&sample.sensors).keys()).collect();
        for name in names {
            let limit = limits.get(name).copied();
            found.push(sensor(samples, worked, name, unit, limit, |reading| values(reading).get(name).copied()));
        }
    }
    if samples.iter().any(|sample| !sample.sensors.frequency.is_empty()) {
        found.push(sensor(samples, worked, "frequency, mean of CPUs", "MHz", None, frequency));
    }
    found
}

fn sensor(
    samples: &[Sample],
    worked: f64,
    name: &str,
    unit: &'static str,
    limit: Option<f64>,
    value: impl Fn(&Reading) -> Option<f64>,
) -> Sensor {
    let load = samples.iter().filter(|sample| sample.at <= worked + 0.5);
    Sensor {
        name: name.to_owned(),
        unit,
        before: samples.first().and_then(|sample| value(&sample.sensors)),
        highest: load.filter_map(|sample| value(&sample.sensors)).max_by(f64::total_cmp),
        sustained: median_of(samples, worked, |sample| {
            Some(sample).filter(|s| s.at > 0.75 * worked).and_then(|s| value(&s.sensors))
        }),
        end: samples.iter().rev().find_map(|sample| value(&sample.sensors)),
        limit,
    }
}

/// Returns the mean frequency of the CPUs that tell one.
pub(super) fn frequency(reading: &Reading) -> Option<f64> {
    (!reading.frequency.is_empty()).then(|| mean(reading.frequency.iter().map(|(_, mhz)| mhz)))
}

/// Returns the median of a value over the samples of the work; nothing where none has it.
pub(super) fn median_of(samples: &[Sample], worked: f64, value: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
    let load = samples.iter().filter(|sample| sample.at <= worked + 0.5);
    let values: Vec<f64> = load.filter_map(value).collect();
    (!values.is_empty()).then(|| median(&values))
}

/// Returns how the sensor that rose most, the processor's before others, cooled down; nothing where none rose or there
/// was no rest.
pub(super) fn cool_down(samples: &[Sample], worked: f64) -> Option<CoolDown> {
    let rest: Vec<&Sample> = samples.iter().filter(|sample| sample.resting && sample.at > worked).collect();
    let last = samples.iter().rev().find(|sample| !sample.resting && !sample.sensors.temperature.is_empty())?;
    let first = &samples.first()?.sensors.temperature;
    let rises = last.sensors.temperature.iter().filter_map(|(name, hot)| Some((name, *first.get(name)?, *hot)));
    let (name, before, hot) = rises.filter(|(_, before, hot)| hot - before >= LEAST_RISE).max_by(|a, b| {
        let is_processor = |name: &String| SensorKind::from_name(name) == SensorKind::Processor;
        is_processor(a.0).cmp(&is_processor(b.0)).then((a.2 - a.1).total_cmp(&(b.2 - b.1)))
    })?;
    if rest.is_empty() {
        return None;
    }
    let middle = f64::midpoint(before, hot);
    let mut known = (worked, hot);
    let mut half = None;
    for (at, celsius) in rest.iter().filter_map(|sample| Some((sample.at, *sample.sensors.temperature.get(name)?))) {
        if celsius <= middle {
            // Between two readings it falls evenly.
            let share = if known.1 > celsius { (known.1 - middle) / (known.1 - celsius) } else { 1.0 };
            half = Some((known.0 + share.clamp(0.0, 1.0) * (at - known.0) - worked).max(0.0));
            break;
        }
        known = (at, celsius);
    }
    Some(CoolDown { sensor: name.clone(), before, hot, half })
}
