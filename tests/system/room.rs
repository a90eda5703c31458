//! The tool with ledgers of its own: what a test does to them disturbs nobody, so many such tests
//! run at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use ::conditions::{Commands, Entered, FinishedTrial, Ledger, Refusal};
use journal::{Evidence, Trial};
use rustix::process::{Pid, Signal, kill_process};
use testing::{FLAG, Place};

/// Where root's ledgers are.
const STATE: &str = "/var/lib/unixmark";

/// Far more than anything here takes.
const FOREVER: Duration = Duration::from_secs(60);
/// The time between looks at an event that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A mount namespace in which the ledgers are below the test's own directory.
pub struct Room {
    pub place: Place,
}

/// A tool that runs; killed, with its guardian, if the test ends before it.
pub struct Tool {
    pub child: Child,
}

impl Room {
    /// Nothing without root. `catalogue` holds conditions besides [`FLAG`], in which ROOT stands
    /// for the test's directory.
    pub fn new(catalogue: &str) -> Option<Room> {
        if !testing::is_root() || !testing::has("unshare") {
            return None;
        }
        let room = Room { place: Place::new() };
        fs::create_dir(room.state()).unwrap();
        fs::create_dir_all(STATE).unwrap();
        let root = room.place.root.path().display().to_string();
        fs::write(room.file("catalogue.toml"), [FLAG, catalogue].concat().replace("ROOT", &root))
            .unwrap();
        Some(room)
    }

    pub fn state(&self) -> PathBuf {
        self.place.root.path().join("state")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.place.root.path().join(name)
    }

    /// A shell script in the room; `$0` is the tool.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        let script =
            format!("mount --bind \"{}\" {STATE} && {{ {script}\n}}", self.state().display());
        command.args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_unixmark")]);
        command.env("UNIXMARK_RESULTS", self.place.results());
        command.env("UNIXMARK_CATALOGUE", self.file("catalogue.toml"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The tool with `words`, in place of the shell: its process is the child.
    pub fn command(&self, words: &str) -> Command {
        self.shell(&format!("exec \"$0\" {words}"))
    }

    pub fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// The words of a quick `cost`.
    pub fn cost(&self, words: &str) -> String {
        format!("cost --quick --dir {} {words}", self.place.scratch().display())
    }

    /// Starts the tool in a session of its own, as a terminal does.
    pub fn start(&self, words: &str) -> Tool {
        let mut command = self.command(words);
        command
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.file("stderr")).unwrap())
            .process_group(0);
        Tool { child: command.spawn().unwrap() }
    }

    /// Ledgers that are there.
    pub fn ledgers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.state()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
    }

    /// Waits until nothing is switched or left any more.
    pub fn wait_until_clean(&self) {
        wait_for("no ledger", || self.ledgers().is_empty());
        // The process that removed the last ledger holds the lock a little longer.
        wait_for("a free lock", || {
            let lock = fs::File::open(self.state().join("conditions.lock"));
            lock.map_or(true, |lock| lock.try_lock().is_ok())
        });
        assert!(!self.file("flag").exists(), "the condition was not left");
        self.place.assert_gone(FOREVER);
    }

    /// Makes a FIFO on which a command of a condition waits.
    pub fn gate(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.file(name)).status().unwrap().success());
    }

    /// Lets whoever waits at a FIFO go; returns false if nobody does.
    pub fn open_gate(&self, name: &str) -> bool {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let gate = fs::File::options().write(true).custom_flags(flags).open(self.file(name));
        gate.and_then(|mut gate| gate.write_all(b"go\n")).is_ok()
    }

    pub fn wait_for_file(&self, name: &str) {
        let path = self.file(name);
        wait_for(name, || fs::read(&path).is_ok_and(|text| !text.is_empty()));
    }
}

impl Tool {
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Its guardian, if it has one now.
    pub fn find_guardian(&self) -> Option<Pid> {
        children(self.pid()).into_iter().find(|pid| words(*pid).starts_with("unixmark-guardian"))
    }

    /// Its guardian, once there is one.
    pub fn guardian(&self) -> Pid {
        let mut found = None;
        wait_for("a guardian", || {
            found = self.find_guardian();
            found.is_some()
        });
        found.unwrap()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end; its exit code, or the negative signal.
    pub fn wait(&mut self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        let mut status = None;
        wait_for("the tool's end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let status = status.unwrap();
        status.code().unwrap_or_else(|| -status.signal().unwrap())
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        // It has ended unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a condition prove that it was on.
pub fn prove(
    entered: &mut Entered,
    trial: &Trial,
    window: Range<u64>,
    companion: Option<f64>,
) -> Result<Evidence, Refusal> {
    let mut ledger = Ledger::open().unwrap();
    let commands = Commands { ledger: &mut ledger, signals: None, limit: FOREVER };
    let proved = entered.prove(&mut FinishedTrial { trial, window, companion, commands });
    ledger.close().unwrap();
    proved
}

/// Waits for an event.
pub fn wait_for(what: &str, mut is_it: impl FnMut() -> bool) {
    wait_until(|| if is_it() { Ok(()) } else { Err(format!("there never was {what}")) });
}

/// Waits until nothing is left.
pub fn wait_for_none(of: &str, mut list_left: impl FnMut() -> BTreeSet<String>) {
    wait_until(|| {
        let left = list_left();
        if left.is_empty() { Ok(()) } else { Err(format!("{of}, there is still {left:?}")) }
    });
}

/// Looks again and again until it is so; the last look's reason is the panic's.
fn wait_until(mut look: impl FnMut() -> Result<(), String>) {
    let deadline = Instant::now() + FOREVER;
    while let Err(reason) = look() {
        assert!(Instant::now() < deadline, "{reason}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

pub fn words(pid: Pid) -> String {
    let bytes = fs::read(proc(pid, "cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// The letter of a process's state.
pub fn state(pid: Pid) -> Option<char> {
    let text = fs::read_to_string(proc(pid, "stat")).ok()?;
    text.rsplit_once(')')?.1.trim_start().chars().next()
}

fn children(parent: Pid) -> Vec<Pid> {
    let path = proc(parent, &format!("task/{}/children", parent.as_raw_nonzero()));
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}

fn proc(pid: Pid, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.as_raw_nonzero().to_string()).join(name)
}
