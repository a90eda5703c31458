//! JSON: tables are arrays of objects, pairs are objects, lists are arrays. A number that does not exist is null.

use anyhow::Result;
use serde_json::{Map, Value};

use crate::document::{Block, Document, RowKind, Table, object};

/// Returns the document as an object.
pub(super) fn render(document: &Document) -> Result<String> {
    let mut object = Map::new();
    object.insert("format".to_owned(), Value::from(document.format));
    for block in &document.blocks {
        match block {
            Block::Data(key, value) => {
                object.insert((*key).to_owned(), value.clone());
            }
            Block::Lead(sentences) => append(&mut object, "sentences", sentences.iter().map(String::as_str)),
            Block::Pairs(pairs) if !pairs.key.is_empty() => {
                let items = pairs.items.iter().map(|pair| (pair.key.as_str(), pair.value.as_str()));
                object.insert(pairs.key.to_owned(), items.collect());
            }
            Block::Table(table) if !table.key.is_empty() && table.readers.program => {
                append(&mut object, table.key, rows(table));
            }
            Block::List(list) if !list.key.is_empty() => {
                append(&mut object, list.key, list.items.iter().map(String::as_str));
            }
            _ => {}
        }
    }
    Ok(serde_json::to_string_pretty(&object)? + "\n")
}

/// Adds to the array `key`, which several blocks may share.
fn append(object: &mut Map<String, Value>, key: &str, values: impl Iterator<Item: Into<Value>>) {
    if let Value::Array(array) = object.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
        array.extend(values.map(Into::into));
    }
}

/// Returns the rows of a table as objects.
pub(super) fn rows(table: &Table) -> impl Iterator<Item = Map<String, Value>> + '_ {
    let rows = table.rows.iter().filter(|row| !matches!(row.kind, RowKind::Gap(_)));
    rows.map(move |row| object(table.columns.iter(), row))
}
