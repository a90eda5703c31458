//! `unixmark ab`, and commands wherever a test can stand: real ones, some of which misbehave.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::counts::is_untraceable;
use serde_json::Value;
use testing::{Place, stderr, stdout};

/// Waits in place of working, so that what is planted is the same on a busy machine.
const OLD: &str = "sleep 0.02";
const NEW: &str = "sleep 0.05";

fn json(place: &Place, words: &[&str]) -> Value {
    let output = place
        .unixmark(words[0])
        .args(["--format", "json", "-q"])
        .args(&words[1..])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output)))
}

fn scores(report: &Value) -> Vec<&Value> {
    report["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["measure"] == "score")
        .collect()
}

#[test]
fn a_planted_difference_is_the_first_sentence_and_fails_the_gate() {
    let place = Place::new();
    let ab = |more: &[&str]| place.unixmark("ab").args([OLD, NEW]).args(more).output().unwrap();
    let output = ab(&["--budget", "20s"]);
    let said = stdout(&output);
    assert!(output.status.success(), "{said}{}", stderr(&output));
    let sentence = said
        .lines()
        .skip_while(|line| !line.starts_with("sleep 0.05 "))
        .collect::<Vec<&str>>()
        .join(" ");
    // On a busy machine it may be less than twice as long.
    let is_slower = ["takes ", "is slower than "].map(|verb| format!("sleep 0.05 {verb}"));
    assert!(is_slower.iter().any(|start| sentence.starts_with(start)), "{said}");
    assert!(sentence.contains(" pairs in "), "{said}");
}

#[test]
fn a_gate_fails_on_a_loss_and_says_so_in_junit() {
    let place = Place::new();
    let ab = |commands: [&str; 2]| {
        let mut tool = place.unixmark("ab --fail-on 10% --budget 20s --format junit");
        tool.args(commands).output().unwrap()
    };

    let failed = ab([OLD, NEW]);
    let fine = ab([NEW, OLD]);
    let broken = ab([OLD, "false"]);

    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("sleep 0.05"), "{}", stderr(&failed));
    assert!(stdout(&failed).contains("name=\"time, sleep 0.05\"><failure message=\"slower"));
    assert!(fine.status.success(), "{}", stderr(&fine));
    assert!(stdout(&fine).contains("name=\"time, sleep 0.02\"><system-out>faster"));
    assert!(stdout(&broken).contains("name=\"run\"><failure"), "{}", stdout(&broken));
}

#[test]
fn programs_have_the_comparison_and_the_executions() {
    let place = Place::new();
    let report =
        json(&place, &["ab", OLD, NEW, "sleep 0.021", "-n", "old", "-n", "new", "--budget", "20s"]);
    let found = scores(&report);
    assert_eq!(found.len(), 2);
    let new = found.iter().find(|row| row["run"] == "new").unwrap();
    assert!(new["against"] == "old" && new["low"].as_f64().unwrap() > 50.0, "{new}");
    let executions = report["executions"].as_array().unwrap();
    let labels: Vec<&str> = executions.iter().map(|row| row["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["old", "new", "sleep 0.021"]);
    assert!(executions.iter().all(
        |row| row["wall_ms"].as_f64().unwrap() >= 20.0 && row["executions"].as_u64() > Some(1)
    ));
}

#[test]
fn directories_and_parameters_are_arms() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    for (name, time) in [("base", "0.02"), ("head", "0.05")] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("time"), time).unwrap();
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let words = [
        "--base",
        &path("base"),
        "--head",
        &path("head"),
        "--budget",
        "10s",
        "--",
        "sh",
        "-c",
        "sleep $(cat time)",
    ];
    let report = place.unixmark("ab --format json -q").args(words).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert!(scores(&report)[0]["low"].as_f64().unwrap() > 20.0);
    let report =
        json(&place, &["ab", "-L", "time=0.02,0.05", "-N", "sleep {time}", "--budget", "10s"]);
    assert_eq!(scores(&report)[0]["run"], "sleep 0.05");
}

