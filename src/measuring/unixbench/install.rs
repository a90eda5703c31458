//! `unixmark unixbench --install DIR`: a directory like UnixBench's, for scripts that call `Run` or
//! the programs in `pgms/`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{RUN, programs};
use crate::status::Status;
use crate::terminal::say;

/// The folder of the programs.
const PROGRAMS: &str = "pgms";

/// The shell tests' scripts and what they sort: files of their own, as a script runs faster than
/// the tool starts.
const FILES: [&str; 3] = ["multi.sh", "tst.sh", "sort.txt"];

/// Makes the directory, or brings what it has up to date.
///
/// # Errors
/// Something cannot be written, or a file is in the way that is not a link.
pub(super) fn install(folder: &Path) -> Result<Status> {
    let tool = std::env::current_exe()
        .context("the tool does not know its own path; start it by its full path")?;
    let pgms = folder.join(PROGRAMS);
    ::files::make_directories(&pgms)
        .with_context(|| format!("{} cannot be made; try another directory", pgms.display()))?;

    make_link(&tool, &folder.join(RUN))?;
    for name in programs::TESTS {
        make_link(&tool, &pgms.join(name))?;
    }

    for name in FILES {
        // All of them are in the tool.
        let bytes = build::file(&format!("shell/{name}")).unwrap_or_default();
        let path = pgms.join(name);
        let mode = if name.ends_with(".sh") { 0o755 } else { 0o644 };
        ::files::write_atomically(&path, bytes)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)))
            .with_context(|| {
                format!("{} cannot be written; make room, or try another directory", path.display())
            })?;
    }

    say(&format!(
        "unixmark: {} has Run and {PROGRAMS}/; the programs are links to {}",
        folder.display(),
        tool.display()
    ));
    Ok(Status::Fine)
}

/// Links a name to the tool; a link that is there is replaced.
fn make_link(tool: &Path, name: &Path) -> Result<()> {
    let old = fs::symlink_metadata(name);
    if old.as_ref().is_ok_and(|old| !old.is_symlink()) {
        bail!(
            "{} is there and not a link: is this UnixBench's own directory? Try another",
            name.display()
        );
    }

    let removed = if old.is_ok() { fs::remove_file(name) } else { Ok(()) };
    removed
        .and_then(|()| symlink(tool, name))
        .with_context(|| format!("{} cannot be made; try another directory", name.display()))
}
