//! The tables of a cost run.

use super::{Beyond, Column, Room, Table, delta, interval, is_decided, name, percent, place, time, value, verdict};
use crate::compare::coordinates;
use crate::figure;
use crate::scaling;
use analysis::{Condition, Cost, CostTotal, Effect, Measure, TrailFigures, Verdict};
use catalogue::NONE;

/// The category of tests of single system calls.
const CALLS: &str = "calls";

/// What stands where there is no number.
const NOTHING: &str = "-";

fn words(name: &str) -> Column {
    Column { name: name.to_owned(), words: true }
}

fn figures(name: &str) -> Column {
    Column { name: name.to_owned(), words: false }
}

fn head(names: &[&str]) -> Vec<Column> {
    std::iter::once(words("test")).chain(names.iter().map(|name| figures(name))).collect()
}

/// Returns the deltas of all conditions beside each other; nothing of a single condition.
pub(crate) fn matrix(cost: &Cost, room: Room) -> Option<Table> {
    if cost.conditions.len() < 2 {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for effect in cost.conditions.iter().flat_map(|condition| &condition.effects) {
        let name = name(&effect.comparison, room);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let field = |name: &String, condition: &Condition| {
        let same = |effect: &&Effect| super::name(&effect.comparison, room) == *name;
        condition.effects.iter().find(same).map_or_else(|| NOTHING.to_owned(), |effect| mark(effect, room))
    };
    let row = |name: String| {
        let fields = cost.conditions.iter().map(|condition| field(&name, condition));
        let fields: Vec<String> = fields.collect();
        std::iter::once(name).chain(fields).collect()
    };
    Some(Table {
        name: "Delta under each condition, %".to_owned(),
        remark: "=: the same within the threshold; ?: undecided".to_owned(),
        head: head(&cost.conditions.iter().map(|condition| condition.name.as_str()).collect::<Vec<&str>>()),
        rows: names.into_iter().map(row).collect(),
    })
}

/// A delta with a mark of its verdict; in columns of text, points stand below each other.
fn mark(effect: &Effect, room: Room) -> String {
    let one = &effect.comparison;
    let mark = match one.verdict {
        Verdict::Same(_) => "=",
        Verdict::Undecided(_) => "?",
        _ if room == Room::Narrow => " ",
        _ => "",
    };
    let unit = if one.measure == Measure::Met { "pt" } else { "" };
    if one.delta.value.is_finite() { format!("{}{unit}{mark}", percent(one.delta.value)) } else { NOTHING.to_owned() }
}

/// Returns the table of a condition: a row per cell and measure.
pub(crate) fn of_condition(cost: &Cost, condition: &Condition, room: Room) -> Table {
    effects(format!("Cost of {}", condition.name), ["against", "under"], &cost.against, &condition.effects, room)
}

/// Returns the table of the control; nothing without one.
pub(crate) fn control(cost: &Cost) -> Option<Table> {
    let name = format!("A/A control: {} twice", cost.against);
    (!cost.floor.is_empty()).then(|| effects(name, ["first", "second"], &cost.against, &cost.floor, Room::Wide))
}

fn effects(title: String, [a, b]: [&str; 2], against: &str, effects: &[Effect], room: Room) -> Table {
    let row = |effect: &Effect| {
        let one = &effect.comparison;
        let name = name(one, room);
        let mut row =
            if room == Room::Narrow { vec![format!("{name}, {}", one.unit)] } else { vec![name, one.unit.clone()] };
        row.extend([value(one.a), value(one.b), delta(one), interval(&one.delta), time(one), verdict(effect, room)]);
        row
    };
    let mut head = vec![words("test")];
    if room == Room::Wide {
        head.push(words("unit"));
    }
    head.extend([a, b, "delta", "95 %", "time"].map(figures));
    head.push(words("verdict"));
    let blocks = effects.iter().map(|effect| effect.comparison.n.1);
    let blocks = match (blocks.clone().min(), blocks.max()) {
        (Some(least), Some(most)) if least == most => format!(", {most} blocks"),
        (Some(least), Some(most)) => format!(", {least} to {most} blocks"),
        _ => String::new(),
    };
    Table { name: title, remark: format!("against {against}{blocks}"), head, rows: effects.iter().map(row).collect() }
}

/// Returns what is beyond the threshold without doubt, the largest loss first; and the names of what is so by estimate alone.
pub(crate) fn beyond(cost: &Cost, condition: &Condition, room: Room) -> (Vec<Beyond>, Vec<String>) {
    let over = |effect: &&Effect| effect.comparison.delta.value.abs() > cost.threshold;
    let (decided, open): (Vec<&Effect>, Vec<&Effect>) =
        condition.effects.iter().filter(over).partition(|effect| is_decided(&effect.comparison));
    let mut shown: Vec<Beyond> = decided
        .into_iter()
        .map(|effect| &effect.comparison)
        .map(|one| Beyond { name: name(one, room), delta: one.delta.value, told: delta(one), time: time(one) })
        .collect();
    shown.sort_by(|a, b| a.delta.total_cmp(&b.delta));
    (shown, open.into_iter().map(|effect| name(&effect.comparison, room)).collect())
}

/// Returns the same as a table; nothing where nothing is.
pub(crate) fn beyond_table(cost: &Cost, condition: &Condition) -> Option<Table> {
    let (shown, open) = beyond(cost, condition, Room::Wide);
    let by_estimate =
        if open.is_empty() { String::new() } else { format!("; undecided though by estimate: {}", open.join(", ")) };
    let rows: Vec<Vec<String>> = shown.into_iter().map(|one| vec![one.name, one.told, one.time]).collect();
    (!rows.is_empty()).then(|| Table {
        name: format!("Beyond {} % under {}", cost.threshold, condition.name),
        remark: format!("the largest loss first{by_estimate}"),
        head: head(&["delta", "time"]),
        rows,
    })
}

/// Returns the geometric means over tests.
pub(crate) fn totals(cost: &Cost, room: Room) -> Option<Table> {
    let several = cost.conditions.len() > 1;
    let row = |(condition, total): (&Condition, &CostTotal)| {
        let what = format!("{}{}", total.name, coordinates(total.copies, &total.load, NONE));
        let name = if several { format!("{}: {what}", condition.name) } else { what };
        let (label, worst) = &total.worst;
        let narrow = condition.effects.iter().map(|effect| &effect.comparison.cell).find(|cell| cell.label == *label);
        let test = narrow.filter(|_| room == Room::Narrow).map_or(label, |cell| &cell.key.test);
        let delta = format!("{}%", percent(total.delta.value));
        vec![name, total.rates.to_string(), delta, interval(&total.delta), format!("{test} {}%", percent(*worst))]
    };
    let totals =
        cost.conditions.iter().flat_map(|condition| condition.totals.iter().map(move |total| (condition, total)));
    let rows: Vec<Vec<String>> = totals.map(row).collect();
    let mut head = head(&["rates", "delta", "95 %"]);
    head[0].name = "geometric mean".to_owned();
    head.push(words("worst"));
    let remark = "blocks resampled for all tests at once".to_owned();
    (!rows.is_empty()).then(|| Table { name: "All rates together".to_owned(), remark, head, rows })
}

/// Returns the tables of what auditing wrote, one per condition that has a trail, and those of single system calls.
pub(crate) fn storage(cost: &Cost, room: Room) -> Vec<Table> {
    cost.conditions
        .iter()
        .flat_map(|condition| trail(condition, room).into_iter().chain(calls(condition, room)))
        .collect()
}

/// Returns a count or a number of bytes in at most seven characters.
fn short(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { scaling::short(value) }
}

fn trail(condition: &Condition, room: Room) -> Option<Table> {
    let row = |effect: &Effect, trail: &TrailFigures| {
        let percent = |share: f64| {
            let percent = 100.0 * share;
            if percent.is_finite() { format!("{percent:.1}") } else { NOTHING.to_owned() }
        };
        let mut row = vec![
            place(&effect.comparison.cell, room),
            short(trail.events_per),
            short(trail.bytes_per),
            short(trail.bytes_per_event),
            short(trail.bytes_per_second),
            short(trail.bytes as f64),
            trail.lost.to_string(),
            percent(trail.waited),
            percent(trail.outside_cpu),
        ];
        if room == Room::Wide {
            row.splice(5..5, [trail.events.to_string()]);
            row.extend([trail.backlog.to_string(), percent(trail.queued)]);
        }
        row
    };
    // A latency's measures share one trail.
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (effect, trail) in condition.effects.iter().filter_map(|effect| Some((effect, effect.trail.as_ref()?))) {
        let row = row(effect, trail);
        if rows.iter().all(|known| known[0] != row[0]) {
            rows.push(row);
        }
    }
    let head = match room {
        Room::Narrow => head(&["events/op", "B/op", "B/event", "B/s", "B in all", "lost", "wait%", "cpu%"]),
        Room::Wide => head(&[
            "events/op",
            "B/op",
            "B/event",
            "B/s",
            "events",
            "B in all",
            "lost",
            "waited %",
            "CPU outside %",
            "backlog",
            "queued %",
        ]),
    };
    let remark = match room {
        Room::Narrow => {
            "op: one count of the test; wait: time that processes slept for room in the backlog, cpu: processor time outside \
             the programs, both in % of the window"
        }
        Room::Wide => {
            "op: one count of the test; waited: time that processes slept for room in the backlog, and CPU outside the \
             programs, in % of the window; queued: records that were not drained when it closed"
        }
    };
    let remark = remark.to_owned();
    // Auditing without rules writes nothing.
    let written =
        condition.effects.iter().filter_map(|effect| effect.trail).any(|trail| trail.events > 0 || trail.lost > 0);
    written.then(|| Table { name: format!("Trail of {}", condition.name), remark, head, rows })
}

/// Returns a difference in ns: tenths of a small one.
fn added(ns: f64) -> String {
    match ns.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        size if size < 9.95 => format!("{ns:+.1}"),
        _ => format!("{ns:+.0}"),
    }
}

/// Single system calls: what one takes, compared with and here.
fn calls(condition: &Condition, room: Room) -> Option<Table> {
    let row = |effect: &Effect| {
        let one = &effect.comparison;
        let per = |value: Option<f64>| value.map_or_else(|| NOTHING.to_owned(), short);
        // A count may be several calls: open and close.
        let calls = effect.calls.filter(|calls| *calls > 0.0).unwrap_or(1.0);
        let trail = effect.trail.as_ref();
        vec![
            name(one, room),
            figure(one.a / calls),
            figure(one.b / calls),
            added((one.b - one.a) / calls),
            time(one),
            per(trail.map(|trail| trail.events_per / calls)),
            per(trail.map(|trail| trail.bytes_per / calls)),
        ]
    };
    let of_call =
        |effect: &&Effect| effect.comparison.cell.category == CALLS && effect.comparison.unit.starts_with("ns");
    let rows: Vec<Vec<String>> = condition.effects.iter().filter(of_call).map(row).collect();
    let head = head(&["ns against", "ns under", "added ns", "time", "events", "B"]);
    let name = format!("One system call under {}", condition.name);
    (!rows.is_empty()).then(|| Table { name, remark: "per call".to_owned(), head, rows })
}

/// A cell at several levels of copies, under one condition.
pub(crate) struct Series<'a> {
    pub(crate) name: String,
    pub(crate) effects: Vec<&'a Effect>,
}

