//! The tables of a burn-in. Programs have all rows of each; people have those that matter.

use analysis::{BurnIn, Core, Held, Pattern, Sensor};
use journal::{Fault, Pass};
use serde_json::{Value, json};
use words::{duration, whole};

use crate::document::{Block, Column, Columns, Field, List, Show};

/// Rows that people see, and faults in 80 columns, several lines each.
const MOST: usize = 40;
const FEW: usize = 20;

/// Returns the tables that have any row.
pub(super) fn tables(burnin: &BurnIn) -> Vec<Block> {
    [processors(burnin), sensors(burnin), passes(burnin), patterns(burnin), faults(burnin)].concat()
}

/// A table with `some` of its rows for people and `all` for programs.
fn parts<T>(
    columns: &Columns<'_, T>,
    key: &'static str,
    title: &str,
    all: &[&T],
    some: &[&T],
    remark: &str,
) -> Vec<Block> {
    let people = columns.of(some.iter().copied()).titled(title, if some.len() < all.len() { remark } else { "" });
    let programs = columns.of(all.iter().copied()).keyed(key).shown(Show::Data);
    vec![Block::Table(people.shown(Show::People)), Block::Table(programs)]
}

fn processors(burnin: &BurnIn) -> Vec<Block> {
    let cores: Vec<&Core> = burnin.cooling.iter().flat_map(|cooling| &cooling.cores).collect();
    let mut least = cores.clone();
    if least.len() > MOST {
        let kept = |core: &Core| core.clock.as_ref().map_or(f64::INFINITY, |held| held.ratio.value);
        least.sort_by(|a, b| kept(a).total_cmp(&kept(b)));
        least.truncate(MOST);
    }
    let clock = |value: fn(&Held) -> Field| move |core: &Core| core.clock.as_ref().map_or(Field::Missing, value);
    let columns = Columns::new()
        .data(|core: &Core| json!({"thread": core.thread}))
        .with(Column::words("cpu", "CPU").wide(6), |core| Field::Count(u64::from(core.cpu)))
        .with(Column::number("initial", "First").wide(10), clock(|held| ghz(held.initial.value)))
        .with(Column::number("sustained", "Last quarter").wide(14), clock(|held| ghz(held.sustained.value)))
        .with(Column::number("kept", "Kept").main().wide(8), clock(|held| percent(held.ratio.value)))
        .with(Column::number("lowest", "Lowest").wide(10), clock(|held| ghz(held.lowest)))
        .with(Column::number("fell", "Fell after").wide(12), |core| match core.fell {
            Some(at) => Field::Number(at, words::duration),
            None => Field::Worded("never".to_owned(), Value::Null),
        })
        .with(Column::number("wrong", "Wrong").wide(7), |core| Field::Count(core.wrong));
    let remark = format!("the {MOST} that kept least, of {}", cores.len());
    parts(&columns, "processors", "Clock of each processor", &cores, &least, &remark)
}

fn percent(share: f64) -> Field {
    Field::Number(share, words::percent)
}

fn ghz(value: f64) -> Field {
    Field::Suffixed(value, words::figure, " GHz")
}

fn sensors(burnin: &BurnIn) -> Vec<Block> {
    let value = |value: fn(&Sensor) -> Option<f64>| move |sensor: &Sensor| Field::maybe(value(sensor), words::tenth);
    let table = Columns::new()
        .with(Column::words("name", "Sensor"), |sensor: &Sensor| Field::text(&sensor.name))
        .with(Column::words("unit", "Unit"), |sensor| Field::text(sensor.unit))
        .with(Column::number("before", "Before").wide(8), value(|sensor| sensor.before))
        .with(Column::number("highest", "Highest").main().wide(9), value(|sensor| sensor.highest))
        .with(Column::number("sustained", "Last quarter").wide(14), value(|sensor| sensor.sustained))
        .with(Column::number("end", "End").wide(8), value(|sensor| sensor.end))
        .with(Column::number("limit", "Limit").wide(8), value(|sensor| sensor.limit));
    table.of(&burnin.sensors).titled("Sensors", "").keyed("sensors").unless_empty().into_iter().collect()
}

