//! `ab --serve`: a process of a server is one sample.
//!
//! A toy server needs no network: its port names its files.

use std::fs;
use std::path::Path;
use std::process::Output;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::{Place, stderr};

use super::ab::{awaited, started};
use super::commands::{is_gone, start};

/// Draws its speed from its port when it starts, and notes the start in the file `starts`.
const SERVER: &str = "echo $$ >>starts; echo 0.00$((PORT % 5 + 2)) >speed.$PORT; exec sleep 1000";

/// Waits as long as the server's speed says.
const CLIENT: &str = "read t <speed.$PORT; exec sleep $t";

const READY: &str = "test -s speed.$PORT";

fn ab(folder: &Path, place: &Place, words: &[&str]) -> Output {
    let mut tool = place.unixmark("ab -q --format json");
    tool.arg("--dir").arg(place.scratch()).current_dir(folder);
    tool.args(words).output().unwrap()
}

fn comparison(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["comparisons"][0].clone()
}

fn lines(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn a_process_of_a_server_is_one_sample() {
    let other = format!(": other; {SERVER}");
    for more in [&[][..], &["--one-at-a-time"], &["--same-output", "--warmup", "1"]] {
        let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
        let words = ["--serve", SERVER, "--serve", &other, "--ready", READY, CLIENT];
        let count = ["--restarts", "5", "--runs", "20"];

        let output = ab(folder.path(), &place, &[&words[..], &count, more].concat());

        let time = comparison(&output);
        assert_eq!(time["units"]["unit"], "process", "{more:?}");
        assert_eq!((&time["units"]["a"], &time["units"]["b"]), (&5.into(), &5.into()), "{more:?}");
        let servers = lines(&folder.path().join("starts"));
        assert_eq!(servers.len(), 10, "{more:?}: each server is started five times");
        assert!(servers.iter().all(|server| is_gone(*server)), "{more:?}");
        assert_eq!(fs::read_dir(place.scratch()).unwrap().count(), 0, "{more:?}");
    }
}

/// The words after `--` are not a shell's, and what the client prints is a figure.
#[test]
fn a_client_finds_its_server_s_port_and_prints_figures() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let client =
        ["--", "sh", "-c", "test $0 = $PORT && echo \"{\\\"t\\\": $1}\"", "$PORT", "${PORT}"];
    let words = ["--serve", SERVER, "--serve", SERVER, "--ready", READY, "--restarts", "3"];
    let harness = ["--runs", "6", "--harness", "json", "--better", "lower:t"];

    let output = ab(folder.path(), &place, &[&words[..], &harness, &client].concat());

    let figure = comparison(&output);
    assert_eq!(figure["label"], "t", "{figure}");
    assert_eq!((&figure["units"]["unit"], &figure["units"]["a"]), (&"process".into(), &3.into()));
}

#[test]
fn two_directories_have_a_server_each() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    for side in ["old", "new"] {
        fs::create_dir(folder.path().join(side)).unwrap();
        fs::write(folder.path().join(side).join("speed"), "0.002").unwrap();
    }
    let sides = ["--base", "old", "--head", "new", "--restarts", "3", "--runs", "3"];
    let serve = ["--serve", "cp speed speed.$PORT; exec sleep 1000", "--ready", READY];

    let output =
        ab(folder.path(), &place, &[&sides[..], &serve, &["--", "sh", "-c", CLIENT]].concat());

    assert_eq!(comparison(&output)["units"]["a"], 3);
}

#[test]
fn one_server_at_a_time_is_up() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let server = "ls up.* 2>/dev/null && touch two; trap 'rm up.$PORT; exit' TERM; touch up.$PORT; \
                  while :; do sleep 0.01; done";
    let other = format!(": other; {server}");
    let words = ["--serve", server, "--serve", &other, "--ready", "test -e up.$PORT", "true"];
    let count = ["--restarts", "3", "--runs", "3", "--one-at-a-time"];

    let output = ab(folder.path(), &place, &[&words[..], &count].concat());

    comparison(&output);
    assert!(!folder.path().join("two").exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "each was asked to end");
}

