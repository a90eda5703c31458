//! The part of the text report that Interbench's users know: a block per task, a row per load.

use super::{WIDTH, line, wrapped};
use crate::analysis::{Latency, Missing, Results, Row};
use crate::report::tasks::what;
use crate::report::{Footnotes, figure, plus_minus, share};
use crate::stats::Estimate;

pub(super) use crate::report::tasks::NOT_INTERBENCH;

/// Appends the tables of every task.
pub(super) fn tables(text: &mut String, results: &Results, notes: &mut Footnotes) {
    for key in keys(results) {
        line(text, "");
        line(text, &"-".repeat(WIDTH));
        table(text, results, &key, notes);
    }
}

/// What a table is of: test, copies and condition.
type Key<'a> = (&'a str, u32, &'a str);

fn key(row: &Row) -> Key<'_> {
    (&row.cell.test, row.cell.copies, &row.cell.condition)
}

fn missing_key(missing: &Missing) -> Key<'_> {
    (&missing.test, missing.copies, &missing.condition)
}

fn keys(results: &Results) -> Vec<Key<'_>> {
    let rows = results.rows.iter().filter(|row| row.latency.is_some()).map(key);
    let missing = results.skipped.iter().chain(&results.errors).filter(|missing| missing.latency).map(missing_key);
    let mut keys: Vec<Key<'_>> = Vec::new();
    for key in rows.chain(missing) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn table(text: &mut String, results: &Results, wanted: &Key<'_>, notes: &mut Footnotes) {
    let rows: Vec<(&Row, &Latency)> = results
        .rows
        .iter()
        .filter(|row| key(row) == *wanted)
        .filter_map(|row| Some((row, row.latency.as_deref()?)))
        .collect();
    let missing = |list: &'_ [Missing]| -> Vec<Missing> {
        list.iter().filter(|missing| missing.latency && missing_key(missing) == *wanted).cloned().collect()
    };
    let (skipped, errors) = (missing(&results.skipped), missing(&results.errors));
    let label = rows.first().map(|(row, _)| &row.cell.label).or(skipped.iter().chain(&errors).next().map(|m| &m.label));
    let mut title = label.cloned().unwrap_or_default();
    if wanted.1 > 1 {
        title += &format!(", {} copies", wanted.1);
    }
    if wanted.2 != "none" {
        title += &format!(", condition {}", wanted.2);
    }
    match rows.first() {
        Some((_, latency)) => line(text, &format!("{title}: {} in ms", what(latency.kind))),
        None => line(text, &title),
    }
    if !rows.is_empty() {
        line(text, "");
        delays(text, &rows);
    }
    for (kind, list) in [("skipped", &skipped), ("error", &errors)] {
        for missing in list {
            wrapped(text, &format!("{:<LOAD$}", missing.load), &format!("{kind}: {}", missing.reason));
        }
    }
    if !rows.is_empty() {
        line(text, "");
        frames(text, &rows);
        remarks(text, &rows, notes);
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
        let some = histogram.count() > 0;
        let told = |ns: f64| if some { figure(ns / 1e6) } else { "-".to_owned() };
        let high = if latency.value == "p99" { figure(row.score.value) } else { "-".to_owned() };
        let of =
            |estimate: &Option<Estimate>| estimate.map_or_else(|| "-".to_owned(), |share_of| share(share_of.value));
        line(
            text,
            &format!(
                "{:<LOAD$}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}{:>6}{:>6}{:>6}",
                row.cell.load,
                told(histogram.mean()),
                told(histogram.deviation()),
                told(histogram.max()),
                told(histogram.quantile(0.5)),
                high,
                plus_minus(&row.score),
                of(&latency.cpu_received),
                of(&latency.deadlines_met),
                row.load.as_ref().map_or_else(|| "-".to_owned(), |load| share(load.achieved)),
            ),
        );
    }
}

/// The marks of the rows' remarks, which would not fit beside the rows.
fn remarks(text: &mut String, rows: &[(&Row, &Latency)], notes: &mut Footnotes) {
    let marked: Vec<String> = rows
        .iter()
        .filter(|(row, _)| !row.warnings.is_empty())
        .map(|(row, _)| format!("{} {}", row.cell.load, notes.marks(&row.warnings)))
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
        let queued = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), figure);
        line(
            text,
            &format!(
                "{:<LOAD$}{:>7}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
                row.cell.load,
                share(latency.late),
                share(latency.dropped),
                figure(latency.stall),
                highest(&latency.jitter),
                highest(&latency.response),
                highest(&latency.corrected),
                queued(latency.attribution.runqueue_wait_ms),
                queued(latency.attribution.steal_ms),
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
