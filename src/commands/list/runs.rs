//! The runs of the results directory.

use anyhow::Result;
use serde_json::json;

use super::Row;
use journal::{Ended, FILE, Listed, Store};

/// Returns every run: when it began, how it measured, how it ended, its comment and its command line.
pub(super) fn rows(store: &Store) -> Result<Vec<Row>> {
    Ok(store.list()?.iter().map(row).collect())
}

fn row(listed: &Listed) -> Row {
    let id = listed.name.clone();
    let doc = format!(
        "{}: run.jsonl is the journal, run.json its summary, report.html a page with charts, and report.txt, .md, .csv and .json \
         the same as text",
        listed.path.display()
    );
    let row = |about: String, value| Row { id: id.clone(), about, doc: doc.clone(), value, ..Row::default() };
    let Some(run) = &listed.run else {
        let why = journal::head(&listed.path.join(FILE)).err();
        let why = why.map_or_else(|| "cut short before its first line".to_owned(), |error| error.to_string());
        return row(why, json!({"name": listed.name}));
    };
    // A run in progress has no end either.
    let ended = journal::last_line(&listed.path.join(FILE)).map_or("unfinished", Ended::name);
    let measured = listed.has_trials();
    let started = run.started.get(..16).unwrap_or("no date").replace('T', " ");
    let words = if run.arguments.is_empty() { run.tool.clone() } else { run.arguments.join(" ") };
    let end = if measured { ended.to_owned() } else { format!("{ended}, measured nothing") };
    let comment = if run.comment.is_empty() { String::new() } else { format!("\"{}\" ", run.comment) };
    row(
        format!("{started:<16}  {:<9} {end}\n{comment}{words}", run.procedure),
        json!({
            "name": listed.name, "path": listed.path, "host": run.host, "started": run.started,
            "procedure": run.procedure.name(), "end": ended, "measured": measured, "comment": run.comment, "arguments": run.arguments,
        }),
    )
}