fn passes(burnin: &BurnIn) -> Vec<Block> {
    let passes: Vec<&Pass> = burnin.passes.iter().collect();
    // Those with faults, and the last ones.
    let is_last = |place: usize| passes.len() - place <= MOST;
    let kept = passes.iter().enumerate().filter(|(place, pass)| pass.faults > 0 || is_last(*place));
    let some: Vec<&Pass> = kept.map(|(_, pass)| *pass).take(2 * MOST).collect();
    let columns = Columns::new()
        .with(Column::words("pass", "Pass").wide(6), |pass: &Pass| Field::Count(pass.pass))
        .with(Column::data("at"), |pass| Field::Number(pass.at, words::duration))
        .with(Column::number("seconds", "Took").wide(12), |pass| Field::Number(pass.seconds, words::duration))
        .with(Column::number("bytes", "Moved").wide(10), |pass| {
            Field::Worded(words::bytes(pass.bytes), pass.bytes.into())
        })
        .with(Column::number("rate", "Rate").main().wide(12), |pass| {
            Field::Number(pass.rate(), words::bytes_per_second)
        })
        .with(Column::number("faults", "Faults").wide(8), |pass| Field::Count(pass.faults));
    let remark = format!("{} of {}: those with faults, and the last", some.len(), passes.len());
    parts(&columns, "passes", "Passes", &passes, &some, &remark)
}

fn patterns(burnin: &BurnIn) -> Vec<Block> {
    let table = Columns::new()
        .with(Column::words("pattern", "Pattern"), |pattern: &Pattern| Field::text(&pattern.pattern))
        .with(Column::number("faults", "Faults").main().wide(8), |pattern| Field::Count(pattern.faults as u64))
        .with(Column::number("addresses", "Addresses").wide(11), |pattern| Field::Count(pattern.addresses as u64))
        .with(Column::number("held", "Same again").wide(12), |pattern| Field::Count(pattern.held as u64))
        .with(Column::number("bits", "Bits").wide(20), |pattern| Field::text(pattern.bits.to_string()))
        .of(burnin.memory.iter().flat_map(|memory| &memory.patterns));
    table.titled("Faults by pattern", "").keyed("patterns").unless_empty().into_iter().collect()
}

/// In 80 columns a fault is a sentence.
fn faults(burnin: &BurnIn) -> Vec<Block> {
    let faults: Vec<&Fault> = burnin.faults.iter().collect();
    let all = burnin.memory.as_ref().map_or(0, |memory| memory.faults);
    let columns = Columns::new()
        .with(Column::number("pass", "Pass"), |fault: &Fault| Field::Count(fault.pass))
        .with(Column::words("pattern", "Pattern"), |fault| Field::text(&fault.pattern))
        .with(Column::number("address", "Address"), |fault| Field::text(fault.address.to_string()))
        .with(Column::number("physical", "Physical"), |fault| {
            fault.physical.map_or(Field::Missing, |physical| Field::text(physical.to_string()))
        })
        .with(Column::number("expected", "Expected"), |fault| Field::text(fault.expected.to_string()))
        .with(Column::number("read", "Read"), |fault| Field::text(fault.read.to_string()))
        .with(Column::number("xor", "Differs in").main(), |fault| Field::text(fault.difference().to_string()))
        .with(Column::number("retest", "Read again"), |fault| Field::text(fault.retest.to_string()))
        .with(Column::number("temperature", "°C"), |fault| {
            let words = |(_, celsius): &(String, f64)| whole(*celsius);
            fault.temperature.as_ref().map_or(Field::Missing, |it| Field::Worded(words(it), json!(it)))
        })
        .with(Column::number("at", "After"), |fault| Field::Number(fault.at, words::duration));
    let some = &faults[..faults.len().min(MOST)];
    let mut blocks = parts(&columns, "faults", "Faults", &faults, some, &format!("the first {MOST} of {all}"));
    if let Some(Block::Table(table)) = blocks.first_mut()
        && table.show == Show::People
    {
        table.show = Show::Pages;
    }
    let more = all.saturating_sub(FEW.min(faults.len()) as u64);
    let title = if more > 0 { format!("Faults; {more} more are not shown") } else { "Faults".to_owned() };
    let items = faults.iter().take(FEW).map(|fault| sentence(fault)).collect();
    blocks.extend(List { title, items, show: Show::Narrow, ..List::default() }.unless_empty());
    blocks
}

fn sentence(fault: &Fault) -> String {
    let hot = fault.temperature.as_ref().map_or(String::new(), |(_, celsius)| format!(", {} °C", whole(*celsius)));
    let physical = fault.physical.map_or(String::new(), |physical| format!(", physical {physical}"));
    let again = match (fault.is_gone(), fault.is_held()) {
        (true, _) => "correct now: the memory does not hold the error",
        (_, true) => "the same: the memory holds it",
        _ => "a third word",
    };
    format!(
        "pass {}, {}, after {}{hot}: {}{physical}: expected {}, read {}, xor {}; read again {}, {again}",
        fault.pass,
        fault.pattern,
        duration(fault.at),
        fault.address,
        fault.expected,
        fault.read,
        fault.difference(),
        fault.retest
    )
}
