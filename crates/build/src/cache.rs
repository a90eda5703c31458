//! The cache of builds. A file in it is whole or not there at all, and nothing stays of a tool that was killed.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};

/// How the names of directories of unfinished files begin.
const PREFIX: &str = "partial-";

/// The file in such a directory that is locked as long as its tool lives.
const LOCK: &str = "lock";

/// Returns the directory for builds: $XDG_CACHE_HOME/unixmark, ~/.cache/unixmark, or without a home a temporary one.
///
/// # Errors
/// There is no home, and no temporary directory for this user alone.
pub fn folder() -> Result<PathBuf> {
    files::directory(files::Kind::Cache).map_err(Error::msg)
}

fn cannot(path: &Path) -> String {
    format!("{} cannot be written; make room or set XDG_CACHE_HOME", path.display())
}

/// Held by whoever adds or removes a directory of the cache.
pub(super) struct Gate {
    /// Whether files can be locked here at all.
    pub is_locked: bool,
    /// Held, not used.
    _lock: File,
}

impl Gate {
    /// Waits until nobody else holds the gate of `cache`, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn pass(cache: &Path) -> Result<Gate> {
        let why = || cannot(cache);
        fs::create_dir_all(cache).with_context(why)?;
        let lock = File::create(cache.join(LOCK)).with_context(why)?;
        Ok(Gate { is_locked: lock.lock().is_ok(), _lock: lock })
    }
}

/// A directory in which files are made before they are renamed to their places. It goes when this does; if the tool is
/// killed first, the next one removes it: the kernel releases a lock with its process, also on another host.
#[derive(Debug)]
pub(super) struct Partial {
    folder: PathBuf,
    /// Held, not used.
    _lock: File,
}

impl Partial {
    /// Makes such a directory in `cache`, and removes those that killed tools left.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn start(cache: &Path) -> Result<Partial> {
        let why = || cannot(cache);
        // Whoever holds the gate sees no directory without its lock. Where files cannot be locked, nothing is swept.
        let gate = Gate::pass(cache)?;
        if gate.is_locked {
            sweep(cache);
        }
        let moment = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let folder = cache.join(format!("{PREFIX}{}-{moment:x}", std::process::id()));
        fs::create_dir(&folder).with_context(why)?;
        let lock = File::create(folder.join(LOCK)).with_context(why)?;
        // Where files cannot be locked, nobody sweeps.
        let _ = lock.try_lock();
        Ok(Partial { folder, _lock: lock })
    }

    /// Where the file `name` is made, to be renamed to its place when it is whole.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("new-{name}"))
    }

    /// Writes a file and puts it in its place when it is whole, so that two tools may do it at once.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn install(&self, target: &Path, bytes: &[u8], mode: u32) -> Result<()> {
        let why = || cannot(target);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(why)?;
        }
        let file = self.path(&target.file_name().unwrap_or_default().to_string_lossy());
        fs::write(&file, bytes).with_context(why)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).with_context(why)?;
        fs::rename(&file, target).with_context(why)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the directories whose tools are gone.
fn sweep(cache: &Path) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            // NFS locks only what may be written.
            let lock = File::options().write(true).open(entry.path().join(LOCK));
            if lock.map_or(true, |lock| lock.try_lock().is_ok()) {
                // What a dying compiler still writes is swept the next time.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX)).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_tool_left_is_swept_and_what_lives_is_not() {
        let cache = tempfile::tempdir().unwrap();
        let living = Partial::start(cache.path()).unwrap();
        let kept = names(cache.path());
        // As the kernel leaves them: a lock that nobody holds, or a directory that has none yet.
        for dead in ["partial-1-0", "partial-2-0"] {
            fs::create_dir(cache.path().join(dead)).unwrap();
        }
        fs::write(cache.path().join("partial-1-0/lock"), "").unwrap();
        fs::write(cache.path().join("partial-1-0/new-syscall"), "half").unwrap();
        drop(Partial::start(cache.path()).unwrap());
        assert_eq!(names(cache.path()), kept);
        drop(living);
        assert!(names(cache.path()).is_empty());
    }

    #[test]
    fn a_file_is_installed_whole_with_its_mode() {
        let cache = tempfile::tempdir().unwrap();
        let target = cache.path().join("native-0/bin/shell/a.sh");
        Partial::start(cache.path()).unwrap().install(&target, b"#!/bin/sh\n", 0o755).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"#!/bin/sh\n");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(names(cache.path()).is_empty());
    }
}
