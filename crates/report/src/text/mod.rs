//! The text report: UnixBench's layout with an interval beside every number, in 80 columns.

mod burnin;
mod cost;
mod latency;
mod scaling;

use std::fmt::Write;

use super::details::{Sheet, sheets};
use super::{Footnotes, copies, plus_minus, seconds};
use analysis::{Index, Missing, Results, Row, named};
use catalogue::Arithmetic;

const WIDTH: usize = 80;
const LABEL: usize = 38;

/// Columns of a value and its unit.
const VALUE: usize = 17;

/// The facts that stand in the heading, and what they are called there; the others are in the HTML
/// and JSON reports.
const HEADING: [(&str, &str); 14] = [
    ("system.os", "System"),
    ("kernel.release", "Kernel"),
    ("cpu.model", "Processor"),
    ("cpu.topology", "Topology"),
    ("cpu.governor", "Governor"),
    ("memory.total", "Memory"),
    ("system.virtualisation", "Virtual"),
    ("security.mitigations", "Mitigations"),
    ("security.audit", "Auditing"),
    ("storage.file_system", "File system"),
    ("software.libc", "C library"),
    ("software.shell", "Shell"),
    ("graphics.server", "Display"),
    ("graphics.gl_renderer", "Renderer"),
];

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let mut text = String::new();
    let mut notes = Footnotes::default();
    line(&mut text, &format!("{} — {}", results.run.name, results.run.tool));
    line(&mut text, "");
    if let Some(cost) = results.cost() {
        cost::lead(&mut text, cost);
    }
    heading(&mut text, results);
    if let Some(cost) = results.cost() {
        cost::tables(&mut text, results, cost);
        results.warnings.iter().for_each(|warning| wrapped(&mut text, "Note: ", &warning.to_string()));
        return text;
    }
    if let Some(burnin) = results.burnin() {
        burnin::block(&mut text, burnin);
    }
    for level in results.lists() {
        self::level(&mut text, results, level, &mut notes);
    }
    gains(&mut text, results);
    scaling::tables(&mut text, results, &mut notes);
    for sheet in sheets(results) {
        self::sheet(&mut text, &sheet, &mut notes);
    }
    latency::tables(&mut text, results, &mut notes);
    if results.has_latencies() {
        latency::legend(&mut text);
    }
    let warnings = crate::texts(&results.warnings);
    if !notes.texts.is_empty() || !warnings.is_empty() {
        line(&mut text, "");
    }
    for (number, note) in notes.texts.iter().enumerate() {
        wrapped(&mut text, &format!("[{}] ", number + 1), note);
    }
    for warning in warnings {
        wrapped(&mut text, "Note: ", &warning);
    }
    if results.has_latencies() {
        wrapped(&mut text, "Note: ", latency::NOT_INTERBENCH);
    }
    text
}