#[test]
fn what_cannot_be_compared_is_said_before_anything_runs() {
    let place = Place::new();
    for (words, why) in [
        (&["--fail-on", "2%", "true"][..], "compare commands, and there is only one"),
        (&["--format", "junit", "true", "false"], "nothing can fail without --fail-on"),
        (&["-N", "true", "'open"], "cannot be executed without a shell"),
        (
            &["--input", "/nonexistent", "true", "false"],
            "/nonexistent cannot be the commands' input",
        ),
        (&["-n", "a", "-n", "b", "-n", "c", "true", "false"], "there are 3 names for 2 commands"),
        (
            &["-p", "a", "-p", "b", "-p", "c", "true", "false"],
            "--prepare is given 3 times for 2 commands",
        ),
        (&["--copies", "2", "true", "false"], "one at a time; leave --copies out"),
        (&["-L", "=1,2", "true {size}"], "a parameter has no name"),
        (&["-L", "x", "1", "-L", "x", "2", "true"], "two parameters are called 'x'"),
        (&["-P", "n", "1", "300", "true {n}"], "there are 300 commands, and 255 can be compared"),
        (
            &["-L", "x", "1,2", "--setup", "echo {x}", "--harness", "json", "true"],
            "--setup or --cleanup depends on a parameter",
        ),
        (
            &["-L", "x", "1,2", "--cleanup", "echo {x}", "--budget", "9s", "true"],
            "try --runs in place of --budget",
        ),
        (&["-L", "x", "1,2", "-n", "a", "-n", "b", "true", "false"], "there are 2 names for 4"),
        (&["-L", "x", "1,2", "--input", "/nonexistent/{x}", "true"], "/nonexistent/1 cannot be"),
        (&["--output", "pip", "true"], "'pip' is not an output; try null, pipe, inherit, or ./pip"),
        (&["-C", "a", "-C", "b", "-C", "c", "true", "false"], "--conclude is given 3 times for 2"),
        (&["-m", "before", "true"], "a comment is --comment TEXT"),
        (&["-m", "5", "-M", "3", "true"], "--min-runs 5 is more than --max-runs 3"),
        (&["-i=1,x", "true"], "'x' is not an exit status"),
        (&["-S", "bash 'x", "true"], "is not a shell"),
        (&["--runs", "10007", "true"], "try --runs 11000"),
        (
            &["--base", "/nonexistent", "--head", "/tmp", "--", "true"],
            "the directory /nonexistent cannot be used",
        ),
        (
            &["--base", "/", "--head", "/tmp", "--", "bin/sh"],
            "bin/sh does not exist in /tmp (--head); was it built?",
        ),
    ] {
        let output = place.unixmark("ab").args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    assert!(!place.results().exists() || place.results().read_dir().unwrap().next().is_none());
}

#[test]
fn a_command_that_fails_ends_the_run_and_is_named() {
    let place = Place::new();
    for (words, why) in [
        (
            &["true", "sh -c 'echo no such input >&2; exit 3'"][..],
            "ended with exit status 3, saying 'no such input'",
        ),
        (&["true", "-N", "/nonexistent/command"], "cannot be executed (No such file or directory)"),
        (&["true", "kill -9 $$"], "was killed by signal 9"),
        (&["true", "printf '\\033[31mred\\007' >&2; exit 1"], "saying '?[31mred?'"),
        (&["--prepare", "exit 5", "true", "true "], "--prepare 'exit 5' ended with exit status 5"),
        (
            &["--same-output", "echo a", "echo b"],
            "line 1 of the first is 'a', that of number 2 is 'b'",
        ),
    ] {
        let output = place.unixmark("ab").args(words).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(3),
            "{words:?}: {}{}",
            stdout(&output),
            stderr(&output)
        );
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
        assert!(
            !stdout(&output).contains('\u{1b}') && !stderr(&output).contains('\u{1b}'),
            "{words:?}"
        );
    }
}

#[test]
fn commands_stand_where_tests_stand() {
    let _host = testing::host();
    let place = Place::new();
    let report = json(&place, &["run", "-c", "1", "-i", "2", "--quick", "--", "sleep", "0.02"]);
    let [row] = &report["executions"].as_array().unwrap()[..] else {
        panic!("{}", report["executions"])
    };
    assert!(row["label"] == "sleep 0.02" && row["wall_ms"].as_f64().unwrap() >= 20.0, "{row}");
    let result = &report["results"][0];
    assert!(result["test"] == "sleep 0.02" && result["unit"] == "ms", "{result}");
    let report = json(&place, &["scale", "-c", "1,2", "-i", "2", "--quick", "sleep 0.02"]);
    let total = |copies: u64| {
        let rows = report["scaling"].as_array().unwrap();
        rows.iter().find(|row| row["copies"] == copies).unwrap()["total"].as_f64().unwrap()
    };
    assert!(total(2) > 1.5 * total(1), "{} {}", total(1), total(2));
    let report = json(&place, &["cost", "arg:nice=5", "-i", "6", "--quick", "--", "sleep", "0.02"]);
    assert_eq!(scores(&report)[0]["run"], "arg:nice=5");
    let report =
        json(&place, &["cost", "arg:slowed=20", "-i", "6", "--quick", "--", "sleep", "0.02"]);
    // A fifth of each execution is wasted, so it takes a quarter longer; other work lengthens both
    // arms.
    let delta = scores(&report)[0]["delta"].as_f64().unwrap();
    assert!(delta > 5.0 && delta < 50.0, "{delta}");
    let report =
        json(&place, &["run", "pipe", "-c", "1", "-i", "2", "--quick", "--load", "sleep 0.01"]);
    assert_eq!(report["results"][0]["load"], "sleep 0.01", "{report}");
}

