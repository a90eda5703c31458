//! Steps that undo one change each, as a ledger keeps them. Each may be taken twice: a run may be
//! killed after a step and before it has noted that. [`super::host`] takes them, [`super::proof`]
//! looks whether they worked.

use std::path::PathBuf;

use processes::Group;
use serde::{Deserialize, Serialize};

use super::path_text;
use crate::own::Own;

/// The undo of one change. It may be done twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Write a text to a file.
    Write {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// The text that it held.
        text: String,
    },
    /// Run a command by /bin/sh, and another that proves what the first did.
    Shell {
        /// The condition it belongs to.
        name: String,
        command: String,
        /// Seconds after which each is killed.
        limit: u64,
        /// The command that succeeds once nothing is left; empty without one.
        #[serde(default)]
        absent: String,
        /// The name and the directory that are the row's alone.
        #[serde(default)]
        own: Own,
    },
    /// End a command that was changing something.
    EndGroup {
        /// The condition or program it belongs to.
        name: String,
        /// Its processes.
        group: Group,
    },
    /// Unmount a file system.
    Unmount {
        /// The mount point.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Remove an empty directory (a control group, an instance of tracing).
    RemoveDirectory {
        /// The directory.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Move the processes of a control group, and of those below it, to where they came from, and
    /// remove it.
    RemoveGroup {
        /// The group.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// The group that they came from; the one above if that is gone, or not known.
        #[serde(with = "path_text", default)]
        to: PathBuf,
    },
    /// Remove a file.
    RemoveFile {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Remove a run's scratch directory with all that is in it.
    RemoveScratch {
        /// The directory.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Set auditing as it was found, and delete the tool's own rules.
    Audit {
        /// The settings as they were found.
        found: crate::audit::Found,
    },
    /// End whatever runs a program with an argument that nothing else has.
    End {
        /// The program's file.
        #[serde(with = "path_text")]
        program: PathBuf,
        #[serde(with = "path_text")]
        argument: PathBuf,
    },
}

impl Undo {
    /// The name of the step in `restore --forget`: a condition's name, or a path.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Undo::Shell { name, .. } | Undo::EndGroup { name, .. } => name.clone(),
            Undo::Audit { .. } => "audit".to_owned(),
            Undo::Write { path, .. }
            | Undo::Unmount { path }
            | Undo::RemoveDirectory { path }
            | Undo::RemoveGroup { path, .. }
            | Undo::RemoveFile { path }
            | Undo::RemoveScratch { path }
            | Undo::End { program: path, .. } => path.display().to_string(),
        }
    }

    /// The step in words: a clause with a verb.
    #[must_use]
    pub fn description(&self) -> String {
        match self {
            Undo::Write { path, text } => {
                format!("set {} back to '{}'", path.display(), text.trim())
            }
            Undo::Shell { name, .. } => format!("leave {name}"),
            Undo::EndGroup { name, group } => {
                format!("end a command of {name} (process group {})", group.leader())
            }
            Undo::Unmount { path } => format!("unmount {}", path.display()),
            Undo::RemoveDirectory { path }
            | Undo::RemoveGroup { path, .. }
            | Undo::RemoveFile { path }
            | Undo::RemoveScratch { path } => {
                format!("remove {}", path.display())
            }
            Undo::Audit { .. } => "set auditing back to how it was".to_owned(),
            Undo::End { program, .. } => format!("end {}", program.display()),
        }
    }

    /// True if the change survives a reboot.
    pub(super) fn survives_a_reboot(&self) -> bool {
        match self {
            Undo::Write { path, .. } => !(path.starts_with("/proc") || path.starts_with("/sys")),
            Undo::Shell { .. } | Undo::RemoveFile { .. } | Undo::RemoveScratch { .. } => true,
            Undo::EndGroup { .. }
            | Undo::Unmount { .. }
            | Undo::RemoveDirectory { .. }
            | Undo::RemoveGroup { .. }
            | Undo::Audit { .. }
            | Undo::End { .. } => false,
        }
    }

    /// True if older changes must not be undone before this step has succeeded: what it
    /// ends could make them again.
    pub(super) fn blocks_older(&self) -> bool {
        matches!(self, Undo::EndGroup { .. })
    }

    /// True if the step undoes a change to the system, and not only removes the run's own
    /// files.
    #[must_use]
    pub fn is_change(&self) -> bool {
        !matches!(self, Undo::RemoveScratch { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_path_of_any_bytes_is_kept() {
        for bytes in [
            &b"/var/tmp/unixmark-1"[..],
            b"/var/tmp/\xff\xfe",
            b"hex:41",
            "/tmp/\u{e9}\n".as_bytes(),
        ] {
            let step = Undo::RemoveScratch { path: OsString::from_vec(bytes.to_vec()).into() };
            let json = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<Undo>(&json).unwrap(), step, "{json}");
        }
        serde_json::from_str::<Undo>(r#"{"remove_file":{"path":"hex:4x"}}"#).unwrap_err();
    }
}
