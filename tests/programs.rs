//! The real programs: they compile clean, run clean under sanitizers, give right answers, do the work
//! they claim, and keep to the protocol. Relations and counts, never speeds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use unixmark::catalogue::{Catalogue, Copies, Test};

const UNIXBENCH: &[&str] = &["-O3", "-ffast-math", "-march=native", "-mtune=native"];
const PLAIN: &[&str] = &["-O2"];
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every test whose program is in C; the others have tests/graphics.rs.
fn tests() -> impl Iterator<Item = Arc<Test>> {
    Catalogue::load().unwrap().tests.into_iter().filter(|test| test.is_ours_in_c())
}

/// One test per binary.
fn binaries() -> Vec<Arc<Test>> {
    let mut seen = BTreeMap::new();
    for test in tests() {
        seen.entry(test.binary().to_owned()).or_insert(test);
    }
    seen.into_values().collect()
}

/// One rate test per binary; the others have their own suites: tests/frames.rs, chains.rs, loads.rs.
fn rates() -> impl Iterator<Item = Arc<Test>> {
    binaries().into_iter().filter(|test| test.is_rate())
}

fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: {tool} is not installed (make test installs it)");
    }
    there
}

/// Compiles a test's program into `folder`.
fn compile(test: &Test, folder: &Path, cc: &str, flags: &[&str]) -> PathBuf {
    let binary = folder.join(test.binary());
    let mut command = Command::new(cc);
    command.current_dir(root().join("programs")).args(flags).args(["-I", "."]);
    command.args(test.define.iter().map(|item| format!("-D{item}"))).args(test.units());
    command.args(common::kit()).arg("-o").arg(&binary).args(["-Wl,--as-needed", "-lm"]);
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{cc} {flags:?} on {}:\n{}",
        test.binary(),
        String::from_utf8_lossy(&output.stderr)
    );
    binary
}

/// A program by hand, with its scratch directory.
struct Hand {
    name: String,
    child: Child,
    folder: tempfile::TempDir,
}

