//! Charts of a burn-in's measurements over time.

use std::collections::BTreeMap;

use analysis::{BurnIn, Sensor};
use journal::{Fault, Reading, SensorKind};
use stats::median;
use words::{duration, figure};

use crate::charts::key;
use crate::charts::plot::{Axis, Form, Line, Mark, Plot, Series, keep_medians};
use crate::charts::scale::Scale;
use crate::document::{Block, Chart};

/// Points of a curve at most.
const MAX_POINTS: usize = 500;

/// With more processors than this, the ends and the median are drawn.
const MAX_CURVES: usize = 16;

/// Faults that a chart marks at most.
const MAX_FAULTS: usize = 200;

/// The series of faults' marks.
const FAULT_SERIES: usize = 4;

/// A rest of fewer seconds is none.
const MIN_REST_SECONDS: f64 = 0.5;

/// A limit is drawn if it is at most this multiple of the values' range above them, and the range
/// counts as at least so much.
const MAX_LIMIT_DISTANCE: f64 = 2.0;
const MIN_LIMIT_RANGE: f64 = 10.0;

const HEIGHT_PX: f64 = 230.0;

struct Curve {
    name: String,
    /// Seconds and values.
    points: Vec<(f64, f64)>,
}

impl Curve {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.points.iter().map(|point| point.1)
    }
}

/// A chart per quantity that was measured.
pub(super) fn charts(burnin: &BurnIn) -> Vec<Block> {
    let temperatures =
        sensor_curves(burnin, "°C", |reading, name| reading.temperature.get(name).copied());
    let powers = sensor_curves(burnin, "W", |reading, name| reading.power.get(name).copied());
    let charts = [
        chart(burnin, "Clock of each processor, GHz", clock_curves(burnin), &[]),
        chart(burnin, "Throughput, per second", vec![throughput_curve(burnin)], &[]),
        chart(burnin, "Temperature, °C", temperatures, &processor_limits(burnin)),
        chart(burnin, "Power, W", powers, &[]),
    ];
    charts.into_iter().flatten().collect()
}

/// A curve for each sensor of a unit.
fn sensor_curves(
    burnin: &BurnIn,
    unit: &str,
    read: fn(&Reading, &str) -> Option<f64>,
) -> Vec<Curve> {
    let mut curves = Vec::new();
    for sensor in burnin.sensors.iter().filter(|sensor| sensor.unit == unit) {
        let mut points = Vec::new();
        for sample in &burnin.samples {
            if let Some(value) = read(&sample.sensors, &sensor.name) {
                points.push((sample.at, value));
            }
        }
        curves.push(Curve { name: sensor.name.clone(), points });
    }
    curves
}

/// The limits of the processors' temperatures.
fn processor_limits(burnin: &BurnIn) -> Vec<f64> {
    let of_processors = burnin.sensors.iter().filter(|sensor| is_of_processor(sensor));
    let mut limits: Vec<f64> = of_processors.filter_map(|sensor| sensor.limit).collect();
    limits.dedup();
    limits
}

fn is_of_processor(sensor: &Sensor) -> bool {
    sensor.unit == "°C" && SensorKind::from_name(&sensor.name) == SensorKind::Processor
}

/// The clock of each processor; of very many the lowest, the median and the highest.
fn clock_curves(burnin: &BurnIn) -> Vec<Curve> {
    let mut by_thread: BTreeMap<u32, Curve> = BTreeMap::new();
    let beats = burnin.samples.iter().flat_map(|sample| &sample.beats);
    for beat in beats.filter(|beat| beat.clock > 0.0) {
        let curve = by_thread
            .entry(beat.thread)
            .or_insert_with(|| Curve { name: format!("CPU {}", beat.cpu), points: Vec::new() });
        curve.points.push((beat.at, beat.clock));
    }
    if by_thread.len() <= MAX_CURVES {
        return by_thread.into_values().collect();
    }

    let mut by_second: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (at, clock) in by_thread.values().flat_map(|curve| &curve.points) {
        // A run of centuries has fewer seconds than an i64 can count.
        by_second.entry(at.round() as i64).or_default().push(*clock);
    }
    vec![
        summary_curve(format!("the slowest of {}", by_thread.len()), &by_second, slowest),
        summary_curve("the middle one".to_owned(), &by_second, median),
        summary_curve("the fastest".to_owned(), &by_second, fastest),
    ]
}

