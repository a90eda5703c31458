//! A system's page: its runs, and how its figures went from run to run.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use maud::{Markup, html};

use crate::Site;
use crate::board::Board;
use crate::entry::Entry;
use crate::layout::{Page, UP, change, table, value};
use crate::measure::{ALL, ONE};
use crate::name::name_of;
use crate::record::Record;
use crate::state::Pages;
use analysis::{Summary, Trend};
use report::{Format, Subject};
use words::Grouped;

/// Writes the page of every system, and one for each of its tests that was measured more than once, unless they are
/// those of the last build; returns what was written for each, by its name in the site.
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
        let of = content(board, entries);
        let are_there = |pages: &Pages| pages.names.iter().all(|name| site.files.keep(name));
        let last = last.remove(&name).filter(|last| last.of == of && are_there(last));
        let pages = match last {
            Some(pages) => pages,
            None => Pages { of, names: pages(&name, board, entries, site)? },
        };
        written.insert(name, pages);
    }
    Ok(written)
}

/// Stands for what makes a system's pages: its runs, and the values of them that are shown.
fn content(board: &Board, entries: &[&Entry]) -> String {
    let measure = board.measures.get(board.first);
    let mut text = measure.map_or(String::new(), |measure| measure.label.clone());
    for entry in entries {
        text += &entry.id;
        for one in [ONE, ALL].into_iter().filter_map(|level| measure?.value(&entry.id, level)) {
            for number in [one.value, one.low, one.high] {
                text.push_str(&format!(" {:x}", number.to_bits()));
            }
        }
    }
    name_of(text)
}

/// Writes a system's pages and returns their names.
fn pages(name: &str, board: &Board, entries: &[&Entry], site: Site<'_>) -> Result<Vec<String>> {
    let trends = if entries.len() > 1 { trends(name, entries, site)? } else { Vec::new() };
    let mut names: Vec<String> = trends.iter().map(|(file, _)| format!("h/{file}")).collect();
    if let Some(latest) = entries.last() {
        let (line, body) = (latest.about.clone(), body(board, entries, &trends));
        let page = Page { up: UP, site: "Ranking", title: &latest.host, line, name: "", scripts: &[], body };
        names.push(format!("h/{name}.html"));
        site.files.write(&format!("h/{name}.html"), page.render().as_bytes())?;
    }
    Ok(names)
}

/// Writes a page for every test with two runs that can be compared; returns their files and names.
fn trends(system: &str, entries: &[&Entry], site: Site<'_>) -> Result<Vec<(String, String)>> {
    let Site { asked, catalogue, files } = site;
    let record = |entry: &&Entry| {
        let record = Record::read(files, &entry.id, asked.url);
        record.map(|record| record.summary).with_context(|| format!("the record of {} cannot be read", entry.id))
    };
    let summaries: Vec<Summary> = entries.iter().map(record).collect::<Result<_>>()?;
    let mut tests: Vec<(&str, &str)> = Vec::new();
    for summary in &summaries {
        let indexes = summary.indexes.iter().filter(|index| index.complete).map(|index| index.id.as_str());
        tests.extend(indexes.map(|id| (id, catalogue.index(id).map_or(id, |index| index.name.as_str()))));
        tests.extend(summary.figures.iter().map(|figure| (&*figure.cell.key.test, &*figure.cell.label)));
    }
    let mut found = Vec::new();
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
        found.push((file, labels[0].to_owned()));
    }
    Ok(found)
}

fn body(board: &Board, entries: &[&Entry], trends: &[(String, String)]) -> Markup {
    let measure = board.measures.get(board.first);
    let label = measure.map_or("", |measure| &measure.label);
    let written = if measure.is_some_and(|measure| measure.is_change) { change } else { value };
    let one = if label.is_empty() { "1 copy".to_owned() } else { format!("{label}, 1 copy") };
    let heads = [("", "Run"), ("", "Began"), ("n", &*one), ("n", "All copies"), ("", "Marks")];
    let rows = html! { @for entry in entries {
        tr {
            th scope="row" { a href={ (UP) "r/" (entry.id) ".html" } { bdi { (entry.name) } } }
            td { (entry.date()) }
            @for level in [ONE, ALL] {
                td.n { (written(measure.and_then(|measure| measure.value(&entry.id, level)).as_ref())) }
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
                ul { @for (file, label) in trends { li { a href=(file) { (label) } } } }
            }
        }
    }
}
