//! What else the machine is doing, and what it is short of.

use super::Severity::{Disturbs, Note, Spoils};
use super::{Ill, Look, ill};

const WHO: &str = "see who it is with `top -o %CPU`, end it, and look again";

/// Work that was seen going on; a tenth of a CPU is more than a system at rest uses.
pub fn busy(look: &Look) -> Ill {
    let busy = look.busy_cpus?;
    let severity = if busy >= 0.5 { Spoils } else { Disturbs };
    let what = format!("something else uses {busy:.1} CPUs: it takes time from every test");
    (busy >= 0.1).then(|| ill(severity, what, WHO))?
}

/// Work that may have stopped only a moment ago, or that waits for a disk.
pub fn average(look: &Look) -> Ill {
    let (load, running) = (look.noise.load1?, look.noise.procs_running.unwrap_or(0));
    if load < 0.5 {
        return None;
    }
    let what = format!("the load average is {load:.2}, {}", words::count(running, "task"))
        + " running or waiting: the machine is not at rest, or was not a minute ago";
    ill(Disturbs, what, format!("wait until `cat /proc/loadavg` begins below 0.5, or {WHO}"))
}

pub fn steal(look: &Look) -> Ill {
    let (now, ever) = (look.steal.unwrap_or(0.0), look.steal_since_boot.unwrap_or(0.0));
    let mend = "none from inside: run at another hour or on a dedicated host, and repeat; each \
                trial records what was stolen from it";
    let stolen =
        |share: f64, when: &str| format!("the hypervisor gave {:.1} % of the CPU time to others {when}", share * 100.0);
    match (now, ever) {
        _ if now > 0.05 => ill(Spoils, stolen(now, "just now"), mend),
        _ if now > 0.01 => ill(Disturbs, stolen(now, "just now"), mend),
        _ if ever > 0.01 => ill(Note, stolen(ever, "since boot"), mend),
        _ => None,
    }
}

pub fn battery(look: &Look) -> Ill {
    let dir = "/sys/class/power_supply";
    let mut discharging = false;
    for supply in look.machine.list(dir) {
        let file = |name: &str| look.machine.read(&format!("{dir}/{supply}/{name}"));
        // A mouse has a battery too: its scope is its own device.
        let other_device = file("scope").as_deref() == Some("Device");
        if file("online").as_deref() == Some("1") && file("type").as_deref() != Some("Battery") {
            return None;
        }
        discharging |= !other_device && file("status").as_deref() == Some("Discharging");
    }
    let what = "the machine runs on battery: it saves power, and the figures drift as it empties";
    discharging.then(|| ill(Disturbs, what, "plug it in"))?
}

pub fn memory(look: &Look) -> Ill {
    let total = look.machine.memory("MemTotal")?;
    let free = look.machine.memory("MemAvailable")?;
    let severity = if free < 256 << 20 { Spoils } else { Disturbs };
    let what = format!(
        "only {} of {} are available: the tests will push others, or themselves, out of memory",
        words::bytes(free),
        words::bytes(total)
    );
    let mend = "see who it is with `top -o %MEM`, and end it";
    (free < (1 << 30) || free < total / 10).then(|| ill(severity, what, mend))?
}

pub fn swap(look: &Look) -> Ill {
    let total = look.machine.memory("SwapTotal")?;
    let used = total.saturating_sub(look.machine.memory("SwapFree")?);
    let what = format!("{} are swapped out: coming back, they disturb", words::bytes(used));
    let mend = "sudo swapoff -a && sudo swapon -a";
    (used > 64 << 20).then(|| ill(Disturbs, what, mend))?
}
