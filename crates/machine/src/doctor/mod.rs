//! What will spoil a run here, and how to mend it: one small check per row of a table.
//!
//! A check returns a finding or nothing. What cannot be known here is nothing: the doctor warns
//! of what it sees. A mend is a command to type, or says plainly that there is none.

mod kernel;
mod limits;
mod load;
mod processor;
mod storage;

use super::noise::{self, Sample};
use super::{Machine, counts, sample};
use journal::{Finding, Noise, Severity};
use std::path::Path;
use std::time::Duration;

/// How long the doctor watches the CPUs: twenty ticks of each.
const LOOK: Duration = Duration::from_millis(200);

/// What the checks look at.
struct Look<'a> {
    machine: &'a Machine,
    dir: &'a Path,
    /// The load averages and the tasks that want a CPU are of the end of the look.
    noise: Noise,
    /// CPUs' worth of work seen; `None` where the kernel does not tell.
    busy_cpus: Option<f64>,
    /// Share of CPU time stolen, 0 to 1: during the look, and since boot.
    steal: Option<f64>,
    steal_since_boot: Option<f64>,
}

/// How bad, what was found, how to mend it.
type Ill = Option<(Severity, String, String)>;

/// Name and check.
type Check = (&'static str, fn(&Look) -> Ill);

const CHECKS: &[Check] = &[
    ("load.busy", load::busy),
    ("load.average", load::average),
    ("load.steal", load::steal),
    ("load.battery", load::battery),
    ("cpu.governor", processor::governor),
    ("cpu.boost", processor::boost),
    ("cpu.idle", processor::idle),
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

/// What will spoil a run on this machine now, worst first; takes a fifth of a second. `dir` is
/// the directory the file tests use.
pub fn doctor(machine: &Machine, dir: &Path) -> Vec<Finding> {
    let before = sample(machine);
    std::thread::sleep(LOOK);
    examine(machine, dir, &before, &sample(machine))
}

/// The same, of a window that was watched already.
pub fn examine(machine: &Machine, dir: &Path, before: &Sample, after: &Sample) -> Vec<Finding> {
    let shares = noise::shares(before, after);
    let look = Look {
        machine,
        dir,
        noise: noise::noise(before, after),
        busy_cpus: shares.map(|(busy, _)| busy * counts::cpus_online(machine) as f64),
        steal: shares.map(|(_, steal)| steal),
        steal_since_boot: noise::shares_since_boot(after).map(|(_, steal)| steal),
    };
    let finding = |(name, check): &Check| {
        let (severity, what, mend) = check(&look)?;
        Some(Finding { severity, name: name.to_string(), what, mend })
    };
    let mut findings: Vec<Finding> = CHECKS.iter().filter_map(finding).collect();
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// A finding of a check.
fn ill(severity: Severity, what: impl Into<String>, mend: impl Into<String>) -> Ill {
    Some((severity, what.into(), mend.into()))
}
