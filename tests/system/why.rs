//! Late frames and their causes, with a cause that is planted.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testing::{stderr, stdout};

use crate::experiment::Bench;
use crate::room::wait_for;

/// Holds the first processor for some 30 ms of every 100, at a real-time priority.
const HOG: &str = "while :; do i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.07; done";

/// A hog with a name of its own, ended with the test.
struct Hog(Child);

impl Hog {
    fn start(bench: &Bench) -> Hog {
        let shell = bench.place.root.path().join("planted-hog");
        fs::copy("/bin/sh", &shell).unwrap();
        let mut command = Command::new("chrt");
        command
            .args(["-f", "50", "taskset", "-c", "0"])
            .arg(&shell)
            .args(["-c", HOG])
            .stdout(Stdio::null());
        let hog = Hog(command.spawn().unwrap());
        let name = format!("/proc/{}/comm", hog.0.id());
        wait_for("the hog", || fs::read_to_string(&name).is_ok_and(|name| name == "planted-hog\n"));
        hog
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[ignore = "changes the system"]
fn a_planted_hog_is_the_cause_of_late_frames() {
    let Some(bench) = Bench::new() else { return };
    let hog = Hog::start(&bench);
    let folder = bench.place.scratch().display().to_string();
    let words =
        format!("latency video --why -w none --dir {folder} -t 6 --pin 0 --format json --samples");
    let output = bench.command(&words).output().unwrap();
    drop(hog);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let holders = &report["results"][0]["holders"];
    let (late, traced) = (holders["late"].as_u64().unwrap(), holders["traced"].as_u64().unwrap());
    let (first, frames) =
        (&holders["causes"][0]["name"], holders["causes"][0]["frames"].as_u64().unwrap());
    assert_eq!(first, "planted-hog", "{holders}");
    assert!(late == traced && traced >= 20 && frames * 10 >= traced * 9, "{holders}");
    assert_eq!(holders["worst"][0][1][0][0], "planted-hog", "{holders}");
    bench.is_put_back();
}

#[test]
#[ignore = "changes the system"]
fn without_root_it_says_what_it_needs() {
    let Some(bench) = Bench::new() else { return };
    let words = [
        "--reuid=65534",
        "--clear-groups",
        env!("CARGO_BIN_EXE_unixmark"),
        "latency",
        "video",
        "--why",
    ];
    let output =
        Command::new("setpriv").args(words).env("HOME", "/tmp").current_dir("/").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output)
            .contains("the scheduler cannot be traced, as --why and commands need: it needs root"),
        "{}",
        stderr(&output)
    );
    bench.is_put_back();
}

#[test]
#[ignore = "changes the system"]
fn a_command_has_its_own_wake_ups_as_frames() {
    let Some(bench) = Bench::new() else { return };
    let folder = bench.place.scratch().display().to_string();
    let script = bench.place.root.path().join("script");
    fs::write(&script, "for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done").unwrap();
    let words = format!(
        "latency -t 3 -w none --dir {folder} --format json --samples -- sh {}",
        script.display()
    );
    let output = bench.command(&words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let result = &report["results"][0];
    // Each sleep wakes itself, and the shell that waits for it.
    let (frames, trials) =
        (result["frames"].as_u64().unwrap(), result["trials"].as_array().unwrap().len() as u64);
    assert!(frames >= 16 * trials, "{result}");
    assert_eq!(
        (&result["latency"], &result["holders"]["late"]),
        (&Value::from("wake"), &Value::from(0))
    );
    assert!(result["stall"].as_f64().unwrap() >= result["max"].as_f64().unwrap(), "{result}");
    bench.is_put_back();
}
