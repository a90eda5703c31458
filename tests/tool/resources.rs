//! Tests of one resource through the tool: threads as copies, single operations, limits, refusals,
//! and nothing left behind.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::{Place, processes_with, stderr, stdout};

/// The results of one run.
fn measured(place: &Place, words: &str) -> Value {
    let output = place.run(words);
    assert!(
        matches!(output.status.code(), Some(0)),
        "{words}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    place.assert_clean();
    place.json("latest")
}

fn row<'a>(report: &'a Value, test: &str, copies: u64) -> &'a Value {
    let rows = report["results"].as_array().unwrap();
    rows.iter()
        .find(|row| row["test"] == test && row["copies"] == copies)
        .unwrap_or_else(|| panic!("{test}: {report}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn threads_are_copies() {
    let place = Place::new();
    let report = measured(&place, "mutex core-to-core -c 1,3 -i 2");
    let three = row(&report, "mutex", 3);
    assert!(number(&three["value"]) > 0.0 && number(&three["values"]["handovers"]["value"]) >= 0.0);
    assert!((0.3..=1.001).contains(&number(&three["values"]["fairness"]["value"])), "{three}");
    let journal = std::fs::read_to_string(place.journal()).unwrap();
    let trials: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |copies: usize| {
        trials
            .iter()
            .filter(move |line| line["copies"].as_array().is_some_and(|all| all.len() == copies))
    };
    assert_eq!(of(3).count(), 2, "three threads, one program: {journal}");
    // What is one only is measured at no other level.
    let rows =
        report["results"].as_array().unwrap().iter().chain(report["skipped"].as_array().unwrap());
    assert_eq!(rows.filter(|row| row["test"] == "core-to-core").count(), 1);
}

#[test]
fn core_bound_work_is_held_against_its_limit() {
    let place = Place::new();
    let report = measured(&place, "int-add-chain float-fma matrix latency-l1 -c 1 -i 3");
    // A chain of additions takes a cycle each: the clock was measured by another.
    let chain = row(&report, "int-add-chain", 1);
    let cycles = number(&chain["undisturbed"]["cycles"]["value"]);
    assert!((0.9..1.1).contains(&cycles), "{chain}");
    let (peak, matrix) =
        (&row(&report, "float-fma", 1)["limit"], &row(&report, "matrix", 1)["limit"]);
    assert!(
        number(&peak["share"]) > number(&matrix["share"]),
        "a compiler's loop beats the peak: {peak} {matrix}"
    );
    let text = stdout(&place.unixmark("report latest").output().unwrap());
    assert!(
        text.contains("Undisturbed") && text.contains("Limits") && text.contains("FLOP/cycle"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for format in ["html", "markdown"] {
        let report =
            stdout(&place.unixmark(&format!("report latest --format {format}")).output().unwrap());
        assert!(report.contains("FLOP/cycle"), "{format}");
    }
}

#[test]
fn single_operations_have_percentiles() {
    let place = Place::new();
    let report = measured(&place, "vfork socketpair -c 1 -i 2");
    for test in ["vfork", "socketpair"] {
        let times = &row(&report, test, 1)["times"];
        let of = |name: &str| number(&times[name]["value"]);
        let least = times["min"].as_f64().unwrap();
        assert!(0.0 < least && least <= of("p10") && of("p10") <= of("p50"), "{test}: {times}");
        assert!(number(&times["count"]) > 20.0 && number(&times["max"]) >= of("p50"));
    }
}

#[test]
fn the_disk_is_read_past_the_cache() {
    let place = Place::new();
    let report = measured(&place, "disk-read-4k:size=16m disk-write-1m:size=16m -c 1,2 -i 1");
    if let Some(skip) = report["skipped"].as_array().unwrap().first() {
        return testing::skip(&skip["reason"].to_string());
    }
    let two = row(&report, "disk-read-4k:size=16m", 2);
    assert!(number(&two["value"]) > 0.0 && number(&two["times"]["p50"]["value"]) > 0.0, "{two}");
}

/// What cannot be is refused with a word that says why and what to try.
#[test]
fn refusals_say_why() {
    let place = Place::new();
    for (words, marks) in [
        ("disk-read-4k:size=4000g -c 1", &["needs", "free", "size="][..]),
        ("read-ram:size=900g -c 1", &["memory", "size"]),
        ("mutex -c 20000", &["threads=20000"]),
        ("disk-read-4k:block=3k -c 1", &["block"]),
    ] {
        let output = place.run(&format!("{words} -i 1"));
        assert!(matches!(output.status.code(), Some(1 | 3)), "{words}: {:?}", output.status);
        let said = stderr(&output);
        assert!(marks.iter().all(|mark| said.contains(mark)), "{words}: {said}");
        place.assert_clean();
    }
}

#[test]
fn memory_is_no_disk() {
    let shm = std::path::Path::new("/dev/shm");
    if !shm.is_dir() {
        return testing::skip("it needs /dev/shm");
    }
    let place = Place::new();
    let folder = tempfile::tempdir_in(shm).unwrap();
    let words = format!(
        "run disk-read-4k:size=16m -c 1 -i 1 --procedure quick --dir {}",
        folder.path().display()
    );
    let output = place.unixmark(&words).output().unwrap();
    assert!(stderr(&output).contains("tmpfs"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A SIGKILL of the tool leaves neither the laid-out file nor a process.
#[test]
fn a_killed_run_leaves_no_file() {
    let place = Place::new();
    let scratch = place.scratch();
    let mut child = Command::new(testing::built_program("unixmark"))
        .args(["run", "disk-read-4k:size=64m", "-c", "2", "--dir"])
        .arg(&scratch)
        .env("UNIXMARK_RESULTS", place.results())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mark = scratch.display().to_string();
    let wait = |done: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < deadline, "{:?}", processes_with(&mark));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait(&|| processes_with(&mark).iter().any(|line| line.contains("disk")));
    child.kill().unwrap();
    child.wait().unwrap();
    wait(&|| std::fs::read_dir(&scratch).unwrap().count() == 0 && processes_with(&mark).is_empty());
}

#[test]
fn a_screen_needs_a_terminal() {
    let place = Place::new();
    let output = place.run("pipe -c 1 --watch");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("terminal") && !place.results().exists(),
        "{}",
        stderr(&output)
    );
}

/// A terminal without escape codes is not drawn on; another is.
#[test]
fn a_dumb_terminal_gets_no_escape_codes() {
    if !testing::has("python3") {
        return;
    }
    let place = Place::new();
    let tool = env!("CARGO_BIN_EXE_unixmark");
    let on_terminal = |term: &str, more: &[&str]| {
        let mut command = Command::new("python3");
        let spawn =
            "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
        command
            .args(["-c", spawn, tool, "run", "syscall", "-c", "1", "--quick", "--dir"])
            .arg(place.scratch())
            .args(more);
        command.env("UNIXMARK_RESULTS", place.results()).env("TERM", term).stdin(Stdio::null());
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (term, draws) in [("dumb", false), ("", false), ("xterm", true)] {
        let (done, shown) = on_terminal(term, &[]);
        assert!(done && shown.contains("System Call Overhead"), "{term}: {shown}");
        assert_eq!(shown.contains('\x1b'), draws, "{term}: {shown:?}");
    }
    let (done, shown) = on_terminal("dumb", &["--watch"]);
    assert!(
        !done && testing::flat(&shown).contains("TERM names none") && !shown.contains('\x1b'),
        "{shown:?}"
    );
}
