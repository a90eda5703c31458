//! The kernel's tracing of system calls (ftrace), in a buffer of its own.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

use super::{Context, Ledger, Proof, Refusal, Undo};
use journal::Evidence;
use machine::{Machine, TRACING};

/// The buffer's name.
const INSTANCE: &str = "unixmark";

/// Mounts the tracing file system unless it is mounted.
pub(super) fn mount(machine: &Machine, ledger: &mut Ledger) -> Result<(), Refusal> {
    if machine.exists(&format!("{TRACING}/events")) {
        return Ok(());
    }
    ledger.record(&Undo::Unmount { path: PathBuf::from(TRACING) })?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("tracefs", TRACING, "tracefs", flags, None)
        .map_err(|error| Refusal::Unavailable(format!("{TRACING} cannot be mounted ({error}); it needs root")))
}

/// Makes a buffer of the tool's own.
///
/// # Errors
/// The tracing file system cannot be mounted, or somebody else has a buffer of this name.
pub(super) fn instance(name: &str, machine: &Machine, ledger: &mut Ledger) -> Result<PathBuf, Refusal> {
    mount(machine, ledger)?;
    let instance = PathBuf::from(TRACING).join("instances").join(name);
    if instance.exists() {
        return Err(Refusal::Failed(format!("{0} exists already; `rmdir {0}` removes it", instance.display())));
    }
    ledger.record(&Undo::RemoveDirectory { path: instance.clone() })?;
    fs::create_dir(&instance).map_err(|error| format!("{} ({error})", instance.display()))?;
    Ok(instance)
}

/// Returns what the kernel says of each processor's part of a buffer.
pub(super) fn per_cpu(instance: &Path) -> std::io::Result<Vec<String>> {
    let cpus = fs::read_dir(instance.join("per_cpu"))?;
    cpus.flatten().map(|cpu| fs::read_to_string(cpu.path().join("stats"))).collect()
}

/// Traces the entry and the end of every system call.
pub(super) fn enter(context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let instance = instance(INSTANCE, context.machine, context.ledger)?;
    let failed = |error: std::io::Error| format!("{} ({error})", instance.display());
    let events = instance.join("events/raw_syscalls/enable");
    if !events.exists() {
        return Err(Refusal::Unavailable("this kernel cannot trace system calls (CONFIG_FTRACE_SYSCALLS)".into()));
    }
    fs::write(&events, "1").map_err(failed)?;
    let on = fs::read_to_string(&events).map_err(failed)?;
    if on.trim() != "1" {
        return Err(Refusal::Failed(format!("{} stays at {}", events.display(), on.trim())));
    }
    Ok(Box::new(move |_, evidence| Ok(prove(&instance, evidence)?)))
}

/// Proves that events were traced.
fn prove(instance: &Path, evidence: &mut Evidence) -> Result<(), String> {
    let stats = per_cpu(instance).map_err(|error| format!("{INSTANCE} is gone ({error})"))?;
    let (kept, overwritten) = stats.iter().map(|text| counts(text)).fold((0, 0), |sum, (a, b)| (sum.0 + a, sum.1 + b));
    if kept + overwritten == 0 {
        return Err("no event was traced".to_owned());
    }
    for (name, count) in [("events", kept + overwritten), ("overwritten", overwritten)] {
        evidence.figures.insert(name.to_owned(), (count as f64, "events".to_owned()));
    }
    Ok(())
}

/// Returns the events in a processor's buffer, and those that newer ones have overwritten.
fn counts(stats: &str) -> (u64, u64) {
    let field = |name: &str| {
        let value = stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    (field("entries"), field("overrun"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn stats_of_a_processor() {
        let text = "entries: 9315\noverrun: 7\ncommit overrun: 3\nbytes: 452160\nread events: 0\n";
        assert_eq!(super::counts(text), (9315, 7));
        assert_eq!(super::counts(""), (0, 0));
    }
}
