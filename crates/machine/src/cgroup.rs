//! Control groups, versions 1 and 2: the limits of the groups that this process is in, and the
//! files to which limits are written.
//!
//! A limit binds everything below it, so the one in force is the smallest on the way from the
//! process's own group up to the top that is visible from here.

use std::path::Path;

use catalogue::{CgroupLimit, Quota};

use super::{Machine, mounts};

/// Bytes from which a limit of version 1 is none: without one it has the largest multiple of the
/// page size.
const MIN_NO_LIMIT: u64 = 1 << 62;

/// The period in µs of a quota in version 2 whose file states none: the kernel's default.
const DEFAULT_PERIOD_US: f64 = 100_000.0;

/// `v1`, `v2`, or `hybrid` where version 1 has the controllers and version 2 is mounted, too.
pub fn version(machine: &Machine) -> Option<String> {
    let mounts = mounts::all(machine);
    let is_mounted = |kind: &str| mounts.iter().any(|mount| mount.file_system == kind);
    let version = match (is_mounted("cgroup"), is_mounted("cgroup2")) {
        (true, true) => "hybrid",
        (true, false) => "v1",
        (false, true) => "v2",
        (false, false) => return None,
    };
    Some(version.to_string())
}

/// The path of this process's own group: that of version 2, or of a version 1 controller that
/// limits it.
pub fn own_path(machine: &Machine) -> Option<String> {
    let paths: Vec<String> = ["", "cpu", "memory", "pids"]
        .into_iter()
        .filter_map(|controller| Some(find_membership(machine, controller)?.path))
        .collect();
    paths.iter().find(|path| *path != "/").or(paths.first()).cloned()
}

/// The controller of a limit.
pub fn controller(limit: &CgroupLimit) -> &'static str {
    match limit {
        CgroupLimit::Quota(_) | CgroupLimit::Weight(_) => "cpu",
        CgroupLimit::Memory(_) => "memory",
        CgroupLimit::Cpus(..) => "cpuset",
    }
}

/// The files of a limit, and what each holds. A weight of 100 in version 2 is 1024 shares in
/// version 1, which has no fewer than 2.
pub fn settings(limit: &CgroupLimit, is_v2: bool) -> Vec<(&'static str, String)> {
    match (limit, is_v2) {
        (CgroupLimit::Quota(quota), _) => quota_settings(*quota, is_v2),
        (CgroupLimit::Weight(weight), true) => vec![("cpu.weight", weight.to_string())],
        (CgroupLimit::Weight(weight), false) => {
            vec![("cpu.shares", (u64::from(*weight) * 1024 / 100).max(2).to_string())]
        }
        (CgroupLimit::Memory(bytes), true) => vec![("memory.max", bytes.to_string())],
        (CgroupLimit::Memory(bytes), false) => vec![("memory.limit_in_bytes", bytes.to_string())],
        (CgroupLimit::Cpus(cpus, _), true) => vec![("cpuset.cpus", cpus.clone())],
        (CgroupLimit::Cpus(cpus, nodes), false) => {
            vec![("cpuset.mems", nodes.clone()), ("cpuset.cpus", cpus.clone())]
        }
    }
}

/// The files of a quota. The burst has a file of its own, since Linux 5.14.
fn quota_settings(
    Quota { percent, period, burst }: Quota,
    is_v2: bool,
) -> Vec<(&'static str, String)> {
    let quota = percent * period / 100;
    let mut settings = match is_v2 {
        true => vec![("cpu.max", format!("{quota} {period}"))],
        false => {
            vec![("cpu.cfs_period_us", period.to_string()), ("cpu.cfs_quota_us", quota.to_string())]
        }
    };
    if burst > 0 {
        let file = if is_v2 { "cpu.max.burst" } else { "cpu.cfs_burst_us" };
        settings.push((file, burst.to_string()));
    }
    settings
}

