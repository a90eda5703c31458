//! Checks that nobody but this user and root can put anything in the place of a path.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// Checks that nobody but this user and root can put anything in the place of `path`, or of a
/// directory above it, as OpenSSH does with the files that it obeys. The check ends where nothing
/// exists yet.
///
/// Each component, and each link that is followed, must belong to the user or to root, or to
/// whoever owns `/`: in a user namespace that may be neither, and it decides about everything
/// anyway. None may be writable by others, except a directory with the sticky bit, in which others
/// cannot touch files that are not theirs. Its group may write the user's own: many systems give
/// each user a group and a umask of 002, and users know whom they let in beyond that. Root trusts
/// no group, nor does a user the group of a directory of root's.
///
/// # Errors
/// A sentence that says which component is whose, or who may write it.
pub fn check_trusted(path: &Path) -> Result<(), String> {
    check_components(path, rustix::process::geteuid().as_raw())
}

/// The name of the user to whom a file or directory belongs, if that is another than this one.
pub fn other_owner(path: &Path) -> Option<String> {
    let owner = fs::metadata(path).ok()?.uid();
    (owner != rustix::process::geteuid().as_raw()).then(|| user_name(owner))
}

fn check_components(path: &Path, user: u32) -> Result<(), String> {
    let path = std::path::absolute(path)
        .map_err(|error| format!("{} is no path ({error})", path.display()))?;
    let root_owner = fs::symlink_metadata("/").map_or(0, |root| root.uid());
    let mut ahead = components_reversed(&path);
    let mut walked = PathBuf::new();
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        if part == ".." {
            // `walked` has no links, so this is the directory above.
            walked.pop();
            continue;
        }

        let component = walked.join(part);
        let metadata = match fs::symlink_metadata(&component) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(());
            }
            metadata => metadata.map_err(|error| inspection_error(&component, &error))?,
        };
        check_component(&component, &metadata, user, root_owner)?;
        if !metadata.is_symlink() {
            walked = component;
            continue;
        }

        links += 1;
        if links > MAX_LINKS {
            return Err(format!("{} leads through too many links", path.display()));
        }

        let target =
            fs::read_link(&component).map_err(|error| inspection_error(&component, &error))?;
        ahead.extend(components_reversed(&target));
    }

    Ok(())
}

fn inspection_error(component: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be looked at ({error})", component.display())
}

/// The components of a path, the last one first.
fn components_reversed(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Checks one component of a path by the rules of [`check_trusted`]; `root_owner` owns `/`.
fn check_component(
    component: &Path,
    metadata: &Metadata,
    user: u32,
    root_owner: u32,
) -> Result<(), String> {
    let owner = metadata.uid();
    let name = component.display();
    if ![user, 0, root_owner].contains(&owner) {
        return Err(format!("{name} belongs to {}", user_name(owner)));
    }

    // The mode of a link means nothing.
    let is_sticky = metadata.is_dir() && metadata.mode() & 0o1000 != 0;
    if metadata.is_symlink() || is_sticky {
        return Ok(());
    }

    if metadata.mode() & 0o002 != 0 {
        return Err(format!(
            "{name}, which belongs to {}, may be written by every user",
            user_name(owner)
        ));
    }

    let is_own = user != 0 && owner == user;
    if metadata.mode() & 0o020 != 0 && !is_own {
        return Err(format!(
            "{name}, which belongs to {}, may be written by its group",
            user_name(owner)
        ));
    }
    Ok(())
}

/// The name of a user in /etc/passwd, or the number of one that is not there.
fn user_name(user: u32) -> String {
    let number = user.to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut entries = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let entry = entries.find(|entry| entry.get(2) == Some(&number.as_str()));
    entry.map_or(format!("user {number}"), |entry| entry[0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    /// A stranger to the user as whom paths are checked: whoever runs the tests, or nobody if that
    /// is root.
    struct Stranger {
        folder: tempfile::TempDir,
        user: u32,
    }

    impl Stranger {
        fn new() -> Stranger {
            let folder = tempfile::tempdir().unwrap();
            let me = rustix::process::geteuid().as_raw();
            Stranger { folder, user: if me == 0 { 0 } else { me + 1 } }
        }

        /// Makes a directory of the stranger's.
        fn directory(&self, name: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs::create_dir(&path).unwrap();
            if self.user == 0 {
                chown(&path, Some(65534), Some(65534)).unwrap();
            }
            path
        }
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn a_directory_of_another_is_named_with_its_owner() {
        let stranger = Stranger::new();
        let path = stranger.directory("theirs");
        // The temporary directory itself is the first that is not root's where the tests are not.
        let refused = check_components(&path.join("none/file"), stranger.user).unwrap_err();
        assert!(refused.contains("belongs to") && refused.starts_with("/"), "{refused}");
        if stranger.user == 0 {
            assert!(refused.contains("theirs belongs to nobody"), "{refused}");
        }
    }

    #[test]
    fn what_is_ones_own_or_does_not_exist_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        check_components(folder.path(), me()).unwrap();
        check_components(&folder.path().join("none/yet"), me()).unwrap();
        check_components(Path::new("/"), me()).unwrap();
    }

    #[test]
    fn what_others_may_write_is_refused_unless_it_is_sticky() {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o707);
        let refused = check_components(&folder.path().join("file"), me()).unwrap_err();
        assert!(refused.contains("may be written by every user"), "{refused}");
        set_mode(folder.path(), 0o1777);
        check_components(&folder.path().join("file"), me()).unwrap();
    }

    #[test]
    fn a_group_may_write_what_is_the_users_own_but_not_what_is_roots() {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o770);
        let found = fs::symlink_metadata(folder.path()).unwrap();
        let (path, owner) = (folder.path(), found.uid());
        let checked = check_component(path, &found, owner, 0);
        assert_eq!(checked.is_ok(), owner != 0, "{checked:?}");
        // As another user sees a directory of root's, or of the owner of `/`.
        assert!(
            check_component(path, &found, owner + 1, owner)
                .unwrap_err()
                .contains("may be written by its group")
        );
    }

    #[test]
    fn a_link_is_followed_if_it_and_what_it_leads_to_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let (open, link) = (folder.path().join("open"), folder.path().join("link"));
        fs::create_dir(&open).unwrap();
        symlink("./none/.././open", &link).unwrap();
        check_components(&link, me()).unwrap();
        set_mode(&open, 0o777);
        fs::remove_file(&link).unwrap();
        symlink(
            "../".to_owned() + folder.path().file_name().unwrap().to_str().unwrap() + "/open",
            &link,
        )
        .unwrap();
        let refused = check_components(&link.join("file"), me()).unwrap_err();
        assert!(refused.contains("/open, which"), "{refused}");
        let turn = folder.path().join("turn");
        symlink(&turn, &turn).unwrap();
        assert!(check_components(&turn, me()).unwrap_err().contains("too many links"));
    }

    #[test]
    fn a_link_of_another_is_refused_whatever_it_leads_to() {
        if me() != 0 {
            return;
        }

        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/", &link).unwrap();
        check_components(&link, 0).unwrap();
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        assert!(check_components(&link, 0).unwrap_err().contains("belongs to nobody"));
    }
}
