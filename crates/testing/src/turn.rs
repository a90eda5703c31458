//! Who has the machine: many tests at once, or one that looks at times or changes settings.
//!
//! Threads of a process share by a lock in memory, processes by locks of files (flock(2)). Which
//! files is of no importance: these are there for every process.

use std::cell::Cell;
use std::fs::File;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::fs::{FlockOperation, flock};

static MACHINE: RwLock<()> = RwLock::new(());

/// Whoever has the machine has this file: shared, or alone.
const MACHINE_FILE: &str = "crates/testing/Cargo.toml";

/// Whoever waits to be alone has this one, so that those who share do not keep coming.
const QUEUE_FILE: &str = "crates/testing/src/turn.rs";

/// Whoever has [`host`] has this one.
const HOST_FILE: &str = "crates/testing/src/lib.rs";

thread_local! {
    /// How often this thread has the machine. The lock itself can be taken once only.
    static TAKEN: Cell<u32> = const { Cell::new(0) };
}

/// The exit status of a test that must be alone and is not; whoever runs it does so again when the
/// others have ended.
pub const LATER: i32 = 75;

/// The variable by which that is asked for. Then a process has a single test.
pub const CAN_WAIT: &str = "UNIXMARK_TEST_CAN_WAIT";

/// The machine for as long as this lives, for the thread that took it.
pub struct Machine {
    /// For other processes.
    _file: Option<File>,
    /// For other threads.
    _shared: Option<RwLockReadGuard<'static, ()>>,
    _alone: Option<RwLockWriteGuard<'static, ()>>,
}

impl Machine {
    /// The machine beside other tests.
    pub fn shared() -> Machine {
        let is_first = TAKEN.get() == 0;
        TAKEN.set(TAKEN.get() + 1);
        if !is_first {
            return Machine { _file: None, _shared: None, _alone: None };
        }

        let shared = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        let _queue = lock_file(QUEUE_FILE, FlockOperation::LockShared);
        let file = lock_file(MACHINE_FILE, FlockOperation::LockShared);
        Machine { _file: Some(file), _shared: Some(shared), _alone: None }
    }

    /// The machine without other tests that take it, those of other processes among them. Ends the
    /// process where that can be had later.
    ///
    /// # Panics
    /// The thread has it already.
    pub fn alone() -> Machine {
        assert_eq!(TAKEN.get(), 0, "the machine is taken alone first");
        if std::env::var_os(CAN_WAIT).is_some() && !is_free() {
            std::process::exit(LATER);
        }

        let alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
        let _queue = lock_file(QUEUE_FILE, FlockOperation::LockExclusive);
        let file = lock_file(MACHINE_FILE, FlockOperation::LockExclusive);
        TAKEN.set(1);
        Machine { _file: Some(file), _shared: None, _alone: Some(alone) }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        TAKEN.set(TAKEN.get() - 1);
    }
}

/// The right to what a host has once: control groups, and root's ledger in `/var/lib/unixmark`.
pub fn host() -> File {
    lock_file(HOST_FILE, FlockOperation::LockExclusive)
}

/// True if no other process has the machine.
fn is_free() -> bool {
    let file = File::open(crate::file(MACHINE_FILE)).unwrap();
    flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Locks a file of the repository until the result is dropped.
fn lock_file(path: &str, operation: FlockOperation) -> File {
    let file = File::open(crate::file(path)).unwrap();
    flock(&file, operation).unwrap();
    file
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn who_is_alone_shuts_out_whoever_else_takes_the_machine() {
        let _alone = Machine::alone();
        let theirs = File::open(crate::file(MACHINE_FILE)).unwrap();
        assert_eq!(flock(&theirs, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK));
    }
}
