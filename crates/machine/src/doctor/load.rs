//! Other work on the machine, and shortages.

use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

const FIND_IT: &str = "find it with `top -o %CPU`, stop it, and rerun `unixmark doctor`";

/// Work in progress; a tenth of a CPU is more than an idle system uses.
pub fn busy(system: &System) -> Option<Finding> {
    let busy = system.busy_cpus?;
    let severity = if busy >= 0.5 { Spoils } else { Disturbs };
    let what = format!("other programs use {busy:.1} CPUs and take time from every test");
    (busy >= 0.1).then(|| finding(severity, what, FIND_IT))?
}

/// Work that may have just stopped, or that waits for a disk.
pub fn average(system: &System) -> Option<Finding> {
    let (load, running) = (system.noise.load1?, system.noise.procs_running.unwrap_or(0));
    if load < 0.5 {
        return None;
    }
    let what = format!("the load average is {load:.2}, {}", words::count(running, "task"))
        + " running or waiting: the machine is busy, or was a minute ago";
    finding(Disturbs, what, format!("wait until `cat /proc/loadavg` starts below 0.5, or {FIND_IT}"))
}

pub fn steal(system: &System) -> Option<Finding> {
    let (now, ever) = (system.steal.unwrap_or(0.0), system.steal_since_boot.unwrap_or(0.0));
    let fix = "none from inside: run at another time or on a dedicated host, and repeat; each \
               trial records how much was stolen";
    let stolen =
        |share: f64, when: &str| format!("the hypervisor gave {:.1} % of the CPU time to others {when}", share * 100.0);
    match (now, ever) {
        _ if now > 0.05 => finding(Spoils, stolen(now, "just now"), fix),
        _ if now > 0.01 => finding(Disturbs, stolen(now, "just now"), fix),
        _ if ever > 0.01 => finding(Note, stolen(ever, "since boot"), fix),
        _ => None,
    }
}

pub fn battery(system: &System) -> Option<Finding> {
    let dir = "/sys/class/power_supply";
    let mut discharging = false;
    for supply in system.machine.list(dir) {
        let file = |name: &str| system.machine.read(&format!("{dir}/{supply}/{name}"));
        // A mouse has a battery too: its scope is its own device.
        let other_device = file("scope").as_deref() == Some("Device");
        if file("online").as_deref() == Some("1") && file("type").as_deref() != Some("Battery") {
            return None;
        }
        discharging |= !other_device && file("status").as_deref() == Some("Discharging");
    }
    let what = "the machine runs on battery: it saves power, and figures drift as the battery drains";
    discharging.then(|| finding(Disturbs, what, "plug it in"))?
}

pub fn memory(system: &System) -> Option<Finding> {
    let total = system.machine.memory("MemTotal")?;
    let free = system.machine.memory("MemAvailable")?;
    let severity = if free < 256 << 20 { Spoils } else { Disturbs };
    let what = format!(
        "only {} of {} are available: tests will run out of memory, or push other programs out",
        words::bytes(free),
        words::bytes(total)
    );
    let fix = "find what uses it with `top -o %MEM`, and end it";
    (free < (1 << 30) || free < total / 10).then(|| finding(severity, what, fix))?
}

pub fn swap(system: &System) -> Option<Finding> {
    let total = system.machine.memory("SwapTotal")?;
    let used = total.saturating_sub(system.machine.memory("SwapFree")?);
    let what = format!("{} are swapped out: reading them back disturbs measurements", words::bytes(used));
    let fix = "sudo swapoff -a && sudo swapon -a";
    (used > 64 << 20).then(|| finding(Disturbs, what, fix))?
}
