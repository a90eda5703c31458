//! A program that is driven by hand over its pipes, and what it says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use catalogue::{Copies, Test};
use rustix::process::{Pid, Signal, kill_process_group};

/// The end of what has no reason to go on: more than the second or two that is promised, on a
/// machine that is busy with other tests.
pub const AT_ONCE: Duration = Duration::from_secs(5);

/// The end of a window of a second or two, and the next line of a program, on such a machine.
pub const SOON: Duration = Duration::from_secs(90);

/// A program that runs, leader of a group, in a directory of its own. With this goes what is left
/// of the group.
pub struct Hand {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    said: String,
    folder: tempfile::TempDir,
}

/// How a program ended.
pub struct End {
    pub status: ExitStatus,
    /// All that it said from its start on.
    pub said: String,
    pub complaint: String,
}

impl Drop for Hand {
    fn drop(&mut self) {
        if !self.has_ended() || !self.members().is_empty() {
            let _ = kill_process_group(self.pid(), Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Hand {
    /// Starts a command, which may be what emulates the program's architecture.
    pub fn start(mut command: Command) -> Hand {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        command.current_dir(folder.path());
        // A program that makes a session of its own could not if it already led a group.
        if !command.get_args().any(|word| word == "session=1") {
            command.process_group(0);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Hand {
            name: format!("{command:?}"),
            stdin: child.stdin.take(),
            stdout: lines(child.stdout.take().unwrap()),
            stderr: lines(child.stderr.take().unwrap()),
            child,
            said: String::new(),
            folder,
        }
    }

    /// Starts a program with arguments.
    pub fn with<T: AsRef<str>>(binary: &Path, args: impl IntoIterator<Item = T>) -> Hand {
        let mut command = Command::new(binary);
        args.into_iter().for_each(|arg| _ = command.arg(arg.as_ref()));
        Hand::start(command)
    }

    /// Starts the program of a test with the test's arguments and `more` of them.
    pub fn test(test: &Test, binary: &Path, more: &[&str]) -> Hand {
        Hand::with(binary, arguments(test, more))
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Tells it a line. One that has gone by now has said why.
    pub fn say(&mut self, line: &str) {
        let _ = writeln!(self.stdin.as_mut().unwrap(), "{line}");
    }

    /// Waits until it has read all that it was told, or has ended.
    pub fn heard(&mut self) {
        let heard = |hand: &mut Hand| {
            hand.has_ended()
                || rustix::io::ioctl_fionread(hand.stdin.as_ref().unwrap()).unwrap() == 0
        };
        assert!(self.waits(SOON, heard), "{} does not listen", self.name);
    }

    /// Waits until it and the children that it waited for have used 50 ms of processor time, or it
    /// has ended.
    pub fn works(&mut self) {
        let used = self.ticks();
        let works = |hand: &mut Hand| hand.has_ended() || hand.ticks() >= used + 5;
        assert!(self.waits(SOON, works), "{} does not work", self.name);
    }

    /// Its processor time and that of the children that it waited for, in hundredths of a second.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
        fields.skip(11).take(4).map(|field| field.parse::<u64>().unwrap()).sum()
    }

    /// Closes its stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// The next line; none where it has closed its stdout.
    pub fn next_line(&mut self) -> Option<String> {
        let line = self.stdout.recv_timeout(SOON);
        assert!(
            !matches!(line, Err(std::sync::mpsc::RecvTimeoutError::Timeout)),
            "{} is silent",
            self.name
        );
        let line = line.ok()?;
        self.said.push_str(&format!("{line}\n"));
        Some(line)
    }

    /// The next line, which there must be.
    pub fn line(&mut self) -> String {
        let line = self.next_line();
        line.unwrap_or_else(|| panic!("{} ended: {}", self.name, self.said))
    }

    /// Whether it can run here; a skip where it cannot.
    pub fn is_ready(&mut self) -> bool {
        let line = self.line();
        assert!(line == "ready" || line.starts_with("skip "), "{}: {line}", self.name);
        if line != "ready" {
            testing::skip(&line);
        }
        line == "ready"
    }

    /// Tells it to work until stdin closes.
    pub fn load(&mut self) {
        assert_eq!(self.line(), "ready", "{}", self.name);
        self.say("go 0 0 0");
    }

    /// The counts of its next pulses, until there are `wanted` different ones.
    pub fn pulses(&mut self, wanted: usize) -> Vec<u64> {
        let mut counts: Vec<u64> = Vec::new();
        for _ in 0..200 {
            let line = self.line();
            let words: Vec<&str> = line.split(' ').collect();
            // What it checked before comes first.
            if words[0] != "pulse" && counts.is_empty() {
                continue;
            }
            assert_eq!((words[0], words.len()), ("pulse", 3), "{}: {line}", self.name);
            counts.push(words[2].parse().unwrap());
            counts.dedup();
            if counts.len() == wanted {
                return counts;
            }
        }
        panic!("{} does not get on: {counts:?}", self.name)
    }

    /// Has a load work as long after its mark, of which no line tells, as it took for the last of
    /// three different counts.
    pub fn mark(&mut self) -> Vec<u64> {
        let begun = Instant::now();
        let counts = self.pulses(3);
        let time = begun.elapsed();
        self.say("mark");
        self.heard();
        std::thread::sleep(time);
        counts
    }

    /// Waits for its end, which must come in time.
    pub fn end(&mut self, limit: Duration) -> End {
        let in_time = self.waits(limit, |hand| hand.has_ended());
        assert!(in_time, "{} still runs after {limit:?}: {}", self.name, self.said);
        while self.next_line().is_some() {}
        let mut complaint = String::new();
        while let Ok(line) = self.stderr.recv_timeout(SOON) {
            complaint.push_str(&format!("{line}\n"));
        }
        let wrong = ["ERROR: AddressSanitizer", "runtime error"]
            .iter()
            .any(|mark| complaint.contains(mark));
        assert!(!wrong, "{complaint}");
        End { status: self.child.wait().unwrap(), said: self.said.clone(), complaint }
    }

    /// Says go at once, with `slices` of `milliseconds`, and returns all that the program says.
    pub fn go(self, milliseconds: u64, slices: u32) -> String {
        let (good, said) = self.window(milliseconds, slices);
        assert!(good, "{said}");
        said
    }

    /// The same, and whether it ended as it should.
    fn window(mut self, milliseconds: u64, slices: u32) -> (bool, String) {
        self.say(&format!("go 0 {} {slices}", milliseconds * 1_000_000));
        let End { status, said, complaint } = self.end(SOON * 4);
        // Of a test of fork(2), the last child may still wait for a processor, to end on.
        self.leaves_no_process_within(SOON);
        self.leaves_little();
        let told = format!("{}: {status}: {said}{complaint}", self.name);
        if status.success() { (true, said) } else { (false, told) }
    }

    /// Checks that it left no more than the one file that serves the next trial. What
    /// `command/where` has of each execution is the tool's to remove: samples in files ROUND-ARM,
    /// and instructions in folders instructions-PASS-ARM.
    pub fn leaves_little(&self) {
        let is_of_samples = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let numbers = name.strip_prefix("instructions-").unwrap_or(&name);
            numbers.split('-').count() == 2
                && numbers.split('-').all(|part| part.parse::<u64>().is_ok())
        };
        let mut left = self.files();
        left.retain(|path| !is_of_samples(path));
        assert!(
            left.len() <= 1 && left.iter().all(|file| file.is_file()),
            "{} leaves {left:?}",
            self.name
        );
    }

    /// Its directory.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.folder()).unwrap().flatten().map(|entry| entry.path()).collect()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Whether a condition came true within a time.
    pub fn waits(&mut self, limit: Duration, condition: impl Fn(&mut Hand) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        while !condition(self) {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// The processes of the group that are alive, but for the leader.
    pub fn members(&self) -> Vec<i32> {
        let own = self.pid().as_raw_nonzero().get();
        let others =
            processes().into_iter().filter(|process| process.group == own && process.pid != own);
        others.map(|process| process.pid).collect()
    }

    /// Its children that are alive.
    pub fn children(&self) -> Vec<i32> {
        let own = self.pid().as_raw_nonzero().get();
        processes()
            .into_iter()
            .filter(|process| process.parent == own)
            .map(|process| process.pid)
            .collect()
    }

    pub fn leaves_no_process_within(&mut self, limit: Duration) {
        let empty = self.waits(limit, |hand| hand.members().is_empty());
        assert!(empty, "{} leaves processes behind", self.name);
    }
}

/// The lines of a pipe, read as they come: a long report does not fit into it.
fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            if sender.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}

/// A process that is alive, by /proc/PID/stat.
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
}

/// Whether a process is neither gone nor a zombie that nobody has reaped yet.
pub fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|text| process(&text).is_some())
}

fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    texts.filter_map(|text| process(&text)).collect()
}

/// `PID (NAME) STATE PARENT GROUP …`
fn process(stat: &str) -> Option<Process> {
    let (head, tail) = stat.rsplit_once(')')?;
    let mut fields = tail.split_whitespace();
    let pid = head.split(' ').next()?.parse().ok()?;
    let is_alive = fields.next()? != "Z";
    let process =
        Process { pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? };
    is_alive.then_some(process)
}

/// A test's arguments, for one copy, with `more` of them.
pub fn arguments(test: &Test, more: &[&str]) -> Vec<String> {
    let programs = testing::file("programs").display().to_string();
    let place = |word: &String| {
        let word = word.replace("{programs}", &programs).replace("{copies}", "1");
        word.replace("{work-speed}", "100000")
            .replace("{requests-capacity}", "500")
            .replace("{opens-capacity}", "100000")
    };
    let mut args: Vec<String> = test.args.iter().chain(&test.standard.args).map(place).collect();
    if test.copies == Copies::Threads {
        args.push("threads=2".to_owned());
    }
    if test.id.starts_with("disk-") {
        args.push("size=16m".to_owned());
    }
    // Several arrays of four times a large last-level cache are more memory than it takes of a
    // small machine, or of one in which eight tests run at once.
    if test.args.iter().any(|word| word == "size=ram") {
        args.push("size=64m".to_owned());
    }
    args.extend(more.iter().map(|word| (*word).to_owned()));
    if !test.command.is_empty() {
        args.push("--".to_owned());
        args.extend(test.command.iter().map(place));
    }
    args
}

/// Lets a program run for two slices of `milliseconds`, or much longer where these are too short
/// for its work; returns what it said.
pub fn work(start: impl Fn() -> Hand, milliseconds: u64) -> String {
    let (good, said) = start().window(milliseconds, 2);
    // One that slept through its window on a busy machine reports slices without work.
    let slept =
        said.lines().filter(|line| line.starts_with("slice ")).all(|line| line.ends_with(" 0"));
    if (!good && said.contains("no work in its whole window")) || (good && slept) {
        return start().go(milliseconds * 20, 2);
    }
    assert!(good, "{said}");
    said
}

/// The same for a test, after the form of what it said and its answers were checked.
pub fn answers(test: &Test, binary: &Path, milliseconds: u64) -> String {
    let said = work(|| Hand::test(test, binary, &[]), milliseconds);
    verify(test, &said);
    said
}

/// Reads a report and checks its form and the answers; returns the sum of the counts.
pub fn verify(test: &Test, said: &str) -> u64 {
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("ready"), "{}: {said}", test.id);
    assert_eq!(said.lines().last(), Some("done"), "{}: {said}", test.id);
    let mut checks: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut count, mut last) = (0, 0);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "slice" => {
                let (from, to): (u64, u64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
                assert!(last <= from && from <= to, "{}: {line}", test.id);
                last = to;
                count += words[3].parse::<u64>().unwrap();
            }
            "check" => {
                checks.insert(words[1], words[2].parse().unwrap());
            }
            // Threads' slices lie beside each other.
            "copy" => last = 0,
            "execution" | "value" | "usage" | "note" | "pulse" | "time" | "done" => {}
            _ => panic!("{}: {line}", test.id),
        }
    }
    for (name, right) in &test.checks {
        let value = checks.get(name.as_str());
        let value = value.unwrap_or_else(|| panic!("{}: no check {name}: {said}", test.id));
        assert!(right.accepts(*value), "{}: check {name} is {value}", test.id);
    }
    assert!(count > 0, "{}: {said}", test.id);
    count
}
