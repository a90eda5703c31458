//! Runs that measure on one machine at the same time see each other by the locks they hold.

use std::ops::Range;

use anyhow::{Result, bail};

use machine::Lock;

/// How many runs can see each other.
const NUMBERS: Range<u32> = 0..16;

/// The locks of a run in progress.
pub(super) struct RunLock {
    number: Option<u32>,
    /// Held until this is dropped.
    _locks: Vec<Lock>,
}

impl RunLock {
    /// Takes the first number that is free.
    pub(super) fn take() -> RunLock {
        let found = NUMBERS.into_iter().find_map(|number| Some((number, numbered(number).ok()??)));
        let (number, lock) = found.unzip();
        RunLock { number, _locks: lock.into_iter().collect() }
    }

    /// Takes the host for this run alone.
    ///
    /// # Errors
    /// Another unixmark measures here.
    pub(super) fn alone() -> Result<RunLock> {
        let alone = Lock::take("unixmark-alone").ok().flatten();
        let free = |number: u32| matches!(numbered(number), Ok(Some(_)));
        let (Some(alone), true) = (alone, NUMBERS.into_iter().all(free)) else {
            bail!(
                "another unixmark is measuring on this host, and a fleet run needs it alone; try again when that has ended"
            );
        };
        let mut lock = RunLock::take();
        lock._locks.push(alone);
        Ok(lock)
    }

    /// Whether another run is in progress now.
    pub(super) fn is_shared(&self) -> bool {
        let mut others = NUMBERS.filter(|number| Some(*number) != self.number);
        others.any(|number| matches!(numbered(number), Ok(None)))
    }
}

fn numbered(number: u32) -> std::io::Result<Option<Lock>> {
    Lock::take(&format!("unixmark-run-{number}"))
}
