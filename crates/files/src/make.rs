//! Files and directories that others cannot write, whatever the umask: a container's job often has
//! the umask 0, and then whoever else is on the machine could replace files that root has made and
//! is going to read or execute.
//!
//! Everything that the tool makes is made here, which `tests/architecture.rs` checks. A stricter
//! umask is respected.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Permissions of the owner alone.
#[cfg(unix)]
const PRIVATE_MODE: u32 = 0o700;

/// Permissions of files that others may read: a user's group may write them, too, where the umask
/// lets it, as [`crate::check_trusted`] has it.
#[cfg(unix)]
fn readable_mode() -> u32 {
    if rustix::process::geteuid().is_root() { 0o755 } else { 0o775 }
}

/// Options to open a file, which others cannot write if it is made by them.
pub fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(readable_mode() & 0o666);
    }
    options
}

/// Options to open a program, which others may execute and cannot write.
#[cfg(unix)]
pub(crate) fn program_options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.mode(readable_mode());
    options
}

/// Options that follow no link and wait for no named pipe: where others may write in a directory, a
/// link leads anywhere.
#[cfg(unix)]
pub fn unfollowed() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = options();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

/// Writes a file, which is made or emptied first.
///
/// # Errors
/// It cannot be written.
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    options().write(true).create(true).truncate(true).open(path)?.write_all(bytes.as_ref())
}

/// Writes a file that is there, such as a setting of the kernel's; none is made.
///
/// # Errors
/// There is none, or it cannot be written.
pub fn overwrite(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    options().write(true).truncate(true).open(path)?.write_all(bytes.as_ref())
}

/// Makes a directory.
///
/// # Errors
/// It cannot be made, or is there.
pub fn make_directory(path: impl AsRef<Path>) -> io::Result<()> {
    directory_builder().create(path)
}

/// Makes a directory and those above it that are missing.
///
/// # Errors
/// It cannot be made, or a stranger's link leads to it.
pub fn make_directories(path: impl AsRef<Path>) -> io::Result<()> {
    #[cfg(unix)]
    super::strangers::check_links(path.as_ref())?;
    directory_builder().recursive(true).create(path)
}

/// Makes a directory that only its owner can enter.
///
/// # Errors
/// It cannot be made, or is there.
pub fn make_private_directory(path: impl AsRef<Path>) -> io::Result<()> {
    private_builder().create(path)
}

/// Makes a directory and those above it that are missing, which only their owner can enter. One
/// that is there stays as it is.
///
/// # Errors
/// It cannot be made.
pub fn make_private_directories(path: impl AsRef<Path>) -> io::Result<()> {
    private_builder().recursive(true).create(path)
}

fn directory_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(readable_mode());
    }
    builder
}

fn private_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(PRIVATE_MODE);
    }
    builder
}

/// Removes a directory with everything in it, directories that nobody may write included, as Go's
/// module cache has them. Links are not followed.
///
/// # Errors
/// Something in it cannot be removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_removable(path);
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

/// Lets the owner write in a directory and in those below it. A failure shows when the directory is
/// removed.
#[cfg(unix)]
fn make_removable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut pending = vec![path.to_path_buf()];
    while let Some(folder) = pending.pop() {
        if !fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
            continue;
        }

        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(PRIVATE_MODE));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        pending.extend(entries.map(|entry| entry.path()));
    }
}

#[cfg(not(unix))]
fn make_removable(_: &Path) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// The umask belongs to the process, in which other tests may run at the same time, so this
    /// test executes itself once more under a shell that sets it.
    #[test]
    fn others_cannot_write_what_is_made_under_any_umask() {
        if std::env::var_os("UNIXMARK_TEST_MAKES").is_some() {
            return make_one_of_each(Path::new("."));
        }

        for umask in ["000", "002", "022", "077"] {
            let folder = tempfile::tempdir().unwrap();
            let test = "make::tests::others_cannot_write_what_is_made_under_any_umask";
            let made = std::process::Command::new("sh")
                .args(["-c", &format!("umask {umask}; exec \"$0\" --exact {test}")])
                .arg(std::env::current_exe().unwrap())
                .current_dir(folder.path())
                .env("UNIXMARK_TEST_MAKES", "1")
                .output()
                .unwrap();
            assert!(made.status.success(), "{made:?}");

            let names =
                ["public", "public/of", "file", "appended", "whole", "private", "private/of"];
            for name in names {
                let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
                assert_eq!(mode & 0o002, 0, "umask {umask}: {name} is {mode:o}");
                if name.starts_with("private") {
                    assert_eq!(mode & 0o077, 0, "umask {umask}: {name} is {mode:o}");
                }
            }
        }
    }

    fn make_one_of_each(folder: &Path) {
        make_directory(folder.join("public")).unwrap();
        make_directories(folder.join("public/of/others")).unwrap();
        make_private_directory(folder.join("private")).unwrap();
        make_private_directories(folder.join("private/of/ones")).unwrap();
        write(folder.join("file"), "text").unwrap();
        options().append(true).create_new(true).open(folder.join("appended")).unwrap();
        crate::write_whole(&folder.join("whole"), b"text").unwrap();
    }

    #[test]
    fn a_setting_is_written_and_never_made() {
        let folder = tempfile::tempdir().unwrap();
        let setting = folder.path().join("setting");
        assert_eq!(overwrite(&setting, "1").unwrap_err().kind(), io::ErrorKind::NotFound);
        write(&setting, "long").unwrap();
        overwrite(&setting, "1").unwrap();
        assert_eq!(fs::read(&setting).unwrap(), b"1");
    }

    #[test]
    fn n17_directories_that_nobody_may_write_are_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, tree) = (folder.path().join("kept"), folder.path().join("tree"));
        make_directories(tree.join("a/b")).unwrap();
        make_directories(&kept).unwrap();
        write(tree.join("a/b/file"), "text").unwrap();
        symlink(&kept, tree.join("a/link")).unwrap();
        for name in ["a/b", "a"] {
            fs::set_permissions(tree.join(name), fs::Permissions::from_mode(0o500)).unwrap();
        }

        fs::set_permissions(&kept, fs::Permissions::from_mode(0o500)).unwrap();

        remove_tree(&tree).unwrap();

        assert!(!tree.exists());
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o500);
    }
}
