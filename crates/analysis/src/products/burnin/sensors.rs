//! The readings of each sensor, and how the machine cooled down.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{SUSTAINED_FROM_SHARE, is_under_load};
use journal::{BurnIn, Reading, Sample, SensorKind};
use stats::{mean, median};

/// Smallest rise in °C whose half-life is timed.
const MIN_RISE_CELSIUS: f64 = 5.0;

/// The readings of one sensor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensor {
    /// The name of the sensor.
    pub name: String,
    /// °C, W or MHz.
    pub unit: &'static str,
    /// The reading before the work began.
    pub before: Option<f64>,
    /// The highest reading during the work.
    pub highest: Option<f64>,
    /// The median of the work's last quarter.
    pub sustained: Option<f64>,
    /// The last reading.
    pub end: Option<f64>,
    /// The highest value allowed.
    pub limit: Option<f64>,
}

/// How the processor cooled down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoolDown {
    /// The name of the sensor.
    pub sensor: String,
    /// °C before the work.
    pub before: f64,
    /// °C at the work's end.
    pub hot: f64,
    /// Seconds until half of the difference was gone; `None` if the rest was too short.
    pub half: Option<f64>,
}

/// Sensors of one kind.
struct Kind<'a> {
    unit: &'static str,
    /// The readings by name.
    readings: fn(&Reading) -> &BTreeMap<String, f64>,
    /// The limits by name.
    limits: &'a BTreeMap<String, f64>,
}

/// The readings of each sensor: temperatures, then power, then the kernel's frequency.
pub(super) fn sensors(samples: &[Sample], asked: &BurnIn, worked: f64) -> Vec<Sensor> {
    let kinds = [
        Kind {
            unit: "°C",
            readings: |reading| &reading.temperature,
            limits: &asked.limits.temperature,
        },
        Kind { unit: "W", readings: |reading| &reading.power, limits: &asked.limits.power },
    ];

    let mut sensors = Vec::new();
    for Kind { unit, readings, limits } in kinds {
        let names: BTreeSet<&String> =
            samples.iter().flat_map(|sample| readings(&sample.sensors).keys()).collect();
        for name in names {
            let value = |reading: &Reading| readings(reading).get(name).copied();
            let mut sensor = sensor(samples, worked, name, unit, value);
            sensor.limit = limits.get(name).copied();
            sensors.push(sensor);
        }
    }
    if samples.iter().any(|sample| !sample.sensors.frequency.is_empty()) {
        sensors.push(sensor(samples, worked, "frequency, mean of CPUs", "MHz", mean_mhz));
    }
    sensors
}

/// A sensor without a limit.
fn sensor(
    samples: &[Sample],
    worked: f64,
    name: &str,
    unit: &'static str,
    value: impl Fn(&Reading) -> Option<f64>,
) -> Sensor {
    let load = samples.iter().filter(|sample| is_under_load(sample.at, worked));
    let sustained = median_of(samples, worked, |sample| {
        if sample.at > SUSTAINED_FROM_SHARE * worked { value(&sample.sensors) } else { None }
    });
    Sensor {
        name: name.to_owned(),
        unit,
        before: samples.first().and_then(|sample| value(&sample.sensors)),
        highest: load.filter_map(|sample| value(&sample.sensors)).max_by(f64::total_cmp),
        sustained,
        end: samples.iter().rev().find_map(|sample| value(&sample.sensors)),
        limit: None,
    }
}

/// The mean frequency of the CPUs that report one, in MHz.
fn mean_mhz(reading: &Reading) -> Option<f64> {
    (!reading.frequency.is_empty()).then(|| mean(reading.frequency.iter().map(|(_, mhz)| mhz)))
}

/// The median of a value over the samples of the work; `None` if no sample has it.
pub(super) fn median_of(
    samples: &[Sample],
    worked: f64,
    value: impl Fn(&Sample) -> Option<f64>,
) -> Option<f64> {
    let load = samples.iter().filter(|sample| is_under_load(sample.at, worked));
    let values: Vec<f64> = load.filter_map(value).collect();
    (!values.is_empty()).then(|| median(&values))
}

/// How the sensor that rose most cooled down, a processor's before others; `None` if none rose or
/// there was no rest.
pub(super) fn cool_down(samples: &[Sample], worked: f64) -> Option<CoolDown> {
    let rest: Vec<&Sample> =
        samples.iter().filter(|sample| sample.resting && sample.at > worked).collect();
    if rest.is_empty() {
        return None;
    }
    let CoolDown { sensor, before, hot, .. } = largest_rise(samples)?;

    let middle = f64::midpoint(before, hot);
    let mut last = (worked, hot);
    let mut half = None;
    for sample in rest {
        let Some(celsius) = sample.sensors.temperature.get(&sensor).copied() else { continue };
        let (last_at, last_celsius) = last;
        if celsius <= middle {
            // Between two readings the temperature is taken to fall evenly.
            let fell = last_celsius - celsius;
            let share = if fell > 0.0 { (last_celsius - middle) / fell } else { 1.0 };
            let at = last_at + share.clamp(0.0, 1.0) * (sample.at - last_at);
            half = Some((at - worked).max(0.0));
            break;
        }
        last = (sample.at, celsius);
    }
    Some(CoolDown { sensor, before, hot, half })
}

/// The sensor that rose most until the work ended, a processor's before others.
fn largest_rise(samples: &[Sample]) -> Option<CoolDown> {
    let mut with_temperature =
        samples.iter().filter(|sample| !sample.resting && !sample.sensors.temperature.is_empty());
    let end = &with_temperature.next_back()?.sensors.temperature;
    let begin = &samples.first()?.sensors.temperature;

    let mut rises = Vec::new();
    for (name, hot) in end {
        let Some(before) = begin.get(name) else { continue };
        if hot - before >= MIN_RISE_CELSIUS {
            let sensor = name.clone();
            rises.push(CoolDown { sensor, before: *before, hot: *hot, half: None });
        }
    }
    rises.into_iter().max_by(|a, b| {
        let is_processor =
            |rise: &CoolDown| SensorKind::from_name(&rise.sensor) == SensorKind::Processor;
        is_processor(a)
            .cmp(&is_processor(b))
            .then((a.hot - a.before).total_cmp(&(b.hot - b.before)))
    })
}