/// The smallest quota in force, in CPUs, and the command that lifts it; `None` without one.
pub fn cpu_quota(machine: &Machine) -> Option<(f64, String)> {
    let (v2, groups) = own_and_ancestor_groups(machine, "cpu");
    let (unlimited, file) = if v2 { ("max", "cpu.max") } else { ("-1", "cpu.cfs_quota_us") };

    let (quota, group) = groups
        .iter()
        .filter_map(|group| {
            let quota = if v2 { quota_v2(machine, group) } else { quota_v1(machine, group) };
            Some((quota?, group))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((quota, format!("echo {unlimited} | sudo tee {group}/{file}")))
}

/// Bytes of memory that the groups allow; `None` without a limit.
pub fn memory_max(machine: &Machine) -> Option<u64> {
    let (v2, groups) = own_and_ancestor_groups(machine, "memory");
    groups.iter().filter_map(|group| memory_limit(machine, group, v2)).min()
}

fn memory_limit(machine: &Machine, group: &str, v2: bool) -> Option<u64> {
    let file = if v2 { "memory.max" } else { "memory.limit_in_bytes" };
    machine.number(&format!("{group}/{file}")).filter(|limit| *limit < MIN_NO_LIMIT)
}

/// The memory of a control group, or of the machine, in bytes.
pub struct Memory {
    pub limit: u64,
    pub left: u64,
}

/// The memory of each group that has a limit. Cached files that could be dropped count as free.
pub fn memories(machine: &Machine) -> Vec<Memory> {
    let (v2, groups) = own_and_ancestor_groups(machine, "memory");
    groups.iter().filter_map(|group| read_memory(machine, group, v2)).collect()
}

fn read_memory(machine: &Machine, group: &str, v2: bool) -> Option<Memory> {
    let (usage_file, cached_key) = match v2 {
        true => ("memory.current", "inactive_file"),
        false => ("memory.usage_in_bytes", "total_inactive_file"),
    };
    let limit = memory_limit(machine, group, v2)?;
    let used: u64 = machine.number(&format!("{group}/{usage_file}"))?;
    let stat = machine.read(&format!("{group}/memory.stat")).unwrap_or_default();
    let cached = stat
        .lines()
        .find_map(|line| line.strip_prefix(cached_key)?.trim().parse::<u64>().ok())
        .unwrap_or(0);
    Some(Memory { limit, left: limit.saturating_sub(used.saturating_sub(cached)) })
}

/// Processes and threads the groups allow; `None` without a limit.
pub fn pids_max(machine: &Machine) -> Option<u64> {
    let (_, groups) = own_and_ancestor_groups(machine, "pids");
    groups.iter().filter_map(|group| machine.number(&format!("{group}/pids.max"))).min()
}

/// Processes and threads that can still be started; `None` without a limit.
pub fn pids_left(machine: &Machine) -> Option<u64> {
    let (_, groups) = own_and_ancestor_groups(machine, "pids");
    let mut fewest = None;
    for group in groups {
        if let Some(limit) = machine.number::<u64>(&format!("{group}/pids.max")) {
            let running = machine.number(&format!("{group}/pids.current")).unwrap_or(0);
            let left = limit.saturating_sub(running);
            fewest = Some(fewest.map_or(left, |fewest: u64| fewest.min(left)));
        }
    }
    fewest
}

fn quota_v2(machine: &Machine, group: &str) -> Option<f64> {
    let line = machine.read(&format!("{group}/cpu.max"))?;
    let mut words = line.split_whitespace().map(str::parse::<f64>);
    let quota = words.next()?.ok()?;
    let period = words.next().and_then(Result::ok).unwrap_or(DEFAULT_PERIOD_US);
    to_cpus(quota, period)
}

fn quota_v1(machine: &Machine, group: &str) -> Option<f64> {
    let quota = machine.number(&format!("{group}/cpu.cfs_quota_us"))?;
    to_cpus(quota, machine.number(&format!("{group}/cpu.cfs_period_us"))?)
}

/// A quota in CPUs; `None` if it is −1, as version 1 has it without a limit.
fn to_cpus(quota_us: f64, period_us: f64) -> Option<f64> {
    let share = quota_us / period_us;
    (share.is_finite() && share > 0.0).then_some(share)
}

/// The directories of this process's group for `controller` and of the visible groups above it, its
/// own first; the boolean is true if they are of version 2. Without such a group it is true, and
/// there are no directories, as there are none if the tree is not mounted.
pub fn own_and_ancestor_groups(machine: &Machine, controller: &str) -> (bool, Vec<String>) {
    let Some(Membership { v2, path }) = find_membership(machine, controller) else {
        return (true, Vec::new());
    };

    let mount = mounts::all(machine).into_iter().find(|mount| match v2 {
        true => mount.file_system == "cgroup2",
        false => {
            mount.file_system == "cgroup"
                && mount.super_options.split(',').any(|option| option == controller)
        }
    });
    let Some(mount) = mount else {
        return (v2, Vec::new());
    };
    // In a container without a namespace of its own the path is the host's, while the mount
    // shows only the container's part of the tree.
    let below = Path::new(&path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let group = Path::new(&mount.point).join(below);
    // Joining nothing would leave a slash at the end.
    let group = if below.as_os_str().is_empty() { Path::new(&mount.point) } else { &group };
    let groups = group.ancestors().take_while(|group| group.starts_with(&mount.point));
    (v2, groups.map(|group| group.display().to_string()).collect())
}

/// The group that this process is in for a controller.
struct Membership {
    v2: bool,
    path: String,
}

/// This process's group for `controller`, by a line `HIERARCHY:CONTROLLERS:PATH`. A controller that
/// version 1 does not have is version 2's, whose line has no controllers; the empty name asks for
/// that one.
fn find_membership(machine: &Machine, controller: &str) -> Option<Membership> {
    let text = machine.read("/proc/self/cgroup")?;
    let mut unified = None;
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        if controllers.is_empty() {
            unified.get_or_insert_with(|| Membership { v2: true, path: path.to_owned() });
        } else if controllers.split(',').any(|name| name == controller) {
            return Some(Membership { v2: false, path: path.to_owned() });
        }
    }
    unified
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_both_versions_write_them() {
        let of_version = |limit: CgroupLimit| {
            [true, false].map(|v2| {
                let all =
                    settings(&limit, v2).into_iter().map(|(file, value)| format!("{file}={value}"));
                all.collect::<Vec<_>>().join(" ")
            })
        };
        let quota = |text: &str| of_version(CgroupLimit::Quota(Quota::parse(text).unwrap()));
        assert_eq!(
            quota("50"),
            ["cpu.max=50000 100000", "cpu.cfs_period_us=100000 cpu.cfs_quota_us=50000"]
        );
        assert_eq!(
            quota("150%:10ms:500us"),
            [
                "cpu.max=15000 10000 cpu.max.burst=500",
                "cpu.cfs_period_us=10000 cpu.cfs_quota_us=15000 cpu.cfs_burst_us=500"
            ]
        );
        for wrong in [
            "",
            "0",
            "50:10",
            "50:1ms",
            "50:2s",
            "50:10ms:5",
            "50:10ms:5ms:1ms",
            "fifty",
            "50:10ms:99999999999999999999s",
        ] {
            assert!(Quota::parse(wrong).unwrap_err().contains("try 100%"), "{wrong}");
        }
        assert_eq!(of_version(CgroupLimit::Weight(200)), ["cpu.weight=200", "cpu.shares=2048"]);
        assert_eq!(of_version(CgroupLimit::Weight(0))[1], "cpu.shares=2", "the kernel's least");
        assert_eq!(of_version(CgroupLimit::Memory(5)), ["memory.max=5", "memory.limit_in_bytes=5"]);
        let cpus = CgroupLimit::Cpus("0,1".to_owned(), "0".to_owned());
        assert_eq!(of_version(cpus), ["cpuset.cpus=0,1", "cpuset.mems=0 cpuset.cpus=0,1"]);
    }
}
