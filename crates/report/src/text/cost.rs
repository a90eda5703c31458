//! What conditions cost, in text.

use super::{WIDTH, line, wrapped};
use crate::cost::{
    Beyond, Room, Table, beyond, evidence, floor, loads, matrix, missing, notes, of_condition, sentences, storage,
    totals,
};
use analysis::{Condition, Cost, Results};

/// Columns of the longest bar, which is all of the rate.
const BAR: usize = 40;

/// The least room for the names of rows; longer ones have a line of their own.
const NAME: usize = 12;

/// Appends what is to be read first.
pub(super) fn lead(text: &mut String, cost: &Cost) {
    for sentence in sentences(cost) {
        wrapped(text, "", &sentence);
        line(text, "");
    }
}

/// Appends all of it but the sentences.
pub(super) fn tables(text: &mut String, results: &Results, cost: &Cost) {
    if let Some(matrix) = matrix(cost, Room::Narrow) {
        table(text, &matrix);
    }
    for condition in &cost.conditions {
        table(text, &of_condition(cost, condition, Room::Narrow));
        bars(text, cost, condition);
    }
    let after =
        totals(cost, Room::Narrow).into_iter().chain(storage(cost, Room::Narrow)).chain(loads(cost, Room::Narrow));
    after.for_each(|found| table(text, &found));
    line(text, "");
    line(text, &"-".repeat(WIDTH));
    wrapped(text, "A/A floor: ", &format!("{}.", floor(cost)));
    for (condition, proofs) in evidence(cost) {
        line(text, "");
        wrapped(text, "", &format!("What proves {condition}"));
        proofs.iter().for_each(|proof| wrapped(text, "  - ", proof));
    }
    let missing = missing(results, cost);
    if !missing.is_empty() {
        line(text, "");
        line(text, "Not measured");
        for (what, reason) in missing {
            wrapped(text, "  - ", &format!("{what}: {reason}"));
        }
    }
    line(text, "");
    notes(cost).iter().for_each(|note| wrapped(text, "Note: ", note));
}

/// The chart of what is beyond the threshold.
fn bars(text: &mut String, cost: &Cost, condition: &Condition) {
    let (bars, open) = beyond(cost, condition, Room::Narrow);
    let (threshold, name) = (cost.threshold, &condition.name);
    line(text, "");
    if bars.is_empty() {
        wrapped(text, "", &format!("No test is shown to change by more than {threshold} % under {name}."));
    } else {
        wrapped(text, "", &format!("Beyond {threshold} % under {name}: loss of rate (-: gain), and times as long"));
        let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0).min(WIDTH - BAR - 19);
        bars.iter().for_each(|bar| self::bar(text, bar, longest));
    }
    if !open.is_empty() {
        let content = format!("beyond {threshold} % by estimate, but undecided: {}", open.join(", "));
        wrapped(text, "  ", &content);
    }
}

/// A loss of all is the whole bar; a gain is drawn with `+`, of as much at most.
fn bar(text: &mut String, bar: &Beyond, width: usize) {
    let name: String = bar.name.chars().take(width).collect();
    // Between 1 and 40.
    let length = ((bar.delta.abs() / 100.0).min(1.0) * BAR as f64).round().max(1.0) as usize;
    let drawn = if bar.delta < 0.0 { "#" } else { "+" }.repeat(length);
    let loss = match bar.told.strip_prefix('-') {
        Some(loss) => loss.to_owned(),
        None => bar.told.replacen('+', "-", 1),
    };
    line(text, &format!("  {name:<width$} {drawn:<BAR$} {loss:>7} {:>6}", bar.time));
}

/// A table whose columns are as wide as what they hold; one that is too wide is continued below.
fn table(text: &mut String, table: &Table) {
    let length = |text: &str| text.chars().count();
    let width = |column: usize| {
        let fields = table.rows.iter().filter_map(|row| row.get(column)).map(|field| length(field));
        fields.chain([length(&table.head[column].name)]).max().unwrap_or(0)
    };
    let most = WIDTH - NAME - 1;
    let widths: Vec<usize> = (0..table.head.len()).map(|column| width(column).min(most)).collect();
    line(text, "");
    line(text, &"-".repeat(WIDTH));
    let remark = if table.remark.is_empty() { String::new() } else { format!(" ({})", table.remark) };
    wrapped(text, "", &format!("{}{remark}", table.name));
    for part in parts(&widths) {
        line(text, "");
        let taken: usize = part.iter().map(|column| widths[*column] + 1).sum();
        let name = widths[0].min(WIDTH.saturating_sub(taken).max(NAME));
        let columns = |fields: &dyn Fn(usize) -> String| -> String {
            let field = |column: &usize| {
                let width = widths[*column];
                let field: String = fields(*column).chars().take(width).collect();
                if table.head[*column].words { format!(" {field:<width$}") } else { format!(" {field:>width$}") }
            };
            part.iter().map(field).collect()
        };
        line(text, &format!("{:<name$}{}", table.head[0].name, columns(&|column| table.head[column].name.clone())));
        for row in &table.rows {
            let mut label = row[0].as_str();
            if length(label) > name {
                wrapped(text, "", label);
                label = "";
            }
            line(text, &format!("{label:<name$}{}", columns(&|column| row[column].clone())));
        }
    }
}

/// Shares the columns after the first among as many tables as it takes.
fn parts(widths: &[usize]) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    let mut left = WIDTH - NAME;
    for (column, width) in widths.iter().enumerate().skip(1) {
        if width + 1 > left && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(Vec::new());
            left = WIDTH - NAME;
        }
        left = left.saturating_sub(width + 1);
        if let Some(part) = parts.last_mut() {
            part.push(column);
        }
    }
    parts
}
