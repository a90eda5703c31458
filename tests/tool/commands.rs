//! A command behaves as without the tool: its stderr, what was started for it, its directory; and
//! what it has started ends with the tool, however that ends. Names are those of public reports.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::ab::{awaited, started};
use testing::{Place, stderr, stdout};

/// Fixed numbers of executions, without a report.
const SHORT: [&str; 4] = ["ab", "-q", "--runs", "3"];

pub(super) fn is_gone(number: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}

#[test]
fn hyperfine_588_stderr_is_any_file() {
    let place = Place::new();
    for command in [
        "echo hi > /dev/stderr",
        "echo hi >> /dev/stderr",
        ": > /proc/self/fd/2",
        "seq 300000 >&2",
        "head -c 5000000 /dev/zero >&2",
        "dd if=/dev/zero of=/dev/stderr bs=1M count=3",
    ] {
        for words in [&[command, "echo y >&2"][..], &["--prepare", command, "true", "true a"]] {
            let output = place.unixmark("").args(SHORT).args(words).output().unwrap();

            assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn what_a_setup_starts_is_there_for_the_commands_and_then_ended() {
    for script in [
        "sleep 1000 & echo $! >pid",
        "(setsid sh -c 'echo $$ >pid; exec sleep 1000' &) ; until [ -s pid ]; do :; done",
        "nohup sleep 1000 >/dev/null 2>&1 & echo $! >pid",
        "[ -e pid ] || { sleep 1000 >&2 & echo $! >pid; }",
    ] {
        for option in ["--setup", "--prepare"] {
            if option == "--prepare" && !script.starts_with('[') {
                continue;
            }
            let place = Place::new();
            let folder = tempfile::tempdir().unwrap();
            let mut ab = place.unixmark("");
            ab.current_dir(folder.path()).args(SHORT).args([option, script]);
            let output = ab.args(["kill -0 $(cat pid)", "true"]).output().unwrap();

            assert!(output.status.success(), "{script}: {}", stderr(&output));
            assert!(is_gone(started(&folder.path().join("pid")).unwrap()), "{script}");
        }
    }
}

/// A server that is ended by --cleanup is gone at once, and not a zombie that nobody reaps.
#[test]
fn a_cleanup_ends_a_server_and_sees_it_gone() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let cleanup = "kill $(cat pid); while kill -0 $(cat pid); do sleep 0.01; done; touch gone";
    let mut ab = place.unixmark("");
    ab.current_dir(folder.path()).args(SHORT);
    ab.args(["--setup", "setsid sleep 1000 & echo $! >pid", "--cleanup", cleanup]);
    let output = ab.args(["true", "true a"]).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    assert!(folder.path().join("gone").exists());
}

/// Starts the tool; a signal that the test harness ignores is heard.
pub(super) fn start(place: &Place, folder: &Path, words: &[&str]) -> Child {
    let mut tool = Command::new(testing::built_program("unixmark"));
    tool.env("UNIXMARK_RESULTS", place.results()).args(words).current_dir(folder);
    tool.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn nothing_that_left_its_group_outlives_the_tool() {
    let place = Place::new();
    let lines: [&[&str]; 7] = [
        &["ab", "timeout 300 sh -c 'echo $$ >pid; sleep 1000'", "true"],
        &["ab", "setsid sh -c 'echo $$ >pid; sleep 1000'", "true"],
        &["ab", "(setsid sh -c 'echo $$ >pid; sleep 1000' &) ; sleep 1000", "true"],
        &["ab", "nohup sh -c 'trap : HUP TERM INT; echo $$ >pid; sleep 1000; sleep 1000'", "true"],
        &["ab", "--setup", "setsid sh -c 'echo $$ >pid; sleep 1000' &", "sleep 0.1", "true"],
        &["ab", "--setup", "sh -c 'echo $$ >pid; sleep 1000' & sleep 1000", "true", "true a"],
        &["run", "syscall", "--load", "timeout 300 sh -c 'echo $$ >pid; sleep 1000'"],
    ];
    for words in lines {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
            let folder = tempfile::tempdir().unwrap();
            let mut tool = start(&place, folder.path(), words);
            let number = awaited(|| started(&folder.path().join("pid")));

            kill_process(Pid::from_child(&tool), signal).unwrap();

            tool.wait().unwrap();
            awaited(|| is_gone(number).then_some(()));
        }
    }
}

#[test]
fn hyperfine_771_the_first_failure_ends_the_run_with_one_message() {
    let place = Place::new();
    for (words, message) in [
        (
            &["n=$(cat n); echo $((n + 1)) >n; [ \"$n\" != 6 ]", "true", "--prepare", "touch n"][..],
            "ended with exit status 1 and said nothing; run it by hand, or try --ignore-failure",
        ),
        (&["-i", "--prepare", "false", "true", "true a"], "--prepare 'false' ended with"),
        (&["--setup", "exit 2", "true", "true a"], "--setup 'exit 2' ended with"),
        (&["--cleanup", "exit 9", "true", "true a"], "--cleanup 'exit 9' ended with"),
        (&["--conclude", "exit 4", "true", "true a"], "--conclude 'exit 4' ended with"),
        (&["--timeout", "0.2s", "sleep 1000", "true"], "was still running after 0.2 s"),
        (&["--same-output", "yes", "true"], "prints more than 256 MiB"),
        (&["-N", "./nothing", "true"], "'./nothing' must be installed and executable"),
        (&["-S", "nosuchsh", "echo hi", "true"], "'nosuchsh' must be installed and executable"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut ab = place.unixmark("ab -q --runs 20");
        let output = ab.args(words).current_dir(folder.path()).output().unwrap();

        assert!(!output.status.success(), "{words:?}: {}", stdout(&output));
        let said = stderr(&output);
        assert!(said.contains(message), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    }
}

#[test]
fn hyperfine_781_iterations_are_numbered() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let mut ab = place.unixmark("ab -q --warmup 2");
    ab.args(["--runs", "3", "echo $HYPERFINE_ITERATION >>numbers", "true"]);
    ab.args(["--prepare", "echo prepare$HYPERFINE_ITERATION >>prepared"]);
    let output = ab.current_dir(folder.path()).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    let numbers = fs::read_to_string(folder.path().join("numbers")).unwrap();
    assert!(numbers.starts_with("warmup-0\nwarmup-1\n0\n1\n2\n"), "{numbers}");
    let prepared = fs::read_to_string(folder.path().join("prepared")).unwrap();
    assert!(prepared.lines().all(|line| line == "prepare"), "{prepared}");
}

#[test]
fn stress_ng_28_the_directory_is_inherited() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new();
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(OsStr::from_bytes(b"\xff\xfe"));
    fs::create_dir(&folder).unwrap();
    let mut ab = place.unixmark("");
    ab.args(SHORT).args(["touch here", "true"]).current_dir(&folder);
    let output = ab.output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    assert!(folder.join("here").exists());
    let gone = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", gone]).arg(testing::built_program("unixmark")).args(SHORT);
    shell.args(["true", "true a"]).current_dir(root.path());
    let output = shell.env("UNIXMARK_RESULTS", place.results()).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn words_in_braces_are_executed_as_they_are_typed() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let mut run = place.unixmark("run --quick -q -c 1");
    run.args(["--", "sh", "-c", "echo '{copies} {programs}' >printed"]);
    let output = run.current_dir(folder.path()).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    let printed = fs::read_to_string(folder.path().join("printed")).unwrap();
    assert_eq!(printed, "{copies} {programs}\n");
}

/// As root, since a file size limit shows in a run that changes settings, too.
#[test]
fn signals_that_are_blocked_or_limits_of_files_are_met() {
    let place = Place::new();
    let tool = testing::built_program("unixmark").display().to_string();
    let blocked = "import os, signal, sys\n\
                   signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])\n\
                   signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                   os.execv(sys.argv[1], sys.argv[1:])";
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-c", blocked, &tool]).args(SHORT).args(["true", "true a"]);
    let output = python.env("UNIXMARK_RESULTS", place.results()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));

    let limited = "ulimit -f 8; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, &tool, "ab", "-q", "--runs", "100", "true", "true a"]);
    let output = shell.env("UNIXMARK_RESULTS", place.results()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
}

/// What prepares may be blank, as in hyperfine: of several it is the one that does nothing.
#[test]
fn a_blank_command_is_refused_by_its_place() {
    let place = Place::new();
    for (words, why) in [
        (&["ab", "", "true"][..], "command 1 is blank"),
        (&["ab", "true", "  "], "command 2 is blank"),
        (&["ab", "--reference", "\t", "true"], "--reference is blank"),
        (&["ab", "-L", "x", " ,true", "{x}"], "a command with its parameters is blank"),
        (&["run", "true x", "\n"], "command 2 is blank"),
        (&["run", "--", ""], "the first word after -- is blank"),
        (&["latency", "--", " "], "the first word after -- is blank"),
        (&["scale", "--", ""], "the first word after -- is blank"),
        (&["cost", "aslr=0", "--", ""], "the first word after -- is blank"),
        (&["quiet", "--", ""], "the first word after -- is blank"),
    ] {
        let output = place.unixmark("").args(words).output().unwrap();

        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    let prepare = ["--prepare", "", "--prepare", "true", "true a", "true b"];
    let output = place.unixmark("").args(SHORT).args(prepare).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}
