//! A system's page: its runs, and how its figures went from run to run.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use maud::{Markup, html};

use crate::Site;
use crate::board::Board;
use crate::entry::Entry;
use crate::layout::{Page, UP, change, table, value};
use crate::measure::{LEVEL_ALL, LEVEL_ONE, Measure};
use crate::name::name_of;
use crate::record::Record;
use crate::state::Pages;
use analysis::{Summary, Trend};
use report::{Format, Subject};
use stats::Estimate;
use words::Grouped;

/// Writes the page of every system, and one for each of its tests that was measured more than once,
/// unless they are those of the last build; returns what was written for each, by its name in the
/// site.
///
/// # Errors
/// One cannot be written.
pub(crate) fn write(
    board: &Board,
    site: Site<'_>,
    mut last: BTreeMap<String, Pages>,
) -> Result<BTreeMap<String, Pages>> {
    let mut written = BTreeMap::new();
    for (system, entries) in &board.entries.iter().map(|entry| (&entry.system, entry)).grouped() {
        let name = name_of(system);
        let of = content_name(board, entries);
        let last = last
            .remove(&name)
            .filter(|last| last.of == of && last.names.iter().all(|name| site.files.keep(name)));
        let pages = match last {
            Some(pages) => pages,
            None => Pages { of, names: write_system(&name, board, entries, site)? },
        };
        written.insert(name, pages);
    }

    Ok(written)
}

/// A name for what is in a system's pages: its runs, and those of their values that are shown.
fn content_name(board: &Board, entries: &[&Entry]) -> String {
    let measure = board.measures.get(board.first);
    let unit = measure.map_or(String::new(), |measure| measure.shown_unit().name);
    let mut text = measure.map_or(String::new(), |measure| measure.label.clone()) + &unit;
    for entry in entries {
        text += &entry.id;
        for level in [LEVEL_ONE, LEVEL_ALL] {
            let Some(Estimate { value, low, high }) =
                measure.and_then(|measure| measure.value(&entry.id, level))
            else {
                continue;
            };
            for number in [value, low, high] {
                text += &format!(" {:x}", number.to_bits());
            }
        }
    }

    name_of(text)
}

/// Writes a system's pages and returns their names.
fn write_system(
    name: &str,
    board: &Board,
    entries: &[&Entry],
    site: Site<'_>,
) -> Result<Vec<String>> {
    let trends = if entries.len() > 1 { write_trends(name, entries, site)? } else { Vec::new() };
    let mut names: Vec<String> = trends.iter().map(|trend| format!("h/{}", trend.file)).collect();
    if let Some(latest) = entries.last() {
        let (line, body) = (latest.about.clone(), page_body(board, entries, &trends));
        let page = Page {
            up: UP,
            site: "Ranking",
            title: &latest.host,
            line,
            name: "",
            scripts: &[],
            body,
        };
        names.push(format!("h/{name}.html"));
        site.files.write(&format!("h/{name}.html"), page.render().as_bytes())?;
    }
    Ok(names)
}

/// The page of a test's figures from run to run.
struct TrendPage {
    file: String,
    label: String,
}

/// Writes a page for every test with two runs that can be compared.
fn write_trends(system: &str, entries: &[&Entry], site: Site<'_>) -> Result<Vec<TrendPage>> {
    let Site { catalogue, files, .. } = site;
    let mut summaries: Vec<Summary> = Vec::new();
    for Entry { id, .. } in entries {
        let record = Record::read(files, id)
            .with_context(|| format!("the record of {id} cannot be read"))?;
        summaries.push(record.summary);
    }

    // Indexes and tests, each with its label in every run.
    let mut tests: Vec<(&str, &str)> = Vec::new();
    for summary in &summaries {
        for index in summary.indexes.iter().filter(|index| index.complete) {
            let id = index.id.as_str();
            tests.push((id, catalogue.index(id).map_or(id, |index| &index.name)));
        }
        for figure in &summary.figures {
            tests.push((&figure.cell.key.test, &figure.cell.label));
        }
    }

    let mut pages = Vec::new();
    for (test, labels) in tests.into_iter().grouped() {
        let mut trend = Trend::new(test, &summaries);
        trend.series.retain(|series| series.points.len() > 1);
        if trend.series.is_empty() {
            continue;
        }

        let file = format!("{system}-{}.html", name_of(test));
        let page = report::render(Subject::Trend(&trend), Format::Html)?;
        let back = html! { p.tool { a href={ (system) ".html" } { "All runs of this system" } } };
        let page = page.replacen("<header>", &format!("<header>{}", back.0), 1);
        files.write(&format!("h/{file}"), page.as_bytes())?;
        pages.push(TrendPage { file, label: labels[0].to_owned() });
    }

    Ok(pages)
}

fn page_body(board: &Board, entries: &[&Entry], trends: &[TrendPage]) -> Markup {
    let measure = board.measures.get(board.first);
    let unit = measure.map(Measure::shown_unit);
    let written = if measure.is_some_and(|measure| measure.is_change) { change } else { value };
    let parts = [measure.map(|measure| &measure.label), unit.as_ref().map(|unit| &unit.name)];
    let parts = parts.into_iter().flatten().map(String::as_str).filter(|part| !part.is_empty());
    let label_of_one = parts.chain(["1 copy"]).collect::<Vec<&str>>().join(", ");
    let factor = unit.map_or(1.0, |unit| unit.factor);
    let level_value = |entry: &Entry, level| {
        let value = measure.and_then(|measure| measure.value(&entry.id, level));
        value.map(|value| value.scaled(factor))
    };
    let heads =
        [("", "Run"), ("", "Began"), ("n", &*label_of_one), ("n", "All copies"), ("", "Marks")];
    let rows = html! { @for entry in entries {
        tr {
            th scope="row" { a href={ (UP) "r/" (entry.id) ".html" } { bdi { (entry.name) } } }
            td { (entry.date()) }
            @for level in [LEVEL_ONE, LEVEL_ALL] {
                td.n { (written(level_value(entry, level).as_ref())) }
            }
            td { (entry.marks.join(", ")) }
        }
    } };
    html! {
        section {
            h2 { "Runs" }
            (table("Runs", "small", &heads, &rows))
        }
        @if !trends.is_empty() {
            section {
                h2 { "From run to run" }
                p.text { "Each page shows where the level changed, and which facts changed there; only runs of one build and procedure are compared." }
                ul { @for trend in trends { li { a href=(trend.file) { (trend.label) } } } }
            }
        }
    }
}
