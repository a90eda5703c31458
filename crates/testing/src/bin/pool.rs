//! Runs the tests of all binaries side by side, each in a process of its own: `pool BUILT
//! [--ignored]`, where BUILT is what `cargo build --message-format=json` wrote. A test that cannot
//! run next to others asks `testing::Machine` or `testing::host`.
//!
//! 1. Cargo's messages name the binaries ([`Binary`]), and each lists its tests.
//! 2. A test that passed before and depends on nothing that has changed does not run ([`Memory`]).
//! 3. The others run, those first that took longest the last time ([`run_tests`]). One that must be
//!    alone, and is not, runs again in the end.
//! 4. Unless many failed, each that did runs again by itself. If it passes twice, it is listed as
//!    disturbed, with what it said, and does not fail the pool ([`retry_failures`]).
//! 5. What was skipped, left out, left behind by killed runs, disturbed, or failed is printed.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};
use unixmark_testing::{CAN_WAIT, LATER};

/// Far more than any test takes: one that takes longer waits for what never comes.
const TEST_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// The binary whose tests `make check` runs.
const CHECK_BINARY: &str = "architecture";

/// Tests of the tool that run at a time for each processor: they compute for a third of their time
/// and wait for clocks for the rest.
const WAITING_TESTS_PER_CPU: usize = 2;

/// Lists the tests that take longest, for a clone in which none has run yet.
const LONGEST: &str = "tests/longest.txt";

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
    /// The test binary of a line of Cargo's messages, if it is of one.
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

    /// True if its tests compute, as the crates' do; the tool's mostly wait.
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

    fn test_names(&self, words: &[&str]) -> BTreeSet<String> {
        let words = [&["--list", "--format", "terse"], words].concat();
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{} lists no tests", self.name);

        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
    }

    fn tests(&self, is_rest: bool) -> impl Iterator<Item = Test<'_>> {
        let ignored = self.test_names(&["--ignored"]);
        let names = if is_rest { ignored } else { &self.test_names(&[]) - &ignored };
        names.into_iter().map(|name| Test { binary: self, name })
    }

    /// Prints the tests that are ignored, by the reasons in their `#[ignore]`.
    fn print_ignored(&self) {
        let names = self.test_names(&["--ignored"]);
        if names.is_empty() {
            return;
        }

        let output =
            self.command(names.iter().map(String::as_str).chain(["--exact"])).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let ignored = printed
            .lines()
            .filter_map(|line| line.strip_prefix("test ")?.split_once(" ... ignored, "));
        let mut by_reason = BTreeMap::<&str, Vec<&str>>::new();
        for (name, reason) in ignored {
            by_reason.entry(reason).or_default().push(name);
        }

        for (reason, names) in by_reason {
            println!("  {} ({reason}): {}", self.name, names.join(" "));
        }
    }
}

#[derive(Clone)]
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
        std::thread::spawn(move || give_up_in_the_end(&title, &is_over));
        let output = self.binary.command(words).envs(variable).output().unwrap();
        drop(ended);
        if output.status.code() == Some(LATER) {
            return Err(self);
        }

        let (title, took) = (self.title(), began.elapsed());
        println!("{:8.3} s  {title}", took.as_secs_f64());
        let outcome = if output.status.success() { Outcome::Passed } else { Outcome::Failed };
        let printed =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if outcome == Outcome::Failed {
            println!("{printed}");
        }
        Ok(Ended { test: self, title, took, outcome, panic: first_panic(&printed) })
    }

    /// Runs the test again until it fails, at most twice; the caller runs no other meanwhile.
    fn passes_alone(&self) -> bool {
        const TIMES: usize = 2;

        (0..TIMES)
            .all(|_| self.clone().run(false).is_ok_and(|again| again.outcome == Outcome::Passed))
    }
}

