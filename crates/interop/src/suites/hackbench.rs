//! hackbench's text: how long its groups took. Each repetition is a trial of one run, until other
//! words above one begin another run (`note_starts_at_captions`).
//!
//! ```text
//! Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)
//! Each sender will pass 100 messages of 100 bytes
//! Time: 1.234
//! ```

use super::{Draft, Heading, Journal, Result, Starts, Text};
use crate::figure::{self, check_measurable};
use crate::parts;
use anyhow::Error;
use words::Grouped;

const TIME: &str = "Time:";

const MESSAGES: &str = "Each sender will pass ";

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_head)
}

pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    let is_own = |line: &str| line.starts_with(TIME) || line.starts_with(MESSAGES);
    parts::note_starts_at_captions(text, starts, is_head, is_own);
}

/// True for the first line of a run. That of old versions is `Running with 10*40 (== 400) tasks.`
fn is_head(line: &str) -> bool {
    line.starts_with("Running") && line.contains("(== ") && line.contains("tasks")
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "hackbench".clone_into(&mut draft.run.tool);
    let mut runs: Vec<(String, f64)> = Vec::new();
    // The first line of a run that has no time yet.
    let mut head: Option<(usize, &str)> = None;
    let mut messages = "";
    for (number, line) in source.lines() {
        if is_head(line) {
            messages = "";
            if let Some(earlier) = head.replace((number, line)) {
                return Err(missing_time_error(source, earlier));
            }
        } else if let Some(passed) = line.strip_prefix(MESSAGES) {
            messages = passed;
        } else if let Some(time) = line.strip_prefix(TIME) {
            let Some(seconds) = figure::parse_number(time.trim()) else {
                return Err(source.damaged_line_error(number, line, "time"));
            };
            let Some((_, head)) = head.take() else {
                let wanted = "line before it of what was run";
                return Err(source.damaged_line_error(number, line, wanted));
            };
            let groups = head.trim_start_matches("Running").trim().trim_end_matches('.');
            let label = format!("hackbench: {groups}, {messages}");
            runs.push((label.trim_end_matches(", ").to_owned(), seconds));
            draft.seconds += check_measurable(Ok(seconds)).unwrap_or(0.0).max(0.0);
        }
    }
    if let Some(head) = head {
        return Err(missing_time_error(source, head));
    }

    for (label, times) in runs.into_iter().grouped() {
        draft.add_values(&Heading::time(label, "s"), times);
    }
    Ok(vec![draft.finish()])
}

fn missing_time_error(source: &Text<'_>, (number, head): (usize, &str)) -> Error {
    source.damaged_line_error(number, head, "time after what is run")
}
