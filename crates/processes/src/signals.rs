//! Signals as bytes in a pipe, so that one poll(2) waits for programs, their ends and the user; and
//! what this process does about signals that whoever started it had blocked or ignored.

use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use nix::sys::signal::{SigSet, Signal};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};

/// Signals that ask the run to stop.
const STOPPING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Makes signals mean what this process relies on, whatever it was started with. The first call of
/// the tool and of its guardian.
///
/// - SIGXFSZ: a limit on the size of files is an error of the write that reaches it, as a full disk
///   is, so what a run has changed is still undone.
/// - SIGCHLD: neither blocked nor ignored, since children are waited for.
///
/// Handlers that do nothing are used in place of SIG_IGN, which children would inherit.
pub fn meet_signals() {
    // Neither has failed anywhere; without them the tool works where nobody limits files.
    for signal in [SIGXFSZ, SIGCHLD] {
        let _ = signal_hook::flag::register(signal, Arc::default());
    }

    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGCHLD);
    let _ = awaited.thread_unblock();
}

/// The tool's signal handlers while it measures.
#[derive(Debug)]
pub struct Signals {
    /// One byte for each signal.
    pipe: UnixStream,
    /// One byte for each signal that asked the run to stop.
    stops: UnixStream,
    /// Bytes that were read from `stops`.
    stop_count: AtomicUsize,
    /// The last signal that asked the run to stop; 0 before.
    last_stop: Arc<AtomicUsize>,
    wants_pause: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers: SIGINT, SIGTERM and SIGHUP ask the run to stop, SIGTSTP (Ctrl-Z) to
    /// pause, SIGCHLD wakes it. A SIGHUP that is ignored, as by nohup(1), stays ignored; a SIGINT
    /// is heard also where the shell ignores it for what runs in its background.
    ///
    /// # Errors
    /// The kernel refuses a socket pair or a handler.
    pub fn install() -> Result<Signals> {
        let why = "signal handlers cannot be installed";
        let (pipe, write) = UnixStream::pair().context(why)?;
        let (stops, stops_write) = UnixStream::pair().context(why)?;
        let last_stop = Arc::new(AtomicUsize::new(0));
        let wants_pause = Arc::new(AtomicBool::new(false));
        for reader in [&pipe, &stops] {
            reader.set_nonblocking(true).context(why)?;
        }

        let outlives_terminal = is_ignored(SIGHUP);
        let heard = STOPPING.into_iter().filter(|signal| *signal != SIGHUP || !outlives_terminal);
        // Flags are set before a byte wakes whoever reads them.
        for signal in heard.clone() {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&last_stop), number)
                .context(why)?;
            signal_hook::low_level::pipe::register(signal, stops_write.try_clone().context(why)?)
                .context(why)?;
        }

        signal_hook::flag::register(SIGTSTP, Arc::clone(&wants_pause)).context(why)?;
        for signal in heard.chain([SIGCHLD, SIGTSTP]) {
            signal_hook::low_level::pipe::register(signal, write.try_clone().context(why)?)
                .context(why)?;
        }

        Ok(Signals { pipe, stops, stop_count: AtomicUsize::new(0), last_stop, wants_pause })
    }

    /// The descriptor that becomes readable with every signal.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Empties the pipe.
    pub fn drain(&self) {
        while read_bytes(&self.pipe) > 0 {}
    }

    /// The signal that asked the run to stop, if one did.
    pub fn stopped(&self) -> Option<i32> {
        i32::try_from(self.last_stop.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }

    /// How many signals have asked the run to stop.
    pub fn stops(&self) -> usize {
        loop {
            match read_bytes(&self.stops) {
                0 => return self.stop_count.load(Ordering::Relaxed),
                count => drop(self.stop_count.fetch_add(count, Ordering::Relaxed)),
            }
        }
    }

    /// True once the user has asked for a pause (Ctrl-Z).
    pub fn wants_pause(&self) -> bool {
        self.wants_pause.load(Ordering::Relaxed)
    }

    /// Stops this process, as Ctrl-Z does by default, until something continues it.
    pub fn pause(&self) {
        self.wants_pause.store(false, Ordering::Relaxed);
        // It fails for no signal that has a default action.
        let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
    }
}

/// True if this process ignores a signal; false where the kernel does not say.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    ignored & (1 << (signal - 1)) != 0
}

/// Lets the signals that ask a run to stop end this process, as they do by default: a run that is
/// over has nothing left to undo.
///
/// # Errors
/// The kernel refuses a handler.
pub fn end_on_stop() -> Result<()> {
    for signal in STOPPING {
        signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true)))
            .context("a signal handler cannot be installed")?;
    }

    Ok(())
}

/// A flag that is set whenever this process goes on after it was stopped.
///
/// # Errors
/// The kernel refuses a handler.
pub fn continued() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGCONT, Arc::clone(&flag))
        .context("a signal handler cannot be installed")?;
    Ok(flag)
}

/// Takes some bytes out of a socket that does not block; returns how many.
fn read_bytes(mut socket: &UnixStream) -> usize {
    socket.read(&mut [0_u8; 64]).unwrap_or(0)
}
