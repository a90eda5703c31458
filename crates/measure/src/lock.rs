//! Notices other runs that measure on this machine at the same time.

use anyhow::{Context, Result, bail};

use files::Lock;

/// The file that a run locks which needs the machine alone.
const LOCK: &str = "alone.lock";

/// Reserves the host for one run, until the lock is dropped.
///
/// # Errors
/// Another run is in progress here.
pub(super) fn lock_host() -> Result<Lock> {
    let path = conditions::local_folder()?.join(LOCK);
    let lock =
        Lock::try_take(&path).with_context(|| format!("{} cannot be locked", path.display()))?;
    match lock.filter(|_| !is_another_running()) {
        Some(lock) => Ok(lock),
        None => bail!(
            "another unixmark is measuring on this host, and a fleet run needs it alone; try again when that has ended"
        ),
    }
}

/// True if another run of this user or of root is in progress.
pub(super) fn is_another_running() -> bool {
    runner::other_runs() > 0
}
