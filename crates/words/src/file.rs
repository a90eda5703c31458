//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Writes a file beside its place and puts it there when it is whole: readers see the old one or the new one, writers do not meet,
/// be they threads, or on other hosts, and what a writer that was killed leaves behind begins with a dot.
///
/// # Errors
/// It cannot be written; nothing is left behind.
pub fn write_whole(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().display();
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    // Two hosts may have equal numbers of processes, but hardly at the same nanosecond; if so, the second is refused.
    let moment = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let partial = target.with_file_name(format!(".{name}.{}-{count}-{moment}", std::process::id()));
    let mut file = File::options().write(true).create_new(true).open(&partial)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&partial, target));
    if written.is_err() {
        // It may not be there at all.
        let _ = fs::remove_file(&partial);
    }
    written
}
