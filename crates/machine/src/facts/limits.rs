//! What limits this process: CPUs it may use, control groups, resource limits.

use super::super::{Machine, cgroup, counts};
use super::Row;
use std::path::Path;

pub const ROWS: &[Row] = &[
    ("limits.cpus", "CPUs usable", cpus),
    ("limits.cgroup.version", "Control groups", |m, _| cgroup::version(m)),
    ("limits.cgroup.path", "Own control group", |m, _| cgroup::own_path(m)),
    ("limits.cgroup.cpu", "CPU quota", |m, _| cgroup::cpu_quota(m).map(|cpus| format!("{cpus:.2} CPUs"))),
    ("limits.cgroup.memory", "Memory limit", |m, _| cgroup::memory_max(m).map(words::bytes)),
    ("limits.cgroup.pids", "Process limit of the group", |m, _| cgroup::pids_max(m).map(|count| count.to_string())),
    ("limits.nproc", "Processes of the user", |m, _| resource(m, "Max processes")),
    ("limits.nofile", "Open files", |m, _| resource(m, "Max open files")),
    ("limits.core", "Core file", |m, _| resource(m, "Max core file size")),
    ("limits.stack", "Stack", |m, _| resource(m, "Max stack size")),
    ("limits.memlock", "Locked memory", |m, _| resource(m, "Max locked memory")),
    ("limits.rtprio", "Real-time priority", |m, _| resource(m, "Max realtime priority")),
    ("limits.pid_max", "Highest process id", |m, _| m.read("/proc/sys/kernel/pid_max")),
    ("limits.threads_max", "Threads of the system", |m, _| m.read("/proc/sys/kernel/threads-max")),
];

fn cpus(machine: &Machine, _: &Path) -> Option<String> {
    let mask = machine.field("/proc/self/status", "Cpus_allowed_list")?;
    let (usable, online) = (counts::cpus_usable(machine), counts::cpus_online(machine));
    Some(format!("{usable} of {online} (mask {mask})"))
}

/// The soft limit, and the hard one where it differs.
fn resource(machine: &Machine, row: &str) -> Option<String> {
    let text = |limit: Option<u64>| limit.map_or("unlimited".to_string(), |n| n.to_string());
    let (soft, hard) = counts::limit(machine, row)?;
    if soft == hard {
        return Some(text(soft));
    }
    Some(format!("{}, may be raised to {}", text(soft), text(hard)))
}
