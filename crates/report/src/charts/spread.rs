//! The small multiples: every trial's score against the median of its cell, over the run's time, so
//! that drift, outliers and second modes are seen.

use super::index::series;
use super::plot::{Axis, Mark, Plot, Series};
use super::scale::Scale;
use analysis::{Figure, Results, Sample};
use maud::Markup;
use stats::median;
use words::{Unique, copies, merged};

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

/// The distance in per cent beyond which values are not told apart.
const FAR: f64 = 1e5;

const HEIGHT: f64 = 146.0;

/// A trial, and how far it is from its cell's median in per cent.
type Point = (Sample, f64);

/// The cells of one test under one load and condition.
type Test<'a> = Vec<(&'a Figure, Vec<Point>)>;

/// Returns a panel with its label for every test with at least two trials at some level.
pub(crate) fn panels(results: &Results) -> Vec<(String, Markup)> {
    let tests = tests(results);
    let points = || tests.iter().flatten().flat_map(|(_, points)| points);
    let end = points().map(|point| point.0.at).fold(0.0, f64::max);
    let common = common(points().map(|point| point.1.abs()).collect());
    tests.iter().map(|test| panel(results, test, common, end, tests.len())).collect()
}

fn tests(results: &Results) -> Vec<Test<'_>> {
    let rows = results.figures.iter().filter(|row| row.latency.is_none());
    let cells: Vec<(&Figure, Vec<Point>)> = rows.filter_map(|row| Some((row, points(row)?))).collect();
    let here =
        |level| cells.iter().map(|(row, _)| row).filter(move |row| row.cell.key.copies == level).map(|row| family(row));
    let levels = cells.iter().map(|(row, _)| row.cell.key.copies).unique();
    let families = merged(levels.into_iter().map(|level| here(level).collect()));
    let of = |test| cells.iter().filter(|(row, _)| family(row) == test).cloned().collect();
    families.into_iter().map(of).collect()
}

fn family(row: &Figure) -> (&str, &str, &str) {
    (&row.cell.key.test, &row.cell.key.load, &row.cell.key.condition)
}

/// `None` where fewer than two trials have a score to compare.
fn points(row: &Figure) -> Option<Vec<Point>> {
    let fit = row.samples.iter().filter(|sample| sample.value.is_finite() && sample.at.is_finite());
    let middle = median(&fit.clone().map(|sample| sample.value).collect::<Vec<f64>>());
    let away = |value: f64| ((value / middle - 1.0) * 100.0).clamp(-FAR, FAR);
    let points: Vec<Point> = fit.map(|sample| (*sample, away(sample.value))).collect();
    (points.len() > 1 && middle > 0.0 && middle.is_finite()).then_some(points)
}

/// The half-height that holds all but the outermost twentieth of all panels' points, or a little
/// more where that holds all.
fn common(mut away: Vec<f64>) -> f64 {
    away.sort_unstable_by(f64::total_cmp);
    let Some(last) = away.last() else { return LADDER[0] };
    let (most, all) = (step(away[(away.len() - 1) * 19 / 20]), step(*last));
    if all <= 2.5 * most { all } else { most }
}

fn step(value: f64) -> f64 {
    LADDER.into_iter().find(|step| *step >= value * 1.05).unwrap_or(1000.0)
}

fn panel(results: &Results, test: &Test<'_>, common: f64, end: f64, panels: usize) -> (String, Markup) {
    let all: Vec<f64> = test.iter().flat_map(|(_, points)| points).map(|point| point.1.abs()).collect();
    let beyond = |limit: f64| all.iter().filter(|away| **away > limit).count();
    let own = beyond(common) as f64 > BEYOND * all.len() as f64;
    let limit = if own { step(all.iter().copied().fold(0.0, f64::max)) } else { common };
    let quota = ((PAGE / panels).min(PANEL) / test.len()).max(3);
    let levels = results.levels();
    let series = |(row, points): &(&Figure, Vec<Point>)| Series {
        number: series(&levels, row.cell.key.copies),
        marks: thinned(points, quota).iter().map(|point| mark(row, point)).collect(),
        ..Series::default()
    };
    let series: Vec<Series> = test.iter().map(series).collect();
    let shown = series.iter().map(|series| series.marks.len()).sum::<usize>();
    let remarks = [
        own.then(|| "a scale of its own".to_owned()),
        (beyond(limit) > 0).then(|| format!("{} beyond the scale", beyond(limit))),
        (shown < all.len()).then(|| format!("{shown} of {} trials", all.len())),
    ];
    let remark = remarks.into_iter().flatten().collect::<Vec<String>>().join("; ");
    let name = test.first().map_or(String::new(), |(row, _)| crate::views::name(&row.cell.label, &row.cell.key));
    let ticks = vec![(limit, format!("+{limit:.0}%")), (0.0, "0%".to_owned()), (-limit, format!("−{limit:.0}%"))];
    let plot = Plot {
        label: format!("{name}: {} trials against their median over time. {remark}", all.len()).trim().to_owned(),
        x: Axis::time(end),
        y: Axis { scale: Scale::linear(-limit, limit), ticks },
        across: vec![(0.0, String::new())],
        series,
        hovers: Some((HOVER_PAGE / panels).min(HOVER_PANEL)),
        ..Plot::default()
    };
    (if remark.is_empty() { name } else { format!("{name} ({remark})") }, plot.panel(HEIGHT))
}

fn mark(row: &Figure, (sample, away): &Point) -> Mark {
    let (copies, at, value) = (copies(row.cell.key.copies), words::duration(sample.at), words::score(sample.value));
    let (block, unit, away_in_words) = (sample.block, &row.cell.unit, words::signed(*away));
    let title = format!("{copies}, {at}, block {block}: {value} {unit}, {away_in_words}%");
    Mark { at: (sample.at, *away), title, ..Mark::default() }
}

/// Returns at most about `most` points: one trial of every stretch of time, so that the cloud is as dense as the trials
/// were, and the outermost of all, so that outliers survive. (The lowest and highest of every stretch would draw bands
/// where there are none.)
fn thinned(points: &[Point], most: usize) -> Vec<Point> {
    if points.len() <= most {
        return points.to_vec();
    }
    let outermost = OUTERMOST.min(most / 4);
    let stretches = most - 2 * outermost;
    let mut kept: Vec<Point> = (0..stretches).map(|stretch| points[points.len() * stretch / stretches]).collect();
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    kept.extend(&sorted[..outermost]);
    kept.extend(&sorted[sorted.len() - outermost..]);
    kept
}
