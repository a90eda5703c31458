//! A run in little, for a frame in another page: what it came to, on what system, and the way to its report.

use maud::{Markup, PreEscaped, html};
use report::score;

use crate::layout::UP;
use crate::record::Record;
use analysis::named;
use journal::Cell;
use stats::Estimate;

/// The width and height of a frame for it, in pixels.
pub(crate) const SIZE: (usize, usize) = (720, 480);

/// A run without an index shows at most this many of its figures.
const MOST: usize = 12;

const STYLE: &str = ":root{color-scheme:light dark;background:Canvas;color:CanvasText}body{font:15px/1.45 system-ui,sans-serif;margin:.75rem}h1{font-size:1.1rem;margin:0}\
    p{margin:.2rem 0 .6rem}table{border-collapse:collapse}th,td{text-align:left;font-weight:400;padding:.1rem .9rem .1rem 0}\
    td{font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}";

/// Returns the page; `chart` is its picture as SVG, if it has one.
pub(crate) fn page(record: &Record, chart: Option<&str>) -> String {
    let line = |name: &str, copies: u32, value: &Estimate, unit: &str| -> Markup {
        html! { tr {
            th scope="row" { (name) ", " (words::copies(copies)) }
            td { b { (score(value)) } " " (unit) " " small { (words::plus_minus(value.halves())) } }
        } }
    };
    let indexes: Vec<Markup> =
        record.system_indexes().map(|index| line("Index", index.copies, &index.score, "")).collect();
    let figures = record.figures().map(|figure| {
        let Cell { key, label, unit, .. } = &figure.cell;
        line(&named(label, &key.load, &key.condition), key.copies, &figure.score, unit)
    });
    let lines = if indexes.is_empty() { figures.take(MOST).collect() } else { indexes };
    let head = html! {
        title { (record.run().name) }
        style { (PreEscaped(STYLE)) }
    };
    let body = html! { main {
        h1 { bdi { (record.host()) } }
        p { bdi { (record.about()) } @for mark in record.marks() { ", " (mark) } }
        table { @for line in &lines { (line) } }
        @if let Some(chart) = chart { p { (PreEscaped(chart)) } }
        p { a href={ (UP) "r/" (record.id) ".html" } target="_top" { "The whole report, with the journal" } }
    } };
    report::page(report::POLICY, &head, &body) + "\n"
}
