//! The tables of a burn-in. Programs have all rows of each; people have those that matter.

use analysis::{BurnIn, Core, Held, Pattern, Sensor};
use journal::{Fault, Pass};
use serde_json::{Value, json};
use words::{duration, whole};

use crate::document::{Block, Column, Columns, Field, List, Readers, Table};

/// Rows that people see at most.
const MAX_ROWS: usize = 40;

/// Faults that are listed in 80 columns at most, since each takes several lines.
const MAX_LISTED_FAULTS: usize = 20;

pub(super) fn tables(burnin: &BurnIn) -> Vec<Block> {
    let mut blocks = processor_blocks(burnin);
    blocks.extend(table_of_sensors(burnin).unless_empty());
    blocks.extend(pass_blocks(burnin));
    blocks.extend(table_of_patterns(burnin).unless_empty());
    blocks.extend(fault_blocks(burnin));
    blocks
}

/// The rows of a table, and those of them that people see.
struct Rows<'a, T> {
    all: Vec<&'a T>,
    shown: Vec<&'a T>,
}

/// A table with the shown rows for people, and one with all for programs. The remark says which
/// rows people see, if they do not see all.
fn split_by_reader<T>(
    columns: &Columns<'_, T>,
    rows: &Rows<'_, T>,
    key: &'static str,
    title: &str,
    remark: &str,
) -> [Table; 2] {
    let remark = if rows.shown.len() < rows.all.len() { remark } else { "" };
    let for_people = columns.table(rows.shown.iter().copied()).titled(title, remark);
    let for_programs = columns.table(rows.all.iter().copied()).keyed(key);
    [for_people.shown(Readers::PEOPLE), for_programs.shown(Readers::PROGRAM)]
}

fn processor_blocks(burnin: &BurnIn) -> Vec<Block> {
    let all: Vec<&Core> = burnin.cooling.iter().flat_map(|cooling| &cooling.cores).collect();
    let mut shown = all.clone();
    if shown.len() > MAX_ROWS {
        shown.sort_by(|a, b| share_kept(a).total_cmp(&share_kept(b)));
        shown.truncate(MAX_ROWS);
    }

    let columns = Columns::new()
        .data(|core: &Core| json!({"thread": core.thread}))
        .with(Column::words("CPU").keyed("cpu").wide(6), |core| Field::Count(core.cpu.into()))
        .with(Column::number("First").keyed("initial").wide(10), |core| {
            clock_field(core, |held| ghz_field(held.initial.value))
        })
        .with(Column::number("Last quarter").keyed("sustained").wide(14), |core| {
            clock_field(core, |held| ghz_field(held.sustained.value))
        })
        .with(Column::number("Kept").keyed("kept").main().wide(8), |core| {
            clock_field(core, |held| Field::Number(held.ratio.value, words::percent))
        })
        .with(Column::number("Lowest").keyed("lowest").wide(10), |core| {
            clock_field(core, |held| ghz_field(held.lowest))
        })
        .with(Column::number("Fell after").keyed("fell").wide(12), |core| match core.fell {
            Some(at) => Field::Number(at, words::duration),
            None => Field::Worded("never".to_owned(), Value::Null),
        })
        .with(Column::number("Wrong").keyed("wrong").wide(7), |core| Field::Count(core.wrong));
    let remark = format!("the {MAX_ROWS} that kept least, of {}", all.len());
    let rows = Rows { all, shown };
    split_by_reader(&columns, &rows, "processors", "Clock of each processor", &remark)
        .map(Block::Table)
        .into()
}

/// The share of its clock that a processor kept; infinite if it is not known.
fn share_kept(core: &Core) -> f64 {
    core.clock.as_ref().map_or(f64::INFINITY, |held| held.ratio.value)
}

fn clock_field(core: &Core, field: fn(&Held) -> Field) -> Field {
    core.clock.as_ref().map_or(Field::Missing, field)
}

fn ghz_field(value: f64) -> Field {
    Field::Suffixed(value, words::figure, " GHz")
}

fn table_of_sensors(burnin: &BurnIn) -> Table {
    Columns::new()
        .with(Column::words("Sensor").keyed("name"), |sensor: &Sensor| Field::text(&sensor.name))
        .with(Column::words("Unit").keyed("unit"), |sensor| Field::text(sensor.unit))
        .with(Column::number("Before").keyed("before").wide(8), |sensor| {
            Field::maybe(sensor.before, words::tenth)
        })
        .with(Column::number("Highest").keyed("highest").main().wide(9), |sensor| {
            Field::maybe(sensor.highest, words::tenth)
        })
        .with(Column::number("Last quarter").keyed("sustained").wide(14), |sensor| {
            Field::maybe(sensor.sustained, words::tenth)
        })
        .with(Column::number("End").keyed("end").wide(8), |sensor| {
            Field::maybe(sensor.end, words::tenth)
        })
        .with(Column::number("Limit").keyed("limit").wide(8), |sensor| {
            Field::maybe(sensor.limit, words::tenth)
        })
        .table(&burnin.sensors)
        .titled("Sensors", "")
        .keyed("sensors")
}

