//! Charts of a burn-in's measurements over time.

use std::collections::BTreeMap;

use analysis::{BurnIn, Sensor};
use journal::{Reading, SensorKind};
use stats::median;
use words::{duration, figure};

use crate::charts::key;
use crate::charts::plot::{Axis, Form, Line, Mark, Plot, Series, medians};
use crate::charts::scale::Scale;
use crate::document::{Block, Chart};
use maud::Markup;

/// Most points of a curve, and most curves of a chart: of more processors, the ends and the middle are drawn.
const POINTS: usize = 500;
const CURVES: usize = 16;

/// Most faults that a chart marks, and the series of their marks.
const FAULTS: usize = 200;
const FAULT: usize = 4;

/// One curve: its name, and values by seconds.
type Curve = (String, Vec<(f64, f64)>);

/// Returns a chart per quantity that was measured.
pub(super) fn charts(burnin: &BurnIn) -> Vec<Block> {
    let of_sensors = |unit: &str, value: fn(&Reading, &str) -> Option<f64>| -> Vec<Curve> {
        let points = |sensor: &Sensor| {
            let values = burnin.samples.iter().map(|sample| (sample.at, value(&sample.sensors, &sensor.name)));
            values.filter_map(|(at, value)| Some((at, value?))).collect()
        };
        let sensors = burnin.sensors.iter().filter(|sensor| sensor.unit == unit);
        sensors.map(|sensor| (sensor.name.clone(), points(sensor))).collect()
    };
    let temperatures = of_sensors("°C", |reading, name| reading.temperature.get(name).copied());
    let powers = of_sensors("W", |reading, name| reading.power.get(name).copied());
    let hot = burnin.sensors.iter().filter(|sensor| sensor.unit == "°C");
    let of_processor = hot.filter(|sensor| SensorKind::from_name(&sensor.name) == SensorKind::Processor);
    let mut limits: Vec<f64> = of_processor.filter_map(|sensor| sensor.limit).collect();
    limits.dedup();
    let all = [
        ("Clock of each processor, GHz", clocks(burnin), Vec::new()),
        ("Throughput, per second", throughput(burnin), Vec::new()),
        ("Temperature, °C", temperatures, limits),
        ("Power, W", powers, Vec::new()),
    ];
    all.into_iter().filter_map(|(title, curves, limits)| chart(burnin, title, curves, &limits)).collect()
}

/// The clock of each processor; of very many the lowest, the middle and the highest.
fn clocks(burnin: &BurnIn) -> Vec<Curve> {
    let mut threads: BTreeMap<u32, Curve> = BTreeMap::new();
    for beat in burnin.samples.iter().flat_map(|sample| &sample.beats).filter(|beat| beat.clock > 0.0) {
        let new = || (format!("CPU {}", beat.cpu), Vec::new());
        threads.entry(beat.thread).or_insert_with(new).1.push((beat.at, beat.clock));
    }
    if threads.len() <= CURVES {
        return threads.into_values().collect();
    }
    let mut seconds: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (at, clock) in threads.values().flat_map(|(_, points)| points) {
        // A run of centuries has fewer seconds than an i64 can count.
        seconds.entry(at.round() as i64).or_default().push(*clock);
    }
    let curve = |name: String, value: fn(&[f64]) -> f64| -> Curve {
        (name, seconds.iter().map(|(second, clocks)| (*second as f64, value(clocks))).collect())
    };
    let slowest = format!("the slowest of {}", threads.len());
    vec![
        curve(slowest, |clocks| clocks.iter().copied().fold(f64::INFINITY, f64::min)),
        curve("the middle one".to_owned(), median),
        curve("the fastest".to_owned(), |clocks| clocks.iter().copied().fold(0.0, f64::max)),
    ]
}

fn throughput(burnin: &BurnIn) -> Vec<Curve> {
    let points = burnin.cooling.iter().flat_map(|cooling| &cooling.throughput_series);
    vec![("all threads".to_owned(), points.filter(|point| point.0 <= burnin.worked + 0.5).copied().collect())]
}

/// `None` if there is nothing to draw.
fn chart(burnin: &BurnIn, title: &str, mut curves: Vec<Curve>, limits: &[f64]) -> Option<Block> {
    curves.retain(|(_, points)| points.len() > 1);
    let values = || curves.iter().flat_map(|(_, points)| points.iter().map(|point| point.1));
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    // A limit far away would press the curves together, and an axis that is all noise would make much of it.
    let is_near = |limit: &f64| *limit > high && *limit < high + 2.0 * (high - low).max(10.0);
    let near: Vec<f64> = limits.iter().copied().filter(is_near).collect();
    let high = near.iter().copied().fold(high, f64::max);
    let room = (0.06 * (high - low)).max(0.02 * high.abs()).max(1e-6);
    let y = Axis::new(Scale::linear(low - room, high + room));
    let mut series: Vec<Series> = curves.iter().enumerate().map(|(number, curve)| curve_of(number, curve)).collect();
    let label = series.iter().map(|series| series.title.clone()).collect::<Vec<String>>().join("; ");
    let mut legend: Vec<(Markup, String)> =
        curves.iter().enumerate().map(|(number, (name, _))| (key(number), name.clone())).collect();
    if !burnin.faults.is_empty() {
        series.push(faults(burnin, low - room));
        legend.push((key(FAULT), "faults".to_owned()));
    }
    let end = burnin.samples.last().map_or(0.0, |sample| sample.at);
    let fell = burnin.cooling.as_ref().and_then(|cooling| cooling.fall.as_ref()).map(|fall| (fall.at, "fell"));
    let rest = (end > burnin.worked + 0.5).then_some((burnin.worked, "rest"));
    let moments = fell.into_iter().chain(rest).map(|(at, what)| (at, format!("{what} {}", duration(at))));
    let plot = Plot {
        label: format!("{title}, over time: {label}"),
        x: Axis::time(end),
        y,
        across: near.iter().map(|limit| (*limit, format!("limit {}", figure(*limit)))).collect(),
        down: moments.collect(),
        series,
        ..Plot::default()
    };
    Some(Block::Chart(Chart { title: title.to_owned(), ..Chart::new(Some(plot.chart(230.0)), "", legend) }))
}

fn curve_of(number: usize, (name, points): &Curve) -> Series {
    let values = || points.iter().map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    Series {
        number,
        title: format!("{name}: {} to {}", figure(low), figure(high)),
        lines: vec![Line { points: medians(points, POINTS), ..Line::default() }],
        ..Series::default()
    }
}

/// A mark at the foot for each.
fn faults(burnin: &BurnIn, foot: f64) -> Series {
    let mark = |fault: &journal::Fault| Mark {
        at: (fault.at, foot),
        form: Form::Full,
        title: format!("fault in {} after {}", fault.pattern, duration(fault.at)),
        ..Mark::default()
    };
    Series { number: FAULT, marks: burnin.faults.iter().take(FAULTS).map(mark).collect(), ..Series::default() }
}
