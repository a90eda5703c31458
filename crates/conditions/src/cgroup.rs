//! Control groups that limit the measured programs or their load.
//!
//! Under version 1 each controller has a tree of its own, so a program joins a group for each of
//! them. Under version 2 there is one tree, and a process is in one group: all settings of a
//! program go to the same group. Groups are made below this process's own group, or below one above
//! it where that one cannot have any. After the trial a group proves by its own counts that
//! processes were in it.

use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::Access;

use super::ledger::moment;
use super::{Context, Ledger, Proof, Refusal, Staging, Undo};
use catalogue::{CgroupLimit, Quota, Switch};
use journal::Evidence;
use machine::{
    Machine,
    cgroup::{controller, own_and_ancestor_groups, settings},
    cpu_list, cpu_words,
};
use processes::retry;

/// Puts settings of controllers in force for the programs that join `groups`, and returns the group
/// that has them: one that is made, or under version 2, where a process is in one group only, the
/// one that is there.
///
/// # Errors
/// None can be made here, or it does not take the settings.
pub(super) fn ensure_group(
    machine: &Machine,
    controllers: &[&str],
    settings: &[(&'static str, String)],
    name: &str,
    groups: &mut Vec<PathBuf>,
    ledger: &mut Ledger,
) -> Result<PathBuf, Refusal> {
    let (is_v2, parents) = own_and_ancestor_groups(machine, controllers[0]);
    if let Some(group) = groups.first().filter(|_| is_v2) {
        if let Some(parent) = group.parent() {
            enable_controllers(parent, controllers, ledger)?;
        }
        write_settings(group, settings)?;
        return Ok(group.clone());
    }

    // The group that a command which joins comes from, and goes back to.
    let origin = parents.first().map(|own| machine.path(own)).unwrap_or_default();
    let name = format!("unixmark-{}-{:x}-{name}", std::process::id(), moment());
    let mut why = format!("there is no {} cgroup", controllers[0]);
    // In this process's own group, or in one above it if that one cannot have any.
    for parent in parents {
        let parent = machine.path(&parent);
        let group = parent.join(&name);
        let undo = Undo::RemoveGroup { path: group.clone(), to: origin.clone() };
        let made = enable_controllers(&parent, controllers, ledger)
            .and_then(|()| ledger.make_directory(&undo, &group))
            .and_then(|()| write_settings(&group, settings));
        match made {
            Ok(()) => {
                groups.push(group.clone());
                return Ok(group);
            }
            // The ledger removes what was made.
            Err(error) => why = error,
        }
    }

    Err(Refusal::Unavailable(format!(
        "no cgroup with {} can be made here: {why}; it needs root, or a cgroup that was delegated",
        settings[0].0
    )))
}

/// Gives controllers to the groups below one of version 2; version 1 has nothing to enable.
///
/// # Errors
/// The group's controllers cannot be read, it has processes of its own, or it does not take the
/// controllers.
pub(super) fn enable_controllers(
    parent: &Path,
    controllers: &[&str],
    ledger: &mut Ledger,
) -> Result<(), String> {
    let file = parent.join("cgroup.subtree_control");
    let enabled = match fs::read_to_string(&file) {
        Ok(enabled) => enabled,
        // Groups of version 1 have no such file.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("{} cannot be read ({error})", file.display())),
    };

    for controller in controllers {
        if enabled.split_whitespace().any(|word| word == *controller) {
            continue;
        }

        let why = |error: &dyn Display| {
            format!("{} does not take +{controller} ({error})", file.display())
        };
        rustix::fs::access(&file, Access::WRITE_OK).map_err(|error| why(&error))?;

        let undo = Undo::Write { path: file.clone(), text: format!("-{controller}") };
        ledger.record(&undo)?;
        files::overwrite(&file, format!("+{controller}")).map_err(|error| why(&error))?;
    }

    Ok(())
}

/// Gives a group its settings, each a file and a text. The files exist only if the controller is on
/// for the group.
pub(super) fn write_settings(group: &Path, settings: &[(&str, String)]) -> Result<(), String> {
    for (file, value) in settings {
        let path = group.join(file);
        files::overwrite(&path, value).map_err(|error| format!("{} ({error})", path.display()))?;
    }

    Ok(())
}

/// Removes a group and those below it. Processes that are in them, a command's that outlives the
/// condition, go on in `to`, or above the group if that is gone or takes none.
///
/// # Errors
/// A sentence: a process cannot be moved, or the kernel does not remove the group.
pub(super) fn dissolve(group: &Path, to: &Path) -> Result<(), String> {
    let above = group.parent().unwrap_or(group);
    // Processes start, and end, while others are moved.
    retry(|| dissolve_once(group, [to, above]))
}

/// Removes a group and those below it, once their processes are moved to the first of the
/// `destinations` that takes them. A group that is gone counts as removed.
fn dissolve_once(group: &Path, destinations: [&Path; 2]) -> Result<(), String> {
    for below in fs::read_dir(group).into_iter().flatten().flatten() {
        if below.path().is_dir() {
            dissolve_once(&below.path(), destinations)?;
        }
    }

    for destination in destinations {
        if destination.is_dir() {
            move_all(group, destination);
        }
    }

    match fs::remove_dir(group) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            let members: Vec<&str> = members.split_whitespace().collect();
            if members.is_empty() {
                return Err(error.to_string());
            }

            Err(format!("the processes {} cannot be moved out of it; end them", members.join(", ")))
        }
        _ => Ok(()),
    }
}

