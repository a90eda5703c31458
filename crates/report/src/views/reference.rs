//! The standings of a run among the machines of the reference collection.

use analysis::{Reference, Results};
use words::Grouped;

use super::shared::name;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// The way to read the table.
const READING: &str = "Ranges are what the 95 % intervals allow. Imported figures have no interval and are taken as exact. Where entries were \
    imported, or measured by another procedure or build, the comparison is of machine and method together. \
    `unixmark reference` lists the entries.";

/// Returns the sentences about the indexes, and the table of all figures.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let found = &results.references;
    if found.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::section("Among reference systems")];
    blocks.extend(sentences(results).into_iter().map(Block::text));
    blocks.extend([Block::Table(columns().table(found).shown(Readers::PAGE)), Block::text(READING)]);
    blocks
}

/// Returns the table for programs.
pub(super) fn data(results: &Results) -> Table {
    columns().table(&results.references).keyed("references").shown(Readers::PROGRAM)
}

/// Returns a sentence about each index, or without any about each of the first figures.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    /// Figures that have a sentence.
    const MOST: usize = 3;
    let of_index = |one: &&Reference| one.key.test.starts_with("index.");
    let has_index = results.references.iter().any(|one| of_index(&one));
    let told = results.references.iter().filter(|one| !has_index || of_index(one));
    let named = told.map(|one| (format!("{} ({})", name(&one.label, &one.key), words::copies(one.key.copies)), one));
    let sentence = |(name, all): (String, Vec<&Reference>)| {
        let parts: Vec<String> = all.into_iter().map(part).collect();
        format!("{name}: {}.", parts.join("; "))
    };
    named.grouped().into_iter().take(if has_index { usize::MAX } else { MOST }).map(sentence).collect()
}

/// `better than 1 to 2 of 3 entries measured the same way, closest to zen-4`.
fn part(one: &Reference) -> String {
    let how = if one.alike { "the same way".to_owned() } else { format!("differently ({})", one.procedure) };
    let entries = words::count(one.of, "entry");
    format!("better than {} of {entries} measured {how}, closest to {}", range(one.better_than), one.nearest)
}

fn columns() -> Columns<'static, Reference> {
    Columns::new()
        .keyed(|one: &Reference| &one.key)
        .with(Column::words("Test").keyed("label"), |one| {
            Field::Worded(name(&one.label, &one.key), one.label.as_str().into())
        })
        .with(Column::number("Copies"), |one| Field::Count(one.key.copies.into()))
        .with(Column::number("Better than").keyed("better_than").main(), |one| {
            Field::Worded(range(one.better_than), serde_json::json!(one.better_than))
        })
        .with(Column::number("of").keyed("of"), |one| Field::Count(one.of as u64))
        .with(Column::words("Nearest").keyed("nearest"), |one| Field::text(&one.nearest))
        .with(Column::words("Measured by").keyed("procedure"), |one| Field::text(&one.procedure))
        .with(Column::words("Same way").keyed("alike"), |one| Field::Flag(one.alike))
}

/// `1 to 3`; a number that is certain stands alone.
fn range((fewest, most): (usize, usize)) -> String {
    if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") }
}
