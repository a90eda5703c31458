//! The machine as a whole: its name, its make, and how it has been doing.

use super::super::{Machine, counts, noise, userland, virtualisation};
use super::{Path, Quantity, Row, Value, text, value};

pub(super) const ROWS: &[Row] = &[
    text("system.host", "Host", |m, _| m.read("/proc/sys/kernel/hostname")),
    text("system.time", "Time", time),
    text("system.os", "Operating system", |m, _| userland::os_release(m, "PRETTY_NAME")),
    text("system.architecture", "Architecture", architecture),
    text("system.model", "Model", |m, _| virtualisation::model(m)),
    text("system.firmware", "Firmware", |m, _| m.read("/sys/class/dmi/id/bios_version")),
    text("system.virtualisation", "Virtual machine", |m, _| virtualisation::hypervisor(m)),
    text("system.emulation", "Emulation", |m, _| virtualisation::emulation(m)),
    text("system.container", "Container", |m, _| virtualisation::container(m)),
    value("system.uptime", "Uptime", uptime),
    value("system.load", "Load average", load),
    value("system.steal", "CPU time stolen since boot", steal),
    text("system.user", "User", user),
];

fn time(_: &Machine, _: &Path) -> Option<String> {
    Some(jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %:z").to_string())
}

/// The architecture of the kernel; a 32-bit tool may run on a 64-bit one.
fn architecture(machine: &Machine, _: &Path) -> Option<String> {
    let of_kernel = machine.read("/proc/sys/kernel/arch");
    of_kernel.or_else(|| {
        let name = machine.is_live().then(rustix::system::uname)?;
        Some(name.machine().to_string_lossy().into_owned())
    })
}

fn uptime(machine: &Machine, _: &Path) -> Option<Value> {
    let text = machine.read("/proc/uptime")?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(Value::from(Quantity::new(seconds, "s")))
}

/// Over one, five and fifteen minutes; the number is that of one.
fn load(machine: &Machine, _: &Path) -> Option<Value> {
    let text = machine.read("/proc/loadavg")?;
    let loads: Vec<&str> = text.split_whitespace().take(3).collect();
    Some(Value::number(loads.first()?.parse().ok()?, "", loads.join(" ")))
}

fn steal(machine: &Machine, _: &Path) -> Option<Value> {
    let (_, steal) = noise::shares_since_boot(&noise::sample(machine))?;
    Some(Value::number(steal * 100.0, "%", format!("{:.2} %", steal * 100.0)))
}

fn user(machine: &Machine, _: &Path) -> Option<String> {
    let user = counts::user(machine)?;
    Some(match (user, counts::is_root(machine)) {
        (0, true) => "root".to_string(),
        (0, false) => "root of a user namespace".to_string(),
        _ => format!("uid {user}"),
    })
}
