//! The places of the CPUs: core, socket and memory node, and the speed of their cores.

use super::{Machine, cgroup, counts, parse};
use journal::{Cpu, Topology};

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

/// The lists of CPUs of a processor with several kinds of cores, the fastest first.
const KIND_FILES: [&str; 3] =
    ["/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus", "/sys/devices/cpu_lowpower/cpus"];

/// A core is of a kind if it has at least this share of the capacity of the kind's fastest core:
/// some cores of one design may clock a little higher.
const MIN_CAPACITY_SHARE: f64 = 0.9;

/// The CPUs that this process may run on. Where the kernel does not say, each is a core of its own,
/// and all are in socket 0 and node 0 and of one kind.
pub fn topology(machine: &Machine) -> Topology {
    let usable = counts::cpus_allowed(machine);
    let nodes: Vec<(u32, Vec<usize>)> = machine
        .numbered(NODE, "node")
        .iter()
        .filter_map(|name| {
            Some((
                name.strip_prefix("node")?.parse().ok()?,
                read_cpu_list(machine, &format!("{NODE}/{name}/cpulist")),
            ))
        })
        .collect();

    let mut cpus = Vec::new();
    for (cpu, kind) in usable.iter().zip(core_kinds(machine, &usable)) {
        let Ok(number) = u32::try_from(*cpu) else { continue };
        let folder = format!("{CPU}/cpu{cpu}/topology");
        let siblings = read_cpu_list(machine, &format!("{folder}/thread_siblings_list"));
        cpus.push(Cpu {
            number,
            core: siblings.first().and_then(|first| u32::try_from(*first).ok()).unwrap_or(number),
            // The kernel has −1 for an unknown socket, which does not parse.
            socket: machine.number(&format!("{folder}/physical_package_id")).unwrap_or(0),
            node: nodes.iter().find(|(_, cpus)| cpus.contains(cpu)).map_or(0, |(node, _)| *node),
            kind,
        });
    }

    Topology { cpus, quota: cgroup::cpu_quota(machine).map(|(quota, _)| quota) }
}

fn read_cpu_list(machine: &Machine, path: &str) -> Vec<usize> {
    machine.read(path).map(|text| parse::cpu_list(&text)).unwrap_or_default()
}

/// The bits of an Arm core's MIDR that say who made it and which design it is; the others are its
/// revision.
const DESIGN: u64 = 0xff00_fff0;

/// A core as far as its kind depends on it.
#[derive(Debug, Clone, Copy)]
struct Core {
    /// 1024 where the kernel does not say.
    capacity: f64,
    /// As [`design`] has it.
    design: u64,
}

/// The design of an Arm core; 0 where the kernel does not say.
fn design(machine: &Machine, cpu: usize) -> u64 {
    let text = machine.read(&format!("{CPU}/cpu{cpu}/regs/identification/midr_el1"));
    let number = text.and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
    number.unwrap_or(0) & DESIGN
}

/// The kind of each CPU: by the kernel's lists, or else by capacity and design, the fastest first.
fn core_kinds(machine: &Machine, cpus: &[usize]) -> Vec<u32> {
    let lists = KIND_FILES.map(|path| read_cpu_list(machine, path));
    let listed_kinds: Option<Vec<u32>> = cpus
        .iter()
        .map(|cpu| (0..).zip(&lists).find(|(_, list)| list.contains(cpu)).map(|(kind, _)| kind))
        .collect();
    if let Some(kinds) = listed_kinds {
        return kinds;
    }

    let mut cores: Vec<Core> = Vec::new();
    for cpu in cpus {
        let capacity = machine.number(&format!("{CPU}/cpu{cpu}/cpu_capacity")).unwrap_or(1024.0);
        cores.push(Core { capacity, design: design(machine, *cpu) });
    }

    let mut fastest_first = cores.clone();
    fastest_first.sort_by(|a, b| b.capacity.total_cmp(&a.capacity));
    // The fastest core of each kind.
    let mut kinds: Vec<Core> = Vec::new();
    for core in fastest_first {
        let slowest = kinds.iter().rfind(|kind| kind.design == core.design);
        if slowest.is_none_or(|slowest| core.capacity < slowest.capacity * MIN_CAPACITY_SHARE) {
            kinds.push(core);
        }
    }

    cores.iter().map(|core| find_kind(core, &kinds)).collect()
}

/// The number of a core's kind: the slowest whose fastest core has its design and is as fast.
fn find_kind(core: &Core, kinds: &[Core]) -> u32 {
    let candidates = (0..)
        .zip(kinds)
        .filter(|(_, kind)| kind.design == core.design && core.capacity <= kind.capacity);
    candidates.last().map_or(0, |(number, _)| number)
}
