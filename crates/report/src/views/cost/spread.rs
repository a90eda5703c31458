//! How much more or less the blocks scatter under a condition: what makes a machine quiet.

use analysis::{Condition, Scatter};
use serde_json::json;
use words::{factor, fine, listed};

use crate::document::{Block, Column, Columns, Field, Readers};
use crate::views::comparisons::Line;

/// Figures that a sentence lists.
const FEW: usize = 6;

/// Returns which figures vary more or less from block to block under a condition; nothing where there are too few blocks.
pub(super) fn blocks(condition: &Condition, lines: &[Line<'_>]) -> Vec<Block> {
    let all: Vec<(&Line<'_>, Scatter)> =
        lines.iter().filter_map(|line| Some((line, line.comparison.scatter()?))).collect();
    let differs = |(_, scatter): &&(&Line<'_>, Scatter)| !(scatter.ratio.low..=scatter.ratio.high).contains(&1.0);
    let differing: Vec<&(&Line<'_>, Scatter)> = all.iter().filter(differs).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let found: Vec<String> =
        differing.iter().map(|(line, scatter)| format!("{} {}", line.id(), times(scatter))).collect();
    let found = match found.len() {
        0 => "no figure varies more or less".to_owned(),
        _ => listed(&found, FEW),
    };
    let text = format!("From block to block {found} (of {} compared; by chance 1 of 20 seems to).", all.len());
    let table = Columns::new()
        .with(Column::words("test"), |(line, _): &&(&Line<'_>, Scatter)| Field::Text(line.id()))
        .with(Column::number("without").wide(8), |(_, scatter)| Field::Suffixed(scatter.a, fine, "%"))
        .with(Column::number("with").wide(8), |(_, scatter)| Field::Suffixed(scatter.b, fine, "%"))
        .with(Column::number("spread").main().wide(7), |(_, scatter)| Field::Number(scatter.ratio.value, factor))
        .with(Column::words("95 %"), |(_, scatter)| Field::Interval(scatter.ratio, fine))
        .data(|(line, scatter)| json!({"test": line.id(), "scatter": scatter}))
        .of(&differing)
        .shown(Readers::PEOPLE);
    vec![
        Block::Section(format!("Spread under {}", condition.name)),
        Block::Text(Readers::PEOPLE, String::new(), text),
        Block::Table(table),
    ]
}

/// `varies 2.7 times less (1.9 to 3.8)`.
fn times(Scatter { ratio, .. }: &Scatter) -> String {
    let (word, ends) = match ratio.value < 1.0 {
        true => ("less", [1.0 / ratio.value, 1.0 / ratio.high, 1.0 / ratio.low]),
        false => ("more", [ratio.value, ratio.low, ratio.high]),
    };
    let [value, low, high] = ends.map(fine);
    format!("varies {value} times {word} ({low} to {high})")
}
