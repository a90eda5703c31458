//! The CPUs: what they are, how many, how fast, and who decides it.

use super::super::{Machine, arm, core_id, counts, frequency, parse};
use super::{Path, Row, Value, on_or_off, text, value};
use words::Unique;

const CPU: &str = "/sys/devices/system/cpu";

/// The start of /proc/cpuinfo that is read: it has the first CPU.
const CPUINFO_START_BYTES: u64 = 16_384;

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
    value("cpu.frequency.limit", "Highest frequency allowed", |m, _| {
        policies_mhz(m, "scaling_max_freq")
    }),
    value("cpu.frequency.now", "Frequency now", |m, _| frequency::now_mhz(m).map(mhz)),
    text("cpu.frequency.driver", "Frequency driver", |m, _| {
        frequency::policies(m, "scaling_driver")
    }),
    text("cpu.governor", "Governor", |m, _| frequency::policies(m, "scaling_governor")),
    text("cpu.energy_preference", "Energy preference", |m, _| {
        frequency::policies(m, "energy_performance_preference")
    }),
    text("cpu.boost", "Boost", |m, _| frequency::boost(m).map(on_or_off)),
    text("cpu.idle.driver", "Idle driver", |m, _| m.read(&format!("{CPU}/cpuidle/current_driver"))),
    text("cpu.idle.governor", "Idle governor", idle_governor),
    text("cpu.idle.states", "Idle states", idle_states),
];

fn mhz(frequency: f64) -> Value {
    Value::number(frequency, "MHz", format!("{frequency:.0} MHz"))
}

/// A frequency of every policy: a number if all agree.
fn policies_mhz(machine: &Machine, file: &str) -> Option<Value> {
    let frequencies = frequency::policies_mhz(machine, file);
    match frequencies.first() {
        Some(first) if frequencies.iter().all(|other| other == first) => Some(mhz(*first as f64)),
        _ => parse::tally(frequencies.iter().map(|mhz| format!("{mhz} MHz"))).map(Value::text),
    }
}

/// The value of the first CPU; the file is long where there are many.
fn cpuinfo(machine: &Machine, key: &str) -> Option<String> {
    let text = machine.read_start("/proc/cpuinfo", CPUINFO_START_BYTES)?;
    parse::field(&text, key).map(str::to_string)
}

/// The model of the CPU: every architecture has a key of its own for it.
fn model(machine: &Machine, _: &Path) -> Option<String> {
    let keys = ["model name", "cpu model", "Model Name", "uarch", "cpu", "Processor"];
    let named = keys.iter().find_map(|key| cpuinfo(machine, key));
    named
        .or_else(|| arm::cores(&machine.read("/proc/cpuinfo")?))
        .or_else(|| cpuinfo(machine, "isa"))
        .or_else(|| cpuinfo(machine, "Hardware"))
}

fn stepping(machine: &Machine, _: &Path) -> Option<String> {
    let numbers: Option<Vec<String>> =
        ["cpu family", "model", "stepping"].into_iter().map(|key| cpuinfo(machine, key)).collect();
    Some(numbers?.join(" "))
}

fn nohz_full(machine: &Machine, _: &Path) -> Option<String> {
    // The kernel prints "(null)" where there are none.
    machine.read(&format!("{CPU}/nohz_full")).filter(|list| !list.contains("null"))
}

/// Sockets, cores and threads of the CPUs that are online.
fn topology(machine: &Machine, _: &Path) -> Option<String> {
    let cpus = counts::online(machine);
    let sockets = distinct_values(machine, &cpus, "physical_package_id");
    let cores = distinct_values(machine, &cpus, "thread_siblings_list");
    if sockets.is_empty() || cores.is_empty() {
        return None;
    }

    let parts = [(sockets.len(), "socket"), (cores.len(), "core"), (cpus.len(), "thread")];
    Some(parts.map(|(count, noun)| words::count(count, noun)).join(", "))
}

/// Groups of cores within a socket that share something, such as a cache or a clock. `None` where
/// they are no other groups than cores or sockets.
fn clusters(machine: &Machine, _: &Path) -> Option<String> {
    let cpus = counts::online(machine);
    let clusters = distinct_values(machine, &cpus, "cluster_cpus_list");
    let is_distinct = ["thread_siblings_list", "core_siblings_list"]
        .into_iter()
        .all(|file| distinct_values(machine, &cpus, file) != clusters);
    if clusters.is_empty() || !is_distinct {
        return None;
    }

    let count = words::count(clusters.len(), "cluster");
    Some(format!("{count}: CPUs {}", clusters.join("; ")))
}

/// The values of a file of the CPUs' topology, each once, in the order of the CPUs.
fn distinct_values(machine: &Machine, cpus: &[usize], file: &str) -> Vec<String> {
    cpus.iter().filter_map(|cpu| machine.read(&format!("{CPU}/cpu{cpu}/topology/{file}"))).unique()
}

/// The capacities of the CPUs, on a scale where the fastest has 1024; `None` if they are equal or
/// not known.
fn capacities(machine: &Machine, _: &Path) -> Option<String> {
    let capacities: Vec<String> = counts::online(machine)
        .iter()
        .filter_map(|cpu| machine.read(&format!("{CPU}/cpu{cpu}/cpu_capacity")))
        .collect();
    if capacities.iter().all(|capacity| *capacity == capacities[0]) {
        return None;
    }

    parse::tally(capacities)
}

fn numa(machine: &Machine, _: &Path) -> Option<String> {
    let dir = "/sys/devices/system/node";
    let mut lists = Vec::new();
    for node in machine.numbered(dir, "node") {
        let cpus = machine.read(&format!("{dir}/{node}/cpulist"));
        lists.push(cpus.unwrap_or("none".to_string()));
    }
    if lists.is_empty() {
        return None;
    }
    Some(format!("{}: CPUs {}", words::count(lists.len(), "node"), lists.join("; ")))
}

fn idle_governor(machine: &Machine, _: &Path) -> Option<String> {
    let files = ["current_governor", "current_governor_ro"];
    files.iter().find_map(|file| machine.read(&format!("{CPU}/cpuidle/{file}")))
}

/// The states of the first CPU and the time each takes to leave.
fn idle_states(machine: &Machine, _: &Path) -> Option<String> {
    let dir = format!("{CPU}/cpu0/cpuidle");
    let mut states = Vec::new();
    for state in machine.numbered(&dir, "state") {
        if let Some(name) = machine.read(&format!("{dir}/{state}/name")) {
            let latency = machine.read(&format!("{dir}/{state}/latency"));
            states.push(format!("{name} {} µs", latency.unwrap_or("?".to_string())));
        }
    }
    (!states.is_empty()).then(|| states.join(", "))
}
