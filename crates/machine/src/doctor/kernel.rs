//! What the kernel itself does to every figure.

use super::super::kernel::{self, Audit};
use super::super::{counts, parse};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Ill, Look, ill};

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

pub fn debug(look: &Look) -> Ill {
    let options = kernel::debug_options(look.machine)?;
    let what = format!("this is a debugging kernel ({}): it is many times slower than a real one", options.join(", "));
    (!options.is_empty()).then(|| ill(Spoils, what, "boot a kernel built without them"))?
}

pub fn clock_source(look: &Look) -> Ill {
    let dir = "/sys/devices/system/clocksource/clocksource0";
    let current = look.machine.read(&format!("{dir}/current_clocksource"))?;
    if FAST_CLOCKS.contains(&current.as_str()) {
        return None;
    }
    let there = look.machine.read(&format!("{dir}/available_clocksource")).unwrap_or_default();
    let better = FAST_CLOCKS.iter().find(|clock| there.split_whitespace().any(|c| c == **clock));
    let mend = match better {
        Some(clock) => format!("echo {clock} | sudo tee {dir}/current_clocksource"),
        None => "sudo dmesg | grep -i -e tsc -e clocksource tells why the kernel rejected a better \
                 one"
        .to_string(),
    };
    let what = format!("the clock source is {current}: each look at the clock is a system call");
    ill(Disturbs, what, mend)
}

pub fn audit(look: &Look) -> Ill {
    let off = "sudo auditctl -s shows the state; sudo auditctl -e 0 switches it off until boot";
    match kernel::audit(look.machine)? {
        Audit::On => ill(Disturbs, "auditing is on since boot (audit=1): every system call takes the slow way", off),
        Audit::Daemon => ill(Disturbs, "auditd runs: if rules are loaded, they cost time at every system call", off),
        Audit::Unknown if !counts::is_root(look.machine) => ill(
            Note,
            "no auditd was seen, but whether auditing is on cannot be known without root",
            "sudo auditctl -s && sudo auditctl -l",
        ),
        Audit::Missing | Audit::Off | Audit::Unknown => None,
    }
}

pub fn seccomp(look: &Look) -> Ill {
    let mode = look.machine.field("/proc/self/status", "Seccomp")?;
    let what = "a seccomp filter runs before every system call of this process and its children";
    let mend = "docker run --security-opt seccomp=unconfined; under systemd, an empty \
                SystemCallFilter= for the unit";
    (mode == "2").then(|| ill(Disturbs, what, mend))?
}

pub fn mitigations(look: &Look) -> Ill {
    let dir = "/sys/devices/system/cpu/vulnerabilities";
    let mut names = look.machine.list(dir);
    names.retain(|name| {
        let state = look.machine.read(&format!("{dir}/{name}"));
        state.is_some_and(|state| state.starts_with("Mitigation"))
    });
    let what = format!("system calls and context switches pay for mitigations of {}", names.join(", "));
    let mend = "none needed: compare machines with the same ones. To know the cost, boot once with \
                mitigations=off, where nobody else has an account";
    (!names.is_empty()).then(|| ill(Note, what, mend))?
}

pub fn huge_pages(look: &Look) -> Ill {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    let line = look.machine.read(file)?;
    let what = "transparent huge pages are always on: memory tests depend on how fragmented the \
                memory is";
    let mend = format!("echo madvise | sudo tee {file}");
    (parse::chosen(&line) == Some("always")).then(|| ill(Note, what, mend))?
}
