//! The state of auditing, and signs that it was on at some time since the machine started.
//!
//! Once auditing was on, the kernel prepares every new process for it until the next reboot, and
//! each of its system calls takes longer. The kernel does not report this, so other signs are
//! collected here: a mark of our own, the command line, and the kernel's log.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::{Machine, kernel};

/// The file that is written before auditing is switched on. It vanishes with /run at a reboot; in
/// case that is on a disk, it holds the id of the boot.
const MARK: &str = "/run/unixmark/audit-was-on";

/// The state of auditing as it shows without asking the kernel, which needs root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
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

/// The state of auditing; `None` without /proc.
pub fn state(machine: &Machine) -> Option<State> {
    machine.read("/proc/self/status")?;
    // Only a kernel that can audit has the file of the login id, be that set or not.
    if !machine.exists("/proc/self/loginuid") {
        return Some(State::Missing);
    }

    Some(match kernel::option(machine, "audit").as_deref() {
        Some("0" | "off") => State::Off,
        Some("1" | "on") => State::On,
        _ if is_running(machine, "auditd") => State::Daemon,
        _ if sign_it_was_on(machine).is_some() => State::WasOn,
        _ => State::Unknown,
    })
}

/// True if a process of this name can be seen from here.
fn is_running(machine: &Machine, name: &str) -> bool {
    let comm = |pid: &String| machine.read(&format!("/proc/{pid}/comm"));
    machine.numbered("/proc", "").iter().any(|pid| comm(pid).as_deref() == Some(name))
}

/// A sign that auditing was on at some time since the machine started; `None` if there is none.
pub fn sign_it_was_on(machine: &Machine) -> Option<String> {
    if machine.read(MARK).is_some_and(|boot| boot == machine.boot()) {
        return Some(format!("{MARK} is there"));
    }
    if matches!(kernel::option(machine, "audit").as_deref(), Some("1" | "on")) {
        return Some("the kernel was started with it".to_owned());
    }

    log_says_switched_on(&machine.path("/dev/kmsg")).then(|| "the kernel's log says so".to_owned())
}

/// Writes the mark, before auditing is switched on.
///
/// # Errors
/// It cannot be written; says why.
pub fn mark(machine: &Machine) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{MARK} cannot be written ({error})");
    let mark = machine.path(MARK);
    if let Some(folder) = mark.parent() {
        files::make_directories(folder).map_err(failed)?;
    }
    files::write(mark, machine.boot() + "\n").map_err(failed)
}

/// True if the kernel's log says that auditing was switched on. It has the record if no daemon
/// received that.
fn log_says_switched_on(path: &Path) -> bool {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let Ok(mut log) = files::options().read(true).custom_flags(flags).open(path) else {
        return false;
    };

    let mut buffer = vec![0; 16 * 1024];
    loop {
        match log.read(&mut buffer) {
            Ok(length) if length > 0 => {
                if is_switched_on(&String::from_utf8_lossy(&buffer[..length])) {
                    return true;
                }
            }
            // What was overwritten meanwhile is skipped.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            _ => return false,
        }
    }
}

/// True if a line of the log says that auditing is on, or was.
fn is_switched_on(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("audit_enabled=") else {
        return false;
    };

    line.contains("audit(") && (rest.starts_with(['1', '2']) || rest.starts_with("0 old=1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_logs() {
        assert!(is_switched_on(
            "6,9,1,-;audit: type=1305 audit(1.2:3): op=set audit_enabled=1 old=0 auid=0"
        ));
        assert!(is_switched_on(
            "6,9,1,-;audit: type=1305 audit(1.2:3): op=set audit_enabled=0 old=1 auid=0"
        ));
        assert!(!is_switched_on(
            "5,9,1,-;audit: type=2000 audit(1.2:1): state=initialized audit_enabled=0 res=1"
        ));
        assert!(!is_switched_on("6,9,1,-;somebody: audit_enabled=1"));
    }
}
