//! Blocks that several views share.

use analysis::{Missing, Remark, Results, Verdict};
use catalogue::NONE;
use journal::{Cell, Key, Run};
use serde_json::json;

use crate::document::{Block, Columns, Readers, Table};

/// Returns the sentences of remarks.
pub(crate) fn sentences(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(Remark::to_string).collect()
}

/// Returns a label with the load and the condition beside it, where there are any: `Pipe load=compile`.
pub(crate) fn name(label: &str, key: &Key) -> String {
    analysis::named(label, &key.load, &key.condition)
}

/// Returns what is beyond the usual about a cell: ` x4, load compile`.
pub(crate) fn coordinates(key: &Key) -> String {
    let mut text = if key.copies == 1 { String::new() } else { format!(" x{}", key.copies) };
    for (axis, kind) in [(&key.load, "load"), (&key.condition, "condition")] {
        if axis != NONE {
            text += &format!(", {kind} {axis}");
        }
    }
    text
}

/// Returns the name of a command: of commands in turn that of its condition, else its label with its coordinates.
pub(crate) fn command(cell: &Cell) -> String {
    if cell.in_turn { cell.key.condition.clone() } else { format!("{}{}", cell.label, coordinates(&cell.key)) }
}

/// Returns advice to redact a page before it is posted, unless the runs no longer say whose machine it was. `command`
/// makes the page.
pub(crate) fn to_post(runs: &[&Run], command: &str) -> Option<Block> {
    let what = "leaves out the user, the host, the control group and paths";
    let text = format!("Before you post this page: `{command} --redact --format html` (or `markdown`) {what}.");
    runs.iter().any(|run| !run.is_redacted()).then_some(Block::Text(Readers::PAGE, String::new(), text))
}

/// Returns the cells without a result, each with its kind.
pub(crate) fn gaps(results: &Results) -> Vec<(&'static str, &Missing)> {
    let skipped = results.skipped.iter().map(|gap| ("skipped", gap));
    skipped.chain(results.errors.iter().map(|gap| ("error", gap))).collect()
}

/// Returns cells without a result as the array `key` of JSON; `status` is their line's in CSV.
pub(crate) fn missing(key: &'static str, status: &'static str, gaps: &[Missing]) -> Table {
    Columns::new()
        .keyed(|gap: &Missing| &gap.key)
        .data(move |gap| json!({"label": gap.label, "status": status, "reason": gap.reason}))
        .table(gaps)
        .keyed(key)
        .shown(Readers::PROGRAM)
}

/// Returns a verdict in few words: `same within 0.4%`, `undecided <12%` where only a difference of that size would have
/// been seen; `slower`.
pub(crate) fn verdict_words(verdict: Verdict, unit: &str) -> String {
    match verdict {
        Verdict::Same(within) => format!("same within {}{unit}", words::at_least(within)),
        Verdict::Undecided(could) if !could.is_finite() => "undecided (too few)".to_owned(),
        Verdict::Undecided(could) => match words::at_least(could) {
            endless if endless == words::NOTHING => "undecided (too wide)".to_owned(),
            could => format!("undecided <{could}{unit}"),
        },
        decided => decided.word().to_owned(),
    }
}
