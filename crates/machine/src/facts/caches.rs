//! The caches of the CPUs that are online, level by level.

use super::super::{Machine, counts, parse};
use super::{Row, Value, text, value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ROWS: &[Row] = &[
    text("cpu.cache.l1d", "Level 1 data cache", |m, _| cache(m, "1", &["Data", "Unified"])),
    text("cpu.cache.l1i", "Level 1 instruction cache", |m, _| cache(m, "1", &["Instruction"])),
    text("cpu.cache.l2", "Level 2 cache", |m, _| cache(m, "2", &["Unified", "Data"])),
    text("cpu.cache.l3", "Level 3 cache", |m, _| cache(m, "3", &["Unified", "Data"])),
    text("cpu.cache.l4", "Level 4 cache", |m, _| cache(m, "4", &["Unified", "Data"])),
    value("cpu.cache.line", "Cache line", |m, _| {
        let line: u64 = m.number(&format!("{}/index0/coherency_line_size", dir(0)))?;
        Some(Value::bytes(line))
    }),
];

/// Returns the number of caches of a level, their size, and the number of CPUs that share each. Cores of
/// different kinds have different ones.
fn cache(machine: &Machine, level: &str, kinds: &[&str]) -> Option<String> {
    // (size, CPUs that share it) → the distinct sets of CPUs.
    let mut caches = BTreeMap::<(u64, usize), BTreeSet<String>>::new();
    for cpu in counts::online(machine) {
        if let Some((size, sharers)) = of_cpu(machine, cpu, level, kinds) {
            let count = parse::cpu_list(&sharers).len().max(1);
            caches.entry((size, count)).or_default().insert(sharers);
        }
    }
    let part = |((size, sharers), sets): (&(u64, usize), &BTreeSet<String>)| {
        let shared = match sharers {
            1 => String::new(),
            _ => format!(" shared by {sharers} CPUs"),
        };
        format!("{} × {}{shared}", sets.len(), words::bytes(*size))
    };
    let parts: Vec<String> = caches.iter().rev().map(part).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Size in bytes, and the list of CPUs that share it.
fn of_cpu(machine: &Machine, cpu: usize, level: &str, kinds: &[&str]) -> Option<(u64, String)> {
    let dir = dir(cpu);
    machine.numbered(&dir, "index").iter().find_map(|index| {
        let file = |name: &str| machine.read(&format!("{dir}/{index}/{name}"));
        let wanted = file("level")? == level && kinds.contains(&file("type")?.as_str());
        let sharers = file("shared_cpu_list").unwrap_or_else(|| cpu.to_string());
        wanted.then(|| Some((parse::size(&file("size")?)?, sharers)))?
    })
}

fn dir(cpu: usize) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/cache")
}
