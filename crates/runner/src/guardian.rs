//! The guardian: a process that cleans up after the tool, however the tool ends.
//!
//! It waits on a pipe, on which the tool registers what it starts ([`Guardian::watch`]). When the
//! tool ends, by itself or by SIGKILL, the pipe closes. The guardian then
//!
//! 1. ends the process groups that are still registered ([`end_groups`]);
//! 2. undoes what conditions changed, by the ledger ([`undo_ledger`]);
//! 3. gives terminals back;
//! 4. removes the scratch directory.
//!
//! It is this very executable under another name. The ledger and its lock are handed over as stdout
//! and stderr, so that at no moment they belong to nobody.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rustix::process::{Pid, getpid, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use conditions::{Experiment, Ledger, SCRATCH, remove_scratch, remove_tree};
use processes::{Group, end_with_descendants};

/// The name under which this executable is a guardian.
pub const NAME: &str = "unixmark-guardian";

/// This very binary, even after its file was replaced.
const EXECUTABLE: &str = "/proc/self/exe";

/// Gives a terminal back: shows the cursor, and what was on the screen before.
pub(super) const RESTORE_SCREEN: &str = "\x1b[?25h\x1b[?1049l";

/// Programs that are asked to end may take this long to end what they have started.
const MAX_ENDING_TIME: Duration = Duration::from_secs(2);

/// Killed processes may take this long to die, before their changes are undone all the same.
const MAX_DYING_TIME: Duration = Duration::from_secs(10);

/// The tool's end of the pipe.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: Option<ChildStdin>,
    /// True if the tool waits until the guardian has cleaned up.
    pub is_awaited: bool,
}

impl Guardian {
    /// Starts the guardian of the directory `scratch` and of the ledger of `experiment`. It holds
    /// the ledger's lock too, so another run does not treat the ledger as left behind while the
    /// guardian undoes it.
    ///
    /// # Errors
    /// The guardian cannot be spawned.
    pub fn start(scratch: &Path, experiment: &Experiment) -> Result<Guardian> {
        let why = "the guardian process cannot be started";
        let handles = experiment.handles().context(why)?;

        let mut child = Command::new(find_executable().context(why)?)
            .arg0(NAME)
            .arg(scratch)
            .arg(&handles.path)
            .current_dir("/")
            .stdin(Stdio::piped())
            // It prints nothing, so these two descriptors hand over files.
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

    /// Registers a terminal whose whole screen the tool draws on.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn watch_screen(&mut self, terminal: &Path) -> Result<()> {
        self.send(&format!("t{}\n", terminal.display()))
    }

    /// Removes a process group from the groups to be ended.
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

/// The file of this very binary: where /proc is not mounted, as in a bare chroot, the file that the
/// tool was called by.
fn find_executable() -> Result<PathBuf> {
    if fs::exists(EXECUTABLE).unwrap_or(false) {
        return Ok(EXECUTABLE.into());
    }

    let name = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let is_path = name.components().count() > 1;
    let found = if is_path {
        fs::canonicalize(&name).ok()
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders)
            .map(|folder| folder.join(&name))
            .find(|path| path.is_absolute() && path.is_file())
    };
    found.context("/proc is not mounted here; try `mount -t proc proc /proc`, or call unixmark by its full path")
}

/// The number of other runs that go on, by their guardians.
pub fn other_runs() -> usize {
    processes::find(is_other_guardian).count()
}

/// True if a process is the guardian of another run on this machine.
fn is_other_guardian(pid: Pid) -> bool {
    let folder = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));

    let name = [NAME.as_bytes(), b"\0"].concat();
    let has_name = fs::read(folder.join("cmdline")).is_ok_and(|words| words.starts_with(&name));
    if !has_name || processes::parent(pid) == Some(getpid()) {
        return false;
    }

    // Any user can give a process this name, so only this user's and root's count.
    let users = [0, rustix::process::geteuid().as_raw()];
    let is_trusted = fs::metadata(&folder).is_ok_and(|process| users.contains(&process.uid()));

    // A container counts as another machine, even if its processes are visible here.
    let own_namespace = fs::read_link("/proc/self/ns/pid").ok();
    let is_in_a_container =
        fs::read_link(folder.join("ns/pid")).is_ok_and(|theirs| Some(theirs) != own_namespace);
    is_trusted && !is_in_a_container
}

