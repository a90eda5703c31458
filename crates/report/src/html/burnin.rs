//! The part of the page for a burn-in: figures, tables, and what was measured over time.

use super::scale::Scale;
use super::spread::Time;
use super::svg::{Anchor, Svg, hue, key, n};
use super::words::clean;
use super::{Key, scale};
use crate::burnin::{figures, tables, time, title};
use crate::figure;
use analysis::BurnIn;
use journal::SensorKind;
use stats::median;

/// Class and width of a chart on a wide page and on a narrow one.
const FORMS: [(&str, f64); 2] = [("chart wide", 1000.0), ("chart narrow", 420.0)];
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 24.0;

/// Most points of a curve: of more, stretches are drawn by their medians.
const POINTS: usize = 500;

/// Most curves of a chart; of more processors, the ends and the middle are drawn.
const CURVES: usize = 16;

/// Faults that a page has room for.
const FAULTS: usize = 200;

/// Everything of a burn-in that a page shows.
pub(super) struct BurnInPart {
    pub(super) title: String,
    pub(super) verdict: String,
    pub(super) figures: Vec<(&'static str, String, String)>,
    pub(super) charts: Vec<Chart>,
    pub(super) tables: Vec<Table>,
}

/// What was measured over time.
pub(super) struct Chart {
    pub(super) name: String,
    pub(super) legend: Vec<Key>,
    pub(super) svg: String,
}

/// A table.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) remark: String,
}

/// One curve.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// A chart's axes on a page of some width.
struct Plot {
    x: Scale,
    y: Scale,
    right: f64,
}

/// Lines across a chart.
struct Marks {
    time: Time,
    /// When the work ended, and when the clock fell.
    worked: Option<f64>,
    fell: Option<f64>,
    faults: Vec<f64>,
}

/// Returns the part; nothing where the run is no burn-in.
pub(super) fn part(results: &analysis::Results) -> Option<BurnInPart> {
    let burnin = results.burnin()?;
    let figures =
        figures(burnin).into_iter().map(|figure| (figure.name, clean(&figure.value), figure.plus_minus)).collect();
    let table = |table: crate::burnin::Table| Table {
        name: table.name.to_owned(),
        head: table.head.to_vec(),
        rows: table.rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()).collect(),
        remark: table.remark,
    };
    Some(BurnInPart {
        title: clean(&title(burnin)),
        verdict: clean(&burnin.verdict),
        figures,
        charts: charts(burnin),
        tables: tables(burnin, FAULTS).into_iter().map(table).collect(),
    })
}

fn charts(burnin: &BurnIn) -> Vec<Chart> {
    let last = burnin.samples.last().map_or(0.0, |sample| sample.at);
    let marks = Marks {
        time: Time::until(last),
        worked: (last > burnin.worked + 0.5).then_some(burnin.worked),
        fell: burnin.cooling.as_ref().and_then(|cooling| cooling.fall.as_ref()).map(|fall| fall.at),
        faults: burnin.faults.iter().map(|fault| fault.at).take(FAULTS).collect(),
    };
    let of_sensor = |unit: &str, value: &dyn Fn(&journal::Reading, &str) -> Option<f64>| -> Vec<Curve> {
        let sensors = burnin.sensors.iter().filter(|sensor| sensor.unit == unit);
        let curve = |sensor: &analysis::Sensor| {
            let points = burnin.samples.iter().filter_map(|s| Some((s.at, value(&s.sensors, &sensor.name)?))).collect();
            Curve { name: sensor.name.clone(), points }
        };
        sensors.map(curve).collect()
    };
    let temperatures = of_sensor("°C", &|reading, name| reading.temperature.get(name).copied());
    let powers = of_sensor("W", &|reading, name| reading.power.get(name).copied());
    let of_processor = burnin
        .sensors
        .iter()
        .filter(|sensor| sensor.unit == "°C" && SensorKind::from_name(&sensor.name) == SensorKind::Processor);
    let mut limits: Vec<f64> = of_processor.filter_map(|sensor| sensor.limit).collect();
    limits.dedup();
    let all = [
        ("Clock of each processor, GHz", clocks(burnin), Vec::new()),
        ("Throughput, per second", throughput(burnin), Vec::new()),
        ("Temperature, °C", temperatures, limits),
        ("Power, W", powers, Vec::new()),
    ];
    all.into_iter().filter_map(|(name, curves, limits)| chart(name, curves, &limits, &marks)).collect()
}

/// The clock of each processor; of very many the lowest, the middle and the highest.
fn clocks(burnin: &BurnIn) -> Vec<Curve> {
    let mut threads: std::collections::BTreeMap<u32, Curve> = std::collections::BTreeMap::new();
    for beat in burnin.samples.iter().flat_map(|sample| &sample.beats).filter(|beat| beat.clock > 0.0) {
        let new = || Curve { name: format!("CPU {}", beat.cpu), points: Vec::new() };
        threads.entry(beat.thread).or_insert_with(new).points.push((beat.at, beat.clock));
    }
    if threads.len() <= CURVES {
        return threads.into_values().collect();
    }
    let mut seconds: std::collections::BTreeMap<i64, Vec<f64>> = std::collections::BTreeMap::new();
    for (at, clock) in threads.values().flat_map(|curve| &curve.points) {
        // A run of centuries has fewer seconds than an i64 can count.
        seconds.entry(at.round() as i64).or_default().push(*clock);
    }
    let curve = |name: &str, of: &dyn Fn(&[f64]) -> f64| Curve {
        name: name.to_owned(),
        points: seconds.iter().map(|(second, clocks)| (*second as f64, of(clocks))).collect(),
    };
    let least = |clocks: &[f64]| clocks.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |clocks: &[f64]| clocks.iter().copied().fold(0.0, f64::max);
    let number = threads.len();
    vec![
        curve(&format!("the slowest of {number}"), &least),
        curve("the middle one", &median),
        curve("the fastest", &most),
    ]
}

