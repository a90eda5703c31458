//! The chart of percentiles: a curve per load, solid as far as the frames carry it and dashed from there to the longest.

use super::latency::load_name;
use super::scale::{Scale, tick};
use super::svg::{Anchor, Svg, hue, n, outline};
use crate::figure;
use crate::tasks::Task;
use analysis::{Latency, PERCENTILES};
use stats::Histogram;

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 24.0;
const RADIUS: f64 = 3.0;

/// Places of a curve, before those that no one would miss are left out.
const POINTS: usize = 56;
/// Frames that must lie beyond a percentile that is told.
const BEYOND: f64 = 10.0;
/// The percentiles on the axis, as 1 ÷ (1 − share).
const TICKS: [(f64, &str); 7] = [
    (2.0, "50 %"),
    (10.0, "90 %"),
    (100.0, "99 %"),
    (1e3, "99.9 %"),
    (1e4, "99.99 %"),
    (1e5, "99.999 %"),
    (1e6, "99.9999 %"),
];

/// A load's curve.
struct Curve<'a> {
    series: usize,
    name: String,
    latency: &'a Latency,
    /// Durations in ms with how many frames took no longer.
    steps: Vec<(f64, f64)>,
}

/// Returns the chart of a task; nothing where no frame was late enough to have a logarithm. `hovers`: every mark says
/// what it is, rather than every curve.
pub(super) fn chart(task: &Task<'_>, loads: &[&str], hovers: bool) -> Option<String> {
    let curves: Vec<Curve<'_>> = task
        .rows
        .iter()
        .filter(|(_, latency)| latency.histogram.count() > 0)
        .map(|(row, latency)| Curve {
            series: loads.iter().position(|load| *load == row.cell.key.load).unwrap_or(0),
            name: load_name(&row.cell.key.load),
            latency,
            steps: steps(&latency.histogram),
        })
        .collect();
    let most = curves.iter().map(|curve| curve.latency.histogram.count()).max()? as f64;
    let ends = curves.iter().flat_map(|curve| [curve.steps.first(), curve.steps.last()]).flatten();
    let values: Vec<f64> = ends.map(|step| step.0).collect();
    let plot = Plot {
        x: Scale::log(&[1.0, most], &[])?.between(LEFT, WIDTH - RIGHT),
        y: Scale::log(&values, &[])?.between(HEIGHT - BOTTOM, TOP),
    };
    let mut svg = Svg::default();
    plot.grid(&mut svg);
    for curve in &curves {
        plot.curve(&mut svg, curve, hovers);
    }
    let label =
        format!("{}: percentiles of the {} beside each load; the tables have the figures", task.title(), task.what());
    Some(svg.finish("panel curves", (WIDTH, HEIGHT), &label))
}

fn steps(histogram: &Histogram) -> Vec<(f64, f64)> {
    let mut below = 0;
    let step = |(ns, count): (u64, u64)| {
        below += count;
        // Durations of no time at all stay on the axis.
        ((ns as f64).max(1.0) / 1e6, below as f64)
    };
    histogram.counts().map(step).collect()
}

impl Curve<'_> {
    fn count(&self) -> f64 {
        self.steps.last().map_or(1.0, |step| step.1)
    }

    /// Returns the duration in ms that all but 1 ÷ `inverse` of the frames do not exceed.
    fn at(&self, inverse: f64) -> f64 {
        let wanted = (self.count() * (1.0 - 1.0 / inverse) - 1e-6).ceil().max(1.0);
        let place = self.steps.partition_point(|step| step.1 < wanted);
        self.steps.get(place).or(self.steps.last()).map_or(f64::NAN, |step| step.0)
    }

    /// The carried percentiles as (1 ÷ (1 − share), ms, name).
    fn told(&self) -> Vec<(f64, f64, &'static str)> {
        let carried = PERCENTILES.iter().filter(|(share, _)| self.latency.histogram.carries(*share));
        carried.map(|(share, name)| (1.0 / (1.0 - share), self.at(1.0 / (1.0 - share)), *name)).collect()
    }

    fn title(&self) -> String {
        let told = self.told().into_iter().map(|(_, ms, name)| format!(", {name} {} ms", figure(ms)));
        let longest = figure(self.at(f64::INFINITY));
        format!("{}: {} frames{}, longest {longest} ms", self.name, self.count(), told.collect::<String>())
    }
}

struct Plot {
    x: Scale,
    y: Scale,
}

