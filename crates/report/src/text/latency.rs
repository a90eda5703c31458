//! The part of the text report that Interbench's users know: a block per task, a row per load.

use super::{WIDTH, line, wrapped};
use crate::tasks::{Task, figure_of, share_of, tasks, told};
use crate::{Footnotes, figure, plus_minus, share};
use analysis::{Latency, Results, Row};

pub(super) use crate::tasks::NOT_INTERBENCH;

/// Appends the tables of every task.
pub(super) fn tables(text: &mut String, results: &Results, notes: &mut Footnotes) {
    for task in tasks(results) {
        line(text, "");
        line(text, &"-".repeat(WIDTH));
        line(text, &format!("{}: {} in ms", task.title(), task.what()));
        table(text, &task, notes);
    }
}

fn table(text: &mut String, task: &Task<'_>, notes: &mut Footnotes) {
    line(text, "");
    if !task.rows.is_empty() {
        delays(text, &task.rows);
    }
    for (kind, missing) in &task.missing {
        wrapped(text, &format!("{:<LOAD$}", missing.key.load), &format!("{kind}: {}", missing.reason));
    }
    if !task.rows.is_empty() {
        line(text, "");
        frames(text, &task.rows);
        rates(text, &task.rows);
        remarks(text, &task.rows, notes);
    }
}

const LOAD: usize = 16;

fn delays(text: &mut String, rows: &[(&Row, &Latency)]) {
    line(
        text,
        &format!(
            "{:<LOAD$}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}{:>6}{:>6}{:>6}",
            "Load", "Mean", "Spread", "Max", "p50", "p99", "±", "%CPU", "%Met", "Load%"
        ),
    );
    for (row, latency) in rows {
        let histogram = &latency.histogram;
        let high = if latency.value == "p99" { figure(row.score.value) } else { "-".to_owned() };
        line(
            text,
            &format!(
                "{:<LOAD$}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}{:>6}{:>6}{:>6}",
                row.cell.key.load,
                told(latency, histogram.mean()),
                told(latency, histogram.deviation()),
                told(latency, histogram.max()),
                figure_of(latency.percentile("p50")),
                high,
                plus_minus(&row.score),
                share_of(latency.cpu_received),
                share_of(latency.deadlines_met),
                row.load.as_ref().map_or_else(|| "-".to_owned(), |load| share(load.achieved)),
            ),
        );
    }
}

/// The frames per second of a game.
fn rates(text: &mut String, rows: &[(&Row, &Latency)]) {
    let of = |(row, latency): &(&Row, &Latency)| {
        let rates = latency.rates?;
        let low = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        Some(format!(
            "{} {:.0}, 1 % low {}, 0.1 % low {}",
            row.cell.key.load,
            rates.all,
            low(rates.low_1),
            low(rates.low_01)
        ))
    };
    let told: Vec<String> = rows.iter().filter_map(of).collect();
    if !told.is_empty() {
        line(text, "");
        wrapped(text, "Frames per second: ", &told.join("; "));
    }
}

/// The marks of the rows' remarks, which would not fit beside the rows.
fn remarks(text: &mut String, rows: &[(&Row, &Latency)], notes: &mut Footnotes) {
    let marked: Vec<String> = rows
        .iter()
        .filter(|(row, _)| !row.warnings.is_empty())
        .map(|(row, _)| format!("{} {}", row.cell.key.load, notes.marks(&crate::texts(&row.warnings))))
        .collect();
    if !marked.is_empty() {
        line(text, "");
        wrapped(text, "Notes: ", &marked.join("; "));
    }
}

fn frames(text: &mut String, rows: &[(&Row, &Latency)]) {
    line(
        text,
        &format!(
            "{:<LOAD$}{:>7}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
            "Load", "%Late", "%Drop", "Stall", "Jitter", "Done", "Omitted", "Queued", "Steal"
        ),
    );
    for (row, latency) in rows {
        let highest = |histogram| latency.percentiles(histogram).last().map_or("-".to_owned(), |(_, ms)| figure(ms));
        line(
            text,
            &format!(
                "{:<LOAD$}{:>7}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
                row.cell.key.load,
                share(latency.late),
                share(latency.dropped),
                figure(latency.stall),
                highest(&latency.jitter),
                highest(&latency.response),
                highest(&latency.corrected),
                figure_of(latency.attribution.runqueue_wait_ms),
                figure_of(latency.attribution.steal_ms),
            ),
        );
    }
}

/// Says what the columns are.
pub(super) fn legend(text: &mut String) {
    line(text, "");
    for words in [
        "Mean, Spread (standard deviation), Max, p50 and p99 are of the latency, ± of its p99 or of the highest percentile \
         that the frames carry (a note says which). %CPU: work done, of that planned. %Met: frames done by their deadline, \
         of those planned. Load%: what the load did meanwhile, of what it did alone.",
        "%Late: done after the deadline; %Drop: never done; Stall: the longest delay, ms. Jitter: change from frame to \
         frame, Done: from planned to done, Omitted: latency with every dropped frame, ms, each at the highest percentile \
         of p50, p90, p95, p99 and p99.9 that it carries. Queued, Steal: ms per s ready without a processor, or taken \
         by the hypervisor.",
    ] {
        wrapped(text, "", words);
    }
}
