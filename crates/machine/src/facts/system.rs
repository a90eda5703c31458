//! The machine as a whole: its name, its make, and how it has been doing.

use super::super::{Machine, counts, noise, userland, virtualisation};
use super::Row;
use std::path::Path;

pub const ROWS: &[Row] = &[
    ("system.host", "Host", |m, _| m.read("/proc/sys/kernel/hostname")),
    ("system.time", "Time", time),
    ("system.os", "Operating system", |m, _| userland::os_release(m, "PRETTY_NAME")),
    ("system.architecture", "Architecture", architecture),
    ("system.model", "Model", |m, _| virtualisation::model(m)),
    ("system.firmware", "Firmware", |m, _| m.read("/sys/class/dmi/id/bios_version")),
    ("system.virtualisation", "Virtual machine", |m, _| virtualisation::hypervisor(m)),
    ("system.container", "Container", |m, _| virtualisation::container(m)),
    ("system.uptime", "Uptime", uptime),
    ("system.load", "Load average", load),
    ("system.steal", "CPU time stolen since boot", steal),
    ("system.user", "User", user),
];

fn time(_: &Machine, _: &Path) -> Option<String> {
    Some(jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %:z").to_string())
}

/// The architecture of the kernel; a 32-bit tool may run on a 64-bit one.
fn architecture(machine: &Machine, _: &Path) -> Option<String> {
    let told = machine.read("/proc/sys/kernel/arch");
    told.or_else(|| {
        let name = machine.is_live().then(rustix::system::uname)?;
        Some(name.machine().to_string_lossy().into_owned())
    })
}

fn uptime(machine: &Machine, _: &Path) -> Option<String> {
    let text = machine.read("/proc/uptime")?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    let minutes = seconds as u64 / 60;
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    Some(match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{} {hours} h", words::count(days, "day")),
    })
}

fn load(machine: &Machine, _: &Path) -> Option<String> {
    let text = machine.read("/proc/loadavg")?;
    Some(text.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
}

fn steal(machine: &Machine, _: &Path) -> Option<String> {
    let since_boot = noise::shares_since_boot(&noise::sample(machine))?;
    Some(format!("{:.2} %", since_boot.1 * 100.0))
}

fn user(machine: &Machine, _: &Path) -> Option<String> {
    let user = counts::user(machine)?;
    Some(match (user, counts::is_root(machine)) {
        (0, true) => "root".to_string(),
        (0, false) => "root of a user namespace".to_string(),
        _ => format!("uid {user}"),
    })
}
