//! The kernel: its release, its command line, its build configuration.

use super::Machine;

/// Build options, without `CONFIG_`, that make every figure of a kernel meaningless.
const DEBUG_OPTIONS: [&str; 14] = [
    "KASAN_GENERIC",
    "KASAN_SW_TAGS",
    "KCSAN",
    "KMSAN",
    "PROVE_LOCKING",
    "LOCK_STAT",
    "DEBUG_KMEMLEAK",
    "DEBUG_OBJECTS",
    "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "SLUB_DEBUG_ON",
    "DEBUG_MUTEXES",
    "DEBUG_SPINLOCK",
    "GCOV_KERNEL",
    "KCOV_INSTRUMENT_ALL",
];

pub fn release(machine: &Machine) -> Option<String> {
    machine.read("/proc/sys/kernel/osrelease")
}

/// Major and minor number of the release.
pub fn numbers(machine: &Machine) -> Option<(u32, u32)> {
    let release = release(machine)?;
    let mut fields = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((fields.next()?.ok()?, fields.next()?.ok()?))
}

/// The kernel's symbols, a line each, whose addresses are 0 for those who may not know them.
pub fn kernel_symbols(machine: &Machine) -> Option<String> {
    machine.read("/proc/kallsyms")
}

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
    Some(
        DEBUG_OPTIONS.map(|option| format!("CONFIG_{option}")).into_iter().filter(is_set).collect(),
    )
}
