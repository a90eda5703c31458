//! The tables of the 1994 thesis, for people: what a change costs in each round, and the tests that lose most.

use std::fmt::Write;

use super::text::{WIDTH, line, wrapped};
use super::{coordinates, size};
use crate::markdown::escaped;
use analysis::{Bar, Place, Thesis, ThesisRow};

/// A column of a delta, its gap included.
const COLUMN: usize = 12;

/// More columns than these leave no room for names.
const MOST_COLUMNS: usize = 4;

/// A test's name beside its bar.
const NAME: usize = 32;

/// The headings of the deltas: `Delta-1`, `Delta-2` and `Delta-3`, which of more than two rounds is the spread.
pub(super) fn headings(rounds: usize) -> Vec<String> {
    let mut headings: Vec<String> = (1..=rounds).map(|round| format!("Delta-{round}")).collect();
    headings.extend(match rounds {
        0 | 1 => None,
        2 => Some("Delta-3".to_owned()),
        _ => Some("spread".to_owned()),
    });
    headings
}

/// A row's deltas with six decimals, Delta-3 or the spread after them where there is more than one round.
fn cells(row: &ThesisRow) -> Vec<String> {
    let six = |delta: f64| if delta.abs() < 1e5 { format!("{delta:.6}") } else { format!("{delta:.3e}") };
    let shown = |delta: &Option<f64>| match (*delta, row.resolution) {
        (None, _) => "-".to_owned(),
        // A change that the digits cannot show is not shown to be none.
        (Some(0.0), Some(resolution)) => format!("0 ± {}", size(resolution)),
        (Some(delta), _) => six(delta),
    };
    let mut cells: Vec<String> = row.deltas.iter().map(shown).collect();
    if row.deltas.len() > 1 {
        cells.push(row.delta3.map_or("-".to_owned(), six));
    }
    cells
}

fn name(cell: &Place, measure: &str) -> String {
    let mut name = format!("{}{}", cell.label, coordinates(cell.key.copies, &cell.key.load, &cell.key.condition));
    if measure != "score" {
        let _ = write!(name, ", {measure}");
    }
    name
}

/// Appends both tables to the text report.
pub(super) fn text(text: &mut String, thesis: &Thesis) {
    line(text, "");
    let headings = headings(thesis.rounds);
    let columns = |cells: &[String]| cells.iter().map(|cell| format!("{cell:>COLUMN$}")).collect::<String>();
    if headings.len() <= MOST_COLUMNS {
        let room = WIDTH - COLUMN * headings.len();
        line(text, &format!("{:<room$}{}", "Rate of A less that of B, % of B", columns(&headings)));
        line(text, &"-".repeat(WIDTH));
        for row in &thesis.rows {
            let mut name = name(&row.cell, row.measure);
            if name.chars().count() >= room {
                wrapped(text, "", &name);
                name.clear();
            }
            line(text, &format!("{name:<room$}{}", columns(&cells(row))));
        }
    } else {
        wrapped(text, "", &format!("Rate of A less that of B, % of B: {}", headings.join(" ")));
        line(text, &"-".repeat(WIDTH));
        for row in &thesis.rows {
            wrapped(text, "", &name(&row.cell, row.measure));
            wrapped(text, "    ", &cells(row).join(" "));
        }
    }
    figure(text, thesis);
}

/// Appends the bars, as long as the loss is large.
fn figure(text: &mut String, thesis: &Thesis) {
    line(text, "");
    let Some(largest) = thesis.figure4.first() else {
        line(text, &format!("Figure 4: no test loses more than {} %", thesis.beyond));
        return;
    };
    wrapped(
        text,
        "Figure 4: ",
        &format!(
            "tests that lose more than {} % in any round, by the largest loss; loss of rate in %, and how many times as long the \
             same takes",
            thesis.beyond
        ),
    );
    let room = WIDTH - NAME - 22;
    for bar in &thesis.figure4 {
        let mut name = name(&bar.cell, bar.measure);
        if name.chars().count() > NAME {
            wrapped(text, "", &name);
            name.clear();
        }
        // At least one, so that what is listed is seen.
        let length = ((bar.loss / largest.loss * room as f64).round() as usize).clamp(1, room);
        line(text, &format!("{name:<NAME$} {:>9.6} {:>9}  {}", bar.loss, times(bar), "#".repeat(length)));
    }
}

fn times(bar: &Bar) -> String {
    match bar.time_factor {
        factor if factor < 999.95 => format!("{factor:.4}x"),
        factor => format!("{factor:.2e}x"),
    }
}

/// Appends both tables to the Markdown report.
pub(super) fn markdown(text: &mut String, thesis: &Thesis) {
    // Writing to a String cannot fail.
    let headings = headings(thesis.rounds);
    let _ = writeln!(text, "\n| rate of A less that of B, % of B | {} |", headings.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(headings.len()));
    for row in &thesis.rows {
        let _ = writeln!(text, "| {} | {} |", escaped(&name(&row.cell, row.measure)), cells(row).join(" | "));
    }
    if thesis.figure4.is_empty() {
        let _ = writeln!(text, "\nFigure 4: no test loses more than {} %", thesis.beyond);
        return;
    }
    let _ = writeln!(text, "\n| Figure 4: more than {} % lost | loss of rate, % | time |", thesis.beyond);
    text.push_str("|---|---:|---:|\n");
    for bar in &thesis.figure4 {
        let name = escaped(&name(&bar.cell, bar.measure));
        let _ = writeln!(text, "| {name} | {:.6} | {} |", bar.loss, times(bar));
    }
}
