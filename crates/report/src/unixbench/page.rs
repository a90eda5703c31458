//! The page next to UnixBench's text: the same figures in tables, without a chart.

use analysis::{Figure, Index, Part, Results};
use maud::{DOCTYPE, Markup, html};

use super::{Heading, Level, levels, origin, score, title};

const STYLE: &str =
    "table{border-collapse:collapse}td,th{border:1px solid;padding:2px 6px}td.n{text-align:right}";

const HEADS: [&str; 7] = ["Test", "Score", "Unit", "Time", "Iters.", "Baseline", "Index"];

/// The system, and for every number of copies a table of each category's tests with its index.
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
                @for level in levels(results) { (render_level(results, &level)) }
            }
        }
    };
    page.into_string()
}

/// A table for each index with its tests, and one for the tests of no index.
fn render_level(results: &Results, level: &Level<'_>) -> Markup {
    let indexes: Vec<&Index> =
        results.indexes().iter().filter(|index| index.copies == level.copies).collect();
    let others: Vec<&Figure> = level
        .figures
        .iter()
        .copied()
        .filter(|figure| !indexes.iter().any(|index| is_in_block(index, figure)))
        .collect();

    html! {
        h2 { "Benchmark Run: " (title(results.run.cpus, level.copies)) }
        @if let Some([from, to]) = level.moments(results) {
            p { "Time: " (from.strftime("%H:%M:%S")) " - " (to.strftime("%H:%M:%S")) }
        }
        @for index in &indexes {
            h3 { (index.name) @if !index.complete { " (Partial)" } }
            (render_index(index, level))
        }
        @if !others.is_empty() { (render_table(&others, None)) }
    }
}

fn render_index(index: &Index, level: &Level<'_>) -> Markup {
    let figures: Vec<&Figure> =
        level.figures.iter().copied().filter(|figure| is_in_block(index, figure)).collect();
    render_table(&figures, Some(index))
}

/// True if a test is in the index's block, as part of the index or without counting for it.
fn is_in_block(index: &Index, figure: &Figure) -> bool {
    let label = &figure.cell.label;
    part_of(index, figure).is_some() || index.others.iter().any(|(other, _)| other == label)
}

fn part_of<'a>(index: &'a Index, figure: &Figure) -> Option<&'a Part> {
    index.parts.iter().find(|part| part.label == figure.cell.label)
}

fn render_table(figures: &[&Figure], index: Option<&Index>) -> Markup {
    html! {
        table {
            tr { @for head in HEADS { th { (head) } } }
            @for figure in figures {
                @let part = index.and_then(|index| part_of(index, figure));
                tr {
                    td { (figure.cell.label) }
                    td.n { (score(figure.score.value)) }
                    td { (figure.cell.unit) }
                    td.n { (format!("{:.1} s", figure.seconds)) }
                    td.n { (figure.n) }
                    td.n { @if let Some(part) = part { (score(part.baseline)) } }
                    td.n { @if let Some(part) = part { (score(part.index.value)) } }
                }
            }
            @if let Some(index) = index {
                tr { th colspan="6" { (index.title()) ":" } td.n { (score(index.score.value)) } }
            }
        }
    }
}
