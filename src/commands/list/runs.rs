//! The runs of the results directory.

use anyhow::Result;
use serde_json::{Value, json};

use super::Row;
use journal::{Ended, FILE, Listed, Run, Store};

/// Every run: when it began, how it measured, how it ended, its comment and its command line.
pub(super) fn rows(store: &Store) -> Result<Vec<Row>> {
    Ok(store.list()?.iter().map(row).collect())
}

fn row(listed: &Listed) -> Row {
    let (about, value) = match &listed.run {
        Some(run) => (about_run(run, listed), run_value(run, listed)),
        None => (why_unreadable(listed), json!({"name": listed.name})),
    };
    let doc = format!(
        "{}: run.jsonl is the journal, run.json its summary, report.html a page with charts, and \
         report.txt, .md, .csv and .json the same as text",
        listed.path.display()
    );
    Row { id: listed.name.clone(), about, doc, value, ..Row::default() }
}

/// Columns, and then a line with the comment and the command line.
fn about_run(run: &Run, listed: &Listed) -> String {
    let started = run.started.get(..16).unwrap_or("no date").replace('T', " ");
    let measured = if listed.has_trials() { "" } else { ", measured nothing" };
    let end = end_of_run(listed);
    let columns = format!("{started:<16}  {:<9} {end}{measured}", run.procedure);

    let mut words =
        if run.arguments.is_empty() { run.tool.clone() } else { run.arguments.join(" ") };
    if !run.comment.is_empty() {
        words = format!("\"{}\" {words}", run.comment);
    }
    format!("{columns}\n{words}")
}

fn run_value(run: &Run, listed: &Listed) -> Value {
    json!({
        "name": listed.name,
        "path": listed.path.to_string_lossy(),
        "host": run.host,
        "started": run.started,
        "procedure": run.procedure.name(),
        "end": end_of_run(listed),
        "measured": listed.has_trials(),
        "comment": run.comment,
        "arguments": run.arguments,
    })
}

/// A run in progress has no end either.
fn end_of_run(listed: &Listed) -> &'static str {
    journal::read_end(&listed.path.join(FILE)).map_or("unfinished", Ended::name)
}

fn why_unreadable(listed: &Listed) -> String {
    match journal::head(&listed.path.join(FILE)) {
        Err(error) => error.to_string(),
        Ok(_) => "cut short before its first line".to_owned(),
    }
}