/// Ends the pool where a test does not end.
fn give_up_in_the_end(title: &str, is_over: &mpsc::Receiver<()>) {
    if is_over.recv_timeout(TEST_TIMEOUT) == Err(mpsc::RecvTimeoutError::Timeout) {
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
    /// Reads which tests have passed. Nothing is remembered of tests that change the system, where
    /// all must run, or without git.
    fn read(path: &Path, is_rest: bool) -> Memory {
        let remembers = !is_rest && !unixmark_testing::all_must_run();
        let files = if remembers { hash_files() } else { None };
        let known = std::fs::read_to_string(path).unwrap_or_default();
        Memory {
            path: path.to_owned(),
            files: files.unwrap_or_default(),
            known: known.lines().map(str::to_owned).collect(),
        }
    }

    /// The line of a test. Its sources are known by its binary, and for the tool's tests by the
    /// tool, which changes whenever they do.
    fn line(&self, test: &Test<'_>) -> String {
        let mut binaries = vec![test.binary.path.clone()];
        if !test.binary.computes() {
            binaries.push(test.binary.path.with_file_name("../unixmark"));
        }

        let mut modified = String::new();
        for binary in binaries {
            let time = std::fs::metadata(binary).and_then(|metadata| metadata.modified()).ok();
            modified += &format!("{time:?}").replace(' ', "");
        }
        format!("{} {modified} {}", self.files, test.title())
    }

    fn has(&self, test: &Test<'_>) -> bool {
        !self.files.is_empty() && self.known.contains(&self.line(test))
    }

    /// Keeps those that passed whole; one that skipped something runs again.
    fn write(&self, passed: &[Test<'_>], ended: &[Ended<'_>], skipped: &BTreeSet<String>) {
        if self.files.is_empty() {
            return;
        }

        let has_skipped =
            |ended: &Ended| skipped.iter().any(|line| line.contains(&ended.test.name));
        let newly_passed = ended
            .iter()
            .filter(|ended| ended.outcome == Outcome::Passed && !has_skipped(ended))
            .map(|ended| &ended.test);
        let lines: String =
            passed.iter().chain(newly_passed).map(|test| self.line(test) + "\n").collect();
        std::fs::write(&self.path, lines).unwrap();
    }
}

/// A hash of the repository's files but Rust's, which binaries are made of; `None` without git.
fn hash_files() -> Option<String> {
    let listed =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard", "-z"]).output().ok()?;
    if !listed.status.success() {
        return None;
    }

    let mut hash = Sha256::new();
    for file in listed.stdout.split(|byte| *byte == 0) {
        let file = String::from_utf8_lossy(file);
        if !file.ends_with(".rs") {
            hash.update(file.as_bytes());
            hash.update(std::fs::read(file.as_ref()).unwrap_or_default());
        }
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    /// It failed, and passed whenever it ran again by itself.
    Disturbed,
    Failed,
}

/// A test that has ended.
struct Ended<'a> {
    test: Test<'a>,
    title: String,
    took: Duration,
    outcome: Outcome,
    /// The message of its first panic; empty without one.
    panic: String,
}

/// The message of the first panic in a test's output, in one line.
fn first_panic(output: &str) -> String {
    /// Enough for a comparison of values.
    const MAX_CHARACTERS: usize = 600;

    let lines = output.lines().skip_while(|line| !line.contains("panicked at"));
    let message = lines.skip(1).take_while(|line| !line.starts_with("stack backtrace:"));
    message.collect::<Vec<&str>>().join(" ").chars().take(MAX_CHARACTERS).collect()
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let built = PathBuf::from(words.next().unwrap());
    let is_rest = words.next().is_some_and(|word| word == "--ignored");
    let skips = std::path::absolute(built.with_extension("skips")).unwrap();
    std::fs::write(&skips, "").unwrap();

    let messages = std::fs::read_to_string(&built).unwrap();
    let mut binaries: Vec<Binary> = messages
        .lines()
        .filter_map(|line| Binary::read(line, &skips))
        .filter(|binary| binary.name != CHECK_BINARY)
        .collect();
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    restore();

    let began = Instant::now();
    let memory = Memory::read(&built.with_extension("passed"), is_rest);
    let (passed, tests): (Vec<Test>, _) =
        binaries.iter().flat_map(|binary| binary.tests(is_rest)).partition(|test| memory.has(test));
    let ended = run_tests(tests, &built.with_extension("times"));
    let seconds = began.elapsed().as_secs_f64();

    let skipped: BTreeSet<String> =
        std::fs::read_to_string(&skips).unwrap().lines().map(str::to_owned).collect();
    print_list("skipped, in whole or in part:", &skipped);
    if !is_rest && !unixmark_testing::all_must_run() {
        println!(
            "left to `make check`: formatting, clippy, shellcheck and the tests of {CHECK_BINARY}.rs"
        );
        println!("left to `make test-all`: other architectures, graphics, `unixmark export` and");
        binaries.iter().for_each(Binary::print_ignored);
    }
    let left_behind = restore();
    let disturbed = panics(&ended, Outcome::Disturbed);
    print_list("disturbed: failed once, and passed twice by themselves:", &disturbed);
    let failed = panics(&ended, Outcome::Failed);
    print_list("failed:", &failed);
    if !passed.is_empty() {
        println!(
            "{} tests have passed before, of what has not changed: not run again (remove {} to do so)",
            passed.len(),
            memory.path.display()
        );
    }
    memory.write(&passed, &ended, &skipped);

    println!(
        "{} tests passed, {} failed in {seconds:.0} s",
        ended.len() - failed.len(),
        failed.len()
    );
    if failed.is_empty() && left_behind.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Undoes what runs that were killed have left behind, which each command would speak of; returns
/// and prints it.
fn restore() -> BTreeSet<String> {
    let tool = std::env::current_exe().unwrap().with_file_name("unixmark");
    let output = Command::new(tool).arg("restore").stderr(Stdio::inherit()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let left_behind = printed
        .lines()
        .filter(|line| *line != "there is nothing to undo")
        .map(str::to_owned)
        .collect();
    print_list("left behind by runs that were killed, and undone:", &left_behind);
    left_behind
}

/// What the tests with an outcome said when they failed.
fn panics(ended: &[Ended<'_>], outcome: Outcome) -> BTreeSet<String> {
    let of_interest = ended.iter().filter(|ended| ended.outcome == outcome);
    of_interest.map(|ended| format!("{}: {}", ended.title, ended.panic)).collect()
}

fn print_list(heading: &str, items: &BTreeSet<String>) {
    if !items.is_empty() {
        println!("{heading}");
    }
    for item in items {
        println!("  {item}");
    }
}

/// Runs tests, those first that took longest the last time, and at the end those that must be
/// alone. Most workers take tests that wait, one of each processor takes those that compute, which
/// leave the processors to the others; a worker that finds no more of its kind helps the others.
fn run_tests<'a>(mut tests: Vec<Test<'a>>, times: &Path) -> Vec<Ended<'a>> {
    let mut last_times = read_times(times);
    let longest = std::fs::read_to_string(unixmark_testing::file(LONGEST)).unwrap();
    // Where nothing is known, long tests of programs and of whole runs come before the many of the
    // tool. A worker takes the last of a queue first.
    tests.reverse();
    tests.sort_by_cached_key(|test| {
        let title = test.title();
        let last_time = last_times.get(&title).copied().unwrap_or(Duration::MAX);
        (last_time, longest.lines().any(|line| line == title))
    });
    let (computing, waiting) = tests.into_iter().partition(|test| test.binary.computes());
    let queues = Queues {
        computing: Mutex::new(computing),
        waiting: Mutex::new(waiting),
        ended: Mutex::default(),
        later: Mutex::default(),
    };

    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| queues.work_on([&queues.computing, &queues.waiting]));
            for _ in 0..WAITING_TESTS_PER_CPU {
                scope.spawn(|| queues.work_on([&queues.waiting, &queues.computing]));
            }
        }
    });

    let mut ended = queues.ended.into_inner().unwrap();
    for test in queues.later.into_inner().unwrap() {
        ended.extend(test.run(false).ok());
    }
    retry_failures(&mut ended);
    last_times.extend(ended.iter().map(|ended| (ended.title.clone(), ended.took)));
    write_times(times, &last_times);
    ended
}

