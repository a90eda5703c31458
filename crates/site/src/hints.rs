//! Why systems differ, for pages that show some of them: the facts that go with the differences over all systems of a
//! class.

use anyhow::Result;
use serde_json::{Value, json};

use crate::Site;
use crate::board::Board;
use crate::entry::{Column, Columns, Entry};
use crate::layout::call;
use crate::measure::LEVELS;
use crate::record::FACETS;
use analysis::{System, Why};
use catalogue::{Catalogue, Metric};
use journal::{Fact, Key};
use stats::Estimate;

/// At most so many systems of a class are looked at, the latest: more would say the same, later.
const MOST: usize = 50;

/// Writes the hints of every class as a script.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(board: &Board, columns: &Columns, site: Site<'_>) -> Result<()> {
    // Of runs without a place in the ranking it is not known what to compare.
    let of = |class: usize| (board.classes[class].id.clone(), of_class(board, class, columns, site.catalogue));
    let hints = (0..board.classes.len()).map(of).filter(|(_, known)| known["systems"] != 0).collect();
    site.files.write("data/why.js", call("because", &hints).as_bytes())?;
    Ok(())
}

/// Returns what is known of a class: how many systems it rests on, a sentence on all, and each hint by its fact.
fn of_class(board: &Board, class: usize, columns: &Columns, catalogue: &Catalogue) -> Value {
    let entries = entries(board, class);
    let facts: Vec<Vec<Fact>> = entries.iter().map(|entry| facts(entry)).collect();
    let systems = entries.iter().zip(&facts).map(|(entry, facts)| {
        let (scores, facts) = (scores(entry, columns), facts.iter().collect());
        System { name: &entry.id, scores, facts, build: None }
    });
    let why = Why::from_systems(&systems.collect::<Vec<System<'_>>>(), catalogue);
    let (lead, sentences) = report::why(&why);
    let hints: Vec<Value> =
        why.hints.iter().zip(sentences).map(|(hint, text)| json!({"fact": hint.name, "text": text})).collect();
    json!({"systems": why.systems, "lead": lead, "hints": hints})
}

/// The latest run of each system of a class in its ranking.
fn entries(board: &Board, class: usize) -> Vec<&Entry> {
    let Some(measure) = board.measures.get(board.first) else { return Vec::new() };
    let ranked = (0..LEVELS.len()).map(|level| board.ranking(class, measure, level));
    let ranked = ranked.into_iter().find(|found| !found.is_empty());
    let mut places: Vec<usize> = ranked.unwrap_or_default().iter().map(|ranked| ranked.entry).collect();
    places.sort_unstable();
    let first = places.len().saturating_sub(MOST);
    places[first..].iter().map(|place| &board.entries[*place]).collect()
}

/// The facts of a run by which runs are told apart.
fn facts(entry: &Entry) -> Vec<Fact> {
    let fact = |(place, (name, label)): (usize, &(&str, &str))| {
        let value = entry.fact(place)?.to_owned();
        Some(Fact::from_text((*name).to_owned(), (*label).to_owned(), String::new(), value))
    };
    FACETS.iter().enumerate().filter_map(fact).collect()
}

/// The scores of a run's cells.
fn scores<'a>(entry: &Entry, columns: &'a Columns) -> Vec<(&'a Key, &'a str, Metric, Estimate)> {
    let score = |(place, value, _): &(usize, Estimate, Option<Estimate>)| match columns.get_index(*place)? {
        Column::Cell { key, metric, unit, .. } => Some((key, unit.as_str(), *metric, *value)),
        Column::Index { .. } | Column::PerWatt { .. } | Column::Cost { .. } => None,
    };
    entry.figures.iter().filter_map(score).collect()
}
