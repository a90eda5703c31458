//! The display server as a process of this machine.

use std::os::fd::BorrowedFd;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{socket_domain, socket_peercred};
use rustix::process::Pid;

use crate::kit::SECOND;

/// The process that listens on the other side of a socket, where that is on this machine and can be seen from here.
pub fn peer(socket: BorrowedFd<'_>) -> Option<Pid> {
    if socket_domain(socket) != Ok(AddressFamily::UNIX) {
        return None;
    }
    let pid = socket_peercred(socket).ok()?.pid;
    std::fs::exists(format!("/proc/{}/stat", pid.as_raw_nonzero())).is_ok_and(|there| there).then_some(pid)
}

/// What a process is called.
pub fn name(process: Pid) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", process.as_raw_nonzero())).ok()?;
    Some(name.trim().to_owned())
}

/// User and system time of another process, in ns.
pub fn time(process: Pid) -> Option<(i64, i64)> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The name in parentheses may hold anything; what follows its end begins with the third field.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let tick = i64::try_from(SECOND / rustix::param::clock_ticks_per_second()).ok()?;
    let time = |field: usize| Some(fields.get(field)?.parse::<i64>().ok()? * tick);
    Some((time(11)?, time(12)?))
}
