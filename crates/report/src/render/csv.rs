//! CSV (RFC 4180): one line per row of the document's main tables, a column per key; nested keys
//! have dots. Texts are no formulas to a spreadsheet; numbers are as they are, also negative ones.

use anyhow::Result;
use serde_json::{Map, Value};
use words::{Unique, csv_field};

use super::json;
use crate::document::{Block, Document};

/// A value of a line, with the key of its column.
#[derive(Clone)]
struct Cell {
    key: String,
    text: String,
}

impl Cell {
    fn new(key: &str, text: String) -> Cell {
        Cell { key: key.to_owned(), text }
    }
}

/// The columns are those of all main tables in the order of their first appearance.
pub(super) fn render(document: &Document) -> Result<String> {
    let before: Vec<Cell> = run_name(document).into_iter().collect();
    let after: Vec<Cell> = run_warnings(document).into_iter().collect();
    let mut lines: Vec<Vec<Cell>> = Vec::new();
    for block in &document.blocks {
        if let Block::Table(table) = block
            && document.lines.contains(&table.key)
            && table.readers.program
        {
            for row in json::rows(table) {
                lines.push([before.clone(), flatten("", &row), after.clone()].concat());
            }
        }
    }

    let keys = lines.iter().flatten().map(|cell| cell.key.as_str()).unique();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(keys.iter().map(|key| csv_field(key)))?;
    for line in &lines {
        let texts = keys.iter().map(|key| {
            let cell = line.iter().find(|cell| cell.key == *key);
            cell.map_or("", |cell| &cell.text)
        });
        writer.write_record(texts)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// The name of the run, which every line begins with; `None` if rows name their own.
fn run_name(document: &Document) -> Option<Cell> {
    if document.run.is_empty() {
        return None;
    }
    Some(Cell::new("run", csv_field(&document.run)))
}

/// What is noted of the whole run, which every line repeats as it does the run's name.
fn run_warnings(document: &Document) -> Option<Cell> {
    let mut warnings: Vec<&str> = Vec::new();
    for block in &document.blocks {
        if let Block::List(list) = block
            && list.key == "warnings"
        {
            warnings.extend(list.items.iter().map(String::as_str));
        }
    }
    if warnings.is_empty() {
        return None;
    }
    Some(Cell::new("run_warnings", csv_field(&warnings.join("; "))))
}

/// The values of a row that fit a cell: raw samples do not.
fn flatten(prefix: &str, row: &Map<String, Value>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (name, value) in row {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(nested) => cells.extend(flatten(&key, nested)),
            // A histogram is one long word.
            Value::String(_) if key.ends_with("histogram") => {}
            Value::Array(list) => cells.extend(join_items(list).map(|text| Cell { key, text })),
            value => cells.push(Cell { key, text: format_value(value) }),
        }
    }
    cells
}

/// The items of a list of words or numbers; `None` if it has anything else.
fn join_items(list: &[Value]) -> Option<String> {
    if list.iter().any(|item| item.is_object() || item.is_array()) {
        return None;
    }

    let mut texts = Vec::new();
    for item in list {
        // Words are made safe for spreadsheets together, below.
        texts.push(item.as_str().map_or_else(|| format_value(item), str::to_owned));
    }
    let joined = texts.join("; ");
    let has_words = list.iter().any(Value::is_string);
    Some(if has_words { csv_field(&joined) } else { joined })
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::String(text) => csv_field(text),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}
