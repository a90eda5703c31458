//! Processors that only the measured programs may use: a cpuset of their own, which other processes leave, and
//! interrupts too. Threads of the kernel that belong to a processor stay, and so do the interrupts that the kernel
//! itself places.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Context, Proof, Refusal, Undo, cgroup};
use journal::Evidence;
use machine::{Machine, cgroup::levels, cpu_list, cpu_words};

const CONTROLLER: &str = "cpuset";

/// Processes start while others are moved; as many times everything is looked at again.
const PASSES: usize = 5;

/// Processors to shield.
pub(super) struct Shield {
    version_2: bool,
    /// The group in which all others are.
    top: PathBuf,
    cpus: String,
    others: String,
}

/// Returns the shield of a level, `1` or `2-3:6`, if one can be made here; or a sentence saying why not.
pub(super) fn available(level: &str, machine: &Machine) -> Result<Shield, String> {
    let (version_2, groups) = levels(machine, CONTROLLER);
    let top = groups.last().ok_or("there is no cpuset cgroup here")?;
    let online = cpu_list(&machine.read("/sys/devices/system/cpu/online").unwrap_or_default());
    let wanted = cpu_list(&level.replace(':', ","));
    let (cpus, others): (Vec<usize>, Vec<usize>) = online.iter().partition(|cpu| wanted.contains(cpu));
    if cpus.is_empty() || cpus.len() != wanted.len() {
        return Err(format!("'{level}' does not name processors of this machine; try 1, 2-3 or 2-3:6"));
    }
    if others.is_empty() {
        return Err("no processor would be left for all other processes; shield fewer".to_owned());
    }
    let top = machine.path(top);
    if rustix::fs::access(&top, rustix::fs::Access::WRITE_OK).is_err() {
        return Err("no cpuset can be made here; it needs root".to_owned());
    }
    Ok(Shield { version_2, top, cpus: cpu_words(&cpus), others: cpu_words(&others) })
}

/// Makes the cpuset for the programs to join, and has everything else leave its processors.
pub(super) fn enter(shield: Shield, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let name = format!("unixmark-{}-shield", std::process::id());
    let Shield { version_2, top, cpus, others } = shield;
    if version_2 && !context.staging.own_cgroups.is_empty() {
        let why =
            "under cgroup version 2 a program cannot be in a cpuset and in another cgroup; try one after the other";
        return Err(Refusal::Unavailable(why.to_owned()));
    }
    cgroup::enable(&top, &[CONTROLLER], context.ledger)?;
    let interrupts = move_interrupts(&cpus, &others, context)?;
    let shielded = cpu_list(&cpus);
    let mut make = |name: String, settings: [(&str, String); 2]| -> Result<PathBuf, Refusal> {
        let group = top.join(name);
        context.ledger.record(&Undo::RemoveGroup { path: group.clone() })?;
        cgroup::make(&group, &settings)?;
        Ok(group)
    };
    let (group, moved) = if version_2 {
        // Such a partition takes its processors away from all other groups.
        (make(name, [("cpuset.cpus", cpus), ("cpuset.cpus.partition", "root".to_owned())])?, None)
    } else {
        let nodes = fs::read_to_string(top.join("cpuset.mems")).unwrap_or_default();
        let group = make(name.clone(), [("cpuset.mems", nodes.clone()), ("cpuset.cpus", cpus)])?;
        let others = make(name + "-others", [("cpuset.mems", nodes), ("cpuset.cpus", others)])?;
        (group, Some(move_all(&top, &others)))
    };
    check(&group, version_2)?;
    context.staging.cgroups.push(group.clone());
    Ok(Box::new(move |_, evidence| {
        let away = interrupts.iter().filter(|interrupt| !reaches(interrupt, &shielded)).count();
        Ok(prove(&group, version_2, (moved, away), evidence)?)
    }))
}

fn prove(
    group: &Path,
    version_2: bool,
    (processes, interrupts): (Option<usize>, usize),
    evidence: &mut Evidence,
) -> Result<(), String> {
    let figures = [
        ("shielded", "CPUs", Some(check(group, version_2)?)),
        ("moved", "processes", processes),
        ("interrupts away", "interrupts", Some(interrupts)),
    ];
    let known =
        figures.into_iter().filter_map(|(name, unit, value)| Some((name.to_owned(), (value? as f64, unit.to_owned()))));
    evidence.figures.extend(known);
    Ok(())
}

/// Returns how many processors a group has for itself.
fn check(group: &Path, version_2: bool) -> Result<usize, String> {
    let read = |file: &str| fs::read_to_string(group.join(file)).unwrap_or_default();
    let (cpus, partition) = (cpu_list(&read("cpuset.cpus")).len(), read("cpuset.cpus.partition"));
    if cpus == 0 || version_2 && partition.trim() != "root" {
        return Err(format!("{} has no processors of its own ({})", group.display(), partition.trim()));
    }
    Ok(cpus)
}

/// Has interrupts leave processors for others; returns the files of those that did. The kernel places some itself.
fn move_interrupts(cpus: &str, others: &str, context: &mut Context<'_>) -> Result<Vec<PathBuf>, Refusal> {
    let shielded = cpu_list(cpus);
    let files = context.machine.list("/proc/irq").into_iter();
    let files = files.map(|number| context.machine.path(format!("/proc/irq/{number}/smp_affinity_list")));
    let known = files.filter_map(|file| Some((fs::read_to_string(&file).ok()?, file)));
    // Nobody could put back what cannot be written now.
    let movable = known.filter(|(before, file)| reaches(file, &shielded) && fs::write(file, before).is_ok());
    let movable: Vec<(String, PathBuf)> = movable.collect();
    // A device may take its interrupt with it; then there is nothing to put back.
    let back = movable.iter().map(|(before, file)| format!("echo {} >{} || :\n", before.trim(), file.display()));
    let (command, limit) = (back.collect::<String>(), context.settings.patience.as_secs());
    if !movable.is_empty() {
        context.ledger.record(&Undo::Shell { name: "shield".to_owned(), command, limit })?;
    }
    Ok(movable.into_iter().map(|(_, file)| file).filter(|file| fs::write(file, others).is_ok()).collect())
}

/// Returns true if an interrupt can reach one of these processors.
fn reaches(interrupt: &Path, cpus: &[usize]) -> bool {
    fs::read_to_string(interrupt).is_ok_and(|list| cpu_list(&list).iter().any(|cpu| cpus.contains(cpu)))
}

/// Moves the processes of a group to another; those that the kernel does not let go stay. Returns how many went.
pub(super) fn move_all(from: &Path, to: &Path) -> usize {
    let mut moved = 0;
    for _ in 0..PASSES {
        let processes = fs::read_to_string(from.join("cgroup.procs")).unwrap_or_default();
        let gone = processes.lines().filter(|pid| fs::write(to.join("cgroup.procs"), pid).is_ok()).count();
        moved += gone;
        if gone == 0 {
            break;
        }
    }
    moved
}
