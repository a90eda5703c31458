//! Runs the tests of all binaries side by side, each in a process of its own: `pool BUILT [--ignored]`,
//! where BUILT is what `cargo build --message-format=json` wrote. What a test may not do beside others
//! it asks of `testing::Machine` and `testing::host`.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};
use unixmark_testing::{CAN_WAIT, LATER};

/// Far more than any test takes; one that takes longer waits for what never comes.
const FOREVER: Duration = Duration::from_secs(20 * 60);

/// The binary whose tests `make check` runs.
const CHECKED: &str = "architecture";

/// The test binary of a crate or of the tool.
struct Binary {
    name: String,
    path: PathBuf,
    /// The folder of its package, in which its tests run.
    folder: PathBuf,
    /// The file to which its tests write what they skip.
    skips: PathBuf,
}

impl Binary {
    /// Returns the test binary that a line of Cargo's messages is about.
    fn read(line: &str, skips: &Path) -> Option<Binary> {
        let message: Value = serde_json::from_str(line).ok()?;
        message["profile"]["test"].as_bool().filter(|is_test| *is_test)?;
        Some(Binary {
            name: message["target"]["name"].as_str()?.to_owned(),
            path: PathBuf::from(message["executable"].as_str()?),
            folder: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
            skips: skips.to_owned(),
        })
    }

    /// Returns whether its tests compute, as the crates' do; the tool's mostly wait.
    fn computes(&self) -> bool {
        self.folder.parent().is_some_and(|folder| folder.ends_with("crates"))
    }

    fn command<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let niceness = if self.computes() { "19" } else { "0" };
        let mut command = Command::new("nice");
        command.args(["-n", niceness]).arg(&self.path).args(words).current_dir(&self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder).env("UNIXMARK_TEST_SKIPS", &self.skips);
        command
    }

    fn names(&self, words: &[&str]) -> BTreeSet<String> {
        let output = self.command(["--list", "--format", "terse"].iter().chain(words).copied()).output().unwrap();
        assert!(output.status.success(), "{} lists no tests", self.name);
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
    }

    fn tests(&self, is_rest: bool) -> impl Iterator<Item = Test<'_>> {
        let ignored = self.names(&["--ignored"]);
        let names = if is_rest { ignored } else { &self.names(&[]) - &ignored };
        names.into_iter().map(|name| Test { binary: self, name })
    }

    /// Prints the tests that are ignored, by the reasons in their `#[ignore]`.
    fn print_ignored(&self) {
        let names = self.names(&["--ignored"]);
        if names.is_empty() {
            return;
        }
        let output = self.command(names.iter().map(String::as_str).chain(["--exact"])).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let mut by_reason = BTreeMap::<&str, Vec<&str>>::new();
        for (name, reason) in said.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... ignored, ")) {
            by_reason.entry(reason).or_default().push(name);
        }
        for (reason, names) in by_reason {
            println!("  {} ({reason}): {}", self.name, names.join(" "));
        }
    }
}

struct Test<'a> {
    binary: &'a Binary,
    name: String,
}

impl<'a> Test<'a> {
    fn title(&self) -> String {
        format!("{} {}", self.binary.name, self.name)
    }

    /// Runs the test, unless it must be alone, is not, and can wait; then it is returned.
    fn run(self, can_wait: bool) -> Result<Ended<'a>, Test<'a>> {
        let began = Instant::now();
        // With a single thread, the harness would run the test in one without its name.
        let words = [&self.name, "--exact", "--include-ignored", "--test-threads=2"];
        let variable = can_wait.then_some((CAN_WAIT, "1"));
        let (ended, is_over) = mpsc::channel::<()>();
        let title = self.title();
        std::thread::spawn(move || give_up(&title, &is_over));
        let output = self.binary.command(words).envs(variable).output().unwrap();
        drop(ended);
        if output.status.code() == Some(LATER) {
            return Err(self);
        }
        let (title, took) = (self.title(), began.elapsed());
        println!("{:8.3} s  {title}", took.as_secs_f64());
        let is_good = output.status.success();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if !is_good {
            println!("{said}");
        }
        Ok(Ended { test: self, title, took, is_good, panic: panic(&said) })
    }
}

