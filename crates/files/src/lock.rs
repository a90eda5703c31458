//! Files that processes lock, to keep out of each other's way.

use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::time::SystemTime;

/// A file that is locked as long as this lives. The kernel releases it with its process, however
/// that ends, on network file systems also of another host.
///
/// The file is made if it is missing, for its owner alone, and stays. It is never truncated or
/// written, so nothing is lost where another file lies in its place; a link is not followed, and
/// anything but a regular file is refused.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Locks the file at `path`; `None` if another holds it.
    ///
    /// # Errors
    /// It cannot be made or opened, or is a link or no file. `Unsupported`: files cannot be locked
    /// there.
    pub fn try_take(path: &Path) -> Result<Option<Lock>> {
        let file = open_or_make(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(locking_error(error)),
        }
    }

    /// Locks the file at `path` as soon as nobody else holds it.
    ///
    /// # Errors
    /// As [`Lock::try_take`].
    pub fn take(path: &Path) -> Result<Lock> {
        let file = open_or_make(path)?;
        file.lock().map_err(locking_error)?;
        Ok(Lock { file })
    }

    /// Locks the file at `path` along with all who share it, as soon as nobody holds it alone.
    ///
    /// # Errors
    /// As [`Lock::try_take`].
    pub fn share(path: &Path) -> Result<Lock> {
        let file = open_or_make(path)?;
        file.lock_shared().map_err(locking_error)?;
        Ok(Lock { file })
    }

    /// True if anybody holds the file at `path`, alone or shared, and where files cannot be locked,
    /// since somebody may use it there. False if it is missing or cannot be opened.
    pub fn is_held(path: &Path) -> bool {
        open_existing(path).is_ok_and(|file| file.try_lock().is_err())
    }

    /// A handle that holds the lock too, for another process to inherit.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn handle(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// Sets the file's time of last modification to now.
    ///
    /// # Errors
    /// It is another's.
    pub fn touch(&self) -> Result<()> {
        self.file.set_modified(SystemTime::now())
    }
}

fn locking_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Interrupted => error,
        _ => Error::new(ErrorKind::Unsupported, format!("files cannot be locked there ({error})")),
    }
}

/// Opens the file at `path`, and makes it if it is missing. Where this user may not write, a file
/// that is there is opened as [`open_existing`] does; the error is that of the first attempt.
fn open_or_make(path: &Path) -> Result<File> {
    let mut options = options();
    let opened = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .and_then(|file| check_regular(file, path));
    match opened {
        Err(error) if is_read_only(&error) => open_existing(path).map_err(|_| error),
        opened => opened,
    }
}

/// Opens the file at `path`, to write it if this user may: network file systems grant a lock that
/// is not shared only then. Elsewhere reading is enough.
fn open_existing(path: &Path) -> Result<File> {
    let file = match options().write(true).open(path) {
        Err(error) if is_read_only(&error) => options().open(path)?,
        opened => opened?,
    };
    check_regular(file, path)
}

fn is_read_only(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn check_regular(file: File, path: &Path) -> Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }

    Err(Error::new(ErrorKind::InvalidInput, format!("{} is no regular file", path.display())))
}

/// Reading, without following a link or waiting for a FIFO.
#[cfg(unix)]
fn options() -> std::fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = crate::unfollowed();
    options.read(true).mode(0o600);
    options
}

#[cfg(not(unix))]
fn options() -> std::fs::OpenOptions {
    let mut options = crate::options();
    options.read(true);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_holds_it_alone_or_several_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!Lock::is_held(&path) && !path.exists());
        let alone = Lock::try_take(&path).unwrap().unwrap();
        assert!(Lock::try_take(&path).unwrap().is_none() && Lock::is_held(&path));
        drop(alone);
        assert!(!Lock::is_held(&path) && path.exists());
        let shared = [Lock::share(&path).unwrap(), Lock::share(&path).unwrap()];
        assert!(Lock::try_take(&path).unwrap().is_none() && Lock::is_held(&path));
        drop(shared);
        drop(Lock::take(&path).unwrap());
    }

    #[test]
    fn who_waits_gets_it_when_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::take(&path).unwrap();
        let other = path.clone();
        let waiting = std::thread::spawn(move || Lock::take(&other).map(drop));
        drop(held);
        waiting.join().unwrap().unwrap();
    }

    #[test]
    fn a_file_in_its_place_keeps_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(&path, "kept").unwrap();
        let lock = Lock::take(&path).unwrap();
        lock.touch().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"kept");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed_and_what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, path) = (folder.path().join("victim"), folder.path().join("lock"));
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        Lock::take(&path).unwrap_err();
        assert!(!victim.exists() && !Lock::is_held(&path));
        fs::remove_file(&path).unwrap();
        // Not by a command: a fork would hold the other tests' locks until its exec.
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        assert!(Lock::try_take(&path).unwrap_err().to_string().contains("no regular file"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        Lock::try_take(&path).unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_may_only_be_read_is_locked_and_a_new_one_is_its_owners_alone() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        drop(Lock::take(&path).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        // Root may write it all the same; the tests of the system try it as another user.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        let held = Lock::take(&path).unwrap();
        assert!(Lock::is_held(&path));
        drop(held);
    }
}
