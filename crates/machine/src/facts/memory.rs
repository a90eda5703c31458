//! The memory and how the kernel manages it.

use super::super::{Machine, parse};
use super::{Path, Quantity, Row, Value, switch_state, text, value};
use std::str::FromStr;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) const ROWS: &[Row] = &[
    value("memory.total", "Memory", |m, _| m.memory("MemTotal").map(Value::bytes)),
    value("memory.available", "Available", |m, _| m.memory("MemAvailable").map(Value::bytes)),
    value("memory.page", "Page", page_size),
    value("memory.swap", "Swap", swap),
    value("memory.swappiness", "Swappiness", |m, _| {
        vm_setting(m, "swappiness").map(|share| Value::count(share, ""))
    }),
    text("memory.zswap", "Compressed swap cache", |m, _| {
        switch_state(m, "/sys/module/zswap/parameters/enabled", &["Y"])
    }),
    text("memory.thp", "Transparent huge pages", |m, _| huge_page_setting(m, "enabled")),
    text("memory.thp.defrag", "Huge page defragmentation", |m, _| huge_page_setting(m, "defrag")),
    text("memory.thp.shmem", "Huge pages of shared memory", |m, _| {
        huge_page_setting(m, "shmem_enabled")
    }),
    value("memory.huge_pages", "Huge pages reserved", huge_pages),
    text("memory.ksm", "Same-page merging", |m, _| {
        switch_state(m, "/sys/kernel/mm/ksm/run", &["1"])
    }),
    text("memory.numa_balancing", "NUMA balancing", |m, _| {
        switch_state(m, "/proc/sys/kernel/numa_balancing", &["1", "2", "3"])
    }),
    text("memory.overcommit", "Overcommit", overcommit),
    value("memory.dirty_ratio", "Dirty pages, writers wait at", |m, _| dirty_limit(m, "dirty")),
    value("memory.dirty_background_ratio", "Dirty pages, written from", |m, _| {
        dirty_limit(m, "dirty_background")
    }),
];

fn vm_setting<T: FromStr>(machine: &Machine, key: &str) -> Option<T> {
    machine.number(&format!("/proc/sys/vm/{key}"))
}

fn huge_page_setting(machine: &Machine, file: &str) -> Option<String> {
    machine.read(&format!("{THP}/{file}")).and_then(|l| parse::chosen(&l).map(str::to_string))
}

/// The page size is the running kernel's: no file has it.
fn page_size(machine: &Machine, _: &Path) -> Option<Value> {
    machine.is_live().then(|| Value::bytes(rustix::param::page_size() as u64))
}

fn swap(machine: &Machine, _: &Path) -> Option<Value> {
    let total = machine.memory("SwapTotal")?;
    if total == 0 {
        return Some(Value::number(0.0, "bytes", "none".to_string()));
    }

    let used = total.saturating_sub(machine.memory("SwapFree").unwrap_or(total));
    let text = format!("{}, {} used", words::bytes(total), words::bytes(used));
    Some(Value { text, ..Value::bytes(total) })
}

fn huge_pages(machine: &Machine, _: &Path) -> Option<Value> {
    let count: u64 = machine.field("/proc/meminfo", "HugePages_Total")?.parse().ok()?;
    let size = machine.memory("Hugepagesize")?;
    Some(Value {
        text: format!("{count} × {}", words::bytes(size)),
        ..Value::bytes(count.checked_mul(size)?)
    })
}

fn overcommit(machine: &Machine, _: &Path) -> Option<String> {
    let mode: String = vm_setting(machine, "overcommit_memory")?;
    let name = match mode.as_str() {
        "0" => "heuristic",
        "1" => "always",
        "2" => "never",
        _ => return Some(mode),
    };
    Some(name.to_string())
}

/// A limit of dirty pages. Either a share of the memory or a number of bytes is in force; the other
/// reads 0.
fn dirty_limit(machine: &Machine, key: &str) -> Option<Value> {
    match vm_setting(machine, &format!("{key}_bytes")) {
        Some(bytes) if bytes > 0 => Some(Value::bytes(bytes)),
        _ => vm_setting(machine, &format!("{key}_ratio"))
            .map(|share| Value::from(Quantity::new(share, "%"))),
    }
}
