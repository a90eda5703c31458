//! A plan in words, for `--dry-run`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Cell, Kind, Plan};
use catalogue::Copies;
use words::{WIDTH, Wrapped, clock};

/// Returns the plan as text: tests and windows, what is switched, the order of the first block, the expected duration.
pub fn show(plan: &Plan) -> String {
    let mut text = Wrapped::new(WIDTH);
    text.line(&format!("{} procedure, seed {}", procedure(plan), plan.seed));
    text.line("");
    let rows = rows(plan);
    let wide = rows.iter().map(|cell| cell.test.id.len()).max().unwrap_or(0).max(18);
    let of = if plan.arms.conditions().count() > 1 { "each" } else { "trials" };
    text.line(&format!("{:<wide$} copies  {:<8} {of:>6}  window", "test", "load"));
    for cell in rows {
        text.line(&row(cell, plan.affordable(), wide));
    }
    let one = plan.cells.iter().filter(|cell| cell.test.copies == Copies::One);
    let one: BTreeSet<&str> = one.map(|cell| cell.test.id.as_str()).collect();
    if !one.is_empty() {
        text.line("");
        text.wrap("never more than one copy: ", &Vec::from_iter(one).join(", "));
    }
    conditions(plan, &mut text);
    if plan.procedure.effort.kind != Kind::Classic
        && let Some(first) = plan.rounds().next()
    {
        text.line("");
        let mut order: Vec<String> = first.cells.iter().map(|number| family(&plan.cells[*number])).collect();
        order.dedup();
        text.wrap("first block: ", &order.join(", "));
    }
    if plan.cells.iter().any(|cell| cell.test.counting.is_some()) {
        text.line("");
        text.line("afterwards what commands do is counted, in six more executions of each");
    }
    let (least, most) = plan.duration();
    text.line("");
    if clock(least) == clock(most) {
        text.line(&format!("expected duration: {}", clock(most)));
    } else {
        text.line(&format!("expected duration: {} to {}", clock(least), clock(most)));
    }
    text.text
}

/// Returns the same for programs: times are in seconds.
pub fn to_json(plan: &Plan) -> Value {
    let cell = |cell: &Cell| {
        json!({
            "test": cell.test.id,
            "copies": cell.copies,
            "load": cell.load_name(),
            "condition": cell.condition.name,
            "control": cell.control,
            "least_trials": cell.least,
            "most_trials": cell.most,
            "slices": cell.window.slices,
            "slice": cell.window.slice.as_secs_f64(),
            "arguments": cell.args,
            "load_arguments": cell.load_args,
        })
    };
    let (least, most) = plan.duration();
    json!({
        "procedure": procedure(plan),
        "seed": plan.seed,
        "cells": plan.cells.iter().map(cell).collect::<Vec<Value>>(),
        "blocks_in_budget": plan.affordable(),
        "least_seconds": least.as_secs_f64(),
        "most_seconds": most.as_secs_f64(),
    })
}

fn procedure(plan: &Plan) -> &'static str {
    journal::Procedure::from(plan.procedure.effort.kind).name()
}

/// The cells, where those that differ only in their condition are one.
fn rows(plan: &Plan) -> Vec<&Cell> {
    let mut rows: Vec<&Cell> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| !cell.control) {
        let is_same = |other: &&Cell| {
            (&other.test.id, other.copies, other.load_name()) == (&cell.test.id, cell.copies, cell.load_name())
                && arguments(other) == arguments(cell)
        };
        if !rows.iter().any(is_same) {
            rows.push(cell);
        }
    }
    rows
}

fn row(cell: &Cell, affordable: Option<u32>, wide: usize) -> String {
    let trials = match (cell.most, affordable) {
        (_, Some(blocks)) if blocks < cell.least => format!("~{blocks}"),
        (most, _) if most == cell.least => most.to_string(),
        (most, _) if most > 1000 => format!("{}+", cell.least),
        (most, _) => format!("{}-{most}", cell.least),
    };
    format!(
        "{:<wide$} {:>6}  {:<8} {trials:>6}  {} x {} ms  {}",
        cell.test.id,
        cell.copies,
        cell.load_name(),
        cell.window.slices,
        cell.window.slice.as_millis(),
        arguments(cell),
    )
}

/// Adds the conditions, and the one they are compared with.
fn conditions(plan: &Plan, text: &mut Wrapped) {
    let all: Vec<_> = plan.arms.conditions().collect();
    if all.iter().all(|condition| condition.parts.is_empty()) {
        return;
    }
    text.line("");
    text.line(if all.len() > 1 { "each under every condition, one after the other:" } else { "under this condition:" });
    for condition in all {
        let is_reference = plan.arms.reference.as_ref().is_some_and(|one| one.name == condition.name);
        let role = if is_reference { " (compared with; in some blocks twice, as a control)" } else { "" };
        text.wrap(&format!("  {}  ", condition.name), &format!("{}{role}", condition.switched()));
    }
}

/// Returns the name of a family, within which conditions are compared: a test, and how many copies and which load where
/// that is not one without.
fn family(cell: &Cell) -> String {
    let copies = if cell.copies > 1 { format!(" x{}", cell.copies) } else { String::new() };
    let load = if cell.load.is_some() { format!(" with {}", cell.load_name()) } else { String::new() };
    format!("{}{copies}{load}", cell.test.id)
}

/// The arguments of the program, and of its load.
fn arguments(cell: &Cell) -> String {
    let mut words = cell.args.clone();
    words.extend(cell.pinned(0, cell.copies));
    if !cell.load_args.is_empty() {
        words.push("beside".to_owned());
        words.extend(cell.load_args.iter().cloned());
    }
    words.join(" ")
}
