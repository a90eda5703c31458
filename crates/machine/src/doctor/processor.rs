//! The speed of the CPUs, its steadiness, and who shares them.

use super::super::{frequency, virtualisation};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

/// A wake-up that takes longer than this shows in wake-up and pipe tests.
const SLOW_WAKE_US: u64 = 50;

pub fn governor(system: &System) -> Option<Finding> {
    let governors = frequency::policies(system.machine, "scaling_governor")?;
    let what = format!("the frequency governor is {governors}: the clock follows the load");
    let fix = "sudo cpupower frequency-set -g performance, or: echo performance | sudo tee \
                /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    (governors != "performance").then(|| finding(Disturbs, what, fix))?
}

pub fn boost(system: &System) -> Option<Finding> {
    let what = "the CPUs may exceed their base frequency while cool: early trials and small numbers of \
                copies look faster";
    frequency::boost(system.machine)?.then(|| finding(Note, what, frequency::boost_off(system.machine)))?
}

pub fn idle(system: &System) -> Option<Finding> {
    let dir = "/sys/devices/system/cpu/cpu0/cpuidle";
    let latency = |state: &String| {
        let file = |name: &str| format!("{dir}/{state}/{name}");
        let disabled = system.machine.read(&file("disable")).as_deref() == Some("1");
        let latency: u64 = system.machine.number(&file("latency"))?;
        (!disabled).then_some(latency)
    };
    let slowest = system.machine.numbered(dir, "state").iter().filter_map(latency).max()?;
    let what = format!("deep idle states add up to {slowest} µs to every wake-up latency");
    let fix = format!("sudo cpupower idle-set -D {SLOW_WAKE_US} (undone by idle-set -E)");
    (slowest > SLOW_WAKE_US).then(|| finding(Note, what, fix))?
}

pub fn emulated(system: &System) -> Option<Finding> {
    let what = virtualisation::emulation(system.machine)?;
    let what = format!("an emulator runs this tool and its programs ({what}): it is measured, not the machine");
    finding(Spoils, what, "install the unixmark that is built for this machine")
}

pub fn virtual_machine(system: &System) -> Option<Finding> {
    let hypervisor = virtualisation::hypervisor(system.machine)?;
    let what = format!(
        "this is a virtual machine ({hypervisor}): others share its CPUs, caches and disks, so \
         figures vary with their load"
    );
    finding(Note, what, "nothing to fix: repeat on several days and compare with `unixmark compare`")
}
