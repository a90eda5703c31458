//! Burn-ins with programs that do as they should, and with those that crash, hang and lie; and a
//! tool that is stopped and killed.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::{Place, fake, processes_with, stderr, stdout};

/// `burnin` with a fake program, which has the same name.
fn burnin(place: &Place, kind: &str, words: &str) -> Output {
    let (program, scratch) = (fake(kind), place.scratch());
    let words = format!(
        "burnin {kind} --program {} --dir {} {words}",
        program.display(),
        scratch.display()
    );
    let output = place.unixmark(&words).output().unwrap();
    place.assert_clean();
    assert_eq!(processes_with(&scratch.display().to_string()), Vec::<String>::new());
    output
}

/// A memory burn-in of a fake that ends badly; returns its reason.
fn ends(kind: &str, end: &str, words: &str) -> (Output, Value) {
    let place = Place::new();
    let words = format!("--arg end={end} {words}");
    let output = burnin(&place, kind, &words);
    (output, place.json("latest"))
}

#[test]
fn passes_without_a_fault() {
    let place = Place::new();
    let output = burnin(&place, "memory", "--size 4M --passes 3 --arg shrink=1");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for pass in 1..=3 {
        assert!(
            stderr(&output).contains(&format!("pass {pass}: 8 KiB in 0.2 s")),
            "{}",
            stderr(&output)
        );
    }
    assert!(stdout(&output).contains("No fault in 3 passes."), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("gave memory back (only 100 MiB are left)"),
        "{}",
        stderr(&output)
    );
    let report = place.json("latest");
    let burnin = &report["burnin"];
    assert_eq!((&report["end"], &burnin["good"]), (&"complete".into(), &true.into()));
    assert_eq!((&burnin["memory"]["passes"], &burnin["memory"]["faults"]), (&3.into(), &0.into()));
    assert_eq!(burnin["asked"]["bytes"], 4 << 20);
    assert!(report["warnings"].to_string().contains("a fake"), "its notes are told");
}

#[test]
fn one_pass_unless_a_time_is_given() {
    let place = Place::new();
    assert_eq!(burnin(&place, "memory", "--size 4M -q").status.code(), Some(0));
    assert_eq!(place.json("latest")["burnin"]["memory"]["passes"], 1);
    let output = burnin(&place, "memory", "--size 4M --for 1500ms -q");
    let (verdict, messages) = (stdout(&output), stderr(&output));
    assert_eq!((output.status.code(), messages.as_str()), (Some(0), ""));
    assert!(verdict.starts_with("No fault in ") && verdict.lines().count() == 1, "{verdict}");
    let report = place.json("latest");
    assert!(report["burnin"]["memory"]["passes"].as_u64().unwrap() > 2, "{report}");
    assert!((1.5..4.0).contains(&report["burnin"]["worked"].as_f64().unwrap()), "{report}");
}

