//! Steps that undo one change each.

use std::path::PathBuf;

use processes::Group;
use serde::{Deserialize, Serialize};

/// The undo of one change. It may be done twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Write a text to a file.
    Write {
        /// The file.
        #[serde(with = "text")]
        path: PathBuf,
        /// The text that it held.
        text: String,
    },
    /// Run a command by /bin/sh.
    Shell {
        /// The condition it belongs to.
        name: String,
        /// The command.
        command: String,
        /// Seconds after which it is killed.
        limit: u64,
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
        #[serde(with = "text")]
        path: PathBuf,
    },
    /// Remove an empty directory (a control group, an instance of tracing).
    RemoveDirectory {
        /// The directory.
        #[serde(with = "text")]
        path: PathBuf,
    },
    /// Move the processes of a control group to the one above it, and remove it.
    RemoveGroup {
        /// The group.
        #[serde(with = "text")]
        path: PathBuf,
    },
    /// Remove a file.
    RemoveFile {
        /// The file.
        #[serde(with = "text")]
        path: PathBuf,
    },
    /// Remove a run's scratch directory with all that is in it.
    RemoveScratch {
        /// The directory.
        #[serde(with = "text")]
        path: PathBuf,
    },
    /// Set auditing as it was found, and delete the tool's own rules.
    Audit {
        /// As it was found.
        found: crate::audit::Found,
    },
    /// End whatever runs a program with an argument that nothing else has.
    End {
        /// The program's file.
        #[serde(with = "text")]
        program: PathBuf,
        /// The argument.
        #[serde(with = "text")]
        argument: PathBuf,
    },
}

impl Undo {
    /// Returns the name by which users speak of the step: that of a condition, or a path.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Undo::Shell { name, .. } | Undo::EndGroup { name, .. } => name.clone(),
            Undo::Audit { .. } => "audit".to_owned(),
            Undo::Write { path, .. }
            | Undo::Unmount { path }
            | Undo::RemoveDirectory { path }
            | Undo::RemoveGroup { path }
            | Undo::RemoveFile { path }
            | Undo::RemoveScratch { path }
            | Undo::End { program: path, .. } => path.display().to_string(),
        }
    }

    /// Returns what it does, in words.
    #[must_use]
    pub fn description(&self) -> String {
        match self {
            Undo::Write { path, text } => format!("set {} back to '{}'", path.display(), text.trim()),
            Undo::Shell { name, .. } => format!("leave {name}"),
            Undo::EndGroup { name, group } => {
                format!("end a command of {name} (process group {})", group.leader())
            }
            Undo::Unmount { path } => format!("unmount {}", path.display()),
            Undo::RemoveDirectory { path }
            | Undo::RemoveGroup { path }
            | Undo::RemoveFile { path }
            | Undo::RemoveScratch { path } => {
                format!("remove {}", path.display())
            }
            Undo::Audit { .. } => "set auditing back to how it was".to_owned(),
            Undo::End { program, .. } => format!("end {}", program.display()),
        }
    }

    /// Returns true if the change survives a reboot.
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

    /// Returns true if older changes must not be undone before this step has succeeded: what it ends could make them
    /// again.
    pub(super) fn blocks_older(&self) -> bool {
        matches!(self, Undo::EndGroup { .. })
    }

    /// Returns true if the step undoes a change to the system, and not only removes the run's own files.
    #[must_use]
    pub fn is_change(&self) -> bool {
        !matches!(self, Undo::RemoveScratch { .. })
    }
}

/// Paths as texts: those that are no UTF-8, or look like one of these, as `hex:` and their bytes.
mod text {
    use std::ffi::OsString;
    use std::fmt::Write as _;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    const HEX: &str = "hex:";

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = path.to_str().filter(|text| !text.starts_with(HEX)) {
            return serializer.serialize_str(text);
        }
        let text = path.as_os_str().as_bytes().iter().fold(HEX.to_owned(), |mut text, byte| {
            // Writing to a String does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(digits) = text.strip_prefix(HEX) else { return Ok(PathBuf::from(text)) };
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        bytes.map(|bytes| OsString::from_vec(bytes).into()).ok_or_else(|| D::Error::custom("a path is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_path_of_any_bytes_is_kept() {
        for bytes in [&b"/var/tmp/unixmark-1"[..], b"/var/tmp/\xff\xfe", b"hex:41", "/tmp/\u{e9}\n".as_bytes()] {
            let step = Undo::RemoveScratch { path: OsString::from_vec(bytes.to_vec()).into() };
            let json = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<Undo>(&json).unwrap(), step, "{json}");
        }
        serde_json::from_str::<Undo>(r#"{"remove_file":{"path":"hex:4x"}}"#).unwrap_err();
    }
}
