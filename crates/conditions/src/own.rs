//! What a row's scripts call their own, by two variables: `UNIXMARK_ID` is a name that nobody else
//! has, for a container or a directory; `UNIXMARK_NOTES` is a directory of the row's own for files,
//! and for notes on what it is about to use.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ledger::{SCRATCH, moment, path_text};

/// Shell functions that commands may call, and a word of each command that calls one.
const FUNCTIONS: [(&str, &str); 3] = [
    ("_agent ", include_str!("agents.sh")),
    ("_container", include_str!("containers.sh")),
    ("swap", include_str!("swaps.sh")),
];

/// The name and the directory that a row's scripts call their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// A name that nobody else has: `unixmark-`, the process and the moment.
    pub id: String,
    /// A directory that lasts as long as the scratch directory, in which it is.
    #[serde(with = "path_text")]
    notes: PathBuf,
}

impl Own {
    /// Makes the directory, for this user alone whatever the umask.
    pub(super) fn make(scratch: &Path) -> Result<Own, String> {
        let id = format!("{SCRATCH}{}-{:x}", std::process::id(), moment());
        let notes = scratch.join(format!("own-{id}"));
        let why = |error| format!("{} cannot be made ({error})", notes.display());
        files::make_private_directory(&notes).map_err(why)?;

        // The path by which the kernel calls the files in it.
        let notes = fs::canonicalize(&notes).map_err(why)?;
        Ok(Own { id, notes })
    }

    /// A row's script, after what it may call and know. Messages name it by its first line.
    pub(super) fn script(&self, command: &str) -> String {
        let functions: String = FUNCTIONS
            .iter()
            .filter(|(word, _)| command.contains(word))
            .map(|(_, functions)| *functions)
            .collect();
        if functions.is_empty() && !command.contains("UNIXMARK_") {
            return command.to_owned();
        }

        let title = command.trim().lines().next().unwrap_or_default().trim_start_matches("# ");
        let notes = quote_with_dot(&self.notes);
        format!(
            "# {title}\nUNIXMARK_ID={}\nUNIXMARK_NOTES={notes}\nUNIXMARK_NOTES=${{UNIXMARK_NOTES%.}}\n\
             {functions}\n{command}",
            self.id
        )
    }
}

/// A path of any bytes as a word for a shell, with a dot after it, since a shell takes newlines off
/// the end of what a command prints.
fn quote_with_dot(path: &Path) -> String {
    let mut octal = String::new();
    for byte in path.as_os_str().as_bytes() {
        // Writing to a String does not fail.
        let _ = write!(octal, "\\{byte:03o}");
    }

    format!("$(printf '{octal}.')")
}
