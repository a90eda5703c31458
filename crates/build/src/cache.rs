//! The cache of builds. It is this user's alone, and nothing unfinished stays of a tool that was
//! killed.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Error, Result, anyhow};
use files::{Kind, Lock};

/// The beginning of the names of directories of unfinished files.
const PARTIAL_PREFIX: &str = "partial-";

/// The file in such a directory that is locked as long as its tool lives.
const LOCK: &str = "lock";

/// The cache of root where the usual one is in a directory of another user's, as `sudo -E` has it.
const ROOT_CACHE: &str = "/var/cache/unixmark";

/// The place of the builds.
struct Chosen {
    folder: PathBuf,
    /// A sentence that says why that is not the usual place.
    note: Option<String>,
}

static CHOSEN: OnceLock<Result<Chosen, String>> = OnceLock::new();

fn chosen() -> Result<&'static Chosen, String> {
    CHOSEN.get_or_init(choose_place).as_ref().map_err(Clone::clone)
}

/// The directory for builds: $XDG_CACHE_HOME/unixmark, ~/.cache/unixmark, or without a home
/// a temporary one; where others could put programs of theirs there, one that is this user's alone.
///
/// # Errors
/// There is no such place.
pub fn folder() -> Result<PathBuf> {
    Ok(chosen().map_err(Error::msg)?.folder.clone())
}

/// A sentence that says why builds are not kept in the usual place; `None` if they are.
pub fn note() -> Option<&'static str> {
    chosen().ok()?.note.as_deref()
}

/// The usual place, or, where others could put programs there, a private one with a note.
fn choose_place() -> Result<Chosen, String> {
    let refused = match files::directory(Kind::Cache) {
        Ok(folder) => match files::check_trusted(&folder) {
            Ok(()) => return Ok(Chosen { folder, note: None }),
            Err(why) => format!("no program in {} is trusted, since {why}", folder.display()),
        },
        Err(why) => why,
    };
    let folder = private_folder().map_err(|why| format!("{refused}; {why}"))?;
    let note = Some(format!("{refused}; builds are kept in {}", folder.display()));
    Ok(Chosen { folder, note })
}

/// A directory that nobody else can have made.
fn private_folder() -> Result<PathBuf, String> {
    let roots = Path::new(ROOT_CACHE);
    if rustix::process::geteuid().is_root() && make(roots).is_ok() {
        return Ok(roots.to_owned());
    }

    Ok(files::temporary()?.join("cache"))
}

/// Makes a directory that only this user can enter, unless it is there, and checks that nobody else
/// can put another in its place.
///
/// # Errors
/// It cannot be made, or is not this user's alone.
pub(super) fn make(folder: &Path) -> Result<()> {
    files::make_private_directories(folder).with_context(|| cannot(folder))?;
    files::check_trusted(folder).map_err(|why| {
        anyhow!("{} cannot be used: {why}; remove it, or set XDG_CACHE_HOME", folder.display())
    })
}

/// The sentence that a directory or a file of the cache cannot be written, and what to do then.
pub(super) fn cannot(path: &Path) -> String {
    let name = path.display();
    match files::other_owner(path) {
        Some(owner) => {
            format!(
                "{name} belongs to {owner}; `sudo chown -R \"$USER\" {name}` gives it to you, or set XDG_CACHE_HOME"
            )
        }
        None => format!("{name} cannot be written; make room or set XDG_CACHE_HOME"),
    }
}

/// A file of the cache, or the directory where it will be.
pub(super) fn existing(file: &Path) -> &Path {
    if file.exists() { file } else { file.parent().unwrap_or(file) }
}

/// Waits until nobody else adds or removes a directory of `cache`, which is made if it is missing,
/// and returns the lock that keeps others from it; `None` where files cannot be locked.
///
/// # Errors
/// It cannot be made.
pub(super) fn gate(cache: &Path) -> Result<Option<Lock>> {
    make(cache)?;
    let lock = cache.join(LOCK);
    lockable(Lock::take(&lock)).with_context(|| cannot(existing(&lock)))
}

/// A lock; `None` where files cannot be locked.
///
/// # Errors
/// It cannot be made.
pub(super) fn lockable(lock: std::io::Result<Lock>) -> std::io::Result<Option<Lock>> {
    match lock {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        lock => lock.map(Some),
    }
}