/// Runs each failed test again by itself: one that then passes was only disturbed. After more than
/// `MAX_DISTURBED` failures none is, since something else must be wrong.
fn retry_failures(ended: &mut [Ended<'_>]) {
    const MAX_DISTURBED: usize = 6;

    let failed: Vec<&mut Ended> =
        ended.iter_mut().filter(|test| test.outcome == Outcome::Failed).collect();
    if failed.len() > MAX_DISTURBED {
        return;
    }

    for ended in failed {
        if ended.test.passes_alone() {
            ended.outcome = Outcome::Disturbed;
        }
    }
}

type Queue<'a> = Mutex<Vec<Test<'a>>>;

/// The tests that no worker has taken yet, and those that are done with.
struct Queues<'a> {
    computing: Queue<'a>,
    waiting: Queue<'a>,
    ended: Mutex<Vec<Ended<'a>>>,
    /// Those that must be alone.
    later: Queue<'a>,
}

impl<'a> Queues<'a> {
    /// Runs the tests of one queue, and those of the other when there are no more.
    fn work_on(&self, [first, second]: [&Queue<'a>; 2]) {
        while let Some(test) = take(first).or_else(|| take(second)) {
            match test.run(true) {
                Ok(ended) => self.ended.lock().unwrap().push(ended),
                Err(test) => self.later.lock().unwrap().push(test),
            }
        }
    }
}

fn take<'a>(queue: &Queue<'a>) -> Option<Test<'a>> {
    queue.lock().unwrap().pop()
}

fn read_times(path: &Path) -> BTreeMap<String, Duration> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(parse_time).collect()
}

/// Reads `SECONDS TITLE`.
fn parse_time(line: &str) -> Option<(String, Duration)> {
    let (seconds, title) = line.split_once(' ')?;
    Some((title.to_owned(), Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?))
}

fn write_times(path: &Path, times: &BTreeMap<String, Duration>) {
    let lines: Vec<String> =
        times.iter().map(|(title, took)| format!("{:.3} {title}\n", took.as_secs_f64())).collect();
    std::fs::write(path, lines.concat()).unwrap();
}
