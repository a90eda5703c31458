//! Commands on a quiet machine: settings hold while they run, and are put back however it ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use testing::{stderr, stdout};

use crate::experiment::Bench;
use crate::room::wait_for;

const ASLR: &str = "/proc/sys/kernel/randomize_va_space";

/// Returns true if there is a processor to shield and one for the others; else it is a skip.
fn has_two() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let has = status.lines().any(|line| line.starts_with("Cpus_allowed_list:\t0-"));
    if !has {
        testing::skip("a shield needs two processors");
    }
    has
}

/// Returns the processors that a process may use.
fn allowed(pid: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:\t").map(str::to_owned));
    line.unwrap_or_default()
}

/// Returns the processors that each interrupt may reach.
fn interrupts() -> Vec<String> {
    let folders =
        fs::read_dir("/proc/irq").into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut lists: Vec<String> = folders
        .filter_map(|folder| {
            Some(format!(
                "{} {}",
                folder.display(),
                fs::read_to_string(folder.join("smp_affinity_list")).ok()?
            ))
        })
        .collect();
    lists.sort();
    lists
}

#[test]
#[ignore = "changes the system"]
fn a_command_runs_quietly_and_ends_as_it_ends() {
    let Some(bench) = Bench::new() else { return };
    let before = fs::read_to_string(ASLR).unwrap();
    let output =
        bench.command("quiet -- sh -c").arg(format!("cat {ASLR}; exit 7")).output().unwrap();
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(7), "0\n"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(ASLR).unwrap(), before);
    let output = bench.command("quiet -- /nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(127), "{}", stderr(&output));
    let output = bench.command("quiet --shield 4095 -- true").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("'4095' does not name processors of this machine"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_to_string(ASLR).unwrap(), before);
}

/// The command has its processor for itself; after the tool's death, everybody has all of them
/// again.
#[test]
#[ignore = "changes the system"]
fn a_shield_keeps_others_away_and_goes_with_the_tool() {
    let Some(bench) = Bench::new().filter(|_| has_two()) else {
        return;
    };
    let before = fs::read_to_string(ASLR).unwrap();
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = other.id().to_string();
    let all = allowed(&pid);
    let interrupts = interrupts();
    for kills in [false, true] {
        let script = "grep Cpus_allowed_list /proc/self/status; read end";
        let mut quiet = bench.command("quiet --shield 1 -- sh -c");
        let mut quiet =
            quiet.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(quiet.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "Cpus_allowed_list:\t1\n");
        assert_eq!(allowed(&pid), "0", "another process is still there");
        assert!(interrupts.is_empty() || self::interrupts() != interrupts, "no interrupt has left");
        assert_eq!(fs::read_to_string(ASLR).unwrap(), "0\n");
        if kills {
            quiet.kill().unwrap();
        }
        drop(quiet.stdin.take());
        quiet.wait().unwrap();
        bench.is_put_back();
        wait_for("the other process as it was", || allowed(&pid) == all);
        assert_eq!(self::interrupts(), interrupts);
        assert_eq!(fs::read_to_string(ASLR).unwrap(), before);
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

/// The command is measured with all settings and with each alone, and the shield is in the
/// evidence.
#[test]
#[ignore = "changes the system"]
fn what_a_shield_brings_is_proved() {
    let Some(bench) = Bench::new().filter(|_| has_two()) else {
        return;
    };
    let mut command = bench.command("quiet --shield 1 --prove -i 3 --format json --dir");
    let output = command.arg(bench.place.scratch()).args(["--", "true"]).output().unwrap();
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let conditions = report["cost"]["conditions"].as_array().unwrap();
    let names: Vec<&str> =
        conditions.iter().map(|condition| condition["name"].as_str().unwrap()).collect();
    assert!(
        names[0].starts_with("shield=1+")
            && names.contains(&"shield=1")
            && names.contains(&"aslr=0"),
        "{names:?}"
    );
    let evidence = conditions[0]["evidence"].to_string();
    assert!(evidence.contains("shielded"), "{evidence}");
}
