//! The caches of the CPUs that are online, level by level.

use super::super::{Machine, counts, parse};
use super::{Row, Value, text, value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ROWS: &[Row] = &[
    text("cpu.cache.l1d", "Level 1 data cache", |m, _| {
        describe_caches(m, "1", &["Data", "Unified"])
    }),
    text("cpu.cache.l1i", "Level 1 instruction cache", |m, _| {
        describe_caches(m, "1", &["Instruction"])
    }),
    text("cpu.cache.l2", "Level 2 cache", |m, _| describe_caches(m, "2", &["Unified", "Data"])),
    text("cpu.cache.l3", "Level 3 cache", |m, _| describe_caches(m, "3", &["Unified", "Data"])),
    text("cpu.cache.l4", "Level 4 cache", |m, _| describe_caches(m, "4", &["Unified", "Data"])),
    value("cpu.cache.line", "Cache line", |m, _| {
        let line: u64 = m.number(&format!("{}/index0/coherency_line_size", cache_folder(0)))?;
        Some(Value::bytes(line))
    }),
];

/// Caches of one kind: of the same size, and shared by as many CPUs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CacheKind {
    bytes: u64,
    sharers: usize,
}

/// A cache of a CPU.
struct Cache {
    bytes: u64,
    /// The list of the CPUs that share it.
    sharers: String,
}

/// The number of caches of a level, their size, and the number of CPUs that share each. Cores of
/// different kinds have different ones; the largest come first.
fn describe_caches(machine: &Machine, level: &str, types: &[&str]) -> Option<String> {
    // Each cache is found once for each CPU that shares it.
    let mut caches = BTreeMap::<CacheKind, BTreeSet<String>>::new();
    for cpu in counts::online(machine) {
        if let Some(Cache { bytes, sharers }) = read_cache(machine, cpu, level, types) {
            let kind = CacheKind { bytes, sharers: parse::cpu_list(&sharers).len().max(1) };
            caches.entry(kind).or_default().insert(sharers);
        }
    }

    let mut descriptions = Vec::new();
    for (CacheKind { bytes, sharers }, caches) in caches.iter().rev() {
        let mut description = format!("{} × {}", caches.len(), words::bytes(*bytes));
        if *sharers != 1 {
            description.push_str(&format!(" shared by {sharers} CPUs"));
        }
        descriptions.push(description);
    }
    (!descriptions.is_empty()).then(|| descriptions.join(", "))
}

/// The first cache of a CPU that has this level and one of these types.
fn read_cache(machine: &Machine, cpu: usize, level: &str, types: &[&str]) -> Option<Cache> {
    let dir = cache_folder(cpu);
    for index in machine.numbered(&dir, "index") {
        let read = |name: &str| machine.read(&format!("{dir}/{index}/{name}"));
        let is_wanted = read("level").as_deref() == Some(level)
            && read("type").is_some_and(|of_cache| types.contains(&of_cache.as_str()));
        if is_wanted && let Some(bytes) = read("size").and_then(|size| parse::size(&size)) {
            let sharers = read("shared_cpu_list").unwrap_or_else(|| cpu.to_string());
            return Some(Cache { bytes, sharers });
        }
    }
    None
}

fn cache_folder(cpu: usize) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/cache")
}
