//! How each change is undone: on the disk before the change is made.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{command, lock};
use machine::{Machine, retry};

/// The ledger's file.
const FILE: &str = "undo.jsonl";

/// How one change is undone. It may be done twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Write a text to a file.
    Write {
        /// The file.
        path: PathBuf,
        /// What it held.
        text: String,
    },
    /// Run a command by /bin/sh.
    Shell {
        /// The condition it belongs to.
        name: String,
        /// The command.
        command: String,
    },
    /// Unmount a file system.
    Unmount {
        /// Where it is mounted.
        path: PathBuf,
    },
    /// Remove an empty directory (a control group, an instance of tracing).
    RemoveDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// Remove a file.
    RemoveFile {
        /// The file.
        path: PathBuf,
    },
    /// Set auditing as it was found, and delete the tool's own rules.
    Audit {
        /// As it was found.
        found: audit::Found,
    },
    /// End whatever runs a program with an argument that nothing else has.
    End {
        /// The program's file.
        program: PathBuf,
        /// The argument.
        argument: PathBuf,
    },
}

/// The first line: who made the changes.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The process that made them.
    pid: u32,
    /// The boot in which they were made: what the kernel holds ends with it.
    boot: String,
}

/// How to undo what is changed now.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: Option<File>,
}

/// Returns the directory of this user's ledger: it survives a power cut.
///
/// # Errors
/// There is no home, and no temporary directory for this user alone.
pub fn folder() -> Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/unixmark"));
    }
    files::directory(files::Kind::State).map_err(anyhow::Error::msg)
}

impl Ledger {
    /// Returns the empty ledger of a run.
    ///
    /// # Errors
    /// It cannot be written, or an earlier run's has not been put back.
    pub fn open() -> Result<Ledger> {
        let folder = folder()?;
        fs::create_dir_all(&folder).with_context(|| {
            format!(
                "{} cannot be created, and undos must be recorded there before anything is changed; set XDG_STATE_HOME",
                folder.display()
            )
        })?;
        let path = folder.join(FILE);
        if path.exists() {
            bail!("an earlier run was killed and left changes behind; `unixmark restore` undoes them");
        }
        Ok(Ledger { path, file: None })
    }

    /// Returns its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes to the disk how a change is undone, before the change is made.
    ///
    /// # Errors
    /// It could not be written, so the change must not be made.
    pub fn record(&mut self, step: &Undo) -> Result<(), String> {
        self.append(step).map_err(|error| {
            format!(
                "its undo cannot be recorded ({error:#}), so nothing was changed; make room in {}",
                self.path.display()
            )
        })
    }

    fn append(&mut self, step: &Undo) -> Result<()> {
        let mut text = String::new();
        if self.file.is_none() {
            self.file = Some(File::options().create_new(true).append(true).open(&self.path)?);
            text = serde_json::to_string(&Head { pid: std::process::id(), boot: Machine::here().boot() })? + "\n";
        }
        text += &serde_json::to_string(step)?;
        text.push('\n');
        if let Some(file) = &mut self.file {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
        }
        Ok(())
    }

    /// Undoes everything, newest first, and removes the file.
    ///
    /// # Errors
    /// A step failed: the file stays, with what is left to do.
    pub fn put_back(&mut self) -> Result<()> {
        self.file = None;
        restore(&self.path).map(drop)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // What fails here is found by the next start of the tool.
        let _ = self.put_back();
    }
}

/// What an earlier run left changed.
#[derive(Debug)]
pub struct Leftovers {
    /// The ledger's file.
    pub path: PathBuf,
    /// What is to be done, newest first.
    pub steps: Vec<String>,
}

/// Returns what an earlier run left changed; `None` if nothing is left or its run still goes on.
///
/// # Errors
/// There is a ledger that cannot be read.
pub fn leftovers() -> Result<Option<Leftovers>> {
    let path = folder()?.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let Ok(_free) = lock() else { return Ok(None) };
    let steps = read(&path).with_context(|| format!("{} cannot be read; try as root", path.display()))?.1;
    Ok(Some(Leftovers { path, steps: steps.iter().rev().map(Undo::description).collect() }))
}

