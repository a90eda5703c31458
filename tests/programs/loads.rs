//! The loads: each works until it is told to end, and leaves nothing behind however it ends. Relations and counts, never
//! speeds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use catalogue::{Catalogue, Test};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const UNIXBENCH: &[&str] = &["-O3", "-ffast-math", "-march=native", "-mtune=native"];
const SANITIZERS: &[&str] = &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Sizes that keep the tests short, by program.
const SMALL: &[(&str, &[&str])] = &[
    ("burn", &["count=2"]),
    ("write", &["size=32"]),
    ("read", &["size=32"]),
    ("ring", &["count=3"]),
    ("compile", &["jobs=2"]),
    ("make", &["jobs=2", "units=8"]),
    ("memload", &["share=1"]),
    ("memload-cgroup", &["limit=16"]),
    ("hackbench", &["groups=1"]),
    ("forkstorm", &["jobs=2"]),
];

fn rows() -> Vec<Arc<Test>> {
    let catalogue = Catalogue::load().unwrap();
    catalogue.loads().filter(|test| test.program.starts_with("load/")).cloned().collect()
}

/// What makes a row small.
pub fn small_words(test: &Test) -> &'static [&'static str] {
    let find = |name: &str| SMALL.iter().find(|(id, _)| *id == name).map(|(_, args)| *args);
    find(&test.id).or_else(|| find(test.binary())).unwrap_or_else(|| panic!("{}: give it a size", test.id))
}

/// The arguments of a row at a small size.
fn small(test: &Test) -> Vec<String> {
    test.args.iter().cloned().chain(small_words(test).iter().map(|word| (*word).to_owned())).collect()
}

fn compile_all(folder: &Path, flags: &[&str]) {
    let mut seen = BTreeMap::new();
    for test in rows() {
        if seen.insert(test.binary().to_owned(), ()).is_some() {
            continue;
        }
        let programs = testing::file("programs");
        let mut command = Command::new("cc");
        command.current_dir(programs).args(flags).args(["-I", "."]).args(test.units()).args(testing::kit()).arg("-o");
        let output = command.arg(folder.join(test.binary())).args(["-Wl,--as-needed", "-lm"]).output().unwrap();
        assert!(output.status.success(), "{}: {}", test.id, String::from_utf8_lossy(&output.stderr));
    }
}

/// The programs as they are measured, compiled once for all tests.
fn binary(test: &Test) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loads");
        std::fs::create_dir_all(&folder).unwrap();
        compile_all(&folder, UNIXBENCH);
        folder
    });
    folder.join(test.binary())
}

/// A load that runs, leader of a group.
struct Hand {
    id: String,
    child: Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    folder: tempfile::TempDir,
}

impl Drop for Hand {
    fn drop(&mut self) {
        let _ = kill_process_group(self.group, Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Hand {
    fn start(test: &Test, binary: &Path, args: &[String]) -> Hand {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut child = Command::new(binary)
            .args(args)
            .current_dir(folder.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let group = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|l| sender.send(l))
        });
        Hand { id: test.id.clone(), child, group, stdin, lines, folder }
    }

    fn say(&mut self, words: &str) {
        self.stdin.as_mut().unwrap().write_all(words.as_bytes()).unwrap();
    }

    /// The next line, which must come soon.
    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("{} is silent", self.id))
    }

    fn go(&mut self) {
        assert_eq!(self.line(), "ready", "{}", self.id);
        self.say("go 0 0 0\n");
    }

    /// The counts of the next pulses until there are `wanted` different ones.
    fn pulses(&self, wanted: usize) -> Vec<u64> {
        let mut counts: Vec<u64> = Vec::new();
        for _ in 0..100 {
            let line = self.line();
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!((words[0], words.len()), ("pulse", 3), "{}: {line}", self.id);
            counts.push(words[2].parse().unwrap());
            counts.dedup();
            if counts.len() == wanted {
                return counts;
            }
        }
        panic!("{} does not get on: {counts:?}", self.id)
    }

    fn rest(&self) -> Vec<String> {
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(20)) {
            rest.push(line);
        }
        rest
    }

    fn ends_within(&mut self, limit: Duration) -> ExitStatus {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "{} does not end", self.id);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The processes of the group that are alive, but for the leader.
    fn members(&self) -> Vec<i32> {
        let group = self.group.as_raw_nonzero().get();
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|process| *process != group)
            .filter(|process| {
                let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
                // PID (NAME) STATE PARENT GROUP ...
                let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
                fields.len() > 2 && fields[0] != "Z" && fields[2] == group.to_string()
            })
            .collect()
    }

    fn group_is_empty_within(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while !self.members().is_empty() {
            assert!(Instant::now() < deadline, "{} leaves processes behind", self.id);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.folder.path()).unwrap().flatten().map(|entry| entry.path()).collect()
    }
}

