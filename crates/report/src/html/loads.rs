//! What the loads did beside the tests, of what they did alone: their own cost.

use super::dots::{Dots, Line, Mark, Row};
use super::latency::{end_of, load_name, throughput};
use super::scale::Scale;
use super::words::clean;
use super::{Key, svg};
use crate::{plus_minus, share};
use analysis::{Load, Results};
use stats::Estimate;

/// Most marks with a lane each; more share the lane of their load.
const LANES: usize = 160;
/// How far the axis goes at least and at most, in per cent.
const LEAST: f64 = 110.0;
const MOST: f64 = 1000.0;

/// The part of the page.
pub(super) struct Loads {
    /// The loads, where colours tell them.
    pub(super) legend: Vec<Key>,
    /// The chart.
    pub(super) chart: String,
    /// What they did beside tests that have no table of their own.
    pub(super) rows: Vec<Cost>,
}

/// One load beside one test.
pub(super) struct Cost {
    pub(super) test: String,
    pub(super) load: String,
    pub(super) throughput: String,
    pub(super) achieved: String,
    pub(super) plus_minus: String,
    pub(super) low: String,
    pub(super) high: String,
}

/// A row of the run beside a load.
type Beside<'a> = (&'a analysis::Row, &'a Load);

/// Returns the part; nothing where no load ran. `known` are the loads that other charts have keys for.
pub(super) fn loads(results: &Results, known: &[Key]) -> Option<Loads> {
    let all: Vec<Beside<'_>> = results.rows.iter().filter_map(|row| Some((row, row.load.as_ref()?))).collect();
    let mut names: Vec<&str> = all.iter().map(|(row, _)| row.cell.key.load.as_str()).collect();
    dedup(&mut names);
    if names.is_empty() {
        return None;
    }
    names.sort_by_key(|name| place(known, name));
    let series =
        |name: &str| place(known, name).unwrap_or(known.len() + names.iter().position(|n| *n == name).unwrap_or(0));
    let apart = all.len() <= LANES;
    Some(Loads {
        legend: if apart {
            names.iter().map(|name| (svg::key(series(name)), clean(name))).collect()
        } else {
            Vec::new()
        },
        chart: chart(&all, &names, apart, &series),
        rows: all.iter().filter(|(row, _)| row.latency.is_none()).map(cost).collect(),
    })
}

/// Returns the series of a load in the other charts.
fn place(known: &[Key], name: &str) -> Option<usize> {
    known.iter().position(|key| key.1 == clean(name))
}

fn dedup(names: &mut Vec<&str>) {
    let mut seen = Vec::new();
    names.retain(|name| {
        let new = !seen.contains(name);
        seen.push(*name);
        new
    });
}

fn chart(all: &[Beside<'_>], names: &[&str], apart: bool, series: &dyn Fn(&str) -> usize) -> String {
    let values = all.iter().map(|(_, load)| load.achieved).filter(|value| value.is_finite());
    let most = values.fold(LEAST, f64::max).min(MOST);
    let ends = all.iter().map(|(_, load)| load.interval.high).filter(|end| end.is_finite() && *end <= most * 1.5);
    let dots = Dots {
        label:
            "What each load did beside each test, in per cent of what it did alone, with its interval; the tables have \
                the figures"
                .to_owned(),
        scale: Scale::linear(0.0, ends.fold(most, f64::max)),
        unit: "%",
        origin: None,
        series: if apart { names.iter().map(|name| series(name)).collect() } else { vec![0] },
        lines: vec![Line {
            series: None,
            at: Estimate::alone(100.0),
            dashed: true,
            text: "as much as alone".to_owned(),
        }],
        rows: if apart { by_test(all, series) } else { by_load(all, names) },
    };
    dots.draw()
}

/// A row per test, a lane per load.
fn by_test(all: &[Beside<'_>], series: &dyn Fn(&str) -> usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (row, load) in all {
        let (label, mark) = (test(row), mark(row, load, series(&row.cell.key.load)));
        match rows.iter_mut().find(|known| known.label == label) {
            Some(known) => known.marks.push(mark),
            None => rows.push(Row { label, strong: false, marks: vec![mark] }),
        }
    }
    rows
}

/// A row per load, with all tests in one lane.
fn by_load(all: &[Beside<'_>], names: &[&str]) -> Vec<Row> {
    let marks = |name: &str| {
        let of_load = all.iter().filter(|(row, _)| row.cell.key.load == name);
        of_load.map(|(row, load)| Mark { text: String::new(), ..mark(row, load, 0) }).collect()
    };
    names.iter().map(|name| Row { label: clean(name), strong: false, marks: marks(name) }).collect()
}

fn test(row: &analysis::Row) -> String {
    let mut label = row.cell.label.clone();
    if row.cell.key.copies > 1 {
        label += &format!(", {} copies", row.cell.key.copies);
    }
    if row.cell.key.condition != "none" {
        label += &format!(", condition {}", row.cell.key.condition);
    }
    clean(&label)
}

/// No load does less than nothing, whatever its interval says.
fn interval(load: &Load) -> Estimate {
    let interval = load.interval;
    if interval.bounded() { Estimate { low: interval.low.max(0.0), ..interval } } else { interval }
}

fn mark(row: &analysis::Row, load: &Load, series: usize) -> Mark {
    let estimate = interval(load);
    let interval = if estimate.bounded() {
        format!("{} to {}", share(estimate.low), share(estimate.high))
    } else {
        "no interval: it needs two trials".to_owned()
    };
    let title = format!(
        "{} {}: {}, {} % of what it does alone ({interval})",
        test(row),
        load_name(&row.cell.key.load),
        throughput(load),
        share(load.achieved)
    );
    Mark { series, value: Some(estimate), text: format!("{}%", share(load.achieved)), title }
}

fn cost((row, load): &Beside<'_>) -> Cost {
    Cost {
        test: test(row),
        load: clean(&load.label),
        throughput: throughput(load),
        achieved: share(load.achieved),
        plus_minus: plus_minus(&load.interval),
        low: end_of(interval(load).low),
        high: end_of(interval(load).high),
    }
}
