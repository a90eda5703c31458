//! Limits the tests will run into.

use super::super::{cgroup, copies_limit, counts, cpus_online, cpus_usable};
use super::Severity::{Disturbs, Spoils};
use super::{Ill, Look, ill};

/// Processes one copy may have at once: eight shell scripts, each a pipeline, and their parents.
const TASKS_PER_COPY: u64 = 50;

/// Descriptors one copy takes in the tool, and what the tool needs for itself.
const FILES_PER_COPY: u64 = 8;
const FILES_OF_TOOL: u64 = 128;

pub fn quota(look: &Look) -> Ill {
    let quota = cgroup::cpu_quota(look.machine)?;
    let cpus = cpus_usable(look.machine);
    let what = format!(
        "a control group allows {quota:.2} CPUs of {cpus}: copies are stopped for part of every \
         period"
    );
    let lift = cgroup::cpu_quota_off(look.machine)?;
    let mend = format!("{lift}; or start the container without --cpus");
    (quota < cpus as f64).then(|| ill(Spoils, what, mend))?
}

pub fn affinity(look: &Look) -> Ill {
    let (usable, online) = (cpus_usable(look.machine), cpus_online(look.machine));
    let what = format!("only {usable} of {online} CPUs may be used here: others run on the rest");
    let all = look.machine.read("/sys/devices/system/cpu/online");
    let all = all.unwrap_or_else(|| format!("0-{}", online - 1));
    let mend = format!(
        "taskset -pc {all} $$ in this shell; if that changes nothing, a cpuset forbids it \
         (docker: --cpuset-cpus)"
    );
    (usable < online).then(|| ill(Disturbs, what, mend))?
}

pub fn copies(look: &Look) -> Ill {
    let left = copies_limit(look.machine)?;
    let needed = TASKS_PER_COPY.saturating_mul(cpus_usable(look.machine) as u64);
    let what =
        format!("{} more processes may be started here and the shell tests want {needed}: forks will fail", left);
    let by_group = cgroup::pids_left(look.machine) == Some(left);
    let mend = if by_group {
        "raise pids.max of the control group (docker: --pids-limit=-1; systemd: systemctl \
         set-property user.slice TasksMax=infinity)"
    } else {
        "ulimit -u unlimited; if that is refused, run as root or raise nproc in \
         /etc/security/limits.conf"
    };
    (left < needed).then(|| ill(Spoils, what, mend))?
}

pub fn nofile(look: &Look) -> Ill {
    let (soft, hard) = counts::limit(look.machine, "Max open files")?;
    let soft = soft?;
    let copies = cpus_usable(look.machine) as u64;
    let needed = FILES_OF_TOOL + FILES_PER_COPY.saturating_mul(copies);
    let what = format!("{soft} files may be open and {copies} copies want {needed}");
    let mend = if hard.is_none_or(|hard| hard >= needed) {
        format!("ulimit -n {needed}")
    } else {
        format!("as root: ulimit -Hn {needed} && ulimit -n {needed}")
    };
    (soft < needed).then(|| ill(Spoils, what, mend))?
}

pub fn memory(look: &Look) -> Ill {
    let limit = cgroup::memory_max(look.machine)?;
    let total = look.machine.memory("MemTotal").unwrap_or(u64::MAX);
    let severity = if limit < 256 << 20 { Spoils } else { Disturbs };
    let what = format!(
        "a control group allows {} of memory, page cache included: file tests measure its limit",
        words::bytes(limit)
    );
    let mend = "raise memory.max of the control group (docker: --memory=4g)";
    (limit < (1 << 30) && limit < total).then(|| ill(severity, what, mend))?
}