/// Ends the pool where a test does not end.
fn give_up(title: &str, is_over: &mpsc::Receiver<()>) {
    if is_over.recv_timeout(FOREVER) == Err(mpsc::RecvTimeoutError::Timeout) {
        println!("failed: {title} does not end; `ps -ef --forest` shows what it waits for");
        std::process::exit(1);
    }
}

/// The tests that have passed, with what they were built from and what they read.
struct Memory {
    path: PathBuf,
    /// The files that are no Rust, which tests read; empty where nothing is remembered.
    files: String,
    known: BTreeSet<String>,
}

impl Memory {
    /// Nothing is remembered of tests that change the system, where all must run, or without git.
    fn read(path: &Path, is_rest: bool) -> Memory {
        let listed = Command::new("git").args(["ls-files", "-co", "--exclude-standard", "-z"]).output();
        let listed =
            listed.ok().filter(|listed| listed.status.success() && !is_rest && !unixmark_testing::all_must_run());
        let mut sum = Sha256::new();
        for file in listed.iter().flat_map(|listed| listed.stdout.split(|byte| *byte == 0)) {
            let file = String::from_utf8_lossy(file);
            if !file.ends_with(".rs") {
                sum.update(file.as_bytes());
                sum.update(std::fs::read(file.as_ref()).unwrap_or_default());
            }
        }
        let files = if listed.is_some() {
            sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
        } else {
            String::new()
        };
        let known = std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect();
        Memory { path: path.to_owned(), files, known }
    }

    /// Returns the line of a test: what it was built from is in its binary, and for the tool's tests in the tool.
    fn line(&self, test: &Test<'_>) -> String {
        let tool = test.binary.path.with_file_name("../unixmark");
        let binaries = [Some(&test.binary.path), Some(&tool).filter(|_| !test.binary.computes())];
        let changed = |path: &PathBuf| format!("{:?}", std::fs::metadata(path).and_then(|meta| meta.modified()).ok());
        let changed: Vec<String> = binaries.into_iter().flatten().map(changed).collect();
        format!("{} {} {}", self.files, changed.concat().replace(' ', ""), test.title())
    }

    fn has(&self, test: &Test<'_>) -> bool {
        !self.files.is_empty() && self.known.contains(&self.line(test))
    }

    /// Keeps those that passed whole; one that skipped something runs again.
    fn write(&self, passed: &[Test<'_>], ended: &[Ended<'_>], skipped: &BTreeSet<String>) {
        let whole = |ended: &&Ended| ended.is_good && !skipped.iter().any(|line| line.contains(&ended.test.name));
        let tests = passed.iter().chain(ended.iter().filter(whole).map(|ended| &ended.test));
        let lines: String = tests.map(|test| self.line(test) + "\n").collect();
        if !self.files.is_empty() {
            std::fs::write(&self.path, lines).unwrap();
        }
    }
}

struct Ended<'a> {
    test: Test<'a>,
    title: String,
    took: Duration,
    is_good: bool,
    /// What its first panic says; empty without one.
    panic: String,
}

