//! The work of the loads beside the tests, as a share of what they do alone: their own cost.

use analysis::{Figure, Load, Results};
use serde_json::{Value, json};
use stats::Estimate;
use words::{Grouped, Unique, figure, share};

use super::tasks::{self, beside, title};
use crate::charts::rows::{Guide, Mark, Row, Rows, Tick};
use crate::charts::{index, key, scale::Scale};
use crate::document::{Block, Chart, Column, Columns, Field, Readers, Table};

/// Most marks of which each has a row for its test and a lane for its load; of more, each load has one row.
const LANES: usize = 160;

/// How far its axis goes at least and at most, in per cent.
const LEAST: f64 = 110.0;
const MOST: f64 = 1000.0;

const CAPTION: &str = "What each load did while a test ran alongside it, as a share of what it did alone just before, \
with the 95 % interval. If a test was quick only because the load got little done, this chart shows it. Dashed ends \
mean no interval; an arrow points beyond the axis.";

/// A row of the run beside a load.
type Beside<'a> = (&'a Figure, &'a Load);

/// Returns what programs have of a load.
pub(super) fn data(load: &Load) -> Value {
    json!({"background": {
        "label": load.label, "throughput": load.throughput, "unit": load.unit, "achieved": load.achieved,
        "low": load.interval.low, "high": load.interval.high,
    }})
}

/// Returns the chart, and a table with the intervals; nothing without loads.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let rows: Vec<Beside<'_>> = results.figures.iter().filter_map(|row| Some((row, row.load.as_ref()?))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::section("What the loads did"), Block::Chart(chart(results, &rows)), Block::Table(table(&rows))]
}

fn table(rows: &[Beside<'_>]) -> Table {
    Columns::new()
        .with(Column::words("Test").wide(30), |(row, _): &Beside<'_>| {
            Field::Text(title(&row.cell.label, &row.cell.key))
        })
        .with(Column::words("Load"), |(row, _)| Field::text(&row.cell.key.load))
        .with(Column::number("Throughput").wide(14), |(_, load)| Field::Text(throughput(load)))
        .with(Column::number("% of alone").main().wide(11), |(_, load)| Field::Number(load.achieved, words::share))
        .with(Column::number("95 %").wide(12), |(_, load)| Field::Interval(interval(load), words::share))
        .table(rows)
        .shown(Readers::PEOPLE)
}

/// Returns what a load did, with its unit.
pub(super) fn throughput(load: &Load) -> String {
    format!("{} {}", figure(load.throughput), load.unit)
}

/// No load does less than nothing, whatever its interval says.
fn interval(load: &Load) -> Estimate {
    Estimate {
        low: if load.interval.bounded() { load.interval.low.max(0.0) } else { load.interval.low },
        ..load.interval
    }
}

fn chart(results: &Results, rows: &[Beside<'_>]) -> Chart {
    let values = rows.iter().map(|(_, load)| load.achieved).filter(|value| value.is_finite());
    let most = values.fold(LEAST, f64::max).min(MOST);
    let ends = rows.iter().map(|(_, load)| load.interval.high).filter(|end| end.is_finite() && *end <= most * 1.5);
    // The series of loads are those of the charts of latencies.
    let beside = rows.iter().map(|(row, _)| row.cell.key.load.as_str());
    let loads = tasks::tasks(results).1.into_iter().chain(beside.clone()).unique();
    let mut shown: Vec<usize> = beside.map(|load| tasks::series(&loads, load)).unique();
    shown.sort_unstable();
    let apart = rows.len() <= LANES;
    let name = |(row, _): &Beside<'_>| match apart {
        true => title(&row.cell.label, &row.cell.key),
        false => row.cell.key.load.clone(),
    };
    let mark = |row: &Beside<'_>| {
        let series = if apart { tasks::series(&loads, &row.0.cell.key.load) } else { 0 };
        let lane = if apart { shown.iter().position(|known| *known == series).unwrap_or(0) } else { 0 };
        let mark = Mark::new(series, lane, interval(row.1), format!("{}%", share(row.1.achieved)), hover(row));
        // Where marks share a lane there is no room for words.
        if apart { mark } else { Mark { words: Vec::new(), ..mark } }
    };
    let tests = rows.iter().map(|row| (name(row), mark(row))).grouped().into_iter();
    let scale = Scale::linear(0.0, ends.fold(most, f64::max));
    let (class, at) = ("ink dashed".to_owned(), Estimate::alone(100.0));
    let drawing = Rows {
        label: "What each load did alongside each test, in per cent of what it did alone, with its interval".to_owned(),
        ticks: Tick::round(&scale, "%"),
        scale,
        guides: vec![Guide { class, at, text: "as much as alone".to_owned() }],
        lanes: index::lanes(if apart { shown.len() } else { 1 }),
        rows: tests.map(|(label, marks)| Row { label, strong: false, marks }).collect(),
        ..Rows::default()
    };
    let legend = shown.iter().map(|number| (key(*number), loads[*number].to_owned()));
    Chart::new(Some(drawing.draw()), CAPTION, if apart { legend.collect() } else { Vec::new() })
}

fn hover((row, load): &Beside<'_>) -> String {
    let at = interval(load);
    let ends = match at.bounded() {
        true => format!("{} to {}", share(at.low), share(at.high)),
        false => "no interval: it needs two trials".to_owned(),
    };
    let (test, beside) = (title(&row.cell.label, &row.cell.key), beside(&row.cell.key.load));
    format!("{test} {beside}: {}, {} % of what it does alone ({ends})", throughput(load), share(load.achieved))
}
