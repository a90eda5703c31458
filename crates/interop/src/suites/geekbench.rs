//! Geekbench's JSON (`--export-json`): the scores of its sections and workloads.

use super::{
    Draft, Heading, Journal, Result, Text, array_at, date, ensure, number_at, outcome_at, string_at,
};

/// Facts of the system: the key of each, and its name, label and group.
const FACTS: [(&str, &str, &str, &str); 3] = [
    ("Processor", "cpu.model", "Model", "Processor"),
    ("Operating System", "system.os", "Operating system", "System"),
    ("Memory", "memory.total", "Memory", "Memory"),
];

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    let sections = array_at(text.json_or_null(), "sections");
    sections.iter().any(|section| section.get("workloads").is_some())
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.json_or_null();
    let version = string_at(json, &["version"]);
    let version = version.trim_start_matches("Geekbench").trim();
    let is_known = ["4.", "5.", "6."].iter().any(|known| version.starts_with(known));
    ensure!(
        is_known,
        source.unknown_version_error(
            source.line_of("\"version\""),
            "Geekbench",
            version,
            "versions 4 to 6"
        )
    );
    draft.run.tool = format!("Geekbench {version}");
    draft.seconds = number_at(json, &["runtime"]).unwrap_or(0.0);
    let date = string_at(json, &["date"]);
    draft.set_start_or_quote(&date, date::from_any_form(&date));

    for metric in array_at(json, "metrics") {
        let name = string_at(metric, &["name"]);
        if let Some((_, fact, label, group)) = FACTS.iter().find(|known| known.0 == name) {
            draft.add_fact(fact, label, group, &string_at(metric, &["value"]));
        }
    }
    for section in array_at(json, "sections") {
        let name = string_at(section, &["name"]);
        let score = Heading::rate(format!("{name} Score"), "points");
        draft.add_outcomes(&score, outcome_at(section, &["score"]));
        for workload in array_at(section, "workloads") {
            let label = format!("{name} {}", string_at(workload, &["name"]));
            draft.add_outcomes(&Heading::rate(label, "points"), outcome_at(workload, &["score"]));
        }
    }
    Ok(vec![draft.finish()])
}
