//! What auditing wrote, and what single system calls take.

use analysis::{Condition, Effect, TrailFigures};
use catalogue::NONE;
use journal::Key;

use super::{Line, coordinates, family, named};
use crate::document::{Column, Columns, Field, Show, Style, Table};

/// Returns the columns that programs have of an effect.
pub(super) fn columns<'a>() -> Columns<'a, Line<'a>> {
    let of = |line: &Line<'a>, field: fn(&Effect) -> Field| line.effect.map_or(Field::Nothing, field);
    let mut columns = Columns::new()
        .with(Column::data("floor"), move |line: &Line<'a>| {
            of(line, |effect| Field::maybe(effect.floor, Style::Signed))
        })
        .with(Column::data("confirmed"), move |line| {
            of(line, |effect| effect.confirmed.map_or(Field::Missing, Field::Flag))
        })
        .with(Column::data("calls"), move |line| {
            of(line, |effect| effect.calls.map_or(Field::Nothing, |calls| Field::Number(calls, Style::Figure)))
        })
        .with(Column::data("cpu_ns"), move |line| {
            of(line, |effect| effect.cpu_ns.map_or(Field::Nothing, |both| Field::data(&both)))
        });
    for (key, figure) in FIGURES {
        columns = columns.with(Column::data(key), move |line| {
            line.effect.and_then(|effect| effect.trail.as_ref()).map_or(Field::Nothing, figure)
        });
    }
    columns
}

/// What a trail comes to.
type TrailField = fn(&TrailFigures) -> Field;

/// A trail's figures for programs.
const FIGURES: [(&str, TrailField); 11] = [
    ("events", |trail| Field::Count(trail.events)),
    ("bytes", |trail| Field::Count(trail.bytes)),
    ("lost", |trail| Field::Count(trail.lost)),
    ("events_per_op", |trail| Field::Number(trail.events_per, Style::Short)),
    ("bytes_per_op", |trail| Field::Number(trail.bytes_per, Style::Short)),
    ("bytes_per_event", |trail| Field::Number(trail.bytes_per_event, Style::Short)),
    ("bytes_per_second", |trail| Field::Number(trail.bytes_per_second, Style::Short)),
    ("waited", |trail| Field::Number(trail.waited, Style::Percent)),
    ("backlog", |trail| Field::Count(u64::from(trail.backlog))),
    ("queued", |trail| Field::Number(trail.queued, Style::Percent)),
    ("outside_cpu", |trail| Field::Number(trail.outside_cpu, Style::Percent)),
];

/// Returns the trail of every cell; without rows if nothing was written.
pub(super) fn trail(condition: &Condition) -> Table {
    type Row<'a> = (&'a Key, &'a str, &'a TrailFigures);
    let short = |figure: fn(&TrailFigures) -> f64| move |row: &Row<'_>| Field::Number(figure(row.2), Style::Short);
    let share =
        |figure: fn(&TrailFigures) -> f64| move |row: &Row<'_>| Field::Number(100.0 * figure(row.2), Style::Tenth);
    let trails = condition.effects.iter().filter_map(|effect| Some((&effect.comparison.cell, effect.trail.as_ref()?)));
    let mut rows: Vec<Row<'_>> = trails.map(|(cell, trail)| (&cell.key, &*cell.label, trail)).collect();
    // A latency's measures share one trail.
    rows.dedup_by_key(|row| row.0);
    let written = rows.iter().any(|row| row.2.events > 0 || row.2.lost > 0);
    let place = |test: &str, key: &Key| Field::Text(format!("{test}{}", coordinates(&key.under(NONE))));
    Columns::new()
        .with(Column::words("", "test").shown(Show::Narrow), move |row: &Row<'_>| place(&row.0.test, row.0))
        .with(Column::words("", "test").shown(Show::Pages), move |row| place(row.1, row.0))
        .with(Column::number("", "events/op"), short(|trail| trail.events_per))
        .with(Column::number("", "B/op").main(), short(|trail| trail.bytes_per))
        .with(Column::number("", "B/event"), short(|trail| trail.bytes_per_event))
        .with(Column::number("", "B/s"), short(|trail| trail.bytes_per_second))
        .with(Column::number("", "events").shown(Show::Pages), |row| Field::Count(row.2.events))
        .with(Column::number("", "B in all"), short(|trail| trail.bytes as f64))
        .with(Column::number("", "lost").main(), |row| Field::Count(row.2.lost))
        .with(Column::number("", "waited %").narrow("wait%"), share(|trail| trail.waited))
        .with(Column::number("", "CPU outside %").narrow("cpu%"), share(|trail| trail.outside_cpu))
        .with(Column::number("", "backlog").shown(Show::Pages), |row| Field::Count(u64::from(row.2.backlog)))
        .with(Column::number("", "queued %").shown(Show::Pages), share(|trail| trail.queued))
        // Auditing without rules writes nothing.
        .of(if written { &rows[..] } else { &[] })
        .shown(Show::People)
        .titled(
            "",
            "op: one count of the test. In % of the window: waited, time that processes slept for room in the backlog; CPU \
             outside, processor time outside the programs. queued: records not yet drained when the window closed",
        )
}

/// Returns what one system call takes under the condition compared with and here; without rows if none was measured.
pub(super) fn calls(condition: &Condition) -> Table {
    // A count may be several calls: open and close.
    let calls = |effect: &Effect| effect.calls.filter(|calls| *calls > 0.0).unwrap_or(1.0);
    let per = move |figure: fn(&TrailFigures) -> f64| {
        move |effect: &&Effect| {
            Field::maybe(effect.trail.as_ref().map(|trail| figure(trail) / calls(effect)), Style::Short)
        }
    };
    let of_calls = |effect: &&Effect| effect.comparison.cell.is_of_calls();
    let rows: Vec<&Effect> = condition.effects.iter().filter(of_calls).collect();
    named(|effect: &&Effect| family(&effect.comparison))
        .with(Column::number("", "ns against"), move |effect| {
            Field::Number(effect.comparison.a / calls(effect), Style::Figure)
        })
        .with(Column::number("", "ns under"), move |effect| {
            Field::Number(effect.comparison.b / calls(effect), Style::Figure)
        })
        .with(Column::number("", "added ns").main(), move |effect| {
            Field::Number((effect.comparison.b - effect.comparison.a) / calls(effect), Style::Signed)
        })
        .with(Column::number("", "time"), |effect| Field::maybe(effect.comparison.time_factor(), Style::Factor))
        .with(Column::number("", "events"), per(|trail| trail.events_per))
        .with(Column::number("", "B"), per(|trail| trail.bytes_per))
        .of(&rows)
        .shown(Show::People)
        .titled("", "per call")
}
