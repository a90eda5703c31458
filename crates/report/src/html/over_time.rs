//! Latency over the run: a mark for the worst of every second, or for every trial, in ms on a logarithmic axis.

use super::latency::load_name;
use super::scale::{Scale, tick};
use super::spread::Time;
use super::svg::{Anchor, Svg, hue, outline};
use crate::figure;
use crate::tasks::Task;
use analysis::{Latency, Row};

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 24.0;
/// Radius of marks that are few, and of many.
const RADII: (f64, f64) = (3.2, 2.2);

/// Most marks of a chart and of all charts of one kind, and of those that say on hover what they are.
const CHART: usize = 600;
const PAGE: usize = 6_000;
const HOVER_CHART: usize = 240;
const HOVER_PAGE: usize = 1_500;

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Each {
    Second,
    Trial,
}

/// A chart, and what is special about it.
pub(super) struct Chart {
    pub(super) svg: String,
    pub(super) remark: String,
}

/// How charts of one kind are drawn on one page.
pub(super) struct Charts<'a> {
    each: Each,
    loads: &'a [&'a str],
    time: Time,
    marks: usize,
    hovers: usize,
}

/// The marks of one load.
struct Cloud {
    series: usize,
    name: String,
    /// Seconds and ms.
    points: Vec<(f64, f64)>,
    whole: usize,
}

impl<'a> Charts<'a> {
    /// Returns the kind of charts for all `tasks`, which share their time.
    pub(super) fn new(each: Each, tasks: &[Task<'_>], loads: &'a [&'a str]) -> Charts<'a> {
        let rows = || tasks.iter().flat_map(|task| &task.rows);
        let last =
            rows().flat_map(|(row, latency)| points(each, row, latency)).map(|point| point.0).fold(0.0, f64::max);
        let share = |page: usize, chart: usize| (page / tasks.len().max(1)).min(chart);
        Charts {
            each,
            loads,
            time: Time::until(last),
            marks: share(PAGE, CHART),
            hovers: share(HOVER_PAGE, HOVER_CHART),
        }
    }

    /// Returns the chart of a task; nothing where there is nothing to draw.
    pub(super) fn chart(&self, task: &Task<'_>) -> Option<Chart> {
        let most = (self.marks / task.rows.len().max(1)).max(2);
        let clouds: Vec<Cloud> = task.rows.iter().map(|(row, latency)| self.cloud(row, latency, most)).collect();
        let values: Vec<f64> = clouds.iter().flat_map(|cloud| &cloud.points).map(|point| point.1).collect();
        let y = Scale::log(&values, &[])?.between(HEIGHT - BOTTOM - 4.0, TOP + 4.0);
        let mut svg = Svg::default();
        self.grid(&mut svg, &y);
        for cloud in &clouds {
            self.marks(&mut svg, cloud, &y, values.len() <= self.hovers);
        }
        let (shown, whole) = (values.len(), clouds.iter().map(|cloud| cloud.whole).sum::<usize>());
        let remark =
            if shown < whole { format!("the worst {shown} of {whole}, stretch by stretch") } else { String::new() };
        let label = format!("{}: the {} {} over the run; {shown} marks", task.title(), task.what(), self.words());
        Some(Chart { svg: svg.finish("panel times", (WIDTH, HEIGHT), &label), remark })
    }

    fn words(&self) -> &'static str {
        match self.each {
            Each::Second => "at its worst in each second",
            Each::Trial => "of each trial",
        }
    }

    fn cloud(&self, row: &Row, latency: &Latency, most: usize) -> Cloud {
        let points = points(self.each, row, latency);
        Cloud {
            series: self.loads.iter().position(|load| *load == row.cell.key.load).unwrap_or(0),
            name: load_name(&row.cell.key.load),
            whole: points.len(),
            points: worst(&points, most),
        }
    }

    fn grid(&self, svg: &mut Svg, y: &Scale) {
        for value in y.ticks() {
            let Some(y) = y.at(value) else { continue };
            svg.line("grid", (LEFT, y), (WIDTH - RIGHT, y));
            svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, &tick(value));
        }
        svg.text("tick", (LEFT, HEIGHT - 6.0), Anchor::Start, "0");
        svg.text("tick", (WIDTH - RIGHT, HEIGHT - 6.0), Anchor::End, &self.time.text(self.time.end));
    }

    fn marks(&self, svg: &mut Svg, cloud: &Cloud, y: &Scale, hovers: bool) {
        let x = Scale::linear(0.0, self.time.end).between(LEFT + 4.0, WIDTH - RIGHT - 4.0);
        let places = cloud.points.iter().filter_map(|point| Some((x.at(point.0)?, y.at(point.1)?, point)));
        let class = format!("point {}", hue(cloud.series));
        let mut all = String::new();
        for (x, y, (at, ms)) in places {
            let d = outline(cloud.series, (x, y), if hovers { RADII.0 } else { RADII.1 });
            if hovers {
                svg.path(&class, &d, Some(&format!("{}, {}: {} ms", cloud.name, self.time.text(*at), figure(*ms))));
            } else {
                all += &d;
            }
        }
        if !all.is_empty() {
            svg.path(&class, &all, Some(&cloud.name));
        }
    }
}

/// A second in which no frame was done, and a trial without frames, have no mark.
fn points(each: Each, row: &Row, latency: &Latency) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = match each {
        Each::Second => latency.seconds.clone(),
        Each::Trial => row.samples.iter().map(|sample| (sample.at, sample.value)).collect(),
    };
    points.retain(|(at, ms)| at.is_finite() && ms.is_finite() && *ms > 0.0);
    points
}

/// Returns at most `most` points: the worst of every stretch, so that none of the worst is lost.
fn worst(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(most.max(1)).max(1);
    points.chunks(stretch).filter_map(|part| part.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_survives() {
        let points: Vec<(f64, f64)> = (0..1000).map(|k| (f64::from(k), if k == 777 { 9.0 } else { 1.0 })).collect();
        let kept = worst(&points, 30);
        assert!(kept.len() <= 30 && kept.contains(&(777.0, 9.0)));
        assert_eq!(worst(&points, 1000).len(), 1000);
    }
}