impl Plot {
    fn grid(&self, svg: &mut Svg) {
        for value in self.y.ticks() {
            let Some(y) = self.y.at(value) else { continue };
            svg.line("grid", (LEFT, y), (WIDTH - RIGHT, y));
            svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, &tick(value));
        }
        let mut free = f64::NEG_INFINITY;
        for (inverse, text) in TICKS.iter().filter(|(inverse, _)| self.x.shows(*inverse)) {
            let Some(x) = self.x.at(*inverse) else { continue };
            svg.line("grid", (x, TOP), (x, HEIGHT - BOTTOM));
            let half = text.chars().count() as f64 * 3.3;
            if x - half > free && x + half < WIDTH {
                svg.text("tick", (x, HEIGHT - 6.0), Anchor::Middle, text);
                free = x + half + 4.0;
            }
        }
    }

    fn point(&self, inverse: f64, ms: f64) -> Option<(f64, f64)> {
        Some((self.x.at(inverse)?, self.y.at(ms)?))
    }

    fn curve(&self, svg: &mut Svg, curve: &Curve<'_>, hovers: bool) {
        let (count, hue) = (curve.count(), hue(curve.series));
        // Frames that carry no median carry nothing.
        let carried = if count >= 2.0 * BEYOND { count / BEYOND } else { 1.0 };
        svg.open(Some(&curve.title()));
        for (class, from, to) in [("curve", 1.0, carried), ("curve dashed", carried, count.max(1.0))] {
            let d = self.line(curve, from, to);
            if !d.is_empty() {
                svg.path(&format!("{class} {hue}"), &d, None);
            }
        }
        self.marks(svg, curve, hovers);
        svg.close();
    }

    fn line(&self, curve: &Curve<'_>, from: f64, to: f64) -> String {
        let decades = (self.x_range() / POINTS as f64).max(1e-3);
        let parts = ((to / from).log10() / decades).ceil().clamp(0.0, POINTS as f64) as usize;
        let inverse = |part: usize| from * (to / from).powf(part as f64 / parts.max(1) as f64);
        let place = |inverse: f64| self.point(inverse, curve.at(inverse));
        let mut points: Vec<(f64, f64)> = (0..=parts).filter_map(|part| place(inverse(part))).collect();
        if to >= curve.count() {
            // The longest of n lies beyond the share of 1 − 1 ÷ n.
            points.extend(self.point(to, curve.at(f64::INFINITY)));
        }
        let draw = |(k, (x, y)): (usize, &(f64, f64))| format!("{}{} {}", if k == 0 { "M" } else { "L" }, n(*x), n(*y));
        if points.len() < 2 { String::new() } else { simple(&points).iter().enumerate().map(draw).collect() }
    }

    /// The decades of the whole axis.
    fn x_range(&self) -> f64 {
        let known = TICKS.iter().filter(|(inverse, _)| self.x.shows(*inverse)).map(|tick| tick.0);
        known.fold(2.0, f64::max).log10() + 1.0
    }

    /// A mark at every percentile that is carried, and a hollow one at the longest.
    fn marks(&self, svg: &mut Svg, curve: &Curve<'_>, hovers: bool) {
        let hue = hue(curve.series);
        let longest = (curve.count(), curve.at(f64::INFINITY), "longest");
        let (mut all, told) = (String::new(), curve.told());
        for (place, (inverse, ms, name)) in told.iter().chain([&longest]).enumerate() {
            let Some(at) = self.point(*inverse, *ms) else { continue };
            let d = outline(curve.series, at, RADIUS);
            let hollow = if place == told.len() { " hollow" } else { "" };
            if hovers {
                let title = format!("{}: {name} {} ms", curve.name, figure(*ms));
                svg.path(&format!("mark {hue}{hollow}"), &d, Some(&title));
            } else if hollow.is_empty() {
                all += &d;
            } else {
                svg.path(&format!("mark {hue} hollow"), &d, None);
            }
        }
        if !all.is_empty() {
            svg.path(&format!("mark {hue}"), &all, None);
        }
    }
}

/// Returns the points without those that lie on the line between their neighbours.
fn simple(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let (Some(last), Some(next)) = (kept.last(), points.get(place + 1)) else {
            kept.push(*point);
            continue;
        };
        let share = (point.0 - last.0) / (next.0 - last.0).max(1e-9);
        if (last.1 + share * (next.1 - last.1) - point.1).abs() > 0.15 {
            kept.push(*point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_have_two_points() {
        let line: Vec<(f64, f64)> = (0..20).map(|k| (f64::from(k), 3.0)).collect();
        assert_eq!(simple(&line), [(0.0, 3.0), (19.0, 3.0)]);
        assert_eq!(simple(&[(0.0, 0.0), (1.0, 9.0), (2.0, 9.0)]).len(), 3);
    }
}
