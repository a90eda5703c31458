//! Links and files that another user has left in a directory like /tmp, where this user meant one
//! of their own. As with the kernel's fs.protected_symlinks, what is there must belong to this user
//! or to the directory's owner; unlike it, this holds even if the kernel's setting is off, and for
//! files that are there already.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As many links as Linux follows.
pub(crate) const MAX_LINKS: usize = 40;

/// Mode bits, sticky and world-writable, of a directory where all may make files and remove their
/// own.
const SHARED_DIRECTORY_MODE: u32 = 0o1002;

/// Checks the links that lead to a directory. What is missing is no error here.
///
/// # Errors
/// One of them is a stranger's, or they lead in a circle.
pub(crate) fn check_links(folder: &Path) -> io::Result<()> {
    check_links_below(folder, MAX_LINKS)
}

/// The real path of a directory. A relative path stays as it is if it leads there and no path from
/// `/` does: a directory above may be closed to this user, or the path too long.
pub(crate) fn real_folder(folder: &Path) -> io::Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = fs::canonicalize(folder);
    let is_usable = real.as_ref().is_ok_and(|real| real.is_dir());
    if is_usable || folder.is_absolute() {
        return real;
    }
    fs::metadata(folder).map(|_| folder.to_path_buf())
}

/// [`check_links`], where `links_left` is the number of links that a chain of them may still have.
fn check_links_below(folder: &Path, links_left: usize) -> io::Result<()> {
    for path in folder.ancestors() {
        let Ok(metadata) = fs::symlink_metadata(path) else { continue };
        // Only the kernel makes links in /proc, and some, such as `pipe:[123]`, lead to no path.
        if !metadata.is_symlink() || path.starts_with("/proc") {
            continue;
        }
        let links_left = links_left.checked_sub(1).ok_or_else(too_many_links)?;
        let parent = real_folder(path.parent().unwrap_or(Path::new("/")))?;
        check_author(&parent, path, &metadata)?;
        check_links_below(&parent.join(fs::read_link(path)?), links_left)?;
    }
    Ok(())
}

pub(crate) fn too_many_links() -> io::Error {
    io::Error::other("it leads through too many links")
}

/// Checks that a link, a file or a pipe in `folder`, if everybody may write there, is not a
/// stranger's.
///
/// # Errors
/// It is a stranger's.
pub(crate) fn check_author(folder: &Path, path: &Path, metadata: &Metadata) -> io::Result<()> {
    let directory = fs::metadata(folder)?;
    let is_shared = directory.mode() & SHARED_DIRECTORY_MODE == SHARED_DIRECTORY_MODE;
    let author = metadata.uid();
    if !is_shared || author == rustix::process::geteuid().as_raw() || author == directory.uid() {
        return Ok(());
    }
    let (path, folder) = (path.display(), folder.display());
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{path} is another user's, and everybody may write in {folder}"),
    ))
}
