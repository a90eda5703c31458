//! Locks between the tools that run on one machine.

use std::io::{ErrorKind, Result};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// A lock of the whole machine, held until this is dropped: an abstract socket, which needs no file, works across users, and
/// goes with its process, however that ends.
#[derive(Debug)]
pub struct Lock {
    /// Held, not used.
    _socket: UnixListener,
}

impl Lock {
    /// Takes the lock of this name; `None` if another holds it.
    ///
    /// # Errors
    /// The kernel refuses sockets.
    pub fn take(name: &str) -> Result<Option<Lock>> {
        match UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?) {
            Ok(socket) => Ok(Some(Lock { _socket: socket })),
            Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }
}
