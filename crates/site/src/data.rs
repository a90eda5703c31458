//! What scripts of the pages read: what the site has, its runs in shards, and the values of each measure.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::board::Board;
use crate::class::short;
use crate::files::Files;
use crate::front::LEVELS;
use crate::layout::call;
use crate::record::FACETS;

/// Runs are kept by the first digit of their names, so that a new one changes one file.
const SHARDS: &str = "0123456789abcdef";

/// Writes them all.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(board: &Board, files: &Files) -> Result<()> {
    let mut values: BTreeMap<usize, Map<String, Value>> = BTreeMap::new();
    let mut shards: BTreeMap<char, Vec<Value>> = BTreeMap::new();
    for (entry, class) in board.entries.iter().zip(&board.class_of) {
        let mut facets = Vec::new();
        for place in &board.facets {
            let text = entry.fact(*place).unwrap_or("unknown");
            values.entry(*place).or_default().entry(short(text)).or_insert_with(|| text.into());
            facets.push(short(text));
        }
        let row = json!([
            entry.id,
            entry.system,
            entry.host,
            entry.date(),
            board.classes[*class].id,
            entry.about,
            facets,
            entry.marks,
        ]);
        shards.entry(entry.id.chars().next().unwrap_or('0')).or_default().push(row);
    }
    for digit in SHARDS.chars().filter(|digit| shards.contains_key(digit)) {
        files.write(&format!("data/runs-{digit}.js"), call("runs", &json!(shards[&digit])).as_bytes())?;
    }
    for measure in &board.measures {
        let of_runs: Map<String, Value> =
            measure.values.iter().map(|(id, levels)| (id.clone(), levels.json())).collect();
        let name = format!("data/m-{}.js", short(&measure.id));
        files.write(&name, format!("unixmark.values({},{});\n", json!(measure.id), json!(of_runs)).as_bytes())?;
    }
    files.write("data/site.js", call("site", &site(board, &shards, &values)).as_bytes())?;
    Ok(())
}

fn site(board: &Board, shards: &BTreeMap<char, Vec<Value>>, values: &BTreeMap<usize, Map<String, Value>>) -> Value {
    let facets: Vec<Value> = board
        .facets
        .iter()
        .map(|place| json!({"id": FACETS[*place].0, "label": FACETS[*place].1, "values": values.get(place)}))
        .collect();
    let classes: Vec<Value> = board
        .classes
        .iter()
        .map(|class| json!({"id": class.id, "label": class.label(), "parts": class.parts()}))
        .collect();
    let measures: Vec<Value> = board
        .measures
        .iter()
        .map(|measure| {
            json!({
                "id": measure.id, "file": short(&measure.id), "label": measure.label, "group": measure.group,
                "unit": measure.unit, "lower": measure.is_lower_better, "change": measure.is_change, "runs": measure.values.len(),
            })
        })
        .collect();
    json!({
        "shards": shards.keys().collect::<String>(),
        "facets": facets,
        "classes": classes,
        "measures": measures,
        "first": board.measures.get(board.first).map(|first| &first.id),
        "levels": LEVELS.map(|(id, label, _)| json!({"id": id, "label": label})),
    })
}
