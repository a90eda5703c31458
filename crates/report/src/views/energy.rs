//! The energy that the machine drew while tests were measured: shown where any of it is known.

use analysis::{Energy, Figure, Index, Results};
use journal::Fact;
use serde_json::{Value, json};
use stats::Estimate;

use super::shared::name;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// A figure whose energy is known.
struct Metered<'a> {
    figure: &'a Figure,
    energy: &'a Energy,
}

/// An index whose power is known.
struct MeteredIndex<'a> {
    index: &'a Index,
    watts: Estimate,
    per_watt: Estimate,
}

/// The energy of a figure for programs.
pub(super) fn data(energy: &Energy) -> Value {
    let mut object = json!({"watts": energy.watts.value, "energy_trials": energy.n});
    add_ends(&mut object, "watts", &energy.watts);
    if let Some(joules) = &energy.per_operation {
        object["joules_per_operation"] = json!(joules.value);
        add_ends(&mut object, "joules_per_operation", joules);
    }
    object
}

/// The power of an index for programs.
pub(super) fn index_data(index: &Index) -> Value {
    let (Some(watts), Some(per_watt)) = (index.watts, index.per_watt()) else {
        return Value::Null;
    };

    let mut object = json!({"watts": watts.value, "per_watt": per_watt.value});
    add_ends(&mut object, "watts", &watts);
    add_ends(&mut object, "per_watt", &per_watt);
    object
}

/// Adds the ends of an interval, null where there are none.
fn add_ends(object: &mut Value, key: &str, estimate: &Estimate) {
    object[format!("{key}_low")] = json!(estimate.low);
    object[format!("{key}_high")] = json!(estimate.high);
}

/// The table of tests and that of indexes.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    [table_of_tests(results), table_of_indexes(results)].map(Block::Table).into()
}

fn table_of_tests(results: &Results) -> Table {
    let mut metered = Vec::new();
    for figure in &results.figures {
        if let Some(energy) = figure.energy.as_deref() {
            metered.push(Metered { figure, energy });
        }
    }

    Columns::new()
        .with(Column::words("Test"), |metered: &Metered<'_>| {
            let cell = &metered.figure.cell;
            Field::text(name(&cell.label, &cell.key))
        })
        .with(Column::number("copies").wide(7), |metered| {
            Field::Count(metered.figure.cell.key.copies.into())
        })
        .with(Column::number("watts").main().wide(8), |metered| {
            Field::Estimate(metered.energy.watts, words::figure)
        })
        .with(Column::number("±").wide(7), |metered| Field::Spread(metered.energy.watts))
        .with(Column::number("J per op").main().wide(10), |metered| {
            let joules = metered.energy.per_operation;
            Field::maybe(joules.map(|joules| joules.value), words::joules)
        })
        .with(Column::number("±").wide(7), |metered| {
            metered.energy.per_operation.map_or(Field::Missing, Field::Spread)
        })
        .with(Column::number("Trials").shown(Readers::PAGE), |metered| {
            Field::Count(metered.energy.n as u64)
        })
        .table(&metered)
        .shown(Readers::PEOPLE)
        .titled("Energy", describe_source(results))
}

/// What the energy is of, and where it was read.
fn describe_source(results: &Results) -> String {
    let source = results.facts.value(Fact::ENERGY).unwrap_or("unknown");
    let idle = match results.facts.value(Fact::IDLE) {
        Some(idle) => format!("; {idle} before anything ran"),
        None => String::new(),
    };
    format!(
        "what the whole machine drew during the windows, as far as the energy source can see \
         ({source}{idle}); an operation is whatever the score counts: a loop, a KB, a piece of work"
    )
}

fn table_of_indexes(results: &Results) -> Table {
    let mut metered = Vec::new();
    for index in results.indexes() {
        if let (Some(watts), Some(per_watt)) = (index.watts, index.per_watt()) {
            metered.push(MeteredIndex { index, watts, per_watt });
        }
    }

    Columns::new()
        .with(Column::words("Index"), |metered: &MeteredIndex<'_>| Field::text(&metered.index.name))
        .with(Column::number("copies").wide(7), |metered| Field::Count(metered.index.copies.into()))
        .with(Column::number("watts").wide(8), |metered| {
            Field::Estimate(metered.watts, words::figure)
        })
        .with(Column::number("±").wide(7), |metered| Field::Spread(metered.watts))
        .with(Column::number("per watt").main().wide(9), |metered| {
            Field::Estimate(metered.per_watt, words::figure)
        })
        .with(Column::number("±").wide(7), |metered| Field::Spread(metered.per_watt))
        .table(&metered)
        .shown(Readers::PEOPLE)
        .titled("Index per watt", "watts: the geometric mean of the tests' power")
}
