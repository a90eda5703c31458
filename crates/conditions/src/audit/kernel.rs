//! Requests to the kernel's audit subsystem: answered by its netlink socket, and in memory by
//! tests.

use std::sync::Arc;

use rustix::io::Errno;

use crate::audit::rule::Rule;

/// The longest record or answer: records are cut at 8970 bytes, rules may contain paths.
pub(crate) const MAX_RECORD_BYTES: usize = 32 * 1024;

/// AUDIT_TEST: a message of a program's, which is a record like others and changes nothing.
pub(crate) const MESSAGE: u16 = 1120;

/// Locked until the machine restarts.
pub(crate) const LOCKED: u32 = 2;

/// The kernel's answer to a lost record that is a panic.
pub(crate) const PANIC: u32 = 2;

/// `struct audit_status`: what holds for the whole machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// 0 off, 1 on, 2 on and locked until the machine restarts.
    pub enabled: u32,
    /// The kernel's answer to a lost record: 0 nothing, 1 prints, 2 panics.
    pub failure: u32,
    /// The process that receives the records; 0 for none.
    pub pid: u32,
    /// The most records per second; 0 for no limit.
    pub rate_limit: u32,
    /// Records that are queued before processes have to wait.
    pub backlog_limit: u32,
    /// Records lost since the machine started, or since the count was reset.
    pub lost: u32,
    /// Records that are queued now.
    pub backlog: u32,
    /// The longest time that a process waits for room, in ticks.
    pub backlog_wait_time: u32,
    /// Ticks that all processes together waited; `None` if the kernel does not count them (before
    /// 5.9).
    pub waited: Option<u32>,
}

/// A field of the status that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Enabled,
    Pid,
    BacklogLimit,
}

/// The kernel's audit subsystem.
pub(crate) trait Kernel: Send + Sync {
    /// The settings that hold now.
    fn status(&self) -> Result<Status, Errno>;

    /// The AUDIT_FEATURE_… that are set, as a mask: they say how login uids may be changed.
    fn features(&self) -> Result<u32, Errno>;

    /// The rules in the order in which they are tried. One that is not understood is left
    /// out.
    fn rules(&self) -> Result<Vec<Rule>, Errno>;

    fn set(&self, setting: Setting, value: u32) -> Result<(), Errno>;

    /// Adds a rule before all others of its list; `EXIST` if it is there already.
    fn prepend(&self, rule: &Rule) -> Result<(), Errno>;

    fn delete(&self, rule: &Rule) -> Result<(), Errno>;

    /// Makes a record of the kind [`MESSAGE`] that contains `text`.
    fn write(&self, text: &str) -> Result<(), Errno>;

    /// Becomes the receiver of every record, as a daemon does; `EXIST` if there is one already.
    fn receive(&self) -> Result<Arc<dyn Records>, Errno>;

    /// Gets every record in addition to the receiver; those that there is no room for are missed.
    fn listen(&self) -> Result<Arc<dyn Records>, Errno>;
}

/// Records as they come; no more do when this is dropped.
pub(crate) trait Records: Send + Sync {
    /// Waits for a record, and returns its kind and text; `AGAIN` if none came for a moment,
    /// `NOBUFS` if the kernel had no room for one.
    fn next<'a>(&self, buffer: &'a mut [u8]) -> Result<(u16, &'a [u8]), Errno>;
}
