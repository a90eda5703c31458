//! Requests to the kernel's audit subsystem over netlink, and the socket that its records arrive
//! on.
//!
//! Own code rather than `netlink-packet-audit`: that crate's status ends before
//! `backlog_wait_time_actual`, which says how long processes slept, and it brings 22 more. The
//! layouts are those of linux/audit.h and linux/netlink.h; numbers are in the machine's byte order.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

use crate::audit::kernel::{Kernel, MAX_RECORD_BYTES, MESSAGE, Records, Setting, Status};
use crate::audit::rule::{Rule, read_word};

// Kinds of requests: AUDIT_GET and so on.
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

/// Bytes of `struct nlmsghdr`: length (4), kind (2), flags (2), sequence number (4), port (4).
const HEADER_BYTES: usize = 16;

/// Bytes of a request to set a field. They are more than today's `struct audit_status` has, since
/// the kernel refuses a request that is shorter than its own structure.
const SET_BYTES: usize = 64;

/// AUDIT_NLGRP_READLOG as a mask: readers that the kernel does not wait for.
const READER_GROUPS: u32 = 1;

/// Bytes that the kernel holds for a reader that is late: half a second of two busy processors.
const RECEIVE_BUFFER_BYTES: usize = 32 << 20;

/// The longest time that the kernel may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The silence after which the reader looks at what else there is to do.
const READ_TIMEOUT: Duration = Duration::from_millis(50);

impl Status {
    /// Reads the fields that are there: older kernels have fewer.
    fn decode(bytes: &[u8]) -> Status {
        let word = |index: usize| read_word(bytes, 4 * index).unwrap_or(0);
        Status {
            enabled: word(1),
            failure: word(2),
            pid: word(3),
            rate_limit: word(4),
            backlog_limit: word(5),
            lost: word(6),
            backlog: word(7),
            backlog_wait_time: word(9),
            waited: read_word(bytes, 4 * 10),
        }
    }
}

impl Setting {
    /// The request that sets the field: a `struct audit_status` with a mask of AUDIT_STATUS_… in
    /// its first word.
    fn encode(self, value: u32) -> Vec<u8> {
        let (mask, index): (u32, usize) = match self {
            Setting::Enabled => (0x01, 1),
            Setting::Pid => (0x04, 3),
            Setting::BacklogLimit => (0x10, 5),
        };

        let mut bytes = vec![0; SET_BYTES];
        bytes[..4].copy_from_slice(&mask.to_ne_bytes());
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

/// A request to the kernel.
struct Request<'a> {
    kind: u16,
    flags: u16,
    body: &'a [u8],
    /// The kind of the last answer.
    last: u16,
}

impl Netlink {
    pub(crate) fn open() -> Result<Netlink, Errno> {
        Ok(Netlink { socket: Mutex::new(open_socket()?) })
    }

    /// Asks for what the kernel tells without being changed.
    fn get(&self, kind: u16, last: u16) -> Result<Vec<Vec<u8>>, Errno> {
        self.ask(&Request { kind, flags: REQUEST, body: &[], last })
    }

    /// Asks for a change, which the kernel acknowledges.
    fn change(&self, kind: u16, body: &[u8]) -> Result<(), Errno> {
        self.ask(&Request { kind, flags: REQUEST_ACK, body, last: ACK }).map(drop)
    }

