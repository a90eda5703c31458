//! The switches of the machine.

use serde_json::json;

use super::Row;
use super::tests::flat;
use crate::measuring;
use catalogue::{Catalogue, Switch};
use words::Grouped;

/// Returns every switch with its levels, and which of them are not available here, and why.
pub(super) fn rows(catalogue: &Catalogue) -> Vec<Row> {
    catalogue.switches.iter().map(|switch| row(switch)).collect()
}

fn row(switch: &Switch) -> Row {
    let levels: Vec<&str> =
        switch.levels.iter().map(|level| level.id.as_str()).filter(|level| !level.is_empty()).collect();
    let mut about = switch.label.clone();
    let forms = switch.example().map_or_else(|| levels.join(", "), str::to_owned);
    if !forms.is_empty() {
        about += &format!(": {forms}");
    }
    let reasons = unavailable(switch, &levels);
    for (why, levels) in &reasons {
        about += &match &levels[..] {
            [] => format!(" - not here: {why}"),
            levels => format!(" - no {} here: {why}", levels.join(", ")),
        };
    }
    let some = reasons.iter().filter(|(_, levels)| !levels.is_empty());
    let some: Vec<_> = some.map(|(why, levels)| json!({"levels": levels, "reason": why})).collect();
    Row {
        id: switch.id.clone(),
        about,
        doc: switch.doc.clone(),
        missing: reasons.iter().find(|(_, levels)| levels.is_empty()).map(|(why, _)| why.clone()),
        value: json!({
            "id": switch.id, "label": switch.label, "levels": levels, "unavailable_levels": some, "doc": flat(&switch.doc),
        }),
        ..Row::default()
    }
}

/// Returns the reasons why levels of a switch are not available here, each with its levels; with none if it holds for
/// all.
fn unavailable<'a>(switch: &Switch, levels: &[&'a str]) -> Vec<(String, Vec<&'a str>)> {
    if switch.example().is_some() {
        // The level itself names the file and the text.
        return Vec::new();
    }
    let whole = [""];
    let asked = if levels.is_empty() { &whole[..] } else { levels };
    let levels = asked.iter().filter(|level| !level.ends_with(':'));
    let reasons = levels.filter_map(|level| Some((measuring::unavailable(switch, level)?, *level)));
    let is_all = |names: &[&str]| names.len() == asked.len();
    let reasons = reasons.grouped().into_iter();
    reasons.map(|(why, names)| if is_all(&names) { (why, Vec::new()) } else { (why, names) }).collect()
}
