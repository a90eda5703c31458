//! The charts of indexes and gains: a row per test, a lane per level of copies.

use analysis::{Gain, Index, Missing, Results};
use catalogue::NONE;
use stats::Estimate;
use words::{Unique, copies, gain as format_gain, merged, plus_minus};

use super::rows::{Guide, Mark, Row, Rows, Tick};
use super::scale::Scale;
use super::svg::{Drawings, hue_class};
use crate::document::{known, score as format_score, score_range};

/// From this gain or ideal on, gains have a logarithmic axis.
const MIN_LOG_GAIN: f64 = 8.0;

/// The end of an interval may stretch the axis of gains to this multiple of the largest gain.
const MAX_STRETCH: f64 = 1.5;

/// The number of the series that a level of copies is in every chart: its place among the run's
/// levels, which are in order.
pub(crate) fn series_of_level(levels: &[u32], copies: u32) -> usize {
    levels.binary_search(&copies).unwrap_or(0)
}

/// The heights in px of so many lanes, and at least of one.
pub(crate) fn lane_heights(lanes: usize) -> Vec<f64> {
    let height = if lanes > 3 { 12.0 } else { 14.0 };
    vec![height; lanes.max(1)]
}

/// The chart of an index at its levels: a mark per test, and a line for the whole index.
pub(crate) fn draw_index(results: &Results, levels: &[&Index]) -> Option<Drawings> {
    let name = &levels.first()?.name;
    let run_levels = results.levels();

    let parts = levels.iter().flat_map(|level| &level.parts);
    let wholes = levels.iter().map(|level| level.score.value);
    let values: Vec<f64> = parts.clone().map(|part| part.index.value).chain(wholes).collect();
    let ends: Vec<f64> = parts.flat_map(|part| [part.index.low, part.index.high]).collect();
    let scale = Scale::log(&values, &ends)?;

    let mut guides = Vec::new();
    for Index { copies: level, score, .. } in levels {
        let spread = plus_minus(score.halves());
        guides.push(Guide {
            class: hue_class(series_of_level(&run_levels, *level)),
            at: *score,
            text: format!("{}: {} {spread}", copies(*level), format_score(score)),
        });
    }
    let tests =
        merged(levels.iter().map(|level| level.parts.iter().map(|part| &*part.test).collect()));

    let chart = Rows {
        label: format!(
            "{name}: the index of each test with its interval, on a logarithmic scale; the tables \
             below have the figures"
        ),
        ticks: Tick::round_values(&scale, ""),
        scale,
        lanes: lane_heights(levels.len()),
        guides,
        rows: tests.into_iter().map(|test| index_row(results, levels, test)).collect(),
        ..Rows::default()
    };
    Some(chart.draw())
}

/// The row of a test, with a mark for each level where it has a result or a reason for none.
fn index_row(results: &Results, levels: &[&Index], test: &str) -> Row {
    let mut parts = levels.iter().flat_map(|level| &level.parts);
    let label = parts.find(|part| part.test == test).map(|part| part.label.clone());

    let mut marks = Vec::new();
    for (lane, level) in levels.iter().enumerate() {
        let mark = part_mark(results, level, test, lane);
        marks.extend(mark.or_else(|| gap_mark(results, level, test, lane)));
    }
    Row { label: label.unwrap_or_default(), is_strong: false, marks }
}

/// The mark of a test's part in an index.
fn part_mark(results: &Results, index: &Index, test: &str, lane: usize) -> Option<Mark> {
    // A run with loads has several parts of one test and level only where the index itself does.
    let part = index.parts.iter().find(|part| part.test == test)?;
    let at = part.index;

    let figure = results
        .figures
        .iter()
        .find(|figure| figure.cell.key.test == test && figure.cell.key.copies == index.copies);
    let why_no_interval = figure
        .and_then(|figure| figure.warnings.iter().find(|warning| warning.is_of_method()))
        .filter(|_| !at.bounded());
    let interval = match why_no_interval {
        Some(warning) => warning.to_string(),
        None => score_range(&at),
    };

    let series = series_of_level(&results.levels(), index.copies);
    let (value, spread) = (format_score(&at), plus_minus(at.halves()));
    let level = copies(index.copies);
    let title = format!("{}, {level}: index {value} {spread} ({interval})", part.label);
    Some(Mark::new(series, lane, at, value, title))
}