    fn ask(&self, request: &Request<'_>) -> Result<Vec<Vec<u8>>, Errno> {
        request.send(&self.socket.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kernel for Netlink {
    fn status(&self) -> Result<Status, Errno> {
        let answers = self.get(GET, GET)?;
        Ok(answers.first().map_or_else(Status::default, |bytes| Status::decode(bytes)))
    }

    fn features(&self) -> Result<u32, Errno> {
        let answers = self.get(GET_FEATURE, GET_FEATURE)?;
        // struct audit_features: vers, mask, features, lock.
        Ok(answers.first().and_then(|bytes| read_word(bytes, 8)).unwrap_or(0))
    }

    fn rules(&self) -> Result<Vec<Rule>, Errno> {
        let answers = self.get(LIST_RULES, DONE)?;
        Ok(answers.iter().filter_map(|bytes| Rule::decode(bytes)).collect())
    }

    fn set(&self, setting: Setting, value: u32) -> Result<(), Errno> {
        self.change(SET, &setting.encode(value))
    }

    fn prepend(&self, rule: &Rule) -> Result<(), Errno> {
        self.change(ADD_RULE, &rule.encode(true))
    }

    fn delete(&self, rule: &Rule) -> Result<(), Errno> {
        self.change(DELETE_RULE, &rule.encode(false))
    }

    fn write(&self, text: &str) -> Result<(), Errno> {
        // The kernel ends the text at its last byte.
        self.change(MESSAGE, format!("{text}\0").as_bytes())
    }

    fn receive(&self) -> Result<Arc<dyn Records>, Errno> {
        let socket = open_socket()?;
        set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER_BYTES)?;

        // From now on the kernel sends its records to the socket by which this was set.
        let body = Setting::Pid.encode(std::process::id());
        Request { kind: SET, flags: REQUEST_ACK, body: &body, last: ACK }.send(&socket)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(READ_TIMEOUT))?;
        Ok(Arc::new(Inbox(socket)))
    }

    fn listen(&self) -> Result<Arc<dyn Records>, Errno> {
        let socket = open_socket()?;
        set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER_BYTES)?;
        bind(&socket, &SocketAddrNetlink::new(0, READER_GROUPS))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(READ_TIMEOUT))?;
        Ok(Arc::new(Inbox(socket)))
    }
}

impl Records for Inbox {
    fn next<'a>(&self, buffer: &'a mut [u8]) -> Result<(u16, &'a [u8]), Errno> {
        let (length, _) = recv(&self.0, &mut *buffer, RecvFlags::empty())?;
        // The length in the header is not to be trusted.
        let (header, record) =
            buffer[..length].split_at_checked(HEADER_BYTES).ok_or(Errno::AGAIN)?;
        Ok((u16::from_ne_bytes([header[4], header[5]]), record))
    }
}

impl Request<'_> {
    /// Sends the request and returns the bodies of the answers, up to and including the last.
    fn send(&self, socket: &OwnedFd) -> Result<Vec<Vec<u8>>, Errno> {
        send(socket, &self.encode()?, SendFlags::empty())?;

        let mut answers = Vec::new();
        let mut buffer = vec![0; MAX_RECORD_BYTES];
        loop {
            let length = match recv(socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((length, _)) => length,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            };
            let message = &buffer[..length];
            let Some(kind) = message.get(4..6) else { continue };
            let kind = u16::from_ne_bytes([kind[0], kind[1]]);
            let body = message.get(HEADER_BYTES..).unwrap_or_default();

            match kind {
                // Positive errors are answers to other requests.
                ACK => match read_word(body, 0).map_or(0, u32::cast_signed) {
                    error if error < 0 => return Err(Errno::from_raw_os_error(-error)),
                    _ if self.last == ACK => return Ok(answers),
                    _ => {}
                },
                DONE => return Ok(answers),
                kind if kind == self.kind => {
                    answers.push(body.to_vec());
                    if kind == self.last {
                        return Ok(answers);
                    }
                }
                // A record: they arrive on this socket once its process receives them.
                _ => {}
            }
        }
    }

    fn encode(&self) -> Result<Vec<u8>, Errno> {
        let length = HEADER_BYTES + self.body.len();
        let length_word = u32::try_from(length).map_err(|_| Errno::MSGSIZE)?;

        let mut message = Vec::with_capacity(length);
        message.extend(length_word.to_ne_bytes());
        message.extend(self.kind.to_ne_bytes());
        message.extend(self.flags.to_ne_bytes());
        // Sequence number and port: the kernel's answers are distinguished by their kinds.
        message.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        message.extend(self.body);
        Ok(message)
    }
}

/// Opens a socket whose answers are waited for.
fn open_socket() -> Result<OwnedFd, Errno> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::AUDIT),
    )?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
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
        assert_eq!((read_word(&bytes, 0), read_word(&bytes, 20)), (Some(0x10), Some(7)));
        assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 2);
    }
}
