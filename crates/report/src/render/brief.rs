//! The answer in at most 1 kB of JSON, for agents and scripts: docs/report.schema.json has it as
//! `brief`. What does not fit is left out: comparisons other than the gravest, functions, and at
//! last the ends of long words.

use std::path::Path;

use analysis::{Comparison, Figure, Results, Verdict};
use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::subject::Subject;
use crate::views;

/// The version of its keys.
const FORMAT: &str = "unixmark-brief/1";

/// Most bytes of it.
const MAX_BYTES: usize = 1000;

/// Most letters of a sentence, of a reason and of a name where all is too long.
const MAX_LETTERS: usize = 200;
const MAX_NAME: usize = 40;

/// Functions that are kept even where the sentence is cut for them.
const MIN_FUNCTIONS: usize = 2;

/// How a run ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ending<'a> {
    /// Where it is kept; `None` if it is not.
    pub path: Option<&'a Path>,
    /// The exit status; `None` of an earlier run.
    pub status: Option<u8>,
    /// Why it is no success; empty if it is one.
    pub reason: &'a str,
}

/// A run with an ending that is not known.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    match subject.results() {
        Some(results) => brief(results, Ending::default()),
        None => bail!("--format brief is only for a single run; try --format json"),
    }
}

/// A run's answer and how it ended, on one line.
///
/// # Errors
/// A value cannot be encoded, which is a defect.
pub fn brief(results: &Results, ending: Ending<'_>) -> Result<String> {
    let mut comparisons: Vec<&Comparison> = results
        .cost()
        .into_iter()
        .flat_map(|cost| cost.effects())
        .map(|effect| &effect.comparison)
        .filter(|one| !one.is_of_execution())
        .collect();
    comparisons.sort_by_key(|one| gravity(one.verdict));

    let mut brief = head(results, ending);
    let answer = match (comparisons.first(), results.figures.first()) {
        (Some(gravest), _) => compared(gravest),
        (None, Some(figure)) => measured(figure, results),
        (None, None) => json!({"verdict": "failed"}),
    };
    add(&mut brief, &answer);
    if !results.functions.is_empty() {
        add(&mut brief, &json!({"functions": [], "functions_left_out": false}));
    }
    let functions: Vec<Value> = significant_functions(results).collect();
    let wanted_bytes: usize =
        functions.iter().take(MIN_FUNCTIONS).map(|function| function.to_string().len() + 1).sum();
    if brief.to_string().len() + wanted_bytes > MAX_BYTES {
        shorten(&mut brief);
    }

    push_what_fits(&mut brief, "functions", functions.into_iter());
    push_what_fits(&mut brief, "others", comparisons.into_iter().skip(1).map(compared));
    Ok(words::json_text(&(serde_json::to_string(&brief)? + "\n")))
}

fn head(results: &Results, ending: Ending<'_>) -> Value {
    let sentence = views::answer_in_words(results);
    json!({
        "format": FORMAT, "run": ending.path.map(|_| &results.run.name), "path": ending.path,
        "status": ending.status,
        "reason": Some(ending.reason).filter(|reason| !reason.is_empty()), "sentence": sentence,
        "others": [], "others_left_out": false,
    })
}

/// Fills the array `key` with `items` until one does not fit, and notes in `KEY_left_out` that one
/// did not.
fn push_what_fits(brief: &mut Value, key: &str, items: impl Iterator<Item = Value>) {
    for item in items {
        let mut longer = brief.clone();
        if let Some(array) = longer[key].as_array_mut() {
            array.push(item);
        }
        if longer.to_string().len() > MAX_BYTES {
            brief[format!("{key}_left_out")] = json!(true);
            return;
        }
        *brief = longer;
    }
}

/// The functions that got slower or faster, by command and by the size of their change.
fn significant_functions(results: &Results) -> impl Iterator<Item = Value> + '_ {
    results.functions.iter().flat_map(|command| {
        let significant = command.change.iter().flat_map(|all| all.significant());
        significant.map(move |function| {
            let change = function.change;
            json!({
                "function": words::beginning(&function.name, MAX_NAME), "of": command.cell.key.condition,
                "delta": change.value, "low": change.low, "high": change.high,
            })
        })
    })
}

/// The order of verdicts: what a gate looks for comes first.
fn gravity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Slower | Verdict::Worse => 0,
        Verdict::Differs | Verdict::Undirected => 1,
        Verdict::Undecided(_) => 2,
        Verdict::Faster | Verdict::Better => 3,
        Verdict::Same(_) => 4,
    }
}

fn compared(one: &Comparison) -> Value {
    let change = one.change();
    json!({
        "test": one.unnamed().unwrap_or(&one.cell.key.test), "measure": one.measure.name(), "of": one.run,
        "verdict": one.verdict.word(), "delta": change.value, "low": change.low, "high": change.high,
        "unit": one.measure.delta_unit(),
    })
}

/// The first figure of a run that compares nothing, or could not since something failed.
fn measured(figure: &Figure, results: &Results) -> Value {
    let score = figure.score;
    let verdict = if results.errors.is_empty() { "none" } else { "failed" };
    json!({
        "test": figure.cell.key.test, "verdict": verdict, "value": score.value, "low": score.low,
        "high": score.high, "unit": figure.cell.unit,
    })
}

fn add(brief: &mut Value, more: &Value) {
    for (key, value) in more.as_object().into_iter().flatten() {
        brief[key] = value.clone();
    }
}

/// Shortens what may be of any length.
fn shorten(brief: &mut Value) {
    for (key, most) in
        [("sentence", MAX_LETTERS), ("reason", MAX_LETTERS), ("test", MAX_NAME), ("of", MAX_NAME)]
    {
        if let Some(text) = brief[key].as_str() {
            brief[key] = json!(words::beginning(text, most));
        }
    }
    // Of a path that is cut nobody has the use.
    if brief["path"].as_str().is_some_and(|path| path.len() > MAX_LETTERS) {
        brief["path"] = Value::Null;
    }
}
