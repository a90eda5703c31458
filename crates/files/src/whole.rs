//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::make::options;
use super::regular::special_kind;

/// The characters of a file's name that begin the name of the unfinished file beside it. With all
/// of a long name that would be longer than the system allows.
const MAX_NAME_CHARACTERS: usize = 40;

/// Writes a file beside its place and puts it there when it is whole and on the disk, so that
/// readers see the old one or the new one, even after a power cut. Each writer, be it a thread or
/// another host, has an unfinished file of its own; one that a killed writer leaves behind begins
/// with a dot. For files that nobody can make again.
///
/// # Errors
/// It cannot be written; nothing is left behind.
pub fn write_whole(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(target, bytes, &options(), File::sync_all)?;
    sync_folder(target.parent().unwrap_or(target))
}

/// Writes a file as [`write_whole`] does, but does not wait for the disk: after a power cut it may
/// be empty. For files that can be made again, where waiting for each of many would be slow.
///
/// # Errors
/// It cannot be written; nothing is left behind.
pub fn write_atomically(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(target, bytes, &options(), |_| Ok(()))
}

/// Puts a file at `target`, in place of a regular file, a link or nothing; anything else is an
/// error. `finish` is applied to the file before it gets its name.
pub(crate) fn replace(
    target: &Path,
    bytes: &[u8],
    options: &OpenOptions,
    finish: impl Fn(&File) -> io::Result<()>,
) -> io::Result<()> {
    // Root could rename over a device.
    if let Ok(there) = fs::symlink_metadata(target)
        && !there.is_symlink()
        && let Some(kind) = special_kind(&there)
    {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}")));
    }

    let partial = partial_path(target);
    let mut file = options.clone().write(true).create_new(true).open(&partial)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| finish(&file))
        .and_then(|()| fs::rename(&partial, target));
    if written.is_err() {
        // The error that counts is the first.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Checks that a file can be made at `target`: with a file that has no name, or where the file
/// system has none of these, beside it for a moment.
///
/// # Errors
/// None can be made there.
pub(crate) fn check_new_file(target: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::TMPFILE.bits().cast_signed();
        let folder = target.parent().unwrap_or(Path::new("/"));
        if options().write(true).custom_flags(flags).open(folder).is_ok() {
            return Ok(());
        }
    }

    let partial = partial_path(target);
    options().write(true).create_new(true).open(&partial)?;
    fs::remove_file(&partial)
}

/// The path of the unfinished file beside `target`, different for each call.
fn partial_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(MAX_NAME_CHARACTERS).collect();
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    // Processes of two hosts may have the same number, but hardly at the same nanosecond; if so,
    // `create_new` refuses the second.
    let moment = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!(".{name}.{}-{count}-{moment}", std::process::id()))
}

/// Waits until the names in a directory are on the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let folder_path = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder_path).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot, and a directory that may be written need not be readable.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
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
        for (write, bytes) in
            [(write_whole as fn(&Path, &[u8]) -> _, b"old"), (write_atomically, b"new")]
        {
            write(&target, bytes).unwrap();
            assert_eq!(fs::read(&target).unwrap(), bytes);
        }

        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        write_whole(&taken, b"bytes").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn the_longest_name_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("n".repeat(255));
        write_whole(&target, b"bytes").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"bytes");
    }

    #[cfg(unix)]
    #[test]
    fn only_files_and_links_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let refused = write_whole(&pipe, b"bytes").unwrap_err();
        assert_eq!(refused.to_string(), "it is a named pipe");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
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
