//! Facts that go with the differences between systems, as hints.

use analysis::{Hint, Reach, Why};
use serde_json::json;

use crate::document::Block;

/// From this chance on, a hint is likely to fit at random.
const LIKELY_CHANCE: f64 = 0.25;

/// The hints, or why there is none.
pub(super) fn blocks(why: &Why) -> Vec<Block> {
    let items = why
        .hints
        .iter()
        .map(|hint| describe_hint(hint, &values_by_letter(hint), why.systems))
        .collect();
    vec![
        Block::section("Why they may differ"),
        Block::text(lead(why)),
        Block::items(items),
        Block::Data("why", json!(why)),
    ]
}

/// A sentence on all hints, or on why there is none; and one for each, with the number of systems
/// that have its best and its worst value.
pub fn why(why: &Why) -> (String, Vec<String>) {
    let hints = why
        .hints
        .iter()
        .map(|hint| describe_hint(hint, &values_by_count(hint), why.systems))
        .collect();
    (lead(why), hints)
}

/// `glibc (A, C), against musl (B)`.
fn values_by_letter(hint: &Hint) -> String {
    let values: Vec<String> = hint
        .values
        .iter()
        .map(|(value, letters)| format!("{value} ({})", letters.join(", ")))
        .collect();
    values.join(", against ")
}

/// `6.1 (3 systems), against 6.8 (1 system), with 2 values between`.
fn values_by_count(hint: &Hint) -> String {
    let best = hint.values.first().map(count_systems).unwrap_or_default();
    let worst = hint.values.last().map(count_systems).unwrap_or_default();
    let between = match hint.values.len() {
        0..=2 => String::new(),
        more => format!(", with {} between", words::count(more - 2, "value")),
    };
    format!("{best}, against {worst}{between}")
}

fn count_systems((value, names): &(String, Vec<String>)) -> String {
    format!("{value} ({})", words::count(names.len(), "system"))
}

fn lead(why: &Why) -> String {
    let Why { systems, tests, examined, hints, silence } = why;
    if !silence.is_empty() {
        return format!("Why they differ cannot be determined: {silence}.");
    }

    let tests = words::count(*tests, "test");
    let common = format!("the {tests} that all {systems} systems have in common");
    let differ = match examined {
        1 => "1 fact that differs".to_owned(),
        _ => format!("{examined} facts that differ"),
    };
    if hints.is_empty() {
        return format!("Of {differ}, none goes with the differences in {common}.");
    }
    // A site shows this above those hints that concern two of its runs, so it does not say how many
    // follow.
    format!(
        "Hints, not proof: of {differ}, these go with the differences in {common}. Change one of \
         them on one system and measure again."
    )
}

/// `C library: glibc (A, C), against musl (B): the last is 30 % slower in exec and shell, compared
/// with its other tests. Fit: 98 %, based on 1 of 3 systems; …`
fn describe_hint(hint: &Hint, values: &str, systems: usize) -> String {
    let Hint { label, effect, reach, fit, rests_on, also, .. } = hint;

    let is_one_system = hint.values.last().is_some_and(|(_, names)| names.len() == 1);
    let (are, their) = if is_one_system { ("is", "its") } else { ("are", "their") };
    let compared = match reach {
        Reach::Everything => String::new(),
        _ => format!(", compared with {their} other tests"),
    };
    let size = format!("{:.0} %", -effect);
    let difference = format!("the last {are} {size} slower in {}{compared}", reach.words());

    let fit = format!("Fit: {:.0} %, based on {rests_on} of {systems} systems", 100.0 * fit);
    let chance = if hint.chance >= LIKELY_CHANCE {
        "with so few systems, many facts would fit by chance alone".to_owned()
    } else {
        let odds = 1.0 / hint.chance;
        format!("1 in {odds:.0} random assignments of these values would fit as well")
    };
    let also = match also.is_empty() {
        true => String::new(),
        false => format!("; {} cannot be told apart from it", also.join(", ")),
    };
    format!("{label}: {values}: {difference}. {fit}; {chance}{also}.")
}
