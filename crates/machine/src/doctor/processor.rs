//! How fast the CPUs run, whether they always do, and whose they are.

use super::super::{frequency, virtualisation};
use super::Severity::{Disturbs, Note};
use super::{Ill, Look, ill};

/// Leaving an idle state that takes longer than this shows in wake-up and pipe tests.
const SLOW_WAKE_US: u64 = 50;

pub fn governor(look: &Look) -> Ill {
    let governors = frequency::policies(look.machine, "scaling_governor")?;
    let what = format!("the frequency governor is {governors}: the speed follows the load");
    let mend = "sudo cpupower frequency-set -g performance, or: echo performance | sudo tee \
                /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    (governors != "performance").then(|| ill(Disturbs, what, mend))?
}

pub fn boost(look: &Look) -> Ill {
    let what = "the CPUs may exceed their base frequency while they are cool: first trials, and \
                few copies, look faster";
    frequency::boost(look.machine)?.then(|| ill(Note, what, frequency::boost_off(look.machine)))?
}

pub fn idle(look: &Look) -> Ill {
    let dir = "/sys/devices/system/cpu/cpu0/cpuidle";
    let latency = |state: &String| {
        let file = |name: &str| format!("{dir}/{state}/{name}");
        let disabled = look.machine.read(&file("disable")).as_deref() == Some("1");
        let latency: u64 = look.machine.number(&file("latency"))?;
        (!disabled).then_some(latency)
    };
    let slowest = look.machine.numbered(dir, "state").iter().filter_map(latency).max()?;
    let what = format!("idle CPUs sleep so deep that they take {slowest} µs to wake: latencies include it");
    let mend = format!("sudo cpupower idle-set -D {SLOW_WAKE_US} (undone by idle-set -E)");
    (slowest > SLOW_WAKE_US).then(|| ill(Note, what, mend))?
}

pub fn virtual_machine(look: &Look) -> Ill {
    let hypervisor = virtualisation::hypervisor(look.machine)?;
    let what = format!(
        "this is a virtual machine ({hypervisor}): others share its CPUs, caches and disks, and \
         figures change with them"
    );
    ill(Note, what, "none needed: repeat on several days and compare with `unixmark compare`")
}
