//! A plan in words, for `--dry-run`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Cell, Kind, Plan};
use catalogue::Copies;
use words::{WIDTH, Wrapped, clock};

/// The plan as text: tests and windows, conditions, the order of the first block, the expected
/// duration.
pub fn show(plan: &Plan) -> String {
    let mut text = Wrapped::new(WIDTH);
    text.line(&format!("{} procedure, seed {}", procedure(plan), plan.seed));
    text.line("");

    let cells = distinct_cells(plan);
    let id_width = cells.iter().map(|cell| cell.test.id.len()).max().unwrap_or(0).max(18);
    let trials = if plan.arms.conditions().count() > 1 { "each" } else { "trials" };
    text.line(&format!("{:<id_width$} copies  {:<8} {trials:>6}  window", "test", "load"));
    for cell in cells {
        text.line(&format_row(cell, plan.affordable_blocks(), id_width));
    }

    let single_copy = plan.cells.iter().filter(|cell| cell.test.copies == Copies::One);
    let single_copy: BTreeSet<&str> = single_copy.map(|cell| cell.test.id.as_str()).collect();
    if !single_copy.is_empty() {
        text.line("");
        text.wrap("never more than one copy: ", &Vec::from_iter(single_copy).join(", "));
    }

    add_conditions(plan, &mut text);

    if plan.procedure.effort.kind != Kind::Classic
        && let Some(first) = plan.rounds().next()
    {
        text.line("");
        let mut order: Vec<String> =
            first.cells.iter().map(|number| describe_family(&plan.cells[*number])).collect();
        order.dedup();
        text.wrap("first block: ", &order.join(", "));
    }

    if plan.cells.iter().any(|cell| cell.test.counting.is_some()) {
        text.line("");
        text.line("afterwards, nine to twelve more executions of each command count what it does");
    }

    if plan.is_sampled() {
        text.line("");
        text.line(
            "then the commands are sampled in more executions, until --budget ends (without one, for 30 s)",
        );
    }

    let (min, max) = plan.duration();
    text.line("");
    if clock(min) == clock(max) {
        text.line(&format!("expected duration: {}", clock(max)));
    } else {
        text.line(&format!("expected duration: {} to {}", clock(min), clock(max)));
    }
    text.text
}

/// The plan as JSON. Times are in seconds.
pub fn to_json(plan: &Plan) -> Value {
    let cell = |cell: &Cell| {
        json!({
            "test": cell.test.id,
            "copies": cell.copies,
            "load": cell.load_name(),
            "condition": cell.condition.name,
            "control": cell.control,
            "least_trials": cell.min_trials,
            "most_trials": cell.max_trials,
            "slices": cell.window.slices,
            "slice": cell.window.slice.as_secs_f64(),
            "arguments": cell.args,
            "load_arguments": cell.load_args,
        })
    };
    let (min, max) = plan.duration();
    json!({
        "procedure": procedure(plan),
        "seed": plan.seed,
        "cells": plan.cells.iter().map(cell).collect::<Vec<Value>>(),
        "blocks_in_budget": plan.affordable_blocks(),
        "least_seconds": min.as_secs_f64(),
        "most_seconds": max.as_secs_f64(),
    })
}

fn procedure(plan: &Plan) -> &'static str {
    journal::Procedure::from(plan.procedure.effort.kind).name()
}

/// The cells, but only one of those that differ by condition only.
fn distinct_cells(plan: &Plan) -> Vec<&Cell> {
    let mut distinct: Vec<&Cell> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| !cell.control) {
        let is_same = |other: &&Cell| {
            (&other.test.id, other.copies, other.load_name())
                == (&cell.test.id, cell.copies, cell.load_name())
                && join_arguments(other) == join_arguments(cell)
        };
        if !distinct.iter().any(is_same) {
            distinct.push(cell);
        }
    }
    distinct
}

fn format_row(cell: &Cell, affordable_blocks: Option<u32>, id_width: usize) -> String {
    let trials = match (cell.max_trials, affordable_blocks) {
        (_, Some(blocks)) if blocks < cell.min_trials => format!("~{blocks}"),
        (most, _) if most == cell.min_trials => most.to_string(),
        (most, _) if most > 1000 => format!("{}+", cell.min_trials),
        (most, _) => format!("{}-{most}", cell.min_trials),
    };
    format!(
        "{:<id_width$} {:>6}  {:<8} {trials:>6}  {} x {} ms  {}",
        cell.test.id,
        cell.copies,
        cell.load_name(),
        cell.window.slices,
        cell.window.slice.as_millis(),
        join_arguments(cell),
    )
}

/// Adds the conditions, and marks the reference.
fn add_conditions(plan: &Plan, text: &mut Wrapped) {
    let conditions: Vec<_> = plan.arms.conditions().collect();
    if conditions.iter().all(|condition| condition.parts.is_empty()) {
        return;
    }

    text.line("");
    text.line(if conditions.len() > 1 {
        "each under every condition, one after the other:"
    } else {
        "under this condition:"
    });
    for condition in conditions {
        let is_reference =
            plan.arms.reference.as_ref().is_some_and(|reference| reference.name == condition.name);
        let role =
            if is_reference { " (compared with; in some blocks twice, as a control)" } else { "" };
        let settings = condition.describe_settings();
        text.wrap(&format!("  {}  ", condition.name), &format!("{settings}{role}"));
    }
}

/// The name of a family, within which conditions are compared: a test, with its copies if there are
/// several, and its load if it has one.
fn describe_family(cell: &Cell) -> String {
    let copies = if cell.copies > 1 { format!(" x{}", cell.copies) } else { String::new() };
    let load =
        if cell.load.is_some() { format!(" with {}", cell.load_name()) } else { String::new() };
    format!("{}{copies}{load}", cell.test.id)
}

/// The arguments of the program, and of its load.
fn join_arguments(cell: &Cell) -> String {
    let mut words = cell.args.clone();
    words.extend(cell.pinned(0, cell.copies));
    if !cell.load_args.is_empty() {
        words.push("beside".to_owned());
        words.extend(cell.load_args.iter().cloned());
    }
    words.join(" ")
}