#[test]
fn what_comes_before_and_after_comes_once() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let say = |word: &str| format!("echo {word} >>{}", log.display());
    let words =
        ["--setup", &say("setup"), "--cleanup", &say("cleanup"), "--prepare", &say("prepare")];
    let output = place
        .unixmark("ab -q -w 2 --budget 3s")
        .args(words)
        .args([&say("a"), &say("b")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines.first() == Some(&"setup") && lines.last() == Some(&"cleanup"), "{lines:?}");
    let count = |word| lines.iter().filter(|line| **line == word).count();
    assert_eq!(
        (count("setup"), count("cleanup"), count("prepare")),
        (1, 1, count("a") + count("b"))
    );
    let failed = place
        .unixmark("run --quick -c 1 -i 1 -q --cleanup")
        .args(["exit 4", "sleep 0.01"])
        .output()
        .unwrap();
    let report = place.json("latest");
    let warnings = report["warnings"].to_string();
    assert!(
        failed.status.code() == Some(1)
            && warnings.contains("--cleanup 'exit 4' ended with exit status 4"),
        "{warnings}"
    );
}

#[test]
fn times_are_exported_as_hyperfine_has_them_and_imported_again() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let ab = place
        .unixmark("ab -q --ignore-failure --budget 5s --export-json")
        .arg(&file)
        .args([OLD, "sleep 0.02; exit 3"])
        .output();
    assert!(ab.unwrap().status.success());
    let times: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let [one, other] = &times["results"].as_array().unwrap()[..] else { panic!("{times}") };
    assert!(
        one["command"] == OLD
            && one["times"].as_array().unwrap().len() > 5
            && one["min"].as_f64() >= Some(0.02)
    );
    assert!(other["exit_codes"].as_array().unwrap().iter().all(|code| code == 3));
    let imported = place.unixmark("import").arg(&file).output().unwrap();
    assert!(imported.status.success(), "{}", stderr(&imported));
    let missing = place
        .unixmark("report --format hyperfine")
        .arg(testing::recorded("index"))
        .output()
        .unwrap();
    assert!(stderr(&missing).contains("no command was measured"), "{}", stderr(&missing));
}

/// A command that takes no notice of anything ends with the run, however that ends.
#[test]
fn nothing_is_left_of_a_run_that_is_stopped() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let stubborn =
        format!("trap '' INT TERM HUP; echo $$ >{}; while :; do sleep 0.1; done", pid.display());
    // It comes to that only where it is traced.
    let counted = format!("grep -q 'TracerPid:.0$' /proc/self/status || {{ {stubborn}; }}");
    let runs = [
        &["ab", "true", &stubborn][..],
        &["ab", "--harness", "json", "echo '{\"a\": 1}'", &stubborn],
        &["run", "--quick", "-c", "1", "-i", "1", "--counts", &counted],
    ];
    let signals = [rustix::process::Signal::INT, rustix::process::Signal::KILL];
    let is_counted = |words: &&[&str]| words[0] == "ab" || !is_untraceable(&place);
    for (words, signal) in
        runs.into_iter().filter(is_counted).flat_map(|words| signals.map(|signal| (words, signal)))
    {
        let _ = std::fs::remove_file(&pid);
        let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_unixmark"));
        tool.env("UNIXMARK_RESULTS", place.results()).args(words);
        let mut tool = tool.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let number = awaited(|| started(&pid));
        rustix::process::kill_process(rustix::process::Pid::from_child(&tool), signal).unwrap();
        tool.wait().unwrap();
        awaited(|| (!Path::new(&format!("/proc/{number}")).exists()).then_some(()));
    }
}

