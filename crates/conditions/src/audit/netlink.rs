//! Requests to the kernel's audit subsystem over netlink, and the socket that its records arrive on.
//!
//! Own code rather than `netlink-packet-audit`: that crate's status ends before `backlog_wait_time_actual`, which says
//! how long processes slept, and it brings 22 more. The layouts are those of linux/audit.h and linux/netlink.h; numbers
//! are in the machine's byte order.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};

use crate::audit::kernel::{Kernel, LONGEST, MESSAGE, Records, Setting, Status};
use crate::audit::rule::{Rule, number};

const GET: u16 = 1000;
const SET: u16 = 1001;
const ADD_RULE: u16 = 1011;
const DELETE_RULE: u16 = 1012;
const LIST_RULES: u16 = 1013;
const GET_FEATURE: u16 = 1019;

/// NLMSG_ERROR: an acknowledgement, or an error.
const ACK: u16 = 2;
/// NLMSG_DONE: the end of a list.
const DONE: u16 = 3;

/// NLM_F_REQUEST, and with NLM_F_ACK.
const REQUEST: u16 = 1;
const REQUEST_ACK: u16 = 5;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;

/// AUDIT_NLGRP_READLOG as a mask: readers that the kernel does not wait for.
const READERS: u32 = 1;

/// Bytes that the kernel holds for a reader that is late: half a second of two busy processors.
const ROOM: usize = 32 << 20;

/// The longest time that the kernel may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The silence after which the reader looks at what else there is to do.
const SILENCE: Duration = Duration::from_millis(50);

impl Status {
    /// Reads the fields that are there: older kernels have fewer.
    fn decode(bytes: &[u8]) -> Status {
        let field = |index: usize| number(bytes, 4 * index);
        let or_zero = |index: usize| field(index).unwrap_or(0);
        Status {
            enabled: or_zero(1),
            failure: or_zero(2),
            pid: or_zero(3),
            rate_limit: or_zero(4),
            backlog_limit: or_zero(5),
            lost: or_zero(6),
            backlog: or_zero(7),
            backlog_wait_time: or_zero(9),
            waited: field(10),
        }
    }
}

impl Setting {
    /// AUDIT_STATUS_…, and the field's place.
    fn bit_and_index(self) -> (u32, usize) {
        match self {
            Setting::Enabled => (0x01, 1),
            Setting::Pid => (0x04, 3),
            Setting::BacklogLimit => (0x10, 5),
        }
    }

    /// The request. It is longer than today's structure, since the kernel refuses one that is shorter than its own.
    fn encode(self, value: u32) -> Vec<u8> {
        let (bit, index) = self.bit_and_index();
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(&bit.to_ne_bytes());
        bytes[4 * index..][..4].copy_from_slice(&value.to_ne_bytes());
        bytes
    }
}

/// The socket for requests.
pub(crate) struct Netlink {
    /// One request at a time, so that each gets its own answer.
    socket: Mutex<OwnedFd>,
}

/// A socket that records arrive on.
struct Inbox(OwnedFd);

impl Netlink {
    /// Opens the socket.
    pub(crate) fn open() -> Result<Netlink, Errno> {
        Ok(Netlink { socket: Mutex::new(open()?) })
    }

    fn ask(&self, kind: u16, flags: u16, body: &[u8], last: u16) -> Result<Vec<Vec<u8>>, Errno> {
        ask(&self.socket.lock().unwrap_or_else(PoisonError::into_inner), kind, flags, body, last)
    }
}

impl Kernel for Netlink {
    fn status(&self) -> Result<Status, Errno> {
        let answers = self.ask(GET, REQUEST, &[], GET)?;
        Ok(answers.first().map_or_else(Status::default, |bytes| Status::decode(bytes)))
    }

    fn features(&self) -> Result<u32, Errno> {
        let answers = self.ask(GET_FEATURE, REQUEST, &[], GET_FEATURE)?;
        // struct audit_features: vers, mask, features, lock.
        Ok(answers.first().and_then(|bytes| number(bytes, 8)).unwrap_or(0))
    }

