//! Processors that only the measured programs may use: a cpuset of their own, which other processes
//! leave, and interrupts too. Threads of the kernel that belong to a processor stay, and so do the
//! interrupts that the kernel itself places.
//!
//! Under version 2 of control groups the cpuset is a partition, which takes its processors away
//! from all other groups. Version 1 has none, so all other processes are moved to a second cpuset
//! with the rest of the processors.

use std::fs;
use std::path::{Path, PathBuf};

use super::ledger::moment;
use super::own::Own;
use super::{Context, Proof, Refusal, Undo, cgroup};
use journal::Evidence;
use machine::{Machine, cgroup::own_and_ancestor_groups, cpu_list, cpu_words};

const CONTROLLER: &str = "cpuset";

/// Processors to shield.
pub(super) struct Shield {
    is_v2: bool,
    /// The group in which all others are.
    top: PathBuf,
    /// The group that the programs come from.
    origin: PathBuf,
    cpus: String,
    other_cpus: String,
}

/// The shield of a level, `1` or `2-3:6`, if one can be made here; or a sentence saying why
/// not.
pub(super) fn available(level: &str, machine: &Machine) -> Result<Shield, String> {
    let (is_v2, groups) = own_and_ancestor_groups(machine, CONTROLLER);
    let top = groups.last().ok_or("there is no cpuset cgroup here")?;

    let online = cpu_list(&machine.read("/sys/devices/system/cpu/online").unwrap_or_default());
    let wanted = cpu_list(&level.replace(':', ","));
    let (cpus, other_cpus): (Vec<usize>, Vec<usize>) =
        online.iter().partition(|cpu| wanted.contains(cpu));
    if cpus.is_empty() || cpus.len() != wanted.len() {
        return Err(format!(
            "'{level}' does not name processors of this machine; try 1, 2-3 or 2-3:6"
        ));
    }
    if other_cpus.is_empty() {
        return Err("no processor would be left for all other processes; shield fewer".to_owned());
    }

    let top = machine.path(top);
    if rustix::fs::access(&top, rustix::fs::Access::WRITE_OK).is_err() {
        return Err("no cpuset can be made here; it needs root".to_owned());
    }

    let origin = groups.first().map_or_else(|| top.clone(), |group| machine.path(group));
    Ok(Shield { is_v2, top, origin, cpus: cpu_words(&cpus), other_cpus: cpu_words(&other_cpus) })
}

/// A shield that is up, and what it moved away.
struct RaisedShield {
    is_v2: bool,
    /// The programs' cpuset.
    group: PathBuf,
    shielded: Vec<usize>,
    /// The processes that went to the other cpuset; `None` where there is no other.
    moved_processes: Option<usize>,
    /// Files of the interrupts that left the processors.
    interrupts: Vec<PathBuf>,
}

/// Makes the cpuset for the programs to join, and has everything else leave its processors.
pub(super) fn enter(shield: Shield, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let Shield { is_v2, top, origin, cpus, other_cpus } = shield;
    if is_v2 && !context.staging.own_cgroups.is_empty() {
        let why = "under cgroup version 2 a program cannot be in a cpuset and in another cgroup; try one after the other";
        return Err(Refusal::Unavailable(why.to_owned()));
    }

    cgroup::enable_controllers(&top, &[CONTROLLER], context.ledger)?;
    let interrupts = move_interrupts(&cpus, &other_cpus, context)?;

    let name = format!("unixmark-{}-{:x}-shield", std::process::id(), moment());
    let shielded = cpu_list(&cpus);
    let group = top.join(&name);
    let mut moved_processes = None;
    if is_v2 {
        let settings = [("cpuset.cpus", cpus), ("cpuset.cpus.partition", "root".to_owned())];
        make_group(&group, &origin, &settings, context)?;
    } else {
        // A cpuset of version 1 takes no process before it has processors and memory nodes.
        let nodes = fs::read_to_string(top.join("cpuset.mems")).unwrap_or_default();
        let settings = [("cpuset.mems", nodes.clone()), ("cpuset.cpus", cpus)];
        make_group(&group, &origin, &settings, context)?;

        let others = top.join(name + "-others");
        let settings = [("cpuset.mems", nodes), ("cpuset.cpus", other_cpus)];
        make_group(&others, &top, &settings, context)?;
        moved_processes = Some(cgroup::move_all(&top, &others));
    }

    count_own_cpus(&group, is_v2)?;
    context.staging.cgroups.push(group.clone());

    let shield = RaisedShield { is_v2, group, shielded, moved_processes, interrupts };
    Ok(Box::new(move |_, evidence| Ok(shield.prove(evidence)?)))
}

