//! Signals as bytes in a pipe, so that one poll(2) waits for programs, their ends and the user.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

/// The tool's signal handlers while it measures.
#[derive(Debug)]
pub struct Signals {
    pipe: UnixStream,
    stop: Arc<AtomicUsize>,
}

impl Signals {
    /// Installs the handlers: SIGINT, SIGTERM and SIGHUP ask the run to stop, SIGCHLD wakes it.
    ///
    /// # Errors
    /// The kernel refuses a socket pair or a handler.
    pub fn install() -> Result<Signals> {
        let why = "signal handlers cannot be installed";
        let (pipe, write) = UnixStream::pair().context(why)?;
        pipe.set_nonblocking(true).context(why)?;
        let stop = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&stop), number).context(why)?;
        }
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGCHLD] {
            signal_hook::low_level::pipe::register(signal, write.try_clone().context(why)?).context(why)?;
        }
        Ok(Signals { pipe, stop })
    }

    /// The descriptor that becomes readable with every signal.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Empties the pipe.
    pub fn drain(&self) {
        let mut bytes = [0_u8; 64];
        while matches!((&self.pipe).read(&mut bytes), Ok(1..)) {}
    }

    /// Returns the signal that asked the run to stop, if one did.
    #[must_use]
    pub fn stopped(&self) -> Option<i32> {
        i32::try_from(self.stop.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}
