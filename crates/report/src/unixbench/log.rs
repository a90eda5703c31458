//! UnixBench's `.log`: what every copy did in every pass.

use std::fmt::Write;

use analysis::{Reported, Results};
use journal::{Cell, Journal, Trial};

/// The log of a run. What programs print besides their counts is not in it.
pub fn log(journal: &Journal, results: &Results) -> String {
    let mut text = String::new();
    for cell in &journal.cells {
        let trials: Vec<&Trial> =
            journal.trials.iter().filter(|trial| trial.cell == cell.id).collect();
        for (number, trial) in trials.iter().enumerate() {
            text += &passed(cell, trial, number == 0);
        }
        write_score(&mut text, cell, &trials, results);
    }
    text
}

/// What a pass adds to the log when it ends; the first of its test has the test's heading before
/// it.
pub fn passed(cell: &Cell, trial: &Trial, is_first: bool) -> String {
    // Writing to a String cannot fail.
    let mut text = String::new();
    if is_first {
        let (label, copies) = (&cell.label, words::copies(cell.key.copies));
        let _ = writeln!(text, "\n{}\n{label} -- {copies}", "#".repeat(56));
        let _ = writeln!(text, "==> \"{}\"\n", cell.key.test);
    }
    let _ = writeln!(text, "#### Pass {}\n", trial.block + 1);

    for reason in trial.error.iter().chain(&trial.skip) {
        let _ = writeln!(text, "\n# ERROR: {reason}");
    }
    for copy in &trial.copies {
        let Reported { count, timebase, seconds } = Reported::new(cell, copy);
        let unit = &cell.unit;
        let _ = writeln!(text, "\n# COUNT0: {count}\n# COUNT1: {timebase}\n# COUNT2: {unit}");
        let pid = copy.pid.map(|pid| format!("# pid: {pid}\n")).unwrap_or_default();
        let _ = writeln!(text, "# elapsed: {seconds:.6}\n{pid}# status: 0");
    }
    text.push('\n');
    text
}

/// Writes the counts of a cell's passes, and its score; nothing if it has none.
fn write_score(text: &mut String, cell: &Cell, trials: &[&Trial], results: &Results) {
    let Some(figure) = results.figures.iter().find(|figure| figure.cell.id == cell.id) else {
        return;
    };
    if trials.is_empty() {
        return;
    }

    let mut counts = Vec::new();
    for trial in trials.iter().filter(|trial| !trial.copies.is_empty()) {
        let reported = trial.copies.iter().map(|copy| Reported::new(cell, copy));
        counts.push(reported.map(|reported| reported.count).sum::<f64>());
    }
    counts.sort_by(f64::total_cmp);
    // The classic procedure leaves out the worst; the other procedures take the median of all.
    let dropped = counts.len() - figure.n.min(counts.len());
    for (number, count) in counts.iter().enumerate() {
        let label = if number < dropped { "*Dump score:" } else { "Count score:" };
        let _ = writeln!(text, "{label:<17} {count:.1}");
    }

    let subject = if cell.key.copies == 1 { "Results of" } else { "Sum of" };
    let _ = writeln!(text, "\n>>>> {subject} {}", words::copies(cell.key.copies));
    let _ = writeln!(text, ">>>> score: {}\n>>>> time: {}", figure.score.value, figure.seconds);
    let _ = writeln!(text, ">>>> iterations: {}\n", figure.n);
}
