//! Limits that tests will hit.

use super::super::{cgroup, copies_limit, counts, cpus_online, cpus_usable};
use super::Severity::{Disturbs, Spoils};
use super::{Finding, System, finding};

/// Processes one copy may have at once: eight shell scripts, each a pipeline, and their parents.
const TASKS_PER_COPY: u64 = 50;

/// Descriptors the tool uses per copy, and for itself.
const FILES_PER_COPY: u64 = 8;
const FILES_OF_TOOL: u64 = 128;

pub fn quota(system: &System) -> Option<Finding> {
    let (quota, lift) = cgroup::cpu_quota(system.machine)?;
    let cpus = cpus_usable(system.machine);
    let what = format!("a control group allows {quota:.2} CPUs of {cpus}: copies are stopped for part of every period");
    let fix = format!("{lift}; or start the container without --cpus");
    (quota < cpus as f64).then(|| finding(Spoils, what, fix))?
}

pub fn affinity(system: &System) -> Option<Finding> {
    let (usable, online) = (cpus_usable(system.machine), cpus_online(system.machine));
    let what = format!("only {usable} of {online} CPUs may be used here: other work runs on the rest");
    let all = system.machine.read("/sys/devices/system/cpu/online");
    let all = all.unwrap_or_else(|| format!("0-{}", online - 1));
    let fix = format!(
        "taskset -pc {all} $$ in this shell; if that has no effect, a cpuset forbids it (docker: --cpuset-cpus)"
    );
    (usable < online).then(|| finding(Disturbs, what, fix))?
}

pub fn copies(system: &System) -> Option<Finding> {
    let left = copies_limit(system.machine)?;
    let needed = TASKS_PER_COPY.saturating_mul(cpus_usable(system.machine) as u64);
    let what =
        format!("only {left} more processes may be started here and the shell tests need {needed}: forks will fail");
    let by_group = cgroup::pids_left(system.machine) == Some(left);
    let fix = if by_group {
        "raise pids.max of the control group (docker: --pids-limit=-1; systemd: systemctl \
         set-property user.slice TasksMax=infinity)"
    } else {
        "ulimit -u unlimited; if that is refused, run as root or raise nproc in /etc/security/limits.conf"
    };
    (left < needed).then(|| finding(Spoils, what, fix))?
}

pub fn nofile(system: &System) -> Option<Finding> {
    let (soft, hard) = counts::limit(system.machine, "Max open files")?;
    let soft = soft?;
    let copies = cpus_usable(system.machine) as u64;
    let needed = FILES_OF_TOOL + FILES_PER_COPY.saturating_mul(copies);
    let what = format!("only {soft} files may be open and {copies} copies need {needed}");
    let fix = if hard.is_none_or(|hard| hard >= needed) {
        format!("ulimit -n {needed}")
    } else {
        format!("as root: ulimit -Hn {needed} && ulimit -n {needed}")
    };
    (soft < needed).then(|| finding(Spoils, what, fix))?
}

pub fn memory(system: &System) -> Option<Finding> {
    let limit = cgroup::memory_max(system.machine)?;
    let total = system.machine.memory("MemTotal").unwrap_or(u64::MAX);
    let severity = if limit < 256 << 20 { Spoils } else { Disturbs };
    let what = format!(
        "a control group allows {} of memory, page cache included: file tests measure its limit",
        words::bytes(limit)
    );
    let fix = "raise memory.max of the control group (docker: --memory=4g)";
    (limit < (1 << 30) && limit < total).then(|| finding(severity, what, fix))?
}
