//! The display server as a process of this machine.

use std::os::fd::BorrowedFd;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{socket_domain, socket_peercred};
use rustix::process::Pid;

use crate::kit::NS_PER_SECOND;

/// The process that listens on the other side of a socket, where that is on this machine and can be
/// seen from here.
pub fn peer_process(socket: BorrowedFd<'_>) -> Option<Pid> {
    if socket_domain(socket) != Ok(AddressFamily::UNIX) {
        return None;
    }
    let pid = socket_peercred(socket).ok()?.pid;

    let is_visible = std::fs::exists(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    is_visible.unwrap_or(false).then_some(pid)
}

/// What a process is called.
pub fn process_name(process: Pid) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", process.as_raw_nonzero())).ok()?;
    Some(name.trim().to_owned())
}

/// Of a process, since its start.
#[derive(Default)]
pub struct ProcessorTime {
    pub user_ns: i64,
    pub system_ns: i64,
}

/// The processor time of another process.
pub fn processor_time(process: Pid) -> Option<ProcessorTime> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The name in parentheses may hold anything; what follows its end begins with the third field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();

    let tick_ns = i64::try_from(NS_PER_SECOND / rustix::param::clock_ticks_per_second()).ok()?;
    let user_ticks: i64 = fields.get(11)?.parse().ok()?;
    let system_ticks: i64 = fields.get(12)?.parse().ok()?;
    Some(ProcessorTime { user_ns: user_ticks * tick_ns, system_ns: system_ticks * tick_ns })
}