/// The reason in place of a mark why a test has no result at an index' level.
fn gap_mark(results: &Results, index: &Index, test: &str, lane: usize) -> Option<Mark> {
    let is_here = |gap: &&Missing| {
        let key = &gap.key;
        (&*key.test, key.copies, &*key.load, &*key.condition) == (test, index.copies, NONE, NONE)
    };
    let error = results.errors.iter().find(is_here).map(|gap| ("error", gap));
    let skip = results.skipped.iter().find(is_here).map(|gap| ("skipped", gap));
    let (kind, gap) = error.or(skip)?;

    let series = series_of_level(&results.levels(), index.copies);
    let level = copies(index.copies);
    let words = format!("{kind} with {level}");
    let title = format!("{}, {level}: {kind}: {}", gap.label, gap.reason);
    Some(Mark::new(series, lane, Estimate::alone(f64::NAN), words, title))
}

/// The chart of gains: rows of indexes first, then of tests.
pub(crate) fn draw_gains(results: &Results) -> Option<Drawings> {
    let gains = results.gains();
    let from = gains.first()?.from;
    let run_levels = results.levels();
    let mut levels: Vec<u32> = gains.iter().map(|gain| gain.to).unique();
    levels.sort_unstable();

    let mut ideals = Vec::new();
    let mut guides = vec![dashed_guide("ink", 1.0, "no gain".to_owned())];
    for level in &levels {
        let ideal = f64::from(*level) / f64::from(from.max(1));
        let hue = hue_class(series_of_level(&run_levels, *level));
        guides.push(dashed_guide(&hue, ideal, format!("{}: every one as fast", copies(*level))));
        ideals.push(ideal);
    }
    let scale = gain_scale(gains, &ideals)?;

    let chart = Rows {
        label: format!(
            "Gain of each test from {} to more, with its interval; the table below has the figures",
            copies(from)
        ),
        ticks: Tick::round_values(&scale, "×"),
        scale,
        origin: Some(1.0),
        lanes: lane_heights(levels.len()),
        guides,
        rows: gain_rows(results, &levels),
        ..Rows::default()
    };
    Some(chart.draw())
}

fn dashed_guide(hue: &str, at: f64, text: String) -> Guide {
    Guide { class: format!("{hue} dashed"), at: Estimate::alone(at), text }
}

/// The rows of gains, with a lane for each of the `levels`.
fn gain_rows(results: &Results, levels: &[u32]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for gain in results.gains() {
        let lane = levels.iter().position(|level| *level == gain.to).unwrap_or(0);
        let mark = gain_mark(results, gain, lane);

        // Several gains of one name share a row as long as each has a lane to itself.
        let with_room = rows
            .iter_mut()
            .find(|row| row.label == gain.label && row.marks.iter().all(|mark| mark.lane != lane));
        match with_room {
            Some(row) => row.marks.push(mark),
            None => rows.push(Row {
                label: gain.label.clone(),
                is_strong: results.indexes().iter().any(|index| index.title() == gain.label),
                marks: vec![mark],
            }),
        }
    }

    rows.sort_by_key(|row| !row.is_strong);
    rows
}

fn gain_mark(results: &Results, gain: &Gain, lane: usize) -> Mark {
    let at = gain.gain;
    let interval = match at.bounded() {
        true => format!("{} to {}", format_gain(at.low), format_gain(at.high)),
        false => "no interval: one of the scores has none".to_owned(),
    };
    let (value, spread) = (known(at.value, &at, format_gain), plus_minus(at.halves()));
    let Gain { label, from, to, .. } = gain;

    let series = series_of_level(&results.levels(), *to);
    let title = format!("{label}, {from} to {to}: {value} {spread} ({interval})");
    Mark::new(series, lane, at, value, title)
}

fn gain_scale(gains: &[Gain], ideals: &[f64]) -> Option<Scale> {
    let values: Vec<f64> = gains
        .iter()
        .map(|gain| gain.gain.value)
        .chain(ideals.iter().copied())
        .chain([1.0])
        .filter(|value| value.is_finite())
        .collect();
    let ends: Vec<f64> = gains.iter().flat_map(|gain| [gain.gain.low, gain.gain.high]).collect();

    let max = values.iter().copied().max_by(f64::total_cmp)?;
    if max >= MIN_LOG_GAIN {
        return Scale::log(&values, &ends);
    }
    let near_ends = ends.into_iter().filter(|end| end.is_finite() && *end <= max * MAX_STRETCH);
    Some(Scale::linear(0.0, near_ends.fold(max, f64::max) * 1.06))
}