impl Hand {
    fn start(binary: &Path, args: &[String]) -> Hand {
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

    fn of(test: &Test, binary: &Path, more: &[&str]) -> Hand {
        let programs = root().join("programs").display().to_string();
        let place = |word: &String| word.replace("{programs}", &programs).replace("{copies}", "1");
        let mut args: Vec<String> = test.args.iter().chain(&test.standard.args).map(place).collect();
        if test.copies == Copies::Threads {
            args.push("threads=2".to_owned());
        }
        if test.id.starts_with("disk-") {
            args.push("size=16m".to_owned());
        }
        args.extend(more.iter().map(|word| (*word).to_owned()));
        if !test.command.is_empty() {
            args.push("--".to_owned());
            args.extend(test.command.iter().map(place));
        }
        Hand::start(binary, &args)
    }

    /// Says go at once, with `slices` of `milliseconds`, and returns all that the program says.
    fn go(mut self, milliseconds: u64, slices: u32) -> String {
        let mut stdin = self.child.stdin.take().unwrap();
        stdin.write_all(format!("go 0 {} {slices}\n", milliseconds * 1_000_000).as_bytes()).unwrap();
        let mut said = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        drop(stdin);
        let mut complaint = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{}: {status}: {said}{complaint}", self.name);
        assert!(!complaint.contains("ERROR: AddressSanitizer") && !complaint.contains("runtime error"), "{complaint}");
        let left: Vec<_> = std::fs::read_dir(self.folder.path()).unwrap().flatten().collect();
        assert!(left.len() <= 1, "files left behind: {left:?}");
        said
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
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

/// Whether the program of the test can run here at all.
fn runnable(test: &Test) -> bool {
    test.needs
        .iter()
        .filter_map(|need| need.strip_prefix("tool:"))
        .all(|tool| std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|folder| folder.join(tool).exists()))
}

/// Reads a report and checks its form and the answers; returns the sum of the counts.
fn verify(test: &Test, said: &str) -> u64 {
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

#[test]
fn no_warnings_from_either_compiler() {
    for cc in ["gcc", "clang"] {
        if !has(cc) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        // Warnings that need the optimiser come with the usual standard; the next one is only read.
        for standard in [&[][..], &["-std=gnu2x", "-fsyntax-only", "-Wno-unused-command-line-argument"][..]] {
            let flags = [UNIXBENCH, STRICT, standard].concat();
            for test in binaries() {
                compile(&test, folder.path(), cc, &flags);
            }
        }
    }
}

#[test]
fn every_test_gives_right_answers_under_sanitizers() {
    let flags = [STRICT, &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]].concat();
    let folder = tempfile::tempdir().unwrap();
    let mut built: BTreeMap<String, PathBuf> = BTreeMap::new();
    for test in tests().filter(|test| test.is_rate()) {
        let binary = built
            .entry(test.binary().to_owned())
            .or_insert_with(|| compile(&test, folder.path(), "cc", &flags))
            .clone();
        if runnable(&test) {
            verify(&test, &Hand::of(&test, &binary, &[]).go(150, 2));
        }
    }
}

#[test]
fn every_test_gives_right_answers_as_it_is_measured() {
    let firsts: BTreeSet<String> = rates().map(|test| test.id.clone()).collect();
    for (cc, flags) in [("gcc", UNIXBENCH), ("gcc", PLAIN), ("clang", UNIXBENCH), ("clang", PLAIN)] {
        if !has(cc) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut built: BTreeMap<String, PathBuf> = BTreeMap::new();
        // Other compilers and flags than those that are measured with matter where the work is the processor's alone; of the other
        // programs one row each is enough.
        let usual = (cc, flags) == ("gcc", UNIXBENCH);
        let wanted = |test: &Test| {
            let alone = ["cpu", "memory"].contains(&test.category.as_str());
            usual || alone || (flags == UNIXBENCH && firsts.contains(&test.id))
        };
        for test in tests().filter(|test| test.is_rate() && wanted(test)) {
            let binary = built
                .entry(test.binary().to_owned())
                .or_insert_with(|| compile(&test, folder.path(), cc, flags))
                .clone();
            if runnable(&test) {
                let said = Hand::of(&test, &binary, &[]).go(100, 2);
                verify(&test, &said);
                bounded(&test, &said, &format!("{cc} {flags:?}"));
            }
        }
    }
}

/// Work that is optimised away is faster than the processor can be: by the clock that a program measured beside it, none is. A
/// tenth is allowed to the clock, which other guests of the machine change in the middle.
fn bounded(test: &Test, said: &str, build: &str) {
    let value = |name: &str| {
        let mut lines =
            said.lines().filter_map(|line| line.strip_prefix("value ")?.strip_prefix(name)?.strip_prefix(' '));
        lines.next()?.split(' ').next()?.parse::<f64>().ok()
    };
    let (Some(best), Some(clock)) = (value("best"), value("clock")) else { return };
    let cycles = best * clock;
    assert!(cycles > 1.0 / 512.0, "{build}: {} does a unit of its work in {cycles} cycles", test.id);
    let catalogue = Catalogue::load().unwrap();
    let Some(figure) = catalogue.figures.iter().find(|figure| Some(&figure.id) == test.limit.as_ref()) else { return };
    let known = processor(&catalogue).and_then(|processor| processor.limits.get(&figure.id));
    // What one addition takes is known of every processor.
    let least = match known.or((figure.id == "add_latency").then_some(&1.0)) {
        Some(limit) if figure.is_cycles() => *limit,
        Some(limit) => 1.0 / limit,
        None => return,
    };
    assert!(cycles > least * 0.9, "{build}: {} takes {cycles} cycles and cannot take less than {least}", test.id);
}

fn processor(catalogue: &Catalogue) -> Option<&unixmark::catalogue::Processor> {
    let facts = unixmark::machine::facts(&unixmark::machine::Machine::here(), Path::new("/"));
    let fact = |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.clone());
    catalogue.processor(&fact("cpu.vendor")?, &fact("cpu.stepping")?)
}

/// A wrong answer is noticed: of a kernel of the processor, of memory that is not what was written, of a block of a file.
#[test]
fn a_planted_error_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::load().unwrap();
    for (id, check) in [("float-fma", "right"), ("sin", "sum"), ("copy-l1", "after"), ("disk-read-4k", "wrong_blocks")]
    {
        let test = catalogue.test(id).unwrap();
        let binary = compile(test, folder.path(), "cc", UNIXBENCH);
        for (word, good) in [("wrong=0", true), ("wrong=1", false)] {
            let said = Hand::of(test, &binary, &[word]).go(100, 2);
            if said.contains("\nskip ") {
                continue;
            }
            let line = said
                .lines()
                .find_map(|line| line.strip_prefix(&format!("check {check} ")))
                .unwrap_or_else(|| panic!("{said}"));
            assert_eq!(test.checks[check].accepts(line.parse().unwrap()), good, "{id} {word}: {line}");
        }
    }
}

