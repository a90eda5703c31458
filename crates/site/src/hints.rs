//! Why systems differ, for pages that show some of them: the facts that go with the differences
//! over all systems of a class.

use anyhow::Result;
use serde_json::{Value, json};

use crate::Site;
use crate::board::Board;
use crate::entry::{Column, Columns, Entry, EntryFigure};
use crate::layout::call;
use crate::measure::LEVELS;
use crate::record::FACETS;
use analysis::{System, SystemScore, Why};
use catalogue::Catalogue;
use journal::Fact;

/// The latest systems of a class on which its hints rest: more would say the same, and take longer.
const MAX_SYSTEMS: usize = 50;

/// Writes the hints of every class as a script.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(board: &Board, columns: &Columns, site: Site<'_>) -> Result<()> {
    let mut hints = serde_json::Map::new();
    for (number, class) in board.classes.iter().enumerate() {
        let of_class = class_hints(board, number, columns, site.catalogue);
        // Runs without a place in the ranking have nothing to be compared by.
        if of_class["systems"] != 0 {
            hints.insert(class.id.clone(), of_class);
        }
    }

    let hints = Value::Object(hints);
    site.files.write("data/why.js", call("because", &hints).as_bytes())?;
    Ok(())
}

/// The hints of a class as JSON: the number of systems that they rest on, a sentence on all, and
/// each hint by its fact.
fn class_hints(board: &Board, class: usize, columns: &Columns, catalogue: &Catalogue) -> Value {
    let entries = ranked_entries(board, class);
    let facts: Vec<Vec<Fact>> = entries.iter().map(|entry| facet_facts(entry)).collect();
    let mut systems = Vec::new();
    for (entry, facts) in entries.iter().zip(&facts) {
        let scores = cell_scores(entry, columns);
        systems.push(System {
            name: &entry.id,
            scores,
            facts: facts.iter().collect(),
            build: None,
        });
    }
    let why = Why::from_systems(&systems, catalogue);

    let (lead, sentences) = report::why(&why);
    let hints: Vec<Value> = why
        .hints
        .iter()
        .zip(sentences)
        .map(|(hint, text)| json!({"fact": hint.name, "text": text}))
        .collect();
    json!({"systems": why.systems, "lead": lead, "hints": hints})
}

/// The latest run of each system of a class in its ranking.
fn ranked_entries(board: &Board, class: usize) -> Vec<&Entry> {
    let Some(measure) = board.measures.get(board.first) else {
        return Vec::new();
    };

    let mut rankings = (0..LEVELS.len()).map(|level| board.ranking(class, measure, level));
    let ranking = rankings.find(|ranking| !ranking.is_empty()).unwrap_or_default();
    let mut places: Vec<usize> = ranking.iter().map(|ranked| ranked.entry).collect();
    places.sort_unstable();
    let first = places.len().saturating_sub(MAX_SYSTEMS);
    places[first..].iter().map(|place| &board.entries[*place]).collect()
}

/// The facts of a run by which runs are distinguished.
fn facet_facts(entry: &Entry) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (place, (name, label)) in FACETS.into_iter().enumerate() {
        if let Some(value) = entry.fact(place) {
            let [name, label, value] = [name, label, value].map(str::to_owned);
            facts.push(Fact::from_text(name, label, String::new(), value));
        }
    }

    facts
}

/// The scores of a run's cells.
fn cell_scores<'a>(entry: &Entry, columns: &'a Columns) -> Vec<SystemScore<'a>> {
    let mut scores = Vec::new();
    for EntryFigure { column: place, value: score, .. } in &entry.figures {
        if let Some(Column::Cell { key, metric, unit, .. }) = columns.get_index(*place) {
            scores.push(SystemScore { key, unit, metric: *metric, score: *score });
        }
    }

    scores
}
