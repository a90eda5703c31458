//! One collector at a time.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};

use super::collect::NODES;

/// The file that a collector holds while it works; it is empty and stays.
const LOCK: &str = ".lock";

/// Waits until no other collector works in a fleet's directory, removes what one that was killed left half written, and returns
/// what keeps others out until it is dropped: the kernel gives it back however a collector ends. It is a file to be written, since only such are locked on NFS.
///
/// # Errors
/// The directory cannot be written.
pub fn alone(directory: &Path) -> Result<File> {
    let path = directory.join(LOCK);
    let why = || format!("{} cannot be locked; make room or try another directory", path.display());
    fs::create_dir_all(directory).with_context(why)?;
    let file = File::options().write(true).create(true).truncate(false).open(&path).with_context(why)?;
    file.lock().with_context(why)?;
    // What a collector that was killed had half written. Names of journals begin otherwise.
    for entry in fs::read_dir(directory.join(NODES)).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(file)
}