/// From go to the end: what a tool does with a load. Returns the count after the mark.
fn whole_life(test: &Test, binary: &Path, args: &[String]) -> u64 {
    let mut hand = Hand::start(test, binary, args);
    hand.go();
    let counts = hand.pulses(3);
    assert!(counts.is_sorted(), "{}: {counts:?}", test.id);
    hand.say("mark\n");
    std::thread::sleep(Duration::from_millis(300));
    drop(hand.stdin.take());
    let status = hand.ends_within(Duration::from_secs(3));
    assert!(status.success(), "{}: {status} {:?}", test.id, hand.rest());
    assert_eq!(hand.members(), Vec::<i32>::new(), "{} leaves processes behind", test.id);
    let files = hand.files();
    assert!(files.len() <= 1 && files.iter().all(|file| file.is_file()), "{} leaves {files:?}", test.id);
    let rest = hand.rest();
    let rest: Vec<&str> = rest.iter().map(String::as_str).skip_while(|line| line.starts_with("pulse ")).collect();
    let kinds: Vec<&str> = rest.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["slice", "usage", "done"], "{}: {rest:?}", test.id);
    let slice: Vec<u64> = rest[0].split(' ').skip(1).map(|word| word.parse().unwrap()).collect();
    assert!(slice[0] < slice[1], "{}: {rest:?}", test.id);
    slice[2]
}

#[test]
fn every_load_works_until_it_is_told_to_end() {
    let _shared = testing::Machine::shared();
    for test in rows() {
        assert!(whole_life(&test, &binary(&test), &small(&test)) > 0, "{} did nothing after the mark", test.id);
    }
}

#[test]
fn every_load_is_clean_under_sanitizers() {
    let _shared = testing::Machine::shared();
    let folder = tempfile::tempdir().unwrap();
    compile_all(folder.path(), SANITIZERS);
    for test in rows() {
        whole_life(&test, &folder.path().join(test.binary()), &small(&test));
    }
}

#[test]
fn a_load_can_be_measured_over_a_window() {
    let _shared = testing::Machine::shared();
    for test in rows() {
        let mut hand = Hand::start(&test, &binary(&test), &small(&test));
        assert_eq!(hand.line(), "ready", "{}", test.id);
        hand.say("go 0 150000000 2\n");
        assert!(hand.ends_within(Duration::from_secs(3)).success(), "{}", test.id);
        let rest = hand.rest();
        assert_eq!(rest.iter().filter(|line| line.starts_with("slice ")).count(), 2, "{}: {rest:?}", test.id);
        assert!(hand.members().is_empty(), "{} leaves processes behind", test.id);
    }
}

#[test]
fn no_load_outlives_a_tool_that_never_says_go() {
    let _shared = testing::Machine::shared();
    for test in rows() {
        let mut hand = Hand::start(&test, &binary(&test), &small(&test));
        assert_eq!(hand.line(), "ready", "{}", test.id);
        drop(hand.stdin.take());
        hand.ends_within(Duration::from_secs(2));
        assert!(hand.rest().is_empty(), "{} reports nothing", test.id);
        hand.group_is_empty_within(Duration::from_secs(1));
        assert!(hand.files().len() <= 1, "{} leaves {:?}", test.id, hand.files());
    }
}

