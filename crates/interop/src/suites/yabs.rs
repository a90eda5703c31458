//! YABS's JSON (`-w`, `-j`): its fio mix, Geekbench scores and iperf speeds.

use super::{Draft, Heading, Journal, Result, Text, date, leading, list, number, string_at};

/// Facts of the system: the path of each, then name, title and group of the fact.
const FACTS: [(&[&str], &str, &str, &str); 6] = [
    (&["os", "distro"], "system.os", "Operating system", "System"),
    (&["os", "kernel"], "kernel.release", "Release", "Kernel"),
    (&["os", "arch"], "system.architecture", "Architecture", "System"),
    (&["os", "vm"], "system.virtualisation", "Virtual", "System"),
    (&["cpu", "model"], "cpu.model", "Model", "Processor"),
    (&["cpu", "freq"], "cpu.frequency", "Frequency", "Processor"),
];

/// The ways of its disk test, by the ends of their keys.
const WAYS: [(&str, &str); 3] = [("r", "read"), ("w", "write"), ("rw", "total")];

/// The worth of iperf's units in Mbit/s.
const SPEEDS: [(&str, f64); 3] = [("Kbits/sec", 1e-3), ("Mbits/sec", 1.0), ("Gbits/sec", 1e3)];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    let has = |key: &str| text.value().get(key).is_some();
    has("version") && has("os") && ["fio", "geekbench", "iperf", "mem"].into_iter().any(has)
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.value();
    let version = string_at(json, &["version"]);
    if !version.starts_with("v20") {
        return Err(source.unknown(source.line_of("\"version\""), "YABS", &version, "a version such as v2025-04-20"));
    }
    draft.run.tool = format!("YABS {version}");
    draft.started(date::packed(&string_at(json, &["time"])));
    draft.run.cpus = number(json, &["cpu", "cores"]).map_or(0, |cores| cores.min(65_536.0) as usize);
    for (path, name, title, group) in FACTS {
        draft.fact(name, title, group, &string_at(json, path));
    }
    for disk in list(json, "fio") {
        let size = string_at(disk, &["bs"]);
        let units = string_at(disk, &["speed_units"]);
        let units = if units.is_empty() { "KBps" } else { &units };
        for (end, way) in WAYS {
            let speed = Heading::rate(format!("fio {size} {way}"), units);
            draft.figure(&speed, number(disk, &[&format!("speed_{end}")]));
            let rate = Heading::rate(format!("fio {size} {way} IOPS"), "IOPS");
            draft.figure(&rate, number(disk, &[&format!("iops_{end}")]));
        }
    }
    for scores in list(json, "geekbench") {
        let version = string_at(scores, &["version"]);
        for way in ["single", "multi"] {
            draft.figure(&Heading::rate(format!("Geekbench {version} {way}"), "points"), number(scores, &[way]));
        }
    }
    for server in list(json, "iperf") {
        let place = ["mode", "provider", "loc"].map(|key| string_at(server, &[key])).join(" ");
        for way in ["send", "recv"] {
            let speed = string_at(server, &[way]);
            let worth = SPEEDS.iter().find(|(unit, _)| speed.ends_with(unit)).map(|(_, worth)| *worth);
            let speed = worth.zip(leading(&speed)).map(|(worth, number)| worth * number);
            draft.figure(&Heading::rate(format!("iperf {place} {way}"), "Mbit/s"), speed);
        }
    }
    Ok(vec![draft.finish()])
}
