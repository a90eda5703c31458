//! Three machines on one host, with Slurm and sshd (`tests/fleet/cluster/cluster`), for as long as
//! a test takes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub struct Cluster {
    root: TempDir,
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

fn script() -> PathBuf {
    testing::file("tests/fleet/cluster/cluster")
}

impl Cluster {
    /// The cluster, or where there can be none the reason.
    pub fn up() -> Result<Cluster, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("namespaces and links need root".to_owned());
        }
        let root = tempfile::Builder::new()
            .prefix("cluster-")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        let mut child = Command::new(script())
            .args([Path::new("up"), root.path()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut cluster = Cluster { root, child, commands, answers };
        assert_eq!(cluster.answer(), "ready", "the cluster's words are on stderr");
        Ok(cluster)
    }

    /// The directory of all its files, which nodes share.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// What a node has left in its `/tmp` (`tmp`) or `/var/tmp` (`var-tmp`).
    pub fn left(&self, node: &str, folder: &str) -> Vec<PathBuf> {
        let host = Path::new("/").join(folder.replace('-', "/"));
        let entries = std::fs::read_dir(self.path().join(node).join(folder)).unwrap();
        // Through one of them the cluster's own directory is seen.
        let own = |entry: &std::fs::DirEntry| self.path().starts_with(host.join(entry.file_name()));
        entries.map(Result::unwrap).filter(|entry| !own(entry)).map(|entry| entry.path()).collect()
    }

    /// The process that is the whole of it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `kill 2`, `start 2`, `restart-controller` …
    pub fn tell(&mut self, command: &str) {
        writeln!(self.commands.as_mut().unwrap(), "{command}").unwrap();
        assert_eq!(self.answer(), "ok", "{command}");
    }

    /// A command on the head, which is started in the directory.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(script());
        command
            .arg("in")
            .arg(self.path())
            .arg(program)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// What such a command prints.
    pub fn say(&self, words: &str) -> String {
        let mut words = words.split_whitespace();
        let output = self.command(words.next().unwrap()).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Takes it down and returns its directory.
    pub fn down(mut self) -> PathBuf {
        self.end();
        self.path().to_owned()
    }

    fn end(&mut self) {
        // Its stdin ends, upon which it does.
        drop(self.commands.take());
        let _ = self.child.wait();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits until `is` holds, and fails after a number of seconds with what `told` says.
pub fn await_until(seconds: u64, told: impl Fn() -> String, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(
            began.elapsed() < Duration::from_secs(seconds),
            "not within {seconds} s: {}",
            told()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}
