//! The JSON report: docs/format.md names its keys. A bound that does not exist is null.

use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::analysis::{Index, Missing, Results, Row, Sample};
use crate::catalogue::{Arithmetic, Metric};
use crate::journal::Run;
use crate::machine::Fact;
use crate::stats::Estimate;

/// The version of this report's keys.
const FORMAT: &str = "unixmark-report/1";

#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    run: &'a Run,
    seconds: f64,
    end: Option<&'a str>,
    facts: BTreeMap<&'a str, &'a str>,
    fact_table: &'a [Fact],
    results: Vec<Score<'a>>,
    index: Vec<Composite<'a>>,
    gains: Vec<Gain<'a>>,
    skipped: &'a [Missing],
    errors: &'a [Missing],
    warnings: &'a [String],
}

/// An interval, null where it is unbounded.
#[derive(Serialize)]
struct Interval {
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct Score<'a> {
    test: &'a str,
    label: &'a str,
    copies: u32,
    load: &'a str,
    condition: &'a str,
    metric: Metric,
    unit: &'a str,
    value: f64,
    #[serde(flatten)]
    interval: Interval,
    n: usize,
    seconds: f64,
    warnings: &'a [String],
    samples: &'a [Sample],
}

#[derive(Serialize)]
struct Composite<'a> {
    category: &'a str,
    name: &'a str,
    copies: u32,
    arithmetic: Arithmetic,
    score: f64,
    #[serde(flatten)]
    interval: Interval,
    sum: f64,
    complete: bool,
    tests: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    test: &'a str,
    label: &'a str,
    score: f64,
    baseline: f64,
    index: f64,
    #[serde(flatten)]
    interval: Interval,
}

#[derive(Serialize)]
struct Gain<'a> {
    label: &'a str,
    from: u32,
    to: u32,
    gain: f64,
    #[serde(flatten)]
    interval: Interval,
}

fn interval(estimate: &Estimate) -> Interval {
    let finite = |end: f64| end.is_finite().then_some(end);
    Interval { low: finite(estimate.low), high: finite(estimate.high) }
}

fn result(row: &Row) -> Score<'_> {
    Score {
        test: &row.cell.test,
        label: &row.cell.label,
        copies: row.cell.copies,
        load: &row.cell.load,
        condition: &row.cell.condition,
        metric: row.cell.metric,
        unit: &row.cell.unit,
        value: row.score.value,
        interval: interval(&row.score),
        n: row.n,
        seconds: row.seconds,
        warnings: &row.warnings,
        samples: &row.samples,
    }
}

fn index(index: &Index) -> Composite<'_> {
    let tests = index.parts.iter().map(|part| Part {
        test: &part.test,
        label: &part.label,
        score: part.score,
        baseline: part.baseline,
        index: part.index.value,
        interval: interval(&part.index),
    });
    Composite {
        category: &index.id,
        name: &index.name,
        copies: index.copies,
        arithmetic: index.arithmetic,
        score: index.score.value,
        interval: interval(&index.score),
        sum: index.sum,
        complete: index.complete,
        tests: tests.collect(),
    }
}

fn gain(gain: &crate::analysis::Gain) -> Gain<'_> {
    Gain { label: &gain.label, from: gain.from, to: gain.to, gain: gain.gain.value, interval: interval(&gain.gain) }
}

/// Returns the report.
///
/// # Errors
/// A value cannot be encoded: a defect.
pub(super) fn render(results: &Results) -> Result<String> {
    let report = Report {
        format: FORMAT,
        run: &results.run,
        seconds: results.seconds,
        end: results.end.as_deref(),
        facts: results.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect(),
        fact_table: &results.facts,
        results: results.rows.iter().map(result).collect(),
        index: results.indexes.iter().map(index).collect(),
        gains: results.gains.iter().map(gain).collect(),
        skipped: &results.skipped,
        errors: &results.errors,
        warnings: &results.warnings,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
