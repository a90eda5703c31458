//! What a document says at a terminal, in ASCII: before it is laid out, since some symbols become longer.

use words::ascii;

use crate::document::{Block, Document, Field, Row, RowKind, Table};

/// Returns the document without symbols that ASCII has not.
pub(super) fn plain(document: &Document) -> Document {
    let mut document = document.clone();
    [&mut document.title, &mut document.kind].into_iter().for_each(simplify);
    document.blocks.iter_mut().for_each(block);
    document
}

fn simplify(text: &mut String) {
    *text = ascii(text);
}

fn block(block: &mut Block) {
    match block {
        Block::Section(title) => simplify(title),
        Block::Lead(sentences) => sentences.iter_mut().for_each(simplify),
        Block::Text(_, lead, content) => [lead, content].into_iter().for_each(simplify),
        Block::Pairs(pairs) => {
            pairs.items.iter_mut().flat_map(|pair| [&mut pair.narrow, &mut pair.value]).for_each(simplify);
        }
        Block::List(list) => {
            simplify(&mut list.title);
            list.items.iter_mut().for_each(simplify);
        }
        Block::Table(table) => self::table(table),
        Block::Headlines(..) | Block::Chart(_) | Block::Data(..) => {}
    }
}

fn table(table: &mut Table) {
    [&mut table.title, &mut table.remark].into_iter().for_each(simplify);
    table.columns.iter_mut().flat_map(|column| [&mut column.head, &mut column.narrow]).for_each(simplify);
    table.rows.iter_mut().for_each(row);
}

fn row(row: &mut Row) {
    if let RowKind::Gap(reason) = &mut row.kind {
        simplify(reason);
    }
    for field in &mut row.fields {
        match field {
            Field::Marks(texts) => texts.iter_mut().for_each(simplify),
            Field::Nothing | Field::Missing | Field::Bar(_) | Field::Data(_) => {}
            Field::Narrow(words, _) => simplify(words),
            field => *field = Field::Text(ascii(&field.words())),
        }
    }
}
