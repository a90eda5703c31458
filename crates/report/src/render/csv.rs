//! CSV (RFC 4180): one line per row of the document's main tables, a column per key; nested keys have dots. Texts are
//! no formulas to a spreadsheet; numbers are as they are, also negative ones.

use anyhow::Result;
use serde_json::{Map, Value};
use words::{Unique, csv_field};

use super::json;
use crate::document::{Block, Document};

/// Returns the lines; the columns are those of all main tables in the order of their first appearance.
pub(super) fn render(document: &Document) -> Result<String> {
    let mut rows: Vec<Vec<(String, String)>> = Vec::new();
    let run: Vec<(String, String)> = match document.run.as_str() {
        "" => Vec::new(),
        run => vec![("run".to_owned(), csv_field(run))],
    };
    for block in &document.blocks {
        if let Block::Table(table) = block
            && document.lines.contains(&table.key)
            && table.readers.program
        {
            rows.extend(json::rows(table).map(|row| [run.clone(), flat("", &row)].concat()));
        }
    }
    let heads = rows.iter().flatten().map(|(key, _)| key.as_str()).unique();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heads.iter().map(|head| csv_field(head)))?;
    for row in &rows {
        let field = |head: &&str| row.iter().find(|(key, _)| key == head).map_or("", |(_, value)| value.as_str());
        writer.write_record(heads.iter().map(field))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Returns the values of a row that fit a cell: raw samples do not.
fn flat(outer: &str, row: &Map<String, Value>) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (key, value) in row {
        let key = if outer.is_empty() { key.clone() } else { format!("{outer}.{key}") };
        match value {
            Value::Object(inner) => fields.extend(flat(&key, inner)),
            // A histogram is one long word.
            Value::String(_) if key.ends_with("histogram") => {}
            Value::Array(list) => fields.extend(joined(list).map(|text| (key, text))),
            value => fields.push((key, cell(value))),
        }
    }
    fields
}

/// Returns the items of a list of words or numbers; `None` if it is one of anything else.
fn joined(list: &[Value]) -> Option<String> {
    let is_plain = list.iter().all(|item| !item.is_object() && !item.is_array());
    let has_words = list.iter().any(Value::is_string);
    let words = |item: &Value| item.as_str().map_or_else(|| cell(item), str::to_owned);
    let joined = is_plain.then(|| list.iter().map(words).collect::<Vec<String>>().join("; "))?;
    Some(if has_words { csv_field(&joined) } else { joined })
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::String(text) => csv_field(text),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}
