//! A slow disk: the kernel limits the rate of a block device.
//!
//! Under version 1 of control groups the uppermost group has the limit, so it holds for all
//! programs; under version 2 it holds for those of a group that the programs join.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat};

use super::{Context, Refusal, Undo, cgroup, file};
use journal::Evidence;
use machine::{Machine, cgroup::own_and_ancestor_groups};

/// The controller under version 1. No process of version 2 is in a group of that name.
const V1_CONTROLLER: &str = "blkio";

/// Version 1's files of rates.
const V1_RATE_FILES: [&str; 2] =
    ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];

/// Controllers that version 2 must have on: only with both are the pages that are written back
/// known to be of a group.
const V2_CONTROLLERS: [&str; 2] = ["io", "memory"];

/// Files that hold 1 for a device with a strict limit: one per cent of what may wait for all disks
/// may wait for it, even where others have room.
const STRICT_FILES: [&str; 2] = ["max_ratio", "strict_limit"];

const BYTES_PER_MEGABYTE: u64 = 1_000_000;

/// The rate of a slow disk, and whether it has a strict limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    bytes_per_second: u64,
    is_strict: bool,
}

impl Rate {
    /// Reads `10` or `10:strict`, in MB per second.
    pub(super) fn parse(level: &str) -> Result<Rate, String> {
        let (rate, is_strict) = match level.strip_suffix(":strict") {
            Some(rate) => (rate, true),
            None => (level, false),
        };
        match rate.parse::<u64>() {
            Ok(megabytes @ 1..=10_000) => {
                Ok(Rate { bytes_per_second: megabytes * BYTES_PER_MEGABYTE, is_strict })
            }
            _ => Err(format!(
                "'{level}' is not a rate in MB/s, from 1 to 10000; try slow-disk=10 or slow-disk=10:strict"
            )),
        }
    }
}

/// A disk that is slow, and what proves it.
pub(super) struct SlowDisk {
    /// The files of the limit.
    limits: Vec<PathBuf>,
    /// The line that each of them has, or its beginning.
    line: String,
    /// Files that hold 1.
    strict: Vec<PathBuf>,
}

/// The uppermost group for disks.
struct TopGroup {
    is_v2: bool,
    path: PathBuf,
}

impl TopGroup {
    fn find(machine: &Machine) -> Option<TopGroup> {
        let (is_v2, groups) = own_and_ancestor_groups(machine, V1_CONTROLLER);
        Some(TopGroup { is_v2, path: machine.path(groups.last()?) })
    }

    fn can_limit_disks(&self) -> bool {
        if !self.is_v2 {
            return V1_RATE_FILES.iter().all(|file| self.path.join(file).exists());
        }

        let text = fs::read_to_string(self.path.join("cgroup.controllers")).unwrap_or_default();
        V2_CONTROLLERS.iter().all(|name| text.split_whitespace().any(|word| word == *name))
    }
}

/// Checks that a disk can be made slow here; the error is a sentence that says why not.
pub(super) fn available(machine: &Machine) -> Result<(), String> {
    if !TopGroup::find(machine).is_some_and(|group| group.can_limit_disks()) {
        return Err(
            "this kernel cannot limit the rate of a disk (it needs CONFIG_BLK_DEV_THROTTLING)"
                .to_owned(),
        );
    }

    Ok(())
}

/// Limits the device of a file system to a rate.
pub(super) fn enter(
    mount_point: &Path,
    rate: Rate,
    context: &mut Context<'_>,
) -> Result<SlowDisk, Refusal> {
    let device =
        stat(mount_point).map_err(|why| format!("{} ({why})", mount_point.display()))?.st_dev;
    let device = format!("{}:{}", major(device), minor(device));
    let Rate { bytes_per_second: rate, is_strict } = rate;

    let mut strict = Vec::new();
    if is_strict {
        strict.extend(
            STRICT_FILES
                .map(|file| context.machine.path(format!("/sys/class/bdi/{device}/{file}"))),
        );
    }
    file::set(&strict, "1", context.ledger)?;

    let top = TopGroup::find(context.machine).ok_or("there are no control groups of disks")?;
    if top.is_v2 {
        let line = format!("{device} rbps={rate} wbps={rate}");
        let limit = limit_group(&line, context)?;
        return Ok(SlowDisk { limits: vec![limit], line, strict });
    }

    let line = format!("{device} {rate}");
    let limits = V1_RATE_FILES.map(|file| top.path.join(file)).to_vec();
    for limit in &limits {
        // The rate 0 removes the limit.
        write(limit, &line, &format!("{device} 0"), context)?;
    }

    Ok(SlowDisk { limits, line, strict })
}

/// Limits the programs' group by a line of `io.max`, and returns the path of that file.
fn limit_group(line: &str, context: &mut Context<'_>) -> Result<PathBuf, Refusal> {
    let settings = [("io.max", line.to_owned()), ("memory.high", "max".to_owned())];
    let group = cgroup::ensure_group(
        context.machine,
        &V2_CONTROLLERS,
        &settings,
        "slow-disk",
        &mut context.staging.cgroups,
        context.ledger,
    )?;
    Ok(group.join("io.max"))
}

/// Writes `text` to a file, after recording that `undo` takes it back.
fn write(path: &Path, text: &str, undo: &str, context: &mut Context<'_>) -> Result<(), Refusal> {
    context.ledger.record(&Undo::Write { path: path.to_path_buf(), text: undo.to_owned() })?;
    files::overwrite(path, text).map_err(|why| match why.kind() {
        std::io::ErrorKind::PermissionDenied => {
            Refusal::Unavailable(format!("{} ({why})", path.display()))
        }
        _ => Refusal::Failed(format!("{} does not take '{text}' ({why})", path.display())),
    })
}

impl SlowDisk {
    /// Proves that the device is still limited, and strictly if it was.
    pub(super) fn prove(&self, evidence: &mut Evidence) -> Result<(), String> {
        file::check(&self.strict, "1")?;
        for path in &self.limits {
            let text = fs::read_to_string(path).unwrap_or_default();
            if !text.lines().any(|line| line.starts_with(&self.line)) {
                return Err(format!("{} has no line '{}'", path.display(), self.line));
            }
        }

        evidence.notes.push(format!("the rate of the disk was limited: {}", self.line));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_can_be_limited_where_every_file_or_controller_is_there() {
        let folder = tempfile::tempdir().unwrap();
        for (is_v2, name, text, can) in [
            (false, V1_RATE_FILES[0], "", false),
            (false, V1_RATE_FILES[1], "", true),
            (true, "cgroup.controllers", "cpu io", false),
            (true, "cgroup.controllers", "cpu io memory\n", true),
        ] {
            fs::write(folder.path().join(name), text).unwrap();

            let group = TopGroup { is_v2, path: folder.path().to_owned() };

            assert_eq!(group.can_limit_disks(), can, "{name}: {text}");
        }
    }
}
