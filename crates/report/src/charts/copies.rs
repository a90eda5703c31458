//! Differences over copies: a panel per test, a curve per condition.

use stats::Estimate;
use words::Unique;

use super::plot::{Axis, Form, Line, Mark, Plot, Series};
use super::scale::{Scale, tick};

const HEIGHT: f64 = 170.0;

/// A point of a curve.
pub(crate) struct Point {
    /// The number of copies.
    pub(crate) x: f64,
    /// The difference.
    pub(crate) y: Estimate,
    /// Everything about it, on hover.
    pub(crate) title: String,
}

/// Returns a panel of curves by series, whose axis reaches at least from -`reach` to `reach`, so that noise looks small;
/// `None` without a point.
pub(crate) fn draw(label: &str, reach: f64, curves: &[(usize, Vec<Point>)]) -> Option<String> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let ends = points().flat_map(|point| [point.y.value, point.y.low, point.y.high]).filter(|end| end.is_finite());
    let (low, high) = ends.fold((-reach, reach), |(low, high), end| (low.min(end), high.max(end)));
    let mut levels: Vec<f64> = points().map(|point| point.x).unique();
    levels.sort_by(f64::total_cmp);
    let (least, most) = (*levels.first()?, *levels.last()?);
    let margin = 0.06 * (most - least);
    let plot = Plot {
        label: label.to_owned(),
        x: Axis {
            scale: Scale::linear(least - margin, most + margin),
            ticks: levels.iter().map(|level| (*level, tick(*level))).collect(),
        },
        y: Axis::new(Scale::linear(low, high)),
        across: vec![(0.0, String::new())],
        series: curves.iter().map(|(number, points)| series(*number, points)).collect(),
        ..Plot::default()
    };
    Some(plot.panel(HEIGHT))
}

fn series(number: usize, points: &[Point]) -> Series {
    let mark = |point: &Point| Mark {
        at: (point.x, point.y.value),
        interval: point.y.bounded().then_some((point.y.low, point.y.high)),
        form: Form::Full,
        title: point.title.clone(),
    };
    let line = Line { points: points.iter().map(|point| (point.x, point.y.value)).collect(), ..Line::default() };
    Series { number, lines: vec![line], marks: points.iter().map(mark).collect(), ..Series::default() }
}
