//! Executions of commands that are compared: how their times are distributed, and the difference of
//! each pair in the order in which they came.

use maud::Markup;
use stats::quantile;

use super::plot::{Axis, Line, Mark, Plot, Series};
use super::scale::Scale;

const HEIGHT: f64 = 180.0;

/// Points of a curve, and marks of a series.
const CURVE: usize = 100;
const MARKS: usize = 400;

/// The share of times, and of pairs on either side, that axes leave out: stalls would hide the rest.
const BEYOND: f64 = 0.02;

/// The times of a command in ms, in the order in which they came.
pub(crate) struct Times<'a> {
    pub(crate) name: &'a str,
    pub(crate) number: usize,
    pub(crate) ms: Vec<f64>,
}

/// Returns the share of executions over the time that they took at most, a curve for each command; `None` if any has
/// fewer than two executions.
pub(crate) fn distributions(commands: &[Times<'_>]) -> Option<Markup> {
    if commands.iter().any(|command| command.ms.len() < 2) {
        return None;
    }
    let all: Vec<f64> = commands.iter().flat_map(|command| &command.ms).copied().collect();
    let last = quantile(&all, 1.0 - BEYOND);
    let curve = |command: &Times<'_>| {
        let share = |step: usize| step as f64 / CURVE as f64;
        let points = (0..=CURVE).map(|step| (quantile(&command.ms, share(step)), 100.0 * share(step)));
        let points = points.filter(|(ms, _)| *ms <= last).collect();
        let title = command.name.to_owned();
        Series { number: command.number, title, lines: vec![Line { points, ..Line::default() }], ..Series::default() }
    };
    let plot = Plot {
        label: "Share of executions, in per cent, that took at most a given time in milliseconds".to_owned(),
        x: Axis::new(Scale::linear(quantile(&all, 0.0), last)),
        y: percent(0.0, 100.0),
        series: commands.iter().map(curve).collect(),
        ..Plot::default()
    };
    Some(plot.panel(HEIGHT))
}

/// Returns the difference of each pair, of `other` less `base`, with a line at 0; `None` of fewer than two pairs.
pub(crate) fn pairs(base: &Times<'_>, other: &Times<'_>) -> Option<Markup> {
    let changes: Vec<f64> = base.ms.iter().zip(&other.ms).map(|(base, other)| (other / base - 1.0) * 100.0).collect();
    let known: Vec<f64> = changes.iter().copied().filter(|change| change.is_finite()).collect();
    if known.len() < 2 {
        return None;
    }
    let reach = quantile(&known, BEYOND).abs().max(quantile(&known, 1.0 - BEYOND).abs()).max(1.0);
    let stretch = changes.len().div_ceil(MARKS);
    let mark = |(place, change): (usize, &f64)| Mark {
        at: ((place + 1) as f64, *change),
        title: format!("pair {}: {} %", place + 1, words::signed(*change)),
        ..Mark::default()
    };
    let plot = Plot {
        label: format!("{} against {}: the difference of each pair in per cent", other.name, base.name),
        x: Axis::new(Scale::linear(1.0, changes.len() as f64)),
        y: percent(-reach, reach),
        across: vec![(0.0, String::new())],
        series: vec![Series {
            number: other.number,
            marks: changes.iter().enumerate().step_by(stretch).map(mark).collect(),
            ..Series::default()
        }],
        ..Plot::default()
    };
    Some(plot.panel(HEIGHT))
}

fn percent(low: f64, high: f64) -> Axis {
    let axis = Axis::new(Scale::linear(low, high));
    let ticks = axis.ticks.into_iter().map(|(value, words)| (value, format!("{words}%"))).collect();
    Axis { ticks, ..axis }
}