/// Threads are copies: each is told, and what they count together is what one program does.
#[test]
fn threads_are_told_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let test = Catalogue::load().unwrap().test("atomic-shared").unwrap().clone();
    let binary = compile(&test, folder.path(), "cc", UNIXBENCH);
    let said = Hand::start(&binary, &["threads=3".to_owned(), "cpu=0".to_owned()]).go(100, 3);
    let copies: Vec<&str> = said.lines().filter(|line| line.starts_with("copy ")).collect();
    assert_eq!(copies, ["copy 0", "copy 1", "copy 2"], "{said}");
    assert_eq!(said.matches("slice ").count(), 9, "{said}");
}

#[test]
fn the_end_of_stdin_ends_every_program() {
    let folder = tempfile::tempdir().unwrap();
    for test in &rates().filter(|test| runnable(test)).collect::<Vec<_>>() {
        let binary = compile(test, folder.path(), "cc", UNIXBENCH);
        // While it waits for go.
        let mut hand = Hand::of(test, &binary, &[]);
        drop(hand.child.stdin.take());
        assert!(hand.ends_within(Duration::from_secs(5)), "{} waits for ever", test.id);
        // In the middle of a window of a hundred seconds.
        let mut hand = Hand::of(test, &binary, &[]);
        let mut stdin = hand.child.stdin.take().unwrap();
        stdin.write_all(b"go 0 1000000000 100\n").unwrap();
        std::thread::sleep(Duration::from_millis(100));
        drop(stdin);
        assert!(hand.ends_within(Duration::from_secs(5)), "{} goes on without its tool", test.id);
        let mut said = String::new();
        hand.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.is_empty() || said == "ready\n", "{} reports an unfinished window: {said}", test.id);
    }
}

#[test]
fn a_load_reports_what_it_achieved() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::load().unwrap();
    for id in ["syscall", "execl", "shell1", "whetstone-double"] {
        let test = catalogue.test(id).unwrap();
        let binary = compile(test, folder.path(), "cc", UNIXBENCH);
        let mut hand = Hand::of(test, &binary, &[]);
        let mut stdin = hand.child.stdin.take().unwrap();
        stdin.write_all(b"go 0 250000000 0\n").unwrap();
        std::thread::sleep(Duration::from_millis(400));
        drop(stdin);
        assert!(hand.ends_within(Duration::from_secs(5)), "{id}");
        let mut said = String::new();
        hand.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.ends_with("done\n") && said.matches("slice ").count() == 1, "{id}: {said}");
        verify(test, &said);
    }
}

/// A script that fails is an error, not a fast pass.
#[test]
fn a_failing_script_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let test = Catalogue::load().unwrap().test("shell8").unwrap().clone();
    let binary = compile(&test, folder.path(), "cc", UNIXBENCH);
    let script = root().join("programs/shell/multi.sh").display().to_string();
    // The scripts write to the current directory: on /proc they cannot, whoever runs them.
    let mut child = Command::new(binary);
    child.args(["--", &script, "2"]).current_dir("/proc").stdin(Stdio::null());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("error ") && said.contains("multi.sh ended with wait status"), "{said}");
}

#[test]
fn wrong_arguments_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::load().unwrap();
    for (id, word, mark) in [
        ("pipe", "nonsense=1", "nonsense"),
        ("syscall", "mode=sideways", "mode"),
        ("hanoi", "disks=-1", "disks"),
        ("fstime", "block=lots", "block"),
        ("null", "nice=99", "nice"),
    ] {
        let test = catalogue.test(id).unwrap();
        let binary = compile(test, folder.path(), "cc", UNIXBENCH);
        let mut hand = Hand::start(&binary, &[word.to_owned()]);
        let mut said = String::new();
        hand.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        hand.child.wait().unwrap();
        assert!(said.starts_with("error ") && said.contains(mark), "{id} {word}: {said}");
    }
}