/// A directory in which files are made before they are renamed to their places. It goes when this
/// does; if the tool is killed first, the next one removes it: the kernel releases a lock with its
/// process, also on another host.
#[derive(Debug)]
pub(super) struct Partial {
    folder: PathBuf,
    /// Held, not used.
    _lock: Option<Lock>,
}

impl Partial {
    /// Makes such a directory in `cache`, and removes those that killed tools left.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn start(cache: &Path) -> Result<Partial> {
        // Whoever holds the gate sees no directory without its lock. Where files cannot be locked,
        // nothing is swept.
        let gate = gate(cache)?;
        if gate.is_some() {
            sweep(cache);
        }
        let moment =
            std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let folder = cache.join(format!("{PARTIAL_PREFIX}{}-{moment:x}", std::process::id()));
        files::make_private_directory(&folder).with_context(|| cannot(cache))?;
        let lock = lockable(Lock::take(&folder.join(LOCK))).with_context(|| cannot(cache))?;
        Ok(Partial { folder, _lock: lock })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path where the file `name` is made, to be renamed to its place when it is whole.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("new-{name}"))
    }

    /// Writes a file and puts it in its place when it is whole, so that two tools may do it at
    /// once; one that is there with these bytes stays.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn install(&self, target: &Path, bytes: &[u8], mode: u32) -> Result<()> {
        if holds(target, bytes, mode) {
            return Ok(());
        }

        let folder = target.parent().unwrap_or(&self.folder);
        make(folder)?;
        let file = self.path(&target.file_name().unwrap_or_default().to_string_lossy());
        files::write(&file, bytes)
            .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(mode)))
            .and_then(|()| fs::rename(&file, target))
            .with_context(|| cannot(folder))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// True if a file is nobody else's and holds these bytes.
fn holds(file: &Path, bytes: &[u8], mode: u32) -> bool {
    is_own(file, mode) && fs::read(file).is_ok_and(|there| there == bytes)
}

/// True if a file, which is no link, is one that nobody else can replace or write, with
/// these permissions.
pub(super) fn is_own(file: &Path, mode: u32) -> bool {
    let there = fs::symlink_metadata(file);
    there.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o777 == mode)
        && files::check_trusted(file).is_ok()
}

/// Removes the directories whose tools are gone.
fn sweep(cache: &Path) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let is_partial = entry.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX);
        if is_partial && !Lock::is_held(&entry.path().join(LOCK)) {
            // Files that a dying compiler still writes are swept the next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> =
            names.filter(|name| name.starts_with(PARTIAL_PREFIX)).collect();
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

    #[test]
    fn a_file_that_is_not_what_it_should_be_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let (target, victim) = (cache.path().join("a.sh"), cache.path().join("victim"));
        let partial = Partial::start(cache.path()).unwrap();
        let install = || partial.install(&target, b"right", 0o755).unwrap();
        let spoil: [&dyn Fn(); 4] = [
            &|| fs::write(&target, "").unwrap(),
            &|| fs::write(&target, "wrong").unwrap(),
            &|| fs::set_permissions(&target, fs::Permissions::from_mode(0o777)).unwrap(),
            &|| {
                fs::remove_file(&target).unwrap();
                fs::write(&victim, "right").unwrap();
                symlink(&victim, &target).unwrap();
            },
        ];
        install();
        for spoil in spoil {
            spoil();
            install();
            assert!(holds(&target, b"right", 0o755));
        }

        assert_eq!(fs::read(&victim).unwrap(), b"right");
    }

    #[test]
    fn a_lock_is_no_way_to_another_file() {
        let cache = tempfile::tempdir().unwrap();
        let victim = cache.path().join("victim");
        fs::write(&victim, "kept").unwrap();
        symlink(&victim, cache.path().join(LOCK)).unwrap();
        gate(cache.path()).map(drop).unwrap_err();
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
    }

    #[test]
    fn a_directory_that_others_may_write_is_not_used() {
        let cache = tempfile::tempdir().unwrap();
        let open = cache.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let why = gate(&open.join("unixmark")).map(drop).unwrap_err().to_string();
        assert!(why.contains("may be written by every user"), "{why}");
    }
}
