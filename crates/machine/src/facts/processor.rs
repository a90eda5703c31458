//! The CPUs: what they are, how many, how fast, and who decides it.

use super::super::{Machine, arm, core_id, counts, frequency, parse};
use super::{Path, Row, Value, on_off, text, value};
use std::collections::BTreeSet;

const CPU: &str = "/sys/devices/system/cpu";

pub(super) const ROWS: &[Row] = &[
    text("cpu.model", "Model", model),
    text("cpu.vendor", "Vendor", |m, _| cpuinfo(m, "vendor_id")),
    text("cpu.stepping", "Family, model, stepping", stepping),
    text("cpu.revision", "Revision", |m, _| arm::revisions(&m.read("/proc/cpuinfo")?)),
    text("cpu.core", "Make of core", |m, _| core_id(m)),
    text("cpu.microcode", "Microcode", |m, _| cpuinfo(m, "microcode")),
    text("cpu.online", "CPUs online", |m, _| m.read(&format!("{CPU}/online"))),
    text("cpu.possible", "CPUs possible", |m, _| m.read(&format!("{CPU}/possible"))),
    text("cpu.isolated", "CPUs isolated", |m, _| m.read(&format!("{CPU}/isolated"))),
    text("cpu.nohz_full", "CPUs without ticks", nohz_full),
    text("cpu.topology", "Topology", topology),
    text("cpu.clusters", "Clusters", clusters),
    text("cpu.capacity", "Capacities of the cores", capacities),
    text("cpu.smt", "Hardware threads", |m, _| m.read(&format!("{CPU}/smt/control"))),
    text("cpu.numa", "NUMA nodes", numa),
    value("cpu.frequency.base", "Base frequency", |m, _| policies_mhz(m, "base_frequency")),
    value("cpu.frequency.min", "Lowest frequency", |m, _| policies_mhz(m, "cpuinfo_min_freq")),
    value("cpu.frequency.max", "Highest frequency", |m, _| policies_mhz(m, "cpuinfo_max_freq")),
    value("cpu.frequency.limit", "Highest frequency allowed", |m, _| policies_mhz(m, "scaling_max_freq")),
    value("cpu.frequency.now", "Frequency now", |m, _| frequency::now_mhz(m).map(mhz)),
    text("cpu.frequency.driver", "Frequency driver", |m, _| frequency::policies(m, "scaling_driver")),
    text("cpu.governor", "Governor", |m, _| frequency::policies(m, "scaling_governor")),
    text("cpu.energy_preference", "Energy preference", |m, _| frequency::policies(m, "energy_performance_preference")),
    text("cpu.boost", "Boost", |m, _| frequency::boost(m).map(on_off)),
    text("cpu.idle.driver", "Idle driver", |m, _| m.read(&format!("{CPU}/cpuidle/current_driver"))),
    text("cpu.idle.governor", "Idle governor", idle_governor),
    text("cpu.idle.states", "Idle states", idle_states),
];

fn mhz(frequency: f64) -> Value {
    Value::number(frequency, "MHz", format!("{frequency:.0} MHz"))
}

/// A frequency of every policy: a number where all agree.
fn policies_mhz(machine: &Machine, file: &str) -> Option<Value> {
    let found = frequency::policies_mhz(machine, file);
    match found.first() {
        Some(first) if found.iter().all(|other| other == first) => Some(mhz(*first as f64)),
        _ => parse::tally(found.iter().map(|mhz| format!("{mhz} MHz"))).map(Value::text),
    }
}

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
    let [sockets, cores] = ["physical_package_id", "thread_siblings_list"].map(|file| {
        let ids = cpus.iter().filter_map(|cpu| machine.read(&format!("{CPU}/cpu{cpu}/topology/{file}")));
        ids.collect::<BTreeSet<String>>()
    });
    if sockets.is_empty() || cores.is_empty() {
        return None;
    }
    let parts = [(sockets.len(), "socket"), (cores.len(), "core"), (cpus.len(), "thread")];
    Some(parts.map(|(count, noun)| words::count(count, noun)).join(", "))
}

/// Groups of cores within a socket that share something, such as a cache or a clock.
fn clusters(machine: &Machine, _: &Path) -> Option<String> {
    let cpus = counts::online(machine);
    let lists = |file: &str| {
        let read = |cpu: &usize| machine.read(&format!("{CPU}/cpu{cpu}/topology/{file}"));
        let mut lists: Vec<String> = cpus.iter().filter_map(read).collect();
        let mut known = BTreeSet::new();
        lists.retain(|list| known.insert(list.clone()));
        lists
    };
    let clusters = lists("cluster_cpus_list");
    let others = ["thread_siblings_list", "core_siblings_list"];
    let count = words::count(clusters.len(), "cluster");
    let are_their_own = !clusters.is_empty() && others.into_iter().all(|file| lists(file) != clusters);
    are_their_own.then(|| format!("{count}: CPUs {}", clusters.join("; ")))
}

/// Returns the speed of the cores beside the fastest, which has 1024, where they differ.
fn capacities(machine: &Machine, _: &Path) -> Option<String> {
    let read = |cpu: &usize| machine.read(&format!("{CPU}/cpu{cpu}/cpu_capacity"));
    let found: Vec<String> = counts::online(machine).iter().filter_map(read).collect();
    let differ = found.iter().any(|capacity| *capacity != found[0]);
    differ.then(|| parse::tally(found)).flatten()
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
