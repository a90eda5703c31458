//! The spread of blocks under a condition: what makes a machine quiet.

use analysis::Condition;
use stats::Spreads;
use words::{factor, fine, listed};

use super::MAX_LISTED;
use crate::document::{Block, Column, Columns, Field, Readers, Table};
use crate::views::comparisons::Line;

/// A figure, and how it varies from block to block without the condition and with it.
struct Varying<'a> {
    line: &'a Line<'a>,
    spreads: Spreads,
}

impl Varying<'_> {
    /// True if it varies more or less under the condition.
    fn differs(&self) -> bool {
        !(self.spreads.ratio.low..=self.spreads.ratio.high).contains(&1.0)
    }

    /// `syscall x2 varies 2.7 times less (1.9 to 3.8)`.
    fn describe(&self) -> String {
        let ratio = self.spreads.ratio;
        let (word, ends) = match ratio.value < 1.0 {
            true => ("less", [1.0 / ratio.value, 1.0 / ratio.high, 1.0 / ratio.low]),
            false => ("more", [ratio.value, ratio.low, ratio.high]),
        };
        let [value, low, high] = ends.map(fine);
        format!("{} varies {value} times {word} ({low} to {high})", self.line.id())
    }
}

/// Which figures vary more or less from block to block under a condition; nothing if there are too
/// few blocks.
pub(super) fn blocks(condition: &Condition, lines: &[Line<'_>]) -> Vec<Block> {
    let mut varying = Vec::new();
    for line in lines {
        if let Some(spreads) = line.comparison.spreads() {
            varying.push(Varying { line, spreads });
        }
    }
    if varying.is_empty() {
        return Vec::new();
    }

    let compared = varying.len();
    varying.retain(Varying::differs);
    let differing: Vec<String> = varying.iter().map(Varying::describe).collect();
    let found = match differing.len() {
        0 => "no figure varies more or less".to_owned(),
        _ => listed(&differing, MAX_LISTED),
    };
    let text = format!(
        "From block to block {found} (of {compared} compared; by chance 1 of 20 seems to)."
    );
    vec![
        Block::Section(format!("Spread under {}", condition.name)),
        Block::text(text),
        Block::Table(table(&varying)),
    ]
}

fn table(varying: &[Varying<'_>]) -> Table {
    Columns::new()
        .with(Column::words("test"), |row: &Varying<'_>| Field::Text(row.line.id()))
        .with(Column::number("without").wide(8), |row| {
            Field::Suffixed(100.0 * row.spreads.first, fine, "%")
        })
        .with(Column::number("with").wide(8), |row| {
            Field::Suffixed(100.0 * row.spreads.second, fine, "%")
        })
        .with(Column::number("spread").main().wide(7), |row| {
            Field::Number(row.spreads.ratio.value, factor)
        })
        .with(Column::words("95 %"), |row| Field::Interval(row.spreads.ratio, fine))
        .table(varying)
        .shown(Readers::PEOPLE)
}
