//! What conditions cost, in words and tables that all forms of report share.

pub(super) mod csv;
mod tables;

use super::compare::{coordinates, signed, told};
use super::figure;
use analysis::{Comparison, Condition, Cost, Effect, Measure, Missing, Results, Verdict};
use catalogue::NONE;
use journal::Cell;
use stats::Estimate;

pub(super) use tables::{beyond, beyond_table, control, loads, matrix, of_condition, series, storage, totals};

/// What the columns and the words of verdicts mean.
const LEGEND: &str = "delta: the change of the rate in per cent (of the inverse of a time; points for deadlines met), with its \
sign: negative is worse; time: how many times as long the same takes. A verdict takes an interval without 0, a delta beyond the \
threshold and beyond what the A/A control shows, and a false discovery rate below 5 % over the whole report. same within x: any \
difference is smaller than x; undecided (y): neither is shown, and a difference of y would have been seen in four of five such \
runs.";

/// What a second look adds to a verdict.
const SECOND: &str = "twice: a second look at fresh blocks shows the loss again; once: it does not.";

/// How much room a form has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// 80 columns: names of tests, units beside them.
    Narrow,
    /// A page: labels, and units in a column.
    Wide,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether it holds words, which stand at its left edge; the first always does.
    pub(super) words: bool,
}

/// A table; the first column names its rows.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: String,
    /// What there is to know of it; may be empty.
    pub(super) remark: String,
    pub(super) head: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

/// One of those beyond the threshold.
pub(super) struct Beyond {
    pub(super) name: String,
    /// In per cent, points for deadlines; negative is worse.
    pub(super) delta: f64,
    /// `-85.2%`.
    pub(super) told: String,
    /// `6.77x`.
    pub(super) time: String,
}

/// Returns the name of a cell and a measure, without the unit: `syscall x2, load compile p99`.
pub(super) fn name(one: &Comparison, room: Room) -> String {
    let name = place(&one.cell, room);
    match one.measure {
        Measure::Score => name,
        Measure::Met if room == Room::Wide => format!("{name} deadlines met"),
        measure => format!("{name} {}", measure.name()),
    }
}

/// Returns the name of a cell; the condition stands above the table.
pub(super) fn place(cell: &Cell, room: Room) -> String {
    let test = if room == Room::Narrow { &cell.key.test } else { &cell.label };
    format!("{test}{}", coordinates(cell.key.copies, &cell.key.load, NONE))
}

/// Returns a difference with its unit: `-85.2%`, `-3.0pt`.
pub(super) fn delta(one: &Comparison) -> String {
    let unit = if one.measure == Measure::Met { "pt" } else { "%" };
    if one.delta.value.is_finite() { format!("{}{unit}", percent(one.delta.value)) } else { "-".to_owned() }
}

/// Returns a difference with its sign, with hundredths where it is small: `-85.2`, `-0.03`; `-` where there is none.
pub(super) fn percent(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size < 0.995 => format!("{value:+.2}"),
        _ => signed(value),
    }
}

/// Returns a value; `-` where there is none.
pub(super) fn value(number: f64) -> String {
    if number.is_finite() { super::compare::value(number) } else { "-".to_owned() }
}

/// Returns the interval of a difference: `-0.12..+0.03`, or `-∞..+∞`.
pub(super) fn interval(delta: &Estimate) -> String {
    if delta.bounded() {
        format!("{}..{}", percent(delta.low), percent(delta.high))
    } else {
        super::compare::interval(delta)
    }
}

/// Returns how many times as long the same takes: `6.77x`.
pub(super) fn time(one: &Comparison) -> String {
    let factor = one.time_factor().filter(|factor| factor.is_finite());
    factor.map_or("-".to_owned(), |factor| match factor {
        factor if factor < 9.995 => format!("{factor:.2}x"),
        factor => format!("{}x", figure(factor)),
    })
}

/// Returns the verdict, and what a second look says of it.
pub(super) fn verdict(effect: &Effect, room: Room) -> String {
    let one = &effect.comparison;
    let words = match one.verdict {
        Verdict::Same(_) | Verdict::Undecided(_) if room == Room::Narrow => super::compare::text::verdict(one),
        Verdict::Same(_) | Verdict::Undecided(_) => super::compare::verdict(one),
        // The time factor has a column.
        decided => decided.word().to_owned(),
    };
    match effect.confirmed {
        Some(true) => format!("{words}, twice"),
        Some(false) => format!("{words}, once"),
        None => words,
    }
}

/// Whether a difference is shown beyond doubt.
pub(super) fn is_decided(one: &Comparison) -> bool {
    !matches!(one.verdict, Verdict::Same(_) | Verdict::Undecided(_))
}

