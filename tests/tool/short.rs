//! The first minute: a short answer, failures in a few lines, hints, and what programs get.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::Value;
use testing::{Place, stderr, stdout};

fn run(place: &Place, words: &[&str]) -> Output {
    place.unixmark(words[0]).args(&words[1..]).current_dir(place.root.path()).output().unwrap()
}

fn runs(place: &Place) -> usize {
    let listed = run(place, &["list", "runs", "--format", "json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed.as_array().unwrap().len()
}

/// User review of 2026-11: the answer was three lines of 58.
#[test]
fn the_answer_of_ab_fits_a_small_terminal() {
    let place = Place::new();

    let output = run(&place, &["ab", "sleep 0.01", "sleep 0.05", "--budget", "5s"]);

    let said = stdout(&output);
    assert!(said.starts_with("sleep 0.05 takes "), "{said}");
    assert!(said.lines().count() <= 14, "{said}");
    for part in ["\n0.05 ", "\n- control: ", ": unixmark report --long "] {
        assert_eq!(said.matches(part).count(), 1, "{part} in {said}");
    }
    for of_the_tool in ["Mitigations", "Programs:", "false discovery rate"] {
        assert!(!said.contains(of_the_tool), "{said}");
        let whole = stdout(&run(&place, &["report", "--long"]));
        assert!(whole.contains(of_the_tool) || of_the_tool == "Programs:", "{whole}");
    }
}

/// In `sh`, `&>` puts a command into the background: what is timed is not what was meant.
#[test]
fn hyperfine_108_what_was_killed_is_said_before_what_the_method_cannot_tell() {
    let place = Place::new();
    let killed = "sleep 5 &> /dev/null: processes outlived the command and were killed";
    for (words, expected) in [
        (&["ab", "-r", "6", "sleep 5 &> /dev/null", "sleep 0.01"][..], killed),
        (&["ab", "-q", "-r", "3", "sleep 5 &> /dev/null", "sleep 0.01"], killed),
        (&["ab", "-q", "-r", "3", "sleep 5 &> /dev/null", "true", "sleep 0.01"], killed),
        (
            &["ab", "-q", "-r", "3", "-i", "true", "exit 4", "sleep 0.01"],
            "exit 4: all 3 executions failed (exit status 4)",
        ),
        (&["ab", "-q", "-r", "3", "-i", "exit 4"], "; all 3 executions failed (exit status 4)."),
    ] {
        let output = run(&place, words);

        let said = testing::flat(&stdout(&output));
        assert!(said.matches(expected).count() == 1, "{words:?}: {said}");
    }
}

#[test]
fn a_report_on_commands_says_what_they_took_before() {
    let place = Place::new();
    for _ in 0..2 {
        run(&place, &["ab", "-q", "-r", "3", "sleep 0.01", "sleep 0.02"]);
    }

    let said = testing::flat(&stdout(&run(&place, &["report", "--long"])));

    assert!(
        said.contains("Earlier: The commands were about as fast as in ")
            || said.contains(" times as "),
        "{said}"
    );
    assert!(said.contains(" earlier, the mean of 2 figures."), "{said}");
}

/// User review of 2026-11, persons 2 and 9: `-q` printed nothing.
#[test]
fn quietly_the_answer_is_all_that_is_said() {
    let place = Place::new();

    let output = run(&place, &["ab", "sleep 0.01", "sleep 0.05", "--budget", "5s", "-q"]);

    let said = stdout(&output);
    assert!(said.starts_with("sleep 0.05 takes "), "{said}");
    assert!(said.trim_end().ends_with('.') && said.lines().count() <= 3, "{said}");
    assert_eq!(stderr(&output), "");
}

/// User review of 2026-11, persons 1 and 9: four tables, and none said of which command.
#[test]
fn several_commands_are_rows_of_one_table() {
    let place = Place::new();

    let output = run(&place, &["ab", "-L", "t=0.01,0.03,0.05", "sleep {t}", "--budget", "9s"]);

    let said = stdout(&output);
    assert!(said.starts_with("Compared with sleep 0.01: "), "{said}");
    let (_, table) = said.split_once("sleep …, where … is:\n").unwrap();
    assert!(table.starts_with("command "), "{said}");
    for (row, verdict) in [("0.01 ", "base"), ("0.03 ", "slower"), ("0.05 ", "slower")] {
        let line = table.lines().find(|line| line.starts_with(row)).unwrap();
        assert!(line.ends_with(verdict), "{said}");
    }
}

/// User review of 2026-11, person 2: 50 lines for a command that did not start.
#[test]
fn a_failure_is_told_in_three_lines_and_leaves_no_page() {
    let place = Place::new();

    let output = run(&place, &["ab", "no-such-program", "true", "--budget", "5s"]);

    assert_eq!((output.status.code(), stdout(&output)), (Some(3), String::new()));
    let said = stderr(&output);
    let told: Vec<&str> = said.lines().filter(|line| line.starts_with("unixmark: ")).collect();
    assert_eq!(told.len(), 2, "{said}");
    assert!(told[0].contains("no-such-program: not found"), "{said}");
    let folder = place.journal().parent().unwrap().to_path_buf();
    assert!(folder.join("run.jsonl").exists() && !folder.join("report.html").exists());
}

#[test]
fn nothing_is_kept_where_that_is_asked_for() {
    let place = Place::new();
    let words = ["ab", "true", "sleep 0.01", "--budget", "2s", "--results", "none"];

    let output = run(&place, &[&words[..], &["--format", "brief"]].concat());

    let brief: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&brief["path"], &brief["status"]), (&Value::Null, &0.into()));
    assert!(!stderr(&output).contains("kept in"), "{}", stderr(&output));
    assert!(!stdout(&run(&place, &words)).contains("report --long"), "there is no more of it");
    assert_eq!(runs(&place), 0);
    assert!(!place.root.path().join("none").exists());
}

