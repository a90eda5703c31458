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
    vec![
        Block::section("Why they may differ"),
        Block::text(lead(why)),
        Block::items(items),
        Block::Data("why", json!(why)),
    ]
}

/// Returns a sentence on all hints, or on why there is none; and one for each, with the number of systems that have its best
/// and its worst value.
#[must_use]
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
    let differ =
        if *examined == 1 { "1 fact that differs".to_owned() } else { format!("{examined} facts that differ") };
    if !silence.is_empty() {
        format!("Nothing can be said of why they differ: {silence}.")
    } else if hints.is_empty() {
        format!(
            "Of {differ}, none goes with the differences over the {} that all {systems} systems have.",
            words::count(*tests, "test")
        )
    } else {
        format!(
            "Hints, no proof: of {differ}, these go with the differences over the {} that all {systems} systems have. \
             Change one of them on one system and measure again.",
            words::count(*tests, "test")
        )
    }
}

/// `C library: glibc (A, C), against musl (B): the last 30 % slower in exec and shell than their other tests are. It fits to
/// 98 % and rests on 1 of 3 systems; …`
fn sentence(hint: &Hint, values: &str, systems: usize) -> String {
    let chance = match hint.chance {
        likely if likely >= LIKELY => "by chance alone many facts would go with so few systems".to_owned(),
        chance => format!("1 in {:.0} ways to deal these values out goes with them as well", 1.0 / chance),
    };
    let also = match hint.also.is_empty() {
        true => String::new(),
        false => format!("; {} cannot be told from it", hint.also.join(", ")),
    };
    let apart = if hint.reach == Reach::Everything { "" } else { " than their other tests are" };
    format!(
        "{}: {values}: the last {:.0} % slower in {}{apart}. It fits to {:.0} % and rests on {} of \
         {systems} systems; {chance}{also}.",
        hint.label,
        -hint.effect,
        hint.reach.words(),
        100.0 * hint.fit,
        hint.rests_on
    )
}
