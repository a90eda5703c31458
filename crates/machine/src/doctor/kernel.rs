//! Properties of the kernel that affect every figure.

use super::super::auditing::{self, State};
use super::super::{counts, kernel, parse};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

/// The vulnerabilities of the CPU, a file each.
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Clock sources that user space reads without entering the kernel.
const FAST_CLOCKS: &[&str] = &[
    "tsc",
    "arch_sys_counter",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "timebase",
    "tod",
    "riscv_clocksource",
    "Constant",
    "stick",
];

pub fn debug(system: &System) -> Option<Finding> {
    let options = kernel::debug_options(system.machine)?;
    if options.is_empty() {
        return None;
    }

    let problem = format!(
        "this is a debugging kernel ({}): it is many times slower than a production kernel",
        options.join(", ")
    );
    finding(Spoils, problem, "boot a kernel built without these options")
}

pub fn clock_source(system: &System) -> Option<Finding> {
    let dir = "/sys/devices/system/clocksource/clocksource0";
    let current = system.machine.read(&format!("{dir}/current_clocksource"))?;
    if FAST_CLOCKS.contains(&current.as_str()) {
        return None;
    }

    let available =
        system.machine.read(&format!("{dir}/available_clocksource")).unwrap_or_default();
    let better =
        FAST_CLOCKS.iter().find(|fast| available.split_whitespace().any(|clock| clock == **fast));
    let fix = match better {
        Some(clock) => format!("echo {clock} | sudo tee {dir}/current_clocksource"),
        None => {
            "sudo dmesg | grep -i -e tsc -e clocksource shows why the kernel rejected a better one"
                .to_string()
        }
    };
    let problem = format!("the clock source is {current}: every clock reading is a system call");
    finding(Disturbs, problem, fix)
}

pub fn audit(system: &System) -> Option<Finding> {
    match auditing::state(system.machine)? {
        State::On => finding(
            Disturbs,
            "auditing is on since boot (audit=1): every system call takes the slow path",
            "boot without audit=1, or exempt new processes: sudo auditctl -a never,task",
        ),
        State::Daemon => finding(
            Disturbs,
            "auditd is running: if rules are loaded, every system call pays for them",
            "sudo auditctl -l lists the rules; sudo auditctl -a never,task exempts new processes",
        ),
        State::WasOn => finding(
            Disturbs,
            "auditing was on earlier in this boot: every system call of a new process takes the slow path",
            "reboot, or exempt new processes: sudo auditctl -a never,task",
        ),
        State::Unknown if !counts::is_root(system.machine) => finding(
            Note,
            "no auditd is running, but only root can tell whether auditing is on",
            "sudo auditctl -s && sudo auditctl -l",
        ),
        State::Missing | State::Off | State::Unknown => None,
    }
}

pub fn seccomp(system: &System) -> Option<Finding> {
    let mode = system.machine.field("/proc/self/status", "Seccomp")?;
    // 2: a filter; 1 is the strict mode, in which nothing could be run.
    if mode != "2" {
        return None;
    }

    let problem = "a seccomp filter runs before every system call of this process and its children";
    let fix = "docker run --security-opt seccomp=unconfined; under systemd, an empty SystemCallFilter= for the unit";
    finding(Disturbs, problem, fix)
}

pub fn mitigations(system: &System) -> Option<Finding> {
    let mut names = system.machine.list(VULNERABILITIES);
    names.retain(|name| {
        let state = system.machine.read(&format!("{VULNERABILITIES}/{name}"));
        state.is_some_and(|state| state.starts_with("Mitigation"))
    });
    if names.is_empty() {
        return None;
    }

    let problem = format!(
        "system calls and context switches pay for the mitigations of {}",
        names.join(", ")
    );
    let fix = "none needed: compare machines with the same mitigations. To measure their cost, boot once \
               with mitigations=off on a machine that nobody else uses";
    finding(Note, problem, fix)
}

pub fn huge_pages(system: &System) -> Option<Finding> {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    let line = system.machine.read(file)?;
    if parse::chosen(&line) != Some("always") {
        return None;
    }

    let problem =
        "transparent huge pages are always on: memory tests depend on how fragmented memory is";
    let fix = format!("echo madvise | sudo tee {file}");
    finding(Note, problem, fix)
}