/// Reads the head and the steps of a ledger. A last line that was cut short belongs to a change that was not made.
fn read(path: &Path) -> Result<(Option<Head>, Vec<Undo>)> {
    let text = fs::read_to_string(path)?;
    let mut lines = text.lines();
    let head = lines.next().and_then(|line| serde_json::from_str(line).ok());
    Ok((head, lines.filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

/// Undoes a ledger, newest step first, and removes it; returns how many steps there were, 0 if there is no ledger.
///
/// # Errors
/// A step failed. The others were carried out all the same, and the ledger keeps what failed.
pub fn restore(path: &Path) -> Result<usize> {
    let (head, steps) = match read(path) {
        Ok(found) => found,
        Err(_) if !path.exists() => return Ok(0),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    let same_boot = head.as_ref().is_none_or(|head| head.boot == Machine::here().boot());
    let mut failed = Vec::new();
    for step in steps.iter().rev().filter(|step| same_boot || step.survives_a_reboot()) {
        if let Err(why) = step.carry_out() {
            failed.push((step, why));
        }
    }
    if failed.is_empty() {
        fs::remove_file(path).with_context(|| format!("{} cannot be removed", path.display()))?;
        return Ok(steps.len());
    }
    let mut text = head.map(|head| serde_json::to_string(&head)).transpose()?.unwrap_or_default() + "\n";
    for (step, _) in failed.iter().rev() {
        text += &(serde_json::to_string(step)? + "\n");
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    let reasons: Vec<String> = failed.iter().map(|(step, why)| format!("{}: {why}", step.description())).collect();
    bail!("not everything could be undone: {}; fix that, then run `unixmark restore`", reasons.join("; "))
}

impl Undo {
    /// Returns what it does, in words.
    fn description(&self) -> String {
        match self {
            Undo::Write { path, text } => format!("set {} back to '{}'", path.display(), text.trim()),
            Undo::Shell { name, .. } => format!("leave {name}"),
            Undo::Unmount { path } => format!("unmount {}", path.display()),
            Undo::RemoveDirectory { path } | Undo::RemoveFile { path } => format!("remove {}", path.display()),
            Undo::Audit { .. } => "set auditing back to how it was".to_owned(),
            Undo::End { program, .. } => format!("end {}", program.display()),
        }
    }

    /// Whether the change survives a reboot.
    fn survives_a_reboot(&self) -> bool {
        match self {
            Undo::Write { path, .. } => !(path.starts_with("/proc") || path.starts_with("/sys")),
            Undo::Shell { .. } | Undo::RemoveFile { .. } => true,
            Undo::Unmount { .. } | Undo::RemoveDirectory { .. } | Undo::Audit { .. } | Undo::End { .. } => false,
        }
    }

    fn carry_out(&self) -> Result<(), String> {
        let why = |error: std::io::Error| error.to_string();
        let unless_gone = |result: std::io::Result<()>| match result {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(why),
        };
        match self {
            Undo::Write { path, text } => fs::write(path, text).map_err(why),
            Undo::Shell { command, .. } => command::shell(command, Path::new("/")).map(drop),
            Undo::Unmount { path } => match rustix::mount::unmount(path, rustix::mount::UnmountFlags::DETACH) {
                // It was not mounted yet, or no longer is.
                Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => Ok(()),
                other => other.map_err(|error| error.to_string()),
            },
            Undo::RemoveDirectory { path } => unless_gone(remove_directory(path)),
            Undo::RemoveFile { path } => unless_gone(fs::remove_file(path)),
            Undo::Audit { found } => audit::restore(found),
            Undo::End { program, argument } => command::end(program, argument),
        }
    }
}

/// The last processes of a control group may still be dying.
fn remove_directory(path: &Path) -> std::io::Result<()> {
    let attempt = || match fs::remove_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => Err(error),
        other => Ok(other),
    };
    retry(attempt).unwrap_or_else(Err)
}
