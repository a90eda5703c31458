//! Limits that tests will hit.

use super::super::{cgroup, copies_limit, counts, cpus_online, cpus_usable};
use super::Severity::{Disturbs, Spoils};
use super::load::{MIN_MEMORY, SCARCE_MEMORY};
use super::{Finding, System, finding};

/// Processes one copy may have at once: eight shell scripts, each a pipeline, and their parents.
const TASKS_PER_COPY: u64 = 50;

/// Descriptors the tool uses per copy, and for itself.
const FILES_PER_COPY: u64 = 8;
const FILES_OF_TOOL: u64 = 128;

pub fn quota(system: &System) -> Option<Finding> {
    let (quota, lift) = cgroup::cpu_quota(system.machine)?;
    let cpus = cpus_usable(system.machine);
    if quota >= cpus as f64 {
        return None;
    }

    let problem = format!(
        "a control group allows {quota:.2} CPUs of {cpus}: copies are stopped for part of every period"
    );
    let fix = format!("{lift}; or start the container without --cpus");
    finding(Spoils, problem, fix)
}

pub fn affinity(system: &System) -> Option<Finding> {
    let (usable, online) = (cpus_usable(system.machine), cpus_online(system.machine));
    if usable >= online {
        return None;
    }

    let problem =
        format!("only {usable} of {online} CPUs may be used here: other work runs on the rest");
    let all_cpus = system.machine.read("/sys/devices/system/cpu/online");
    let all_cpus = all_cpus.unwrap_or_else(|| format!("0-{}", online - 1));
    let fix = format!(
        "taskset -pc {all_cpus} $$ in this shell; if that has no effect, a cpuset forbids it (docker: --cpuset-cpus)"
    );
    finding(Disturbs, problem, fix)
}

pub fn copies(system: &System) -> Option<Finding> {
    let free_processes = copies_limit(system.machine)?;
    let needed = TASKS_PER_COPY.saturating_mul(cpus_usable(system.machine) as u64);
    if free_processes >= needed {
        return None;
    }

    let problem = format!(
        "only {free_processes} more processes may be started here and the shell tests need {needed}: forks will fail"
    );
    let is_group_limit = cgroup::pids_left(system.machine) == Some(free_processes);
    let fix = if is_group_limit {
        "raise pids.max of the control group (docker: --pids-limit=-1; systemd: systemctl \
         set-property user.slice TasksMax=infinity)"
    } else {
        "ulimit -u unlimited; if that is refused, run as root or raise nproc in /etc/security/limits.conf"
    };

    finding(Spoils, problem, fix)
}

pub fn nofile(system: &System) -> Option<Finding> {
    let (soft, hard) = counts::limit(system.machine, "Max open files")?;
    let soft = soft?;
    let copies = cpus_usable(system.machine) as u64;
    let needed = FILES_OF_TOOL + FILES_PER_COPY.saturating_mul(copies);
    if soft >= needed {
        return None;
    }

    let problem = format!("only {soft} files may be open and {copies} copies need {needed}");
    let fix = if hard.is_none_or(|hard| hard >= needed) {
        format!("ulimit -n {needed}")
    } else {
        format!("as root: ulimit -Hn {needed} && ulimit -n {needed}")
    };

    finding(Spoils, problem, fix)
}

pub fn memory(system: &System) -> Option<Finding> {
    let limit = cgroup::memory_max(system.machine)?;
    let total = system.machine.memory("MemTotal").unwrap_or(u64::MAX);
    if limit >= SCARCE_MEMORY || limit >= total {
        return None;
    }

    let severity = if limit < MIN_MEMORY { Spoils } else { Disturbs };
    let problem = format!(
        "a control group allows {} of memory, page cache included: file tests measure its limit",
        words::bytes(limit)
    );
    let fix = "raise memory.max of the control group (docker: --memory=4g)";
    finding(severity, problem, fix)
}
