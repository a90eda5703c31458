//! JUnit XML, which Jenkins, GitLab and others show: a test case for each comparison that a gate judges, and for each
//! finding of doctor.

use std::fmt::Write;

use analysis::{Comparison, Comparisons, Gate, Measure, NotCompared, Outcome};
use anyhow::{Result, bail};
use journal::{Finding, Key, Severity};
use maud::html;

use crate::subject::{Subject, name, run_suffix};
use crate::views::{Line, gap_key, lines, sentences, verdict_in_words};

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
/// The subject is nothing that can fail.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let (suite, cases) = match subject {
        Subject::Comparison(all, Some(gate)) => ("unixmark.compare", compared(all, gate)),
        Subject::Comparison(_, None) => bail!("nothing can fail without --fail-on; try --fail-on 5%"),
        Subject::Doctor(findings) => ("unixmark.doctor", found(findings)),
        _ => bail!("JUnit is a format of `compare --fail-on` and of `doctor`; try --format json"),
    };
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let (failed, skipped) = (count(Outcome::Failed), count(Outcome::Undecided));
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
            Outcome::Undecided => writeln!(text, "{start}<skipped message=\"{message}\"/></testcase>"),
        };
    }
    Ok(text + "  </testsuite>\n</testsuites>\n")
}

/// The findings: what spoils a run fails, as doctor's exit status says.
fn found(findings: &[Finding]) -> Vec<Case> {
    if findings.is_empty() {
        let message = "Nothing here will spoil a run.".to_owned();
        return vec![Case { name: "this machine".to_owned(), outcome: Outcome::Passed, message, body: String::new() }];
    }
    findings.iter().map(finding).collect()
}

fn finding(Finding { severity, name, what, fix }: &Finding) -> Case {
    let outcome = if *severity == Severity::Spoils { Outcome::Failed } else { Outcome::Undecided };
    Case { name: name.clone(), outcome, message: what.clone(), body: format!("Fix: {fix}") }
}

/// The comparisons as the gate judges them, and the cells without one.
fn compared(all: &Comparisons, gate: &Gate) -> Vec<Case> {
    let compared = lines(all).into_iter().map(|line| comparison(&line, gate));
    let missing = all.missing.iter().map(|gap| missing(gap, &gap_key(gap, all)));
    let count = |(outcome, message)| Case { name: "counts".to_owned(), outcome, message, body: String::new() };
    compared.chain(missing).chain(gate.counts.iter().cloned().map(count)).chain(unseen(gate)).collect()
}

/// Returns the case of what the gate cannot tell: a failure of a strict one.
fn unseen(gate: &Gate) -> Option<Case> {
    let outcome = if gate.is_strict { Outcome::Failed } else { Outcome::Undecided };
    let message = gate.unseen?.to_string();
    Some(Case { name: "gate".to_owned(), outcome, message, body: String::new() })
}

fn comparison(Line { comparison: one, key, .. }: &Line<'_>, gate: &Gate) -> Case {
    let name = name(key, one.measure.name()) + &run_suffix(&one.run, key);
    Case { name, outcome: gate.outcome_of(one), message: change(one), body: sentences(&one.warnings).join("\n") }
}

fn missing(gap: &NotCompared, key: &Key) -> Case {
    let name = name(key, gap.measure.unwrap_or(Measure::Score).name()) + &run_suffix(&gap.run, key);
    Case { name, outcome: gap.outcome(), message: format!("missing: {}", gap.reason), body: String::new() }
}

/// `slower: -7.1 % (-9.2 to -5.0)`.
fn change(one: &Comparison) -> String {
    let (mut message, change) = (verdict_in_words(one), one.change());
    if change.value.is_finite() {
        message += &format!(": {} {}", words::signed_fine(change.value), one.measure.delta_unit());
    }
    if change.bounded() {
        message += &format!(" ({} to {})", words::signed_fine(change.low), words::signed_fine(change.high));
    }
    message
}

/// Returns text as XML 1.0 can hold it.
fn escaped(text: &str) -> String {
    // XML 1.0 has no place for control characters, however they are written.
    html! { (words::log_lines(text)) }.into_string().replace('\n', "&#10;")
}
