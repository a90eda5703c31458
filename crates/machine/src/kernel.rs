//! The kernel: its release, its command line, its build configuration, its auditing.

use super::{Machine, auditing};

/// Build options that make every figure of a kernel meaningless, and what they are.
const DEBUG_OPTIONS: [&str; 14] = [
    "KASAN_GENERIC", "KASAN_SW_TAGS", "KCSAN", "KMSAN", "PROVE_LOCKING", "LOCK_STAT", "DEBUG_KMEMLEAK",
    "DEBUG_OBJECTS", "DEBUG_PAGEALLOC_ENABLE_DEFAULT", "SLUB_DEBUG_ON", "DEBUG_MUTEXES", "DEBUG_SPINLOCK",
    "GCOV_KERNEL", "KCOV_INSTRUMENT_ALL",
];

/// Returns the kernel's release.
pub fn release(machine: &Machine) -> Option<String> {
    machine.read("/proc/sys/kernel/osrelease")
}

/// Major and minor number of the release.
pub fn numbers(machine: &Machine) -> Option<(u32, u32)> {
    let release = release(machine)?;
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Returns the kernel's command line.
pub fn command_line(machine: &Machine) -> Option<String> {
    machine.read("/proc/cmdline")
}

/// The value of `key=value` on the kernel's command line; the last one counts.
pub fn option(machine: &Machine, key: &str) -> Option<String> {
    let line = command_line(machine)?;
    let value = |word: &str| word.strip_prefix(key)?.strip_prefix('=').map(str::to_string);
    line.split_whitespace().filter_map(value).next_back()
}

/// The text of the configuration the kernel was built with, where the distribution installs it.
/// /proc/config.gz would need a decompressor for one figure.
pub fn config(machine: &Machine) -> Option<String> {
    let release = release(machine)?;
    let places = ["/boot/config-", "/usr/lib/modules/", "/lib/modules/"];
    places.iter().find_map(|place| {
        let end = if place.ends_with('-') { "" } else { "/config" };
        machine.read(&format!("{place}{release}{end}"))
    })
}

/// The value of a build option.
pub fn config_value(machine: &Machine, key: &str) -> Option<String> {
    let config = config(machine)?;
    let value = |line: &str| line.strip_prefix(key)?.strip_prefix('=').map(str::to_string);
    config.lines().find_map(value)
}

/// The debugging options the kernel was built with; `None` where its configuration is unknown.
pub fn debug_options(machine: &Machine) -> Option<Vec<String>> {
    let config = config(machine);
    // lockdep shows itself without a configuration file.
    let lockdep = machine.exists("/proc/lockdep_stats");
    if config.is_none() && !lockdep {
        return None;
    }
    let config = config.unwrap_or_default();
    let is_set = |option: &String| {
        (option == "CONFIG_PROVE_LOCKING" && lockdep)
            || config.lines().any(|line| line.strip_prefix(option.as_str()) == Some("=y"))
    };
    Some(DEBUG_OPTIONS.map(|option| format!("CONFIG_{option}")).into_iter().filter(is_set).collect())
}

/// The state of auditing as it shows without asking the kernel, which needs root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Audit {
    /// The kernel was built without it.
    Missing,
    /// Switched off on the command line.
    Off,
    /// Switched on from boot on the command line.
    On,
    /// A process named auditd runs: rules may be loaded.
    Daemon,
    /// None of these, but it was on earlier in this boot.
    WasOn,
    /// None of these; rules may still have been loaded by hand.
    Unknown,
}

/// The state of auditing; `None` where /proc is not there.
pub fn audit(machine: &Machine) -> Option<Audit> {
    machine.read("/proc/self/status")?;
    // Being set or not, the login id exists only in a kernel that can audit.
    if !machine.exists("/proc/self/loginuid") {
        return Some(Audit::Missing);
    }
    let by_option = match option(machine, "audit").as_deref() {
        Some("0" | "off") => Some(Audit::Off),
        Some("1" | "on") => Some(Audit::On),
        _ => None,
    };
    let by_process = || is_running(machine, "auditd").then_some(Audit::Daemon);
    let by_history = || auditing::was_on(machine).map(|_| Audit::WasOn);
    Some(by_option.or_else(by_process).or_else(by_history).unwrap_or(Audit::Unknown))
}

/// Returns true if a process of this name can be seen from here.
fn is_running(machine: &Machine, name: &str) -> bool {
    let comm = |pid: &String| machine.read(&format!("/proc/{pid}/comm"));
    machine.numbered("/proc", "").iter().any(|pid| comm(pid).as_deref() == Some(name))
}
