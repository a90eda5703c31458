//! Control groups that limit the measured programs.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Active, Context, FinishedTrial, Refusal, Undo};
use catalogue::Switch;
use journal::Evidence;
use machine::{Machine, cgroups_above};

/// The length of a period of the quota in µs: the kernel's own.
const PERIOD: u64 = 100_000;

/// What a group limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Processor time, in per cent of one processor.
    Cpu(u64),
    /// Bytes of memory.
    Memory(u64),
}

/// A limit that is in force.
struct Limited {
    group: PathBuf,
    limit: Limit,
    v2: bool,
}

/// Makes a group `name` for a controller and writes its limit, in this process's own group or, where that one cannot have any, in
/// one above it; `will` is told each directory before it is made.
///
/// # Errors
/// A sentence saying why none can be made here.
pub fn make(
    machine: &Machine,
    controller: &str,
    name: &str,
    (file, value): (&str, &str),
    will: &mut dyn FnMut(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let mut why = format!("there is no {controller} cgroup");
    for above in cgroups_above(machine, controller).1 {
        let path = machine.path(&above).join(name);
        will(&path)?;
        match fs::create_dir(&path).and_then(|()| set(&path, file, value)) {
            Ok(()) => return Ok(path),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                why = format!("{} ({error})", path.display());
            }
        }
    }
    Err(format!("no cgroup with {file} can be made here: {why}; it needs root, or a cgroup that was delegated"))
}

/// The file exists only where the controller is on for children.
fn set(group: &Path, file: &str, value: &str) -> std::io::Result<()> {
    fs::File::options().write(true).open(group.join(file)).and_then(|_| fs::write(group.join(file), value))
}

/// Reads what a level limits: `cpu` in per cent, `memory` in MiB.
fn limit(switch: &Switch, level: &str) -> Result<Limit, String> {
    let number: u64 = level.parse().map_err(|_| format!("'{level}' is no whole number"))?;
    match switch.id.as_str() {
        "cgroup-memory" => Ok(Limit::Memory(number << 20)),
        _ => Ok(Limit::Cpu(number)),
    }
}

impl Limit {
    fn controller(self) -> &'static str {
        match self {
            Limit::Cpu(_) => "cpu",
            Limit::Memory(_) => "memory",
        }
    }

    /// The file of the limit, and what it holds.
    fn setting(self, v2: bool) -> (&'static str, String) {
        let quota = |percent: u64| percent * PERIOD / 100;
        match (self, v2) {
            (Limit::Cpu(percent), true) => ("cpu.max", format!("{} {PERIOD}", quota(percent))),
            (Limit::Cpu(percent), false) => ("cpu.cfs_quota_us", quota(percent).to_string()),
            (Limit::Memory(bytes), true) => ("memory.max", bytes.to_string()),
            (Limit::Memory(bytes), false) => ("memory.limit_in_bytes", bytes.to_string()),
        }
    }
}

/// Whether there is a group in which one could be made; or a sentence saying why not.
pub(super) fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<(), String> {
    let limit = limit(switch, level)?;
    let (v2, groups) = cgroups_above(machine, limit.controller());
    let writable = |group: &String| rustix::fs::access(machine.path(group), rustix::fs::Access::WRITE_OK).is_ok();
    if groups.is_empty() {
        return Err(format!("there is no {} cgroup here", limit.controller()));
    }
    // Of version 2 a group may be writable and yet not have the controller: that shows when it is entered.
    if !groups.iter().any(writable) {
        return Err("no cgroup can be made here; it needs root, or a cgroup that was delegated".to_owned());
    }
    let top = machine.path(groups.last().map_or("/", String::as_str));
    let has = |text: String| text.split_whitespace().any(|name| name == limit.controller());
    let controllers = fs::read_to_string(top.join("cgroup.controllers"));
    match v2 && !controllers.is_ok_and(has) {
        true => Err(format!("the cgroups of this machine have no {} controller", limit.controller())),
        false => Ok(()),
    }
}

/// Makes the group, for the programs to join.
pub(super) fn enter(switch: &Switch, level: &str, context: &mut Context<'_>) -> Result<Box<dyn Active>, Refusal> {
    let limit = limit(switch, level)?;
    let v2 = cgroups_above(context.machine, limit.controller()).0;
    let (file, value) = limit.setting(v2);
    // Of version 2 a process is in one group only.
    let shared = context.staging.cgroups.first().filter(|_| v2).cloned();
    let group = match shared {
        Some(group) => {
            set(&group, file, &value).map_err(|error| format!("{}/{file} ({error})", group.display()))?;
            group
        }
        None => {
            let name = format!("unixmark-{}-{}", std::process::id(), switch.id);
            let ledger = &mut *context.ledger;
            let mut will = |path: &Path| ledger.record(&Undo::RemoveDirectory { path: path.to_path_buf() });
            let group = make(context.machine, limit.controller(), &name, (file, &value), &mut will)
                .map_err(Refusal::Unavailable)?;
            context.staging.cgroups.push(group.clone());
            group
        }
    };
    Ok(Box::new(Limited { group, limit, v2 }))
}

impl Active for Limited {
    /// The kernel counts periods of a quota, and the most memory, only of groups that have had processes.
    fn prove(&mut self, _: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String> {
        let read = |file: &str| fs::read_to_string(self.group.join(file)).unwrap_or_default();
        let figures = match self.limit {
            Limit::Cpu(_) => {
                let stat = read("cpu.stat");
                vec![("nr_periods", field(&stat, "nr_periods")), ("nr_throttled", field(&stat, "nr_throttled"))]
            }
            Limit::Memory(_) => {
                let most = if self.v2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
                match read(most).trim().parse() {
                    Ok(bytes) => vec![("memory", bytes)],
                    // Version 2 has it since Linux 5.19.
                    Err(_) => vec![("pgfault", field(&read("memory.stat"), "pgfault"))],
                }
            }
        };
        if figures[0].1 <= 0.0 {
            return Err(format!("{} has had no work ({} is 0)", self.group.display(), figures[0].0));
        }
        for (name, value) in figures {
            let unit = match name {
                "memory" => "bytes",
                "pgfault" => "faults",
                _ => "periods",
            };
            evidence.figures.insert(name.to_owned(), (value, unit.to_owned()));
        }
        Ok(())
    }
}

/// A figure of a file with a name and a number in each line.
fn field(text: &str, name: &str) -> f64 {
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    text.lines().find_map(value).unwrap_or(0.0)
}
