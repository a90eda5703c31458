//! JUnit XML, which Jenkins, GitLab and others show: a test case for each comparison that a gate judges, and for each finding
//! of doctor.

use std::fmt::Write;

use anyhow::{Result, bail};
use serde_json::{Map, Value};

use super::figures::{name, program_rows, text};
use crate::document::{Block, Document};

/// What became of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// The exit status is 1 for it.
    Failed,
    /// Nothing is shown.
    Skipped,
}

struct Case {
    name: String,
    outcome: Outcome,
    message: String,
    /// More about it.
    body: String,
}

/// Returns the file.
///
/// # Errors
/// The document is of nothing that can fail.
pub(super) fn render(document: &Document) -> Result<String> {
    let gate = document.blocks.iter().find_map(|block| match block {
        Block::Data("gate", gate) => Some(gate),
        _ => None,
    });
    let cases = match gate {
        Some(Value::Object(gate)) => compared(document, gate),
        Some(_) => bail!("nothing can fail without --fail-on; try --fail-on 5%"),
        None if document.lines.contains(&"findings") => findings(document),
        None => bail!("JUnit is a format of `compare --fail-on` and of `doctor`; try --format json"),
    };
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let (failed, skipped) = (count(Outcome::Failed), count(Outcome::Skipped));
    let suite = document.kind.replace(' ', ".");
    let totals = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\"", cases.len());
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{suite}\" {totals}>\n  \
         <testsuite name=\"{suite}\" {totals} skipped=\"{skipped}\">\n"
    );
    for Case { name, outcome, message, body } in &cases {
        let (name, message, body) = (escaped(name), escaped(message), escaped(body));
        let start = format!("    <testcase classname=\"{suite}\" name=\"{name}\">");
        // Writing to a String cannot fail.
        let _ = match outcome {
            Outcome::Passed => writeln!(text, "{start}<system-out>{message}</system-out></testcase>"),
            Outcome::Failed => writeln!(text, "{start}<failure message=\"{message}\">{body}</failure></testcase>"),
            Outcome::Skipped => writeln!(text, "{start}<skipped message=\"{message}\"/></testcase>"),
        };
    }
    Ok(text + "  </testsuite>\n</testsuites>\n")
}

/// The findings: what spoils a run fails, as doctor's exit status says.
fn findings(document: &Document) -> Vec<Case> {
    let case = |row: &Map<String, Value>| {
        let outcome = if text(row, "severity") == "spoils" { Outcome::Failed } else { Outcome::Skipped };
        Case {
            name: text(row, "name"),
            outcome,
            message: text(row, "what"),
            body: format!("Fix: {}", text(row, "fix")),
        }
    };
    let cases: Vec<Case> = program_rows(document, "findings").iter().map(case).collect();
    if cases.is_empty() {
        let message = "Nothing here will spoil a run.".to_owned();
        return vec![Case { name: "this machine".to_owned(), outcome: Outcome::Passed, message, body: String::new() }];
    }
    cases
}

/// The comparisons: what closes the gate fails, what is undecided is skipped.
fn compared(document: &Document, gate: &Map<String, Value>) -> Vec<Case> {
    let suspects = gate.get("suspects").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let suspects: Vec<&Map<String, Value>> = suspects.iter().filter_map(Value::as_object).collect();
    let case = |row: &Map<String, Value>| {
        let suspect = suspects.iter().copied().find(|suspect| is_same(suspect, row));
        let is = |suspect: Option<&Map<String, Value>>, key: &str, flag: bool| {
            suspect.and_then(|suspect| suspect.get(key)) == Some(&Value::Bool(flag))
        };
        let outcome = match text(row, "verdict").as_str() {
            _ if is(suspect, "closes", true) => Outcome::Failed,
            // The later runs do not show it.
            _ if is(suspect, "confirmed", false) => Outcome::Passed,
            "undecided" | "differs" => Outcome::Skipped,
            _ => Outcome::Passed,
        };
        Case { name: named(row), outcome, message: change(row), body: list_of(row, "warnings").join("\n") }
    };
    let mut cases: Vec<Case> = program_rows(document, "comparisons").iter().map(case).collect();
    let missing = |row: &Map<String, Value>| {
        let lost = row.get("lost") == Some(&Value::Bool(true));
        let outcome = if lost { Outcome::Failed } else { Outcome::Skipped };
        let message = format!("missing: {}", text(row, "reason"));
        Case { name: named(row), outcome, message, body: String::new() }
    };
    cases.extend(program_rows(document, "missing").iter().map(missing));
    cases
}

/// The name of a row, with the run where several are compared.
fn named(row: &Map<String, Value>) -> String {
    match text(row, "run").as_str() {
        "" | "A" | "B" => name(row),
        run => format!("{}, run {run}", name(row)),
    }
}

/// `slower: -7.1 % (-9.2 to -5.0)`.
fn change(row: &Map<String, Value>) -> String {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let mut message = text(row, "verdict_text");
    if let Some(delta) = number("delta") {
        message += &format!(": {} {}", words::signed_fine(delta), text(row, "delta_unit"));
    }
    if let Some((low, high)) = number("low").zip(number("high")) {
        message += &format!(" ({} to {})", words::signed_fine(low), words::signed_fine(high));
    }
    message
}

fn list_of(row: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = row.get(key).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether both are of one measure of one cell in one run.
fn is_same(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    ["run", "test", "copies", "load", "condition", "measure"].iter().all(|key| one.get(*key) == other.get(*key))
}

/// Returns text as XML 1.0 can hold it.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // XML 1.0 has no place for control characters, however they are written.
    for c in words::log_lines(text).chars() {
        match c {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '"' => plain.push_str("&quot;"),
            '\n' => plain.push_str("&#10;"),
            c => plain.push(c),
        }
    }
    plain
}
