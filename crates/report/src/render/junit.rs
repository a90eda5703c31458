//! JUnit XML, which Jenkins, GitLab and others show. A gate, of several runs or of one, has a test
//! case for each comparison, figure that is missing, limit and doubt; doctor has one for each
//! finding.

use std::fmt::Write;

use analysis::{
    Comparison, Comparisons, Gate, Measure, Missing, NotCompared, Outcome, ask_direction,
};
use anyhow::{Result, bail};
use journal::{Finding, Key, Severity};
use maud::html;

use crate::document::ends_after;
use crate::subject::{Subject, measure_name, run_suffix};
use crate::views::{Line, gap_key, lines, sentences, verdict_with_time};

struct Case {
    name: String,
    outcome: Outcome,
    message: String,
    /// More about a failure.
    body: String,
}

impl Case {
    fn new(name: impl Into<String>, outcome: Outcome, message: String) -> Case {
        Case { name: name.into(), outcome, message, body: String::new() }
    }
}

/// # Errors
/// The subject is nothing that can fail.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    match subject {
        Subject::Comparison(all, Some(gate)) => {
            Ok(render_suite("unixmark.compare", &comparison_cases(all, gate)))
        }
        Subject::Comparison(_, None) => {
            bail!("nothing can fail without --fail-on; try --fail-on 5%")
        }
        Subject::Doctor(findings) => Ok(render_suite("unixmark.doctor", &finding_cases(findings))),
        _ => bail!(
            "JUnit is a format of `doctor`, `compare` and of what measures with --fail-on; try --format json"
        ),
    }
}

/// A run that compares commands or conditions, as its gate judges it.
#[derive(Debug, Clone, Copy)]
pub struct GatedRun<'a> {
    /// The comparisons that the gate judges.
    pub comparisons: &'a [(&'a Comparison, Outcome)],
    /// The figures that the reference has and another command lacks.
    pub lost: &'a [&'a Missing],
    /// The limits of counts, a sentence each.
    pub counts: &'a [(Outcome, String)],
    /// What the gate cannot judge, undecided counts included, a sentence each.
    pub doubts: &'a [String],
    /// True if a doubt fails the gate.
    pub is_strict: bool,
    /// Other reasons why the run is a failure, a sentence each.
    pub failures: &'a [String],
}

/// A gated run as JUnit XML: a case fails if the exit status is 1, or 4, for it.
pub fn junit(gated: &GatedRun<'_>) -> String {
    let mut cases = Vec::new();
    for (comparison, outcome) in gated.comparisons {
        let measure = match comparison.unnamed() {
            Some(measure) => measure.to_owned(),
            None => measure_name(&comparison.cell.key, comparison.measure.name()),
        };
        let name = format!("{measure}, {}", comparison.run);
        cases.push(Case {
            body: sentences(&comparison.warnings).join("\n"),
            ..Case::new(name, *outcome, describe_change(comparison))
        });
    }
    for gap in gated.lost {
        let name = format!("{}, {}", gap.label, gap.key.condition);
        cases.push(Case::new(name, Outcome::Failed, format!("missing: {}", gap.reason)));
    }

    // Undecided counts are among the doubts.
    for (outcome, sentence) in gated.counts {
        if *outcome != Outcome::Undecided {
            cases.push(Case::new("counts", *outcome, sentence.clone()));
        }
    }
    let doubtful = if gated.is_strict { Outcome::Failed } else { Outcome::Undecided };
    for doubt in gated.doubts {
        cases.push(Case::new("gate", doubtful, doubt.clone()));
    }
    if !gated.failures.is_empty() {
        cases.push(Case::new("run", Outcome::Failed, gated.failures.join("; ")));
    }
    render_suite("unixmark", &cases)
}

