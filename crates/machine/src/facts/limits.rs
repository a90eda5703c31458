//! Limits of this process: CPUs it may use, control groups, resource limits.

use super::super::{Machine, cgroup, counts};
use super::{Path, Quantity, Row, Value, text, value};

pub(super) const ROWS: &[Row] = &[
    value("limits.cpus", "CPUs usable", usable_cpus),
    text("limits.cgroup.version", "Control groups", |m, _| cgroup::version(m)),
    text("limits.cgroup.path", "Own control group", |m, _| cgroup::own_path(m)),
    value("limits.cgroup.cpu", "CPU quota", |m, _| {
        let (cpus, _) = cgroup::cpu_quota(m)?;
        Some(Value::number(cpus, "CPUs", format!("{cpus:.2} CPUs")))
    }),
    value("limits.cgroup.memory", "Memory limit", |m, _| cgroup::memory_max(m).map(Value::bytes)),
    value("limits.cgroup.pids", "Process limit of the group", |m, _| {
        cgroup::pids_max(m).map(|count| Value::count(count, "processes"))
    }),
    value("limits.nproc", "Processes of the user", |m, _| {
        resource(m, "Max processes", "processes")
    }),
    value("limits.nofile", "Open files", |m, _| resource(m, "Max open files", "files")),
    value("limits.core", "Core file", |m, _| resource(m, "Max core file size", "bytes")),
    value("limits.stack", "Stack", |m, _| resource(m, "Max stack size", "bytes")),
    value("limits.memlock", "Locked memory", |m, _| resource(m, "Max locked memory", "bytes")),
    value("limits.rtprio", "Real-time priority", |m, _| resource(m, "Max realtime priority", "")),
    value("limits.pid_max", "Highest process id", |m, _| {
        m.number("/proc/sys/kernel/pid_max").map(|max| Value::count(max, ""))
    }),
    value("limits.threads_max", "Threads of the system", |m, _| {
        m.number("/proc/sys/kernel/threads-max").map(|max| Value::count(max, "threads"))
    }),
];

fn usable_cpus(machine: &Machine, _: &Path) -> Option<Value> {
    let mask = machine.field("/proc/self/status", "Cpus_allowed_list")?;
    let (usable, online) = (counts::cpus_usable(machine), counts::cpus_online(machine));
    Some(Value::number(usable as f64, "CPUs", format!("{usable} of {online} (mask {mask})")))
}

/// The soft limit of a resource, and the hard one where it differs.
fn resource(machine: &Machine, row: &str, unit: &str) -> Option<Value> {
    let (soft, hard) = counts::limit(machine, row)?;
    let mut text = show_limit(soft, unit);
    if soft != hard {
        text += &format!(" (hard limit: {})", show_limit(hard, unit));
    }
    Some(Value { text, quantity: soft.map(|soft| Quantity::new(soft as f64, unit)) })
}

fn show_limit(limit: Option<u64>, unit: &str) -> String {
    match limit {
        None => "unlimited".to_string(),
        Some(size) if unit == "bytes" => words::bytes(size),
        Some(count) => count.to_string(),
    }
}
