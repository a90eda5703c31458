//! The number of CPUs, and of copies of a test that can be started.

use super::cgroup::{self, Memory};
use super::{Machine, parse};

/// Minimum bytes of memory that stay with other programs.
const MIN_SPARE_BYTES: u64 = 256 << 20;

/// The number of CPUs that are online, whoever may use them; at least 1.
pub fn cpus_online(machine: &Machine) -> u32 {
    u32::try_from(online(machine).len()).unwrap_or(u32::MAX).max(1)
}

/// The number of CPUs that are online and that this process may run on (affinity and cpusets); at
/// least 1.
pub fn cpus_usable(machine: &Machine) -> u32 {
    u32::try_from(cpus_allowed(machine).len()).unwrap_or(u32::MAX).max(1)
}

/// The number of the first CPU that is online and that this process may run on; 0 if none is known.
pub fn first_usable(machine: &Machine) -> u32 {
    cpus_allowed(machine).first().and_then(|cpu| u32::try_from(*cpu).ok()).unwrap_or(0)
}

/// The numbers of the CPUs that are online and that this process may run on.
pub fn cpus_allowed(machine: &Machine) -> Vec<usize> {
    let mut cpus = online(machine);
    // The list may name CPUs that could be plugged in but are not there.
    if let Some(allowed) =
        machine.field("/proc/self/status", "Cpus_allowed_list").map(|list| parse::cpu_list(&list))
    {
        cpus.retain(|cpu| allowed.contains(cpu));
    }
    cpus
}

/// The number of processes or threads that can still be started here: the smaller of what
/// the user's process limit and the pids control group leave; `None` where neither limits them.
pub fn copies_limit(machine: &Machine) -> Option<u64> {
    [processes_left(machine), cgroup::pids_left(machine)].into_iter().flatten().min()
}

/// Bytes of memory that a program may take without pushing others out: what is available on the
/// machine and in the control groups, less a twentieth of the whole, or 256 MiB, which stays.
/// `None` if the kernel does not report it.
pub fn memory_free(machine: &Machine) -> Option<u64> {
    let mut memories = cgroup::memories(machine);
    if let (Some(limit), Some(left)) = (machine.memory("MemTotal"), machine.memory("MemAvailable"))
    {
        memories.push(Memory { limit, left });
    }
    memories
        .iter()
        .map(|memory| memory.left.saturating_sub((memory.limit / 20).max(MIN_SPARE_BYTES)))
        .min()
}

/// The numbers of the CPUs that are online.
pub fn online(machine: &Machine) -> Vec<usize> {
    let list = machine.read("/sys/devices/system/cpu/online");
    let cpus = list.map(|list| parse::cpu_list(&list)).unwrap_or_default();
    if !cpus.is_empty() {
        return cpus;
    }

    // A container may hide /sys; /proc/stat has a line for each CPU that is online.
    let stat = machine.read("/proc/stat").unwrap_or_default();
    let number = |line: &str| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok();
    stat.lines().filter_map(number).collect()
}

/// The real user id, as seen in this user namespace.
pub fn user(machine: &Machine) -> Option<u32> {
    machine.field("/proc/self/status", "Uid")?.split_whitespace().next()?.parse().ok()
}

/// True if this is root on the machine itself, not the root of a user namespace, whom the
/// limits of the user outside still bind.
pub fn is_root(machine: &Machine) -> bool {
    // `0 1000 1`: the first user inside is user 1000 outside.
    let map = machine.read("/proc/self/uid_map").unwrap_or_default();
    let outside = map.split_whitespace().nth(1);
    user(machine) == Some(0) && outside.is_none_or(|id| id == "0")
}

/// Soft and hard limit of a row of /proc/self/limits, such as `Max processes`; `None` inside is
/// "unlimited".
pub fn limit(machine: &Machine, row: &str) -> Option<(Option<u64>, Option<u64>)> {
    let text = machine.read("/proc/self/limits")?;
    let mut words = text.lines().find_map(|line| line.strip_prefix(row))?.split_whitespace();
    let mut value = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some((value()?, value()?))
}

fn processes_left(machine: &Machine) -> Option<u64> {
    // The limit does not bind root.
    if is_root(machine) {
        return None;
    }

    let max_processes = limit(machine, "Max processes")?.0?;
    let user = user(machine)?;
    // The limit counts threads.
    let threads: u64 = machine
        .numbered("/proc", "")
        .iter()
        .filter_map(|pid| count_threads(&machine.read(&format!("/proc/{pid}/status"))?, user))
        .sum();
    Some(max_processes.saturating_sub(threads))
}

/// The threads of a process, if it belongs to `user`.
fn count_threads(status: &str, user: u32) -> Option<u64> {
    let owner = parse::field(status, "Uid")?.split_whitespace().next()?;
    (owner.parse() == Ok(user)).then(|| parse::field(status, "Threads")?.parse().ok())?
}
