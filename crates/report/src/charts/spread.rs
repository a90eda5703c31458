//! The small multiples: every trial's score against the median of its cell, over the run's time, so
//! that drift, outliers and second modes are seen.

use super::index::series;
use super::plot::{Axis, Mark, Plot, Series};
use super::scale::Scale;
use analysis::{Results, Row, Sample};
use stats::median;
use words::{copies, score as number};

/// Most points of a panel, and of all panels: they bound the page, however long the run was.
const PANEL: usize = 400;
const PAGE: usize = 20_000;
/// Most points that have a hover text each, of a panel and of all panels.
const HOVER_PANEL: usize = 48;
const HOVER_PAGE: usize = 3_000;
/// How many of a cell's lowest and of its highest trials a thinned panel keeps.
const OUTERMOST: usize = 8;
/// Half-heights that panels may have, in per cent.
const LADDER: [f64; 12] = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 300.0, 500.0];
/// A panel with more than this share of its points beyond the common scale has one of its own.
const BEYOND: f64 = 0.25;

/// What is further away than this, in per cent, is not told apart.
const FAR: f64 = 1e5;

const HEIGHT: f64 = 146.0;

/// One test's panel.
#[derive(Debug)]
pub(crate) struct Panel {
    /// The test, and what is special about the drawing.
    pub(crate) label: String,
    /// The drawing.
    pub(crate) svg: String,
}

/// The trials of one cell.
struct Cell {
    series: usize,
    copies: u32,
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    at: f64,
    /// From the median, in per cent.
    away: f64,
    sample: Sample,
}

/// The trials of one test under one load and condition.
struct Test {
    label: String,
    unit: String,
    cells: Vec<Cell>,
}

/// How much a panel may hold.
struct Bounds {
    points: usize,
    hovers: usize,
}

/// Returns the panels of all tests with at least two trials at some level.
pub(crate) fn panels(results: &Results) -> Vec<Panel> {
    let tests = tests(results);
    let points = tests.iter().flat_map(|test| &test.cells).flat_map(|cell| &cell.points);
    let end = points.map(|point| point.at).fold(0.0, f64::max);
    let common = common(&tests);
    let share = |page: usize, panel: usize| (page / tests.len().max(1)).min(panel);
    let bounds = Bounds { points: share(PAGE, PANEL), hovers: share(HOVER_PAGE, HOVER_PANEL) };
    tests.iter().map(|test| test.panel(common, end, &bounds)).collect()
}

/// The tests of all levels. Each is placed behind the one before it at its level, so that one
/// that is missing at the first level is in its place all the same.
fn tests(results: &Results) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut keys: Vec<(&str, &str, &str)> = Vec::new();
    let (mut level, mut after) = (0, 0);
    for row in results.rows.iter().filter(|row| row.latency.is_none()) {
        if level != row.cell.key.copies {
            (level, after) = (row.cell.key.copies, 0);
        }
        let Some(cell) = cell(results, row) else { continue };
        let key = (row.cell.key.test.as_str(), row.cell.key.load.as_str(), row.cell.key.condition.as_str());
        if let Some(place) = keys.iter().position(|known| *known == key) {
            tests[place].cells.push(cell);
            after = place + 1;
        } else {
            let label = crate::views::name(&row.cell.label, &row.cell.key);
            keys.insert(after, key);
            tests.insert(after, Test { label, unit: row.cell.unit.clone(), cells: vec![cell] });
            after += 1;
        }
    }
    tests
}

/// Returns the points of a row; nothing where fewer than two trials have a score to compare.
fn cell(results: &Results, row: &Row) -> Option<Cell> {
    let fit = |sample: &&Sample| sample.value.is_finite() && sample.at.is_finite();
    let samples: Vec<Sample> = row.samples.iter().filter(fit).copied().collect();
    let middle = median(&samples.iter().map(|sample| sample.value).collect::<Vec<_>>());
    if samples.len() < 2 || !(middle > 0.0 && middle.is_finite()) {
        return None;
    }
    let away = |value: f64| ((value / middle - 1.0) * 100.0).clamp(-FAR, FAR);
    let point = |sample: Sample| Point { at: sample.at, away: away(sample.value), sample };
    let points = samples.into_iter().map(point).collect();
    Some(Cell { series: series(results, row.cell.key.copies), copies: row.cell.key.copies, points })
}

