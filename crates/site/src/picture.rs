//! Pictures of a run for other pages: a badge, and a chart of its index.

use analysis::Results;
use maud::html;
use report::score;

use crate::layout::ends;
use crate::record::Record;

/// About how wide a letter of the badge is, in pixels.
const LETTER: usize = 7;

/// Height of a row of the chart, and where its bars begin and end.
const ROW: usize = 22;
const FROM: usize = 290;
const TO: usize = 620;

/// The text of a badge: the index, or what else the run is.
fn badge_text(record: &Record) -> String {
    let part = |index: &analysis::Index| {
        let score = score(&index.score);
        format!("{score} {} ({})", words::plus_minus(index.score.halves()), words::copies(index.copies))
    };
    let parts: Vec<String> = record.system_indexes().map(part).collect();
    if parts.is_empty() { words::count(record.figures().count(), "figure") } else { parts.join(", ") }
}

/// Returns the badge as SVG.
pub(crate) fn badge(record: &Record) -> String {
    let (name, text) = ("unixmark", badge_text(record));
    let (left, right) = (LETTER * name.len() + 12, LETTER * text.chars().count() + 12);
    let width = left + right;
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height="20" role="img" aria-label={ (name) ": " (text) } {
            title { (name) ": " (text) }
            rect width=(width) height="20" rx="3" fill="#444" {}
            rect x=(left) width=(right) height="20" rx="3" fill="#1d62ad" {}
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" {
                text x=(left / 2) y="14" { (name) }
                text x=(left + right / 2) y="14" textLength=(right - 10) { (text) }
            }
        }
    };
    words::clean(&svg.0) + "\n"
}

/// Returns the chart as SVG: the index of each test at the most copies; `None` of a run without an index.
pub(crate) fn chart(record: &Record, results: &Results) -> Option<String> {
    let index = results.indexes().iter().filter(|index| index.id == "system").max_by_key(|index| index.copies)?;
    let most = index.parts.iter().map(|part| ends(&part.index)[1]).fold(0.0, f64::max);
    let height = ROW * (index.parts.len() + 2);
    let x = |value: f64| format!("{:.1}", FROM as f64 + (TO - FROM) as f64 * (value / most).clamp(0.0, 1.0));
    let width = |value: f64| format!("{:.1}", (TO - FROM) as f64 * (value / most).clamp(0.0, 1.0));
    let title = format!("{}: index by test, {}", record.host(), words::copies(index.copies));
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 700 " (height) } width="700" height=(height) role="img"
            aria-label=(title) {
            rect width="700" height=(height) fill="#fdfdfb" {}
            g font-family="system-ui,DejaVu Sans,sans-serif" font-size="13" fill="#1c1d1f" {
                text x="12" y="18" font-weight="600" {
                    (title) ": " (score(&index.score)) " " (words::plus_minus(index.score.halves()))
                }
                @for (number, part) in index.parts.iter().enumerate() {
                    @let y = ROW * (number + 2);
                    text x=(FROM - 8) y=(y) text-anchor="end" { (part.label) }
                    rect x=(FROM) y=(y - 11) width=(width(part.index.value)) height="13" fill="#1d62ad" opacity=".5" {}
                    @if part.index.bounded() {
                        path d={ "M" (x(part.index.low)) " " (y - 4) "H" (x(part.index.high)) } stroke="#16181b" {}
                    }
                    text x=(TO + 8) y=(y) { (score(&part.index)) }
                }
            }
        }
    };
    Some(words::clean(&svg.0) + "\n")
}
