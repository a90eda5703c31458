//! The chart of executions of commands that are compared: how their times are distributed.

use stats::quantile;

use super::plot::{Axis, Line, Plot, Series};
use super::scale::Scale;
use super::svg::Drawings;

const HEIGHT_PX: f64 = 180.0;

/// A curve has a point at every hundredth of its share.
const CURVE_STEPS: usize = 100;

/// The share of times that the axis leaves out: stalls would press the rest together.
const LEFT_OUT: f64 = 0.02;

/// The times of a command's executions.
pub(crate) struct Times<'a> {
    pub(crate) name: &'a str,
    /// The number of its series.
    pub(crate) number: usize,
    pub(crate) ms: Vec<f64>,
}

/// The share of executions over the time that they took at most, a curve for each command, with
/// lines at the times `marked_ms`; `None` if any has fewer than two executions.
pub(crate) fn draw_distributions(commands: &[Times<'_>], marked_ms: &[f64]) -> Option<Drawings> {
    if commands.iter().any(|command| command.ms.len() < 2) {
        return None;
    }

    let all_ms: Vec<f64> = commands.iter().flat_map(|command| &command.ms).copied().collect();
    let first_ms = quantile(&all_ms, 0.0);
    let last_ms = quantile(&all_ms, 1.0 - LEFT_OUT);

    let plot = Plot {
        label: "Share of executions, in per cent, that took at most a given time in milliseconds"
            .to_owned(),
        x: Axis::new(Scale::linear(first_ms, last_ms)),
        y: percent_axis(0.0, 100.0),
        down: marked_ms.iter().map(|ms| (*ms, words::compact(*ms))).collect(),
        series: commands.iter().map(|command| distribution(command, last_ms)).collect(),
        ..Plot::default()
    };
    Some(plot.panel(HEIGHT_PX))
}

/// The distribution of a command's times up to `last_ms`.
fn distribution(command: &Times<'_>, last_ms: f64) -> Series {
    let mut points = Vec::new();
    for step in 0..=CURVE_STEPS {
        let share = step as f64 / CURVE_STEPS as f64;
        let ms = quantile(&command.ms, share);
        if ms <= last_ms {
            points.push((ms, 100.0 * share));
        }
    }
    Series {
        number: command.number,
        title: command.name.to_owned(),
        lines: vec![Line { points, ..Line::default() }],
        ..Series::default()
    }
}

fn percent_axis(low: f64, high: f64) -> Axis {
    let mut axis = Axis::new(Scale::linear(low, high));
    for (_, text) in &mut axis.ticks {
        text.push('%');
    }
    axis
}
