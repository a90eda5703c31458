//! The places of the CPUs: core, socket and memory node, and the speed of their cores.

use super::{Machine, cgroup, counts, parse};
use journal::{Cpu, Topology};

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

/// The lists of CPUs of a processor with several kinds of cores, the fastest first.
const KINDS: [&str; 3] =
    ["/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus", "/sys/devices/cpu_lowpower/cpus"];

/// Cores whose capacity is within this share of the fastest of a kind are of that kind: some cores
/// of one design may clock a little higher.
const ALIKE: f64 = 0.9;

/// The CPUs that this process may run on. What the kernel does not tell makes each its own core,
/// all alike.
pub fn topology(machine: &Machine) -> Topology {
    let usable = counts::cpus_allowed(machine);
    let nodes: Vec<(u32, Vec<usize>)> = machine
        .numbered(NODE, "node")
        .iter()
        .filter_map(|name| {
            Some((
                name.strip_prefix("node")?.parse().ok()?,
                list(machine, &format!("{NODE}/{name}/cpulist")),
            ))
        })
        .collect();
    let kinds = kinds(machine, &usable);
    let cpu = |(place, cpu): (usize, &usize)| -> Option<Cpu> {
        let number = u32::try_from(*cpu).ok()?;
        let folder = format!("{CPU}/cpu{cpu}/topology");
        let siblings = list(machine, &format!("{folder}/thread_siblings_list"));
        Some(Cpu {
            number,
            core: siblings.first().and_then(|first| u32::try_from(*first).ok()).unwrap_or(number),
            // Unknown sockets are −1.
            socket: machine.number(&format!("{folder}/physical_package_id")).unwrap_or(0),
            node: nodes.iter().find(|(_, cpus)| cpus.contains(cpu)).map_or(0, |(node, _)| *node),
            kind: kinds[place],
        })
    };
    let quota = cgroup::cpu_quota(machine).map(|(quota, _)| quota);
    Topology { cpus: usable.iter().enumerate().filter_map(cpu).collect(), quota }
}

fn list(machine: &Machine, path: &str) -> Vec<usize> {
    machine.read(path).map(|text| parse::cpu_list(&text)).unwrap_or_default()
}

/// The bits of an Arm core's MIDR that say who made it and which design it is; the others are its
/// revision.
const DESIGN: u64 = 0xff00_fff0;

/// The design of an Arm core; 0 where the kernel does not say.
fn design(machine: &Machine, cpu: usize) -> u64 {
    let text = machine.read(&format!("{CPU}/cpu{cpu}/regs/identification/midr_el1"));
    let number = text.and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
    number.unwrap_or(0) & DESIGN
}

/// The kind of each CPU: by the kernel's lists, or else by capacity and design, the fastest first.
fn kinds(machine: &Machine, cpus: &[usize]) -> Vec<u32> {
    let lists = KINDS.map(|path| list(machine, path));
    let named =
        |cpu: &usize| (0..).zip(&lists).find(|(_, list)| list.contains(cpu)).map(|(kind, _)| kind);
    if let Some(kinds) = cpus.iter().map(named).collect() {
        return kinds;
    }

    let cores = cpus.iter().map(|cpu| {
        let capacity = machine.number(&format!("{CPU}/cpu{cpu}/cpu_capacity")).unwrap_or(1024.0);
        (capacity, design(machine, *cpu))
    });
    let cores: Vec<(f64, u64)> = cores.collect();
    let mut sorted = cores.clone();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    // The capacity of the fastest core of each kind, and its design.
    let mut kinds: Vec<(f64, u64)> = Vec::new();
    for (capacity, design) in sorted {
        let slowest = kinds.iter().rfind(|kind| kind.1 == design);
        if slowest.is_none_or(|(fastest, _)| capacity < fastest * ALIKE) {
            kinds.push((capacity, design));
        }
    }

    let kind = |(capacity, design): &(f64, u64)| {
        let own = (0..)
            .zip(&kinds)
            .filter(|(_, (fastest, other))| other == design && capacity <= fastest);
        own.last().map_or(0, |(kind, _)| kind)
    };
    cores.iter().map(kind).collect()
}
