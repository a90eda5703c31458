//! The front page, which is the ranking; and the list of all runs.

use anyhow::Result;
use maud::{Markup, html};

use crate::board::{Board, Ranked};
use crate::entry::Entry;
use crate::layout::{Page, bar, change, ends, table, value};
use crate::measure::{LEVEL_ALL, LEVEL_ONE, LEVELS, Measure, ShownUnit};
use crate::name::name_of;
use stats::Estimate;

/// Rows of a list in the page itself; scripts show the others.
const MAX_ROWS: usize = 200;

/// Rankings in the page itself, and the rows of each but the first.
const MAX_CLASSES: usize = 12;
const MAX_ROWS_OF_OTHERS: usize = 20;

/// Measures that are named of a run which is in no ranking.
const MAX_NAMED_MEASURES: usize = 3;

/// The front page.
pub(crate) fn page(board: &Board, title: &str) -> String {
    let systems: std::collections::BTreeSet<&str> =
        board.entries.iter().map(|entry| &*entry.system).collect();
    let runs = words::count(board.entries.len(), "run");
    let has_answers = board.entries.iter().any(|entry| !entry.answer.is_empty());
    let body = html! {
        @if !board.measures.is_empty() {
            p.sentence {
                "Ranks are ranges: systems whose 95 % intervals overlap are not ordered."
            }
        }
        noscript { p.text {
            "Without scripts the best of each group are shown; " a href="runs.html" { "all runs" } " has every run, and "
            a href="runs.csv" { "runs.csv" } " their figures."
        } }
        div #tools {}
        div #board {
            @if let Some(measure) = board.measures.get(board.first) {
                @for class in 0..board.classes.len().min(MAX_CLASSES) { (class_ranking(board, class, measure)) }
            } @else if !has_answers { p { "None of the runs has a score." } }
        }
        @if has_answers { (comparisons(board)) }
        @if let Some(measure) = board.measures.get(board.first) { (unranked(board, measure)) }
    };

    let line = format!("{runs} of {}", words::count(systems.len(), "system"));
    let scripts = &["site.js", "data/site.js", "front.js"];
    Page { up: "", site: title, title, line, name: "index.html", scripts, body }.render()
}

/// The ranking of a class by one copy if any of its runs has that, else by all copies; nothing if
/// none has the measure.
fn class_ranking(board: &Board, class: usize, measure: &Measure) -> Markup {
    let has_one = class_has_level(board, class, measure, LEVEL_ONE);
    let ranked_level = if has_one { LEVEL_ONE } else { LEVEL_ALL };
    let ranking = board.ranking(class, measure, ranked_level);
    if ranking.is_empty() {
        return Markup::default();
    }

    let levels: Vec<usize> =
        (0..LEVELS.len()).filter(|level| class_has_level(board, class, measure, *level)).collect();
    let mut heads = vec![("", "Rank"), ("", "System"), ("drawn", LEVELS[ranked_level].1)];
    heads.extend(levels.iter().map(|level| ("n", LEVELS[*level].1)));
    heads.push(("", "Run"));

    let unit = measure.shown_unit();
    let span = span_of_bars(&ranking, measure);
    let max_rows = if class == 0 { MAX_ROWS } else { MAX_ROWS_OF_OTHERS };
    let rows = html! {
        @for ranked in ranking.iter().take(max_rows) {
            (ranking_row(board, measure, &unit, ranked, span, &levels))
        }
    };
    let class_label = board.classes[class].label();
    html! {
        section {
            h2 { (measure.label) @if !unit.name.is_empty() { small { ", " (unit.name) } } }
            p.tool { (class_label) }
            @if ranking.len() > max_rows { p.tool { "The best " (max_rows) " of " (ranking.len()) " systems." } }
            (table(&format!("{}, {class_label}", measure.label), "ranking", &heads, &rows))
        }
    }
}

/// The values at the ends of the bars' scale, which is the same for all rows. It begins at zero,
/// unless changes go below.
fn span_of_bars(ranking: &[Ranked], measure: &Measure) -> (f64, f64) {
    let (mut from, mut to) = (0.0_f64, 0.0_f64);
    for ranked in ranking {
        let [low, high] = ends(&ranked.value);
        to = to.max(high);
        if measure.is_change {
            from = from.min(low);
        }
    }
    (from, to)
}

