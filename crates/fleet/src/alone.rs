//! Lets one collector at a time work in a fleet's directory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::state::MANIFEST;
use super::state::NODES_FOLDER;
use files::Lock;

/// The file that a collector locks while it works; it is empty and stays.
const LOCK: &str = ".lock";

/// While this lives, no other collector works in a fleet's directory.
#[derive(Debug)]
pub struct Alone {
    path: PathBuf,
    /// Only held: the kernel releases it, however the collector ends.
    _lock: Lock,
}

impl Alone {
    /// Removes the lock's file and directory, unless the directory has become a fleet's.
    pub fn undo(self) {
        let Some(directory) = self.path.parent() else { return };
        if directory.join(MANIFEST).exists() {
            return;
        }

        // A directory that holds anything else stays.
        let _ = fs::remove_file(&self.path).and_then(|()| fs::remove_dir(directory));
    }
}

/// Waits until no other collector works in a fleet's directory, and keeps others out until the
/// returned value is dropped. Calls `note_wait` before it waits. Files that a killed collector left
/// half written are removed.
///
/// # Errors
/// The directory cannot be written.
pub fn keep_others_out(directory: &Path, note_wait: impl FnOnce()) -> Result<Alone> {
    let path = directory.join(LOCK);
    let why = || format!("{} cannot be locked; make room or try another directory", path.display());
    files::make_directories(directory).with_context(why)?;
    // Never twice: Windows would wait for itself.
    let lock = match Lock::try_take(&path).with_context(why)? {
        Some(lock) => lock,
        None => {
            note_wait();
            Lock::take(&path).with_context(why)?
        }
    };
    // Half-written files of a collector that was killed; no journal's name begins with a dot.
    for entry in fs::read_dir(directory.join(NODES_FOLDER)).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            let _ = fs::remove_file(entry.path());
        }
    }

    Ok(Alone { path, _lock: lock })
}
