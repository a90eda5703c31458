//! The JSON form. A bound that does not exist is null.

use anyhow::Result;
use serde::Serialize;

use super::verdict;
use crate::analysis::{Comparison, Comparisons, Difference, NotCompared, Pair, Place, RATE, Total, Verdict};
use crate::journal::{Build, Run};
use crate::stats::{Estimate, Method};

/// The version of this report's keys.
const FORMAT: &str = "unixmark-comparison/1";

#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    paired: bool,
    threshold: f64,
    false_discovery_rate: f64,
    runs: Vec<Compared<'a>>,
    differences: Vec<Fact<'a>>,
    comparisons: Vec<One<'a>>,
    totals: Vec<All<'a>>,
    missing: Vec<Gap<'a>>,
    warnings: &'a [String],
    notes: &'a [String],
}

#[derive(Serialize)]
struct Compared<'a> {
    letter: &'a str,
    name: &'a str,
    host: &'a str,
    tool: &'a str,
    started: &'a str,
    procedure: &'a str,
    build: Option<&'a Build>,
}

#[derive(Serialize)]
struct Fact<'a> {
    name: &'a str,
    label: &'a str,
    values: Vec<Valued<'a>>,
}

#[derive(Serialize)]
struct Valued<'a> {
    runs: &'a [String],
    value: &'a str,
}

/// An interval, null where it is unbounded.
#[derive(Serialize)]
pub(in crate::report) struct Interval {
    delta: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

/// One comparison, here and in a run about cost.
#[derive(Serialize)]
pub(in crate::report) struct One<'a> {
    run: &'a str,
    test: &'a str,
    label: &'a str,
    copies: u32,
    load: &'a str,
    pub(in crate::report) condition: &'a str,
    measure: &'static str,
    unit: &'a str,
    a: f64,
    b: f64,
    n: [usize; 2],
    #[serde(flatten)]
    interval: Interval,
    delta_unit: &'static str,
    time_factor: Option<f64>,
    p: f64,
    q: f64,
    method: Method,
    verdict: &'static str,
    verdict_text: String,
    same_within: Option<f64>,
    could_have_seen: Option<f64>,
    pairs: &'a [Pair],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct All<'a> {
    run: &'a str,
    rates: usize,
    #[serde(flatten)]
    interval: Interval,
    worst: &'a str,
    worst_delta: f64,
}

#[derive(Serialize)]
struct Gap<'a> {
    run: &'a str,
    measure: Option<&'static str>,
    #[serde(flatten)]
    cell: &'a Place,
    reason: &'a str,
}

/// Returns the interval of a difference.
pub(in crate::report) fn interval(delta: &Estimate) -> Interval {
    let finite = |end: f64| end.is_finite().then_some(end);
    Interval { delta: finite(delta.value), low: finite(delta.low), high: finite(delta.high) }
}

fn run(compared: &crate::analysis::Compared) -> Compared<'_> {
    let Run { name, host, tool, started, procedure, .. } = &compared.results.run;
    Compared { letter: &compared.letter, name, host, tool, started, procedure, build: compared.results.build.as_ref() }
}

fn difference(fact: &Difference) -> Fact<'_> {
    let values = fact.values.iter().map(|(runs, value)| Valued { runs, value }).collect();
    Fact { name: &fact.name, label: &fact.label, values }
}

/// Returns a comparison's row.
pub(in crate::report) fn one(comparison: &Comparison) -> One<'_> {
    let (same_within, could_have_seen) = match comparison.verdict {
        Verdict::Same(within) => (Some(within), None),
        Verdict::Undecided(could) => (None, Some(could).filter(|could| could.is_finite())),
        _ => (None, None),
    };
    let cell = &comparison.cell;
    One {
        run: &comparison.run,
        test: &cell.test,
        label: &cell.label,
        copies: cell.copies,
        load: &cell.load,
        condition: &cell.condition,
        measure: comparison.measure.name(),
        unit: &comparison.unit,
        a: comparison.a,
        b: comparison.b,
        n: [comparison.n.0, comparison.n.1],
        interval: interval(&comparison.delta),
        delta_unit: comparison.measure.delta_unit(),
        time_factor: comparison.time_factor().filter(|factor| factor.is_finite()),
        p: comparison.p,
        q: comparison.q,
        method: comparison.method,
        verdict: comparison.verdict.word(),
        verdict_text: verdict(comparison),
        same_within,
        could_have_seen,
        pairs: &comparison.pairs,
        warnings: &comparison.warnings,
    }
}

fn total(total: &Total) -> All<'_> {
    All {
        run: &total.run,
        rates: total.rates,
        interval: interval(&total.delta),
        worst: &total.worst.0,
        worst_delta: total.worst.1,
    }
}

fn gap(gap: &NotCompared) -> Gap<'_> {
    Gap { run: &gap.run, measure: gap.measure.map(|measure| measure.name()), cell: &gap.cell, reason: &gap.reason }
}

/// Returns the report.
///
/// # Errors
/// A value cannot be encoded: a defect.
pub(super) fn render(all: &Comparisons) -> Result<String> {
    let report = Report {
        format: FORMAT,
        paired: all.paired,
        threshold: all.threshold,
        false_discovery_rate: RATE,
        runs: all.runs.iter().map(run).collect(),
        differences: all.differences.iter().map(difference).collect(),
        comparisons: all.comparisons.iter().map(one).collect(),
        totals: all.totals.iter().map(total).collect(),
        missing: all.missing.iter().map(gap).collect(),
        warnings: &all.warnings,
        notes: &all.notes,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