/// Returns every condition's sentence, with its name where there are several.
pub(super) fn sentences(cost: &Cost) -> Vec<String> {
    let several = cost.conditions.len() > 1;
    let told = |condition: &Condition| {
        if several && !condition.sentence.contains(&condition.name) {
            format!("{}: {}", condition.name, condition.sentence)
        } else {
            condition.sentence.clone()
        }
    };
    cost.conditions.iter().map(told).collect()
}

/// Returns what the second arm of the condition compared with shows: how far apart two arms of the same are.
pub(super) fn floor(cost: &Cost) -> String {
    let against = &cost.against;
    let known = || cost.floor.iter().map(|effect| &effect.comparison).filter(|one| one.delta.value.is_finite());
    let Some(largest) = known().max_by(|a, b| a.delta.value.abs().total_cmp(&b.delta.value.abs())) else {
        return format!("no second arm of {against} was measured, so that the noise floor is not known");
    };
    let flagged: Vec<String> = known()
        .filter(|one| is_decided(one))
        .map(|one| format!("{} ({} {})", name(one, Room::Narrow), one.verdict.word(), delta(one)))
        .collect();
    let flags = if flagged.is_empty() { "nothing".to_owned() } else { flagged.join(", ") };
    let count = cost.floor.len();
    let among = if count == 1 { "in its one comparison".to_owned() } else { format!("over {count} comparisons") };
    format!(
        "a second arm of {against} in every block, compared with the first, flags {flags} {among}; the largest difference is {} \
         ({}) in {}",
        delta(largest),
        interval(&largest.delta),
        name(largest, Room::Narrow)
    )
}

/// Returns what could not be measured, each reason once: what it touches, and the reason.
pub(super) fn missing(results: &Results, cost: &Cost) -> Vec<(String, String)> {
    let mut known: Vec<(String, Vec<&Missing>)> = Vec::new();
    for (kind, list) in [("skipped", &results.skipped), ("error", &results.errors), ("not compared", &cost.missing)] {
        for one in list {
            let cell = |other: &&Missing| one.key == other.key;
            // A cell that failed is not compared for the same reason.
            if known
                .iter()
                .any(|(_, touched)| touched.iter().any(|other| cell(other) && one.reason.contains(&other.reason)))
            {
                continue;
            }
            let reason = format!("{kind}: {}", one.reason);
            match known.iter_mut().find(|known| known.0 == reason) {
                Some((_, touched)) => touched.push(one),
                None => known.push((reason, vec![one])),
            }
        }
    }
    known.into_iter().map(|(reason, touched)| (touches(&touched), reason)).collect()
}

/// Tests that are named before they are counted.
const FEW: usize = 6;

/// Returns which tests under which conditions: `syscall; execl x2 under audit=all`.
fn touches(missing: &[&Missing]) -> String {
    let mut tests: Vec<String> = Vec::new();
    let mut conditions: Vec<&str> = Vec::new();
    for one in missing {
        let test = format!("{}{}", one.key.test, coordinates(one.key.copies, &one.key.load, NONE));
        if !tests.contains(&test) {
            tests.push(test);
        }
        if !conditions.contains(&one.key.condition.as_str()) {
            conditions.push(&one.key.condition);
        }
    }
    let more = tests.len().saturating_sub(FEW);
    tests.truncate(FEW);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more} under {}", tests.join("; "), conditions.join(", "))
}

/// Returns what proves each condition, those of which nothing is known left out.
pub(super) fn evidence(cost: &Cost) -> Vec<(&str, &[String])> {
    let conditions = cost.conditions.iter().filter(|condition| !condition.evidence.is_empty());
    conditions.map(|condition| (condition.name.as_str(), condition.evidence.as_slice())).collect()
}

/// Returns how to read the numbers: what columns and verdicts mean, the run's own notes, and what is known of single numbers.
pub(super) fn notes(cost: &Cost) -> Vec<String> {
    let effects = || cost.conditions.iter().flat_map(|condition| &condition.effects);
    let mut notes = vec![format!("{LEGEND} The threshold is {} %.", cost.threshold)];
    if effects().any(|effect| effect.confirmed.is_some()) {
        notes.push(SECOND.to_owned());
    }
    notes.extend(cost.notes.iter().cloned());
    let all: Vec<Comparison> = effects().chain(&cost.floor).map(|effect| effect.comparison.clone()).collect();
    notes.extend(told(&all).into_iter().map(|(warning, cells)| format!("{warning} ({cells})")));
    notes
}
