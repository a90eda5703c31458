//! The JSON report: docs/format.md names its keys. A bound that does not exist is null.

mod burnin;
mod cost;

use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;

use analysis::{
    self, Attribution, FrameRates, Index, Latency, Limit, Load, Missing, Results, Row, Sample, TrialFigures,
};
use burnin::BurnIn;
use catalogue::{Arithmetic, Metric};
use journal::{Fact, Frame, Latency as Kind, Run};
use stats::{Estimate, Histogram, UslFit};

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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scaling: Vec<Scaling<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    burnin: Option<BurnIn<'a>>,
    #[serde(flatten)]
    cost: Option<cost::Part<'a>>,
    skipped: &'a [Missing],
    errors: &'a [Missing],
    warnings: Vec<String>,
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
    #[serde(flatten)]
    score: Estimate,
    n: usize,
    seconds: f64,
    warnings: Vec<String>,
    samples: &'a [Sample],
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<Background<'a>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    latency: Option<Frames<'a>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
}

/// What the program told beside the score.
#[derive(Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Times<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undisturbed: Option<Undisturbed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'a Limit>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<&'a str, Told<'a>>,
}

/// Times of single operations in ns.
#[derive(Serialize)]
struct Times<'a> {
    count: u64,
    mean: f64,
    min: Estimate,
    max: f64,
    #[serde(flatten)]
    quantiles: BTreeMap<&'a str, Estimate>,
    histogram: &'a Histogram,
}

/// The least time of short pieces of work.
#[derive(Serialize)]
struct Undisturbed {
    ns: Estimate,
    clock: Estimate,
    cycles: Estimate,
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    number: Estimate,
    unit: &'a str,
}

/// What the load did.
#[derive(Serialize)]
struct Background<'a> {
    label: &'a str,
    throughput: f64,
    unit: &'a str,
    achieved: f64,
    #[serde(flatten)]
    interval: Interval,
}

/// The latency of an interactive test: times in ms, shares in per cent.
#[derive(Serialize)]
struct Frames<'a> {
    latency: Kind,
    value_is: &'a str,
    frames: u64,
    planned: u64,
    mean: f64,
    deviation: Option<f64>,
    min: f64,
    max: f64,
    percentiles: Percentiles<'a>,
    corrected: Percentiles<'a>,
    response: Percentiles<'a>,
    jitter: Percentiles<'a>,
    deadlines_met: Option<f64>,
    deadlines_met_interval: Option<Interval>,
    cpu_received: Option<f64>,
    cpu_received_interval: Option<Interval>,
    late: f64,
    dropped: f64,
    stall: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames_per_second: Option<FrameRates>,
    over_time: &'a [(f64, f64)],
    worst: &'a [Frame],
    attribution: Attribution,
    trials: &'a [TrialFigures],
    histogram: &'a Histogram,
}

type Percentiles<'a> = BTreeMap<&'a str, f64>;

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

/// One test at several numbers of copies, and its law.
#[derive(Serialize)]
struct Scaling<'a> {
    test: &'a str,
    label: &'a str,
    load: &'a str,
    condition: &'a str,
    metric: Metric,
    unit: &'a str,
    total_unit: &'a str,
    clock: analysis::Clock,
    fitted: usize,
    levels: Vec<Level>,
    law: Option<Law>,
    notes: &'a [String],
}

/// One level of it: efficiency and fairness are shares, the clock is in GHz.
#[derive(Serialize)]
struct Level {
    copies: u32,
    per_copy: Estimate,
    total: Estimate,
    gain: Estimate,
    step: Option<Estimate>,
    efficiency: Estimate,
    clock: Option<f64>,
    normalised: Option<Estimate>,
    normalised_gain: Option<f64>,
    fairness: Option<f64>,
    n: usize,
}

/// The Universal Scalability Law.
#[derive(Serialize)]
struct Law {
    lambda: f64,
    sigma: Estimate,
    kappa: Option<Estimate>,
    peak: Option<Estimate>,
    r2: Option<f64>,
    worst: Miss,
}

/// The level that a law misses most.
#[derive(Serialize)]
struct Miss {
    copies: f64,
    share: f64,
}