/// What comparisons of commands found, the newest first.
fn comparisons(board: &Board) -> Markup {
    let answered: Vec<&Entry> =
        board.entries.iter().rev().filter(|entry| !entry.answer.is_empty()).collect();
    html! {
        h2 { "Comparisons of commands" }
        ul.small { @for entry in answered.iter().take(MAX_ROWS) {
            li {
                bdi { (report::render_prose(&entry.answer)) } " "
                a href={ "r/" (entry.id) ".html" } { bdi { (entry.name) } } ", " bdi { (entry.host) }
            }
        } }
    }
}

/// The runs that cannot be in a ranking by a measure, with the measures that they have; scripts
/// leave the list as it is.
fn unranked(board: &Board, measure: &Measure) -> Markup {
    let entries: Vec<_> = board
        .entries
        .iter()
        .filter(|entry| !entry.is_of_commands && !measure.values.contains_key(&entry.id))
        .collect();
    html! {
        @if !entries.is_empty() {
            h2 { "Not ranked by " (measure.label) }
            ul.small { @for entry in entries.iter().take(MAX_ROWS) {
                li {
                    a href={ "r/" (entry.id) ".html" } { bdi { (entry.name) } } ", " bdi { (entry.host) } ": "
                    @if entry.figures.is_empty() { "nothing was measured" } @else { "without all tests of it; it has " (list_measures(board, &entry.id)) }
                }
            } }
        }
    }
}

/// The labels of the measures that a run has.
fn list_measures(board: &Board, id: &str) -> String {
    let labels: Vec<&str> = board
        .measures
        .iter()
        .filter(|measure| measure.values.contains_key(id))
        .map(|measure| measure.label.as_str())
        .collect();
    words::listed(&labels, MAX_NAMED_MEASURES)
}

/// True if a run of the class has a level of the measure.
fn class_has_level(board: &Board, class: usize, measure: &Measure, level: usize) -> bool {
    board.entries_of(class).any(|(_, entry)| measure.value(&entry.id, level).is_some())
}

fn ranking_row(
    board: &Board,
    measure: &Measure,
    unit: &ShownUnit,
    ranked: &Ranked,
    span: (f64, f64),
    levels: &[usize],
) -> Markup {
    let entry = &board.entries[ranked.entry];
    let show = if measure.is_change { change } else { value };
    let level_value =
        |level: usize| measure.value(&entry.id, level).map(|value| value.scaled(unit.factor));
    html! {
        tr {
            td.rank { (report::rank(ranked.range)) }
            th scope="row" {
                a href={ "r/" (entry.id) ".html" } { bdi { (entry.host) } }
                small { bdi { (entry.about) } }
                @for mark in &entry.marks { " " span.mark { (mark) } }
            }
            td.drawn { (bar(&ranked.value, span)) }
            @for level in levels { td.n { (show(level_value(*level).as_ref())) } }
            td.day { (entry.date()) }
        }
    }
}

/// The page with the list of all runs, the newest last: a new run changes its end.
pub(crate) fn runs_page(board: &Board, title: &str) -> String {
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
    Page { up: "", site: title, title: "All runs", line, name: "runs.html", scripts: &[], body }
        .render()
}

/// Every figure that can be ranked by, as CSV.
///
/// # Errors
/// It cannot be encoded: a defect.
pub(crate) fn csv(board: &Board) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "id", "run", "system", "started", "class", "measure", "unit", "level", "value", "low",
        "high",
    ])?;
    for (entry, class) in board.entries.iter().zip(&board.class_of) {
        for measure in &board.measures {
            let Some(levels) = measure.values.get(&entry.id) else {
                continue;
            };

            let texts: [&str; 7] = [
                &entry.id,
                &entry.name,
                &entry.host,
                &entry.started,
                &board.classes[*class].id,
                &measure.id,
                &measure.unit,
            ];
            let texts = texts.map(words::csv_field);
            for ((level, _), estimate) in LEVELS.iter().zip(levels.values) {
                let Some(Estimate { value, low, high }) = estimate else {
                    continue;
                };
                let numbers = [(*level).to_owned(), value.to_string(), csv_end(low), csv_end(high)];
                writer.write_record(texts.iter().cloned().chain(numbers))?;
            }
        }
    }

    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// An end of an interval; nothing where it is not bounded.
fn csv_end(end: f64) -> String {
    if end.is_finite() { end.to_string() } else { String::new() }
}