/// Returns the message of the first panic in a test's output, in one line.
fn panic(output: &str) -> String {
    let lines = output.lines().skip_while(|line| !line.contains("panicked at"));
    let message = lines.skip(1).take_while(|line| !line.starts_with("stack backtrace:"));
    message.collect::<Vec<&str>>().join(" ").chars().take(600).collect()
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let built = PathBuf::from(words.next().unwrap());
    let is_rest = words.next().is_some_and(|word| word == "--ignored");
    let skips = std::path::absolute(built.with_extension("skips")).unwrap();
    std::fs::write(&skips, "").unwrap();
    let messages = std::fs::read_to_string(&built).unwrap();
    let binaries: Vec<Binary> = messages.lines().filter_map(|line| Binary::read(line, &skips)).collect();
    let mut binaries: Vec<Binary> = binaries.into_iter().filter(|binary| binary.name != CHECKED).collect();
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    restore();
    let began = Instant::now();
    let memory = Memory::read(&built.with_extension("passed"), is_rest);
    let (passed, tests): (Vec<Test>, _) =
        binaries.iter().flat_map(|binary| binary.tests(is_rest)).partition(|test| memory.has(test));
    let ended = run(tests, &built.with_extension("times"));
    let took = began.elapsed().as_secs_f64();
    let skipped: BTreeSet<String> = std::fs::read_to_string(&skips).unwrap().lines().map(str::to_owned).collect();
    print_list("skipped, in whole or in part:", &skipped);
    if !is_rest {
        println!("left to `make check`: formatting, clippy, shellcheck and the tests of {CHECKED}.rs");
        println!("left to `make test-all`: other architectures and");
        binaries.iter().for_each(Binary::print_ignored);
    }
    let left = restore();
    let failed = ended.iter().filter(|ended| !ended.is_good);
    let failed: BTreeSet<String> = failed.map(|ended| format!("{}: {}", ended.title, ended.panic)).collect();
    print_list("failed:", &failed);
    if !passed.is_empty() {
        println!(
            "{} tests have passed before, of what has not changed: not run again (remove {} to do so)",
            passed.len(),
            memory.path.display()
        );
    }
    memory.write(&passed, &ended, &skipped);
    println!("{} tests passed, {} failed in {took:.0} s", ended.len() - failed.len(), failed.len());
    if failed.is_empty() && left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Undoes what runs that were killed have left behind, which each command would speak of; returns and prints it.
fn restore() -> BTreeSet<String> {
    let tool = std::env::current_exe().unwrap().with_file_name("unixmark");
    let output = Command::new(tool).arg("restore").stderr(Stdio::inherit()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let left = said.lines().filter(|line| *line != "there is nothing to undo").map(str::to_owned).collect();
    print_list("left behind by runs that were killed, and undone:", &left);
    left
}

fn print_list(heading: &str, items: &BTreeSet<String>) {
    if !items.is_empty() {
        println!("{heading}");
    }
    items.iter().for_each(|item| println!("  {item}"));
}

/// Runs tests, those first that took longest the last time, and at the end those that must be alone. Twice as many as
/// there are processors run at a time: half of them from those that compute, which leave the processors to the others.
fn run<'a>(mut tests: Vec<Test<'a>>, times: &Path) -> Vec<Ended<'a>> {
    let mut last = read_times(times);
    // The last is taken first. Where nothing is known, long tests of programs and of whole runs come before the many of
    // the tool.
    tests.reverse();
    tests.sort_by_key(|test| last.get(&test.title()).copied().unwrap_or(Duration::MAX));
    let (computing, waiting) = tests.into_iter().partition(|test| test.binary.computes());
    let queues: [Mutex<Vec<Test>>; 2] = [Mutex::new(waiting), Mutex::new(computing)];
    let (ended, later) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let take = |queue: usize| queues[queue % 2].lock().unwrap().pop();
    let work = |worker: usize| {
        while let Some(test) = take(worker).or_else(|| take(worker + 1)) {
            match test.run(true) {
                Ok(done) => ended.lock().unwrap().push(done),
                Err(test) => later.lock().unwrap().push(test),
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        for worker in 0..2 * std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(move || work(worker));
        }
    });
    let alone = later.into_inner().unwrap().into_iter().filter_map(|test| test.run(false).ok());
    let ended: Vec<Ended> = ended.into_inner().unwrap().into_iter().chain(alone).collect();
    last.extend(ended.iter().map(|ended| (ended.title.clone(), ended.took)));
    write_times(times, &last);
    ended
}

fn read_times(path: &Path) -> BTreeMap<String, Duration> {
    let lines = std::fs::read_to_string(path).unwrap_or_default();
    let parse = |line: &str| {
        let (seconds, title) = line.split_once(' ')?;
        Some((title.to_owned(), Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?))
    };
    lines.lines().filter_map(parse).collect()
}

fn write_times(path: &Path, times: &BTreeMap<String, Duration>) {
    let lines: Vec<String> = times.iter().map(|(title, took)| format!("{:.3} {title}\n", took.as_secs_f64())).collect();
    std::fs::write(path, lines.concat()).unwrap();
}
