//! The work of the loads alongside the tests, as a share of what they do alone: their own cost.

use analysis::{Figure, Load, Results};
use serde_json::{Value, json};
use stats::Estimate;
use words::{Grouped, Unique, figure, share};

use super::tasks::{Tasks, describe_load, series_of_load, title};
use crate::charts::rows::{Guide, Mark, Row, Rows, Tick};
use crate::charts::{index, key, scale::Scale};
use crate::document::{Block, Chart, Column, Columns, Field, Readers, Table};

/// Up to so many marks, the chart has a row for each test and a lane for each load; with more, a
/// row for each load.
const MAX_LANE_MARKS: usize = 160;

/// The axis goes at least and at most so far, in per cent.
const MIN_AXIS_END: f64 = 110.0;
const MAX_AXIS_END: f64 = 1000.0;

/// The end of an interval may stretch the axis to this multiple of the largest value.
const MAX_STRETCH: f64 = 1.5;

const CAPTION: &str = "What each load did while a test ran alongside it, as a share of what it did \
alone just before, with the 95 % interval. If a test was quick only because the load got little \
done, this chart shows it. Dashed ends mean no interval; an arrow points beyond the axis.";

/// A test's figure, and the load that ran alongside it.
struct Loaded<'a> {
    figure: &'a Figure,
    load: &'a Load,
}

impl<'a> Loaded<'a> {
    fn title(&self) -> String {
        title(&self.figure.cell.label, &self.figure.cell.key)
    }

    fn load_name(&self) -> &'a str {
        &self.figure.cell.key.load
    }

    /// The interval of the share in per cent: no load does less than nothing.
    fn interval(&self) -> Estimate {
        let interval = self.load.interval;
        if !interval.bounded() {
            return interval;
        }
        Estimate { low: interval.low.max(0.0), ..interval }
    }
}

/// The work of a load for programs.
pub(super) fn data(load: &Load) -> Value {
    json!({"background": {
        "label": load.label,
        "throughput": load.throughput,
        "unit": load.unit,
        "achieved": load.achieved,
        "low": load.interval.low,
        "high": load.interval.high,
    }})
}

/// The chart, and a table with the intervals; nothing without loads.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut rows = Vec::new();
    for figure in &results.figures {
        if let Some(load) = &figure.load {
            rows.push(Loaded { figure, load });
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }

    vec![
        Block::section("What the loads did"),
        Block::Chart(chart(results, &rows)),
        Block::Table(table(&rows)),
    ]
}

fn table(rows: &[Loaded<'_>]) -> Table {
    Columns::new()
        .with(Column::words("Test").wide(30), |row: &Loaded<'_>| Field::Text(row.title()))
        .with(Column::words("Load"), |row| Field::text(row.load_name()))
        .with(Column::number("Throughput").wide(14), |row| Field::Text(throughput(row.load)))
        .with(Column::number("% of alone").main().wide(11), |row| {
            Field::Number(row.load.achieved, words::share)
        })
        .with(Column::number("95 %").wide(12), |row| Field::Interval(row.interval(), words::share))
        .table(rows)
        .shown(Readers::PEOPLE)
}

/// What a load did, with its unit.
pub(super) fn throughput(load: &Load) -> String {
    format!("{} {}", figure(load.throughput), load.unit)
}

fn chart(results: &Results, rows: &[Loaded<'_>]) -> Chart {
    // The series of loads are those of the charts of latencies.
    let loads = Tasks::new(results).loads.into_iter();
    let loads = loads.chain(rows.iter().map(Loaded::load_name)).unique();
    let mut series = rows.iter().map(|row| series_of_load(&loads, row.load_name())).unique();
    series.sort_unstable();

    let has_lanes = rows.len() <= MAX_LANE_MARKS;
    let mut named_marks = Vec::new();
    for row in rows {
        if has_lanes {
            let own_series = series_of_load(&loads, row.load_name());
            let lane = series.iter().position(|known| *known == own_series).unwrap_or(0);
            named_marks.push((row.title(), mark(row, own_series, lane)));
        } else {
            // Where marks share a lane there is no room for words.
            let mark = Mark { words: Vec::new(), ..mark(row, 0, 0) };
            named_marks.push((row.load_name().to_owned(), mark));
        }
    }

    let mut drawn = Vec::new();
    for (label, marks) in named_marks.into_iter().grouped() {
        drawn.push(Row { label, is_strong: false, marks });
    }
    let scale = Scale::linear(0.0, axis_end(rows));
    let drawing = Rows {
        label:
            "What each load did alongside each test, in per cent of what it did alone, with its \
                interval"
                .to_owned(),
        ticks: Tick::round_values(&scale, "%"),
        scale,
        guides: vec![Guide {
            class: "ink dashed".to_owned(),
            at: Estimate::alone(100.0),
            text: "as much as alone".to_owned(),
        }],
        lanes: index::lane_heights(if has_lanes { series.len() } else { 1 }),
        rows: drawn,
        ..Rows::default()
    };

    let mut legend = Vec::new();
    if has_lanes {
        legend.extend(series.iter().map(|number| (key(*number), loads[*number].to_owned())));
    }
    Chart::new(Some(drawing.draw()), CAPTION, legend)
}

/// The end of the axis that shows all values and the ends of intervals that are not too far, in per
/// cent.
fn axis_end(rows: &[Loaded<'_>]) -> f64 {
    let values = rows.iter().map(|row| row.load.achieved).filter(|value| value.is_finite());
    let largest = values.fold(MIN_AXIS_END, f64::max).min(MAX_AXIS_END);
    let near_ends = rows
        .iter()
        .map(|row| row.load.interval.high)
        .filter(|end| end.is_finite() && *end <= largest * MAX_STRETCH);
    near_ends.fold(largest, f64::max)
}

fn mark(row: &Loaded<'_>, series: usize, lane: usize) -> Mark {
    let at = row.interval();
    let achieved = share(row.load.achieved);
    let ends = match at.bounded() {
        true => format!("{} to {}", share(at.low), share(at.high)),
        false => "no interval: it needs two trials".to_owned(),
    };
    let title = format!(
        "{} {}: {}, {achieved} % of what it does alone ({ends})",
        row.title(),
        describe_load(row.load_name()),
        throughput(row.load)
    );
    Mark::new(series, lane, at, format!("{achieved}%"), title)
}
