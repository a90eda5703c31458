//! The power of comparisons on this machine.

use analysis::{Need, Planted, Power};
use serde_json::json;

use crate::document::{Block, Column, Columns, Field, Readers};

/// Returns the tables of what was found, and of what each test needs.
pub(super) fn blocks(power: Option<&Power>) -> Vec<Block> {
    let Some(power) = power else {
        return vec![Block::text("Too little was measured to compare.")];
    };
    let percent = |value: f64| Field::Suffixed(value, words::signed_fine, "%");
    let found = Columns::new()
        .with(Column::words("Slowed by"), |one: &Planted| Field::Text(format!("{} %", one.percent)))
        .with(Column::number("Found"), |one| Field::Text(format!("{:.0} %", 100.0 * one.found)))
        .with(Column::number("Measured").main(), move |one| percent(one.measured));
    let mut needs = Columns::new()
        .with(Column::words("Test"), |need: &Need| Field::text(&need.label).narrow(&need.test))
        .with(Column::number("±").main(), |need| Field::Text(format!("{:.1} %", need.half)));
    for (place, size) in power.tests.first().into_iter().flat_map(|need| need.sizes).enumerate() {
        needs = needs
            .with(Column::number(&format!("{} %", size.percent)), move |need: &Need| {
                Field::Count(need.sizes[place].blocks.into())
            })
            .with(Column::number("time"), move |need| Field::Text(words::duration(need.sizes[place].seconds)));
    }
    let remark = format!("over {} blocks", power.blocks);
    let what = format!(
        "±: half the interval of a difference of equal arms over {} blocks; then the blocks and the time after which four of \
         five comparisons show a difference of that size",
        power.blocks
    );
    vec![
        Block::Data("power", json!(power)),
        Block::section("Planted losses"),
        Block::Table(found.table(&power.planted).titled("", remark).shown(Readers::PEOPLE)),
        Block::section("What a difference needs"),
        Block::Table(needs.table(&power.tests).titled("", what).shown(Readers::PEOPLE)),
    ]
}
