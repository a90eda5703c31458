//! Runs that measure on one machine at the same time see each other.

use anyhow::{Context, Result, bail};

use files::Lock;

/// The name of the lock of runs that want the machine alone.
const LOCK: &str = "alone.lock";

/// Takes the host for one run alone, until the lock is dropped.
///
/// # Errors
/// Another unixmark measures here.
pub(super) fn alone() -> Result<Lock> {
    let path = conditions::local_folder()?.join(LOCK);
    let lock = Lock::try_take(&path).with_context(|| format!("{} cannot be locked", path.display()))?;
    match lock.filter(|_| !is_shared()) {
        Some(lock) => Ok(lock),
        None => bail!(
            "another unixmark is measuring on this host, and a fleet run needs it alone; try again when that has ended"
        ),
    }
}

/// Returns true if another run of this user or of root is in progress.
pub(super) fn is_shared() -> bool {
    runner::other_runs() > 0
}
