//! Geekbench's JSON (`--export-json`): the scores of its sections and workloads.

use super::{Draft, Heading, Journal, Result, Text, Value, ensure, list, number, string_at};

/// Facts of the system by their keys: name, title and group of the fact.
const METRICS: [(&str, &str, &str, &str); 3] = [
    ("Processor", "cpu.model", "Model", "Processor"),
    ("Operating System", "system.os", "Operating system", "System"),
    ("Memory", "memory.total", "Memory", "Memory"),
];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    let is_section = |section: &Value| section.get("workloads").is_some();
    list(text.value(), "sections").iter().any(is_section)
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.value();
    let version = string_at(json, &["version"]);
    let version = version.trim_start_matches("Geekbench").trim();
    let is_known = ["4.", "5.", "6."].iter().any(|known| version.starts_with(known));
    ensure!(is_known, source.unknown(source.line_of("\"version\""), "Geekbench", version, "versions 4 to 6"));
    draft.run.tool = format!("Geekbench {version}");
    draft.seconds = number(json, &["runtime"]).unwrap_or(0.0);
    for metric in list(json, "metrics") {
        let name = string_at(metric, &["name"]);
        if let Some((_, fact, title, group)) = METRICS.iter().find(|known| known.0 == name) {
            draft.fact(fact, title, group, &string_at(metric, &["value"]));
        }
    }
    for section in list(json, "sections") {
        let name = string_at(section, &["name"]);
        draft.figure(&Heading::rate(format!("{name} Score"), "points"), number(section, &["score"]));
        for workload in list(section, "workloads") {
            let label = format!("{name} {}", string_at(workload, &["name"]));
            draft.figure(&Heading::rate(label, "points"), number(workload, &["score"]));
        }
    }
    Ok(vec![draft.finish()])
}