/// Processes start while others are moved, so a group is read again as many times.
const MAX_MOVE_PASSES: usize = 5;

/// Moves the processes of a group to another; those that the kernel does not let go stay. Returns
/// how many went.
pub(super) fn move_all(from: &Path, to: &Path) -> usize {
    let mut moved = 0;
    for _ in 0..MAX_MOVE_PASSES {
        let pids = fs::read_to_string(from.join("cgroup.procs")).unwrap_or_default();
        let moved_now =
            pids.lines().filter(|pid| files::overwrite(to.join("cgroup.procs"), pid).is_ok());
        let count = moved_now.count();
        moved += count;
        if count == 0 {
            break;
        }
    }

    moved
}

/// Reads the limit of a level: processor time, a weight, memory in MiB, or the number of
/// processors.
fn parse_limit(switch: &Switch, level: &str, machine: &Machine) -> Result<CgroupLimit, String> {
    match &*switch.id {
        "cgroup-memory" => Ok(CgroupLimit::Memory(u64::from(parse_whole(level)?) << 20)),
        "weight" => match parse_whole(level)? {
            weight @ 1..=10_000 => Ok(CgroupLimit::Weight(weight)),
            _ => Err(format!("'{level}' is not a weight; try 1 to 10000 (the default is 100)")),
        },
        "cpus" => first_cpus(parse_whole(level)? as usize, machine),
        _ => Quota::parse(level).map(CgroupLimit::Quota),
    }
}

fn parse_whole(level: &str) -> Result<u32, String> {
    level.parse().map_err(|_| format!("'{level}' is not a whole number"))
}

/// A limit to so many of the processors that can be used.
fn first_cpus(number: usize, machine: &Machine) -> Result<CgroupLimit, String> {
    let usable = machine::cpus_allowed(machine);
    let cpus = usable.get(..number).filter(|cpus| !cpus.is_empty());
    let cpus =
        cpus.ok_or_else(|| format!("{} processors can be used here; try cpus=1", usable.len()))?;
    let nodes = machine.read("/sys/devices/system/node/online").unwrap_or_else(|| "0".to_owned());
    Ok(CgroupLimit::Cpus(cpu_words(cpus), nodes.trim().to_owned()))
}

