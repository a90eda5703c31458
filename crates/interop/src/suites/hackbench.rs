//! hackbench's text: how long its groups took, of several runs each a trial.

use super::{Draft, Heading, Journal, Result, Text, lines};
use words::Grouped;

const TIME: &str = "Time:";

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_head)
}

/// Returns true if a line says what runs: `Running in process mode with 10 groups using 40 file descriptors each (==
/// 400 tasks)`; old versions say `Running with 10*40 (== 400) tasks.`
fn is_head(line: &str) -> bool {
    line.starts_with("Running") && line.contains("(== ") && line.contains("tasks")
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "hackbench".clone_into(&mut draft.run.tool);
    let mut runs: Vec<(String, f64)> = Vec::new();
    let mut head: Option<(usize, &str)> = None;
    let mut messages = "";
    let pending = |(number, line): (usize, &str)| source.damaged(number, line, "time after what is run");
    for (number, line) in source.lines() {
        if is_head(line) {
            if let Some(open) = head.replace((number, line)) {
                return Err(pending(open));
            }
        } else if let Some(rest) = line.strip_prefix("Each sender will pass ") {
            messages = rest;
        } else if let Some(time) = line.strip_prefix(TIME) {
            let Some(seconds) = lines::number(time.trim()) else { return Err(source.damaged(number, line, "time")) };
            let Some((_, what)) = head.take() else {
                return Err(source.damaged(number, line, "line before it of what was run"));
            };
            let label =
                format!("hackbench: {}, {messages}", what.trim_start_matches("Running").trim().trim_end_matches('.'));
            let label = label.trim_end_matches(", ").to_owned();
            draft.seconds += seconds;
            runs.push((label, seconds));
        }
    }
    if let Some(open) = head {
        return Err(pending(open));
    }
    for (label, times) in runs.into_iter().grouped() {
        draft.figure(&Heading::time(label, "s"), times);
    }
    Ok(vec![draft.finish()])
}
