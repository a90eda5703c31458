//! Control groups, versions 1 and 2: the limits of those that this process is in, and the files that limits are written
//! to.
//!
//! A limit binds everything below it, so the one in force is the smallest on the way from the
//! process's own group up to the top that is visible from here.

use std::path::Path;

use catalogue::{CgroupLimit, Quota};

use super::{Machine, mounts};

/// Version 1 says "no limit" with the largest multiple of the page size; anything near is none.
const NO_LIMIT: u64 = 1 << 62;

/// `v1`, `v2`, or `hybrid` where version 1 has the controllers and version 2 is mounted beside it.
pub fn version(machine: &Machine) -> Option<String> {
    let mounts = mounts::all(machine);
    let mounted = |kind: &str| mounts.iter().any(|mount| mount.file_system == kind);
    let version = match (mounted("cgroup"), mounted("cgroup2")) {
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
    let path = |controller: &str| membership(machine, controller).map(|(_, path)| path);
    let paths: Vec<String> = ["", "cpu", "memory", "pids"].into_iter().filter_map(path).collect();
    paths.iter().find(|path| *path != "/").or(paths.first()).cloned()
}

/// Returns the controller of a limit.
pub fn controller(limit: &CgroupLimit) -> &'static str {
    match limit {
        CgroupLimit::Quota(_) | CgroupLimit::Weight(_) => "cpu",
        CgroupLimit::Memory(_) => "memory",
        CgroupLimit::Cpus(..) => "cpuset",
    }
}

/// Returns the files of a limit, and what each holds. Version 1 has shares of 1024 where version 2 has weights of 100.
pub fn settings(limit: &CgroupLimit, v2: bool) -> Vec<(&'static str, String)> {
    match (limit, v2) {
        (CgroupLimit::Quota(quota), _) => quota_settings(*quota, v2),
        (CgroupLimit::Weight(weight), true) => vec![("cpu.weight", weight.to_string())],
        (CgroupLimit::Weight(weight), false) => {
            vec![("cpu.shares", (u64::from(*weight) * 1024 / 100).max(2).to_string())]
        }
        (CgroupLimit::Memory(bytes), true) => vec![("memory.max", bytes.to_string())],
        (CgroupLimit::Memory(bytes), false) => vec![("memory.limit_in_bytes", bytes.to_string())],
        (CgroupLimit::Cpus(cpus, _), true) => vec![("cpuset.cpus", cpus.clone())],
        (CgroupLimit::Cpus(cpus, nodes), false) => vec![("cpuset.mems", nodes.clone()), ("cpuset.cpus", cpus.clone())],
    }
}

/// A burst is a file of its own, since Linux 5.14.
fn quota_settings(Quota { percent, period, burst }: Quota, v2: bool) -> Vec<(&'static str, String)> {
    let quota = percent * period / 100;
    let (mut settings, file) = match v2 {
        true => (vec![("cpu.max", format!("{quota} {period}"))], "cpu.max.burst"),
        false => {
            let files = [("cpu.cfs_period_us", period), ("cpu.cfs_quota_us", quota)];
            (files.map(|(file, us)| (file, us.to_string())).to_vec(), "cpu.cfs_burst_us")
        }
    };
    settings.extend((burst > 0).then(|| (file, burst.to_string())));
    settings
}

/// Returns the smallest quota in force, in CPUs, and what lifts it; `None` without one.
pub fn cpu_quota(machine: &Machine) -> Option<(f64, String)> {
    let (v2, groups) = levels(machine, "cpu");
    let quota = if v2 { quota_v2 } else { quota_v1 };
    let (value, file) = if v2 { ("max", "cpu.max") } else { ("-1", "cpu.cfs_quota_us") };
    let limited = groups.iter().filter_map(|group| Some((quota(machine, group)?, group)));
    let (quota, group) = limited.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((quota, format!("echo {value} | sudo tee {group}/{file}")))
}

/// Bytes of memory the groups allow; `None` without a limit.
pub fn memory_max(machine: &Machine) -> Option<u64> {
    let (v2, groups) = levels(machine, "memory");
    let file = if v2 { "memory.max" } else { "memory.limit_in_bytes" };
    let limit = |group: &String| machine.number::<u64>(&format!("{group}/{file}"));
    groups.iter().filter_map(limit).filter(|limit| *limit < NO_LIMIT).min()
}

