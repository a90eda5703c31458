//! Files that are there whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

/// Writes a file beside its place and puts it there when it is whole: readers see the old one or the new one, two writers do not
/// meet, and what a writer that was killed leaves behind ends in its process's number.
///
/// # Errors
/// It cannot be written; nothing is left behind.
pub fn write_whole(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().display();
    let partial = target.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, target));
    if written.is_err() {
        // It may not be there at all.
        let _ = fs::remove_file(&partial);
    }
    written
}
