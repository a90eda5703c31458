//! Other work on the machine, and shortages.

use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

const FIND_IT: &str = "find it with `top -o %CPU`, stop it, and rerun `unixmark doctor`";

/// CPUs that are busy on no idle system, and so many that they spoil a run.
const MIN_BUSY_CPUS: f64 = 0.1;
const MIN_SPOILING_CPUS: f64 = 0.5;

/// The load average of no idle system.
const MIN_LOAD: f64 = 0.5;

/// Shares of CPU time stolen that disturb and that spoil a run.
const MIN_STEAL: f64 = 0.01;
const MIN_SPOILING_STEAL: f64 = 0.05;

/// Bytes of memory below which tests fail.
pub const MIN_MEMORY: u64 = 256 << 20;

/// Bytes of memory below which tests may disturb each other.
pub const SCARCE_MEMORY: u64 = 1 << 30;

/// Bytes in swap that a machine may have put there long ago.
const MAX_SWAPPED: u64 = 64 << 20;

/// Other programs that run now.
pub fn busy(system: &System) -> Option<Finding> {
    let busy = system.busy_cpus.filter(|busy| *busy >= MIN_BUSY_CPUS)?;
    let severity = if busy >= MIN_SPOILING_CPUS { Spoils } else { Disturbs };
    let problem = format!("other programs use {busy:.1} CPUs and take time from every test");
    finding(severity, problem, FIND_IT)
}

/// Other programs that may have just ended, or that wait for a disk.
pub fn average(system: &System) -> Option<Finding> {
    let (load, running) = (system.noise.load1?, system.noise.procs_running.unwrap_or(0));
    if load < MIN_LOAD {
        return None;
    }

    let problem = format!("the load average is {load:.2}, {}", words::count(running, "task"))
        + " running or waiting: the machine is busy, or was a minute ago";
    finding(
        Disturbs,
        problem,
        format!("wait until `cat /proc/loadavg` starts below 0.5, or {FIND_IT}"),
    )
}

pub fn steal(system: &System) -> Option<Finding> {
    let now = system.steal.unwrap_or(0.0);
    let since_boot = system.steal_since_boot.unwrap_or(0.0);
    let fix = "none from inside: run at another time or on a dedicated host, and repeat; each \
               trial records how much was stolen";
    let (severity, share, when) = match now {
        _ if now > MIN_SPOILING_STEAL => (Spoils, now, "just now"),
        _ if now > MIN_STEAL => (Disturbs, now, "just now"),
        _ if since_boot > MIN_STEAL => (Note, since_boot, "since boot"),
        _ => return None,
    };
    let percent = share * 100.0;
    let problem = format!("the hypervisor gave {percent:.1} % of the CPU time to others {when}");
    finding(severity, problem, fix)
}

pub fn battery(system: &System) -> Option<Finding> {
    let dir = "/sys/class/power_supply";
    let mut is_discharging = false;
    for supply in system.machine.list(dir) {
        let file = |name: &str| system.machine.read(&format!("{dir}/{supply}/{name}"));
        // A mouse has a battery too: its scope is its own device.
        let is_device = file("scope").as_deref() == Some("Device");
        if file("online").as_deref() == Some("1") && file("type").as_deref() != Some("Battery") {
            return None;
        }

        is_discharging |= !is_device && file("status").as_deref() == Some("Discharging");
    }
    if !is_discharging {
        return None;
    }

    let problem =
        "the machine runs on battery: it saves power, and figures drift as the battery drains";
    finding(Disturbs, problem, "plug it in")
}

pub fn memory(system: &System) -> Option<Finding> {
    let total = system.machine.memory("MemTotal")?;
    let free = system.machine.memory("MemAvailable")?;
    if free >= SCARCE_MEMORY && free >= total / 10 {
        return None;
    }

    let severity = if free < MIN_MEMORY { Spoils } else { Disturbs };
    let problem = format!(
        "only {} of {} are available: tests will run out of memory, or push other programs out",
        words::bytes(free),
        words::bytes(total)
    );
    finding(severity, problem, "find what uses it with `top -o %MEM`, and end it")
}

pub fn swap(system: &System) -> Option<Finding> {
    let total = system.machine.memory("SwapTotal")?;
    let used = total.saturating_sub(system.machine.memory("SwapFree")?);
    if used <= MAX_SWAPPED {
        return None;
    }

    let problem =
        format!("{} are swapped out: reading them back disturbs measurements", words::bytes(used));
    finding(Disturbs, problem, "sudo swapoff -a && sudo swapon -a")
}
