//! The charts of indexes and gains.

use super::dots::{Dots, Line, Mark, Row};
use super::scale::Scale;
use words::{copies, gain as times, plus_minus, score as number};

use analysis::{Gain, Index, Missing, Part, Results};
use stats::Estimate;

/// From this many times the fewest copies on, gains have a logarithmic axis.
const MANY: u32 = 8;

/// Returns the place of a level of copies among the run's: the series that it is in every chart.
pub(crate) fn series(results: &Results, copies: u32) -> usize {
    results.levels().iter().position(|level| *level == copies).unwrap_or(0)
}

/// Returns why a test's interval has no end.
pub(crate) fn reason(results: &Results, test: &str, copies: u32) -> String {
    let row = results.rows.iter().find(|row| row.cell.key.test == test && row.cell.key.copies == copies);
    let warning = row.and_then(|row| row.warnings.iter().find(|warning| warning.is_of_method()));
    warning.map_or("no interval".to_owned(), ToString::to_string)
}

/// Returns the chart of an index: a dot per test, a line for the whole. `levels` are its levels.
pub(crate) fn index(results: &Results, levels: &[&Index]) -> Option<String> {
    let parts = || levels.iter().flat_map(|level| &level.parts);
    let wholes: Vec<f64> = levels.iter().map(|level| level.score.value).collect();
    let values: Vec<f64> = parts().map(|part| part.index.value).chain(wholes).collect();
    let ends: Vec<f64> = parts().flat_map(|part| [part.index.low, part.index.high]).collect();
    let name = &levels.first()?.name;
    let chart = Dots {
        label: format!(
            "{name}: the index of each test with its interval, on a logarithmic scale; the tables below have the figures"
        ),
        scale: Scale::log(&values, &ends)?,
        unit: "",
        origin: None,
        series: levels.iter().map(|level| series(results, level.copies)).collect(),
        lines: levels.iter().map(|level| whole(results, level)).collect(),
        rows: tests(levels).into_iter().map(|(test, label)| index_row(results, levels, test, label)).collect(),
    };
    Some(chart.draw())
}

/// The tests of an index at any level, in order.
fn tests<'a>(levels: &[&'a Index]) -> Vec<(&'a str, &'a str)> {
    let mut tests: Vec<(&str, &str)> = Vec::new();
    for level in levels {
        let mut after = 0;
        for part in &level.parts {
            after = 1 + match tests.iter().position(|known| known.0 == part.test) {
                Some(place) => place,
                None => {
                    tests.insert(after, (&part.test, &part.label));
                    after
                }
            };
        }
    }
    tests
}

fn whole(results: &Results, index: &Index) -> Line {
    let text = format!("{}: {} {}", copies(index.copies), number(index.score.value), plus_minus(index.score.spread()));
    Line { series: Some(series(results, index.copies)), at: index.score, dashed: false, text }
}

fn index_row(results: &Results, levels: &[&Index], test: &str, label: &str) -> Row {
    // A run with loads has several parts of one test and level only where the index itself does.
    let marks = levels.iter().filter_map(|level| match level.parts.iter().find(|part| part.test == test) {
        Some(part) => Some(index_mark(results, part, level.copies)),
        None => missing_mark(results, test, level.copies),
    });
    Row { label: label.to_owned(), strong: false, marks: marks.collect() }
}

fn index_mark(results: &Results, part: &Part, level: u32) -> Mark {
    let index = &part.index;
    let interval =
        if index.bounded() { crate::views::range(index) } else { reason(results, &part.test, level).to_owned() };
    Mark {
        series: series(results, level),
        value: Some(*index),
        text: number(index.value),
        title: format!(
            "{}, {}: index {} {} ({interval})",
            part.label,
            copies(level),
            number(index.value),
            plus_minus(index.spread())
        ),
    }
}

