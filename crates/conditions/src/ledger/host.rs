//! The folder of the ledgers, and the machine on which steps are taken.
//!
//! A ledger is made under another name, and gets its own once it is whole and on the disk. Whoever
//! reads or writes one holds its file's lock (flock(2)), which the kernel releases when a process
//! ends. The file may be renamed or removed between the opening and the locking, so each looks
//! afterwards whether it is still the one at its path. A ledger is obeyed, so it must be a regular
//! file that nobody else can have written.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use processes::{Group, Signals, retry};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::{SCRATCH, Undo, proof};
use crate::{audit, cgroup, command};
use machine::{Machine, mounted_below};

/// The name of a ledger that is not whole yet.
const PARTIAL: &str = ".undo.new";

/// The longest time that the processes of a command may take to die.
const DEATH_TIMEOUT: Duration = Duration::from_secs(10);

/// Called with the processes of a command before it changes anything.
pub type Register<'a> = &'a mut dyn FnMut(Group) -> Result<(), String>;

/// A ledger that somebody wants to hold.
pub enum Holding<H> {
    /// The ledger is held now.
    Held(H),
    /// Its run, or what cleans up after it, holds it.
    Busy,
    /// The ledger is not there any more.
    Gone,
}

/// The folder and the machine that ledgers need. A process releases what it holds when it ends,
/// however that happens.
pub trait Host {
    /// A ledger that is held.
    type Held;

    /// The path of a ledger.
    fn path(&self, name: &str) -> PathBuf;
    /// The names of the ledgers; none if there is no folder.
    fn names(&self) -> io::Result<Vec<String>>;
    /// Makes a ledger that holds `text`, durable and whole or not at all, and holds it.
    fn create(&self, name: &str, text: &[u8]) -> io::Result<Self::Held>;
    fn hold(&self, name: &str) -> io::Result<Holding<Self::Held>>;
    /// The text of a ledger.
    fn read(&self, held: &Self::Held) -> io::Result<Vec<u8>>;
    /// Adds `text` at `length`, durable; a failure leaves `length` bytes.
    fn append(&self, held: &Self::Held, length: usize, text: &[u8]) -> io::Result<()>;
    fn remove(&self, name: &str, held: &Self::Held) -> io::Result<()>;
    /// Takes a step, and registers the commands that it needs.
    fn take(&self, step: &Undo, register: Register<'_>) -> Result<(), String>;
    /// The boot that this is.
    fn boot(&self) -> String;
    /// The name that the machine has for itself; empty if it has none.
    fn machine(&self) -> String;
}

/// This machine, and the folder of this user's ledgers on it.
#[derive(Debug, Clone)]
pub struct Here {
    folder: PathBuf,
    /// Signals that a command which undoes something hears.
    pub(super) signals: Option<Rc<Signals>>,
}

impl Here {
    /// The folder of this user's ledgers, whose contents survive a power cut.
    ///
    /// # Errors
    /// There is no home, and no temporary directory for this user alone.
    pub(crate) fn new() -> anyhow::Result<Here> {
        let folder = if rustix::process::geteuid().is_root() {
            PathBuf::from("/var/lib/unixmark")
        } else {
            files::directory(files::Kind::State).map_err(anyhow::Error::msg)?
        };

        Ok(Here { folder, signals: None })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder, for its user alone whatever the umask.
    pub(crate) fn make(&self) -> io::Result<()> {
        files::make_private_directories(&self.folder)?;
        let metadata = fs::symlink_metadata(&self.folder)?;
        if !metadata.is_dir() {
            return Err(refusal(&self.folder, "is no directory"));
        }
        check_owner(&self.folder, &metadata)?;
        if metadata.mode() & 0o777 != 0o700 {
            fs::set_permissions(&self.folder, Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Puts what was renamed or removed in the folder on the disk.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

/// Options that open for reading and appending, never through a link, never waiting for a FIFO.
fn ledger_options() -> OpenOptions {
    let mut options = files::unfollowed();
    options.read(true).append(true).mode(0o600);
    options
}

/// True if an open file is the one at a path.
fn is_at(file: &Metadata, path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|there| (there.ino(), there.dev()) == (file.ino(), file.dev()))
}

fn refusal(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {why}", path.display()))
}

fn check_owner(path: &Path, metadata: &Metadata) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(refusal(path, &format!("belongs to user {}, not to you", metadata.uid())));
    }

    Ok(())
}

/// Checks that nobody else can have written a ledger: it is going to be obeyed.
fn check_ledger(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(refusal(path, "is no regular file"));
    }

    check_owner(path, metadata)?;
    if metadata.mode() & 0o022 != 0 {
        return Err(refusal(path, "may be written by others"));
    }

    Ok(())
}

impl Host for Here {
    type Held = File;

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };

        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with("undo") && name.ends_with(".jsonl"))
            .collect();
        names.sort();
        Ok(names)
    }

    fn create(&self, name: &str, text: &[u8]) -> io::Result<File> {
        self.make()?;
        let (path, partial) = (self.path(name), self.path(PARTIAL));

        let mut file = loop {
            let file = ledger_options().create(true).open(&partial)?;
            file.lock()?;
            // Another process held it until now. If that has renamed it, it is a ledger already,
            // and the next round makes another; if it was killed before that, it is used again.
            if is_at(&file.metadata()?, &partial) {
                break file;
            }
        };
        check_ledger(&partial, &file.metadata()?)?;

        let written = file
            .set_permissions(Permissions::from_mode(0o600))
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(text))
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&partial, &path))
            .and_then(|()| self.sync());
        if let Err(error) = written {
            // It has one of these names, depending on how far that came.
            let _ = fs::remove_file(&partial).or_else(|_| fs::remove_file(&path));
            return Err(error);
        }

        Ok(file)
    }

    fn hold(&self, name: &str) -> io::Result<Holding<File>> {
        let path = self.folder.join(name);
        let file = match ledger_options().open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holding::Gone),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(refusal(&path, "is a link"));
            }
            opened => opened?,
        };

        let metadata = file.metadata()?;
        check_ledger(&path, &metadata)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(Holding::Busy),
            locked => locked?,
        }

        // The process that held it may have removed it.
        Ok(if is_at(&metadata, &path) { Holding::Held(file) } else { Holding::Gone })
    }

    fn read(&self, mut held: &File) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        held.rewind()?;
        held.read_to_end(&mut text)?;
        Ok(text)
    }

    fn append(&self, mut held: &File, length: usize, text: &[u8]) -> io::Result<()> {
        // A line that an earlier process could not finish goes first.
        held.set_len(length as u64)?;
        held.write_all(text).and_then(|()| held.sync_data()).inspect_err(|_| {
            // If even this fails, the next line is not written either.
            let _ = held.set_len(length as u64);
        })
    }

    fn remove(&self, name: &str, _: &File) -> io::Result<()> {
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync(),
        }
    }

    fn take(&self, step: &Undo, register: Register<'_>) -> Result<(), String> {
        match step {
            Undo::Write { path, .. } if proof::is_gone(path) => Ok(()),
            Undo::Write { path, text } => {
                files::overwrite(path, text).map_err(|error| error.to_string())
            }
            Undo::Shell { command, limit, absent, own, .. } => {
                let limit = Duration::from_secs(*limit);
                let leave = command::Leave { command, absent, own, limit };
                command::leave(&leave, self.signals.as_deref(), register)
            }
            Undo::EndGroup { group, .. } => group.end(DEATH_TIMEOUT),
            Undo::Unmount { path } => unmount_if_mounted(path),
            Undo::RemoveDirectory { path } => unless_gone(remove_directory(path)),
            Undo::RemoveGroup { path, to } => cgroup::dissolve(path, to),
            Undo::RemoveFile { path } => unless_gone(fs::remove_file(path)),
            Undo::RemoveScratch { path } => remove_scratch(path),
            Undo::Audit { found } => audit::restore(found),
            Undo::End { program, argument } => command::end_processes(program, argument),
        }?;

        proof::check(step)
    }

    fn boot(&self) -> String {
        Machine::here().boot()
    }

    fn machine(&self) -> String {
        Machine::here().read("/etc/machine-id").unwrap_or_default()
    }
}