/// People see passes with faults, and the last ones.
fn pass_blocks(burnin: &BurnIn) -> Vec<Block> {
    let all: Vec<&Pass> = burnin.passes.iter().collect();
    let (earlier, last) = all.split_at(all.len().saturating_sub(MAX_ROWS));
    let faulty = earlier.iter().filter(|pass| pass.faults > 0).take(MAX_ROWS);
    let shown: Vec<&Pass> = faulty.chain(last).copied().collect();

    let columns = Columns::new()
        .with(Column::words("Pass").keyed("pass").wide(6), |pass: &Pass| Field::Count(pass.pass))
        .with(Column::data("at"), |pass| Field::Number(pass.at, words::duration))
        .with(Column::number("Took").keyed("seconds").wide(12), |pass| {
            Field::Number(pass.seconds, words::duration)
        })
        .with(Column::number("Moved").keyed("bytes").wide(10), |pass| {
            Field::Worded(words::bytes(pass.bytes), pass.bytes.into())
        })
        .with(Column::number("Rate").keyed("rate").main().wide(12), |pass| {
            Field::Number(pass.rate(), words::bytes_per_second)
        })
        .with(Column::number("Faults").keyed("faults").wide(8), |pass| Field::Count(pass.faults));
    let remark = format!(
        "{} of {}: up to {MAX_ROWS} with faults, and the last {MAX_ROWS}",
        shown.len(),
        all.len()
    );
    let rows = Rows { all, shown };
    split_by_reader(&columns, &rows, "passes", "Passes", &remark).map(Block::Table).into()
}

fn table_of_patterns(burnin: &BurnIn) -> Table {
    Columns::new()
        .with(Column::words("Pattern").keyed("pattern"), |pattern: &Pattern| {
            Field::text(&pattern.pattern)
        })
        .with(Column::number("Faults").keyed("faults").main().wide(8), |pattern| {
            Field::Count(pattern.faults as u64)
        })
        .with(Column::number("Addresses").keyed("addresses").wide(11), |pattern| {
            Field::Count(pattern.addresses as u64)
        })
        .with(Column::number("Same again").keyed("held").wide(12), |pattern| {
            Field::Count(pattern.held as u64)
        })
        .with(Column::number("Bits").keyed("bits").wide(20), |pattern| {
            Field::text(pattern.bits.to_string())
        })
        .table(burnin.memory.iter().flat_map(|memory| &memory.patterns))
        .titled("Faults by pattern", "")
        .keyed("patterns")
}

/// In 80 columns a fault is a sentence in place of a row.
fn fault_blocks(burnin: &BurnIn) -> Vec<Block> {
    let all: Vec<&Fault> = burnin.faults.iter().collect();
    let shown = all[..all.len().min(MAX_ROWS)].to_vec();
    // The run counts faults that it does not record one by one.
    let counted = burnin.memory.as_ref().map_or(0, |memory| memory.faults);

    let listed = &all[..all.len().min(MAX_LISTED_FAULTS)];
    let more = counted.saturating_sub(listed.len() as u64);
    let list_title = match more {
        0 => "Faults".to_owned(),
        _ => format!("Faults; {more} more are not shown"),
    };
    let list = List {
        title: list_title,
        items: listed.iter().map(|fault| describe_fault(fault)).collect(),
        readers: Readers::TERMINAL,
        ..List::default()
    };

    let remark = format!("the first {MAX_ROWS} of {counted}");
    let rows = Rows { all, shown };
    let [for_people, for_programs] =
        split_by_reader(&fault_columns(), &rows, "faults", "Faults", &remark);
    let mut blocks =
        vec![Block::Table(for_people.shown(Readers::PAGE)), Block::Table(for_programs)];
    blocks.extend(list.unless_empty());
    blocks
}

fn fault_columns() -> Columns<'static, Fault> {
    Columns::new()
        .with(Column::number("Pass").keyed("pass"), |fault: &Fault| Field::Count(fault.pass))
        .with(Column::words("Pattern").keyed("pattern"), |fault| Field::text(&fault.pattern))
        .with(Column::number("Address").keyed("address"), |fault| {
            Field::text(fault.address.to_string())
        })
        .with(Column::number("Physical").keyed("physical"), |fault| {
            fault.physical.map_or(Field::Missing, |physical| Field::text(physical.to_string()))
        })
        .with(Column::number("Expected").keyed("expected"), |fault| {
            Field::text(fault.expected.to_string())
        })
        .with(Column::number("Read").keyed("read"), |fault| Field::text(fault.read.to_string()))
        .with(Column::number("Differs in").keyed("xor").main(), |fault| {
            Field::text(fault.difference().to_string())
        })
        .with(Column::number("Read again").keyed("retest"), |fault| {
            Field::text(fault.retest.to_string())
        })
        .with(Column::number("°C").keyed("temperature"), |fault| match &fault.temperature {
            Some(temperature) => Field::Worded(whole(temperature.1), json!(temperature)),
            None => Field::Missing,
        })
        .with(Column::number("After").keyed("at"), |fault| Field::Number(fault.at, words::duration))
}

fn describe_fault(fault: &Fault) -> String {
    let Fault { pass, pattern, address, expected, read, retest, .. } = fault;
    let after = duration(fault.at);
    let temperature = match &fault.temperature {
        Some((_, celsius)) => format!(", {} °C", whole(*celsius)),
        None => String::new(),
    };
    let physical =
        fault.physical.map_or(String::new(), |physical| format!(", physical {physical}"));

    let difference = fault.difference();
    let again = if fault.is_gone() {
        "correct now: the memory does not hold the error"
    } else if fault.is_held() {
        "the same: the memory holds it"
    } else {
        "a third word"
    };
    format!(
        "pass {pass}, {pattern}, after {after}{temperature}: {address}{physical}: expected \
         {expected}, read {read}, xor {difference}; read again {retest}, {again}"
    )
}
