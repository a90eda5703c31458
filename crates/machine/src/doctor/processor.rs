//! The speed of the CPUs, its steadiness, and who shares them.

use super::super::{frequency, virtualisation};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

/// A wake-up that takes longer than this shows in wake-up and pipe tests.
const SLOW_WAKE_US: u64 = 50;

pub fn governor(system: &System) -> Option<Finding> {
    let governors = frequency::policies(system.machine, "scaling_governor")?;
    if governors == "performance" {
        return None;
    }

    let problem = format!("the frequency governor is {governors}: the clock follows the load");
    let fix = "sudo cpupower frequency-set -g performance, or: echo performance | sudo tee \
                /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    finding(Disturbs, problem, fix)
}

pub fn boost(system: &System) -> Option<Finding> {
    if !frequency::boost(system.machine)? {
        return None;
    }

    let problem = "the CPUs may exceed their base frequency while cool: early trials and small numbers of \
                copies look faster";
    finding(Note, problem, frequency::boost_off(system.machine))
}

/// The slowest wake-up from an idle state that is switched on, by those of CPU 0.
pub fn idle(system: &System) -> Option<Finding> {
    let dir = "/sys/devices/system/cpu/cpu0/cpuidle";
    let mut slowest_us = None;
    for state in system.machine.numbered(dir, "state") {
        let is_disabled =
            system.machine.read(&format!("{dir}/{state}/disable")).as_deref() == Some("1");
        if !is_disabled {
            let latency_us = system.machine.number::<u64>(&format!("{dir}/{state}/latency"));
            slowest_us = slowest_us.max(latency_us);
        }
    }
    let slowest_us = slowest_us.filter(|us| *us > SLOW_WAKE_US)?;

    let problem = format!("deep idle states add up to {slowest_us} µs to every wake-up latency");
    let fix = format!("sudo cpupower idle-set -D {SLOW_WAKE_US} (undone by idle-set -E)");
    finding(Note, problem, fix)
}

pub fn emulated(system: &System) -> Option<Finding> {
    let ends = virtualisation::emulation(system.machine)?;
    let problem = format!(
        "an emulator runs this tool and its programs ({ends}): it is measured, not the machine"
    );
    finding(Spoils, problem, "install the unixmark that is built for this machine")
}

pub fn virtual_machine(system: &System) -> Option<Finding> {
    let hypervisor = virtualisation::hypervisor(system.machine)?;
    let problem = format!(
        "this is a virtual machine ({hypervisor}): others share its CPUs, caches and disks, so \
         figures vary with their load"
    );
    finding(
        Note,
        problem,
        "nothing to fix: repeat on several days and compare with `unixmark compare`",
    )
}
