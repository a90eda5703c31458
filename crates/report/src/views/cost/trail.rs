//! The trail of auditing, and the cost of single system calls.

use analysis::{Condition, Effect, Losses, TrailFigures};
use catalogue::NONE;
use journal::Key;
use serde_json::{Value, json};
use stats::Estimate;

use super::{coordinates, family, named};
use crate::document::{Column, Columns, Field, Readers, Table, interval};

/// Returns what programs have of an effect: counts and times where they were measured, and its trail.
pub(super) fn data(effect: &Effect) -> Value {
    let Effect { floor, confirmed, calls, cpu_ns, trail, losses, .. } = effect;
    let mut object = json!({"floor": floor, "confirmed": confirmed});
    let known = [("calls", json!(calls)), ("cpu_ns", json!(cpu_ns))].into_iter().filter(|(_, value)| !value.is_null());
    known.for_each(|(key, value)| object[key] = value);
    if let (Some(object), Value::Object(trail)) = (object.as_object_mut(), json!(trail)) {
        object.extend(trail);
    }
    if let Some(losses) = losses {
        let Estimate { value, low, high } = losses.share;
        object["losses"] = json!({"offered": losses.offered, "seen": losses.seen, "lost": losses.lost,
            "share": value, "share_low": low, "share_high": high});
    }
    object
}

/// Returns the trail of every cell; without rows if nothing was written.
pub(super) fn trail(condition: &Condition) -> Table {
    type Row<'a> = (&'a Key, &'a str, &'a TrailFigures);
    let short = |figure: fn(&TrailFigures) -> f64| move |row: &Row<'_>| Field::Number(figure(row.2), words::short);
    let share =
        |figure: fn(&TrailFigures) -> f64| move |row: &Row<'_>| Field::Number(100.0 * figure(row.2), words::tenth);
    let trails = condition.effects.iter().filter_map(|effect| Some((&effect.comparison.cell, effect.trail.as_ref()?)));
    let mut rows: Vec<Row<'_>> = trails.map(|(cell, trail)| (&cell.key, &*cell.label, trail)).collect();
    // A latency's measures share one trail.
    rows.dedup_by_key(|row| row.0);
    let written = rows.iter().any(|row| row.2.events > 0 || row.2.lost > 0);
    Columns::new()
        .with(Column::words("test"), |(key, label, _): &Row<'_>| {
            let place = coordinates(&key.under(NONE));
            Field::Text(format!("{label}{place}")).narrow(format!("{}{place}", key.test))
        })
        .with(Column::number("events/op"), short(|trail| trail.events_per))
        .with(Column::number("B/op").main(), short(|trail| trail.bytes_per))
        .with(Column::number("B/event"), short(|trail| trail.bytes_per_event))
        .with(Column::number("B/s"), short(|trail| trail.bytes_per_second))
        .with(Column::number("events").shown(Readers::PAGE), |row| Field::Count(row.2.events))
        .with(Column::number("B in all"), short(|trail| trail.bytes as f64))
        .with(Column::number("lost").main(), |row| Field::Count(row.2.lost))
        .with(Column::number("waited %").narrow("wait%"), share(|trail| trail.waited))
        .with(Column::number("CPU outside %").narrow("cpu%"), share(|trail| trail.outside_cpu))
        .with(Column::number("backlog").shown(Readers::PAGE), |row| Field::Count(u64::from(row.2.backlog)))
        .with(Column::number("queued %").shown(Readers::PAGE), share(|trail| trail.queued))
        // Auditing without rules writes nothing.
        .table(if written { &rows[..] } else { &[] })
        .shown(Readers::PEOPLE)
        .titled(
            "",
            "op: one count of the test. waited: time that processes slept for room in the backlog, CPU outside: processor \
             time outside the programs, both in % of the window; backlog: the longest; queued: share of the records that \
             were not yet drained when the window closed",
        )
}

/// Returns the events that were lost of every cell; without rows if none were counted.
pub(super) fn losses(condition: &Condition) -> Table {
    type Row<'a> = (&'a Effect, &'a Losses);
    let mut rows: Vec<Row<'_>> =
        condition.effects.iter().filter_map(|effect| Some((effect, effect.losses.as_ref()?))).collect();
    rows.dedup_by_key(|row| &row.0.comparison.cell.key);
    named(|row: &Row<'_>| family(&row.0.comparison))
        .with(Column::number("offered/s"), |row| Field::maybe(row.1.offered, words::whole))
        .with(Column::number("done/s"), |row| Field::Number(row.0.comparison.b, words::whole))
        .with(Column::number("seen"), |row| Field::Number(row.1.seen, words::whole))
        .with(Column::number("lost").main(), |row| Field::Number(row.1.lost, words::whole))
        .with(Column::number("lost %"), |row| Field::Number(row.1.share.value, words::share))
        .with(Column::number("95 %"), |row| Field::Text(interval(&row.1.share, words::share)))
        .table(&rows)
        .shown(Readers::PEOPLE)
        .titled("", "seen and lost: events in all trials; lost includes those that nobody saw")
}

/// Returns what one system call takes under the condition compared with and here; without rows if none was measured.
pub(super) fn calls(condition: &Condition) -> Table {
    // A count may be several calls: open and close.
    let calls = |effect: &Effect| effect.calls.filter(|calls| *calls > 0.0).unwrap_or(1.0);
    let per = move |figure: fn(&TrailFigures) -> f64| {
        move |effect: &&Effect| {
            Field::maybe(effect.trail.as_ref().map(|trail| figure(trail) / calls(effect)), words::short)
        }
    };
    let compared = condition.effects.iter().filter(|effect| effect.comparison.cell.is_of_calls());
    let rows: Vec<&Effect> = compared.filter(|effect| !effect.comparison.is_energy()).collect();
    named(|effect: &&Effect| family(&effect.comparison))
        .with(Column::number("ns against"), move |effect| {
            Field::Number(effect.comparison.a / calls(effect), words::figure)
        })
        .with(Column::number("ns under"), move |effect| {
            Field::Number(effect.comparison.b / calls(effect), words::figure)
        })
        .with(Column::number("added ns").main(), move |effect| {
            Field::Number((effect.comparison.b - effect.comparison.a) / calls(effect), words::signed)
        })
        .with(Column::number("time"), |effect| Field::maybe(effect.comparison.time_factor(), words::factor))
        .with(Column::number("events"), per(|trail| trail.events_per))
        .with(Column::number("B"), per(|trail| trail.bytes_per))
        .table(&rows)
        .shown(Readers::PEOPLE)
        .titled("", "per call")
}
