//! UnixBench's `.log`: what every copy did in every pass.

use std::fmt::Write;

use analysis::{Reported, Results, reported};
use journal::{Cell, Journal, Trial};

/// Returns the log of a run. What programs print beside their counts is not in it.
pub fn log(journal: &Journal, results: &Results) -> String {
    let mut text = String::new();
    for cell in &journal.cells {
        let trials: Vec<&Trial> = journal.trials.iter().filter(|trial| trial.cell == cell.id).collect();
        if !trials.is_empty() {
            add_cell(&mut text, cell, &trials, results);
        }
    }
    text
}

/// Returns what a pass adds to the log when it ends; the first of its test has the test's heading before it.
pub fn passed(cell: &Cell, trial: &Trial, is_first: bool) -> String {
    let mut text = String::new();
    if is_first {
        let _ = writeln!(text, "\n{}\n{} -- {}", "#".repeat(56), cell.label, words::copies(cell.key.copies));
        let _ = writeln!(text, "==> \"{}\"\n", cell.key.test);
    }
    let _ = writeln!(text, "#### Pass {}\n", trial.block + 1);
    for reason in trial.error.iter().chain(&trial.skip) {
        let _ = writeln!(text, "\n# ERROR: {reason}");
    }
    for copy in &trial.copies {
        let Reported { count, timebase, seconds } = reported(cell, copy);
        let _ = writeln!(text, "\n# COUNT0: {count}\n# COUNT1: {timebase}\n# COUNT2: {}", cell.unit);
        let pid = copy.pid.map(|pid| format!("# pid: {pid}\n")).unwrap_or_default();
        let _ = writeln!(text, "# elapsed: {seconds:.6}\n{pid}# status: 0");
    }
    text.push('\n');
    text
}

fn add_cell(text: &mut String, cell: &Cell, trials: &[&Trial], results: &Results) {
    for (place, trial) in trials.iter().enumerate() {
        text.push_str(&passed(cell, trial, place == 0));
    }
    let Some(row) = results.figures.iter().find(|row| row.cell.id == cell.id) else { return };
    let sum = |trial: &&Trial| trial.copies.iter().map(|copy| reported(cell, copy).count).sum::<f64>();
    let mut counts: Vec<f64> = trials.iter().filter(|trial| !trial.copies.is_empty()).map(sum).collect();
    counts.sort_by(f64::total_cmp);
    // What the classic procedure leaves out; the others' score is a median of all.
    let dropped = counts.len() - row.n.min(counts.len());
    for (place, count) in counts.iter().enumerate() {
        let _ = writeln!(text, "{:<17} {count:.1}", if place < dropped { "*Dump score:" } else { "Count score:" });
    }
    let what = if cell.key.copies == 1 { "Results of" } else { "Sum of" };
    let title = format!("{what} {}", words::copies(cell.key.copies));
    let _ = writeln!(text, "\n>>>> {title}\n>>>> score: {}\n>>>> time: {}", row.score.value, row.seconds);
    let _ = writeln!(text, ">>>> iterations: {}\n", row.n);
}
