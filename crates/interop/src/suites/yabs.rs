//! YABS's JSON (`-w`, `-j`): its fio mix, Geekbench scores and iperf speeds.

use super::{
    Draft, Heading, Journal, Outcome, Result, Text, array_at, date, number_at, outcome_at,
    parse_outcome, string_at,
};

/// Facts of the system: the path of each, and its name, label and group.
const FACTS: [(&[&str], &str, &str, &str); 6] = [
    (&["os", "distro"], "system.os", "Operating system", "System"),
    (&["os", "kernel"], "kernel.release", "Release", "Kernel"),
    (&["os", "arch"], "system.architecture", "Architecture", "System"),
    (&["os", "vm"], "system.virtualisation", "Virtual", "System"),
    (&["cpu", "model"], "cpu.model", "Model", "Processor"),
    (&["cpu", "freq"], "cpu.frequency", "Frequency", "Processor"),
];

/// The ways of the disk test: the ends of their keys, and their names.
const WAYS: [(&str, &str); 3] = [("r", "read"), ("w", "write"), ("rw", "total")];

/// iperf's units in Mbit/s.
const SPEEDS: [(&str, f64); 3] = [("Kbits/sec", 1e-3), ("Mbits/sec", 1.0), ("Gbits/sec", 1e3)];

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    let json = text.json_or_null();
    // The first version with JSON has no `os`: its version, which is a date, must do.
    let is_dated = string_at(json, &["version"]).starts_with("v20");
    let has_version = json.get("version").is_some() && (is_dated || json.get("os").is_some());
    let results = ["fio", "geekbench", "iperf", "mem"];
    has_version && results.iter().any(|key| json.get(key).is_some())
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.json_or_null();
    let version = string_at(json, &["version"]);
    if !version.starts_with("v20") {
        return Err(source.unknown_version_error(
            source.line_of("\"version\""),
            "YABS",
            &version,
            "a version such as v2025-04-20",
        ));
    }
    draft.run.tool = format!("YABS {version}");
    let date = string_at(json, &["time"]);
    draft.set_start_or_quote(&date, date::from_packed(&date).or(date::from_any_form(&date)));
    draft.run.cpus =
        number_at(json, &["cpu", "cores"]).map_or(0, |cores| cores.min(65_536.0) as usize);
    for (path, name, label, group) in FACTS {
        draft.add_fact(name, label, group, &string_at(json, path));
    }

    for disk in array_at(json, "fio") {
        let size = string_at(disk, &["bs"]);
        let units = string_at(disk, &["speed_units"]);
        let units = if units.is_empty() { "KBps" } else { &units };
        for (end, way) in WAYS {
            let speed = Heading::rate(format!("fio {size} {way}"), units);
            draft.add_outcomes(&speed, outcome_at(disk, &[&format!("speed_{end}")]));
            let rate = Heading::rate(format!("fio {size} {way} IOPS"), "IOPS");
            draft.add_outcomes(&rate, outcome_at(disk, &[&format!("iops_{end}")]));
        }
    }
    for scores in array_at(json, "geekbench") {
        let version = string_at(scores, &["version"]);
        for way in ["single", "multi"] {
            let score = Heading::rate(format!("Geekbench {version} {way}"), "points");
            draft.add_outcomes(&score, outcome_at(scores, &[way]));
        }
    }
    for server in array_at(json, "iperf") {
        let place = ["mode", "provider", "loc"].map(|key| string_at(server, &[key])).join(" ");
        for way in ["send", "recv"] {
            let heading = Heading::rate(format!("iperf {place} {way}"), "Mbit/s");
            let speed = parse_quantity(&string_at(server, &[way]), &SPEEDS);
            draft.add_outcomes(&heading, speed);
        }
        let heading = Heading::time(format!("iperf {place} latency"), "ms");
        let latency = parse_quantity(&string_at(server, &["latency"]), &[("ms", 1.0)]);
        draft.add_outcomes(&heading, latency);
    }
    Ok(vec![draft.finish()])
}

/// The number before one of `units`, times the unit's factor, or the reason why there is none, such
/// as "busy"; `None` of an empty text.
fn parse_quantity(text: &str, units: &[(&str, f64)]) -> Option<Outcome> {
    if text.is_empty() {
        return None;
    }
    for (unit, factor) in units {
        if let Some(number) = text.strip_suffix(unit) {
            return Some(parse_outcome(number).map(|number| factor * number));
        }
    }
    Some(parse_outcome(text))
}
