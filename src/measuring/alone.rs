//! Runs that measure on one machine at the same time see each other.

use anyhow::{Context, Result, bail};

use files::Lock;

/// The name of the lock of runs that want the machine alone.
const LOCK: &str = "alone.lock";

/// A run in progress.
pub(super) struct RunLock {
    /// Held until this is dropped.
    _alone: Option<Lock>,
}

impl RunLock {
    /// Returns that of a run which others may be beside.
    pub(super) fn take() -> RunLock {
        RunLock { _alone: None }
    }

    /// Takes the host for this run alone.
    ///
    /// # Errors
    /// Another unixmark measures here.
    pub(super) fn alone() -> Result<RunLock> {
        let path = conditions::local_folder()?.join(LOCK);
        let alone = Lock::try_take(&path).with_context(|| format!("{} cannot be locked", path.display()))?;
        let lock = RunLock { _alone: alone };
        if lock._alone.is_none() || lock.is_shared() {
            bail!(
                "another unixmark is measuring on this host, and a fleet run needs it alone; try again when that has ended"
            );
        }
        Ok(lock)
    }

    /// Returns true if another run of this user or of root is in progress.
    pub(super) fn is_shared(&self) -> bool {
        runner::other_runs() > 0
    }
}
