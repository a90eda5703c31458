//! Words and blocks that several views share.

use analysis::{Missing, Remark, Results, Verdict};
use catalogue::NONE;
use journal::{Cell, Key, Run};
use serde_json::json;

use crate::document::{Block, Columns, Readers, Table};

pub(crate) fn sentences(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(Remark::to_string).collect()
}

/// A label with its load and its condition, where there are any: `Pipe load=compile`.
pub(crate) fn name(label: &str, key: &Key) -> String {
    analysis::named(label, &key.load, &key.condition)
}

/// What is beyond the usual about a cell: ` x4, load compile`.
pub(crate) fn coordinates(key: &Key) -> String {
    let mut text = String::new();
    if key.copies != 1 {
        text += &format!(" x{}", key.copies);
    }
    if key.load != NONE {
        text += &format!(", load {}", key.load);
    }
    if key.condition != NONE {
        text += &format!(", condition {}", key.condition);
    }
    text
}

/// The name of a command: if commands alternate, that of its condition, else its label with its
/// coordinates.
pub(crate) fn command(cell: &Cell) -> String {
    if cell.is_alternating() {
        return cell.key.condition.clone();
    }
    format!("{}{}", cell.label, coordinates(&cell.key))
}

/// Advice to redact a page before it is posted, unless the runs no longer say whose machine it was.
/// `command` makes the page.
pub(crate) fn to_post(runs: &[&Run], command: &str) -> Option<Block> {
    if runs.iter().all(|run| run.is_redacted()) {
        return None;
    }
    let text = format!(
        "Before you post this page: `{command} --redact --format html` (or `markdown`) leaves out \
         the user, the host, the control group and paths."
    );
    Some(Block::Text(Readers::PAGE, String::new(), text))
}

/// The cells without a result, each with `skipped` or `error`.
pub(crate) fn gaps(results: &Results) -> Vec<(&'static str, &Missing)> {
    let skipped = results.skipped.iter().map(|gap| ("skipped", gap));
    let errors = results.errors.iter().map(|gap| ("error", gap));
    skipped.chain(errors).collect()
}

/// The cells without a result for programs, as the array `key` of JSON; `status` is their lines' in
/// CSV.
pub(crate) fn missing(key: &'static str, status: &'static str, gaps: &[Missing]) -> Table {
    Columns::new()
        .keyed(|gap: &Missing| &gap.key)
        .data(move |gap| json!({"label": gap.label, "status": status, "reason": gap.reason}))
        .table(gaps)
        .keyed(key)
        .shown(Readers::PROGRAM)
}

/// A verdict in few words: `slower`, `same within 0.4%`; `undecided <12%` where only a larger
/// difference would have been seen.
pub(crate) fn brief_verdict(verdict: Verdict, unit: &str) -> String {
    match verdict {
        Verdict::Same(within) => format!("same within {}{unit}", words::at_least(within)),
        Verdict::Undecided(bound) if !bound.is_finite() => "undecided (too few)".to_owned(),
        Verdict::Undecided(bound) => match words::at_least(bound) {
            // A bound from 1000 on has no number.
            number if number == words::NOTHING => "undecided (too wide)".to_owned(),
            number => format!("undecided <{number}{unit}"),
        },
        Verdict::Undirected => "no verdict".to_owned(),
        decided => decided.word().to_owned(),
    }
}

/// The size of a change in per cent, without its sign.
pub(super) fn unsigned(change: f64) -> String {
    words::signed_fine(change.abs()).trim_start_matches('+').to_owned()
}
