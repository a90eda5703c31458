//! Requests to the kernel's audit subsystem over netlink, and the socket that its records arrive on.
//!
//! Own code rather than `netlink-packet-audit`: that crate's status ends before `backlog_wait_time_actual`, which says how
//! long processes slept, and it brings 22 more. The layouts are those of linux/audit.h and linux/netlink.h; numbers are in
//! the machine's byte order.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};

use crate::rule::Rule;

const GET: u16 = 1000;
const SET: u16 = 1001;
const ADD_RULE: u16 = 1011;
const DELETE_RULE: u16 = 1012;
const LIST_RULES: u16 = 1013;
const GET_FEATURE: u16 = 1019;
/// AUDIT_TEST: a message of a program's, which is a record like others and changes nothing.
pub(crate) const SAID: u16 = 1120;

/// NLMSG_ERROR: an acknowledgement, or an error.
const ACK: u16 = 2;
/// NLMSG_DONE: the end of a list.
const DONE: u16 = 3;

/// NLM_F_REQUEST, and with NLM_F_ACK.
const REQUEST: u16 = 1;
const REQUEST_ACK: u16 = 5;

/// Bytes of `struct nlmsghdr`.
pub(crate) const HEADER: usize = 16;
/// The longest message: records are cut at 8970 bytes, rules may name paths.
pub(crate) const LONGEST: usize = 32 * 1024;

/// AUDIT_NLGRP_READLOG as a mask: readers that the kernel does not wait for.
const READERS: u32 = 1;

/// What the kernel holds for a reader that is late, in bytes: half a second of two busy processors.
const ROOM: usize = 32 << 20;

/// How long the kernel may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// `struct audit_status`: what holds of the whole machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// 0 off, 1 on, 2 on and locked until the machine starts anew.
    pub enabled: u32,
    /// What the kernel does when it loses a record: 0 nothing, 1 says so, 2 panics.
    pub failure: u32,
    /// The process that receives the records; 0 for none.
    pub pid: u32,
    /// The most records per second; 0 for no limit.
    pub rate_limit: u32,
    /// Records that are queued before processes have to wait.
    pub backlog_limit: u32,
    /// Records lost since the machine started, or since it was reset.
    pub lost: u32,
    /// Records that are queued now.
    pub backlog: u32,
    /// How long a process waits for room, in ticks.
    pub backlog_wait_time: u32,
    /// Ticks that all processes together waited; nothing where the kernel does not count them (before 5.9).
    pub waited: Option<u32>,
}

/// Which of a status are to be set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lever {
    Enabled,
    Failure,
    Pid,
    RateLimit,
    BacklogLimit,
    BacklogWaitTime,
}

impl Status {
    /// Takes what there is: older kernels have fewer fields.
    fn decode(bytes: &[u8]) -> Status {
        let field = |index: usize| number(bytes, 4 * index);
        let or_none = |index: usize| field(index).unwrap_or(0);
        Status {
            enabled: or_none(1),
            failure: or_none(2),
            pid: or_none(3),
            rate_limit: or_none(4),
            backlog_limit: or_none(5),
            lost: or_none(6),
            backlog: or_none(7),
            backlog_wait_time: or_none(9),
            waited: field(10),
        }
    }
}

impl Lever {
    /// AUDIT_STATUS_…, and the field's place.
    fn place(self) -> (u32, usize) {
        match self {
            Lever::Enabled => (0x01, 1),
            Lever::Failure => (0x02, 2),
            Lever::Pid => (0x04, 3),
            Lever::RateLimit => (0x08, 4),
            Lever::BacklogLimit => (0x10, 5),
            Lever::BacklogWaitTime => (0x20, 9),
        }
    }

    /// The request. It is longer than today's structure, since the kernel refuses one that is shorter than its own.
    fn encode(self, value: u32) -> Vec<u8> {
        let (bit, index) = self.place();
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(&bit.to_ne_bytes());
        bytes[4 * index..][..4].copy_from_slice(&value.to_ne_bytes());
        bytes
    }
}

/// A socket for requests.
#[derive(Debug)]
pub(crate) struct Control {
    socket: OwnedFd,
}

