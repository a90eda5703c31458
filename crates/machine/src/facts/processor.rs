//! The CPUs: what they are, how many, how fast, and who decides it.

use super::super::{Machine, arm, counts, frequency, parse};
use super::{Row, on_off};
use std::collections::BTreeSet;
use std::path::Path;

const CPU: &str = "/sys/devices/system/cpu";

pub const ROWS: &[Row] = &[
    ("cpu.model", "Model", model),
    ("cpu.vendor", "Vendor", |m, _| cpuinfo(m, "vendor_id")),
    ("cpu.stepping", "Family, model, stepping", stepping),
    ("cpu.microcode", "Microcode", |m, _| cpuinfo(m, "microcode")),
    ("cpu.online", "CPUs online", |m, _| m.read(&format!("{CPU}/online"))),
    ("cpu.possible", "CPUs possible", |m, _| m.read(&format!("{CPU}/possible"))),
    ("cpu.isolated", "CPUs isolated", |m, _| m.read(&format!("{CPU}/isolated"))),
    ("cpu.nohz_full", "CPUs without ticks", nohz_full),
    ("cpu.topology", "Topology", topology),
    ("cpu.smt", "Hardware threads", |m, _| m.read(&format!("{CPU}/smt/control"))),
    ("cpu.numa", "NUMA nodes", numa),
    ("cpu.frequency.base", "Base frequency", |m, _| frequency::policies_mhz(m, "base_frequency")),
    ("cpu.frequency.min", "Lowest frequency", |m, _| frequency::policies_mhz(m, "cpuinfo_min_freq")),
    ("cpu.frequency.max", "Highest frequency", |m, _| frequency::policies_mhz(m, "cpuinfo_max_freq")),
    ("cpu.frequency.limit", "Highest frequency allowed", |m, _| frequency::policies_mhz(m, "scaling_max_freq")),
    ("cpu.frequency.now", "Frequency now", |m, _| frequency::now_mhz(m).map(|mhz| format!("{mhz:.0} MHz"))),
    ("cpu.frequency.driver", "Frequency driver", |m, _| frequency::policies(m, "scaling_driver")),
    ("cpu.governor", "Governor", |m, _| frequency::policies(m, "scaling_governor")),
    ("cpu.energy_preference", "Energy preference", |m, _| frequency::policies(m, "energy_performance_preference")),
    ("cpu.boost", "Boost", |m, _| frequency::boost(m).map(on_off)),
    ("cpu.idle.driver", "Idle driver", |m, _| m.read(&format!("{CPU}/cpuidle/current_driver"))),
    ("cpu.idle.governor", "Idle governor", idle_governor),
    ("cpu.idle.states", "Idle states", idle_states),
];

/// The value of the first CPU; the file is long where there are many.
fn cpuinfo(machine: &Machine, key: &str) -> Option<String> {
    parse::field(&machine.read_start("/proc/cpuinfo", 16_384)?, key).map(str::to_string)
}

/// Every architecture has a word of its own for it.
fn model(machine: &Machine, _: &Path) -> Option<String> {
    let keys = ["model name", "cpu model", "Model Name", "uarch", "cpu", "Processor"];
    let named = keys.iter().find_map(|key| cpuinfo(machine, key));
    named
        .or_else(|| arm::cores(&machine.read("/proc/cpuinfo")?))
        .or_else(|| cpuinfo(machine, "isa"))
        .or_else(|| cpuinfo(machine, "Hardware"))
}

fn stepping(machine: &Machine, _: &Path) -> Option<String> {
    let parts = ["cpu family", "model", "stepping"].map(|key| cpuinfo(machine, key));
    let parts = parts.into_iter().collect::<Option<Vec<String>>>()?;
    Some(parts.join(" "))
}

fn nohz_full(machine: &Machine, _: &Path) -> Option<String> {
    // The kernel prints "(null)" where there are none.
    machine.read(&format!("{CPU}/nohz_full")).filter(|list| !list.contains("null"))
}

/// Sockets, cores and threads of the CPUs that are online.
fn topology(machine: &Machine, _: &Path) -> Option<String> {
    let cpus = counts::online(machine);
    let id = |cpu: &usize, file: &str| machine.read(&format!("{CPU}/cpu{cpu}/topology/{file}"));
    let socket = |cpu: &usize| id(cpu, "physical_package_id");
    let cores = |cpu: &usize| id(cpu, "thread_siblings_list");
    let sockets: BTreeSet<String> = cpus.iter().filter_map(socket).collect();
    let cores: BTreeSet<String> = cpus.iter().filter_map(cores).collect();
    if sockets.is_empty() || cores.is_empty() {
        return None;
    }
    let parts = [(sockets.len(), "socket"), (cores.len(), "core"), (cpus.len(), "thread")];
    Some(parts.map(|(count, noun)| words::count(count, noun)).join(", "))
}

fn numa(machine: &Machine, _: &Path) -> Option<String> {
    let dir = "/sys/devices/system/node";
    let nodes = machine.numbered(dir, "node");
    let cpus: Vec<String> =
        nodes.iter().map(|node| machine.read(&format!("{dir}/{node}/cpulist")).unwrap_or("none".to_string())).collect();
    let count = words::count(nodes.len(), "node");
    (!nodes.is_empty()).then(|| format!("{count}: CPUs {}", cpus.join("; ")))
}

fn idle_governor(machine: &Machine, _: &Path) -> Option<String> {
    let files = ["current_governor", "current_governor_ro"];
    files.iter().find_map(|file| machine.read(&format!("{CPU}/cpuidle/{file}")))
}

/// The states of the first CPU and the time each takes to leave.
fn idle_states(machine: &Machine, _: &Path) -> Option<String> {
    let dir = format!("{CPU}/cpu0/cpuidle");
    let state = |state: &String| {
        let name = machine.read(&format!("{dir}/{state}/name"))?;
        let latency = machine.read(&format!("{dir}/{state}/latency")).unwrap_or("?".to_string());
        Some(format!("{name} {latency} µs"))
    };
    let states: Vec<String> = machine.numbered(&dir, "state").iter().filter_map(state).collect();
    (!states.is_empty()).then(|| states.join(", "))
}
