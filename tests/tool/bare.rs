//! The tool where nothing else is: `make dist` does the same with the static one.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testing::{Place, stderr, stdout};

#[test]
#[ignore = "takes half a minute"]
fn it_measures_in_an_empty_root() {
    let _machine = testing::Machine::shared();
    let script = testing::file("tests/bare.sh");
    let output = Command::new("sh")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_unixmark"))
        .arg(testing::file(""))
        .output()
        .unwrap();
    // Where it may make no root of its own it says so.
    match output.status.code() {
        Some(77) => testing::skip(&stdout(&output)),
        code => assert_eq!(code, Some(0), "{}{}", stdout(&output), stderr(&output)),
    }
}

/// Waits until something holds.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "it takes too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn without_proc_commands_are_measured_and_a_killed_run_leaves_none() {
    if !testing::is_root() || !testing::has("unshare") {
        return testing::skip("unmounting /proc needs root and unshare");
    }
    let place = Place::new();
    let started = place.root.path().join("started");
    let without_proc = |words: &[&str]| {
        let tool = place.unixmark("ab -q --runs 2");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", "umount -l /proc && exec \"$0\" \"$@\""]);
        command.arg(tool.get_program()).args(tool.get_args()).args(words);
        let variables = tool.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        command
    };
    let command = format!("echo >{}; sleep 4321.5", started.display());

    let measured = without_proc(&["--format", "json", "true", "true "]).output().unwrap();
    let mut killed = without_proc(&[&command, "true"]).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the command is executed", || started.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();

    assert!(measured.status.success(), "{}", stderr(&measured));
    wait_until("the command is ended", || testing::processes_with("4321.5").is_empty());
}