/// The limit of a level, if there is a group in which a group with that limit could be made.
///
/// # Errors
/// A sentence saying why there is none.
pub(super) fn available(
    switch: &Switch,
    level: &str,
    machine: &Machine,
) -> Result<CgroupLimit, String> {
    let limit = parse_limit(switch, level, machine)?;
    let controller = controller(&limit);
    let (is_v2, groups) = own_and_ancestor_groups(machine, controller);
    if groups.is_empty() {
        return Err(format!("there is no {controller} cgroup here"));
    }

    // Under version 2 a group may be writable without having the controller: that shows when it is
    // entered.
    let is_writable =
        |group: &String| rustix::fs::access(machine.path(group), Access::WRITE_OK).is_ok();
    if !groups.iter().any(is_writable) {
        return Err(
            "no cgroup can be made here; it needs root, or a cgroup that was delegated".to_owned()
        );
    }

    if is_v2 {
        let top = machine.path(groups.last().map_or("/", String::as_str));
        let controllers = fs::read_to_string(top.join("cgroup.controllers")).unwrap_or_default();
        if !controllers.split_whitespace().any(|name| name == controller) {
            return Err(format!("the cgroups of this machine have no {controller} controller"));
        }
    }

    Ok(limit)
}

/// Makes the group, for the programs to join. Their load joins it too, unless the limit is a
/// weight: that counts against the load.
pub(super) fn enter(
    switch: &Switch,
    limit: CgroupLimit,
    context: &mut Context<'_>,
) -> Result<Proof, Refusal> {
    let controller = controller(&limit);
    let (is_v2, _) = own_and_ancestor_groups(context.machine, controller);
    let is_weight = matches!(limit, CgroupLimit::Weight(_));
    let Staging { cgroups, own_cgroups, .. } = &mut context.staging;
    let (groups, others) = if is_weight { (own_cgroups, cgroups) } else { (cgroups, own_cgroups) };
    if is_v2 && !others.is_empty() {
        let why = "under cgroup version 2 a program cannot be in a cgroup with its load and in one without";
        return Err(Refusal::Unavailable(why.to_owned()));
    }

    // A load has a scratch directory of its own for its condition, which may be the programs'
    // condition, too: the directory's name keeps their groups apart.
    let owner = context.settings.scratch.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{owner}-{}", switch.id);
    let settings = settings(&limit, is_v2);
    let group =
        ensure_group(context.machine, &[controller], &settings, &name, groups, context.ledger)?;
    let pressure = match controller {
        "cpu" => Pressure::begin(&group, context.machine),
        _ => None,
    };

    Ok(Box::new(move |finished, evidence| {
        if let Some(pressure) = &pressure {
            pressure.add_to(evidence);
        }

        // A command that is not measured may be too short to be counted, or was never started.
        let proved = match limit {
            _ if finished.window.is_empty() => prove_settings(&group, &settings, evidence),
            CgroupLimit::Weight(_) | CgroupLimit::Cpus(..) => {
                prove_settings(&group, &settings, evidence)
            }
            CgroupLimit::Quota(_) => prove_quota(&group, is_v2, evidence),
            CgroupLimit::Memory(_) => prove_memory(&group, is_v2, evidence),
        };
        Ok(proved?)
    }))
}

/// The time in which some process of a group waited for a processor, or, where the kernel does not
/// count by groups, some process of the machine.
struct Pressure {
    file: PathBuf,
    /// The name of the figure.
    name: &'static str,
    begun: Instant,
    /// The count when it began.
    waited_before_s: f64,
}

impl Pressure {
    fn begin(group: &Path, machine: &Machine) -> Option<Pressure> {
        let files = [
            (group.join("cpu.pressure"), "CPU pressure"),
            (machine.path("/proc/pressure/cpu"), "CPU pressure of the machine"),
        ];
        for (file, name) in files {
            if let Some(waited_before_s) = read_stalled_seconds(&file) {
                return Some(Pressure { file, name, begun: Instant::now(), waited_before_s });
            }
        }

        None
    }