#[test]
fn a_cleanup_that_is_interrupted_is_said() {
    let place = Place::new();
    let mark = place.root.path().join("mark");
    let cleanup = format!("echo $$ >{}; sleep 60", mark.display());
    for verb in ["ab", "hyperfine"] {
        let _ = std::fs::remove_file(&mark);
        let mut tool = place.unixmark(&format!("{verb} -q -r 2 true -c"));
        let tool = tool.arg(&cleanup).stderr(Stdio::piped()).stdout(Stdio::null());
        let tool = tool.spawn().unwrap();
        awaited(|| started(&mark));
        let number = rustix::process::Pid::from_child(&tool);
        rustix::process::kill_process(number, rustix::process::Signal::TERM).unwrap();

        let output = tool.wait_with_output().unwrap();

        assert_eq!(output.status.code(), Some(143), "{verb}");
        let said = stderr(&output);
        assert!(said.contains("--cleanup was interrupted by signal 15"), "{verb}: {said}");
        assert!(!said.contains("partial"), "{verb}: {said}");
    }
}

/// Which of the two comes first is left to chance.
#[test]
fn a_command_that_is_ended_is_the_reason_in_the_sentence() {
    let place = Place::new();
    for commands in [["true", "sleep 50"], ["sleep 50", "true"]] {
        let mut tool = place.unixmark("ab -r 3 --timeout 0.2s --format brief");

        let brief = stdout(&tool.args(commands).output().unwrap());

        let brief: Value = serde_json::from_str(&brief).unwrap();
        let sentence = brief["sentence"].as_str().unwrap();
        assert!(sentence.contains("'sleep 50' was still running after 0.2 s"), "{brief}");
    }
}

/// Waits until there is what is asked for, for a minute at most.
pub(crate) fn awaited<T>(look: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it does not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The number of a process that has written it.
pub(crate) fn started(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[test]
fn command_lines_of_hyperfine_work_with_another_first_word() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [json, markdown, csv] = ["times.json", "times.md", "times.csv"].map(file);
    for (words, executed) in [
        (&["sleep 0.01", "--runs", "3"][..], &["sleep 0.01"][..]),
        (&["-r", "3", "-w", "1", "sleep 0.01", "sleep 0.011"], &["sleep 0.01", "sleep 0.011"]),
        (&["-r", "3", "-P", "n", "1", "3", "-D", "2", "echo {n}"], &["echo 1", "echo 3"]),
        (&["-r", "3", "-L", "n", "a,b", "echo {n}"], &["echo a", "echo b"]),
        (&["-r", "3", "-i", "-u", "microsecond", "exit 3", "exit 4"], &["exit 3", "exit 4"]),
        (&["-r", "3", "--shell", "none", "true a", "true b"], &["true a", "true b"]),
        (&["-r", "3", "-S", "bash", "echo {1..3}", "[[ 1 ]]"], &["echo {1..3}", "[[ 1 ]]"]),
    ] {
        let exports =
            ["--export-json", &json, "--export-markdown", &markdown, "--export-csv", &csv];
        let output = place.unixmark("ab -q").args(words).args(exports).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        let times: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
        let results = times["results"].as_array().unwrap();
        let commands: Vec<&str> =
            results.iter().map(|one| one["command"].as_str().unwrap()).collect();
        assert_eq!(commands, executed, "{words:?}");
        assert!(results.iter().all(|one| one["times"].as_array().unwrap().len() == 3), "{words:?}");
        let [markdown, csv] = [&markdown, &csv].map(|file| std::fs::read_to_string(file).unwrap());
        assert!(markdown.contains('|') && csv.contains(','), "{markdown}{csv}");
    }
}

#[test]
fn times_have_the_unit_that_is_asked_for() {
    let place = Place::new();
    for (unit, head) in
        [("second", "wall s"), ("millisecond", "wall ms"), ("microsecond", "wall µs")]
    {
        let words = ["-r", "2", "--format", "text", "-u", unit, "sleep 0.02"];
        let output = place.unixmark("ab -q").args(words).output().unwrap();
        assert!(stdout(&output).contains(head), "{}{}", stdout(&output), stderr(&output));
    }
}

#[test]
fn a_directory_that_is_not_utf8_is_refused_before_anything_runs() {
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new();
    let folder = place.root.path().join(std::ffi::OsStr::from_bytes(b"b\xff"));
    std::fs::create_dir(&folder).unwrap();

    let mut command = place.unixmark("ab");
    command.arg("--base").arg(&folder).args(["--head", "/", "--", "true"]);
    let output = command.output().unwrap();

    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not UTF-8; try a link of another name"));
}
