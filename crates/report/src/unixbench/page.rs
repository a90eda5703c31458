//! The page beside UnixBench's text: the same figures in tables, without a chart.

use maud::{DOCTYPE, Markup, html};

use super::{Copies, Heading, levels, origin, score, title};
use analysis::{Figure, Index, Part, Results};

const STYLE: &str = "table{border-collapse:collapse}td,th{border:1px solid;padding:2px 6px}td.n{text-align:right}";

/// Returns the page: the system, and for every number of copies a table of each category's tests with its index.
pub fn page(results: &Results, heading: &Heading) -> String {
    let host = &results.run.host;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "Benchmark of " (host) " on " (results.run.started) }
                style { (STYLE) }
            }
            body {
                h1 { "Benchmark of " (host) }
                p { b { "BYTE UNIX Benchmarks (Version 6.0.0)" } " (" (origin(results)) ")" }
                h2 { "Test System Information" }
                table {
                    @for (name, lines) in heading {
                        tr { th { (if name.is_empty() { "Uptime" } else { name }) } td { (lines) } }
                    }
                }
                @for level in levels(results) { (section(results, &level)) }
            }
        }
    };
    page.into_string()
}

fn section(results: &Results, level: &Copies<'_>) -> Markup {
    let indexes: Vec<&Index> = results.indexes().iter().filter(|index| index.copies == level.copies).collect();
    let is_other = |row: &&&Figure| !indexes.iter().any(|index| has(index, row));
    html! {
        h2 { "Benchmark Run: " (title(results.run.cpus, level.copies)) }
        @if let Some([from, to]) = level.moments(results) {
            p { "Time: " (from.strftime("%H:%M:%S")) " - " (to.strftime("%H:%M:%S")) }
        }
        @for index in &indexes {
            h3 { (index.name) @if !index.complete { " (Partial)" } }
            (table(level.rows.iter().filter(|row| has(index, row)), Some(index)))
        }
        @if level.rows.iter().any(|row| is_other(&row)) {
            (table(level.rows.iter().filter(is_other), None))
        }
    }
}

/// Returns true if a row is in the index's block.
fn has(index: &Index, row: &Figure) -> bool {
    part(index, row).is_some() || index.others.iter().any(|(label, _)| *label == row.cell.label)
}

fn part<'a>(index: &'a Index, row: &Figure) -> Option<&'a Part> {
    index.parts.iter().find(|part| part.label == row.cell.label)
}

fn table<'a>(rows: impl Iterator<Item = &'a &'a Figure>, index: Option<&Index>) -> Markup {
    html! {
        table {
            tr { @for head in ["Test", "Score", "Unit", "Time", "Iters.", "Baseline", "Index"] { th { (head) } } }
            @for row in rows {
                @let part = index.and_then(|index| part(index, row));
                tr {
                    td { (row.cell.label) }
                    td.n { (score(row.score.value)) }
                    td { (row.cell.unit) }
                    td.n { (format!("{:.1} s", row.seconds)) }
                    td.n { (row.n) }
                    td.n { (part.map_or_else(String::new, |part| score(part.baseline))) }
                    td.n { (part.map_or_else(String::new, |part| score(part.index.value))) }
                }
            }
            @if let Some(index) = index {
                tr { th colspan="6" { (index.title()) ":" } td.n { (score(index.score.value)) } }
            }
        }
    }
}