    fn rules(&self) -> Result<Vec<Rule>, Errno> {
        let answers = self.ask(LIST_RULES, REQUEST, &[], DONE)?;
        Ok(answers.iter().filter_map(|bytes| Rule::decode(bytes)).collect())
    }

    fn set(&self, setting: Setting, value: u32) -> Result<(), Errno> {
        self.ask(SET, REQUEST_ACK, &setting.encode(value), ACK).map(drop)
    }

    fn prepend(&self, rule: &Rule) -> Result<(), Errno> {
        self.ask(ADD_RULE, REQUEST_ACK, &rule.encode(true), ACK).map(drop)
    }

    fn delete(&self, rule: &Rule) -> Result<(), Errno> {
        self.ask(DELETE_RULE, REQUEST_ACK, &rule.encode(false), ACK).map(drop)
    }

    fn write(&self, text: &str) -> Result<(), Errno> {
        // The kernel ends the text at its last byte.
        self.ask(MESSAGE, REQUEST_ACK, format!("{text}\0").as_bytes(), ACK).map(drop)
    }

    fn receive(&self) -> Result<Arc<dyn Records>, Errno> {
        let socket = open()?;
        set_socket_recv_buffer_size_force(&socket, ROOM)?;
        ask(&socket, SET, REQUEST_ACK, &Setting::Pid.encode(std::process::id()), ACK)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(SILENCE))?;
        Ok(Arc::new(Inbox(socket)))
    }

    fn listen(&self) -> Result<Arc<dyn Records>, Errno> {
        let socket = open()?;
        set_socket_recv_buffer_size_force(&socket, ROOM)?;
        bind(&socket, &SocketAddrNetlink::new(0, READERS))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(SILENCE))?;
        Ok(Arc::new(Inbox(socket)))
    }
}

impl Records for Inbox {
    fn next<'a>(&self, buffer: &'a mut [u8]) -> Result<(u16, &'a [u8]), Errno> {
        let (length, _) = recv(&self.0, &mut *buffer, RecvFlags::empty())?;
        // The length in the header is not to be trusted.
        let (header, record) = buffer[..length].split_at_checked(HEADER).ok_or(Errno::AGAIN)?;
        Ok((u16::from_ne_bytes([header[4], header[5]]), record))
    }
}

/// Sends a request and returns the answers, up to and including a message of the kind `last`.
fn ask(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8], last: u16) -> Result<Vec<Vec<u8>>, Errno> {
    let length = u32::try_from(HEADER + body.len()).map_err(|_| Errno::MSGSIZE)?;
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // Sequence number and port: the kernel's answers are distinguished by their kinds.
    message.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    message.extend(body);
    send(socket, &message, SendFlags::empty())?;
    let mut answers = Vec::new();
    let mut buffer = vec![0; LONGEST];
    loop {
        let length = match recv(socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => length,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        };
        let bytes = &buffer[..length];
        let Some(answer) = bytes.get(4..6).map(|two| u16::from_ne_bytes([two[0], two[1]])) else { continue };
        let body = bytes.get(HEADER..).unwrap_or_default();
        match answer {
            // Positive errors are answers to other requests.
            ACK => match number(body, 0).map_or(0, u32::cast_signed) {
                error if error < 0 => return Err(Errno::from_raw_os_error(-error)),
                _ if last == ACK => return Ok(answers),
                _ => {}
            },
            DONE => return Ok(answers),
            answer if answer == kind => {
                answers.push(body.to_vec());
                if answer == last {
                    return Ok(answers);
                }
            }
            // A record: they arrive on this socket once its process receives them.
            _ => {}
        }
    }
}

/// Opens a socket whose answers are waited for.
fn open() -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::AUDIT))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    Ok(socket)
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
    fn a_request_sets_one_field() {
        let bytes = Setting::BacklogLimit.encode(7);
        assert_eq!((number(&bytes, 0), number(&bytes, 20)), (Some(0x10), Some(7)));
        assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 2);
    }
}
