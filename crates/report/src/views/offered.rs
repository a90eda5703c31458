//! Latency against offered load: a table and a curve of every server that was measured at several rates.

use analysis::{Curve, Offered, Results, Saturation, curves};
use journal::Key;
use stats::Estimate;
use words::{figure, whole};

use super::tasks::{beside, title};
use crate::charts::key;
use crate::charts::plot::{Axis, Form, Line, Mark, Plot, Series};
use crate::charts::scale::Scale;
use crate::document::{Block, Chart, Column, Columns, Field};

const HEIGHT: f64 = 320.0;

/// The percentiles that have a line each.
const LINES: [&str; 2] = ["p50", "p99"];

const CAPTION: &str = "Time from the moment at which a request was due to its answer, by how many requests come in a \
second: the lower line of a colour is the median, the upper one the 99th percentile. The scale of ms is logarithmic.";

const COLUMNS: &str = "Offered and Answered: requests per second that came, and that were answered; percentiles: ms from \
the planned moment to the answer. The first ± belongs to Answered, the second to p99, or to the highest percentile \
that the data support. If more requests come than are answered, the queue and the latency grow for as long as the \
window lasts.";

/// Returns the curves of all servers; nothing where none was measured at several rates.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let curves = curves(results);
    if curves.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::section("Latency against offered load"), chart(&curves)];
    for curve in &curves {
        blocks.extend([Block::section(name(curve)), table(curve)]);
    }
    blocks.push(Block::text(COLUMNS));
    blocks
}

fn name(curve: &Curve<'_>) -> String {
    let Key { load, .. } = &curve.first.key;
    let label = curve.first.label.rsplit_once(" at ").map_or(curve.first.label.as_str(), |(label, _)| label);
    format!("{} {}", title(label, &curve.first.key), beside(load))
}

/// Returns for each server whether it keeps up with the highest rate.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    curves(results).iter().map(sentence).collect()
}

fn sentence(curve: &Curve<'_>) -> String {
    let found = match curve.saturation() {
        Saturation::At(Estimate { value, low, high }) => {
            let [rate, low, high] = [value, low, high].map(whole);
            format!("keeps up with {rate} requests per second ({low} to {high}), and no more")
        }
        Saturation::Above(rate) => format!("keeps up with {} requests per second, the most that came", whole(rate)),
        Saturation::Unknown(rate) => {
            format!("there are too few blocks to tell whether it keeps up with {} requests per second", whole(rate))
        }
    };
    format!("{}: {found}.", name(curve))
}

fn table(curve: &Curve<'_>) -> Block {
    let percentile = |name: &'static str| move |at: &Offered<'_>| Field::maybe(at.latency.percentile(name), figure);
    let columns = Columns::new()
        .keyed(|at: &Offered<'_>| &at.figure.cell.key)
        .with(Column::number("Offered").keyed("offered").wide(9), |at| Field::Number(at.offered, whole))
        .with(Column::number("Answered").keyed("answered").wide(9), |at| Field::Estimate(at.answered, whole))
        .with(Column::number("±").wide(7), |at| Field::Spread(at.answered))
        .with(Column::number("p50").keyed("p50").wide(8), percentile("p50"))
        .with(Column::number("p99").keyed("p99").main().wide(8), percentile("p99"))
        .with(Column::number("±").wide(7), |at| Field::Spread(at.figure.score))
        .with(Column::number("p99.9").keyed("p999").wide(8), percentile("p99.9"))
        .with(Column::number("% met").keyed("deadlines_met").wide(7), |at| {
            Field::maybe(at.latency.deadlines_met.map(|met| met.value), words::share)
        });
    Block::Table(columns.table(&curve.points).keyed("offered"))
}

fn chart(curves: &[Curve<'_>]) -> Block {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let values: Vec<f64> =
        points().flat_map(|at| LINES.iter().filter_map(|name| at.latency.percentile(name))).collect();
    let most = points().map(|at| at.offered).fold(0.0, f64::max);
    let panels = Scale::log(&values, &[]).map(|scale| {
        let plot = Plot {
            label: "Time to the answer in ms, by requests per second".to_owned(),
            x: Axis::new(Scale::linear(0.0, most * 1.04)),
            y: Axis::new(scale),
            series: curves.iter().enumerate().map(|(number, curve)| series(number, curve)).collect(),
            ..Plot::default()
        };
        (String::new(), plot.chart(HEIGHT))
    });
    let legend = curves.iter().enumerate().map(|(number, curve)| (key(number), name(curve))).collect();
    Block::Chart(Chart {
        legend,
        panels: panels.into_iter().collect(),
        caption: CAPTION.to_owned(),
        ..Chart::default()
    })
}

fn series(number: usize, curve: &Curve<'_>) -> Series {
    let line = |name: &&str| {
        let points = curve.points.iter().filter_map(|at| Some((at.offered, at.latency.percentile(name)?)));
        Line { points: points.collect(), ..Line::default() }
    };
    let marks = |name: &&'static str| {
        let name = *name;
        curve.points.iter().filter_map(move |at| {
            let ms = at.latency.percentile(name)?;
            let title = format!("{} requests per second: {name} {} ms", whole(at.offered), figure(ms));
            Some(Mark { at: (at.offered, ms), form: Form::Full, title, ..Mark::default() })
        })
    };
    Series {
        number,
        title: name(curve),
        lines: LINES.iter().map(line).collect(),
        marks: LINES.iter().flat_map(marks).collect(),
    }
}
