//! The Markdown report: tables to paste into an issue or a page.

use std::fmt::Write;

use super::{Footnotes, copies, plus_minus, seconds};
use crate::analysis::Results;

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let mut text = String::new();
    let mut notes = Footnotes::default();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "# {}\n", escaped(&results.run.name));
    let _ = writeln!(
        text,
        "{}, {} procedure, {}\n",
        escaped(&results.run.tool),
        results.run.procedure,
        results.run.started
    );
    for level in results.levels() {
        let _ = writeln!(text, "## {}\n", copies(level));
        for index in results.indexes.iter().filter(|index| index.copies == level) {
            let _ = writeln!(
                text,
                "**{}: {:.1}** ({})\n",
                escaped(&index.title()),
                index.score.value,
                plus_minus(&index.score)
            );
        }
        self::level(&mut text, results, level, &mut notes);
    }
    if !results.gains.is_empty() {
        let _ = writeln!(text, "## Gain\n\n| test | copies | gain | ± |\n|---|---|---:|---:|");
        for gain in &results.gains {
            let _ = writeln!(
                text,
                "| {} | {} to {} | {:.2} | {} |",
                escaped(&gain.label),
                gain.from,
                gain.to,
                gain.gain.value,
                plus_minus(&gain.gain)
            );
        }
        text.push('\n');
    }
    let _ = writeln!(text, "## System\n\n| fact | value |\n|---|---|");
    for fact in &results.facts {
        let _ = writeln!(text, "| {} | {} |", escaped(&fact.label), escaped(&fact.value));
    }
    text.push('\n');
    for (number, note) in notes.texts.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", number + 1, escaped(note));
    }
    for warning in &results.warnings {
        let _ = writeln!(text, "\n> {}", escaped(warning));
    }
    text
}

fn level(text: &mut String, results: &Results, level: u32, notes: &mut Footnotes) {
    let _ = writeln!(text, "| test | score | unit | ± | trials | window | notes |\n|---|---:|---|---:|---:|---:|---|");
    for row in results.rows.iter().filter(|row| row.cell.copies == level) {
        let _ = writeln!(
            text,
            "| {} | {:.1} | {} | {} | {} | {} | {} |",
            escaped(&row.cell.label),
            row.score.value,
            escaped(&row.cell.unit),
            plus_minus(&row.score),
            row.n,
            seconds(row.seconds),
            notes.marks(&row.warnings)
        );
    }
    for (kind, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list.iter().filter(|missing| missing.copies == level) {
            let _ = writeln!(text, "| {} | | | | | | {kind}: {} |", escaped(&missing.label), escaped(&missing.reason));
        }
    }
    text.push('\n');
}

/// Returns text that Markdown and HTML take literally.
pub(super) fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}
