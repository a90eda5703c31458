//! The front page, which is the ranking; and the list of all runs.

use anyhow::Result;
use maud::{Markup, html};

use crate::board::{Board, Ranked};
use crate::layout::{Page, bar, change, ends, table, value};
use crate::measure::{ALL, LEVELS, Measure, ONE};
use crate::name::name_of;
use stats::Estimate;

/// Rows that stand in the page itself; scripts show the others.
const MOST: usize = 200;

/// Lists of other classes, and the rows of each.
const CLASSES: usize = 12;
const FEW: usize = 20;

/// Returns the front page.
pub(crate) fn page(board: &Board, title: &str) -> String {
    let systems: std::collections::BTreeSet<&str> = board.entries.iter().map(|entry| &*entry.system).collect();
    let runs = words::count(board.entries.len(), "run");
    let body = html! {
        p.sentence {
            "Ranks are ranges: systems whose 95 % intervals overlap are not ordered."
        }
        noscript { p.text {
            "Without scripts the best of each group are shown; " a href="runs.html" { "all runs" } " has every run, and "
            a href="runs.csv" { "runs.csv" } " their figures."
        } }
        div #tools {}
        div #board {
            @if let Some(measure) = board.measures.get(board.first) {
                @for class in 0..board.classes.len().min(CLASSES) { (list(board, class, measure)) }
            } @else { p { "None of the runs has a score." } }
        }
        @if let Some(measure) = board.measures.get(board.first) { (unranked(board, measure)) }
    };
    let line = format!("{runs} of {}", words::count(systems.len(), "system"));
    let scripts = &["site.js", "data/site.js", "front.js"];
    Page { up: "", site: title, title, line, name: "index.html", scripts, body }.render()
}

/// The ranking of a class; nothing if none of its runs has the measure.
fn list(board: &Board, class: usize, measure: &Measure) -> Markup {
    let level = if has(board, class, measure, ONE) { ONE } else { ALL };
    let ranking = board.ranking(class, measure, level);
    let reached = || ranking.iter().map(|ranked| ends(&ranked.value));
    let to = reached().map(|[_, high]| high).fold(0.0, f64::max);
    let from = if measure.is_change { reached().map(|[low, _]| low).fold(0.0, f64::min) } else { 0.0 };
    let shown = if class == 0 { MOST } else { FEW };
    let columns: Vec<usize> = (0..LEVELS.len()).filter(|level| has(board, class, measure, *level)).collect();
    if ranking.is_empty() {
        return Markup::default();
    }
    let values = columns.iter().map(|place| ("n", LEVELS[*place].1));
    let heads =
        [("", "Rank"), ("", "System"), ("drawn", LEVELS[level].1)].into_iter().chain(values).chain([("", "Run")]);
    let heads: Vec<(&str, &str)> = heads.collect();
    let rows =
        html! { @for ranked in ranking.iter().take(shown) { (row(board, measure, ranked, (from, to), &columns)) } };
    html! {
        section {
            h2 { (measure.label) @if !measure.unit.is_empty() { small { ", " (measure.unit) } } }
            p.tool { (board.classes[class].label()) }
            @if ranking.len() > shown { p.tool { "The best " (shown) " of " (ranking.len()) " systems." } }
            (table(&format!("{}, {}", measure.label, board.classes[class].label()), "ranking", &heads, &rows))
        }
    }
}

/// The runs that cannot be in a ranking by a measure, with what they have instead; scripts leave the list as it is.
fn unranked(board: &Board, measure: &Measure) -> Markup {
    let others: Vec<_> = board.entries.iter().filter(|entry| !measure.values.contains_key(&entry.id)).collect();
    let has = |id: &str| {
        let known = board.measures.iter().filter(|one| one.values.contains_key(id));
        words::listed(&known.map(|one| one.label.as_str()).collect::<Vec<&str>>(), 3)
    };
    html! {
        @if !others.is_empty() {
            h2 { "Not ranked by " (measure.label) }
            ul.small { @for entry in others.iter().take(MOST) {
                li {
                    a href={ "r/" (entry.id) ".html" } { bdi { (entry.name) } } ", " bdi { (entry.host) } ": "
                    @if entry.figures.is_empty() { "nothing was measured" } @else { "without all tests of it; it has " (has(&entry.id)) }
                }
            } }
        }
    }
}

/// Returns true if a run of the class has a level of the measure.
fn has(board: &Board, class: usize, measure: &Measure, level: usize) -> bool {
    board.entries_of(class).any(|(_, entry)| measure.value(&entry.id, level).is_some())
}

fn row(board: &Board, measure: &Measure, ranked: &Ranked, span: (f64, f64), columns: &[usize]) -> Markup {
    let entry = &board.entries[ranked.entry];
    let written = if measure.is_change { change } else { value };
    html! {
        tr {
            td.rank { (report::rank(ranked.range)) }
            th scope="row" {
                a href={ "r/" (entry.id) ".html" } { bdi { (entry.host) } }
                small { bdi { (entry.about) } }
                @for mark in &entry.marks { " " span.mark { (mark) } }
            }
            td.drawn { (bar(&ranked.value, span)) }
            @for place in columns { td.n { (written(measure.value(&entry.id, *place).as_ref())) } }
            td.day { (entry.date()) }
        }
    }
}

/// Returns the list of all runs, the newest last: a new run changes its end.
pub(crate) fn runs(board: &Board, title: &str) -> String {
    let heads = ["Run", "Began", "System", "How", "What a reader must know"].map(|head| ("", head));
    let rows = html! { @for (entry, class) in board.entries.iter().zip(&board.class_of) {
        tr {
            th scope="row" { a href={ "r/" (entry.id) ".html" } { bdi { (entry.name) } } }
            td { (entry.date()) }
            td { a href={ "h/" (name_of(&entry.system)) ".html" } { bdi { (entry.host) } } }
            td { (board.classes[*class].procedure()) }
            td { (entry.marks.join(", ")) }
        }
    } };
    let body = html! {
        p.text { a href="runs.csv" { "runs.csv" } " has their figures." }
        (table("All runs", "small", &heads, &rows))
    };
    let line = words::count(board.entries.len(), "run");
    Page { up: "", site: title, title: "All runs", line, name: "runs.html", scripts: &[], body }.render()
}

/// Returns every figure that can be ranked by, as CSV.
///
/// # Errors
/// It cannot be encoded: a defect.
pub(crate) fn csv(board: &Board) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "id", "run", "system", "started", "class", "measure", "unit", "level", "value", "low", "high",
    ])?;
    for (entry, class) in board.entries.iter().zip(&board.class_of) {
        for measure in &board.measures {
            let Some(levels) = measure.values.get(&entry.id) else { continue };
            for ((name, _), level) in LEVELS.iter().zip(levels.values) {
                let Some(Estimate { value, low, high }) = level else { continue };
                let class = &board.classes[*class].id;
                let texts: [&str; 7] =
                    [&entry.id, &entry.name, &entry.host, &entry.started, class, &measure.id, &measure.unit];
                let end = |end: f64| if end.is_finite() { end.to_string() } else { String::new() };
                let numbers = [(*name).to_owned(), value.to_string(), end(low), end(high)];
                writer.write_record(texts.map(words::csv_field).into_iter().chain(numbers))?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
