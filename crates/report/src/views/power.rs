//! The power of comparisons on this machine: which losses they find, and what that takes.

use analysis::{Need, Planted, Power};
use serde_json::json;

use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// The tables of the planted losses that were found, and of what each test needs.
pub(super) fn blocks(power: Option<&Power>) -> Vec<Block> {
    let Some(power) = power else {
        return vec![Block::text("Too little was measured to compare.")];
    };

    vec![
        Block::Data("power", json!(power)),
        Block::section("Planted losses"),
        Block::Table(table_of_planted(power)),
        Block::section("What a difference needs"),
        Block::Table(table_of_needs(power)),
    ]
}

fn table_of_planted(power: &Power) -> Table {
    Columns::new()
        .with(Column::words("Slowed by"), |planted: &Planted| {
            Field::Text(format!("{} %", planted.percent))
        })
        .with(Column::number("Found"), |planted| {
            Field::Text(format!("{:.0} %", 100.0 * planted.found))
        })
        .with(Column::number("Measured").main(), |planted| {
            Field::Suffixed(planted.measured, words::signed_fine, "%")
        })
        .table(&power.planted)
        .titled("", format!("over {} blocks", power.blocks))
        .shown(Readers::PEOPLE)
}

/// For each test, the blocks and the time that a difference of each size needs.
fn table_of_needs(power: &Power) -> Table {
    let mut columns = Columns::new()
        .with(Column::words("Test"), |need: &Need| Field::text(&need.label).narrow(&need.test))
        .with(Column::number("±").main(), |need| Field::Text(format!("{:.1} %", need.half)));
    // All tests have the same sizes.
    let sizes = power.tests.first().map(|need| &need.sizes);
    for (number, size) in sizes.into_iter().flatten().enumerate() {
        columns = columns
            .with(Column::number(&format!("{} %", size.percent)), move |need: &Need| {
                Field::Count(need.sizes[number].blocks.into())
            })
            .with(Column::number("time"), move |need| {
                Field::Text(words::duration(need.sizes[number].seconds))
            });
    }

    let remark = format!(
        "±: half the interval of a difference of equal arms over {} blocks; then the blocks and \
         the time after which four of five comparisons show a difference of that size",
        power.blocks
    );
    columns.table(&power.tests).titled("", remark).shown(Readers::PEOPLE)
}
