//! A table for a patch's commit message: plain ASCII of 78 columns. Of two sides what changed, of more a column for each.

use anyhow::{Result, bail};
use serde_json::{Map, Value};
use words::{Unique, at_least, compact, joules, signed_fine, wrap};

use super::figures::{name, program_rows, text};
use crate::document::{Block, Document};

/// The columns of a commit message that mailing lists leave whole.
const ROOM: usize = 78;

/// The columns of a system, its mark included.
const SYSTEM: usize = 11;

/// The systems that there is room for beside a test's name.
const MOST: usize = 5;

/// Returns the table with what it is of above it, and how to read it below.
///
/// # Errors
/// The document compares nothing, or more systems than there is room for.
pub(super) fn render(document: &Document) -> Result<String> {
    let mut rows = program_rows(document, "systems");
    rows.extend(list(document, "systems").iter().filter_map(Value::as_object).cloned());
    let lines = if rows.is_empty() { sides(document)? } else { systems(document, &rows)? };
    let mut text = String::new();
    for line in &lines {
        text += words::ascii(line).trim_end();
        text.push('\n');
    }
    Ok(text)
}

/// Returns what programs have under a key.
pub(super) fn data<'a>(document: &'a Document, key: &str) -> Option<&'a Value> {
    document.blocks.iter().find_map(|block| match block {
        Block::Data(name, value) if *name == key => Some(value),
        _ => None,
    })
}

