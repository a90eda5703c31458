//! Facts that go with the differences between systems, as hints.

use analysis::{Hint, Reach, Why};
use serde_json::json;

use crate::document::Block;

/// A share from which on a fit by chance is likely.
const LIKELY: f64 = 0.25;

/// Returns the hints, or why there is none.
pub(super) fn blocks(why: &Why) -> Vec<Block> {
    let Why { systems, tests, examined, hints, silence } = why;
    let differ =
        if *examined == 1 { "1 fact that differs".to_owned() } else { format!("{examined} facts that differ") };
    let lead = if !silence.is_empty() {
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
    };
    let items = hints.iter().map(|hint| sentence(hint, *systems)).collect();
    vec![Block::section("Why they may differ"), Block::text(lead), Block::items(items), Block::Data("why", json!(why))]
}

/// `C library: glibc (A, C), against musl (B): the last 30 % slower in exec and shell than their other tests are. It fits to
/// 98 % and rests on 1 of 3 systems; …`
fn sentence(hint: &Hint, systems: usize) -> String {
    let values = hint.values.iter().map(|(value, letters)| format!("{value} ({})", letters.join(", ")));
    let values = values.collect::<Vec<String>>().join(", against ");
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
