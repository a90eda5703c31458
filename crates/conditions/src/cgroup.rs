//! Control groups that limit the measured programs or their load.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::Access;

use super::{Context, Ledger, Proof, Refusal, Staging, Undo};
use catalogue::{CgroupLimit, Quota, Switch};
use journal::Evidence;
use machine::{
    Machine,
    cgroup::{controller, levels, settings},
    cpu_list, cpu_words,
};

/// Puts settings of controllers in force for the programs that join `groups`, and returns the group that has them: one
/// that is made, or under version 2, where a process is in one group only, the one that is there.
///
/// # Errors
/// None can be made here, or it does not take the settings.
pub(super) fn join(
    machine: &Machine,
    controllers: &[&str],
    settings: &[(&'static str, String)],
    name: &str,
    groups: &mut Vec<PathBuf>,
    ledger: &mut Ledger,
) -> Result<PathBuf, Refusal> {
    let (v2, above) = levels(machine, controllers[0]);
    if let Some(group) = groups.first().filter(|_| v2) {
        let enabled = group.parent().map_or(Ok(()), |parent| enable(parent, controllers, ledger));
        enabled.and_then(|()| set(group, settings))?;
        return Ok(group.clone());
    }
    let name = format!("unixmark-{}-{name}", std::process::id());
    let mut why = format!("there is no {} cgroup", controllers[0]);
    // In this process's own group, or in one above it if that one cannot have any.
    for parent in above {
        let parent = machine.path(&parent);
        let group = parent.join(&name);
        let enabled = enable(&parent, controllers, ledger);
        ledger.record(&Undo::RemoveDirectory { path: group.clone() })?;
        match enabled.and_then(|()| make(&group, settings)) {
            Ok(()) => {
                groups.push(group.clone());
                return Ok(group);
            }
            Err(error) => {
                let _ = fs::remove_dir(&group);
                why = error;
            }
        }
    }
    Err(Refusal::Unavailable(format!(
        "no cgroup with {} can be made here: {why}; it needs root, or a cgroup that was delegated",
        settings[0].0
    )))
}

/// Has the groups below one of version 2 have controllers.
///
/// # Errors
/// It has processes of its own, or does not take them.
pub(super) fn enable(parent: &Path, controllers: &[&str], ledger: &mut Ledger) -> Result<(), String> {
    let file = parent.join("cgroup.subtree_control");
    let Ok(enabled) = fs::read_to_string(&file) else { return Ok(()) };
    for controller in controllers.iter().filter(|name| !enabled.split_whitespace().any(|word| word == **name)) {
        let why = |error: &dyn Display| format!("{} does not take +{controller} ({error})", file.display());
        rustix::fs::access(&file, Access::WRITE_OK).map_err(|error| why(&error))?;
        let undo = Undo::Write { path: file.clone(), text: format!("-{controller}") };
        ledger.record(&undo).map_err(|error| error.to_string())?;
        fs::write(&file, format!("+{controller}")).map_err(|error| why(&error))?;
    }
    Ok(())
}

/// Makes a group with settings: files and what they hold.
pub(super) fn make(group: &Path, settings: &[(&str, String)]) -> Result<(), String> {
    fs::create_dir(group).map_err(|error| format!("{} ({error})", group.display()))?;
    set(group, settings)
}

/// The files exist only if the controller is on for the group.
fn set(group: &Path, settings: &[(&str, String)]) -> Result<(), String> {
    for (file, value) in settings {
        let path = group.join(file);
        let written = fs::File::options().write(true).open(&path).and_then(|_| fs::write(&path, value));
        written.map_err(|error| format!("{} ({error})", path.display()))?;
    }
    Ok(())
}

/// Reads what a level limits: processor time, its share of it, memory in MiB, or the number of processors.
fn level_limit(switch: &Switch, level: &str, machine: &Machine) -> Result<CgroupLimit, String> {
    let number = || level.parse::<u32>().map_err(|_| format!("'{level}' is not a whole number"));
    match &*switch.id {
        "cgroup-memory" => Ok(CgroupLimit::Memory(u64::from(number()?) << 20)),
        "weight" => match number()? {
            weight @ 1..=10_000 => Ok(CgroupLimit::Weight(weight)),
            _ => Err(format!("'{level}' is not a weight; try 1 to 10000 (the default is 100)")),
        },
        "cpus" => first_cpus(number()? as usize, machine),
        _ => Quota::parse(level).map(CgroupLimit::Quota),
    }
}

/// Returns a limit to so many of the processors that can be used.
fn first_cpus(number: usize, machine: &Machine) -> Result<CgroupLimit, String> {
    let usable = machine::cpus_allowed(machine);
    let cpus = usable.get(..number).filter(|cpus| !cpus.is_empty());
    let cpus = cpus.ok_or_else(|| format!("{} processors can be used here; try cpus=1", usable.len()))?;
    let nodes = machine.read("/sys/devices/system/node/online").unwrap_or_else(|| "0".to_owned());
    Ok(CgroupLimit::Cpus(cpu_words(cpus), nodes.trim().to_owned()))
}

/// Returns what a level limits, if there is a group in which one could be made; or a sentence saying why not.
pub(super) fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<CgroupLimit, String> {
    let limit = level_limit(switch, level, machine)?;
    let controller = controller(&limit);
    let (v2, groups) = levels(machine, controller);
    let writable = |group: &String| rustix::fs::access(machine.path(group), Access::WRITE_OK).is_ok();
    if groups.is_empty() {
        return Err(format!("there is no {controller} cgroup here"));
    }
    // Under version 2 a group may be writable without having the controller: that shows when it is entered.
    if !groups.iter().any(writable) {
        return Err("no cgroup can be made here; it needs root, or a cgroup that was delegated".to_owned());
    }
    let top = machine.path(groups.last().map_or("/", String::as_str));
    let has = |text: String| text.split_whitespace().any(|name| name == controller);
    let controllers = fs::read_to_string(top.join("cgroup.controllers"));
    match v2 && !controllers.is_ok_and(has) {
        true => Err(format!("the cgroups of this machine have no {controller} controller")),
        false => Ok(limit),
    }
}

/// Makes the group, for the programs to join; their load joins it too, but for a weight, which is against the load.
pub(super) fn enter(switch: &Switch, limit: CgroupLimit, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let controller = controller(&limit);
    let v2 = levels(context.machine, controller).0;
    let is_weight = matches!(limit, CgroupLimit::Weight(_));
    let Staging { cgroups, own_cgroups, .. } = &mut context.staging;
    let (groups, others) = if is_weight { (own_cgroups, cgroups) } else { (cgroups, own_cgroups) };
    if v2 && !others.is_empty() {
        let why = "under cgroup version 2 a program cannot be in a cgroup with its load and in one without";
        return Err(Refusal::Unavailable(why.to_owned()));
    }
    // A load has a scratch directory of its own for its condition, which may be the same as that of the programs.
    let owner = context.settings.scratch.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{owner}-{}", switch.id);
    let settings = settings(&limit, v2);
    let group = join(context.machine, &[controller], &settings, &name, groups, context.ledger)?;
    let is_of_time = controller == "cpu";
    let pressure = is_of_time.then(|| Pressure::begin(&group, context.machine)).flatten();
    Ok(Box::new(move |_, evidence| {
        pressure.iter().for_each(|pressure| pressure.note(evidence));
        Ok(match limit {
            CgroupLimit::Weight(_) | CgroupLimit::Cpus(..) => prove_settings(&group, &settings, evidence),
            CgroupLimit::Quota(_) => prove_quota(&group, v2, evidence),
            CgroupLimit::Memory(_) => prove_memory(&group, v2, evidence),
        }?)
    }))
}

/// The time in which a process of a group waited for a processor, or, where the kernel counts no groups, any of the
/// machine.
struct Pressure {
    file: PathBuf,
    name: &'static str,
    begun: Instant,
    waited: f64,
}

impl Pressure {
    fn begin(group: &Path, machine: &Machine) -> Option<Pressure> {
        let files = [
            (group.join("cpu.pressure"), "CPU pressure"),
            (machine.path("/proc/pressure/cpu"), "CPU pressure of the machine"),
        ];
        let mut known = files.into_iter().filter_map(|(file, name)| Some((waited(&file)?, file, name)));
        known.next().map(|(waited, file, name)| Pressure { file, name, begun: Instant::now(), waited })
    }

    /// Adds the share of the time since.
    fn note(&self, evidence: &mut Evidence) {
        let elapsed = self.begun.elapsed().as_secs_f64();
        if let Some(now) = waited(&self.file) {
            let percent = (1000.0 * (now - self.waited) / elapsed).round() / 10.0;
            evidence.figures.insert(self.name.to_owned(), (percent, "%".to_owned()));
        }
    }
}

/// Returns the seconds of a pressure file.
fn waited(file: &Path) -> Option<f64> {
    machine::stalled_seconds(&fs::read_to_string(file).ok()?)
}

/// Proves that a group still has its settings. That a program is in it is proved by itself: one that cannot join ends.
fn prove_settings(group: &Path, settings: &[(&str, String)], evidence: &mut Evidence) -> Result<(), String> {
    for (file, value) in settings {
        let found = fs::read_to_string(group.join(file)).unwrap_or_default();
        // The kernel writes 0,1 as 0-1.
        let is_same_list = !cpu_list(value).is_empty() && cpu_list(&found) == cpu_list(value);
        if found.trim() != value && !is_same_list {
            return Err(format!("{} has {file} {} and not {value}", group.display(), found.trim()));
        }
        evidence.notes.push(format!("{file} = {value}"));
    }
    Ok(())
}

/// The periods that the kernel may count of a group without processes: its timer runs from the setting of the quota
/// until it has seen an idle period.
const IDLE_PERIODS: f64 = 2.0;

/// Proves that a group had processes, by the processor time that they used or the periods that they ran in.
fn prove_quota(group: &Path, v2: bool, evidence: &mut Evidence) -> Result<(), String> {
    let stat = fs::read_to_string(group.join("cpu.stat")).unwrap_or_default();
    // Only version 2 counts a group's processor time in the same file.
    let idle = if v2 && field(&stat, "usage_usec") > 0.0 { 0.0 } else { IDLE_PERIODS };
    let figures = ["nr_periods", "nr_throttled"].map(|name| (name, "periods", field(&stat, name)));
    prove_figures(group, idle, &figures, evidence)
}

/// Proves that a group had processes, by the memory that they used.
fn prove_memory(group: &Path, v2: bool, evidence: &mut Evidence) -> Result<(), String> {
    let read = |file: &str| fs::read_to_string(group.join(file)).unwrap_or_default();
    let most = if v2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
    let figure = match read(most).trim().parse() {
        Ok(bytes) => ("memory", "bytes", bytes),
        // Version 2 has it since Linux 5.19.
        Err(_) => ("pgfault", "faults", field(&read("memory.stat"), "pgfault")),
    };
    prove_figures(group, 0.0, &[figure], evidence)
}

/// Adds figures of a group to the evidence, the first of which is more than that of an idle one.
fn prove_figures(
    group: &Path,
    idle: f64,
    figures: &[(&str, &str, f64)],
    evidence: &mut Evidence,
) -> Result<(), String> {
    let (name, _, value) = figures[0];
    if value <= idle {
        return Err(format!("no process has run in {} ({name} is {value})", group.display()));
    }
    let named = |(name, unit, value): &(&str, &str, f64)| ((*name).to_owned(), (*value, (*unit).to_owned()));
    evidence.figures.extend(figures.iter().map(named));
    Ok(())
}

/// Returns a figure of a file with a name and a number in each line; 0 if it is missing.
fn field(text: &str, name: &str) -> f64 {
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    text.lines().find_map(value).unwrap_or(0.0)
}