/// Makes a group with settings; when it is removed, its processes go to `to`.
fn make_group(
    group: &Path,
    to: &Path,
    settings: &[(&str, String)],
    context: &mut Context<'_>,
) -> Result<(), Refusal> {
    let undo = Undo::RemoveGroup { path: group.to_path_buf(), to: to.to_path_buf() };
    context.ledger.make_directory(&undo, group)?;
    Ok(cgroup::write_settings(group, settings)?)
}

impl RaisedShield {
    fn prove(&self, evidence: &mut Evidence) -> Result<(), String> {
        let interrupts_away =
            self.interrupts.iter().filter(|file| !reaches(file, &self.shielded)).count();
        let figures = [
            ("shielded", "CPUs", Some(count_own_cpus(&self.group, self.is_v2)?)),
            ("moved", "processes", self.moved_processes),
            ("interrupts away", "interrupts", Some(interrupts_away)),
        ];

        for (name, unit, value) in figures {
            if let Some(value) = value {
                evidence.figures.insert(name.to_owned(), (value as f64, unit.to_owned()));
            }
        }
        Ok(())
    }
}

/// The number of processors that a group has for itself.
///
/// # Errors
/// The group has none.
fn count_own_cpus(group: &Path, is_v2: bool) -> Result<usize, String> {
    let cpus = fs::read_to_string(group.join("cpuset.cpus")).unwrap_or_default();
    let count = cpu_list(&cpus).len();
    // `root`, after which the kernel says why if the processors are not the group's alone.
    let partition = fs::read_to_string(group.join("cpuset.cpus.partition")).unwrap_or_default();
    if count == 0 || is_v2 && partition.trim() != "root" {
        return Err(format!(
            "{} has no processors of its own ({})",
            group.display(),
            partition.trim()
        ));
    }

    Ok(count)
}

/// The affinity of an interrupt.
struct Affinity {
    file: PathBuf,
    /// The processors as they were found.
    before: String,
}

/// Moves interrupts from the processors `cpus` to `others`; returns the files of those that moved.
/// Interrupts that the kernel itself places stay.
fn move_interrupts(
    cpus: &str,
    others: &str,
    context: &mut Context<'_>,
) -> Result<Vec<PathBuf>, Refusal> {
    let shielded = cpu_list(cpus);
    let mut movable = Vec::new();
    for number in context.machine.list("/proc/irq") {
        let file = context.machine.path(format!("/proc/irq/{number}/smp_affinity_list"));
        let Ok(before) = fs::read_to_string(&file) else { continue };

        // Nobody could put back what cannot be written now.
        if reaches(&file, &shielded) && files::overwrite(&file, &before).is_ok() {
            movable.push(Affinity { file, before });
        }
    }

    if !movable.is_empty() {
        context.ledger.record(&undo_affinities(&movable, context.settings.patience.as_secs()))?;
    }
    let files = movable.into_iter().map(|affinity| affinity.file);
    Ok(files.filter(|file| files::overwrite(file, others).is_ok()).collect())
}

/// The step that puts all interrupts back: only one, since a machine may have hundreds. A device
/// may take its interrupt with it; then there is nothing to put back.
fn undo_affinities(movable: &[Affinity], limit: u64) -> Undo {
    let (mut command, mut absent) = (String::new(), String::new());
    for Affinity { file, before } in movable {
        let (before, file) = (before.trim(), file.display());
        command += &format!("echo {before} >{file} || :\n");
        absent += &format!(
            "[ \"$(cat {file} || echo {before})\" = {before} ] || {{ echo \"{file} is not {before}; write it\" >&2; exit 1; }}\n"
        );
    }

    Undo::Shell { name: "shield".to_owned(), command, limit, absent, own: Own::default() }
}

/// True if an interrupt can reach one of these processors.
fn reaches(affinity: &Path, cpus: &[usize]) -> bool {
    fs::read_to_string(affinity)
        .is_ok_and(|list| cpu_list(&list).iter().any(|cpu| cpus.contains(cpu)))
}
