//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Writes a file beside its place and puts it there when it is whole and on the disk: readers see
/// the old one or the new one, also after a power cut; writers do not meet, be they threads, or on
/// other hosts, and what a writer that was killed leaves behind begins with a dot. For what nobody
/// can make again.
///
/// # Errors
/// It cannot be written; nothing is left behind.
pub fn write_whole(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(target, bytes, File::sync_all)?;
    sync_folder(target.parent().unwrap_or(target))
}

/// Writes a file as [`write_whole`] does, but does not wait for the disk: after a power cut it may
/// be empty. For what can be made again, where waiting for each of many files would be slow.
///
/// # Errors
/// It cannot be written; nothing is left behind.
pub fn write_atomically(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(target, bytes, |_| Ok(()))
}

fn replace(target: &Path, bytes: &[u8], finish: impl Fn(&File) -> io::Result<()>) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().display();
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    // Two hosts may have equal numbers of processes, but hardly at the same nanosecond; if so, the
    // second is refused.
    let moment = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let partial = target.with_file_name(format!(".{name}.{}-{count}-{moment}", std::process::id()));
    let mut file = File::options().write(true).create_new(true).open(&partial)?;
    let written = file.write_all(bytes).and_then(|()| finish(&file)).and_then(|()| fs::rename(&partial, target));
    if written.is_err() {
        // It may not be there at all.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Waits until the names in a directory are on the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(here).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot, and a directory that may be written need not be readable.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

/// Directories cannot be synced here; the system's journal does.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        for (write, bytes) in [(write_whole as fn(&Path, &[u8]) -> _, b"old"), (write_atomically, b"new")] {
            write(&target, bytes).unwrap();
            assert_eq!(fs::read(&target).unwrap(), bytes);
        }
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        write_whole(&taken, b"bytes").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        fs::write(&victim, "kept").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
    }
}