/// Returns what was measured at more than one level of copies, by growing copies.
pub(crate) fn series(condition: &Condition, room: Room) -> Vec<Series<'_>> {
    let mut found: Vec<Series<'_>> = Vec::new();
    for effect in &condition.effects {
        let mut one = effect.comparison.clone();
        one.cell.key.copies = 1;
        let name = name(&one, room);
        match found.iter_mut().find(|series| series.name == name) {
            Some(series) => series.effects.push(effect),
            None => found.push(Series { name, effects: vec![effect] }),
        }
    }
    found.retain(|series| series.effects.len() > 1);
    for series in &mut found {
        series.effects.sort_by_key(|effect| effect.comparison.cell.key.copies);
    }
    found
}

/// Returns how the cost changes as copies are added, a table per condition.
pub(crate) fn loads(cost: &Cost, room: Room) -> Vec<Table> {
    let table = |condition: &Condition| {
        let series = series(condition, room);
        let copies = |effect: &&Effect| effect.comparison.cell.key.copies;
        let mut levels: Vec<u32> = series.iter().flat_map(|series| series.effects.iter().map(copies)).collect();
        levels.sort_unstable();
        levels.dedup();
        let row = |series: &Series<'_>| {
            let field = |level: &u32| {
                let found = series.effects.iter().find(|effect| copies(effect) == *level);
                found.map_or_else(|| NOTHING.to_owned(), |effect| mark(effect, room))
            };
            std::iter::once(series.name.clone()).chain(levels.iter().map(field)).collect()
        };
        let names: Vec<String> = levels.iter().map(|level| crate::copies(*level)).collect();
        Table {
            name: format!("Delta by copies under {}, %", condition.name),
            remark: "=: the same within the threshold; ?: undecided".to_owned(),
            head: head(&names.iter().map(String::as_str).collect::<Vec<&str>>()),
            rows: series.iter().map(row).collect(),
        }
    };
    cost.conditions.iter().map(table).filter(|table| !table.rows.is_empty()).collect()
}
