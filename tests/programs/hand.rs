//! A program that is driven by hand, and what it says.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use catalogue::{Copies, Test};

/// A program by hand, with its scratch directory.
pub struct Hand {
    name: String,
    pub child: Child,
    folder: tempfile::TempDir,
}

impl Hand {
    pub fn start(binary: &Path, args: &[String]) -> Hand {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let child = Command::new(binary)
            .args(args)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Hand { name: binary.file_name().unwrap().to_string_lossy().into_owned() + " " + &args.join(" "), child, folder }
    }

    pub fn of(test: &Test, binary: &Path, more: &[&str]) -> Hand {
        Hand::start(binary, &arguments(test, more))
    }

    /// Says go at once, with `slices` of `milliseconds`, and returns all that the program says.
    pub fn go(self, milliseconds: u64, slices: u32) -> String {
        let (good, said) = self.window(milliseconds, slices);
        assert!(good, "{said}");
        said
    }

    /// The same, and whether it ended as it should.
    fn window(mut self, milliseconds: u64, slices: u32) -> (bool, String) {
        let mut stdin = self.child.stdin.take().unwrap();
        stdin.write_all(format!("go 0 {} {slices}\n", milliseconds * 1_000_000).as_bytes()).unwrap();
        let mut said = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        drop(stdin);
        let mut complaint = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert!(!complaint.contains("ERROR: AddressSanitizer") && !complaint.contains("runtime error"), "{complaint}");
        let status = self.child.wait().unwrap();
        let left: Vec<_> = std::fs::read_dir(self.folder.path()).unwrap().flatten().collect();
        assert!(left.len() <= 1, "files left behind: {left:?}");
        if status.success() { (true, said) } else { (false, format!("{}: {status}: {said}{complaint}", self.name)) }
    }

    pub fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        false
    }
}

/// A test's arguments, for one copy, with `more` of them.
pub fn arguments(test: &Test, more: &[&str]) -> Vec<String> {
    let programs = testing::file("programs").display().to_string();
    let place = |word: &String| {
        word.replace("{programs}", &programs).replace("{copies}", "1").replace("{work-speed}", "100000")
    };
    let mut args: Vec<String> = test.args.iter().chain(&test.standard.args).map(place).collect();
    if test.copies == Copies::Threads {
        args.push("threads=2".to_owned());
    }
    if test.id.starts_with("disk-") {
        args.push("size=16m".to_owned());
    }
    // Three arrays of four times a large last-level cache are more memory than it takes of a small machine.
    if test.id == "triad-ram" {
        args.push("size=64m".to_owned());
    }
    args.extend(more.iter().map(|word| (*word).to_owned()));
    if !test.command.is_empty() {
        args.push("--".to_owned());
        args.extend(test.command.iter().map(place));
    }
    args
}

/// Lets a program run for two slices of `milliseconds`, or much longer where it says that these are too short for its work; returns
/// what it said, after its form and its answers were checked.
pub fn answers(test: &Test, binary: &Path, milliseconds: u64) -> String {
    let (good, mut said) = Hand::of(test, binary, &[]).window(milliseconds, 2);
    if !good && said.contains("nothing was completed within the window") {
        said = Hand::of(test, binary, &[]).go(milliseconds * 20, 2);
    } else {
        assert!(good, "{said}");
    }
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
            "value" | "usage" | "note" | "pulse" | "time" | "done" => {}
            _ => panic!("{}: {line}", test.id),
        }
    }
    for (name, right) in &test.checks {
        assert!(right.accepts(checks[name.as_str()]), "{}: check {name} is {}", test.id, checks[name.as_str()]);
    }
    assert!(count > 0, "{}: {said}", test.id);
    count
}
