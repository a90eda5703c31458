//! The trail of auditing, and the cost of single system calls.

use analysis::{Condition, Effect, Losses, TrailFigures};
use catalogue::NONE;
use journal::Cell;
use serde_json::{Value, json};
use stats::Estimate;

use super::{coordinates, family, name_column};
use crate::document::{Column, Columns, Field, Readers, Table, interval};

const TRAIL_REMARK: &str = "op: one count of the test. waited: time that processes slept for room \
in the backlog, CPU outside: processor time outside the programs, both in % of the window; \
backlog: the longest; queued: share of the records that were not yet drained when the window \
closed";

/// An effect for programs: counts and times where they were measured, and its trail.
pub(super) fn data(effect: &Effect) -> Value {
    let Effect { floor, confirmed, calls, cpu_ns, trail, losses, .. } = effect;
    let mut object = json!({"floor": floor, "confirmed": confirmed});
    if let Some(calls) = calls.filter(|calls| calls.is_finite()) {
        object["calls"] = json!(calls);
    }
    if let Some(cpu_ns) = cpu_ns {
        object["cpu_ns"] = json!(cpu_ns);
    }
    if let (Some(object), Value::Object(trail)) = (object.as_object_mut(), json!(trail)) {
        object.extend(trail);
    }
    if let Some(losses) = losses {
        let Estimate { value, low, high } = losses.share;
        object["losses"] = json!({
            "offered": losses.offered,
            "seen": losses.seen,
            "lost": losses.lost,
            "share": value,
            "share_low": low,
            "share_high": high,
        });
    }
    object
}

/// The trail of a cell.
struct CellTrail<'a> {
    cell: &'a Cell,
    trail: &'a TrailFigures,
}

impl CellTrail<'_> {
    /// The cell's name; the condition is above the table.
    fn name_field(&self) -> Field {
        let coordinates = coordinates(&self.cell.key.under(NONE));
        let narrow = format!("{}{coordinates}", self.cell.key.test);
        Field::Text(format!("{}{coordinates}", self.cell.label)).narrow(narrow)
    }
}

/// The trail of every cell; without rows if nothing was written.
pub(super) fn trail(condition: &Condition) -> Table {
    let mut trails = Vec::new();
    for effect in &condition.effects {
        if let Some(trail) = &effect.trail {
            trails.push(CellTrail { cell: &effect.comparison.cell, trail });
        }
    }
    // A latency's measures share one trail.
    trails.dedup_by(|a, b| a.cell.key == b.cell.key);

    // Auditing without rules writes nothing.
    let has_written = trails.iter().any(|row| row.trail.events > 0 || row.trail.lost > 0);
    if !has_written {
        trails.clear();
    }
    Columns::new()
        .with(Column::words("test"), CellTrail::name_field)
        .with(Column::number("events/op"), |row| short_field(row.trail.events_per))
        .with(Column::number("B/op").main(), |row| short_field(row.trail.bytes_per))
        .with(Column::number("B/event"), |row| short_field(row.trail.bytes_per_event))
        .with(Column::number("B/s"), |row| short_field(row.trail.bytes_per_second))
        .with(Column::number("events").shown(Readers::PAGE), |row| Field::Count(row.trail.events))
        .with(Column::number("B in all"), |row| short_field(row.trail.bytes as f64))
        .with(Column::number("lost").main(), |row| Field::Count(row.trail.lost))
        .with(Column::number("waited %").narrow("wait%"), |row| percent_field(row.trail.waited))
        .with(Column::number("CPU outside %").narrow("cpu%"), |row| {
            percent_field(row.trail.outside_cpu)
        })
        .with(Column::number("backlog").shown(Readers::PAGE), |row| {
            Field::Count(row.trail.backlog.into())
        })
        .with(Column::number("queued %").shown(Readers::PAGE), |row| {
            percent_field(row.trail.queued)
        })
        .table(&trails)
        .shown(Readers::PEOPLE)
        .titled("", TRAIL_REMARK)
}

fn short_field(value: f64) -> Field {
    Field::Number(value, words::short)
}

/// A share of 1 in per cent.
fn percent_field(share: f64) -> Field {
    Field::Number(100.0 * share, words::tenth)
}

/// An effect whose lost events were counted.
struct Lossy<'a> {
    effect: &'a Effect,
    losses: &'a Losses,
}

/// The events that were lost of every cell; without rows if none were counted.
pub(super) fn losses(condition: &Condition) -> Table {
    let mut rows = Vec::new();
    for effect in &condition.effects {
        if let Some(losses) = &effect.losses {
            rows.push(Lossy { effect, losses });
        }
    }
    rows.dedup_by(|a, b| a.effect.comparison.cell.key == b.effect.comparison.cell.key);

    name_column(|row: &Lossy<'_>| family(&row.effect.comparison))
        .with(Column::number("offered/s"), |row| Field::maybe(row.losses.offered, words::whole))
        .with(Column::number("done/s"), |row| Field::Number(row.effect.comparison.b, words::whole))
        .with(Column::number("seen"), |row| Field::Number(row.losses.seen, words::whole))
        .with(Column::number("lost").main(), |row| Field::Number(row.losses.lost, words::whole))
        .with(Column::number("lost %"), |row| Field::Number(row.losses.share.value, words::share))
        .with(Column::number("95 %"), |row| Field::Text(interval(&row.losses.share, words::share)))
        .table(&rows)
        .shown(Readers::PEOPLE)
        .titled("", "seen and lost: events in all trials; lost includes those that nobody saw")
}

/// What one system call takes under the condition compared with and here; without rows if none was
/// measured.
pub(super) fn calls(condition: &Condition) -> Table {
    let of_calls = condition.effects.iter().filter(|effect| effect.comparison.cell.calls);
    let effects: Vec<&Effect> = of_calls.filter(|effect| !effect.comparison.is_energy()).collect();

    name_column(|effect: &&Effect| family(&effect.comparison))
        .with(Column::number("ns against"), |effect| {
            Field::Number(effect.comparison.a / calls_per_count(effect), words::figure)
        })
        .with(Column::number("ns under"), |effect| {
            Field::Number(effect.comparison.b / calls_per_count(effect), words::figure)
        })
        .with(Column::number("added ns").main(), |effect| {
            let added_ns = effect.comparison.b - effect.comparison.a;
            Field::Number(added_ns / calls_per_count(effect), words::signed)
        })
        .with(Column::number("time"), |effect| {
            Field::maybe(effect.comparison.time_factor(), words::factor)
        })
        .with(Column::number("events"), |effect| trail_per_call(effect, |trail| trail.events_per))
        .with(Column::number("B"), |effect| trail_per_call(effect, |trail| trail.bytes_per))
        .table(&effects)
        .shown(Readers::PEOPLE)
        .titled("", "per call")
}

/// A count of the test may be several calls: open and close.
fn calls_per_count(effect: &Effect) -> f64 {
    effect.calls.filter(|calls| *calls > 0.0).unwrap_or(1.0)
}

/// A figure of the trail of one count, as a figure of one call.
fn trail_per_call(effect: &Effect, per_count: fn(&TrailFigures) -> f64) -> Field {
    let trail = effect.trail.as_ref();
    Field::maybe(trail.map(|trail| per_count(trail) / calls_per_count(effect)), words::short)
}