/// Bytes of memory that each group allows, and those it leaves, files that could be dropped counted as free; none
/// without a limit.
pub fn memory_left(machine: &Machine) -> Vec<(u64, u64)> {
    let (v2, groups) = levels(machine, "memory");
    let (most, used, cached) = match v2 {
        true => ("memory.max", "memory.current", "inactive_file"),
        false => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    };
    let left = |group: &String| {
        let most = machine.number::<u64>(&format!("{group}/{most}")).filter(|limit| *limit < NO_LIMIT)?;
        let used: u64 = machine.number(&format!("{group}/{used}"))?;
        let stat = machine.read(&format!("{group}/memory.stat")).unwrap_or_default();
        let figure = |line: &str| line.strip_prefix(cached)?.trim().parse::<u64>().ok();
        let cached = stat.lines().find_map(figure).unwrap_or(0);
        Some((most, most.saturating_sub(used.saturating_sub(cached))))
    };
    groups.iter().filter_map(left).collect()
}

/// Processes and threads the groups allow; `None` without a limit.
pub fn pids_max(machine: &Machine) -> Option<u64> {
    let (_, groups) = levels(machine, "pids");
    groups.iter().filter_map(|group| machine.number(&format!("{group}/pids.max"))).min()
}

/// Processes and threads that can still be started; `None` without a limit.
pub fn pids_left(machine: &Machine) -> Option<u64> {
    let left = |group: &String| {
        let most: u64 = machine.number(&format!("{group}/pids.max"))?;
        let now: u64 = machine.number(&format!("{group}/pids.current")).unwrap_or(0);
        Some(most.saturating_sub(now))
    };
    levels(machine, "pids").1.iter().filter_map(left).min()
}

fn quota_v2(machine: &Machine, group: &str) -> Option<f64> {
    let line = machine.read(&format!("{group}/cpu.max"))?;
    let mut words = line.split_whitespace().map(str::parse::<f64>);
    let quota = words.next()?.ok()?;
    cpus(quota, words.next().and_then(Result::ok).unwrap_or(100_000.0))
}

fn quota_v1(machine: &Machine, group: &str) -> Option<f64> {
    let quota = machine.number(&format!("{group}/cpu.cfs_quota_us"))?;
    cpus(quota, machine.number(&format!("{group}/cpu.cfs_period_us"))?)
}

/// A quota of version 1 is −1 where there is none.
fn cpus(quota_us: f64, period_us: f64) -> Option<f64> {
    let share = quota_us / period_us;
    (share.is_finite() && share > 0.0).then_some(share)
}

/// The directories of this process's group for `controller` and of every group above it, and
/// whether they are of version 2.
pub fn levels(machine: &Machine, controller: &str) -> (bool, Vec<String>) {
    let Some((v2, path)) = membership(machine, controller) else { return (true, Vec::new()) };
    let mount = mounts::all(machine).into_iter().find(|mount| match v2 {
        true => mount.file_system == "cgroup2",
        false => mount.file_system == "cgroup" && mount.super_options.split(',').any(|option| option == controller),
    });
    let Some(mount) = mount else { return (v2, Vec::new()) };
    // In a container without a namespace of its own the path is the host's, while the mount
    // shows only the container's part of the tree.
    let below = Path::new(&path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let group = Path::new(&mount.point).join(below);
    // Joining nothing would leave a slash at the end.
    let group = if below.as_os_str().is_empty() { Path::new(&mount.point) } else { &group };
    let groups = group.ancestors().take_while(|group| group.starts_with(&mount.point));
    (v2, groups.map(|group| group.display().to_string()).collect())
}

/// The group this process is in for `controller`: whether it is of version 2, and its path. A
/// controller that version 1 does not have is version 2's; the empty name asks for that one.
fn membership(machine: &Machine, controller: &str) -> Option<(bool, String)> {
    let text = machine.read("/proc/self/cgroup")?;
    let lines = || {
        text.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            Some((parts.next()?, parts.next()?))
        })
    };
    let v1 = lines().find(|(names, _)| !names.is_empty() && names.split(',').any(|name| name == controller));
    let v2 = || lines().find(|(names, _)| names.is_empty());
    let found = v1.map(|(_, path)| (false, path)).or_else(|| v2().map(|(_, path)| (true, path)));
    found.map(|(v2, path)| (v2, path.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_both_versions_write_them() {
        let of_version = |limit: CgroupLimit| {
            [true, false].map(|v2| {
                let all = settings(&limit, v2).into_iter().map(|(file, value)| format!("{file}={value}"));
                all.collect::<Vec<_>>().join(" ")
            })
        };
        let quota = |text: &str| of_version(CgroupLimit::Quota(Quota::parse(text).unwrap()));
        assert_eq!(quota("50"), ["cpu.max=50000 100000", "cpu.cfs_period_us=100000 cpu.cfs_quota_us=50000"]);
        assert_eq!(
            quota("150%:10ms:500us"),
            [
                "cpu.max=15000 10000 cpu.max.burst=500",
                "cpu.cfs_period_us=10000 cpu.cfs_quota_us=15000 cpu.cfs_burst_us=500"
            ]
        );
        for wrong in [
            "", "0", "50:10", "50:1ms", "50:2s", "50:10ms:5", "50:10ms:5ms:1ms", "fifty",
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
