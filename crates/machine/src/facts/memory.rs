//! The memory and how the kernel manages it.

use super::super::{Machine, parse};
use super::{Row, on_off};
use std::path::Path;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";

pub const ROWS: &[Row] = &[
    ("memory.total", "Memory", |m, _| m.memory("MemTotal").map(words::bytes)),
    ("memory.available", "Available", |m, _| m.memory("MemAvailable").map(words::bytes)),
    ("memory.page", "Page", page),
    ("memory.swap", "Swap", swap),
    ("memory.swappiness", "Swappiness", |m, _| vm(m, "swappiness")),
    ("memory.zswap", "Compressed swap cache", zswap),
    ("memory.thp", "Transparent huge pages", |m, _| thp(m, "enabled")),
    ("memory.thp.defrag", "Huge page defragmentation", |m, _| thp(m, "defrag")),
    ("memory.thp.shmem", "Huge pages of shared memory", |m, _| thp(m, "shmem_enabled")),
    ("memory.huge_pages", "Huge pages reserved", huge_pages),
    ("memory.ksm", "Same-page merging", ksm),
    ("memory.numa_balancing", "NUMA balancing", numa_balancing),
    ("memory.overcommit", "Overcommit", overcommit),
    ("memory.dirty_ratio", "Dirty pages, writers wait at", |m, _| dirty(m, "dirty")),
    ("memory.dirty_background_ratio", "Dirty pages, written from", |m, _| dirty(m, "dirty_background")),
];

fn vm(machine: &Machine, key: &str) -> Option<String> {
    machine.read(&format!("/proc/sys/vm/{key}"))
}

fn thp(machine: &Machine, file: &str) -> Option<String> {
    machine.read(&format!("{THP}/{file}")).and_then(|l| parse::chosen(&l).map(str::to_string))
}

/// The page size is the running kernel's: no file tells it.
fn page(machine: &Machine, _: &Path) -> Option<String> {
    machine.is_live().then(|| words::bytes(rustix::param::page_size() as u64))
}

fn swap(machine: &Machine, _: &Path) -> Option<String> {
    let total = machine.memory("SwapTotal")?;
    if total == 0 {
        return Some("none".to_string());
    }
    let used = total.saturating_sub(machine.memory("SwapFree").unwrap_or(total));
    Some(format!("{}, {} used", words::bytes(total), words::bytes(used)))
}

fn zswap(machine: &Machine, _: &Path) -> Option<String> {
    machine.read("/sys/module/zswap/parameters/enabled").map(|value| on_off(value == "Y"))
}

fn huge_pages(machine: &Machine, _: &Path) -> Option<String> {
    let count = machine.field("/proc/meminfo", "HugePages_Total")?;
    let size = machine.memory("Hugepagesize")?;
    Some(format!("{count} × {}", words::bytes(size)))
}

fn ksm(machine: &Machine, _: &Path) -> Option<String> {
    machine.read("/sys/kernel/mm/ksm/run").map(|value| on_off(value == "1"))
}

fn numa_balancing(machine: &Machine, _: &Path) -> Option<String> {
    machine.read("/proc/sys/kernel/numa_balancing").map(|value| on_off(value != "0"))
}

fn overcommit(machine: &Machine, _: &Path) -> Option<String> {
    let mode = vm(machine, "overcommit_memory")?;
    let name = match mode.as_str() {
        "0" => "heuristic",
        "1" => "always",
        "2" => "never",
        _ => return Some(mode),
    };
    Some(name.to_string())
}

/// Either a share of the memory or a number of bytes is in force; the other reads 0.
fn dirty(machine: &Machine, key: &str) -> Option<String> {
    let bytes: Option<u64> = machine.number(&format!("/proc/sys/vm/{key}_bytes"));
    match bytes {
        Some(bytes) if bytes > 0 => Some(words::bytes(bytes)),
        _ => vm(machine, &format!("{key}_ratio")).map(|share| format!("{share} %")),
    }
}