#[test]
fn a_server_that_dies_or_is_never_ready_is_named_with_its_last_words() {
    let forever = "exec sleep 1000";
    for (server, ready, client, why) in [
        (
            "echo no such table >&2; exit 3",
            "false",
            "true",
            "ended with exit status 3, saying 'no such table'",
        ),
        (
            "echo listening on 1; exit",
            "false",
            "true",
            "ended with exit status 0, saying 'listening on 1'",
        ),
        (
            "echo starting; exec sleep 1000",
            "false",
            "true",
            "was not ready after 1 s, saying 'starting'",
        ),
        (forever, "sleep 1000", "true", "sleep 1000' was still running after"),
        ("kill -9 $$", "false", "true", "was killed by signal 9 and said nothing"),
        (
            "echo $$ >pid.$PORT; exec sleep 1000",
            "test -s pid.$PORT",
            "test -e good.$PORT || { kill $(cat pid.$PORT); sleep 1000; }",
            "was killed by signal 15",
        ),
        ("/nonexistent/server", "false", "true", "ended with exit status 127"),
    ] {
        let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
        let good = "echo $$ >>starts; touch good.$PORT; exec sleep 1000";
        let ready = format!("test -e good.$PORT || {ready}");
        let words = ["--serve", good, "--serve", server, "--ready", &ready, "--patience", "1s"];

        let output =
            ab(folder.path(), &place, &[&words[..], &["--restarts", "3", client]].concat());

        let said = stderr(&output);
        assert!(said.contains(&format!("--serve '{server}'")) || ready.contains("sleep"), "{said}");
        assert!(said.contains(why), "{why}: {said}");
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(lines(&folder.path().join("starts")).into_iter().all(is_gone));
    }
}

#[test]
fn no_server_outlives_the_tool() {
    let place = Place::new();
    let server = "(setsid sh -c 'echo $$ >worker.$PORT; exec sleep 1000' &); echo $$ >pid; \
                  exec sleep 1000";
    // While it is not ready, while clients are executed, and though it ignores being asked to end.
    let stubborn = format!("trap '' TERM; {server}");
    for (server, ready, client) in [
        (server, "false", "true"),
        (server, "test -s pid", "touch client; exec sleep 1000"),
        (&stubborn, "test -s pid", "touch client; exec sleep 1000"),
    ] {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
            let folder = tempfile::tempdir().unwrap();
            let words = ["ab", "--serve", server, "--serve", server, "--ready", ready, client];
            let mut tool = start(&place, folder.path(), &words);
            let server = awaited(|| started(&folder.path().join("pid")));
            if client != "true" {
                awaited(|| folder.path().join("client").exists().then_some(()));
            }

            kill_process(Pid::from_child(&tool), signal).unwrap();

            tool.wait().unwrap();
            awaited(|| is_gone(server).then_some(()));
            for entry in fs::read_dir(folder.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.to_string_lossy().contains("worker")
                    && let Some(worker) = started(&path)
                {
                    awaited(|| is_gone(worker).then_some(()));
                }
            }
        }
    }
}

#[test]
fn servers_that_cannot_be_compared_are_refused() {
    for (words, why) in [
        (&["--serve", "a", "true"][..], "--serve names one server"),
        (&["--serve", "a", "--serve", "b"], "name that alone, as in -- ./client '$PORT'"),
        (&["--serve", "a", "--serve", " ", "true"], "--serve is blank"),
        (&["--serve", "a", "--serve", "b", "true", "false"], "servers by one client"),
        (&["--serve", "a", "--serve", "b", "--counts", "true"], "cannot be used with '--counts'"),
        (&["--serve", "a", "--serve", "b", "--restarts", "2", "true"], "2 is not in 3..=1000"),
        (&["--ready", "true", "true", "true"], "--serve"),
    ] {
        let place = Place::new();

        let output = ab(place.root.path(), &place, words);

        assert!(stderr(&output).contains(why), "{why}: {}", stderr(&output));
        assert!(!output.status.success());
    }
}