impl Control {
    /// Opens a socket.
    pub(crate) fn open() -> Result<Control, Errno> {
        let socket = open()?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Control { socket })
    }

    /// What holds now.
    pub(crate) fn status(&self) -> Result<Status, Errno> {
        let answers = self.ask(GET, REQUEST, &[], GET)?;
        Ok(answers.first().map_or_else(Status::default, |bytes| Status::decode(bytes)))
    }

    /// AUDIT_FEATURE_… as a mask: what is set of how login uids may be changed.
    pub(crate) fn features(&self) -> Result<u32, Errno> {
        let answers = self.ask(GET_FEATURE, REQUEST, &[], GET_FEATURE)?;
        // struct audit_features: vers, mask, features, lock.
        Ok(answers.first().and_then(|bytes| number(bytes, 8)).unwrap_or(0))
    }

    /// Sets one thing.
    pub(crate) fn set(&self, lever: Lever, value: u32) -> Result<(), Errno> {
        self.ask(SET, REQUEST_ACK, &lever.encode(value), ACK).map(drop)
    }

    /// Adds a rule, before all others of its list.
    pub(crate) fn prepend(&self, rule: &Rule) -> Result<(), Errno> {
        self.ask(ADD_RULE, REQUEST_ACK, &rule.encode(true), ACK).map(drop)
    }

    /// Deletes a rule.
    pub(crate) fn delete(&self, rule: &Rule) -> Result<(), Errno> {
        self.ask(DELETE_RULE, REQUEST_ACK, &rule.encode(false), ACK).map(drop)
    }

    /// Lists the rules, in the order in which they are tried. One that is not understood is left out.
    pub(crate) fn rules(&self) -> Result<Vec<Rule>, Errno> {
        let answers = self.ask(LIST_RULES, REQUEST, &[], DONE)?;
        Ok(answers.iter().filter_map(|bytes| Rule::decode(bytes)).collect())
    }

    /// Has a record made that says `text`.
    pub(crate) fn say(&self, text: &str) -> Result<(), Errno> {
        // The kernel ends the text at its last byte.
        self.ask(SAID, REQUEST_ACK, format!("{text}\0").as_bytes(), ACK).map(drop)
    }

    /// Sends a request and returns what is answered, up to and with a message of the kind `last`.
    fn ask(&self, kind: u16, flags: u16, body: &[u8], last: u16) -> Result<Vec<Vec<u8>>, Errno> {
        let length = u32::try_from(HEADER + body.len()).map_err(|_| Errno::MSGSIZE)?;
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(length.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        // Sequence number and port: the kernel's answers are told apart by their kinds.
        message.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        message.extend(body);
        send(&self.socket, &message, SendFlags::empty())?;
        let mut answers = Vec::new();
        let mut buffer = vec![0; LONGEST];
        loop {
            let length = match recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((length, _)) => length,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            };
            let bytes = &buffer[..length];
            let Some(told) = bytes.get(4..6).map(|two| u16::from_ne_bytes([two[0], two[1]])) else { continue };
            let body = bytes.get(HEADER..).unwrap_or_default();
            match told {
                // Positive errors are answers to other requests.
                ACK => match number(body, 0).map_or(0, u32::cast_signed) {
                    error if error < 0 => return Err(Errno::from_raw_os_error(-error)),
                    _ if last == ACK => return Ok(answers),
                    _ => {}
                },
                DONE => return Ok(answers),
                told if told == kind => {
                    answers.push(body.to_vec());
                    if told == last {
                        return Ok(answers);
                    }
                }
                // A record: this socket is also the one that they arrive on.
                _ => {}
            }
        }
    }

    /// Opens a socket and has the kernel send every record to it, as a daemon has; `EXIST` where one has already.
    pub(crate) fn receiver() -> Result<OwnedFd, Errno> {
        let control = Control { socket: open()? };
        set_socket_recv_buffer_size_force(&control.socket, ROOM)?;
        set_socket_timeout(&control.socket, Timeout::Recv, Some(PATIENCE))?;
        control.set(Lever::Pid, std::process::id())?;
        Ok(control.socket)
    }

    /// Opens a socket that records are sent to besides whoever receives them; what it has no room for it does not get.
    pub(crate) fn listener() -> Result<OwnedFd, Errno> {
        let socket = open()?;
        set_socket_recv_buffer_size_force(&socket, ROOM)?;
        bind(&socket, &SocketAddrNetlink::new(0, READERS))?;
        Ok(socket)
    }
}

fn open() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::AUDIT))
}

/// The number at `place`.
pub(crate) fn number(bytes: &[u8], place: usize) -> Option<u32> {
    bytes.get(place..place + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(words: &[u32]) -> Status {
        Status::decode(&words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>())
    }

    #[test]
    fn a_status_of_today_and_a_shorter_one() {
        let words = [0, 1, 2, 77, 5, 8192, 3, 4, 0x7f, 15000, 246];
        let whole = status(&words);
        assert_eq!((whole.enabled, whole.failure, whole.pid, whole.rate_limit), (1, 2, 77, 5));
        assert_eq!((whole.backlog_limit, whole.lost, whole.backlog), (8192, 3, 4));
        assert_eq!((whole.backlog_wait_time, whole.waited), (15000, Some(246)));
        assert_eq!(status(&words[..10]).waited, None);
        assert_eq!(status(&words[..8]).backlog_wait_time, 0);
    }

    #[test]
    fn a_request_names_what_it_sets() {
        let bytes = Lever::BacklogWaitTime.encode(7);
        assert_eq!((number(&bytes, 0), number(&bytes, 36)), (Some(0x20), Some(7)));
        assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 2);
    }
}
