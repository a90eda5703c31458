//! The JSON form. A bound that does not exist is null.

use anyhow::Result;
use serde::Serialize;

use super::verdict;
use analysis::{
    Comparison, Comparisons, Difference, Gate, NotCompared, Pair, Place, RATE, Second, Suspect, Thesis, Total, Verdict,
};
use journal::{Build, Run};
use stats::{Estimate, Method, Serial};

/// The version of this report's keys.
const FORMAT: &str = "unixmark-comparison/1";

#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    paired: bool,
    /// Whether the runs differ in nothing that any difference may be due to.
    comparable: bool,
    unlike: &'a [&'static str],
    conditions: Option<&'a [String; 2]>,
    threshold: f64,
    false_discovery_rate: f64,
    runs: Vec<Compared<'a>>,
    differences: Vec<Fact<'a>>,
    comparisons: Vec<One<'a>>,
    totals: Vec<All<'a>>,
    missing: Vec<Gap<'a>>,
    serial: Option<&'a Serial>,
    thesis: Option<Thesis>,
    gate: Option<Closed<'a>>,
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
    comment: &'a str,
    condition: Option<&'a str>,
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
pub(crate) struct Interval {
    delta: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

/// One comparison, here and in a run about cost.
#[derive(Serialize)]
pub(crate) struct One<'a> {
    run: &'a str,
    against: &'a str,
    test: &'a str,
    label: &'a str,
    copies: u32,
    load: &'a str,
    condition: &'a str,
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
    resolution: Option<f64>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct All<'a> {
    run: &'a str,
    against: &'static str,
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
    cell: Place,
    lost: bool,
    reason: &'a str,
}

/// What a gate is closed by; `open` where by nothing.
#[derive(Serialize)]
struct Closed<'a> {
    open: bool,
    suspects: Vec<Suspected<'a>>,
    lost: Vec<Gap<'a>>,
}

/// A loss; `confirmed` is null without a second look, or where that cannot tell.
#[derive(Serialize)]
struct Suspected<'a> {
    #[serde(flatten)]
    first: One<'a>,
    confirmed: Option<bool>,
    second: Option<One<'a>>,
}

/// Returns the interval of a difference.
pub(crate) fn interval(delta: &Estimate) -> Interval {
    let finite = |end: f64| end.is_finite().then_some(end);
    Interval { delta: finite(delta.value), low: finite(delta.low), high: finite(delta.high) }
}

fn run(compared: &analysis::Compared) -> Compared<'_> {
    let Run { name, host, tool, started, procedure, comment, .. } = &compared.results.run;
    let (condition, build) = (compared.condition.as_deref(), compared.results.run.build.as_ref());
    Compared {
        letter: &compared.letter,
        name,
        host,
        tool,
        started,
        procedure: procedure.name(),
        comment,
        condition,
        build,
    }
}

fn difference(fact: &Difference) -> Fact<'_> {
    let values = fact.values.iter().map(|(runs, value)| Valued { runs, value }).collect();
    Fact { name: &fact.name, label: &fact.label, values }
}

fn one<'a>(comparison: &'a Comparison, all: &'a Comparisons) -> One<'a> {
    row(comparison, all.against(), all.condition(&comparison.cell.key.condition))
}

/// Returns the row of a comparison with `against`, here and in a run about cost.
pub(crate) fn row<'a>(comparison: &'a Comparison, against: &'a str, condition: &'a str) -> One<'a> {
    let (same_within, could_have_seen) = match comparison.verdict {
        Verdict::Same(within) => (Some(within), None),
        Verdict::Undecided(could) => (None, Some(could).filter(|could| could.is_finite())),
        _ => (None, None),
    };
    let cell = &comparison.cell;
    One {
        run: &comparison.run,
        against,
        test: &cell.key.test,
        label: &cell.label,
        copies: cell.key.copies,
        load: &cell.key.load,
        condition,
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
        resolution: comparison.resolution,
        warnings: crate::texts(&comparison.warnings),
    }
}

fn total<'a>(total: &'a Total, all: &Comparisons) -> All<'a> {
    All {
        run: &total.run,
        against: all.against(),
        rates: total.rates,
        interval: interval(&total.delta),
        worst: &total.worst.0,
        worst_delta: total.worst.1,
    }
}

fn gap<'a>(gap: &'a NotCompared, all: &Comparisons) -> Gap<'a> {
    let condition = all.condition(&gap.cell.key.condition).to_owned();
    let cell = Place { key: gap.cell.key.under(&condition), ..gap.cell.clone() };
    Gap { run: &gap.run, measure: gap.measure.map(|measure| measure.name()), cell, lost: gap.lost, reason: &gap.reason }
}

/// The tables, with the conditions that were asked for.
fn thesis(tables: &Thesis, all: &Comparisons) -> Thesis {
    let mut tables = tables.clone();
    let rows = tables.rows.iter_mut().map(|row| &mut row.cell);
    rows.chain(tables.figure4.iter_mut().map(|bar| &mut bar.cell)).for_each(|cell| {
        cell.key.condition = all.condition(&cell.key.condition).to_owned();
    });
    tables
}

fn closed<'a>(gate: &'a Gate, all: &'a Comparisons) -> Closed<'a> {
    let suspect = |suspect: &'a Suspect| {
        let (confirmed, second) = match &suspect.second {
            Some(Second::Again(second)) => (Some(true), Some(second)),
            Some(Second::Gone(second)) => (Some(false), Some(second)),
            Some(Second::Missing) | None => (None, None),
        };
        Suspected { first: one(&suspect.first, all), confirmed, second: second.map(|second| one(second, all)) }
    };
    Closed {
        open: gate.is_open(),
        suspects: gate.suspects.iter().map(suspect).collect(),
        lost: gate.lost.iter().map(|lost| gap(lost, all)).collect(),
    }
}

/// Returns the report.
///
/// # Errors
/// A value cannot be encoded: a defect.
pub(super) fn render(all: &Comparisons, gate: Option<&Gate>) -> Result<String> {
    let report = Report {
        format: FORMAT,
        paired: all.asked.paired,
        comparable: all.unlike.is_empty(),
        unlike: &all.unlike,
        conditions: all.asked.conditions.as_ref(),
        threshold: all.asked.threshold,
        false_discovery_rate: RATE,
        runs: all.runs.iter().map(run).collect(),
        differences: all.differences.iter().map(difference).collect(),
        comparisons: all.comparisons.iter().map(|comparison| one(comparison, all)).collect(),
        totals: all.totals.iter().map(|one| total(one, all)).collect(),
        missing: all.missing.iter().map(|missing| gap(missing, all)).collect(),
        serial: all.serial.as_ref(),
        thesis: all.thesis.as_ref().map(|tables| thesis(tables, all)),
        gate: gate.map(|gate| closed(gate, all)),
        warnings: &all.warnings,
        notes: &all.notes,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
