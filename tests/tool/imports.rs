//! What other benchmarks printed, as runs like any other: reported and compared.

use testing::{Place, stderr, stdout};

fn imported(place: &Place, name: &str) -> String {
    let file = testing::file(format!("tests/vectors/imports/{name}"));
    let output = place.unixmark("import").arg(file).output().unwrap();
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    stdout(&output).trim().to_owned()
}

#[test]
fn imports_are_reported_and_compared() {
    let place = Place::new();
    let names = [
        "fio.json",
        "hyperfine.json",
        "sysbench-cpu.txt",
        "cyclictest.json",
        "hackbench.txt",
        "unixbench-6.0.0.csv",
    ];
    for name in names {
        let run = imported(&place, name);
        for format in ["text", "json", "csv", "html", "markdown", "openmetrics", "bmf"] {
            let report =
                place.unixmark(&format!("report {run} --format {format}")).output().unwrap();
            assert!(
                report.status.success() && !report.stdout.is_empty(),
                "{name} {format}: {}",
                stderr(&report)
            );
        }
    }
    let page = imported(&place, "unixbench-5.1.3.html");
    let text = imported(&place, "unixbench-6.0.0.txt");
    let compare = place.unixmark(&format!("compare {page} {text} --format json")).output().unwrap();
    assert!(compare.status.success(), "{}", stderr(&compare));
    let json: serde_json::Value = serde_json::from_str(&stdout(&compare)).unwrap();
    let compared = json["comparisons"].as_array().unwrap();
    // Two tests at two levels of copies; Dhrystone is in one of the files alone.
    assert_eq!((compared.len(), json["missing"].as_array().unwrap().len()), (4, 2));
}

#[test]
fn what_cannot_be_read_is_refused_by_its_line() {
    let place = Place::new();
    let whole =
        std::fs::read_to_string(testing::file("tests/vectors/imports/sysbench-cpu.txt")).unwrap();
    for (text, message) in [
        (whole.split_once("Threads fairness").unwrap().0.to_owned(), "it ends at line 2"),
        (whole.replace("sysbench 1.", "sysbench 7."), "it comes from sysbench '7.0.20' (line 1)"),
        ("hello\n".to_owned(), "`unixmark import --help` lists what can be imported"),
    ] {
        let file = place.root.path().join("file");
        std::fs::write(&file, text).unwrap();
        let output = place.unixmark("import").arg(&file).output().unwrap();
        assert!(
            !output.status.success() && stderr(&output).contains(message),
            "{message}: {}",
            stderr(&output)
        );
    }
    assert!(
        !place.results().exists() || std::fs::read_dir(place.results()).unwrap().next().is_none()
    );
}

#[test]
fn each_report_of_a_file_becomes_a_run() {
    let place = Place::new();
    let file = testing::file("tests/cases/imports/ub_two_reports.txt");

    let output = place.unixmark("import").arg(file).output().unwrap();

    let printed = stdout(&output);
    let names: Vec<&str> = printed.lines().filter_map(|line| line.rsplit('/').next()).collect();
    assert_eq!(names, ["alpha-2026-01-01-01", "beta-2026-01-02-01"], "{}", stderr(&output));
}

#[test]
fn a_comment_of_a_known_run_is_answered_with_its_name() {
    let place = Place::new();
    let file = testing::file("tests/cases/imports/hf_without_times.json");
    let import = |options: &str| place.unixmark(options).arg(&file).output().unwrap();
    assert!(import("import -m first").status.success());

    let output = import("import -m before");

    let name = stdout(&output).trim().rsplit('/').next().unwrap().to_owned();
    assert_eq!(
        stderr(&output).split_whitespace().collect::<Vec<_>>().join(" "),
        format!(
            "already imported as {name}, so nothing was added, and the comment 'before' is not \
             kept: call it {name}"
        )
    );
}

#[test]
fn an_import_that_nobody_keeps_is_shown() {
    let place = Place::new();
    let file = testing::file("tests/cases/imports/hf_without_times.json");

    let output = place.unixmark("import --results none").arg(file).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("sleep 0.01"), "{}", stdout(&output));
    assert!(!place.results().exists());
}

#[test]
fn what_a_pipe_hands_over_is_imported() {
    let place = Place::new();
    let mut cat = std::process::Command::new("cat")
        .arg(testing::file("tests/vectors/imports/unixbench-6.0.0.txt"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = cat.stdout.take().unwrap();
    let output = place.unixmark("import -").stdin(pipe).output().unwrap();
    cat.wait().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_report_imported_twice_is_one_run() {
    let place = Place::new();
    let report = testing::file("tests/vectors/unixbench_1copy_report.txt");
    let import = |more: &str| {
        place.unixmark(&format!("import {} {more}", report.display())).output().unwrap()
    };
    let first = import("");
    let again = import("--comment mine");
    assert_eq!((first.status.code(), again.status.code()), (Some(0), Some(0)));
    assert_eq!(stdout(&first), stdout(&again));
    assert!(
        stderr(&again).contains("already imported as imported-2018-06-25-01, so nothing was added"),
        "{}",
        stderr(&again)
    );
    assert_eq!(std::fs::read_dir(place.results()).unwrap().count(), 1);
    // Another report of the same time is another run.
    let text = std::fs::read_to_string(&report).unwrap().replacen("645027.2", "645028.2", 2);
    let other = place.root.path().join("other.txt");
    std::fs::write(&other, text).unwrap();
    assert_eq!(
        place.unixmark(&format!("import {}", other.display())).output().unwrap().status.code(),
        Some(0)
    );
    assert_eq!(std::fs::read_dir(place.results()).unwrap().count(), 2);
}
