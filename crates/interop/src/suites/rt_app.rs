//! rt-app's logs, one a thread: how long each activation ran and how late it woke, in us.
//!
//! ```text
//! # Policy : SCHED_OTHER priority : 0
//! #idx   perf    run  period  start  end  rel_st  slack  c_duration  c_period  wu_lat
//!    0  22222   5034  100032  …
//! ```

use super::{Draft, Heading, Journal, Result, Starts, Text};
use stats::{mean, quantile};

/// The columns that become figures.
const COLUMNS: [&str; 3] = ["run", "period", "wu_lat"];

/// The column of the time left before the next activation; below 0 a deadline was missed.
const SLACK: &str = "slack";

/// Minimum activations for a p99, so that ten are beyond it.
const MIN_P99_ACTIVATIONS: usize = 1000;

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    let names: Vec<&str> = column_names(line).collect();
    names.first() == Some(&"idx") && names.contains(&"perf") && names.contains(&SLACK)
}

fn column_names(line: &str) -> impl Iterator<Item = &str> {
    line.trim_start_matches('#').split_whitespace()
}

fn is_comment_or_blank(line: &str) -> bool {
    line.starts_with('#') || line.trim().is_empty()
}

/// Notes where the logs of threads begin.
pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if line.starts_with("# Policy") {
            starts.may_begin(number);
        } else if is_head(line) {
            starts.note_mark_or_begin(number, "head".to_owned());
        }
    }
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "rt-app".clone_into(&mut draft.run.tool);
    let Some((head_number, head)) = source.lines().find(|(_, line)| is_head(line)) else {
        return Err(source.truncated_error("its columns"));
    };
    let names: Vec<&str> = column_names(head).collect();
    for (number, line) in source.lines().take_while(|(number, _)| *number < head_number) {
        if !is_comment_or_blank(line) {
            draft.skip_line(number, line);
        }
    }

    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (number, line) in source.lines().skip_while(|(number, _)| *number <= head_number) {
        if is_comment_or_blank(line) {
            continue;
        }
        let fields: Option<Vec<f64>> =
            line.split_whitespace().map(|field| field.parse().ok()).collect();
        let fields = fields.filter(|fields| fields.len() == names.len()).ok_or_else(|| {
            let wanted = "number for each column, as rt-app's logs have";
            source.damaged_line_error(number, line, wanted)
        })?;
        if fields.iter().all(|field| field.is_finite()) {
            rows.push(fields);
        } else {
            draft.skip_line(number, line);
        }
    }

    for name in COLUMNS {
        let mut values = column(name, &names, &rows);
        values.sort_by(f64::total_cmp);
        let average = (!values.is_empty()).then(|| mean(values.iter().copied()));
        draft.add_values(&Heading::time(format!("{name} mean"), "us"), average);
        let has_tail = values.len() >= MIN_P99_ACTIVATIONS;
        let p99 = has_tail.then(|| quantile(&values, 0.99));
        draft.add_values(&Heading::time(format!("{name} p99"), "us"), p99);
    }
    let slack = column(SLACK, &names, &rows);
    let missed = slack.iter().filter(|slack| **slack < 0.0).count();
    let share = format!("{missed} of {}", slack.len());
    draft.add_fact("imported.missed", "Deadlines missed", "Imported", &share);
    Ok(vec![draft.finish()])
}

/// The values of a column; none if the log has no such column.
fn column(name: &str, names: &[&str], rows: &[Vec<f64>]) -> Vec<f64> {
    match names.iter().position(|other| *other == name) {
        Some(place) => rows.iter().map(|row| row[place]).collect(),
        None => Vec::new(),
    }
}