/// Nothing but the leader's death tells the others: nobody kills the group.
#[test]
fn the_workers_die_with_a_leader_that_is_killed() {
    let _shared = testing::Machine::shared();
    for test in rows() {
        let mut hand = Hand::start(&test, &binary(&test), &small(&test));
        hand.go();
        hand.pulses(2);
        kill_process(hand.group, Signal::KILL).unwrap();
        assert_eq!(hand.ends_within(Duration::from_secs(2)).signal(), Some(9), "{}", test.id);
        hand.group_is_empty_within(Duration::from_secs(2));
    }
}

/// A worker that somebody kills ends the load with an error, or is none of the lasting ones: it never hangs it.
#[test]
fn a_worker_that_is_killed_hangs_nothing() {
    let _shared = testing::Machine::shared();
    for test in rows() {
        let mut hand = Hand::start(&test, &binary(&test), &small(&test));
        hand.go();
        hand.pulses(2);
        let deadline = Instant::now() + Duration::from_secs(2);
        let killed = |hand: &Hand| {
            let process = hand.members().into_iter().min().and_then(Pid::from_raw);
            process.is_some_and(|process| kill_process(process, Signal::KILL).is_ok())
        };
        while !killed(&hand) {
            assert!(Instant::now() < deadline, "{} has no workers", test.id);
        }
        let status = hand.ends_within(Duration::from_secs(3));
        let rest = hand.rest();
        let last = rest.last().unwrap();
        assert!(status.code() == Some(1) && last.starts_with("error "), "{}: {status} {rest:?}", test.id);
        hand.group_is_empty_within(Duration::from_secs(1));
        assert!(hand.files().len() <= 1, "{} leaves {:?}", test.id, hand.files());
    }
}

/// The data file of one trial serves the next: it is not written again.
#[test]
fn a_prepared_file_is_used_again() {
    let _shared = testing::Machine::shared();
    let test = Catalogue::load().unwrap().test("read").unwrap().clone();
    let mut hand = Hand::start(&test, &binary(&test), &small(&test));
    assert_eq!(hand.line(), "ready");
    drop(hand.stdin.take());
    hand.ends_within(Duration::from_secs(2));
    let file = hand.files().pop().unwrap();
    let before = std::fs::metadata(&file).unwrap();
    assert_eq!(before.len(), 32 << 20);
    let mut again = Command::new(binary(&test));
    again.args(small(&test)).current_dir(hand.folder.path()).stdin(Stdio::null());
    assert_eq!(again.output().unwrap().stdout, b"ready\n");
    assert_eq!(before.modified().unwrap(), std::fs::metadata(&file).unwrap().modified().unwrap());
}

#[test]
fn what_cannot_run_here_is_skipped_with_the_reason() {
    let _shared = testing::Machine::shared();
    let test = Catalogue::load().unwrap().test("write").unwrap().clone();
    let hand = Hand::start(&test, &binary(&test), &["size=1048576".to_owned()]);
    let said = hand.line();
    assert!(said.starts_with("skip ") && said.contains("MiB more") && said.contains("--dir"), "{said}");
}

#[test]
fn wrong_arguments_are_named() {
    let _shared = testing::Machine::shared();
    for (id, word) in [
        ("burn", "count=4097"),
        ("write", "sync=2"),
        ("write", "block=1"),
        ("read", "mode=sideways"),
        ("read", "block=12288"),
        ("ring", "kind=rope"),
        ("ring", "tokens=0"),
        ("compile", "jobs=-1"),
        ("make", "jobs=many"),
        ("memload", "share=86"),
        ("memload", "limit=1"),
        ("hackbench", "kind=letter"),
        ("hackbench", "size=0"),
        ("forkstorm", "nonsense=1"),
    ] {
        let test = Catalogue::load().unwrap().test(id).unwrap().clone();
        let args: Vec<String> = small(&test).into_iter().chain([word.to_owned()]).collect();
        let mut hand = Hand::start(&test, &binary(&test), &args);
        let said = hand.line();
        let name = word.split('=').next().unwrap();
        assert!(said.starts_with("error ") && said.contains(name), "{id} {word}: {said}");
        assert_eq!(hand.ends_within(Duration::from_secs(2)).code(), Some(1), "{id} {word}");
    }
}