fn throughput(burnin: &BurnIn) -> Vec<Curve> {
    let worked = burnin.worked + 0.5;
    let series = burnin.cooling.iter().flat_map(|cooling| &cooling.throughput_series);
    let points: Vec<(f64, f64)> = series.filter(|point| point.0 <= worked).copied().collect();
    vec![Curve { name: "all threads".to_owned(), points }]
}

/// Returns a chart; nothing where there is nothing to draw.
fn chart(name: &str, mut curves: Vec<Curve>, limits: &[f64], marks: &Marks) -> Option<Chart> {
    curves.retain(|curve| curve.points.len() > 1);
    for curve in &mut curves {
        curve.points = thinned(&curve.points);
    }
    let values = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    // A limit far away would press the curves together, and so would an axis that is all noise make much of it.
    let is_near = |limit: &f64| *limit > high && *limit < high + 2.0 * (high - low).max(10.0);
    let near: Vec<f64> = limits.iter().copied().filter(is_near).collect();
    let high = near.iter().copied().fold(high, f64::max);
    let room = (0.06 * (high - low)).max(0.02 * high.abs()).max(1e-6);
    let y = Scale::linear(low - room, high + room).between(HEIGHT - BOTTOM, TOP);
    let label = format!("{name} over time: {}", curves.iter().map(hover).collect::<Vec<_>>().join("; "));
    let draw = |(class, width): &(&str, f64)| {
        let right = width - RIGHT;
        let plot = Plot { x: Scale::linear(0.0, marks.time.end).between(LEFT, right), y, right };
        let mut svg = Svg::default();
        plot.grid(&mut svg, &near, marks);
        for (series, curve) in curves.iter().enumerate() {
            svg.path(&format!("curve {}", hue(series)), &plot.line(curve), Some(&hover(curve)));
        }
        svg.finish(class, (*width, HEIGHT), &label)
    };
    let legend: Vec<Key> = curves.iter().enumerate().map(|(series, curve)| (key(series), clean(&curve.name))).collect();
    Some(Chart {
        name: name.to_owned(),
        legend: if legend.len() > 1 { legend } else { Vec::new() },
        svg: FORMS.iter().map(draw).collect(),
    })
}

impl Plot {
    fn grid(&self, svg: &mut Svg, limits: &[f64], marks: &Marks) {
        for value in self.y.ticks() {
            let Some(y) = self.y.at(value) else { continue };
            svg.line("grid", (LEFT, y), (self.right, y));
            svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, &scale::tick(value));
        }
        for limit in limits {
            if let Some(y) = self.y.at(*limit) {
                svg.line("zero dashed", (LEFT, y), (self.right, y));
                svg.text("tick", (self.right, y - 4.0), Anchor::End, &format!("limit {}", figure(*limit)));
            }
        }
        self.moments(svg, marks);
        svg.text("tick", (LEFT, HEIGHT - 6.0), Anchor::Start, "0");
        svg.text("tick", (self.right, HEIGHT - 6.0), Anchor::End, &marks.time.text(marks.time.end));
    }

    fn line(&self, curve: &Curve) -> String {
        let places = curve.points.iter().filter_map(|point| Some((self.x.at(point.0)?, self.y.at(point.1)?)));
        let draw = |(k, (x, y)): (usize, (f64, f64))| format!("{}{} {}", if k == 0 { "M" } else { "L" }, n(x), n(y));
        places.enumerate().map(draw).collect()
    }

    /// What crosses every chart.
    fn moments(&self, svg: &mut Svg, marks: &Marks) {
        let (top, bottom) = (TOP - 6.0, HEIGHT - BOTTOM);
        for (moment, text) in [(marks.fell, "fell"), (marks.worked, "rest")] {
            let Some((at, x)) = moment.and_then(|at| Some((at, self.x.at(at)?))) else { continue };
            svg.line("zero dashed", (x, top), (x, bottom));
            // Where there is no room to the right of it, the text stands to the left.
            let text = format!("{text} {}", time(at));
            let fits = x + text.chars().count() as f64 * 7.0 < self.right;
            let (place, anchor) = if fits { (x - 3.0, Anchor::Start) } else { (x + 3.0, Anchor::End) };
            svg.text("tick", (place, TOP - 10.0), anchor, &text);
        }
        let fault = |x: f64| format!("M{} {}L{} {}", n(x), n(bottom - 8.0), n(x), n(bottom));
        let d: String = marks.faults.iter().filter_map(|at| self.x.at(*at)).map(fault).collect();
        if !d.is_empty() {
            svg.path("whisker h4", &d, Some("faults"));
        }
    }
}

fn hover(curve: &Curve) -> String {
    let values = || curve.points.iter().map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    format!("{}: {} to {}", curve.name, figure(low), figure(high))
}

/// Returns at most [`POINTS`] points: the median of every stretch.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(POINTS).max(1);
    let middle = |part: &[(f64, f64)]| {
        let of = |value: fn(&(f64, f64)) -> f64| median(&part.iter().map(value).collect::<Vec<_>>());
        (of(|point| point.0), of(|point| point.1))
    };
    points.chunks(stretch).map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned() {
        let points: Vec<(f64, f64)> = (0..28_800).map(|k| (f64::from(k), 4.0)).collect();
        let thin = thinned(&points);
        assert!(thin.len() <= POINTS && thin.iter().all(|point| point.1 == 4.0));
        assert_eq!(thinned(&points[..300]), points[..300]);
    }
}
