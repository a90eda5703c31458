//! The kernel's tracing (ftrace), in a buffer of the tool's own: [`make_instance`] makes one for
//! whoever traces anything; [`enter`] traces system calls in one, as a condition.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

use super::{Context, Ledger, Proof, Refusal, Undo};
use journal::Evidence;
use machine::{Machine, TRACING};

/// The name of the buffer for system calls.
const INSTANCE: &str = "unixmark";

/// Mounts the tracing file system unless it is mounted.
pub(super) fn mount(machine: &Machine, ledger: &mut Ledger) -> Result<(), Refusal> {
    if machine.exists(&format!("{TRACING}/events")) {
        return Ok(());
    }

    ledger.record(&Undo::Unmount { path: PathBuf::from(TRACING) })?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("tracefs", TRACING, "tracefs", flags, None).map_err(|error| {
        Refusal::Unavailable(format!("{TRACING} cannot be mounted ({error}); it needs root"))
    })
}

/// Makes a buffer of the tool's own.
///
/// # Errors
/// The tracing file system cannot be mounted, or somebody else has a buffer of this name.
pub(super) fn make_instance(
    name: &str,
    machine: &Machine,
    ledger: &mut Ledger,
) -> Result<PathBuf, Refusal> {
    mount(machine, ledger)?;

    let instance = PathBuf::from(TRACING).join("instances").join(name);
    if instance.exists() {
        return Err(Refusal::Failed(format!(
            "{0} exists already; `rmdir {0}` removes it",
            instance.display()
        )));
    }
    ledger.make_directory(&Undo::RemoveDirectory { path: instance.clone() }, &instance)?;
    Ok(instance)
}

/// The kernel's counts of each processor's part of a buffer, one text for each.
pub(super) fn read_cpu_stats(instance: &Path) -> std::io::Result<Vec<String>> {
    let cpus = fs::read_dir(instance.join("per_cpu"))?;
    cpus.flatten().map(|cpu| fs::read_to_string(cpu.path().join("stats"))).collect()
}

/// Traces the entry and the end of every system call.
pub(super) fn enter(context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let instance = make_instance(INSTANCE, context.machine, context.ledger)?;
    let switch = instance.join("events/raw_syscalls/enable");
    if !switch.exists() {
        return Err(Refusal::Unavailable(
            "this kernel cannot trace system calls (CONFIG_FTRACE_SYSCALLS)".into(),
        ));
    }

    let failed = |error: std::io::Error| format!("{} ({error})", instance.display());
    files::overwrite(&switch, "1").map_err(failed)?;
    let state = fs::read_to_string(&switch).map_err(failed)?;
    if state.trim() != "1" {
        return Err(Refusal::Failed(format!("{} stays at {}", switch.display(), state.trim())));
    }

    Ok(Box::new(move |_, evidence| Ok(prove(&instance, evidence)?)))
}

/// Proves that events were traced.
fn prove(instance: &Path, evidence: &mut Evidence) -> Result<(), String> {
    let stats =
        read_cpu_stats(instance).map_err(|error| format!("{INSTANCE} is gone ({error})"))?;
    let buffered: u64 = stats.iter().map(|text| field_value(text, "entries")).sum();
    let overwritten: u64 = stats.iter().map(|text| field_value(text, "overrun")).sum();
    let events = buffered + overwritten;
    if events == 0 {
        return Err("no event was traced".to_owned());
    }

    for (name, count) in [("events", events), ("overwritten", overwritten)] {
        evidence.figures.insert(name.to_owned(), (count as f64, "events".to_owned()));
    }
    Ok(())
}

/// A number of a processor's counts; 0 if it is not among them.
fn field_value(stats: &str, name: &str) -> u64 {
    let value = stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn stats_of_a_processor() {
        let text = "entries: 9315\noverrun: 7\ncommit overrun: 3\nbytes: 452160\nread events: 0\n";
        assert_eq!(["entries", "overrun"].map(|name| super::field_value(text, name)), [9315, 7]);
        assert_eq!(super::field_value("", "entries"), 0);
    }
}
