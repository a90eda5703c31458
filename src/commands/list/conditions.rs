//! The switches of the machine.

use serde_json::json;

use super::Row;
use super::tests::in_one_line;
use crate::measuring;
use catalogue::{Catalogue, Switch};
use words::Grouped;

/// Every switch with its levels, and which of them are not available here, and why.
pub(super) fn rows(catalogue: &Catalogue) -> Vec<Row> {
    catalogue.switches.iter().map(|switch| row(switch)).collect()
}

fn row(switch: &Switch) -> Row {
    // A level without a name takes any text.
    let levels = switch.levels.iter().map(|level| level.id.as_str());
    let levels: Vec<&str> = levels.filter(|level| !level.is_empty()).collect();

    let mut about = switch.label.clone();
    let forms = switch.example().map_or_else(|| levels.join(", "), str::to_owned);
    if !forms.is_empty() {
        about += &format!(": {forms}");
    }

    let mut missing = None;
    let mut unavailable_levels = Vec::new();
    for Unavailable { reason, levels } in unavailable(switch, &levels) {
        if levels.is_empty() {
            about += &format!(" - not here: {reason}");
            missing = Some(reason);
        } else {
            about += &format!(" - no {} here: {reason}", levels.join(", "));
            unavailable_levels.push(json!({"levels": levels, "reason": reason}));
        }
    }

    Row {
        id: switch.id.clone(),
        about,
        doc: switch.doc.clone(),
        missing,
        value: json!({
            "id": switch.id,
            "label": switch.label,
            "levels": levels,
            "unavailable_levels": unavailable_levels,
            "doc": in_one_line(&switch.doc),
        }),
        ..Row::default()
    }
}

/// A reason why something of a switch is not available here.
struct Unavailable<'a> {
    reason: String,
    /// The levels that it keeps from being set; empty if that is all of them.
    levels: Vec<&'a str>,
}

fn unavailable<'a>(switch: &Switch, levels: &[&'a str]) -> Vec<Unavailable<'a>> {
    if switch.example().is_some() {
        // The level itself names the file and the text.
        return Vec::new();
    }

    // A switch without levels is asked for as a whole.
    let levels = if levels.is_empty() { &[""][..] } else { levels };
    let mut reasons = Vec::new();
    // A level that ends in `:` is not complete: it takes more after it.
    for level in levels.iter().filter(|level| !level.ends_with(':')) {
        if let Some(reason) = measuring::unavailable(switch, level) {
            reasons.push((reason, *level));
        }
    }

    let mut unavailable = Vec::new();
    for (reason, without) in reasons.into_iter().grouped() {
        let is_whole = without.len() == levels.len();
        let levels = if is_whole { Vec::new() } else { without };
        unavailable.push(Unavailable { reason, levels });
    }
    unavailable
}
