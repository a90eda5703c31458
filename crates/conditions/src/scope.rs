//! Control groups (version 2) for one command each: a process that leaves its process group stays
//! in them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Ledger, Undo, cgroup};
use machine::{Machine, cgroup::own_and_ancestor_groups};

/// Makes an empty group below this process's own; `None` where that cannot be done, which the
/// process group makes up for.
pub(super) fn make(ledger: &mut Ledger, name: &str) -> Option<PathBuf> {
    /// Numbers the groups, since a process runs several commands of one name.
    static MADE: AtomicUsize = AtomicUsize::new(0);

    let (_, groups) = own_and_ancestor_groups(&Machine::here(), "");
    let own_group = Path::new(groups.first()?);
    if rustix::fs::access(own_group, rustix::fs::Access::WRITE_OK).is_err() {
        return None;
    }

    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let path = own_group.join(format!("unixmark-{}-{name}-{number}", std::process::id()));
    let undo = Undo::RemoveGroup { path: path.clone(), to: own_group.to_path_buf() };
    ledger.make_directory(&undo, &path).ok()?;
    Some(path)
}

/// Moves what its command left behind, a service perhaps, to the group above, and removes the
/// group.
pub(super) fn dissolve(group: &Path) {
    // A process that is ending, or cannot be moved, keeps the group; the ledger removes it in the
    // end.
    let _ = cgroup::dissolve(group, group.parent().unwrap_or(group));
}
