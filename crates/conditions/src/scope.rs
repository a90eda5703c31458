//! Control groups (version 2) for one command each: a process that leaves its process group stays in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Ledger, Undo};
use machine::{Machine, cgroup::levels};
use processes::retry;

/// Makes an empty group below this process's own; `None` where that cannot be done, which the process group makes up
/// for.
pub(super) fn make(ledger: &mut Ledger, name: &str) -> Option<PathBuf> {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let (_, groups) = levels(&Machine::here(), "");
    let own = Path::new(groups.first()?);
    let count = MADE.fetch_add(1, Ordering::Relaxed);
    let path = own.join(format!("unixmark-{}-{name}-{count}", std::process::id()));
    if rustix::fs::access(own, rustix::fs::Access::WRITE_OK).is_err() {
        return None;
    }
    ledger.record(&Undo::RemoveDirectory { path: path.clone() }).ok()?;
    fs::create_dir(&path).ok()?;
    Some(path)
}

/// Moves what its command left behind, a service perhaps, to the group above, and removes the group.
pub(super) fn dissolve(group: &Path) {
    let Some(above) = group.parent() else { return };
    // A process that is ending, or cannot be moved, keeps the group; the ledger removes it in the end.
    let _ = retry(|| {
        let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        for member in members.lines() {
            let _ = fs::write(above.join("cgroup.procs"), member);
        }
        fs::remove_dir(group).or_else(|error| if group.exists() { Err(error) } else { Ok(()) })
    });
}
