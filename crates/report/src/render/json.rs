//! JSON: tables are arrays of objects, pairs are objects, lists are arrays. A number that does not
//! exist is null.

use anyhow::Result;
use serde_json::{Map, Value};

use crate::document::{Block, Document, RowKind, Table, object};

/// The keys of what takes most room, which programs get where they ask for it: the system, the
/// controls, and what grows with the time that was measured.
const DETAILS: [&str; 9] = [
    "facts",
    "fact_table",
    "controls",
    "samples",
    "pairs",
    "histogram",
    "over_time",
    "worst",
    "trials",
];

/// The document as an object, with all details if `has_details`.
pub(super) fn render(document: &Document, has_details: bool) -> Result<String> {
    let mut object = Map::new();
    object.insert("format".to_owned(), Value::from(document.format));
    for block in &document.blocks {
        add_block(&mut object, block);
    }

    let mut report = Value::Object(object);
    if !has_details {
        remove_details(&mut report);
    }
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn add_block(object: &mut Map<String, Value>, block: &Block) {
    match block {
        Block::Data(key, value) => {
            object.insert((*key).to_owned(), value.clone());
        }
        Block::Lead(sentences) => {
            append(object, "sentences", sentences.iter().map(String::as_str));
        }
        Block::Pairs(pairs) if !pairs.key.is_empty() => {
            let items = pairs.items.iter().map(|pair| (pair.key.as_str(), pair.value.as_str()));
            object.insert(pairs.key.to_owned(), items.collect());
        }
        Block::Table(table) if !table.key.is_empty() && table.readers.program => {
            append(object, table.key, rows(table));
        }
        Block::List(list) if !list.key.is_empty() => {
            append(object, list.key, list.items.iter().map(String::as_str));
        }
        _ => {}
    }
}

/// Adds to the array `key`, which several blocks may share.
fn append(object: &mut Map<String, Value>, key: &str, values: impl Iterator<Item: Into<Value>>) {
    if let Value::Array(array) = object.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
        array.extend(values.map(Into::into));
    }
}

/// Removes details at any depth.
fn remove_details(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, value| {
                // The `worst` of a mean is a name, and stays.
                let is_long = value.is_array() || value.is_object() || key == "histogram";
                !(is_long && DETAILS.contains(&key.as_str()))
            });
            object.values_mut().for_each(remove_details);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_details),
        _ => {}
    }
}

/// The rows of a table as objects; gaps are in tables of their own.
pub(super) fn rows(table: &Table) -> impl Iterator<Item = Map<String, Value>> + '_ {
    let rows = table.rows.iter().filter(|row| !matches!(row.kind, RowKind::Gap(_)));
    rows.map(move |row| object(table.columns.iter(), row))
}