/// Waits for the tool to end, then cleans up after it. Runs in the guardian process.
pub fn main(scratch: &Path, ledger: &Path) {
    // A session of its own, since the tool handles the terminal's Ctrl-C and hang-up.
    let _ = setsid();
    // Signals are ignored: one that is sent to all processes of a service ends the tool, and the
    // guardian ends after it.
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
        let _ = signal_hook::flag::register(signal, Arc::default());
    }

    let left = wait_for_tool();
    end_groups(&left.groups.into_values().collect::<Vec<Group>>());
    let is_undone = undo_ledger(ledger);
    for screen in left.screens {
        // The tool may have done so already; twice does no harm.
        let _ = files::overwrite(screen, RESTORE_SCREEN);
    }
    // If a change could not be undone, something may be mounted there or still work there.
    if is_undone {
        let _ = remove_scratch(scratch);
    }
}

/// Ends what the tool has left. Programs are asked first: one that executes commands has adopted
/// the processes that left its group, and once it is gone nobody could tell whose they are.
fn end_groups(groups: &[Group]) {
    groups.iter().for_each(Group::ask_to_end);
    let deadline = Instant::now() + MAX_ENDING_TIME;
    while groups.iter().any(Group::is_alive) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    end_with_descendants(groups, MAX_DYING_TIME);
    for group in groups {
        // A process that does not die within that time hangs in the kernel, where it changes
        // nothing.
        let _ = group.end(MAX_DYING_TIME);
    }
}

/// Registrations that are left when the tool ends.
#[derive(Default)]
struct Registered {
    /// Process groups, by their leaders.
    groups: BTreeMap<i32, Group>,
    /// Terminals.
    screens: Vec<PathBuf>,
}

/// Reads registrations until the tool ends.
fn wait_for_tool() -> Registered {
    let mut left = Registered::default();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Some((kind, rest)) = line.split_at_checked(1) else {
            continue;
        };
        if kind == "t" {
            left.screens.push(PathBuf::from(rest));
            continue;
        }

        // A line that is cut short is the last one, and its group's program has not begun.
        let Ok(group) = serde_json::from_str::<Group>(rest) else {
            continue;
        };
        if kind == "+" {
            left.groups.insert(group.leader(), group);
        } else {
            left.groups.remove(&group.leader());
        }
    }
    left
}

/// Undoes the ledger, which is open as stdout. A tool that ended well has left nothing in it. A
/// change that cannot be undone stays there, and the next start of the tool says so. True if
/// nothing is left, or there is no ledger.
fn undo_ledger(path: &Path) -> bool {
    if path.as_os_str().is_empty() {
        return true;
    }

    let file = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let ledger = file.map_err(anyhow::Error::from).and_then(|file| Ledger::inherited(path, file));
    ledger.and_then(|mut ledger| ledger.close()).is_ok()
}

/// A run's directory for the files of the measured programs.
#[derive(Debug)]
pub struct Scratch {
    pub path: PathBuf,
}

impl Scratch {
    /// Names a directory below `parent` that no other run has. It is not made yet: the guardian
    /// must know of it before.
    pub fn below(parent: &Path) -> Scratch {
        // A process number is not enough: containers that share `parent` use the same numbers.
        let pid = std::process::id();
        let moment = jiff::Timestamp::now().as_nanosecond() & 0xffff_ffff;
        Scratch { path: parent.join(format!("{SCRATCH}{pid}-{moment:x}")) }
    }

    /// Makes the directory, which only this user can enter: programs are executed from it, and root
    /// writes files in it whose names are easily guessed.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn make(&self) -> Result<()> {
        files::make_private_directory(&self.path).with_context(|| {
            format!("the scratch directory {} cannot be made; try --dir DIR", self.path.display())
        })
    }

    /// A directory that is kept for the whole run, so that a file to be read is made once.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn kept_folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(format!("kept-{name}"));
        files::make_private_directories(&path).with_context(|| {
            format!("{} cannot be made; make room or try --dir DIR", path.display())
        })?;
        Ok(path)
    }

    /// Makes an empty directory for one trial.
    ///
    /// # Errors
    /// The directory cannot be emptied or made, as when the file system is full.
    pub fn empty_trial_folder(&self) -> Result<PathBuf> {
        let path = self.path.join("trial");
        remove_tree(&path).map_err(|why| anyhow!("{} cannot be emptied: {why}", path.display()))?;
        files::make_private_directory(&path).with_context(|| {
            format!("{} cannot be made; make room or try --dir DIR", path.display())
        })?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the ledger still names the directory.
        let _ = remove_scratch(&self.path);
    }
}
