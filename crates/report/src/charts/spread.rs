//! The small multiples of trials: every trial's score against the median of its cell, over the
//! run's time, so that drift, outliers and second modes are seen.
//!
//! There is a panel per test, with a series per level of copies. All panels share one scale of per
//! cent, but a panel with more than a quarter of its points beyond it has one of its own. Long
//! runs are thinned, so that a page is bounded however many trials there were.

use analysis::{Figure, Results, Sample};
use stats::median;
use words::{Unique, copies, merged};

use super::index::series_of_level;
use super::plot::{Axis, Mark, Plot, Series};
use super::scale::Scale;
use super::svg::Drawings;

/// Points of a panel and of all panels at most, for the size of the page.
const MAX_PANEL_POINTS: usize = 400;
const MAX_PAGE_POINTS: usize = 20_000;

/// Points that have a hover text each at most, of a panel and of all panels.
const MAX_PANEL_HOVERS: usize = 48;
const MAX_PAGE_HOVERS: usize = 3_000;

/// A series has at least so many points, however many panels there are.
const MIN_SERIES_POINTS: usize = 3;

/// A thinned series keeps so many of its lowest and of its highest trials.
const KEPT_OUTLIERS: usize = 8;

/// Half-heights that panels may have, in per cent.
const HALF_HEIGHTS: [f64; 12] =
    [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 300.0, 500.0];
const MAX_HALF_HEIGHT: f64 = 1000.0;

/// The common scale shows every point if it need not be larger than this multiple of what most
/// points need.
const MAX_STRETCH: f64 = 2.5;

/// A panel with more than this share of its points beyond the common scale has one of its own.
const MAX_SHARE_BEYOND: f64 = 0.25;

/// Deviations in per cent are cut here, far beyond any scale.
const MAX_DEVIATION: f64 = 1e5;

const HEIGHT_PX: f64 = 146.0;

/// A trial, and how far it is from its cell's median.
#[derive(Clone, Copy)]
struct Point {
    sample: Sample,
    deviation_percent: f64,
}

/// The trials of one cell: one series of a panel.
#[derive(Clone)]
struct Cell<'a> {
    figure: &'a Figure,
    points: Vec<Point>,
}

/// The cells of one test under one load and condition: one panel.
type Test<'a> = Vec<Cell<'a>>;

/// What the panels of a page have in common.
struct Page<'a> {
    results: &'a Results,
    panels: usize,
    /// The half-height of most panels, in per cent.
    half_height: f64,
    /// The moment of the last trial, in seconds.
    end: f64,
}

impl Cell<'_> {
    fn level(&self) -> u32 {
        self.figure.cell.key.copies
    }

    /// The test, the load and the condition.
    fn family(&self) -> (&str, &str, &str) {
        let key = &self.figure.cell.key;
        (&key.test, &key.load, &key.condition)
    }
}

/// A panel with its label for every test with at least two trials at some level.
pub(crate) fn draw_panels(results: &Results) -> Vec<(String, Drawings)> {
    let tests = group_by_test(results);
    let points: Vec<&Point> = tests.iter().flatten().flat_map(|cell| &cell.points).collect();
    let deviations = points.iter().map(|point| point.deviation_percent.abs()).collect();

    let page = Page {
        results,
        panels: tests.len(),
        half_height: common_half_height(deviations),
        end: points.iter().map(|point| point.sample.at).fold(0.0, f64::max),
    };
    tests.iter().map(|test| draw_panel(&page, test)).collect()
}

/// The cells that have points, by test in the order of the run.
fn group_by_test(results: &Results) -> Vec<Test<'_>> {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for figure in results.figures.iter().filter(|figure| figure.latency.is_none()) {
        if let Some(points) = points_of(figure) {
            cells.push(Cell { figure, points });
        }
    }

    let mut families_by_level = Vec::new();
    for level in cells.iter().map(Cell::level).unique() {
        let at_level = cells.iter().filter(|cell| cell.level() == level);
        families_by_level.push(at_level.map(Cell::family).collect());
    }

    let mut tests = Vec::new();
    for family in merged(families_by_level) {
        tests.push(cells.iter().filter(|cell| cell.family() == family).cloned().collect());
    }
    tests
}

/// The points of a cell; `None` if fewer than two trials have a score to compare.
fn points_of(figure: &Figure) -> Option<Vec<Point>> {
    let samples: Vec<Sample> = figure
        .samples
        .iter()
        .copied()
        .filter(|sample| sample.value.is_finite() && sample.at.is_finite())
        .collect();
    let median = median(&samples.iter().map(|sample| sample.value).collect::<Vec<f64>>());
    if samples.len() < 2 || !median.is_finite() || median <= 0.0 {
        return None;
    }

    let mut points = Vec::new();
    for sample in samples {
        let percent = (sample.value / median - 1.0) * 100.0;
        let deviation_percent = percent.clamp(-MAX_DEVIATION, MAX_DEVIATION);
        points.push(Point { sample, deviation_percent });
    }
    Some(points)
}

