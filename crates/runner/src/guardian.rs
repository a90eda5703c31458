//! The guardian: a process that only waits on a pipe. When the tool ends, for whatever reason, the guardian
//! kills the programs that are left, undoes what conditions changed, and removes the scratch directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group, setsid};

/// The name under which this executable is a guardian.
pub const NAME: &str = "unixmark-guardian";

/// How the names of scratch directories begin.
const PREFIX: &str = "unixmark-";

/// Gives a terminal back: the cursor, and what was on it before.
const SCREEN_BACK: &str = "\x1b[?25h\x1b[?1049l";

/// The tool's end of the pipe.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Guardian {
    /// Starts the guardian over `scratch`.
    ///
    /// # Errors
    /// It cannot be spawned.
    pub fn start(scratch: &Path) -> Result<Guardian> {
        // /proc/self/exe is this very binary even after the file was replaced.
        let mut child = Command::new("/proc/self/exe")
            .arg0(NAME)
            .arg(scratch)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the guardian process cannot be started")?;
        let pipe = child.stdin.take();
        Ok(Guardian { child, pipe })
    }

    /// Registers a process group that must not outlive the tool.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn watch(&mut self, group: Pid) -> Result<()> {
        self.send(&format!("+{}\n", group.as_raw_nonzero()))
    }

    /// Registers a terminal that the tool draws on as a whole.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn watch_screen(&mut self, terminal: &Path) -> Result<()> {
        self.send(&format!("t{}\n", terminal.display()))
    }

    /// Registers a ledger to undo when the tool is gone.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn watch_ledger(&mut self, path: &Path) -> Result<()> {
        self.send(&format!("l{}\n", path.display()))
    }

    /// Removes a process group that has ended.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn forget(&mut self, group: Pid) -> Result<()> {
        self.send(&format!("-{}\n", group.as_raw_nonzero()))
    }

    fn send(&mut self, line: &str) -> Result<()> {
        let pipe = self.pipe.as_mut().context("the guardian is already dismissed")?;
        pipe.write_all(line.as_bytes()).context("the guardian process is gone; start the run again")
    }
}

impl Drop for Guardian {
    /// Closes the pipe: the guardian cleans up what is left.
    fn drop(&mut self) {
        self.pipe = None;
        let _ = self.child.wait();
    }
}

/// Waits for the tool to end, then cleans up after it. Runs in the guardian process.
pub fn main(scratch: &Path) {
    // A session of its own: the terminal's Ctrl-C and hang-up are the tool's to handle.
    let _ = setsid();
    let (mut groups, mut screens, mut ledgers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Some((kind, rest)) = line.split_at_checked(1) else { continue };
        match kind {
            "t" => drop(screens.insert(PathBuf::from(rest))),
            "l" => drop(ledgers.insert(PathBuf::from(rest))),
            _ => {
                let Ok(number) = rest.parse::<i32>() else { continue };
                if kind == "+" {
                    groups.insert(number)
                } else {
                    groups.remove(&number)
                };
            }
        }
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    for ledger in ledgers {
        // A tool that ended well has removed it. What fails here stays in it, and the next start says so.
        let _ = conditions::restore(&ledger);
    }
    for screen in screens {
        // Twice does no harm.
        let _ = fs::write(screen, SCREEN_BACK);
    }
    remove(scratch);
}

/// Removes a scratch directory in which dying processes may still be writing; anything that is not
/// named as one is left alone.
fn remove(scratch: &Path) {
    if !scratch.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX)) {
        return;
    }
    let _ = machine::retry(|| match fs::remove_dir_all(scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    });
}

/// A directory of the run's own, for the files of the measured programs.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Names a directory below `parent`, which no other run has; it is to be made when a guardian knows of it.
    #[must_use]
    pub fn below(parent: &Path) -> Scratch {
        // The number of a process is not enough: containers that share the directory have the same ones.
        let moment = jiff::Timestamp::now().as_nanosecond();
        Scratch { path: parent.join(format!("{PREFIX}{}-{:x}", std::process::id(), moment & 0xffff_ffff)) }
    }

    /// Makes the directory.
    ///
    /// # Errors
    /// It cannot be made there.
    pub fn make(&self) -> Result<()> {
        fs::create_dir(&self.path)
            .with_context(|| format!("the scratch directory {} cannot be made; try --dir DIR", self.path.display()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a directory that is kept for the whole run: a file to read is made once.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn kept(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(format!("kept-{name}"));
        fs::create_dir_all(&path)
            .with_context(|| format!("{} cannot be made; make room or try --dir DIR", path.display()))?;
        Ok(path)
    }

    /// Makes an empty directory for one trial.
    ///
    /// # Errors
    /// It cannot be made, as when the file system is full.
    pub fn trial(&self) -> Result<PathBuf> {
        let path = self.path.join("trial");
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path)
            .with_context(|| format!("{} cannot be made; make room or try --dir DIR", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}