/// Unmounts a file system. It may not be mounted yet, or no longer be.
fn unmount_if_mounted(path: &Path) -> Result<(), String> {
    match unmount(path, UnmountFlags::DETACH) {
        Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        // Without the right to unmount it was never mounted.
        Err(Errno::PERM) if mounted_below(path).is_none() => Ok(()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// The result of a removal: what is gone already need not be removed.
fn unless_gone(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// Removes a directory, again while it is busy: the last processes of a control group may still be
/// dying.
fn remove_directory(path: &Path) -> io::Result<()> {
    let removed = retry(|| match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Err(error),
        // Any other error stays, so it ends the attempts.
        other => Ok(other),
    });
    removed.unwrap_or_else(Err)
}

/// Removes a scratch directory; anything that is not named as one is left alone.
///
/// # Errors
/// A sentence: it is not named like one, cannot be removed, or something is mounted in it.
pub fn remove_scratch(path: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with(SCRATCH) {
        return Err(format!("{} is not named like a scratch directory", path.display()));
    }

    remove_tree(path)
}

/// Removes a directory of the run's, in which dying processes may still be writing.
///
/// # Errors
/// A sentence: it cannot be removed, or something is mounted in it, whose files are not the run's
/// to remove.
pub fn remove_tree(path: &Path) -> Result<(), String> {
    if let Some(point) = mounted_below(path) {
        return Err(format!("{} is still mounted; unmount it first", point.display()));
    }

    retry(|| unless_gone(files::remove_tree(path)))
}