/// A curve of one value for the clocks of each second.
fn summary_curve(
    name: String,
    by_second: &BTreeMap<i64, Vec<f64>>,
    summarize: fn(&[f64]) -> f64,
) -> Curve {
    let points =
        by_second.iter().map(|(second, clocks)| (*second as f64, summarize(clocks))).collect();
    Curve { name, points }
}

fn slowest(clocks: &[f64]) -> f64 {
    clocks.iter().copied().fold(f64::INFINITY, f64::min)
}

fn fastest(clocks: &[f64]) -> f64 {
    clocks.iter().copied().fold(0.0, f64::max)
}

/// The throughput of all threads while they worked.
fn throughput_curve(burnin: &BurnIn) -> Curve {
    let points = burnin.cooling.iter().flat_map(|cooling| &cooling.throughput_series);
    let at_work = points.filter(|point| point.0 <= burnin.worked + MIN_REST_SECONDS);
    Curve { name: "all threads".to_owned(), points: at_work.copied().collect() }
}

/// The chart of a quantity; `None` if there is nothing to draw.
fn chart(burnin: &BurnIn, title: &str, mut curves: Vec<Curve>, limits: &[f64]) -> Option<Block> {
    curves.retain(|curve| curve.points.len() > 1);
    let (low, high) = bounds(curves.iter().flat_map(Curve::values));
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }

    // A limit far away would press the curves together.
    let max_limit = high + MAX_LIMIT_DISTANCE * (high - low).max(MIN_LIMIT_RANGE);
    let near_limits: Vec<f64> =
        limits.iter().copied().filter(|limit| *limit > high && *limit < max_limit).collect();
    let high = near_limits.iter().copied().fold(high, f64::max);
    // An axis that is all noise would make much of it.
    let margin = (0.06 * (high - low)).max(0.02 * high.abs()).max(1e-6);

    let mut series = Vec::new();
    let mut legend = Vec::new();
    for (number, curve) in curves.iter().enumerate() {
        series.push(curve_series(number, curve));
        legend.push((key(number), curve.name.clone()));
    }
    let titles: Vec<String> = series.iter().map(|series| series.title.clone()).collect();
    if !burnin.faults.is_empty() {
        series.push(fault_series(burnin, low - margin));
        legend.push((key(FAULT_SERIES), "faults".to_owned()));
    }

    let across = near_limits.iter().map(|limit| (*limit, format!("limit {}", figure(*limit))));
    let plot = Plot {
        label: format!("{title}, over time: {}", titles.join("; ")),
        x: Axis::time(end_of_samples(burnin)),
        y: Axis::new(Scale::linear(low - margin, high + margin)),
        across: across.collect(),
        down: moments(burnin),
        series,
        ..Plot::default()
    };
    Some(Block::Chart(Chart {
        title: title.to_owned(),
        ..Chart::new(Some(plot.chart(HEIGHT_PX)), "", legend)
    }))
}

/// The minimum and the maximum; infinite without a value.
fn bounds(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

fn end_of_samples(burnin: &BurnIn) -> f64 {
    burnin.samples.last().map_or(0.0, |sample| sample.at)
}

/// When the clock fell, and when the rest began.
fn moments(burnin: &BurnIn) -> Vec<(f64, String)> {
    let mut moments = Vec::new();
    if let Some(fall) = burnin.cooling.as_ref().and_then(|cooling| cooling.fall.as_ref()) {
        moments.push((fall.at, format!("fell {}", duration(fall.at))));
    }
    let has_rested = end_of_samples(burnin) > burnin.worked + MIN_REST_SECONDS;
    if has_rested {
        moments.push((burnin.worked, format!("rest {}", duration(burnin.worked))));
    }
    moments
}

fn curve_series(number: usize, curve: &Curve) -> Series {
    let (low, high) = bounds(curve.values());
    let points = keep_medians(&curve.points, MAX_POINTS);
    Series {
        number,
        title: format!("{}: {} to {}", curve.name, figure(low), figure(high)),
        lines: vec![Line { points, ..Line::default() }],
        ..Series::default()
    }
}

/// A mark at the foot for each fault.
fn fault_series(burnin: &BurnIn, foot: f64) -> Series {
    let faults = burnin.faults.iter().take(MAX_FAULTS);
    Series {
        number: FAULT_SERIES,
        marks: faults.map(|fault| fault_mark(fault, foot)).collect(),
        ..Series::default()
    }
}

fn fault_mark(fault: &Fault, foot: f64) -> Mark {
    Mark {
        at: (fault.at, foot),
        form: Form::Full,
        title: format!("fault in {} after {}", fault.pattern, duration(fault.at)),
        ..Mark::default()
    }
}
