//! Names of which the machine has one each: whoever has one is told apart from all others.

use std::io::{ErrorKind, Result};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// A name that is this process's as long as this lives: an abstract socket, which needs no file, works across users, and goes
/// with its process, however that ends.
#[derive(Debug)]
pub struct Name {
    /// Held, not used.
    _socket: UnixListener,
}

impl Name {
    /// Takes a name; nothing where another process has it.
    ///
    /// # Errors
    /// The kernel refuses sockets.
    pub fn take(name: &str) -> Result<Option<Name>> {
        match UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?) {
            Ok(socket) => Ok(Some(Name { _socket: socket })),
            Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }
}
