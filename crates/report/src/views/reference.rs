//! The standings of a run among the machines of the reference collection.

use analysis::{Reference, Results};
use serde_json::json;
use words::Grouped;

use super::shared::name;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Without an index, so many figures have a sentence.
const MAX_SENTENCES: usize = 3;

const HOW_TO_READ: &str = "Ranges are what the 95 % intervals allow. Imported figures have no \
interval and are taken as exact. Where entries were imported, or measured by another procedure or \
build, the comparison is of machine and method together. `unixmark reference` lists the entries.";

/// The sentences about the indexes, and the table of all figures.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    if results.references.is_empty() {
        return Vec::new();
    }

    let mut blocks = vec![Block::section("Among reference systems")];
    blocks.extend(sentences(results).into_iter().map(Block::text));
    blocks.push(Block::Table(columns().table(&results.references).shown(Readers::PAGE)));
    blocks.push(Block::text(HOW_TO_READ));
    blocks
}

/// The table for programs.
pub(super) fn data(results: &Results) -> Table {
    columns().table(&results.references).keyed("references").shown(Readers::PROGRAM)
}

/// A sentence about each index; without an index about each of the first figures.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let references = &results.references;
    let has_index = references.iter().any(is_of_index);
    let described = references.iter().filter(|reference| !has_index || is_of_index(reference));
    let by_name = described.map(|reference| (title(reference), reference)).grouped();

    let max_sentences = if has_index { usize::MAX } else { MAX_SENTENCES };
    let mut sentences = Vec::new();
    for (name, references) in by_name.into_iter().take(max_sentences) {
        let standings: Vec<String> = references.into_iter().map(describe_standing).collect();
        sentences.push(format!("{name}: {}.", standings.join("; ")));
    }
    sentences
}

fn is_of_index(reference: &Reference) -> bool {
    reference.key.test.starts_with("index.")
}

fn title(reference: &Reference) -> String {
    let copies = words::copies(reference.key.copies);
    format!("{} ({copies})", name(&reference.label, &reference.key))
}

/// `better than 1 to 2 of 3 entries measured the same way, closest to zen-4`.
fn describe_standing(reference: &Reference) -> String {
    let Reference { better_than, of, nearest, procedure, .. } = reference;
    let how = match reference.alike {
        true => "the same way".to_owned(),
        false => format!("differently ({procedure})"),
    };
    let (better_than, entries) = (format_range(*better_than), words::count(of, "entry"));
    format!("better than {better_than} of {entries} measured {how}, closest to {nearest}")
}

fn columns() -> Columns<'static, Reference> {
    Columns::new()
        .keyed(|reference: &Reference| &reference.key)
        .with(Column::words("Test").keyed("label"), |reference| {
            let name = name(&reference.label, &reference.key);
            Field::Worded(name, reference.label.as_str().into())
        })
        .with(Column::number("Copies"), |reference| Field::Count(reference.key.copies.into()))
        .with(Column::number("Better than").keyed("better_than").main(), |reference| {
            let better_than = reference.better_than;
            Field::Worded(format_range(better_than), json!(better_than))
        })
        .with(Column::number("of").keyed("of"), |reference| Field::Count(reference.of as u64))
        .with(Column::words("Nearest").keyed("nearest"), |reference| {
            Field::text(&reference.nearest)
        })
        .with(Column::words("Measured by").keyed("procedure"), |reference| {
            Field::text(&reference.procedure)
        })
        .with(Column::words("Same way").keyed("alike"), |reference| Field::Flag(reference.alike))
}

/// `1 to 3`; a number that is certain has no range.
fn format_range((min, max): (usize, usize)) -> String {
    if min == max { min.to_string() } else { format!("{min} to {max}") }
}
