//! The spread of blocks under a condition: what makes a machine quiet.

use analysis::Condition;
use stats::Spreads;
use words::{factor, fine, listed};

use super::FEW;
use crate::document::{Block, Column, Columns, Field, Readers};
use crate::views::comparisons::Line;

/// Returns which figures vary more or less from block to block under a condition; nothing where there are too few
/// blocks.
pub(super) fn blocks(condition: &Condition, lines: &[Line<'_>]) -> Vec<Block> {
    let all: Vec<(&Line<'_>, Spreads)> =
        lines.iter().filter_map(|line| Some((line, line.comparison.spreads()?))).collect();
    let differs = |(_, spread): &&(&Line<'_>, Spreads)| !(spread.ratio.low..=spread.ratio.high).contains(&1.0);
    let differing: Vec<&(&Line<'_>, Spreads)> = all.iter().filter(differs).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let found: Vec<String> =
        differing.iter().map(|(line, spread)| format!("{} {}", line.id(), times(spread))).collect();
    let found = match found.len() {
        0 => "no figure varies more or less".to_owned(),
        _ => listed(&found, FEW),
    };
    let text = format!("From block to block {found} (of {} compared; by chance 1 of 20 seems to).", all.len());
    let table = Columns::new()
        .with(Column::words("test"), |(line, _): &&(&Line<'_>, Spreads)| Field::Text(line.id()))
        .with(Column::number("without").wide(8), |(_, spread)| Field::Suffixed(100.0 * spread.first, fine, "%"))
        .with(Column::number("with").wide(8), |(_, spread)| Field::Suffixed(100.0 * spread.second, fine, "%"))
        .with(Column::number("spread").main().wide(7), |(_, spread)| Field::Number(spread.ratio.value, factor))
        .with(Column::words("95 %"), |(_, spread)| Field::Interval(spread.ratio, fine))
        .table(&differing)
        .shown(Readers::PEOPLE);
    vec![Block::Section(format!("Spread under {}", condition.name)), Block::text(text), Block::Table(table)]
}

/// `varies 2.7 times less (1.9 to 3.8)`.
fn times(Spreads { ratio, .. }: &Spreads) -> String {
    let (word, ends) = match ratio.value < 1.0 {
        true => ("less", [1.0 / ratio.value, 1.0 / ratio.high, 1.0 / ratio.low]),
        false => ("more", [ratio.value, ratio.low, ratio.high]),
    };
    let [value, low, high] = ends.map(fine);
    format!("varies {value} times {word} ({low} to {high})")
}