/// UnixBench's arithmetic tests are optimised away; ours take longer the more they have to do.
#[test]
fn arithmetic_takes_longer_the_more_steps_it_has() {
    let catalogue = Catalogue::load().unwrap();
    for cc in ["gcc", "clang"] {
        if !has(cc) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        for id in ["arithoh", "short", "int", "long", "float", "double", "register"] {
            let test = catalogue.test(id).unwrap();
            let binary = compile(test, folder.path(), cc, UNIXBENCH);
            let count = |steps: &str| verify(test, &Hand::of(test, &binary, &[steps]).go(50, 4)) as f64;
            // The best of three: a disturbed window must not fail the relation.
            let best = |steps: &str| (0..3).map(|_| count(steps)).fold(0.0, f64::max);
            let ratio = best("steps=17") / best("steps=170");
            assert!((3.0..30.0).contains(&ratio), "{cc}, {id}: ten times the steps take {ratio} times as long");
        }
    }
}

/// The divisions are really in the code: a type with its divide takes longer than the empty loop.
#[test]
fn arithmetic_divides() {
    let catalogue = Catalogue::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let count = |id: &str| {
        let test = catalogue.test(id).unwrap();
        let binary = compile(test, folder.path(), "cc", UNIXBENCH);
        (0..3).map(|_| verify(test, &Hand::of(test, &binary, &[]).go(50, 4))).max().unwrap() as f64
    };
    let empty = count("arithoh");
    for id in ["short", "int", "long", "float", "double", "register"] {
        assert!(empty / count(id) > 1.5, "{id} costs no more than the empty loop");
    }
}

#[test]
fn counts_grow_with_the_window() {
    let catalogue = Catalogue::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for test in catalogue
        .expand(&["index".to_owned()])
        .unwrap()
        .iter()
        .filter(|test| test.value.is_none() && test.id != "shell8")
    {
        let binary = compile(test, folder.path(), "cc", UNIXBENCH);
        let count = |slices| (0..2).map(|_| verify(test, &Hand::of(test, &binary, &[]).go(100, slices))).max().unwrap();
        let (short, long) = (count(1) as f64, count(8) as f64);
        assert!(long / short > 3.0, "{}: {short} in 0.1 s, {long} in 0.8 s", test.id);
    }
}

/// What `LC_ALL=C` tools say of the data, against the shape UnixBench's has.
#[test]
fn the_shell_tests_data_has_unixbench_s_shape() {
    let text = std::fs::read_to_string(root().join("programs/shell/sort.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut distinct = lines.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let lengths = |from: usize, to: usize| lines.iter().filter(|line| (from..to).contains(&line.len())).count();
    assert_eq!((text.len(), lines.len(), text.split_whitespace().count(), distinct.len()), (8546, 362, 1200, 273));
    assert_eq!(
        [lengths(0, 20), lengths(20, 40), lengths(40, 60), lengths(60, 80), lengths(80, 1000)],
        [196, 90, 56, 19, 1]
    );
    assert_eq!(lines.iter().map(|line| line.len()).max(), Some(82));
    let with: Vec<&&str> = lines.iter().filter(|line| line.contains("the")).collect();
    assert_eq!((with.len(), with.iter().map(|line| line.len() + 1).sum::<usize>()), (35, 924));
    assert!(text.is_ascii());
    let od = Command::new("sh").args(["-c", "LC_ALL=C sort programs/shell/sort.txt | od"]).current_dir(root()).output();
    let od = String::from_utf8(od.unwrap().stdout).unwrap();
    assert_eq!((od.lines().count(), od.len()), (536, 34_013));
}

/// The portable programs answer to every name, from a multi-call binary of less than 4 MB.
#[test]
fn the_portable_build_has_every_program() {
    let place = common::Place::new();
    let scratch = place.scratch();
    let cache = place.root.path().join("cache");
    let mut tool =
        place.unixmark(&format!("run all -c 1 -i 1 -q --procedure quick --build portable --dir {}", scratch.display()));
    let output = tool.env("XDG_CACHE_HOME", &cache).output().unwrap();
    assert!(matches!(output.status.code(), Some(0)), "{}", common::stderr(&output));
    let report = place.json("latest");
    assert_eq!(report["errors"].as_array().unwrap().len(), 0, "{}", report["errors"]);
    let all = Catalogue::load().unwrap().tests.iter().filter(|test| test.is_rate()).count();
    assert_eq!(report["results"].as_array().unwrap().len() + report["skipped"].as_array().unwrap().len(), all);
    assert_eq!(report["run"]["build"]["name"], "portable");
    let folder = std::fs::read_dir(cache.join("unixmark")).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::metadata(folder.join("bin/spawn")).unwrap().len() < 4 << 20);
}
