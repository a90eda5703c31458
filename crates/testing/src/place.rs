//! The tool with results and scratch of its own, and what it leaves behind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Machine, built_program, fake};

/// A condition that is nothing but a file; ROOT stands for the test's directory.
pub const FLAG: &str = r#"
[[condition]]
id = "flag"
label = "a flag"
means = "command"
enter = "echo up > ROOT/flag"
verify = "cat ROOT/flag"
leave = "rm -f ROOT/flag"
doc = "A file of the test's."
"#;

/// A place for one test: results, scratch and cache below one directory that goes with it.
pub struct Place {
    pub root: TempDir,
    _machine: Machine,
}

impl Place {
    /// A place for a test that others may disturb.
    pub fn new() -> Place {
        Place::on(Machine::shared())
    }

    /// A place for a test that wants the machine for itself, as it looks at times.
    pub fn alone() -> Place {
        Place::on(Machine::alone())
    }

    fn on(machine: Machine) -> Place {
        let root =
            tempfile::Builder::new().prefix("unixmark-test-").tempdir_in("/var/tmp").unwrap();
        std::fs::create_dir(root.path().join("scratch")).unwrap();
        Place { root, _machine: machine }
    }

    pub fn results(&self) -> PathBuf {
        self.root.path().join("results")
    }

    pub fn scratch(&self) -> PathBuf {
        self.root.path().join("scratch")
    }

    /// The tool with `words`, split at white space.
    pub fn unixmark(&self, words: &str) -> Command {
        let mut command = Command::new(built_program("unixmark"));
        command
            .env("UNIXMARK_RESULTS", self.results())
            .env_remove("NO_COLOR")
            .args(words.split_whitespace());
        command
    }

    /// The tool, which does not find valgrind.
    pub fn unixmark_without_valgrind(&self, words: &str) -> Command {
        let mut command = self.unixmark(words);
        command.env("PATH", self.path_without_valgrind());
        command
    }

    /// A PATH on which valgrind is not found, so that the tool executes no command under it, which
    /// takes some sixty times as long. A folder with valgrind is replaced by one of links to its
    /// other programs.
    pub fn path_without_valgrind(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::env::split_paths(&path).enumerate();
        let without = folders.map(|(number, folder)| {
            if !folder.join("valgrind").exists() {
                return folder;
            }
            self.folder_without_valgrind(&folder, &format!("bin{number}"))
        });
        std::env::join_paths(without).unwrap()
    }

    /// A folder of links to all of `folder` but valgrind, made once.
    fn folder_without_valgrind(&self, folder: &Path, name: &str) -> PathBuf {
        let links = self.root.path().join(name);
        if links.exists() {
            return links;
        }

        std::fs::create_dir(&links).unwrap();
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_name() != "valgrind" {
                std::os::unix::fs::symlink(entry.path(), links.join(entry.file_name())).unwrap();
            }
        }
        links
    }

    /// `run` with the quick procedure in this place's scratch directory.
    pub fn run(&self, words: &str) -> Output {
        let scratch = self.scratch();
        self.unixmark(&format!("run --procedure quick --dir {} {words}", scratch.display()))
            .output()
            .unwrap()
    }

    /// `run` with a fake program.
    pub fn fake(&self, name: &str, words: &str) -> Output {
        self.run(&format!("--program {} -c 1 -i 2 --patience 1s {words}", fake(name).display()))
    }

    /// The report of a run; `latest` is the newest, which may have measured nothing.
    pub fn json(&self, run: &str) -> Value {
        let run = if run == "latest" { self.newest() } else { run.to_owned() };
        let output = self.unixmark("report --samples --format json").arg(run).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The name of the run whose journal was written last.
    pub fn newest(&self) -> String {
        let mut runs = Vec::new();
        for entry in std::fs::read_dir(self.results()).unwrap() {
            let entry = entry.unwrap();
            // Not everything there is a run.
            if let Ok(metadata) = std::fs::metadata(entry.path().join("run.jsonl")) {
                runs.push((metadata.modified().unwrap(), entry.file_name()));
            }
        }

        let (_, name) = runs.into_iter().max().unwrap();
        name.into_string().unwrap()
    }

    pub fn journal(&self) -> PathBuf {
        let runs: Vec<_> = std::fs::read_dir(self.results()).unwrap().collect();
        assert_eq!(runs.len(), 1);
        runs.into_iter().next().unwrap().unwrap().path().join("run.jsonl")
    }

    /// Nothing of a run that was killed may stay: no process after a while, and nothing in the
    /// scratch directory.
    pub fn assert_gone(&self, within: Duration) {
        let mark = self.scratch().display().to_string();
        let deadline = Instant::now() + within;
        while Instant::now() < deadline && !processes_with(&mark).is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(processes_with(&mark), Vec::<String>::new());
        self.assert_clean();
    }

    /// The report of the last run, which was cut short and says so.
    pub fn cut_short(&self) -> Value {
        let report = self.json("latest");
        assert!(report["end"].is_null());
        assert!(report["warnings"].to_string().contains("cut short"), "{}", report["warnings"]);
        report
    }

    /// Nothing of a run may stay in the scratch directory.
    pub fn assert_clean(&self) {
        let left: Vec<_> =
            std::fs::read_dir(self.scratch()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// The only build in a cache whose name begins like this.
pub fn build(cache: &Path, prefix: &str) -> PathBuf {
    let builds: Vec<PathBuf> = std::fs::read_dir(cache.join("unixmark"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix))
        .collect();
    assert_eq!(builds.len(), 1, "{builds:?}");
    builds[0].clone()
}

/// The length of a file once it has not grown for 300 ms, which must be within half a minute.
pub fn settled(file: &Path) -> u64 {
    let mut last_length = std::fs::metadata(file).unwrap().len();
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(300));
        let length = std::fs::metadata(file).unwrap().len();
        if length == last_length {
            return length;
        }
        last_length = length;
    }

    panic!("{} keeps growing", file.display());
}

/// Text as one line, whatever it was wrapped to.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The processes with `mark` in their command line or working directory, by /proc.
pub fn processes_with(mark: &str) -> Vec<String> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_process = name.bytes().all(|byte| byte.is_ascii_digit());
        if !is_process || name == std::process::id().to_string() {
            continue;
        }

        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let folder = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if command.contains(mark) || folder.to_string_lossy().contains(mark) {
            processes.push(format!("{name}: {command} in {}", folder.display()));
        }
    }

    processes
}

/// True if there was a file that was renamed to a name that ends in `end`, and every such file was
/// on the disk before. `trace` is what `strace -f -y` saw of fsync and rename.
pub fn synced_first(trace: &str, end: &str) -> bool {
    let calls: Vec<&str> = trace.lines().collect();
    let mut has_rename = false;
    for (index, call) in calls.iter().enumerate() {
        let Some(old_name) = renamed_from(call, end) else { continue };

        has_rename = true;
        let mut earlier = calls[..index].iter();
        if !earlier.any(|call| call.contains("fsync(") && call.contains(old_name)) {
            return false;
        }
    }

    has_rename
}

/// The old name of a file, if a call renames it to a name that ends in `end`.
fn renamed_from<'a>(call: &'a str, end: &str) -> Option<&'a str> {
    if !call.contains("rename") {
        return None;
    }

    // The names are quoted.
    let mut names = call.split('"').skip(1).step_by(2);
    let old_name = names.next()?;
    names.next()?.ends_with(end).then_some(old_name)
}

/// Names and contents of every file below a directory, if it is there.
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }

    files.sort();
    files
}
