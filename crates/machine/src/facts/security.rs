//! Security features that cost time.

use super::super::Machine;
use super::super::auditing::{self, State};
use super::{Path, Row, on_or_off, switch_state, text};

pub(super) const ROWS: &[Row] = &[
    text("security.audit", "Auditing", audit),
    text("security.login_id", "Login id", login_id),
    text("security.lsm", "Security modules", |m, _| m.read("/sys/kernel/security/lsm")),
    text("security.selinux", "SELinux", selinux),
    text("security.apparmor", "AppArmor", |m, _| {
        switch_state(m, "/sys/module/apparmor/parameters/enabled", &["Y"])
    }),
    text("security.lockdown", "Lockdown", lockdown),
    text("security.aslr", "Address randomisation", aslr),
    text("security.seccomp", "Seccomp", seccomp),
    text("security.no_new_privs", "No new privileges", no_new_privs),
    text("security.store_bypass", "Store bypass of this process", |m, _| {
        m.field("/proc/self/status", "Speculation_Store_Bypass")
    }),
    text("security.bpf_jit_harden", "BPF JIT hardening", |m, _| {
        m.read("/proc/sys/net/core/bpf_jit_harden")
    }),
];

fn audit(machine: &Machine, _: &Path) -> Option<String> {
    let state = match auditing::state(machine)? {
        State::Missing => "not in this kernel",
        State::Off => "off since boot (audit=0)",
        State::On => "on since boot (audit=1)",
        State::Daemon => "auditd runs",
        State::WasOn => {
            "was on earlier in this boot: system calls of new processes stay slower until a reboot"
        }
        State::Unknown => "auditd is not running; rules unknown",
    };
    Some(state.to_string())
}

/// The user that this session's processes are audited as; it does not say that they are
/// audited.
fn login_id(machine: &Machine, _: &Path) -> Option<String> {
    let id = machine.read("/proc/self/loginuid")?;
    Some(if id == u32::MAX.to_string() { "unset".to_string() } else { id })
}

fn selinux(machine: &Machine, _: &Path) -> Option<String> {
    let enforcing = machine.read("/sys/fs/selinux/enforce")?;
    Some(if enforcing == "1" { "enforcing" } else { "permissive" }.to_string())
}

fn lockdown(machine: &Machine, _: &Path) -> Option<String> {
    let line = machine.read("/sys/kernel/security/lockdown")?;
    super::super::parse::chosen(&line).map(str::to_string)
}

fn aslr(machine: &Machine, _: &Path) -> Option<String> {
    let value = machine.read("/proc/sys/kernel/randomize_va_space")?;
    let name = match value.as_str() {
        "0" => "off",
        "1" => "on, heap excepted",
        "2" => "on",
        _ => return Some(value),
    };
    Some(name.to_string())
}

/// Every system call of a filtered process runs the filters first.
fn seccomp(machine: &Machine, _: &Path) -> Option<String> {
    let mode = machine.field("/proc/self/status", "Seccomp")?;
    let filters = machine.field("/proc/self/status", "Seccomp_filters");
    Some(match mode.as_str() {
        "0" => "off".to_string(),
        "1" => "strict".to_string(),
        "2" => filters.map_or("filtered".to_string(), |count| format!("filtered, {count} filters")),
        _ => mode,
    })
}

fn no_new_privs(machine: &Machine, _: &Path) -> Option<String> {
    machine.field("/proc/self/status", "NoNewPrivs").map(|value| on_or_off(value == "1"))
}