fn render_suite(suite: &str, cases: &[Case]) -> String {
    let failed = cases.iter().filter(|case| case.outcome == Outcome::Failed).count();
    let skipped = cases.iter().filter(|case| case.outcome == Outcome::Undecided).count();
    let totals = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\"", cases.len());

    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{suite}\" {totals}>\n  \
         <testsuite name=\"{suite}\" {totals} skipped=\"{skipped}\">\n"
    );
    for Case { name, outcome, message, body } in cases {
        let [name, message, body] = [name, message, body].map(|text| escape(text));
        let result = match outcome {
            Outcome::Passed => format!("<system-out>{message}</system-out>"),
            Outcome::Failed => format!("<failure message=\"{message}\">{body}</failure>"),
            Outcome::Undecided => format!("<skipped message=\"{message}\"/>"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "    <testcase classname=\"{suite}\" name=\"{name}\">{result}</testcase>"
        );
    }
    text + "  </testsuite>\n</testsuites>\n"
}

fn finding_cases(findings: &[Finding]) -> Vec<Case> {
    if findings.is_empty() {
        let message = "Nothing here will spoil a run.".to_owned();
        return vec![Case::new("this machine", Outcome::Passed, message)];
    }
    findings.iter().map(finding_case).collect()
}

/// What spoils a run fails, as doctor's exit status says.
fn finding_case(finding: &Finding) -> Case {
    let spoils = finding.severity == Severity::Spoils;
    Case {
        name: finding.name.clone(),
        outcome: if spoils { Outcome::Failed } else { Outcome::Undecided },
        message: finding.what.clone(),
        body: format!("Fix: {}", finding.fix),
    }
}

/// The comparisons as the gate judges them, the cells without one, and what the gate cannot judge.
fn comparison_cases(all: &Comparisons, gate: &Gate) -> Vec<Case> {
    let mut cases = Vec::new();
    for line in lines(all) {
        cases.push(comparison_case(&line, gate));
    }
    for gap in &all.missing {
        cases.push(missing_case(gap, &gap_key(gap, all)));
    }
    for (outcome, message) in &gate.counts {
        cases.push(Case::new("counts", *outcome, message.clone()));
    }
    cases.extend(unseen_case(gate));
    cases.extend(undirected_case(gate));
    cases
}

fn comparison_case(line: &Line<'_>, gate: &Gate) -> Case {
    let Line { comparison, key, .. } = line;
    Case {
        name: measure_name(key, comparison.measure.name()) + &run_suffix(&comparison.run, key),
        outcome: gate.outcome_of(comparison),
        message: describe_change(comparison),
        body: sentences(&comparison.warnings).join("\n"),
    }
}

fn missing_case(gap: &NotCompared, key: &Key) -> Case {
    let measure = gap.measure.unwrap_or(Measure::Score);
    let name = measure_name(key, measure.name()) + &run_suffix(&gap.run, key);
    Case::new(name, gap.outcome(), format!("missing: {}", gap.reason))
}

/// The case of comparisons that may hide a loss of the gate's size.
fn unseen_case(gate: &Gate) -> Option<Case> {
    let message = gate.unseen?.to_string();
    Some(Case::new("gate", outcome_of_doubt(gate), message))
}

/// The case of figures whose better direction nobody knows.
fn undirected_case(gate: &Gate) -> Option<Case> {
    if gate.undirected.is_empty() {
        return None;
    }
    Some(Case::new("directions", outcome_of_doubt(gate), ask_direction(&gate.undirected)))
}

/// What a gate cannot judge is a failure of a strict one.
fn outcome_of_doubt(gate: &Gate) -> Outcome {
    if gate.is_strict { Outcome::Failed } else { Outcome::Undecided }
}

/// `slower: -7.1 % (-9.2 to -5.0)`.
fn describe_change(comparison: &Comparison) -> String {
    let change = comparison.change();
    let verdict = verdict_with_time(comparison);
    let ends = ends_after(&change, words::signed_fine);
    if !change.value.is_finite() {
        return verdict + &ends;
    }
    let value = words::signed_fine(change.value);
    format!("{verdict}: {value} {}{ends}", comparison.measure.delta_unit())
}

/// Text as XML 1.0 can hold it, which has no place for control characters, however they are
/// written.
fn escape(text: &str) -> String {
    html! { (words::log_lines(text)) }.into_string().replace('\n', "&#10;")
}
