//! Latency against offered load: a table and a curve of every server that was measured at several
//! rates.

use analysis::{Curve, Offered, Results, Saturation, curves};
use stats::Estimate;
use words::{figure, whole};

use super::tasks::{describe_load, title};
use crate::charts::key;
use crate::charts::plot::{Axis, Form, Line, Mark, Plot, Series};
use crate::charts::scale::Scale;
use crate::document::{Block, Chart, Column, Columns, Field};

const HEIGHT_PX: f64 = 320.0;

/// The percentiles that have a line each.
const DRAWN_PERCENTILES: [&str; 2] = ["p50", "p99"];

const CAPTION: &str = "Time from the moment at which a request was due to its answer, by how many \
requests come in a second: the lower line of a colour is the median, the upper one the 99th \
percentile. The scale of ms is logarithmic.";

const HOW_TO_READ: &str = "Offered and Answered: requests per second that came, and that were \
answered; percentiles: ms from the planned moment to the answer. The first ± belongs to Answered, \
the second to p99, or to the highest percentile that the data support. If more requests come than \
are answered, the queue and the latency grow for as long as the window lasts.";

/// The curves of all servers; nothing if none was measured at several rates.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let curves = curves(results);
    if curves.is_empty() {
        return Vec::new();
    }

    let mut blocks = vec![Block::section("Latency against offered load"), chart(&curves)];
    for curve in &curves {
        blocks.push(Block::section(name(curve)));
        blocks.push(table(curve));
    }
    blocks.push(Block::text(HOW_TO_READ));
    blocks
}

fn name(curve: &Curve<'_>) -> String {
    let (label, key) = (curve.first.label.as_str(), &curve.first.key);
    // The label of a test at one rate ends with that: ` at 50 %`.
    let label = label.rsplit_once(" at ").map_or(label, |(label, _)| label);
    format!("{} {}", title(label, key), describe_load(&key.load))
}

/// For each server, whether it keeps up with the highest rate.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    curves(results).iter().map(describe_saturation).collect()
}

fn describe_saturation(curve: &Curve<'_>) -> String {
    let name = name(curve);
    match curve.saturation() {
        Saturation::At(Estimate { value, low, high }) => {
            let [rate, low, high] = [value, low, high].map(whole);
            format!(
                "{name}: keeps up with {rate} requests per second ({low} to {high}), and no more."
            )
        }
        Saturation::Above(rate) => {
            let rate = whole(rate);
            format!("{name}: keeps up with {rate} requests per second, the most that came.")
        }
        Saturation::Unknown(rate) => {
            let rate = whole(rate);
            format!(
                "{name}: there are too few blocks to tell whether it keeps up with {rate} requests \
                 per second."
            )
        }
    }
}

fn table(curve: &Curve<'_>) -> Block {
    let columns = Columns::new()
        .keyed(|at: &Offered<'_>| &at.figure.cell.key)
        .with(Column::number("Offered").keyed("offered").wide(9), |at| {
            Field::Number(at.offered, whole)
        })
        .with(Column::number("Answered").keyed("answered").wide(9), |at| {
            Field::Estimate(at.answered, whole)
        })
        .with(Column::number("±").wide(7), |at| Field::Spread(at.answered))
        .with(Column::number("p50").keyed("p50").wide(8), |at| percentile_field(at, "p50"))
        .with(Column::number("p99").keyed("p99").main().wide(8), |at| percentile_field(at, "p99"))
        .with(Column::number("±").wide(7), |at| Field::Spread(at.figure.score))
        .with(Column::number("p99.9").keyed("p999").wide(8), |at| percentile_field(at, "p99.9"))
        .with(Column::number("% met").keyed("deadlines_met").wide(7), |at| {
            Field::maybe(at.latency.deadlines_met.map(|met| met.value), words::share)
        });
    Block::Table(columns.table(&curve.points).keyed("offered"))
}

fn percentile_field(at: &Offered<'_>, percentile: &str) -> Field {
    Field::maybe(at.latency.percentile(percentile), figure)
}

fn chart(curves: &[Curve<'_>]) -> Block {
    let mut values = Vec::new();
    let mut highest_rate: f64 = 0.0;
    for at in curves.iter().flat_map(|curve| &curve.points) {
        values.extend(DRAWN_PERCENTILES.iter().filter_map(|name| at.latency.percentile(name)));
        highest_rate = highest_rate.max(at.offered);
    }

    let mut chart = Chart { caption: CAPTION.to_owned(), ..Chart::default() };
    for (number, curve) in curves.iter().enumerate() {
        chart.legend.push((key(number), name(curve)));
    }
    if let Some(scale) = Scale::log(&values, &[]) {
        let plot = Plot {
            label: "Time to the answer in ms, by requests per second".to_owned(),
            x: Axis::new(Scale::linear(0.0, highest_rate * 1.04)),
            y: Axis::new(scale),
            series: curves
                .iter()
                .enumerate()
                .map(|(number, curve)| series(number, curve))
                .collect(),
            ..Plot::default()
        };
        chart.panels.push((String::new(), plot.chart(HEIGHT_PX)));
    }
    Block::Chart(chart)
}

/// A line with marks for each percentile that is drawn.
fn series(number: usize, curve: &Curve<'_>) -> Series {
    let mut series = Series { number, title: name(curve), ..Series::default() };
    for percentile in DRAWN_PERCENTILES {
        let mut line = Line::default();
        for at in &curve.points {
            let Some(ms) = at.latency.percentile(percentile) else { continue };
            let point = (at.offered, ms);
            line.points.push(point);

            let rate = whole(at.offered);
            let title = format!("{rate} requests per second: {percentile} {} ms", figure(ms));
            series.marks.push(Mark { at: point, form: Form::Full, title, ..Mark::default() });
        }
        series.lines.push(line);
    }
    series
}