/// The half-height that holds all but the outermost twentieth of all panels' points, or a little
/// more where that holds all.
fn common_half_height(mut deviations: Vec<f64>) -> f64 {
    deviations.sort_unstable_by(f64::total_cmp);
    let Some(largest) = deviations.last() else {
        return HALF_HEIGHTS[0];
    };

    let for_most = half_height_for(deviations[(deviations.len() - 1) * 19 / 20]);
    let for_all = half_height_for(*largest);
    if for_all <= MAX_STRETCH * for_most { for_all } else { for_most }
}

/// The smallest half-height that leaves a little room beyond a deviation.
fn half_height_for(deviation: f64) -> f64 {
    let enough = HALF_HEIGHTS.into_iter().find(|half_height| *half_height >= deviation * 1.05);
    enough.unwrap_or(MAX_HALF_HEIGHT)
}

fn draw_panel(page: &Page<'_>, test: &Test<'_>) -> (String, Drawings) {
    let points = test.iter().flat_map(|cell| &cell.points);
    let deviations: Vec<f64> = points.map(|point| point.deviation_percent.abs()).collect();
    let trials = deviations.len();
    let beyond_common = count_beyond(&deviations, page.half_height);
    let has_own_scale = beyond_common as f64 > MAX_SHARE_BEYOND * trials as f64;
    let half_height = match has_own_scale {
        true => half_height_for(deviations.iter().copied().fold(0.0, f64::max)),
        false => page.half_height,
    };

    let series = thinned_series(page, test);
    let shown = series.iter().map(|series| series.marks.len()).sum::<usize>();
    let beyond = count_beyond(&deviations, half_height);
    let mut remarks = Vec::new();
    if has_own_scale {
        remarks.push("a scale of its own".to_owned());
    }
    if beyond > 0 {
        remarks.push(format!("{beyond} beyond the scale"));
    }
    if shown < trials {
        remarks.push(format!("{shown} of {trials} trials"));
    }
    let remark = remarks.join("; ");

    let name = test.first().map_or(String::new(), |cell| {
        crate::views::name(&cell.figure.cell.label, &cell.figure.cell.key)
    });
    let label = format!("{name}: {trials} trials against their median over time. {remark}");
    let plot = Plot {
        label: label.trim().to_owned(),
        x: Axis::time(page.end),
        y: percent_axis(half_height),
        across: vec![(0.0, String::new())],
        series,
        hovers: Some((MAX_PAGE_HOVERS / page.panels).min(MAX_PANEL_HOVERS)),
        ..Plot::default()
    };
    let title = if remark.is_empty() { name } else { format!("{name} ({remark})") };
    (title, plot.panel(HEIGHT_PX))
}

/// A series per cell, each with its share of the points that a panel of the page may have.
fn thinned_series(page: &Page<'_>, test: &Test<'_>) -> Vec<Series> {
    let max_panel_points = (MAX_PAGE_POINTS / page.panels).min(MAX_PANEL_POINTS);
    let max_points = (max_panel_points / test.len()).max(MIN_SERIES_POINTS);
    let levels = page.results.levels();

    let mut series = Vec::new();
    for cell in test {
        let points = thin_points(&cell.points, max_points);
        series.push(Series {
            number: series_of_level(&levels, cell.level()),
            marks: points.iter().map(|point| mark(cell.figure, point)).collect(),
            ..Series::default()
        });
    }
    series
}

fn percent_axis(half_height: f64) -> Axis {
    let ticks = vec![
        (half_height, format!("+{half_height:.0}%")),
        (0.0, "0%".to_owned()),
        (-half_height, format!("−{half_height:.0}%")),
    ];
    Axis { scale: Scale::linear(-half_height, half_height), ticks }
}

fn count_beyond(deviations: &[f64], half_height: f64) -> usize {
    deviations.iter().filter(|deviation| **deviation > half_height).count()
}

fn mark(figure: &Figure, point: &Point) -> Mark {
    let Point { sample, deviation_percent } = *point;
    let copies = copies(figure.cell.key.copies);
    let at = words::duration(sample.at);
    let score = format!("{} {}", words::score(sample.value), figure.cell.unit);
    let deviation = words::signed(deviation_percent);
    Mark {
        at: (sample.at, deviation_percent),
        title: format!("{copies}, {at}, block {}: {score}, {deviation}%", sample.block),
        ..Mark::default()
    }
}

/// Thins points to about `max_points`: one trial of every stretch of time, so that the cloud is as
/// dense as the trials were, and the outermost of all, so that outliers survive. (The lowest and
/// highest of every stretch would draw bands where there are none.)
fn thin_points(points: &[Point], max_points: usize) -> Vec<Point> {
    if points.len() <= max_points {
        return points.to_vec();
    }

    let outliers = KEPT_OUTLIERS.min(max_points / 4);
    let stretches = max_points - 2 * outliers;
    let mut kept: Vec<Point> =
        (0..stretches).map(|stretch| points[points.len() * stretch / stretches]).collect();

    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.deviation_percent.total_cmp(&b.deviation_percent));
    kept.extend(&sorted[..outliers]);
    kept.extend(&sorted[sorted.len() - outliers..]);
    kept
}