    /// Adds to the evidence the share of the time since it began that was waited.
    fn add_to(&self, evidence: &mut Evidence) {
        let elapsed_s = self.begun.elapsed().as_secs_f64();
        let Some(waited_s) = read_stalled_seconds(&self.file) else { return };

        let percent = (1000.0 * (waited_s - self.waited_before_s) / elapsed_s).round() / 10.0;
        evidence.figures.insert(self.name.to_owned(), (percent, "%".to_owned()));
    }
}

/// The seconds that a pressure file counts.
fn read_stalled_seconds(file: &Path) -> Option<f64> {
    machine::stalled_seconds(&fs::read_to_string(file).ok()?)
}

/// Proves that a group still has its settings. That a program is in it is proved by itself: one
/// that cannot join ends.
fn prove_settings(
    group: &Path,
    settings: &[(&str, String)],
    evidence: &mut Evidence,
) -> Result<(), String> {
    for (file, value) in settings {
        let text = fs::read_to_string(group.join(file)).unwrap_or_default();
        // The kernel writes 0,1 as 0-1.
        let is_same_list = !cpu_list(value).is_empty() && cpu_list(&text) == cpu_list(value);
        if text.trim() != value && !is_same_list {
            return Err(format!("{} has {file} {} and not {value}", group.display(), text.trim()));
        }

        evidence.notes.push(format!("{file} = {value}"));
    }

    Ok(())
}

/// The periods that the kernel may count of a group without processes: its timer runs from the
/// setting of the quota until it has seen an idle period.
const IDLE_PERIODS: f64 = 2.0;

/// A count of a group, as evidence names it.
struct GroupFigure {
    name: &'static str,
    unit: &'static str,
    value: f64,
}

/// Proves that a group had processes, by the processor time that they used or the periods that they
/// ran in.
fn prove_quota(group: &Path, is_v2: bool, evidence: &mut Evidence) -> Result<(), String> {
    let stat = fs::read_to_string(group.join("cpu.stat")).unwrap_or_default();
    // Only version 2 counts a group's processor time in the same file.
    let idle = if is_v2 && field_value(&stat, "usage_usec") > 0.0 { 0.0 } else { IDLE_PERIODS };
    let figures = ["nr_periods", "nr_throttled"].map(|name| GroupFigure {
        name,
        unit: "periods",
        value: field_value(&stat, name),
    });
    prove_figures(group, idle, &figures, evidence)
}

/// Proves that a group had processes, by the memory that they used.
fn prove_memory(group: &Path, is_v2: bool, evidence: &mut Evidence) -> Result<(), String> {
    let peak_file = if is_v2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
    let peak = fs::read_to_string(group.join(peak_file)).unwrap_or_default();
    let figure = match peak.trim().parse() {
        Ok(bytes) => GroupFigure { name: "memory", unit: "bytes", value: bytes },
        // Version 2 has the peak since Linux 5.19.
        Err(_) => {
            let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let faults = field_value(&stat, "pgfault");
            GroupFigure { name: "pgfault", unit: "faults", value: faults }
        }
    };
    prove_figures(group, 0.0, &[figure], evidence)
}

/// Adds figures of a group to the evidence. The first must be above `idle`, which it can be in a
/// group without processes.
fn prove_figures(
    group: &Path,
    idle: f64,
    figures: &[GroupFigure],
    evidence: &mut Evidence,
) -> Result<(), String> {
    let GroupFigure { name, value, .. } = figures[0];
    if value <= idle {
        return Err(format!("no process has run in {} ({name} is {value})", group.display()));
    }

    for GroupFigure { name, unit, value } in figures {
        evidence.figures.insert((*name).to_owned(), (*value, (*unit).to_owned()));
    }
    Ok(())
}

/// A figure of a file with a name and a number in each line; 0 if it is missing.
fn field_value(text: &str, name: &str) -> f64 {
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    text.lines().find_map(value).unwrap_or(0.0)
}
