//! What conditions cost, in JSON: rows as a comparison of runs has them, with the trail beside.

use serde::Serialize;

use crate::compare::json::{self, Interval, One, interval};
use analysis::{Condition, Cost, CostTotal, Effect, Missing, TrailFigures};

/// What a report has besides.
#[derive(Serialize)]
pub(super) struct Part<'a> {
    comparisons: Vec<Row<'a>>,
    controls: Vec<Row<'a>>,
    cost: About<'a>,
}

/// A comparison within the blocks of one run.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    comparison: One<'a>,
    floor: Option<f64>,
    confirmed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ns: Option<(f64, f64)>,
    #[serde(flatten)]
    trail: Option<TrailFigures>,
}

#[derive(Serialize)]
struct About<'a> {
    against: &'a str,
    threshold: f64,
    conditions: Vec<Named<'a>>,
    missing: &'a [Missing],
    notes: &'a [String],
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    sentence: &'a str,
    evidence: &'a [String],
    totals: Vec<Total<'a>>,
}

#[derive(Serialize)]
struct Total<'a> {
    id: &'a str,
    name: &'a str,
    copies: u32,
    load: &'a str,
    rates: usize,
    #[serde(flatten)]
    interval: Interval,
    worst: &'a str,
    worst_delta: f64,
}

/// Returns the part of a run about cost.
pub(super) fn part(cost: &Cost) -> Part<'_> {
    let pairs =
        cost.conditions.iter().flat_map(|condition| condition.effects.iter().map(move |effect| (condition, effect)));
    Part {
        comparisons: pairs.map(|(condition, effect)| row(effect, &cost.against, &condition.name)).collect(),
        controls: cost.floor.iter().map(|effect| row(effect, &cost.against, &cost.against)).collect(),
        cost: About {
            against: &cost.against,
            threshold: cost.threshold,
            conditions: cost.conditions.iter().map(condition).collect(),
            missing: &cost.missing,
            notes: &cost.notes,
        },
    }
}

fn row<'a>(effect: &'a Effect, against: &'a str, condition: &'a str) -> Row<'a> {
    Row {
        comparison: json::row(&effect.comparison, against, condition),
        floor: effect.floor.filter(|floor| floor.is_finite()),
        confirmed: effect.confirmed,
        calls: effect.calls,
        cpu_ns: effect.cpu_ns,
        trail: effect.trail,
    }
}

fn condition(condition: &Condition) -> Named<'_> {
    let Condition { name, sentence, evidence, totals, .. } = condition;
    Named { name, sentence, evidence, totals: totals.iter().map(total).collect() }
}

fn total(total: &CostTotal) -> Total<'_> {
    let CostTotal { id, name, copies, load, rates, delta, worst } = total;
    let (copies, rates) = (*copies, *rates);
    Total { id, name, copies, load, rates, interval: interval(delta), worst: &worst.0, worst_delta: worst.1 }
}