fn list<'a>(document: &'a Document, key: &str) -> &'a [Value] {
    data(document, key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Two sides: before, after, and what changed.
fn sides(document: &Document) -> Result<Vec<String>> {
    let mut rows = program_rows(document, "comparisons");
    rows.retain(|row| row.get("control").and_then(Value::as_bool) != Some(true));
    let Some(first) = rows.first() else {
        bail!("it compares nothing, so there is no table for a commit message; try --format text");
    };
    let against = text(first, "against");
    let mut lines = runs_of_sides(document, &against);
    lines.extend(warnings(document));
    lines.push(String::new());
    lines.extend(placed("", &figures(["before", "after", "delta", "95 %", "verdict"])));
    for row in &rows {
        let title = format!("{}, {}", name(row), text(row, "unit"));
        lines.extend(placed(&title, &figures(change(row).each_ref().map(String::as_str))));
    }
    for row in program_rows(document, "missing") {
        lines.extend(placed(&name(&row), &figures(["-", "-", "-", "-", "missing"])));
    }
    for total in list(document, "totals").iter().filter_map(Value::as_object) {
        let [delta, interval] = [delta(total, "%"), interval(total)];
        lines.extend(placed("geometric mean of rates", &figures(["", "", &delta, &interval, ""])));
    }
    lines.push(String::new());
    lines.extend(wrap(
        "",
        "delta: the change with its 95 % interval; for times and latencies less is better. undecided: a \
         difference is neither shown nor ruled out.",
        ROOM,
    ));
    Ok(lines)
}

/// The figures of a row, at the right edge.
fn figures([before, after, delta, interval, verdict]: [&str; 5]) -> String {
    format!("{before:>10}{after:>10}{delta:>9}{interval:>15} {verdict:<9}")
}

/// A name with figures at the right edge, on two lines where they have no room on one.
fn placed(name: &str, figures: &str) -> Vec<String> {
    let room = ROOM.saturating_sub(words::width(figures));
    if words::width(name) < room || name.is_empty() {
        return vec![format!("{name:<room$}{figures}")];
    }
    let mut lines = wrap("", name, ROOM);
    lines.push(format!("{:room$}{figures}", ""));
    lines
}

/// What a row compares: before, after, delta, interval, verdict.
fn change(row: &Map<String, Value>) -> [String; 5] {
    let value = |key: &str| row.get(key).and_then(Value::as_f64).map_or("-".to_owned(), words_of(row));
    // Of rounds whose base is B, the figure of A is the later.
    let [before, after] = if text(row, "against") == "B" { ["b", "a"] } else { ["a", "b"] };
    let unit = if text(row, "delta_unit") == "points" { "pt" } else { "%" };
    [value(before), value(after), delta(row, unit), interval(row), text(row, "verdict")]
}

/// How the figures of a row are written.
fn words_of(row: &Map<String, Value>) -> fn(f64) -> String {
    if text(row, "measure") == "energy" { joules } else { compact }
}

fn delta(row: &Map<String, Value>, unit: &str) -> String {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    match (number("delta"), number("resolution")) {
        (Some(0.0), Some(resolution)) => format!("0+-{}{unit}", at_least(resolution)),
        (Some(delta), _) => format!("{}{unit}", signed_fine(delta)),
        (None, _) => "-".to_owned(),
    }
}

fn interval(row: &Map<String, Value>) -> String {
    let end =
        |key: &str, endless: &str| row.get(key).and_then(Value::as_f64).map_or_else(|| endless.to_owned(), signed_fine);
    format!("{}..{}", end("low", "-inf"), end("high", "+inf"))
}

/// The runs before and after; of one run its conditions.
fn runs_of_sides(document: &Document, against: &str) -> Vec<String> {
    let runs: Vec<&Map<String, Value>> = list(document, "runs").iter().filter_map(Value::as_object).collect();
    if runs.is_empty() {
        return wrap("before: ", &format!("{against}, in {}", document.run), ROOM);
    }
    let side = |lead: &str, is_base: bool| {
        let own = runs.iter().filter(|run| text(run, "letter").starts_with(against) == is_base);
        wrap(lead, &own.map(|run| described(run)).unique().join("; "), ROOM)
    };
    [side("before: ", true), side("after:  ", false)].concat()
}

fn described(run: &Map<String, Value>) -> String {
    let mut words = vec![text(run, "name"), format!("{} procedure", text(run, "procedure"))];
    let condition = text(run, "condition");
    words.extend((!condition.is_empty()).then(|| format!("condition {condition}")));
    words.push(text(run, "comment"));
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

fn warnings(document: &Document) -> Vec<String> {
    let warnings = list(document, "warnings").iter().filter_map(Value::as_str);
    warnings.flat_map(|warning| wrap("Warning: ", warning, ROOM)).collect()
}

/// A column for each system.
fn systems(document: &Document, rows: &[Map<String, Value>]) -> Result<Vec<String>> {
    let runs: Vec<&Map<String, Value>> = list(document, "runs").iter().filter_map(Value::as_object).collect();
    if runs.len() > MOST {
        bail!("a commit message has room for {MOST} systems, these are {}; name fewer runs", runs.len());
    }
    let letters: Vec<String> = runs.iter().map(|run| text(run, "letter")).collect();
    let mut lines: Vec<String> = runs
        .iter()
        .zip(&letters)
        .flat_map(|(run, letter)| wrap(&format!("{letter}: "), &described(run), ROOM))
        .collect();
    lines.extend(warnings(document));
    lines.push(String::new());
    let cells = |words: &[String]| words.iter().map(|word| format!("{word:>SYSTEM$}")).collect::<String>();
    let heads: Vec<String> = letters.iter().map(|letter| format!("{letter} ")).collect();
    lines.extend(placed("", &cells(&heads)));
    for row in rows {
        let marked: Vec<String> = letters
            .iter()
            .map(|letter| marked(row.get("scores").and_then(|all| all.get(letter)), words_of(row)))
            .collect();
        lines.extend(placed(&format!("{}, {}", name(row), text(row, "unit")), &cells(&marked)));
    }
    lines.push(String::new());
    lines.extend(wrap(
        "",
        "* marks the best and ! the worst, only where the 95 % interval overlaps no other. -: not measured there.",
        ROOM,
    ));
    Ok(lines)
}

/// A score with its mark.
fn marked(score: Option<&Value>, words: fn(f64) -> String) -> String {
    let Some(value) = score.and_then(|score| score["value"].as_f64()) else { return "- ".to_owned() };
    let mark = match score.and_then(|score| score["mark"].as_str()) {
        Some("best") => '*',
        Some(_) => '!',
        None => ' ',
    };
    format!("{}{mark}", words(value))
}