#[test]
fn the_brief_form_and_the_exit_status_agree() {
    let place = Place::new();
    let slow = ["ab", "sleep 0.01", "sleep 0.03", "--budget", "20s", "--format", "brief", "-q"];
    for (words, status, verdict) in [
        (&[&slow[..], &["--fail-on", "10%"]].concat()[..], 1, "slower"),
        (&slow, 0, "slower"),
        (&["ab", "false", "true", "--format", "brief", "-q"], 3, "failed"),
        (&["run", "-q", "-c", "1", "--runs", "6", "--format", "brief", "--", "true"], 0, "none"),
    ] {
        let output = run(&place, words);

        let brief: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(status), "{brief}");
        assert_eq!((&brief["status"], &brief["verdict"]), (&status.into(), &verdict.into()));
        assert_eq!(brief["reason"].is_null(), status == 0, "{brief}");
    }
}

#[test]
fn a_wrong_command_line_is_told_as_json_where_json_was_asked_for() {
    let place = Place::new();
    for (words, why) in [
        (&["ab", "--format", "json"][..], "required arguments were not provided: <COMMAND>"),
        (&["ab", "true", "--bogus", "--format=brief"], "unexpected argument '--bogus'"),
        (&["report", "nothing", "--format", "json"], "there is no run 'nothing'"),
    ] {
        let output = run(&place, words);

        let error: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&error["format"], &error["status"]), (&"unixmark-error/1".into(), &2.into()));
        assert!(error["error"].as_str().unwrap().contains(why), "{error}");
        assert_eq!(output.status.code(), Some(2));
    }
    assert_eq!(stdout(&run(&place, &["ab", "--bogus"])), "");
}

/// User review of 2026-11: what was typed first, and what was meant.
#[test]
fn hints_at_the_crossroads() {
    let place = Place::new();
    let root = place.root.path();
    for (name, mode) in [("old", 0o755), ("new", 0o755), ("data", 0o644), ("old.txt", 0o644)] {
        std::fs::write(root.join(name), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    for (words, hint) in [
        (
            &["ab", "./old", "data", "./new", "data"][..],
            "did you mean `unixmark ab './old data' './new data'`?",
        ),
        (&["ab", "sh", "data"], "`unixmark ab 'sh data' 'ANOTHER COMMAND'`?"),
        (&["compare", "old.txt", "new"], "`unixmark import old.txt -m NAME` makes a run of it"),
        (&["cost", "docker", "--", "true"], "the condition podman measures inside a container"),
        (&["latency", "music"], "try `unixmark latency audio-desktop -w make`"),
        (&["run", "pgbench"], "docs/guide/two-programs.md, \"A running server\""),
    ] {
        let output = run(&place, words);

        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(hint), "{words:?}: {}", stderr(&output));
    }
}

/// User review of 2026-11, persons 1 and 8: `list profile` was an invalid value.
#[test]
fn a_word_is_looked_for_in_all_lists() {
    let place = Place::new();

    let said = stdout(&run(&place, &["list", "seccomp"]));

    assert!(said.lines().any(|line| line.starts_with("  seccomp ")), "a condition: {said}");
    assert!(said.lines().any(|line| line.starts_with("  podman ")), "another: {said}");
}

/// User review of 2026-11, person 3: a minute of `go test`, and no word of `--harness`.
#[test]
fn a_benchmark_program_without_a_harness_is_named() {
    let place = Place::new();

    let output = run(&place, &["ab", "go test -bench .", "true", "--budget", "1s"]);

    assert!(stderr(&output).contains("add --harness gobench"), "{}", stderr(&output));
}