/// Appends a line; writing to a String cannot fail.
pub(super) fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Appends `content` in lines of the report's width, the first after `lead`, the others under it.
pub(super) fn wrapped(text: &mut String, lead: &str, content: &str) {
    let indent = lead.chars().count();
    let mut current = lead.to_owned();
    let mut empty = true;
    for word in content.split_whitespace() {
        if !empty && current.chars().count() + 1 + word.chars().count() > WIDTH {
            line(text, &current);
            current = " ".repeat(indent);
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        current.push_str(word);
        empty = false;
    }
    line(text, &current);
}

fn heading(text: &mut String, results: &Results) {
    let run = &results.run;
    for (name, title) in HEADING {
        if let Some(fact) = results.facts.iter().find(|fact| fact.name == name) {
            wrapped(text, &format!("  {:<14} ", format!("{title}:")), &fact.value);
        }
    }
    if let Some(build) = &results.run.build {
        wrapped(text, "  Programs:      ", &format!("{} build, {}, {}", build.name, build.compiler, build.flags));
    }
    let mut words = vec![run.started.clone(), format!("{} procedure", run.procedure)];
    words.retain(|word| !word.is_empty());
    if !run.pin.is_empty() {
        words.push(format!("copies pinned by {}", run.pin));
    }
    if results.seconds > 0.0 {
        words.push(words::clock(std::time::Duration::try_from_secs_f64(results.seconds).unwrap_or_default()));
    }
    wrapped(text, "  Run:           ", &words.join(", "));
    if !run.comment.is_empty() {
        wrapped(text, "  Remark:        ", &run.comment);
    }
}

fn level(text: &mut String, results: &Results, level: u32, notes: &mut Footnotes) {
    line(text, "");
    line(text, &"-".repeat(WIDTH));
    let cpus = match results.run.cpus {
        0 => "unknown CPUs".to_owned(),
        1 => "1 CPU".to_owned(),
        count => format!("{count} CPUs"),
    };
    let many = if level == 1 { "1 parallel copy".to_owned() } else { format!("{level} parallel copies") };
    line(text, &format!("{cpus} in system; running {many} of tests"));
    line(text, "");
    let unit = results.listed().map(|row| row.cell.unit.chars().count()).max().unwrap_or(0);
    for row in results.listed().filter(|row| row.cell.key.copies == level) {
        score_line(text, row, unit.clamp(5, VALUE - 8), notes);
    }
    let of_rates = |missing: &&Missing| missing.key.copies == level && !missing.latency && !results.run.is_scaling();
    for missing in results.skipped.iter().filter(of_rates) {
        reason_line(text, missing, "skipped");
    }
    for missing in results.errors.iter().filter(of_rates) {
        reason_line(text, missing, "error");
    }
    for index in results.indexes().iter().filter(|index| index.copies == level) {
        match index.arithmetic {
            Arithmetic::Geometric => index_block(text, index),
            Arithmetic::Arithmetic => byte_block(text, index),
        }
    }
}

/// A score in a line; `unit` is as wide as the longest unit of the report.
fn score_line(text: &mut String, row: &Row, unit: usize, notes: &mut Footnotes) {
    let cell = &row.cell;
    let label = named(&cell.label, &cell.key.load, &cell.key.condition);
    let shown = format!(
        "{label:<LABEL$}{:>value$} {:<unit$} {:>6} {:>3} x {}",
        score(row.score.value),
        cell.unit,
        plus_minus(&row.score),
        row.n,
        seconds(row.seconds),
        value = VALUE - unit,
    );
    let marks = notes.marks(&crate::texts(&row.warnings));
    if shown.chars().count() + 1 + marks.len() <= WIDTH {
        line(text, &format!("{shown} {marks}"));
    } else {
        line(text, &shown);
        line(text, &format!("{marks:>WIDTH$}"));
    }
}

/// UnixBench's one decimal, and more of a small number.
pub(super) fn score(value: f64) -> String {
    match value.abs() {
        size if size < 1.0 => format!("{value:.4}"),
        size if size < 10.0 => format!("{value:.3}"),
        size if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

fn reason_line(text: &mut String, missing: &Missing, kind: &str) {
    wrapped(text, &format!("{:<LABEL$}", missing.label), &format!("{kind}: {}", missing.reason));
}

fn index_block(text: &mut String, index: &Index) {
    let kind = if index.complete { "Index Values" } else { "Partial Index" };
    let heading = format!("{} {kind}", index.name);
    line(text, "");
    line(text, &format!("{heading:<LABEL$}{:>12}{:>13}{:>9}", "BASELINE", "RESULT", "INDEX"));
    for part in &index.parts {
        line(
            text,
            &format!(
                "{:<LABEL$}{:>12.1}{:>13.1}{:>9.1} {:>6}",
                part.label,
                part.baseline,
                part.score,
                part.index.value,
                plus_minus(&part.index)
            ),
        );
    }
    for (label, score) in &index.others {
        line(text, &format!("{label:<LABEL$}{:>12}{score:>13.1}{:>9}", "---", "---"));
    }
    total(text, index);
}

fn byte_block(text: &mut String, index: &Index) {
    line(text, "");
    line(text, &format!("{:<LABEL$}{:>12}{:>13}{:>9}", "BYTE 3.11 INDEX VALUES", "BASELINE", "RESULT", "INDEX"));
    for part in &index.parts {
        line(
            text,
            &format!("{:<LABEL$}{:>12.1}{:>13.1}{:>9.1}", part.label, part.baseline, part.score, part.index.value),
        );
    }
    line(text, &format!("{:>72}", "========"));
    line(text, &format!("{:<63}{:>9.1}", format!("SUM of {} items", index.parts.len()), index.sum));
    line(text, &format!("{:<63}{:>9.1} {:>6}", "AVERAGE", index.score.value, plus_minus(&index.score)));
}

fn total(text: &mut String, index: &Index) {
    line(text, &format!("{:>72}", "========"));
    line(text, &format!("{:<63}{:>9.1} {:>6}", index.title(), index.score.value, plus_minus(&index.score)));
}

/// A table with a row per cell, whose columns are as wide as what they hold.
fn sheet(text: &mut String, sheet: &Sheet, notes: &mut Footnotes) {
    let length = |text: &str| text.chars().count();
    let width = |column: usize| {
        let fields = sheet.lines.iter().filter_map(|line| line.fields.get(column)).map(|field| length(field));
        fields.chain([length(sheet.head[column])]).max().unwrap_or(0) + 2
    };
    let widths: Vec<usize> = (0..sheet.head.len()).map(width).collect();
    let marks = if sheet.lines.iter().any(|line| line.note.is_some()) { 5 } else { 0 };
    let label = WIDTH.saturating_sub(widths.iter().sum::<usize>() + 7 + marks);
    let columns = |fields: &mut dyn Iterator<Item = &str>| -> String {
        fields.zip(&widths).map(|(field, width)| format!("{field:>width$}")).collect()
    };
    line(text, "");
    line(text, &"-".repeat(WIDTH));
    wrapped(text, "", &format!("{}. {}", sheet.title, sheet.caption));
    line(text, "");
    line(text, &format!("{:label$}{:>7}{}", "", "copies", columns(&mut sheet.head.iter().copied())));
    for row in &sheet.lines {
        let name: String = row.label.chars().take(label).collect();
        let fields = columns(&mut row.fields.iter().map(String::as_str));
        line(text, &format!("{name:label$}{:>7}{fields} {}", row.copies, notes.marks(row.note.as_slice())));
    }
}

fn gains(text: &mut String, results: &Results) {
    let mut heading = None;
    for gain in results.gains() {
        if heading != Some((gain.from, gain.to)) {
            heading = Some((gain.from, gain.to));
            line(text, "");
            line(text, &"-".repeat(WIDTH));
            line(text, &format!("{:<63}{:>9}", format!("Gain from {} to {}", copies(gain.from), gain.to), "GAIN"));
        }
        line(
            text,
            &format!("{:<63}{:>9} {:>6}", gain.label, format!("{:.2}x", gain.gain.value), plus_minus(&gain.gain)),
        );
    }
}
