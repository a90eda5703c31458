//! The energy that the machine drew while tests were measured: shown where any of it is known.

use analysis::{Energy, Figure, Index, Results};
use journal::Fact;
use serde_json::{Value, json};
use stats::Estimate;

use super::shared::name;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Returns what programs have of a row's energy.
pub(super) fn data(energy: &Energy) -> Value {
    let mut object = json!({"watts": energy.watts.value, "energy_trials": energy.n});
    put(&mut object, "watts", &energy.watts);
    if let Some(joules) = &energy.per_operation {
        object["joules_per_operation"] = json!(joules.value);
        put(&mut object, "joules_per_operation", joules);
    }
    object
}

/// Returns what programs have of an index's power.
pub(super) fn index_data(index: &Index) -> Value {
    let Some((watts, per_watt)) = index.watts.zip(index.per_watt()) else { return Value::Null };
    let mut object = json!({"watts": watts.value, "per_watt": per_watt.value});
    put(&mut object, "watts", &watts);
    put(&mut object, "per_watt", &per_watt);
    object
}

/// Adds the ends of an interval, null where there are none.
fn put(object: &mut Value, key: &str, estimate: &Estimate) {
    object[format!("{key}_low")] = json!(estimate.low);
    object[format!("{key}_high")] = json!(estimate.high);
}

/// Returns the tables that have any row.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    [tests(results), indexes(results)].map(Block::Table).into()
}

fn tests(results: &Results) -> Table {
    let known: Vec<(&Figure, &Energy)> =
        results.figures.iter().filter_map(|row| Some((row, row.energy.as_deref()?))).collect();
    Columns::new()
        .with(Column::words("Test"), |(row, _): &(&Figure, &Energy)| Field::text(name(&row.cell.label, &row.cell.key)))
        .with(Column::number("copies").wide(7), |(row, _)| Field::Count(u64::from(row.cell.key.copies)))
        .with(Column::number("watts").main().wide(8), |(_, energy)| Field::Estimate(energy.watts, words::figure))
        .with(Column::number("±").wide(7), |(_, energy)| Field::Spread(energy.watts))
        .with(Column::number("J per op").main().wide(10), |(_, energy)| {
            Field::maybe(energy.per_operation.map(|joules| joules.value), words::joules)
        })
        .with(Column::number("±").wide(7), |(_, energy)| energy.per_operation.map_or(Field::Missing, Field::Spread))
        .with(Column::number("Trials").shown(Readers::PAGE), |(_, energy)| Field::Count(energy.n as u64))
        .table(&known)
        .shown(Readers::PEOPLE)
        .titled("Energy", remark(results))
}

/// Returns a remark on the source of the figures.
fn remark(results: &Results) -> String {
    let from = results.facts.value(Fact::ENERGY).unwrap_or("unknown");
    let idle = results.facts.value(Fact::IDLE).map_or_else(String::new, |idle| format!("; {idle} before anything ran"));
    format!(
        "what the whole machine drew during the windows, as far as the energy source can see ({from}{idle}); an \
         operation is whatever the score counts: a loop, a KB, a piece of work"
    )
}

fn indexes(results: &Results) -> Table {
    let known: Vec<(&Index, Estimate, Estimate)> =
        results.indexes().iter().filter_map(|index| Some((index, index.watts?, index.per_watt()?))).collect();
    Columns::new()
        .with(Column::words("Index"), |(index, ..): &(&Index, Estimate, Estimate)| Field::text(&index.name))
        .with(Column::number("copies").wide(7), |(index, ..)| Field::Count(u64::from(index.copies)))
        .with(Column::number("watts").wide(8), |(_, watts, _)| Field::Estimate(*watts, words::figure))
        .with(Column::number("±").wide(7), |(_, watts, _)| Field::Spread(*watts))
        .with(Column::number("per watt").main().wide(9), |(.., per)| Field::Estimate(*per, words::figure))
        .with(Column::number("±").wide(7), |(.., per)| Field::Spread(*per))
        .table(&known)
        .shown(Readers::PEOPLE)
        .titled("Index per watt", "watts: the geometric mean of the tests' power")
}
