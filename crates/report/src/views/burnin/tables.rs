//! The tables of a burn-in. Programs have all rows of each; people have those that matter.

use analysis::{BurnIn, Core, Held, Pattern, Sensor};
use journal::{Fault, Pass};
use serde_json::{Value, json};
use words::{duration, whole};

use crate::document::{Block, Column, Columns, Field, List, Readers};

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
    let people = columns.table(some.iter().copied()).titled(title, if some.len() < all.len() { remark } else { "" });
    let programs = columns.table(all.iter().copied()).keyed(key).shown(Readers::PROGRAM);
    vec![Block::Table(people.shown(Readers::PEOPLE)), Block::Table(programs)]
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
        .with(Column::words("CPU").keyed("cpu").wide(6), |core| Field::Count(u64::from(core.cpu)))
        .with(Column::number("First").keyed("initial").wide(10), clock(|held| ghz(held.initial.value)))
        .with(Column::number("Last quarter").keyed("sustained").wide(14), clock(|held| ghz(held.sustained.value)))
        .with(Column::number("Kept").keyed("kept").main().wide(8), clock(|held| percent(held.ratio.value)))
        .with(Column::number("Lowest").keyed("lowest").wide(10), clock(|held| ghz(held.lowest)))
        .with(Column::number("Fell after").keyed("fell").wide(12), |core| match core.fell {
            Some(at) => Field::Number(at, words::duration),
            None => Field::Worded("never".to_owned(), Value::Null),
        })
        .with(Column::number("Wrong").keyed("wrong").wide(7), |core| Field::Count(core.wrong));
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
        .with(Column::words("Sensor").keyed("name"), |sensor: &Sensor| Field::text(&sensor.name))
        .with(Column::words("Unit").keyed("unit"), |sensor| Field::text(sensor.unit))
        .with(Column::number("Before").keyed("before").wide(8), value(|sensor| sensor.before))
        .with(Column::number("Highest").keyed("highest").main().wide(9), value(|sensor| sensor.highest))
        .with(Column::number("Last quarter").keyed("sustained").wide(14), value(|sensor| sensor.sustained))
        .with(Column::number("End").keyed("end").wide(8), value(|sensor| sensor.end))
        .with(Column::number("Limit").keyed("limit").wide(8), value(|sensor| sensor.limit));
    table.table(&burnin.sensors).titled("Sensors", "").keyed("sensors").unless_empty().into_iter().collect()
}

fn passes(burnin: &BurnIn) -> Vec<Block> {
    let passes: Vec<&Pass> = burnin.passes.iter().collect();
    let (earlier, last) = passes.split_at(passes.len().saturating_sub(MOST));
    let faulty = earlier.iter().filter(|pass| pass.faults > 0).take(MOST);
    let some: Vec<&Pass> = faulty.chain(last).copied().collect();
    let columns = Columns::new()
        .with(Column::words("Pass").keyed("pass").wide(6), |pass: &Pass| Field::Count(pass.pass))
        .with(Column::data("at"), |pass| Field::Number(pass.at, words::duration))
        .with(Column::number("Took").keyed("seconds").wide(12), |pass| Field::Number(pass.seconds, words::duration))
        .with(Column::number("Moved").keyed("bytes").wide(10), |pass| {
            Field::Worded(words::bytes(pass.bytes), pass.bytes.into())
        })
        .with(Column::number("Rate").keyed("rate").main().wide(12), |pass| {
            Field::Number(pass.rate(), words::bytes_per_second)
        })
        .with(Column::number("Faults").keyed("faults").wide(8), |pass| Field::Count(pass.faults));
    let remark = format!("{} of {}: up to {MOST} with faults, and the last {MOST}", some.len(), passes.len());
    parts(&columns, "passes", "Passes", &passes, &some, &remark)
}

fn patterns(burnin: &BurnIn) -> Vec<Block> {
    let table = Columns::new()
        .with(Column::words("Pattern").keyed("pattern"), |pattern: &Pattern| Field::text(&pattern.pattern))
        .with(Column::number("Faults").keyed("faults").main().wide(8), |pattern| Field::Count(pattern.faults as u64))
        .with(Column::number("Addresses").keyed("addresses").wide(11), |pattern| Field::Count(pattern.addresses as u64))
        .with(Column::number("Same again").keyed("held").wide(12), |pattern| Field::Count(pattern.held as u64))
        .with(Column::number("Bits").keyed("bits").wide(20), |pattern| Field::text(pattern.bits.to_string()))
        .table(burnin.memory.iter().flat_map(|memory| &memory.patterns));
    table.titled("Faults by pattern", "").keyed("patterns").unless_empty().into_iter().collect()
}

/// In 80 columns a fault is a sentence.
fn faults(burnin: &BurnIn) -> Vec<Block> {
    let faults: Vec<&Fault> = burnin.faults.iter().collect();
    let all = burnin.memory.as_ref().map_or(0, |memory| memory.faults);
    let columns = Columns::new()
        .with(Column::number("Pass").keyed("pass"), |fault: &Fault| Field::Count(fault.pass))
        .with(Column::words("Pattern").keyed("pattern"), |fault| Field::text(&fault.pattern))
        .with(Column::number("Address").keyed("address"), |fault| Field::text(fault.address.to_string()))
        .with(Column::number("Physical").keyed("physical"), |fault| {
            fault.physical.map_or(Field::Missing, |physical| Field::text(physical.to_string()))
        })
        .with(Column::number("Expected").keyed("expected"), |fault| Field::text(fault.expected.to_string()))
        .with(Column::number("Read").keyed("read"), |fault| Field::text(fault.read.to_string()))
        .with(Column::number("Differs in").keyed("xor").main(), |fault| Field::text(fault.difference().to_string()))
        .with(Column::number("Read again").keyed("retest"), |fault| Field::text(fault.retest.to_string()))
        .with(Column::number("°C").keyed("temperature"), |fault| {
            let words = |(_, celsius): &(String, f64)| whole(*celsius);
            fault.temperature.as_ref().map_or(Field::Missing, |it| Field::Worded(words(it), json!(it)))
        })
        .with(Column::number("After").keyed("at"), |fault| Field::Number(fault.at, words::duration));
    let some = &faults[..faults.len().min(MOST)];
    let mut blocks = parts(&columns, "faults", "Faults", &faults, some, &format!("the first {MOST} of {all}"));
    if let Some(Block::Table(table)) = blocks.first_mut()
        && table.readers == Readers::PEOPLE
    {
        table.readers = Readers::PAGE;
    }
    let more = all.saturating_sub(FEW.min(faults.len()) as u64);
    let title = if more > 0 { format!("Faults; {more} more are not shown") } else { "Faults".to_owned() };
    let items = faults.iter().take(FEW).map(|fault| sentence(fault)).collect();
    blocks.extend(List { title, items, readers: Readers::TERMINAL, ..List::default() }.unless_empty());
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
    let Fault { pass, pattern, address, expected, read, retest, .. } = fault;
    let (after, xor) = (duration(fault.at), fault.difference());
    let words = format!("expected {expected}, read {read}, xor {xor}; read again {retest}, {again}");
    format!("pass {pass}, {pattern}, after {after}{hot}: {address}{physical}: {words}")
}