#[test]
fn faults_are_told_at_once_and_located() {
    let place = Place::new();
    let output = burnin(&place, "memory", "--size 4M --passes 2 -q --arg fault=1");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = "fault: pass 1, random: 0xfe at 0x7f0000001008 (physical 0x12345008) instead of 0xff, gone when read again";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    let report = place.json("latest");
    let burnin = &report["burnin"];
    assert_eq!((&burnin["good"], &burnin["memory"]["faults"]), (&false.into(), &6.into()));
    let fault = &report["faults"][1];
    assert_eq!(
        (&fault["address"], &fault["read"], &fault["pass"]),
        (&"0x7f0000002010".into(), &"0x0".into(), &1.into())
    );
    assert!(fault["physical"].is_null());
    assert_eq!(report["patterns"][0]["bits"], "0x8000000000000001");
    let text = stdout(&place.unixmark("report").output().unwrap());
    for words in [
        "6 faults in 2 passes",
        "physical 0x12345008",
        "xor 0x8000000000000000",
        "2 more are not shown",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_cooling_that_holds() {
    let place = Place::new();
    let output = burnin(&place, "cooling", "--for 9s --rest 2s");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("rest, clock 4.00 GHz (100.0 % of the first seconds), 0 wrong"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("the work stops; resting for 2.0 s"), "{}", stderr(&output));
    let report = place.json("latest");
    let cooling = &report["burnin"]["cooling"];
    assert_eq!((&report["burnin"]["good"], &cooling["wrong"]), (&true.into(), &0.into()));
    assert!(cooling["fell"].is_null(), "{cooling}");
    assert_eq!(cooling["clock"]["kept"]["value"], 1.0);
    assert_eq!(report["processors"].as_array().unwrap().len(), 2);
    let samples = report["burnin"]["samples"].as_array().unwrap();
    assert!((12..=14).contains(&samples.len()), "one a second: {}", samples.len());
    assert_eq!(
        samples.iter().filter(|sample| sample["resting"] == true).count(),
        samples.len() - 10,
        "{samples:#?}"
    );
}

#[test]
fn wrong_results_are_told_at_once() {
    let place = Place::new();
    let output = burnin(&place, "cooling", "--for 2s --rest 0 -q --arg wrong=1");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("wrong: 1 on CPU 1 in the second to 1 s"),
        "{}",
        stderr(&output)
    );
    let report = place.json("latest");
    assert!(report["burnin"]["cooling"]["wrong"].as_u64().unwrap() >= 2);
    assert!(
        report["burnin"]["verdict"].as_str().unwrap().contains("computes wrong results"),
        "{report}"
    );
}

#[test]
fn programs_that_end_badly() {
    let cases = [
        ("memory", "crash", "--for 1m", "it was killed by SIGSEGV"),
        (
            "memory",
            "garbage",
            "--for 1m",
            "it printed 'pass two is over', which is not part of the protocol",
        ),
        ("memory", "error", "--for 1m", "the memory has gone: try another"),
        ("memory", "hang", "--for 1m --patience 3s", "it printed nothing for 3 s and was killed"),
        ("cooling", "crash", "", "it was killed by SIGABRT"),
        ("cooling", "hang", "--patience 3s", "it printed nothing for 3 s and was killed"),
        (
            "cooling",
            "garbage",
            "",
            "it printed 'beat now 0 0 1 4.0 0', which is not part of the protocol",
        ),
        ("cooling", "future", "", "it reports a time in the future"),
    ];
    // Each mostly waits.
    std::thread::scope(|scope| {
        cases.iter().for_each(|case| drop(scope.spawn(|| ends_badly(case))))
    });
}

fn ends_badly((kind, end, words, reason): &(&str, &str, &str, &str)) {
    let _machine = testing::Machine::shared();
    let began = Instant::now();
    let (output, report) = ends(kind, end, words);
    assert!(began.elapsed() < Duration::from_secs(30), "{kind} {end}");
    assert_eq!(output.status.code(), Some(1), "{kind} {end}: {}", stderr(&output));
    assert!(
        report["errors"][0]["reason"].as_str().unwrap().starts_with(reason),
        "{end}: {}",
        report["errors"]
    );
    let verdict = report["burnin"]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with(&format!("It failed: {reason}")), "{verdict}");
    assert_eq!(report["burnin"]["good"], false);
    if *kind == "memory" {
        assert_eq!(report["burnin"]["memory"]["passes"], 1, "what was done before is kept");
    }
}

#[test]
fn a_program_that_ends_by_itself() {
    let (output, report) = ends("memory", "early", "--for 1m");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(report["burnin"]["worked"].as_f64().unwrap() < 10.0);
}

#[test]
fn what_cannot_run_is_skipped() {
    let (output, report) = ends("cooling", "skip", "");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(report["skipped"][0]["reason"], "it is too cold here");
    assert!(stderr(&output).contains("it is too cold here"), "{}", stderr(&output));
}

