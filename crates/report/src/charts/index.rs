//! The charts of indexes and gains: a row per test, a lane per level of copies.

use analysis::{Index, Results};
use catalogue::NONE;
use stats::Estimate;
use words::{Unique, copies, gain as times, merged, plus_minus};

use super::rows::{Guide, Mark, Row, Rows, Tick};
use super::scale::Scale;
use super::svg::hue;
use crate::document::known;
use crate::views::score as number;
use maud::Markup;

/// From this gain or ideal on, gains have a logarithmic axis.
const MANY: f64 = 8.0;

/// Returns the place of a level of copies among the run's, which are in order: the series that it is in every chart.
pub(crate) fn series(levels: &[u32], copies: u32) -> usize {
    levels.binary_search(&copies).unwrap_or(0)
}

/// Returns the heights of lanes for this many series.
pub(crate) fn lanes(series: usize) -> Vec<f64> {
    vec![if series > 3 { 12.0 } else { 14.0 }; series.max(1)]
}

/// Returns the chart of an index: a mark per test, a line for the whole. `levels` are its levels.
pub(crate) fn index(results: &Results, levels: &[&Index]) -> Option<Markup> {
    let parts = || levels.iter().flat_map(|level| &level.parts);
    let wholes = levels.iter().map(|level| level.score.value);
    let values: Vec<f64> = parts().map(|part| part.index.value).chain(wholes).collect();
    let ends: Vec<f64> = parts().flat_map(|part| [part.index.low, part.index.high]).collect();
    let name = &levels.first()?.name;
    let all = results.levels();
    let scale = Scale::log(&values, &ends)?;
    let guides = levels.iter().map(|Index { copies: level, score, .. }| {
        let text = format!("{}: {} {}", copies(*level), number(score), plus_minus(score.halves()));
        Guide { class: hue(series(&all, *level)), at: *score, text }
    });
    let tests = merged(levels.iter().map(|level| level.parts.iter().map(|part| &*part.test).collect()));
    let row = |test: &str| {
        let label = parts().find(|part| part.test == test).map_or(String::new(), |part| part.label.clone());
        let lanes = levels.iter().map(|level| (level, series(&all, level.copies))).enumerate();
        let marks = lanes.filter_map(|(lane, (level, series))| index_mark(results, level, (series, lane), test));
        Row { label, strong: false, marks: marks.collect() }
    };
    let chart = Rows {
        label: format!(
            "{name}: the index of each test with its interval, on a logarithmic scale; the tables below have the figures"
        ),
        ticks: Tick::round(&scale, ""),
        scale,
        lanes: lanes(levels.len()),
        guides: guides.collect(),
        rows: tests.into_iter().map(row).collect(),
        ..Rows::default()
    };
    Some(chart.draw())
}

/// Returns the mark of a test at a level; without a result there, the reason for it.
fn index_mark(results: &Results, index: &Index, (series, lane): (usize, usize), test: &str) -> Option<Mark> {
    let level = copies(index.copies);
    // A run with loads has several parts of one test and level only where the index itself does.
    if let Some(part) = index.parts.iter().find(|part| part.test == test) {
        let at = part.index;
        let row = results.figures.iter().find(|row| row.cell.key.test == test && row.cell.key.copies == index.copies);
        let warning = row.and_then(|row| row.warnings.iter().find(|warning| warning.is_of_method()));
        let interval = match warning {
            Some(warning) if !at.bounded() => warning.to_string(),
            _ => crate::views::range(&at),
        };
        let (value, spread) = (number(&at), plus_minus(at.halves()));
        let title = format!("{}, {level}: index {value} {spread} ({interval})", part.label);
        return Some(Mark::new(series, lane, at, value, title));
    }
    let is_here =
        |key: &journal::Key| (&*key.test, key.copies, &*key.load, &*key.condition) == (test, index.copies, NONE, NONE);
    let kinds = [("error", &results.errors), ("skipped", &results.skipped)];
    let mut gaps = kinds.into_iter().flat_map(|(kind, gaps)| gaps.iter().map(move |gap| (kind, gap)));
    let (kind, gap) = gaps.find(|(_, gap)| is_here(&gap.key))?;
    let title = format!("{}, {level}: {kind}: {}", gap.label, gap.reason);
    Some(Mark::new(series, lane, Estimate::alone(f64::NAN), format!("{kind} with {level}"), title))
}

/// Returns the chart of gains.
pub(crate) fn gains(results: &Results) -> Option<Markup> {
    let gains = results.gains();
    let from = gains.first()?.from;
    let mut levels: Vec<u32> = gains.iter().map(|gain| gain.to).unique();
    levels.sort_unstable();
    let ideals: Vec<f64> = levels.iter().map(|level| f64::from(*level) / f64::from(from.max(1))).collect();
    let scale = gain_scale(results, &ideals)?;
    let all = results.levels();
    let guide =
        |class: String, at: f64, text: String| Guide { class: class + " dashed", at: Estimate::alone(at), text };
    let mut guides = vec![guide("ink".to_owned(), 1.0, "no gain".to_owned())];
    guides.extend(levels.iter().zip(&ideals).map(|(level, ideal)| {
        guide(hue(series(&all, *level)), *ideal, format!("{}: every one as fast", copies(*level)))
    }));
    let mut rows: Vec<Row> = Vec::new();
    for gain in gains {
        let lane = levels.iter().position(|level| *level == gain.to).unwrap_or(0);
        let at = gain.gain;
        let interval = match at.bounded() {
            true => format!("{} to {}", times(at.low), times(at.high)),
            false => "no interval: one of the scores has none".to_owned(),
        };
        let (value, spread) = (known(at.value, &at, times), plus_minus(at.halves()));
        let title = format!("{}, {from} to {}: {value} {spread} ({interval})", gain.label, gain.to);
        let mark = Mark::new(series(&all, gain.to), lane, at, value, title);
        let strong = results.indexes().iter().any(|index| index.title() == gain.label);
        let is_free = |row: &&mut Row| row.label == gain.label && row.marks.iter().all(|mark| mark.lane != lane);
        match rows.iter_mut().find(is_free) {
            Some(row) => row.marks.push(mark),
            None => rows.push(Row { label: gain.label.clone(), strong, marks: vec![mark] }),
        }
    }
    // The result first: indexes, then tests, both in their order.
    rows.sort_by_key(|row| !row.strong);
    let from = copies(from);
    let chart = Rows {
        label: format!("Gain of each test from {from} to more, with its interval; the table below has the figures"),
        ticks: Tick::round(&scale, "×"),
        scale,
        origin: Some(1.0),
        lanes: lanes(levels.len()),
        guides,
        rows,
        ..Rows::default()
    };
    Some(chart.draw())
}

fn gain_scale(results: &Results, ideals: &[f64]) -> Option<Scale> {
    let gains = || results.gains().iter().map(|gain| &gain.gain);
    let values = gains().map(|gain| gain.value).chain(ideals.iter().copied()).chain([1.0]);
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let ends: Vec<f64> = gains().flat_map(|gain| [gain.low, gain.high]).collect();
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    if most >= MANY {
        return Scale::log(&values, &ends);
    }
    let near = ends.into_iter().filter(|end| end.is_finite() && *end <= most * 1.5);
    Some(Scale::linear(0.0, near.fold(most, f64::max) * 1.06))
}