/// The half-height that holds all but the outermost twentieth of all panels' points, or a little
/// more where that holds all.
fn common(tests: &[Test]) -> f64 {
    let cells = tests.iter().flat_map(|test| &test.cells);
    let mut away: Vec<f64> = cells.flat_map(|cell| cell.points.iter().map(|p| p.away.abs())).collect();
    if away.is_empty() {
        return LADDER[0];
    }
    let place = (away.len() - 1) * 19 / 20;
    let (_, value, _) = away.select_nth_unstable_by(place, f64::total_cmp);
    let most = step(*value);
    let all = step(away.into_iter().fold(0.0, f64::max));
    if all <= 2.5 * most { all } else { most }
}

fn step(value: f64) -> f64 {
    LADDER.into_iter().find(|step| *step >= value * 1.05).unwrap_or(1000.0)
}

impl Test {
    fn panel(&self, common: f64, end: f64, bounds: &Bounds) -> Panel {
        let all = || self.cells.iter().flat_map(|cell| &cell.points);
        let count = all().count();
        let beyond = |limit: f64| all().filter(|point| point.away.abs() > limit).count();
        let own = beyond(common) as f64 > BEYOND * count as f64;
        let limit = if own { step(all().map(|p| p.away.abs()).fold(0.0, f64::max)) } else { common };
        let quota = (bounds.points / self.cells.len()).max(3);
        let cells: Vec<(&Cell, Vec<Point>)> =
            self.cells.iter().map(|cell| (cell, thinned(&cell.points, quota))).collect();
        let shown = cells.iter().map(|cell| cell.1.len()).sum::<usize>();
        let hovers = shown <= bounds.hovers;
        let mark = |cell: &Cell, point: &Point| Mark {
            at: (point.at, point.away),
            title: if hovers { self.title(cell, point) } else { String::new() },
            ..Mark::default()
        };
        let series = |(cell, points): &(&Cell, Vec<Point>)| Series {
            number: cell.series,
            marks: points.iter().map(|point| mark(cell, point)).collect(),
            ..Series::default()
        };
        let ticks = vec![(limit, format!("+{limit:.0}%")), (0.0, "0%".to_owned()), (-limit, format!("−{limit:.0}%"))];
        let remark = remark(own, beyond(limit), shown, count);
        let plot = Plot {
            label: format!("{}: {count} trials against their median over time. {remark}", self.label).trim().to_owned(),
            x: Axis::time(end),
            y: Axis { scale: Scale::linear(-limit, limit), ticks },
            across: vec![(0.0, String::new())],
            series: cells.iter().map(series).collect(),
            ..Plot::default()
        };
        let label = if remark.is_empty() { self.label.clone() } else { format!("{} ({remark})", self.label) };
        Panel { label, svg: plot.panel(HEIGHT) }
    }

    fn title(&self, cell: &Cell, point: &Point) -> String {
        let value = number(point.sample.value);
        format!(
            "{}, {}, block {}: {value} {}, {}%",
            copies(cell.copies),
            words::duration(point.at),
            point.sample.block,
            self.unit,
            words::signed(point.away)
        )
    }
}

fn remark(own: bool, beyond: usize, shown: usize, count: usize) -> String {
    let mut parts = Vec::new();
    if own {
        parts.push("a scale of its own".to_owned());
    }
    if beyond > 0 {
        parts.push(format!("{beyond} beyond the scale"));
    }
    if shown < count {
        parts.push(format!("{shown} of {count} trials"));
    }
    parts.join("; ")
}

/// Returns at most about `most` points: one trial of every stretch of time, so that the cloud is
/// as dense as the trials were, and the outermost of all, so that outliers survive. (The lowest and
/// highest of every stretch would draw bands where there are none.)
fn thinned(points: &[Point], most: usize) -> Vec<Point> {
    if points.len() <= most {
        return points.to_vec();
    }
    let outermost = OUTERMOST.min(most / 4);
    let stretches = most - 2 * outermost;
    let mut kept: Vec<Point> = (0..stretches).map(|stretch| points[pick(points.len(), stretches, stretch)]).collect();
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.away.total_cmp(&b.away));
    kept.extend(&sorted[..outermost]);
    kept.extend(&sorted[sorted.len() - outermost..]);
    kept
}

/// Returns a place within a stretch: always the same, but not in step with any period of the trials.
fn pick(length: usize, stretches: usize, stretch: usize) -> usize {
    let (from, to) = (length * stretch / stretches, length * (stretch + 1) / stretches);
    let mixed = (stretch as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    from + mixed as usize % (to - from).max(1)
}