/// Starts a burn-in without an end and waits until a pass, or a second, is in its journal.
#[expect(
    clippy::zombie_processes,
    reason = "the callers wait for it; where they cannot, the test has failed"
)]
fn long(place: &Place, kind: &str, words: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
    command
        .args(["burnin", kind, "--for", "1h", "--dir"])
        .arg(place.scratch())
        .arg("--program")
        .arg(fake(kind));
    command.args(words.split_whitespace()).env("UNIXMARK_RESULTS", place.results());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let journals = std::fs::read_dir(place.results()).into_iter().flatten().flatten();
        let going = journals
            .filter_map(|run| std::fs::read_to_string(run.path().join("run.jsonl")).ok())
            .any(|text| text.contains("\"type\":\"pass\"") || text.contains("\"beats\""));
        if going || Instant::now() > deadline {
            assert!(going, "nothing was done");
            return child;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_ends_it_with_a_report() {
    for (kind, signal, code, words) in [
        ("memory", Signal::INT, 130, ""),
        ("memory", Signal::INT, 130, "--arg stubborn=1"),
        ("cooling", Signal::TERM, 143, ""),
        ("cooling", Signal::HUP, 129, ""),
    ] {
        let place = Place::new();
        let child = long(&place, kind, words);
        let began = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(8), "{words}");
        assert_eq!(output.status.code(), Some(code));
        assert!(stdout(&output).contains("the run was interrupted"), "{}", stdout(&output));
        place.assert_clean();
        assert_eq!(processes_with(&place.scratch().display().to_string()), Vec::<String>::new());
        let report = place.json("latest");
        assert_eq!(report["end"], "interrupted");
        assert!(report["errors"].as_array().unwrap().is_empty(), "{}", report["errors"]);
    }
}

#[test]
fn sigkill_leaves_nothing_but_the_journal() {
    for kind in ["memory", "cooling"] {
        let place = Place::new();
        let mut child = long(&place, kind, "--arg stubborn=1");
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        place.assert_gone(Duration::from_secs(3));
        place.cut_short();
    }
}

/// The catalogue's own programs find what is planted, and nothing else.
#[test]
fn the_real_programs() {
    let place = Place::new();
    let scratch = place.scratch();
    let burnin = |words: &str| {
        let words = format!("burnin {words} -q --dir {}", scratch.display());
        let output = place.unixmark(&words).output().unwrap();
        place.assert_clean();
        (output.status.code(), place.json("latest"))
    };
    let (code, report) = burnin("memory --size 64M");
    let memory = &report["burnin"];
    assert_eq!(
        (code, &memory["good"], &memory["memory"]["passes"]),
        (Some(0), &true.into(), &1.into()),
        "{report}"
    );
    let (code, report) = burnin("memory --size 64M --arg flip=all");
    assert_eq!((code, &report["burnin"]["good"]), (Some(1), &false.into()));
    let patterns = report["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), 7, "every pattern finds its bit: {report}");
    assert!(
        report["burnin"]["verdict"].as_str().unwrap().starts_with("7 faults in 1 pass"),
        "{report}"
    );
    for fault in report["faults"].as_array().unwrap() {
        let word =
            |name: &str| u64::from_str_radix(&fault[name].as_str().unwrap()[2..], 16).unwrap();
        assert_eq!((word("expected") ^ word("read")).count_ones(), 1, "{fault}");
        assert_eq!(
            (word("xor"), word("retest")),
            (word("expected") ^ word("read"), word("read")),
            "{fault}"
        );
    }
    let (code, report) = burnin("cooling --for 4s --rest 2s");
    let cooling = &report["burnin"]["cooling"];
    assert_eq!(
        (code, &report["burnin"]["good"], &cooling["wrong"]),
        (Some(0), &true.into(), &0.into()),
        "{report}"
    );
    let clock = cooling["clock"]["initial"]["value"].as_f64().unwrap();
    assert!((0.1..10.0).contains(&clock), "{clock} GHz");
    assert!(
        report["burnin"]["samples"]
            .as_array()
            .unwrap()
            .iter()
            .any(|sample| sample["resting"] == true),
        "{report}"
    );
    let (code, report) = burnin("cooling --for 2s --rest 0 --arg wrong=1");
    assert_eq!((code, &report["burnin"]["good"]), (Some(1), &false.into()), "{report}");
    // What says more than a load may is none.
    let output = place.unixmark("run syscall --load burn-cooling").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`unixmark burnin`"), "{}", stderr(&output));
}

#[test]
fn wrong_words() {
    let place = Place::new();
    for (words, complaint) in [
        ("burnin", "cooling"),
        ("burnin memory --size much", "'much' is not a size; try 80%"),
        ("burnin memory --size 101%", "is not a size"),
        (
            "burnin memory --size 9999T",
            "that can be used here without swapping others out; try --size 80%",
        ),
        ("burnin memory --passes 0", "--passes"),
        ("burnin memory --for 0s", "a time of 0 measures nothing"),
        ("burnin cooling --kind ice", "mix"),
        ("burnin cooling -c 0", "0"),
        ("burnin cooling --arg hot", "'hot' is not an argument; try KEY=VALUE"),
        ("burnin cooling --program /nonexistent/x", "/nonexistent/x cannot be run"),
    ] {
        let output = place.unixmark(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(complaint), "{words}: {}", stderr(&output));
        assert!(!place.results().exists());
    }
}

/// A burn-in's journal is a shorter run wherever it is cut.
#[test]
fn cut_at_any_line() {
    use report::{Format, Subject, render};
    let catalogue = catalogue::Catalogue::load().unwrap();
    for run in ["cooling", "memory"] {
        let path = testing::file(format!("tests/runs/{run}/run.jsonl"));
        let whole = std::fs::read_to_string(path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<usize> = whole.match_indices('\n').map(|(place, _)| place + 1).collect();
        for (number, end) in lines.iter().enumerate() {
            // In the middle of the next line.
            let end = (end + 25).min(whole.len());
            std::fs::write(folder.path().join("run.jsonl"), &whole[..end]).unwrap();
            let journal = journal::read(folder.path()).unwrap();
            let results = analysis::Results::new(&journal, &catalogue, None);
            for (format, _) in Format::FILES.into_iter().filter(|_| number % 9 == 0 || number < 12)
            {
                let report = render(Subject::Run(&results), format).unwrap();
                assert!(!report.contains("NaN"), "{number} lines, {format:?}: {report}");
            }
        }
    }
}

/// The report of a burst by a fake program, with these words.
fn burst(words: &str) -> (Place, Output) {
    let place = Place::new();
    let words = format!("burnin burst --program {} {words}", fake("cooling").display());
    let output = place.unixmark(&words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    (place, output)
}

#[test]
fn a_machine_that_keeps_its_speed_shows_no_burst() {
    let (place, output) = burst("--for 2s -q");

    assert_eq!(
        stdout(&output).replace('\n', " ").trim(),
        "No burst seen in 2.0 s: the rate did not fall to a lower level and stay there."
    );
    assert!(place.json("latest")["burnin"]["burst"].is_null());
}

#[test]
#[ignore = "a plateau takes a quarter of a minute"]
fn a_credit_is_found_within_a_tenth() {
    let (place, output) = burst("--for 30s --copies 2 --arg credit=8.4");

    let burst = &place.json("latest")["burnin"]["burst"];
    let value = |name: &str| burst[name]["value"].as_f64().unwrap();
    for (name, expected) in [
        ("lasted", 8.4),
        ("sustained", 0.4),
        ("credit", 10.08),
        ("refill", 0.8),
        ("full_after", 12.6),
    ] {
        assert!((value(name) / expected - 1.0).abs() < 0.1, "{name}: {burst}");
    }
    let said = testing::flat(&stdout(&output));
    assert!(said.contains("In other words: 2 threads of integer arithmetic"), "{said}");
}

#[test]
fn run_knows_a_burst_and_its_threads() {
    let place = Place::new();
    let output = place.unixmark("run burst --copies 1,2").output().unwrap();

    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("a burst has one number of threads"), "{}", stderr(&output));
}
