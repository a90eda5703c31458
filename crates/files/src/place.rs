//! The places of a user's files by their kind.

use std::fs;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

/// Kinds of files, each with a place of its own by the XDG Base Directory Specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Results.
    Data,
    /// Files that can be made again.
    Cache,
    /// Files that must outlive a run.
    State,
}

impl Kind {
    /// The variable that names its place, and the place in a home.
    fn variable_and_folder(self) -> (&'static str, &'static str) {
        match self {
            Kind::Data => ("XDG_DATA_HOME", ".local/share"),
            Kind::Cache => ("XDG_CACHE_HOME", ".cache"),
            Kind::State => ("XDG_STATE_HOME", ".local/state"),
        }
    }
}

/// The directory for `unixmark`'s files of a kind: in the place that the variable names, or
/// in the home; without a home below a directory in `TMPDIR` that only this user can enter.
///
/// # Errors
/// A sentence: there is no home, and no such directory can be made.
pub fn directory(kind: Kind) -> Result<PathBuf, String> {
    let (variable, below_home) = kind.variable_and_folder();
    let base = absolute_variable(variable).or_else(|| home().map(|home| home.join(below_home)));
    if let Some(base) = base {
        return Ok(base.join("unixmark"));
    }

    let own_folder = own_temporary()
        .map_err(|why| format!("there is no home directory, and {why}; set HOME or TMPDIR"))?;
    // `share` of `.local/share`, and `cache` of `.cache`.
    let name = below_home.rsplit('/').next().unwrap_or_default().trim_start_matches('.');
    Ok(own_folder.join(name).join("unixmark"))
}

/// True if files of a kind are kept in a temporary directory, for want of a home.
pub fn is_temporary(kind: Kind) -> bool {
    absolute_variable(kind.variable_and_folder().0).is_none() && home().is_none()
}

/// The path in a variable of the environment, if it is absolute.
fn absolute_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The home, if it exists.
fn home() -> Option<PathBuf> {
    absolute_variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
        .filter(|home| home.is_dir())
}

/// A directory of this user's among temporary files: in `TMPDIR`, or in /tmp where others could
/// replace the files there.
///
/// # Errors
/// A sentence: it cannot be made, or others could have made it.
pub fn temporary() -> Result<PathBuf, String> {
    own_temporary().map_err(|why| format!("{why}; set TMPDIR"))
}

/// True if no program can be executed at a path, or from a directory that will be made
/// there: its file system is mounted with noexec.
#[cfg(target_os = "linux")]
pub fn is_noexec(path: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    statvfs(there).is_ok_and(|mount| mount.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

#[cfg(not(unix))]
fn own_temporary() -> Result<PathBuf, String> {
    let path = std::env::temp_dir().join("unixmark");
    crate::make_directories(&path)
        .map_err(|error| format!("{} cannot be made ({error})", path.display()))?;
    Ok(path)
}

#[cfg(unix)]
fn own_temporary() -> Result<PathBuf, String> {
    let user = rustix::process::geteuid().as_raw();
    let base = absolute_variable("TMPDIR").filter(|base| super::check_trusted(base).is_ok());
    if let Some(base) = base {
        return private_folder(&base, user);
    }
    // A container with a read-only root has shared memory all the same.
    private_folder(Path::new("/tmp"), user)
        .or_else(|why| private_folder(Path::new("/dev/shm"), user).map_err(|_| why))
}

/// Makes the directory that only `user` can enter; one that others could have made is refused.
#[cfg(unix)]
fn private_folder(base: &Path, user: u32) -> Result<PathBuf, String> {
    use std::os::unix::fs::MetadataExt;
    let path = base.join(format!("unixmark-{user}"));
    // If it cannot be made, it is there already or is missing below.
    let made = crate::make_private_directory(&path);
    let metadata = fs::symlink_metadata(&path).map_err(|error| {
        let error = made.err().unwrap_or(error);
        format!("{} cannot be made ({error})", path.display())
    })?;
    if !metadata.is_dir() || metadata.uid() != user || metadata.mode() & 0o077 != 0 {
        return Err(format!(
            "{} is not a directory that this user alone can enter",
            path.display()
        ));
    }
    // On a read-only file system it may be there from another time.
    let rights = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(&path, rights)
        .map_err(|error| format!("{} cannot be written ({error})", path.display()))?;
    Ok(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_others_can_enter_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let user = rustix::process::geteuid().as_raw();
        let path = private_folder(base.path(), user).unwrap();
        assert_eq!(private_folder(base.path(), user).unwrap(), path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(private_folder(base.path(), user).unwrap_err().contains("alone can enter"));
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/tmp", &path).unwrap();
        assert!(private_folder(base.path(), user).unwrap_err().contains("alone can enter"));
        assert!(
            private_folder(&base.path().join("none"), user).unwrap_err().contains("cannot be made")
        );
    }
}
