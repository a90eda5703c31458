//! The kernel: what it is, how it was built, how it schedules and keeps time.

use super::super::{Machine, kernel, parse};
use super::{Path, Row, Value, on_or_off, parameters, switch_state, text, value};

const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";

/// The first release whose scheduler is EEVDF, and not CFS.
const FIRST_WITH_EEVDF: (u32, u32) = (6, 6);

/// The fact that `--all-facts` has in full.
pub(super) const COMMAND_LINE: &str = "kernel.command_line";

pub(super) const ROWS: &[Row] = &[
    text("kernel.release", "Release", |m, _| kernel::release(m)),
    text("kernel.version", "Version", |m, _| m.read("/proc/sys/kernel/version")),
    text(COMMAND_LINE, "Command line", |m, _| {
        kernel::command_line(m).map(|line| parameters::relevant(&line))
    }),
    text("kernel.preemption", "Pre-emption", preemption),
    value("kernel.hz", "Timer ticks per second", hz),
    text("kernel.scheduler", "Scheduler", scheduler),
    text("kernel.scheduler.features", "Scheduler features", |m, _| {
        m.read("/sys/kernel/debug/sched/features")
    }),
    text("kernel.scheduler.autogroup", "Scheduler autogroups", |m, _| {
        switch_state(m, "/proc/sys/kernel/sched_autogroup_enabled", &["1"])
    }),
    value("kernel.scheduler.rt_runtime", "Real-time share", rt_share),
    text("kernel.clock_source", "Clock source", |m, _| {
        m.read(&format!("{CLOCK}/current_clocksource"))
    }),
    text("kernel.clock_source.available", "Available clock sources", |m, _| {
        m.read(&format!("{CLOCK}/available_clocksource"))
    }),
    text("kernel.psi", "Pressure stall information", psi),
    text("kernel.debug", "Debugging options", debug),
    text("kernel.tainted", "Tainted", |m, _| {
        m.read("/proc/sys/kernel/tainted").filter(|t| t != "0")
    }),
];

/// The model of pre-emption by the words of the kernel's version, and what these leave open: of a
/// dynamic kernel the choice, of one without pre-emption the configured model.
fn preemption(machine: &Machine, _: &Path) -> Option<String> {
    let version = machine.read("/proc/sys/kernel/version")?;
    let words: Vec<&str> =
        version.split(|letter: char| letter != '_' && !letter.is_ascii_alphabetic()).collect();
    if words.contains(&"PREEMPT_RT") {
        return Some("real-time".to_string());
    }
    if words.contains(&"PREEMPT_DYNAMIC") {
        let choice = dynamic_choice(machine);
        return Some(choice.map_or("dynamic".to_string(), |choice| format!("dynamic: {choice}")));
    }
    if words.contains(&"PREEMPT") {
        return Some("full".to_string());
    }
    Some(configured_model(machine).unwrap_or_else(|| "none or voluntary".to_string()))
}

/// The model in force of a kernel that can change it, or what it began with: only root may read the
/// former.
fn dynamic_choice(machine: &Machine) -> Option<String> {
    let in_force = machine.read("/sys/kernel/debug/sched/preempt");
    in_force
        .and_then(|line| parse::chosen(&line).map(str::to_string))
        .or_else(|| kernel::option(machine, "preempt"))
        .or_else(|| configured_model(machine))
}

/// The model that the kernel was built to begin with.
fn configured_model(machine: &Machine) -> Option<String> {
    for (option, model) in [
        ("CONFIG_PREEMPT_NONE", "none"),
        ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
        ("CONFIG_PREEMPT_LAZY", "lazy"),
        ("CONFIG_PREEMPT", "full"),
    ] {
        if kernel::config_value(machine, option).as_deref() == Some("y") {
            return Some(model.to_string());
        }
    }
    None
}

/// The timer ticks per second, by the kernel's configuration or its clocks.
fn hz(machine: &Machine, _: &Path) -> Option<Value> {
    let configured = kernel::config_value(machine, "CONFIG_HZ").and_then(|hz| hz.parse().ok());
    let hz = configured.or_else(|| hz_by_clock(machine))?;
    Some(Value::number(hz, "Hz", format!("{hz:.0}")))
}

/// The coarse clocks advance once a tick, and the kernel reports how long that is.
fn hz_by_clock(machine: &Machine) -> Option<f64> {
    if !machine.is_live() {
        return None;
    }
    let tick = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    let hz = 1e9 / tick.tv_nsec as f64;
    (tick.tv_sec == 0 && (10.0..=10_000.0).contains(&hz)).then_some(hz)
}

fn scheduler(machine: &Machine, _: &Path) -> Option<String> {
    if machine.read("/sys/kernel/sched_ext/state").as_deref() == Some("enabled") {
        let name = machine.read("/sys/kernel/sched_ext/root/ops");
        return Some(name.map_or("sched_ext".to_string(), |name| format!("sched_ext: {name}")));
    }

    let has_eevdf = kernel::numbers(machine)? >= FIRST_WITH_EEVDF;
    let name = if has_eevdf { "EEVDF" } else { "CFS" };
    let has_bore = machine.read("/proc/sys/kernel/sched_bore").as_deref() == Some("1");
    Some(format!("{name}{}", if has_bore { " with BORE" } else { "" }))
}

/// The share of time that real-time tasks may use.
fn rt_share(machine: &Machine, _: &Path) -> Option<Value> {
    let runtime: f64 = machine.number("/proc/sys/kernel/sched_rt_runtime_us")?;
    let period: f64 = machine.number("/proc/sys/kernel/sched_rt_period_us")?;
    if runtime < 0.0 {
        return Some(Value::text("unlimited"));
    }

    let share = runtime / period * 100.0;
    (period > 0.0).then(|| Value::number(share, "%", format!("{share:.0} %")))
}

fn psi(machine: &Machine, _: &Path) -> Option<String> {
    machine.read("/proc/loadavg")?;
    // Some kernels that were booted with psi=0 have the file, but it cannot be read.
    Some(on_or_off(machine.read("/proc/pressure/cpu").is_some()))
}

fn debug(machine: &Machine, _: &Path) -> Option<String> {
    let options = kernel::debug_options(machine)?;
    Some(if options.is_empty() { "none".to_string() } else { options.join(" ") })
}