/// A test that has no result at this level has its reason in its lane.
fn missing_mark(results: &Results, test: &str, level: u32) -> Option<Mark> {
    let plain = |missing: &&Missing| missing.key.load == "none" && missing.key.condition == "none";
    let same = |missing: &&Missing| missing.key.test == test && missing.key.copies == level && plain(missing);
    let error = results.errors.iter().find(same).map(|missing| ("error", missing));
    let (kind, missing) = error.or_else(|| Some(("skipped", results.skipped.iter().find(same)?)))?;
    Some(Mark {
        series: series(results, level),
        value: None,
        text: format!("{kind} with {}", copies(level)),
        title: format!("{}, {}: {kind}: {}", missing.label, copies(level), missing.reason),
    })
}

/// Returns the chart of gains.
pub(crate) fn gains(results: &Results) -> Option<String> {
    let gains = results.gains();
    let from = gains.first()?.from;
    let mut levels: Vec<u32> = gains.iter().map(|gain| gain.to).collect();
    levels.sort_unstable();
    levels.dedup();
    let chart = Dots {
        label: format!(
            "Gain of each test from {} to more, with its interval; the table below has the figures",
            copies(from)
        ),
        scale: gain_scale(gains, &levels, from)?,
        unit: "×",
        origin: Some(1.0),
        series: levels.iter().map(|level| series(results, *level)).collect(),
        lines: reference_lines(results, &levels, from),
        rows: gain_rows(results),
    };
    Some(chart.draw())
}

fn gain_scale(gains: &[Gain], levels: &[u32], from: u32) -> Option<Scale> {
    let ideals = levels.iter().map(|level| ideal(*level, from));
    let mut values: Vec<f64> = gains.iter().map(|gain| gain.gain.value).chain(ideals).collect();
    let ends: Vec<f64> = gains.iter().flat_map(|gain| [gain.gain.low, gain.gain.high]).collect();
    values.push(1.0);
    values.retain(|value| value.is_finite());
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    if most >= f64::from(MANY) {
        return Scale::log(&values, &ends);
    }
    let near = ends.iter().copied().filter(|end| end.is_finite() && *end <= most * 1.5);
    let most = near.max_by(f64::total_cmp).map_or(most, |end| end.max(most));
    Some(Scale::linear(0.0, most * 1.06))
}

fn ideal(to: u32, from: u32) -> f64 {
    f64::from(to) / f64::from(from.max(1))
}

/// One line at 1×, and one for every level where all copies would run as fast as the first.
fn reference_lines(results: &Results, levels: &[u32], from: u32) -> Vec<Line> {
    let line = |series, value, text| Line { series, at: Estimate::alone(value), dashed: true, text };
    let same = line(None, 1.0, "no gain".to_owned());
    let more = levels.iter().map(|level| {
        let text = format!("{}: every one as fast", copies(*level));
        line(Some(series(results, *level)), ideal(*level, from), text)
    });
    std::iter::once(same).chain(more).collect()
}

fn gain_rows(results: &Results) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for gain in results.gains() {
        let mark = gain_mark(results, gain);
        let free = |row: &&mut Row| row.label == gain.label && row.marks.iter().all(|m| m.series != mark.series);
        match rows.iter_mut().find(free) {
            Some(row) => row.marks.push(mark),
            None => rows.push(Row { label: gain.label.clone(), strong: is_index(results, gain), marks: vec![mark] }),
        }
    }
    // The result first: indexes, then tests, both in their order.
    rows.sort_by_key(|row| !row.strong);
    rows
}

/// Whether a gain is that of an index rather than a test.
pub(crate) fn is_index(results: &Results, gain: &Gain) -> bool {
    results.indexes().iter().any(|index| index.title() == gain.label)
}

fn gain_mark(results: &Results, gain: &Gain) -> Mark {
    let estimate = &gain.gain;
    let interval = if estimate.bounded() {
        format!("{} to {}", times(estimate.low), times(estimate.high))
    } else {
        "no interval: one of the scores has none".to_owned()
    };
    Mark {
        series: series(results, gain.to),
        value: Some(*estimate),
        text: times(estimate.value),
        title: format!(
            "{}, {} to {}: {} {} ({interval})",
            gain.label,
            gain.from,
            gain.to,
            times(estimate.value),
            plus_minus(estimate.spread())
        ),
    }
}
