//! The builds in the cache: which are in use, when each was used last, and which are removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use files::Lock;

use super::cache::{cannot, existing, folder, gate, lockable, make};

/// The file of a build that is locked while a tool uses it, and was changed when one began to.
const USED_FILE: &str = "used";

/// So many builds are kept. Of more, those used least recently are removed, unless they are in use.
pub const MAX_STORED_BUILDS: usize = 16;

/// Marks the build in `folder` of `cache` as used as long as the returned lock lives; makes the
/// folder, and removes the oldest builds if there are too many.
///
/// # Errors
/// It cannot be written.
pub(super) fn mark(cache: &Path, folder: &Path) -> Result<Option<Lock>> {
    let gate = gate(cache)?;
    make(folder)?;

    // This waits at most for the moment in which another tool looks whether the build is in use.
    let used = folder.join(USED_FILE);
    let lock = lockable(Lock::share(&used)).with_context(|| cannot(existing(&used)))?;
    let _ = lock.as_ref().map(Lock::touch);

    // Where files cannot be locked, nothing shows which builds are in use, and none is removed.
    if gate.is_some() {
        let surplus = list_builds(cache).into_iter().skip(MAX_STORED_BUILDS);
        for build in surplus.filter(|build| !build.is_used) {
            let _ = fs::remove_dir_all(&build.path);
        }
    }
    Ok(lock)
}

/// A build in the cache.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its directory.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The time since a tool began to use it.
    pub age: Duration,
    /// True if a tool uses it now.
    pub is_used: bool,
}

/// The builds in the cache, the last used first.
///
/// # Errors
/// There is no place for a cache.
pub fn stored() -> Result<Vec<Stored>> {
    Ok(list_builds(&folder()?))
}

/// Removes the builds that no tool uses and for which `is_unwanted` holds; returns them.
///
/// # Errors
/// The cache cannot be written, or has no locks by which a tool that uses a build would show.
pub fn remove(is_unwanted: impl Fn(&Stored) -> bool) -> Result<Vec<Stored>> {
    let cache = folder()?;
    if !cache.exists() {
        return Ok(Vec::new());
    }

    let why =
        || format!("files in {} cannot be locked, so nothing shows who uses them", cache.display());
    let _gate = gate(&cache)?.with_context(why)?;
    let mut removed = Vec::new();
    for build in list_builds(&cache) {
        if build.is_used || !is_unwanted(&build) {
            continue;
        }
        fs::remove_dir_all(&build.path)
            .with_context(|| format!("{} cannot be removed", build.path.display()))?;
        removed.push(build);
    }

    Ok(removed)
}

/// The builds, the last used first.
fn list_builds(cache: &Path) -> Vec<Stored> {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_build = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("native-") || name.starts_with("portable-")
    };
    let mut builds: Vec<Stored> = entries.filter(is_build).map(read).collect();
    builds.sort_by_key(|build| build.age);
    builds
}

fn read(path: PathBuf) -> Stored {
    let used = path.join(USED_FILE);
    let changed =
        fs::metadata(&used).or_else(|_| fs::metadata(&path)).and_then(|file| file.modified());
    let age = changed.ok().and_then(|moment| moment.elapsed().ok()).unwrap_or_default();
    let is_used = Lock::is_held(&used);
    Stored { bytes: folder_bytes(&path), path, age, is_used }
}

fn folder_bytes(path: &Path) -> u64 {
    let entry_bytes = |entry: fs::DirEntry| match entry.metadata() {
        Ok(file) if file.is_dir() => folder_bytes(&entry.path()),
        Ok(file) => file.len(),
        Err(_) => 0,
    };
    fs::read_dir(path).into_iter().flatten().flatten().map(entry_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_and_what_is_used_stays() {
        let cache = tempfile::tempdir().unwrap();
        let folder = |number: usize| cache.path().join(format!("native-{number}"));
        let oldest = mark(cache.path(), &folder(0)).unwrap();
        for number in 1..=MAX_STORED_BUILDS + 2 {
            drop(mark(cache.path(), &folder(number)).unwrap());
            // Builds are ordered by their age, so no two may have the same.
            std::thread::sleep(Duration::from_millis(5));
        }

        let kept = [0, 1, 2, 4].map(|number| folder(number).exists());
        assert_eq!(kept, [true, false, false, true], "the oldest is in use, the next two are not");
        let builds = list_builds(cache.path());
        assert_eq!(builds.len(), MAX_STORED_BUILDS + 1);
        assert_eq!(builds.iter().filter(|build| build.is_used).count(), 1);
        assert_eq!(builds[0].path, folder(MAX_STORED_BUILDS + 2));

        drop(oldest);
        assert!(list_builds(cache.path()).iter().all(|build| !build.is_used));
        drop(mark(cache.path(), &folder(99)).unwrap());
        assert!(!folder(0).exists(), "the oldest is no longer in use");
    }
}
