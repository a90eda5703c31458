//! The Markdown form: tables to paste into an issue or a page.

use std::fmt::Write;

use super::{coordinates, difference, directions, interval, of_cell, signed, thesis, told, value, verdict};
use crate::markdown::escaped;
use analysis::Comparisons;

/// Returns the report.
pub(super) fn render(all: &Comparisons) -> String {
    let mut text = String::from("# Comparison\n\n| | run | begun | procedure | condition |\n|---|---|---|---|---|\n");
    // Writing to a String cannot fail.
    for run in &all.runs {
        let about = &run.results.run;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            run.letter,
            escaped(&about.name),
            escaped(&about.started),
            about.procedure,
            escaped(run.condition.as_deref().unwrap_or_default())
        );
    }
    if let Some(directions) = directions(all) {
        let _ = writeln!(text, "\nDeltas are of {directions}.");
    }
    for warning in &all.warnings {
        let _ = writeln!(text, "\n> {}", escaped(warning));
    }
    let _ = writeln!(
        text,
        "\n| run | test | measure | unit | A | B | delta | 95 % | n | verdict |\n\
         |---|---|---|---|---:|---:|---:|---:|---:|---|"
    );
    for one in &all.comparisons {
        let _ = writeln!(
            text,
            "| {} | {}{} | {} | {} | {} | {} | {} {} | {} | {}, {} | {} |",
            one.run,
            escaped(&one.cell.label),
            escaped(&of_cell(&one.cell)),
            one.measure.name(),
            escaped(&one.unit),
            value(one.a),
            value(one.b),
            difference(one),
            one.measure.delta_unit(),
            interval(&one.delta),
            one.n.0,
            one.n.1,
            verdict(one)
        );
    }
    for gap in &all.missing {
        let cell = &gap.cell;
        let _ = writeln!(
            text,
            "| {} | {}{} | {} | | | | | | | {} |",
            gap.run,
            escaped(&cell.label),
            escaped(&coordinates(cell.key.copies, &cell.key.load, &cell.key.condition)),
            gap.measure.map_or("", |measure| measure.name()),
            escaped(&format!("not compared: {}", gap.reason))
        );
    }
    for total in &all.totals {
        let _ = writeln!(
            text,
            "\n**Geometric mean of {} over {} rates: {} %** ({}); worst: {} {} %",
            total.run,
            total.rates,
            signed(total.delta.value),
            interval(&total.delta),
            escaped(&total.worst.0),
            signed(total.worst.1)
        );
    }
    if let Some(tables) = &all.thesis {
        thesis::markdown(&mut text, tables);
    }
    facts(&mut text, all);
    text.push('\n');
    for note in &all.notes {
        let _ = writeln!(text, "- {}", escaped(note));
    }
    for (warning, cells) in told(&all.comparisons) {
        let _ = writeln!(text, "- {} ({})", escaped(&warning), escaped(&cells));
    }
    text
}

fn facts(text: &mut String, all: &Comparisons) {
    if all.differences.is_empty() {
        return;
    }
    text.push_str("\n| the system differs in | runs | value |\n|---|---|---|\n");
    for fact in &all.differences {
        for (letters, value) in &fact.values {
            let _ = writeln!(text, "| {} | {} | {} |", escaped(&fact.label), letters.join(", "), escaped(value));
        }
    }
}
