//! Data for the scripts of the pages: the parts of the site, its runs in shards, and the values of
//! each measure, in the unit in which people read them.

use std::collections::BTreeMap;

use anyhow::Result;
use indexmap::IndexSet;
use serde_json::{Value, json};

use crate::board::Board;
use crate::class::Class;
use crate::entry::Entry;
use crate::files::Files;
use crate::layout::call;
use crate::measure::{LEVELS, Measure};
use crate::name::name_of;
use crate::record::FACETS;

/// The values of each of [`FACETS`], numbered in the order of the first runs that have them.
type Numbered<'a> = BTreeMap<usize, IndexSet<&'a str>>;

/// Runs are kept by the first digit of their names, so that a new one changes one file.
const SHARDS: &str = "0123456789abcdef";

/// Writes the data of a site.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(board: &Board, files: &Files) -> Result<()> {
    let mut values: Numbered<'_> = BTreeMap::new();
    let mut shards: BTreeMap<char, Vec<Value>> = BTreeMap::new();
    for (entry, class) in board.entries.iter().zip(&board.class_of) {
        let number = |place: &usize| {
            let text = entry.fact(*place).unwrap_or("unknown");
            values.entry(*place).or_default().insert_full(text).0
        };
        let facets: Vec<usize> = board.facets.iter().map(number).collect();
        let Entry { id, system, host, about, marks, .. } = entry;
        let row =
            json!([id, system, host, entry.date(), board.classes[*class].id, about, facets, marks]);
        shards.entry(entry.id.chars().next().unwrap_or('0')).or_default().push(row);
    }

    for digit in SHARDS.chars().filter(|digit| shards.contains_key(digit)) {
        files.write(
            &format!("data/runs-{digit}.js"),
            call("runs", &json!(shards[&digit])).as_bytes(),
        )?;
    }

    for measure in &board.measures {
        let factor = measure.shown_unit().factor;
        let values_of_runs: Value =
            measure.values.iter().map(|(id, levels)| (id.as_str(), levels.json(factor))).collect();
        let name = format!("data/m-{}.js", name_of(&measure.id));
        files.write(
            &name,
            format!("unixmark.values({},{});\n", json!(measure.id), values_of_runs).as_bytes(),
        )?;
    }

    files.write("data/site.js", call("site", &site_json(board, &shards, &values)).as_bytes())?;
    Ok(())
}

/// The parts of the site: its shards, facts, classes and measures.
fn site_json(board: &Board, shards: &BTreeMap<char, Vec<Value>>, values: &Numbered<'_>) -> Value {
    let facet = |place: &usize| {
        let in_order = values.get(place).into_iter().flatten().copied().collect::<Vec<&str>>();
        json!({"id": FACETS[*place].0, "label": FACETS[*place].1, "values": in_order})
    };
    let class =
        |class: &Class| json!({"id": class.id, "label": class.label(), "parts": class.parts()});
    json!({
        "shards": shards.keys().collect::<String>(),
        "facets": board.facets.iter().map(facet).collect::<Value>(),
        "classes": board.classes.iter().map(class).collect::<Value>(),
        "measures": board.measures.iter().map(measure_json).collect::<Value>(),
        "first": board.measures.get(board.first).map(|first| &first.id),
        "levels": LEVELS.map(|(id, label)| json!({"id": id, "label": label})),
    })
}

fn measure_json(measure: &Measure) -> Value {
    json!({
        "id": measure.id, "file": name_of(&measure.id), "label": measure.label, "group": measure.group,
        "unit": measure.shown_unit().name, "lower": measure.is_lower_better, "change": measure.is_change, "runs": measure.values.len(),
    })
}
