//! A slow disk: the kernel limits the rate of a block device, under version 1 of control groups for all programs, under
//! version 2 for those of a group.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat};

use super::{Context, Refusal, Undo, cgroup, file};
use journal::Evidence;
use machine::{Machine, cgroup::levels};

/// The controller under version 1. No process of version 2 is in a group of that name.
const CONTROLLER: &str = "blkio";

/// Version 1's files of rates.
const RATES: [&str; 2] = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];

/// Controllers that version 2 must have on: only with both are the pages that are written back known to be of a group.
const CONTROLLERS: [&str; 2] = ["io", "memory"];

/// Files that hold 1 for a device with a strict limit: one per cent of what may wait for all disks may wait for it,
/// even where others have room.
const STRICT: [&str; 2] = ["max_ratio", "strict_limit"];

/// The rate of a slow disk, and whether it has a strict limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    bytes: u64,
    is_strict: bool,
}

impl Rate {
    /// Returns what `10` or `10:strict` means, in MB per second.
    pub(super) fn parse(level: &str) -> Result<Rate, String> {
        let (rate, is_strict) = level.strip_suffix(":strict").map_or((level, false), |rate| (rate, true));
        match rate.parse::<u64>() {
            Ok(megabytes @ 1..=10_000) => Ok(Rate { bytes: megabytes * 1_000_000, is_strict }),
            _ => Err(format!(
                "'{level}' is not a rate in MB/s, from 1 to 10000; try slow-disk=10 or slow-disk=10:strict"
            )),
        }
    }
}

/// A disk that is slow.
pub(super) struct SlowDisk {
    limits: Vec<PathBuf>,
    line: String,
    strict: Vec<PathBuf>,
}

/// Checks that a disk can be made slow here; the error is a sentence that says why not.
pub(super) fn available(machine: &Machine) -> Result<(), String> {
    let missing = || "this kernel cannot limit the rate of a disk (it needs CONFIG_BLK_DEV_THROTTLING)".to_owned();
    let (v2, top) = top(machine).ok_or_else(missing)?;
    let has = match v2 {
        true => has_words(&top.join("cgroup.controllers"), &CONTROLLERS),
        false => RATES.iter().all(|file| top.join(file).exists()),
    };
    has.then_some(()).ok_or_else(missing)
}

/// Returns the uppermost group, after true if groups are of version 2.
fn top(machine: &Machine) -> Option<(bool, PathBuf)> {
    let (v2, groups) = levels(machine, CONTROLLER);
    Some((v2, machine.path(groups.last()?)))
}

fn has_words(file: &Path, words: &[&str]) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    words.iter().all(|word| text.split_whitespace().any(|found| found == *word))
}

/// Limits the device of a file system to a rate.
pub(super) fn enter(place: &Path, rate: Rate, context: &mut Context<'_>) -> Result<SlowDisk, Refusal> {
    let device = stat(place).map_err(|why| format!("{} ({why})", place.display()))?.st_dev;
    let device = format!("{}:{}", major(device), minor(device));
    let Rate { bytes: rate, is_strict } = rate;
    let strict = STRICT.iter().filter(|_| is_strict);
    let strict =
        strict.map(|file| context.machine.path(format!("/sys/class/bdi/{device}/{file}"))).collect::<Vec<PathBuf>>();
    file::set(&strict, "1", context.ledger)?;
    let (v2, top) = top(context.machine).ok_or("there are no control groups of disks")?;
    if v2 {
        let (limit, line) = in_group(&device, rate, context)?;
        return Ok(SlowDisk { limits: vec![limit], line, strict });
    }
    let limits = RATES.map(|file| top.join(file)).to_vec();
    for path in &limits {
        write(path, &format!("{device} {rate}"), &format!("{device} 0"), context)?;
    }
    Ok(SlowDisk { limits, line: format!("{device} {rate}"), strict })
}

/// Limits the rate of a group, and returns the file of the limit and its line.
fn in_group(device: &str, rate: u64, context: &mut Context<'_>) -> Result<(PathBuf, String), Refusal> {
    let line = format!("{device} rbps={rate} wbps={rate}");
    let settings = [("io.max", line.clone()), ("memory.high", "max".to_owned())];
    let (machine, groups) = (context.machine, &mut context.staging.cgroups);
    let group = cgroup::join(machine, &CONTROLLERS, &settings, "slow-disk", groups, context.ledger)?;
    Ok((group.join("io.max"), line))
}

/// Writes to a file what `undo` takes back.
fn write(path: &Path, text: &str, undo: &str, context: &mut Context<'_>) -> Result<(), Refusal> {
    context.ledger.record(&Undo::Write { path: path.to_path_buf(), text: undo.to_owned() })?;
    fs::write(path, text).map_err(|why| match why.kind() {
        std::io::ErrorKind::PermissionDenied => Refusal::Unavailable(format!("{} ({why})", path.display())),
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