fn scaling(test: &analysis::Scaling) -> Scaling<'_> {
    let first = test.levels.first().and_then(|level| level.normalised);
    let level = |level: &analysis::Level| Level {
        copies: level.copies,
        per_copy: level.per_copy,
        total: level.total,
        gain: level.gain,
        step: level.step,
        efficiency: level.efficiency,
        clock: level.clock,
        normalised: level.normalised,
        normalised_gain: level.normalised.zip(first).map(|(level, first)| level.value / first.value),
        fairness: level.fairness,
        n: level.n,
    };
    let law = |law: &UslFit| Law {
        lambda: law.law.lambda,
        sigma: law.sigma,
        kappa: law.kappa,
        peak: law.peak,
        r2: Some(law.r2).filter(|r2| r2.is_finite()),
        worst: Miss { copies: law.worst.0, share: law.worst.1 },
    };
    Scaling {
        test: &test.key.test,
        label: &test.label,
        load: &test.key.load,
        condition: &test.key.condition,
        metric: test.metric,
        unit: &test.unit,
        total_unit: &test.total_unit,
        clock: test.clock,
        fitted: test.fitted,
        levels: test.levels.iter().map(level).collect(),
        law: test.law.as_ref().map(law),
        notes: &test.notes,
    }
}

fn interval(estimate: &Estimate) -> Interval {
    let finite = |end: f64| end.is_finite().then_some(end);
    Interval { low: finite(estimate.low), high: finite(estimate.high) }
}

fn result(row: &Row) -> Score<'_> {
    Score {
        test: &row.cell.key.test,
        label: &row.cell.label,
        copies: row.cell.key.copies,
        load: &row.cell.key.load,
        condition: &row.cell.key.condition,
        metric: row.cell.metric,
        unit: &row.cell.unit,
        score: row.score,
        n: row.n,
        seconds: row.seconds,
        warnings: crate::texts(&row.warnings),
        samples: &row.samples,
        background: row.load.as_ref().map(background),
        latency: row.latency.as_deref().map(frames),
        details: row.details.as_deref().map(details),
    }
}

fn times(times: &analysis::Times) -> Times<'_> {
    Times {
        count: times.histogram.count(),
        mean: times.histogram.mean(),
        min: times.least,
        max: times.histogram.max(),
        quantiles: times.quantiles.iter().map(|(name, value)| (*name, *value)).collect(),
        histogram: &times.histogram,
    }
}

fn told(value: &analysis::Value) -> Told<'_> {
    Told { number: value.value, unit: &value.unit }
}

fn details(details: &analysis::Details) -> Details<'_> {
    let undisturbed = |best: &analysis::Best| Undisturbed { ns: best.ns, clock: best.clock, cycles: best.cycles };
    Details {
        times: details.times.as_ref().map(times),
        undisturbed: details.best.as_ref().map(undisturbed),
        limit: details.limit.as_ref(),
        values: details.values.iter().map(|value| (value.name.as_str(), told(value))).collect(),
    }
}

fn background(load: &Load) -> Background<'_> {
    let Load { label, throughput, unit, achieved, interval: ends } = load;
    Background { label, throughput: *throughput, unit, achieved: *achieved, interval: interval(ends) }
}

fn frames(latency: &Latency) -> Frames<'_> {
    let percentiles = |histogram| latency.percentiles(histogram).collect();
    let histogram = &latency.histogram;
    const MS: f64 = 1e6;
    Frames {
        latency: latency.kind,
        value_is: latency.value,
        frames: histogram.count(),
        planned: latency.planned,
        mean: histogram.mean() / MS,
        deviation: Some(histogram.deviation() / MS).filter(|deviation| deviation.is_finite()),
        min: histogram.min() / MS,
        max: histogram.max() / MS,
        percentiles: percentiles(histogram),
        corrected: percentiles(&latency.corrected),
        response: percentiles(&latency.response),
        jitter: percentiles(&latency.jitter),
        deadlines_met: latency.deadlines_met.map(|met| met.value),
        deadlines_met_interval: latency.deadlines_met.as_ref().map(interval),
        cpu_received: latency.cpu_received.map(|received| received.value),
        cpu_received_interval: latency.cpu_received.as_ref().map(interval),
        late: latency.late,
        dropped: latency.dropped,
        stall: latency.stall,
        frames_per_second: latency.rates,
        over_time: &latency.seconds,
        worst: &latency.worst,
        attribution: latency.attribution,
        trials: &latency.trials,
        histogram,
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

fn gain(gain: &analysis::Gain) -> Gain<'_> {
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
        end: results.end.map(journal::Ended::name),
        facts: results.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect(),
        fact_table: &results.facts,
        results: results.rows.iter().map(result).collect(),
        index: results.indexes().iter().map(index).collect(),
        gains: results.gains().iter().map(gain).collect(),
        scaling: results.scaling().iter().map(scaling).collect(),
        burnin: results.burnin().map(burnin::burnin),
        cost: results.cost().map(cost::part),
        skipped: &results.skipped,
        errors: &results.errors,
        warnings: crate::texts(&results.warnings),
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
