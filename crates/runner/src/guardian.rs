//! The guardian: a process that only waits on a pipe. When the tool ends, for whatever reason, the guardian
//! kills the programs that are left, undoes what conditions changed, and removes the scratch directory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use rustix::process::setsid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use conditions::{Experiment, Ledger, SCRATCH, remove_scratch, remove_tree};
use processes::Group;

/// The name under which this executable is a guardian.
pub const NAME: &str = "unixmark-guardian";

/// Gives a terminal back: the cursor, and what was on it before.
pub(super) const SCREEN_BACK: &str = "\x1b[?25h\x1b[?1049l";

/// The longest time that processes may take to die before their changes are undone.
const DYING: Duration = Duration::from_secs(10);

/// The tool's end of the pipe.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: Option<ChildStdin>,
    /// True if the tool waits until the guardian has cleaned up.
    pub is_awaited: bool,
}

impl Guardian {
    /// Starts the guardian over `scratch`. It holds the ledger and the lock of `experiment`, too, so nobody takes them
    /// for left behind while it undoes them.
    ///
    /// # Errors
    /// It cannot be spawned.
    pub fn start(scratch: &Path, experiment: &Experiment) -> Result<Guardian> {
        let why = "the guardian process cannot be started";
        let handles = experiment.handles().context(why)?;
        // /proc/self/exe is this very binary even after the file was replaced.
        let mut child = Command::new("/proc/self/exe")
            .arg0(NAME)
            .arg(scratch)
            .arg(&handles.path)
            .current_dir("/")
            .stdin(Stdio::piped())
            // It prints nothing: these are what it inherits.
            .stdout(handles.ledger.map_or_else(Stdio::null, Stdio::from))
            .stderr(handles.lock.map_or_else(Stdio::null, Stdio::from))
            .spawn()
            .context(why)?;
        let pipe = child.stdin.take();
        Ok(Guardian { child, pipe, is_awaited: true })
    }

    /// Registers a process group that must not outlive the tool.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn watch(&mut self, group: &Group) -> Result<()> {
        self.send(&format!("+{}\n", serde_json::to_string(group)?))
    }

    /// Registers a terminal that the tool draws on as a whole.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn watch_screen(&mut self, terminal: &Path) -> Result<()> {
        self.send(&format!("t{}\n", terminal.display()))
    }

    /// Takes a process group off the list of those to be ended.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn forget(&mut self, group: &Group) -> Result<()> {
        self.send(&format!("-{}\n", serde_json::to_string(group)?))
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
        if self.is_awaited {
            let _ = self.child.wait();
        }
    }
}

/// Returns how many other runs go on, by their guardians: those of this user and of root, whom nobody else can pass
/// for. Containers are other machines, also where this one sees their processes.
pub fn other_runs() -> usize {
    let users = [0, rustix::process::geteuid().as_raw()];
    let own = rustix::process::getpid();
    let own_namespace = fs::read_link("/proc/self/ns/pid").ok();
    let is_guardian = |pid: rustix::process::Pid| {
        let folder = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
        let name = [NAME.as_bytes(), b"\0"].concat();
        let is_in_a_container = fs::read_link(folder.join("ns/pid")).is_ok_and(|theirs| Some(theirs) != own_namespace);
        fs::read(folder.join("cmdline")).is_ok_and(|words| words.starts_with(&name))
            && fs::metadata(&folder).is_ok_and(|process| users.contains(&process.uid()))
            && processes::parent(pid) != Some(own)
            && !is_in_a_container
    };
    processes::find(is_guardian).count()
}

/// Waits for the tool to end, then cleans up after it. Runs in the guardian process.
pub fn main(scratch: &Path, ledger: &Path) {
    // A session of its own: the terminal's Ctrl-C and hang-up are the tool's to handle.
    let _ = setsid();
    // A signal to all of a service's processes ends this one by ending the tool.
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    let (groups, screens) = wait();
    for group in groups.into_values() {
        // A process that does not die within that time hangs in the kernel, and changes nothing there.
        let _ = group.end(DYING);
    }
    let is_undone = undo(ledger);
    for screen in screens {
        // Twice does no harm.
        let _ = fs::write(screen, SCREEN_BACK);
    }
    // Something that could not be undone may be mounted there, or at work.
    if is_undone {
        let _ = remove_scratch(scratch);
    }
}

/// Returns the groups and the terminals that the tool has left when it ends.
fn wait() -> (BTreeMap<i32, Group>, Vec<PathBuf>) {
    let (mut groups, mut screens) = (BTreeMap::new(), Vec::new());
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Some((kind, rest)) = line.split_at_checked(1) else { continue };
        if kind == "t" {
            screens.push(PathBuf::from(rest));
            continue;
        }
        // A line that is cut short is the last one, of a group whose program has not begun.
        let Ok(group) = serde_json::from_str::<Group>(rest) else { continue };
        if kind == "+" {
            groups.insert(group.leader(), group);
        } else {
            groups.remove(&group.leader());
        }
    }
    (groups, screens)
}

/// Undoes the ledger that stdout is. A tool that ended well has left nothing in it; what fails stays there, and the
/// next start says so. Returns true if nothing is left, or there is no ledger.
fn undo(path: &Path) -> bool {
    if path.as_os_str().is_empty() {
        return true;
    }
    let file = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let ledger = file.map_err(anyhow::Error::from).and_then(|file| Ledger::inherited(path, file));
    ledger.and_then(|mut ledger| ledger.close()).is_ok()
}

/// A directory of the run's own, for the files of the measured programs.
#[derive(Debug)]
pub struct Scratch {
    /// Its place.
    pub path: PathBuf,
}

impl Scratch {
    /// Names a directory below `parent`, which no other run has; it is to be made when a guardian knows of it.
    pub fn below(parent: &Path) -> Scratch {
        // The number of a process is not enough: containers that share the directory have the same ones.
        let moment = jiff::Timestamp::now().as_nanosecond();
        Scratch { path: parent.join(format!("{SCRATCH}{}-{:x}", std::process::id(), moment & 0xffff_ffff)) }
    }

    /// Makes the directory.
    ///
    /// # Errors
    /// It cannot be made there.
    pub fn make(&self) -> Result<()> {
        fs::create_dir(&self.path)
            .with_context(|| format!("the scratch directory {} cannot be made; try --dir DIR", self.path.display()))
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
        remove_tree(&path).map_err(|why| anyhow!("{} cannot be emptied: {why}", path.display()))?;
        fs::create_dir(&path)
            .with_context(|| format!("{} cannot be made; make room or try --dir DIR", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The ledger has what stays.
        let _ = remove_scratch(&self.path);
    }
}
