//! What will spoil or disturb a run here, as findings, each with its fix: one small check per row
//! of a table.
//!
//! A check that cannot see what it needs finds nothing. A fix is a command to type, or a plain
//! statement that there is none.

mod kernel;
mod limits;
mod load;
mod processes;
mod processor;
mod storage;

use super::noise::{self, Sample};
use super::{Machine, counts, sample};
use journal::{Finding, Noise, Severity};
use std::path::Path;
use std::time::Duration;

/// The time for which the doctor watches the CPUs: twenty ticks of each.
const WATCHED_TIME: Duration = Duration::from_millis(200);

/// The system that checks examine.
struct System<'a> {
    machine: &'a Machine,
    dir: &'a Path,
    /// Load averages and runnable tasks are those at the end of [`WATCHED_TIME`].
    noise: Noise,
    /// CPUs that were busy; `None` if the kernel does not report it.
    busy_cpus: Option<f64>,
    /// Share of CPU time stolen, 0 to 1: during [`WATCHED_TIME`], and since boot.
    steal: Option<f64>,
    steal_since_boot: Option<f64>,
}

/// Name and check.
type Check = (&'static str, fn(&System) -> Option<Finding>);

const CHECKS: &[Check] = &[
    ("load.busy", load::busy),
    ("load.average", load::average),
    ("load.steal", load::steal),
    ("load.battery", load::battery),
    ("cpu.governor", processor::governor),
    ("cpu.boost", processor::boost),
    ("cpu.idle", processor::idle),
    ("cpu.emulated", processor::emulated),
    ("cpu.virtual", processor::virtual_machine),
    ("limits.quota", limits::quota),
    ("limits.affinity", limits::affinity),
    ("limits.copies", limits::copies),
    ("limits.nofile", limits::nofile),
    ("limits.memory", limits::memory),
    ("kernel.debug", kernel::debug),
    ("kernel.clock_source", kernel::clock_source),
    ("kernel.audit", kernel::audit),
    ("kernel.seccomp", kernel::seccomp),
    ("kernel.mitigations", kernel::mitigations),
    ("memory.thp", kernel::huge_pages),
    ("memory.available", load::memory),
    ("memory.swap", load::swap),
    ("storage.read_only", storage::read_only),
    ("storage.file_system", storage::file_system),
    ("storage.free", storage::free),
    ("software.locale", storage::locale),
];

/// Everything that will spoil or disturb a run on this machine now, the worst first. `dir` is where
/// the file tests work. Takes a fifth of a second.
pub fn doctor(machine: &Machine, dir: &Path) -> Vec<Finding> {
    let before = sample(machine);
    let processes_before = processes::read_processes(machine);
    std::thread::sleep(WATCHED_TIME);
    let mut findings = examine(machine, dir, &before, &sample(machine));
    let processes_after = processes::read_processes(machine);

    let busiest = processes::name_busiest(&processes_before, &processes_after, WATCHED_TIME);
    if !busiest.is_empty()
        && let Some(busy) = findings.iter_mut().find(|finding| finding.name == "load.busy")
    {
        busy.what += &format!("; the busiest: {}", busiest.join(", "));
    }
    findings
}

/// [`doctor`], from two samples that were taken already, and without the names of processes.
pub fn examine(machine: &Machine, dir: &Path, before: &Sample, after: &Sample) -> Vec<Finding> {
    let shares = noise::shares(before, after);
    let system = System {
        machine,
        dir,
        noise: noise::noise(before, after),
        busy_cpus: shares.map(|(busy, _)| busy * counts::cpus_online(machine) as f64),
        steal: shares.map(|(_, steal)| steal),
        steal_since_boot: noise::shares_since_boot(after).map(|(_, steal)| steal),
    };

    let mut findings = Vec::new();
    for (name, check) in CHECKS {
        let found = check(&system);
        findings.extend(found.map(|finding| Finding { name: (*name).to_owned(), ..finding }));
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// A finding; the table adds its name.
fn finding(severity: Severity, what: impl Into<String>, fix: impl Into<String>) -> Option<Finding> {
    Some(Finding { severity, name: String::new(), what: what.into(), fix: fix.into() })
}
