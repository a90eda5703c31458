//! Facts that go with the differences between systems, as hints.

use analysis::{Hint, Reach, Why};
use serde_json::json;

use crate::document::Block;

/// A share from which on a fit by chance is likely.
const LIKELY: f64 = 0.25;

/// Returns the hints, or why there is none.
pub(super) fn blocks(why: &Why) -> Vec<Block> {
    let letters = |(value, letters): &(String, Vec<String>)| format!("{value} ({})", letters.join(", "));
    let values = |hint: &Hint| hint.values.iter().map(letters).collect::<Vec<String>>().join(", against ");
    let items = why.hints.iter().map(|hint| sentence(hint, &values(hint), why.systems)).collect();
    let heading = Block::section("Why they may differ");
    vec![heading, Block::text(lead(why)), Block::items(items), Block::Data("why", json!(why))]
}

/// Returns a sentence on all hints, or on why there is none; and one for each, with the number of systems that have its
/// best and its worst value.
pub fn why(why: &Why) -> (String, Vec<String>) {
    let counted = |end: Option<&(String, Vec<String>)>| {
        end.map_or(String::new(), |(value, names)| format!("{value} ({})", words::count(names.len(), "system")))
    };
    let values = |hint: &Hint| {
        let between = match hint.values.len() {
            0..=2 => String::new(),
            more => format!(", with {} between", words::count(more - 2, "value")),
        };
        format!("{}, against {}{between}", counted(hint.values.first()), counted(hint.values.last()))
    };
    (lead(why), why.hints.iter().map(|hint| sentence(hint, &values(hint), why.systems)).collect())
}

fn lead(why: &Why) -> String {
    let Why { systems, tests, examined, hints, silence } = why;
    let common = format!("the {} that all {systems} systems have in common", words::count(*tests, "test"));
    let differ =
        if *examined == 1 { "1 fact that differs".to_owned() } else { format!("{examined} facts that differ") };
    if !silence.is_empty() {
        format!("Why they differ cannot be determined: {silence}.")
    } else if hints.is_empty() {
        format!("Of {differ}, none goes with the differences in {common}.")
    } else {
        // Sites show it above those of the hints that concern two runs: of any number.
        format!(
            "Hints, not proof: of {differ}, these go with the differences in {common}. Change one of them on one \
             system and measure again."
        )
    }
}

/// `C library: glibc (A, C), against musl (B): the last is 30 % slower in exec and shell, compared with its other
/// tests. Fit: 98 %, based on 1 of 3 systems; …`
fn sentence(hint: &Hint, values: &str, systems: usize) -> String {
    let chance = match hint.chance {
        likely if likely >= LIKELY => "with so few systems, many facts would fit by chance alone".to_owned(),
        chance => format!("1 in {:.0} random assignments of these values would fit as well", 1.0 / chance),
    };
    let also = match hint.also.is_empty() {
        true => String::new(),
        false => format!("; {} cannot be told apart from it", hint.also.join(", ")),
    };
    let (are, their) = match hint.values.last() {
        Some((_, names)) if names.len() == 1 => ("is", "its"),
        _ => ("are", "their"),
    };
    let apart = match hint.reach {
        Reach::Everything => String::new(),
        _ => format!(", compared with {their} other tests"),
    };
    let Hint { label, effect, reach, fit, rests_on, .. } = hint;
    let differ = format!("the last {are} {:.0} % slower in {}{apart}", -effect, reach.words());
    let fit = format!("Fit: {:.0} %, based on {rests_on} of {systems} systems", 100.0 * fit);
    format!("{label}: {values}: {differ}. {fit}; {chance}{also}.")
}
