//! Who has the machine: many tests of a process at once, or one that looks at times.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// How often this thread has it: the lock itself may be taken once only.
    static TAKEN: Cell<u32> = const { Cell::new(0) };
}

/// The machine for as long as this lives, for the thread that took it.
pub struct Machine {
    _shared: Option<RwLockReadGuard<'static, ()>>,
    _alone: Option<RwLockWriteGuard<'static, ()>>,
}

impl Machine {
    /// The machine beside other tests.
    pub fn shared() -> Machine {
        let first = TAKEN.replace(TAKEN.get() + 1) == 0;
        let shared = first.then(|| MACHINE.read().unwrap_or_else(PoisonError::into_inner));
        Machine { _shared: shared, _alone: None }
    }

    /// The machine without other tests.
    ///
    /// # Panics
    /// The thread has it already.
    pub fn alone() -> Machine {
        assert_eq!(TAKEN.replace(TAKEN.get() + 1), 0, "the machine is taken alone first");
        Machine { _shared: None, _alone: Some(MACHINE.write().unwrap_or_else(PoisonError::into_inner)) }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        TAKEN.set(TAKEN.get() - 1);
    }
}
