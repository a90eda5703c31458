//! Commands that are installed.

use std::path::PathBuf;

use rustix::fs::{Access, access};

/// The absolute path of a command on the PATH, or among the administrators' commands, which
/// are not on everybody's.
pub fn find_command(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| access(path, Access::EXEC_OK).is_ok())
}
