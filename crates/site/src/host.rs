//! A system's page: its runs, and how its figures went from run to run.

use std::collections::BTreeMap;

use anyhow::Result;
use maud::{Markup, html};

use crate::board::Board;
use crate::class::short;
use crate::files::Files;
use crate::layout::{Page, UP, value};
use crate::record::Record;
use analysis::{Summary, Trend};
use catalogue::Catalogue;
use report::Format;

/// Writes the page of every system, and one for each of its tests that was measured more than once; returns the
/// names of the systems' pages.
///
/// # Errors
/// One cannot be written.
pub(crate) fn write(board: &Board, catalogue: &Catalogue, files: &Files) -> Result<Vec<String>> {
    let mut systems: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in &board.records {
        systems.entry(record.system()).or_default().push(record);
    }
    let mut written = Vec::new();
    for (system, records) in &systems {
        let name = short(system);
        let trends = if records.len() > 1 { trends(&name, records, catalogue, files)? } else { Vec::new() };
        let Some(latest) = records.last() else { continue };
        let page = Page {
            up: UP,
            site: "Ranking",
            title: latest.host(),
            line: crate::front::about(latest),
            name: "",
            scripts: &[],
            body: body(board, records, &trends),
        };
        files.write(&format!("h/{name}.html"), page.render().as_bytes())?;
        written.push(name);
    }
    Ok(written)
}

/// Writes a page for every test with two runs that can be compared; returns their files and names.
fn trends(system: &str, records: &[&Record], catalogue: &Catalogue, files: &Files) -> Result<Vec<(String, String)>> {
    let summaries: Vec<Summary> = records.iter().map(|record| record.summary.clone()).collect();
    let mut tests: Vec<(String, String)> = Vec::new();
    for summary in &summaries {
        let indexes = summary.indexes.iter().filter(|index| index.complete);
        let named = |id: &str| catalogue.index(id).map_or(id, |index| &index.name).to_owned();
        let indexes = indexes.map(|index| (index.id.clone(), named(&index.id)));
        let figures = summary.figures.iter().map(|figure| (figure.key.test.clone(), figure.label.clone()));
        for test in indexes.chain(figures) {
            if !tests.iter().any(|(known, _)| *known == test.0) {
                tests.push(test);
            }
        }
    }
    let mut found = Vec::new();
    for (test, label) in tests {
        let mut trend = Trend::new(&test, &summaries);
        trend.series.retain(|series| series.points.len() > 1);
        if trend.series.is_empty() {
            continue;
        }
        let file = format!("{system}-{}.html", short(&test));
        let page = report::trend(&trend, Format::Html)?;
        let back = html! { p.tool { a href={ (system) ".html" } { "All runs of this system" } } };
        let page = page.replacen("<header>", &format!("<header>{}", back.0), 1);
        files.write(&format!("h/{file}"), page.as_bytes())?;
        found.push((file, label));
    }
    Ok(found)
}

fn body(board: &Board, records: &[&Record], trends: &[(String, String)]) -> Markup {
    let measure = board.measures.get(board.first);
    let label = measure.map_or("", |measure| &measure.label);
    html! {
        section {
            h2 { "Runs" }
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table.small {
                    thead { tr {
                        th scope="col" { "Run" } th scope="col" { "Began" }
                        th.n scope="col" { (label) ", 1 copy" } th.n scope="col" { "All copies" } th scope="col" { "Marks" }
                    } }
                    tbody { @for record in records {
                        @let levels = measure.and_then(|measure| measure.values.get(&record.id)).copied().unwrap_or_default();
                        tr {
                            th scope="row" { a href={ (UP) "r/" (record.id) ".html" } { bdi { (record.run().name) } } }
                            td { (record.date()) }
                            td.n { (value(levels.one.as_ref())) }
                            td.n { (value(levels.all.as_ref())) }
                            td { (record.marks().join(", ")) }
                        }
                    } }
                }
            }
        }
        @if !trends.is_empty() {
            section {
                h2 { "From run to run" }
                p.text { "With the changes of level, and the facts that changed there; runs of one build and procedure each." }
                ul { @for (file, label) in trends { li { a href=(file) { (label) } } } }
            }
        }
    }
}
