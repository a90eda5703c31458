//! The archive: what is exported is what reports show, names and damage break nothing, and bad luck
//! leaves no half file.

mod duckdb;
mod grafana;
mod questions;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catalogue::Catalogue;
use duckdb::{python, query};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::{Place, contents, stderr, stdout};

use crate::corpus::{GCC, Made, Recorded, add_journal};

/// Exports into `archive`; returns the exit code and what was said.
fn export(place: &Place, words: &str) -> (i32, String) {
    let archive = place.root.path().join("archive");
    let output = place
        .unixmark(&format!("export --parquet {} {words}", archive.display()))
        .output()
        .unwrap();
    (output.status.code().unwrap(), stderr(&output))
}

/// Exports all there is.
fn export_all(place: &Place) {
    let (code, said) = export(place, "");
    assert_eq!(code, 0, "{said}");
}

/// Adds a recorded run of the repository; returns its journal.
fn add_recorded(place: &Place, name: &str) -> PathBuf {
    let journal = std::fs::read_to_string(testing::recorded(name).join("run.jsonl")).unwrap();
    add_journal(place, name, &journal)
}

/// Adds every recorded run of the repository; returns their names.
fn add_all_recorded(place: &Place) -> Vec<String> {
    let runs = testing::file("tests/runs");
    let mut names: Vec<String> = std::fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // A fleet's journals lie side by side.
    names.retain(|name| runs.join(name).join("run.jsonl").exists());
    names.sort();
    for name in &names {
        add_recorded(place, name);
    }
    names
}

#[test]
#[ignore = "needs DuckDB"]
fn what_is_exported_is_what_reports_show() {
    let place = Place::new();
    let names = add_all_recorded(&place);
    let (code, said) = export(&place, "");
    assert!(code == 0 && said.starts_with(&format!("exported: {} runs, ", names.len())), "{said}");
    let first = contents(&place.root.path().join("archive"));
    export_all(&place);
    assert_eq!(
        contents(&place.root.path().join("archive")),
        first,
        "again: the same bytes, and no others"
    );
    let Some(python) = python() else { return };
    let sql =
        "SELECT run, started, test, copies, load, condition, value, low, high, n, unit, control,
            watts, watts_high, joules_per_operation, joules_per_operation_low
        FROM results WHERE state = 'measured' AND metric <> 'index' ORDER BY ALL";
    let rows = query(&python, place.root.path(), sql);
    let mut shown = 0;
    for name in &names {
        let report = place.json(name);
        for result in report["results"].as_array().unwrap() {
            shown += 1;
            let same = |row: &&Value| {
                let place = ["test", "copies", "load", "condition"];
                let figure = ["value", "low", "high", "n", "unit", "control"];
                let energy =
                    ["watts", "watts_high", "joules_per_operation", "joules_per_operation_low"];
                let keys = place.iter().chain(&figure).chain(&energy);
                row[0] == report["run"]["name"]
                    && keys.zip(2..).all(|(key, at)| row[at] == result[*key])
            };
            assert_eq!(rows.iter().filter(same).count(), 1, "{name}: {result}");
        }
    }
    assert_eq!(rows.len(), shown);
    assert!(
        rows.iter().any(|row| row[12].is_number() && row[14].is_number()),
        "one of the runs had a meter"
    );
    let counts = query(
        &python,
        place.root.path(),
        "SELECT (SELECT count(*) FROM results WHERE state <> 'measured' AND reason IS NOT NULL AND value IS NULL),
            (SELECT count(*) FROM results r JOIN facts f ON r.id = f.id WHERE f.name = 'kernel.release' AND f.value <> r.kernel),
            (SELECT count(*) FROM (SELECT r.id, r.test, r.copies, r.load, r.condition, r.control, max(r.n), count(*) FROM results r
                JOIN samples s ON r.id = s.id AND r.test = s.test AND r.copies = s.copies AND r.load = s.load
                AND r.condition = s.condition AND r.control = s.control AND r.procedure <> 'classic' GROUP BY ALL HAVING max(r.n) <> count(*)))",
    );
    let unscored = names.iter().map(|name| place.json(name)).fold(0, |all, report| {
        all + report["skipped"].as_array().unwrap().len()
            + report["errors"].as_array().unwrap().len()
    });
    assert!(unscored > 0);
    assert_eq!(counts[0], serde_json::json!([unscored, 0, 0]));
}

#[test]
fn every_column_is_documented_and_every_file_tells_its_version() {
    let place = Place::new();
    let journal = add_recorded(&place, "index");
    let summary = archive::summary(&journal, &Catalogue::load().unwrap()).unwrap();
    let text = std::fs::read_to_string("docs/format.md").unwrap();
    let start = text.find("`unixmark-parquet/1`").unwrap();
    let section = &text[start..start + text[start..].find("\n## ").unwrap()];
    for table in [
        archive::results("", &summary),
        archive::samples("", &summary),
        archive::facts("", &summary),
    ] {
        for (name, kind) in table.columns() {
            // A line of the table that has both, or the sentences on the smaller tables.
            let told = section
                .lines()
                .any(|line| line.contains(&format!("`{name}`")) && line.contains(kind));
            assert!(
                told || kind == "string" && section.contains(&format!("`{name}`")),
                "{name} {kind}"
            );
        }
    }
    export_all(&place);
    let files = contents(&place.root.path().join("archive"));
    assert_eq!(files.len(), 3);
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            text.contains("unixmark.format") && text.contains("unixmark-parquet/1"),
            "{}",
            path.display()
        );
    }
}

#[test]
#[ignore = "needs DuckDB"]
fn hostile_names_break_neither_paths_nor_sql() {
    let place = Place::new();
    let base = Recorded::read("tests/runs/index/run.jsonl", 2);
    let hosts = [
        "a'b\"; DROP TABLE results; --",
        "../x",
        "a/b=c",
        "håst-日本",
        "",
        "..",
        "_hidden",
        "50%2F",
        "1234",
        "a+b c",
    ];
    for (number, host) in hosts.iter().enumerate() {
        let started = format!("2026-01-{:02}T00:00:00Z", number + 1);
        let made = Made {
            host,
            started: &started,
            facts: &[],
            factor: &|_, _, _| 1.0,
            compiler: GCC,
            fleet: Some("../f"),
        };
        add_journal(&place, &number.to_string(), &base.made(&made));
    }
    let long = "n".repeat(500);
    let made = Made {
        host: &long,
        started: "one day at noon",
        facts: &[],
        factor: &|_, _, _| 1.0,
        compiler: "x",
        fleet: None,
    };
    add_journal(&place, "long", &base.made(&made).replace("unixmark 0.1.0", "../../suite 1"));
    export_all(&place);
    // Three tables of eleven runs, each four directories deep, and nothing anywhere else.
    let root = place.root.path();
    let files = contents(&root.join("archive"));
    assert_eq!(files.len(), 33);
    assert!(
        files.iter().all(|(path, _)| path.strip_prefix(root).unwrap().components().count() == 6),
        "{files:?}"
    );
    let Some(python) = python() else { return };
    let rows = query(
        &python,
        root,
        "SELECT DISTINCT host, node, fleet FROM results WHERE suite = 'unixmark' ORDER BY ALL",
    );
    assert_eq!(rows.len(), hosts.len());
    for host in hosts {
        let shown = if host.is_empty() { Value::Null } else { host.into() };
        assert!(rows.contains(&serde_json::json!([shown, host, "../f"])), "{host}: {rows:?}");
    }
    let rows = query(
        &python,
        root,
        "SELECT count(DISTINCT id) FROM results WHERE host = 'a''b\"; DROP TABLE results; --'",
    );
    assert_eq!(rows[0][0], 1);
    let rows = query(
        &python,
        root,
        "SELECT DISTINCT suite, length(host), date IS NULL FROM results WHERE suite <> 'unixmark'",
    );
    assert_eq!(rows, [serde_json::json!(["../../suite", 120, true])]);
}

#[test]
fn what_is_damaged_is_told_and_left_out() {
    let place = Place::new();
    let runs = add_all_recorded(&place).len();
    let good = std::fs::read_to_string(place.results().join("index/run.jsonl")).unwrap();
    add_journal(&place, "newer", &good.replace("unixmark-run/1", "unixmark-run/9"));
    add_journal(&place, "foreign", "{\"type\":\"benchmark\"}\n");
    add_journal(&place, "damaged", &good.replacen("\"type\":\"cell\"", "\"type\":\"ce", 1));
    add_journal(&place, "empty", "");
    let (code, said) = export(&place, "");
    assert!(
        code == 1
            && said.contains(&format!("exported: {runs} runs, "))
            && said.contains(", 4 left out"),
        "{said}"
    );
    for reason in ["unixmark-run/9", "not a unixmark run", "damaged", "holds no run"] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    // One run by its name; one that is not there; none at all.
    let (code, said) = export(&place, "latency");
    assert!(code == 0 && said.starts_with("exported: 1 run, "), "{said}");
    let (code, said) = export(&place, "latancy");
    assert!(code == 2 && said.contains("did you mean 'latency'"), "{said}");
    let (code, said) = export(&place, "--fleet .");
    assert!(code == 2 && said.contains("has no fleet run"), "{said}");
    let output = place.unixmark("export").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// The summary of `night.jsonl` would be `night.json`, which here is a file of the user's.
#[test]
fn exporting_leaves_a_users_file_at_the_summarys_name() {
    let place = Place::new();
    let journal = place.root.path().join("night.jsonl");
    std::fs::copy("tests/runs/index/run.jsonl", &journal).unwrap();
    let users_file = journal.with_extension("json");
    std::fs::write(&users_file, "mine").unwrap();

    let (code, said) = export(&place, journal.to_str().unwrap());
    assert_eq!(code, 0, "{said}");
    assert_eq!(std::fs::read_to_string(&users_file).unwrap(), "mine");
}

#[test]
fn imports_are_exported_as_suites_of_their_own() {
    let place = Place::new();
    for name in ["fio.json", "hackbench.txt", "unixbench-6.0.0.csv"] {
        let file = testing::file(format!("tests/vectors/imports/{name}"));
        let output = place.unixmark("import").arg(file).output().unwrap();
        assert!(output.status.success(), "{name}: {}", stderr(&output));
    }

    export_all(&place);
    for suite in ["fio", "hackbench", "UnixBench"] {
        assert!(
            place.root.path().join(format!("archive/results/suite={suite}")).exists(),
            "{suite}"
        );
    }
}

/// A run that was exported while it went on is replaced; a fleet's attempt that counts no longer is
/// taken out.
#[test]
fn exporting_again_replaces() {
    let place = Place::new();
    let whole = std::fs::read_to_string("tests/runs/index/run.jsonl").unwrap();
    let journal = add_journal(&place, "index", &whole[..whole.len() * 2 / 3]);
    export_all(&place);
    let archive = place.root.path().join("archive");
    let first = contents(&archive);
    std::fs::write(&journal, &whole).unwrap();
    export_all(&place);
    let second = contents(&archive);
    let names =
        |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert!(names(&first) == names(&second) && first != second);

    let fleet = |attempt: u32, text: &str| {
        let part = format!(
            "\"fleet\":{{\"run\":\"night\",\"node\":\"n1\",\"task\":\"0\",\"attempt\":{attempt}}},\"host\":\"vm\""
        );
        let sources = place.root.path().join("sources");
        std::fs::create_dir_all(&sources).unwrap();
        std::fs::write(
            sources.join(format!("{attempt}.jsonl")),
            text.replacen("\"host\":\"vm\"", &part, 1),
        )
        .unwrap();
        let root = place.root.path().display();
        place.unixmark(&format!("collect {root}/sources --into {root}/fleet")).output().unwrap();
        export(&place, &format!("--fleet {root}/fleet"))
    };
    let (code, said) = fleet(0, &whole[..whole.len() * 2 / 3]);
    assert!(code == 0 && said.starts_with("exported: 1 run, "), "{said}");
    let (code, said) = fleet(1, &whole);
    assert!(code == 0 && said.starts_with("exported: 1 run, "), "{said}");
    assert_eq!(
        contents(&archive).len(),
        second.len() * 2,
        "one attempt of the node, beside the run without a fleet"
    );
}

#[test]
fn bad_luck_leaves_no_half_file() {
    let place = Place::new();
    let runs = add_all_recorded(&place).len();
    std::fs::write(place.root.path().join("file"), "").unwrap();
    let blocked = format!("export --parquet {}/file/archive", place.root.path().display());
    let output = place.unixmark(&blocked).output().unwrap();
    assert!(
        output.status.code() == Some(3) && stderr(&output).contains("cannot be written"),
        "{}",
        stderr(&output)
    );
    // An archive inside of the results directory is no run of it.
    let inside = format!("export --parquet {}/archive", place.results().display());
    for _ in 0..2 {
        let output = place.unixmark(&inside).output().unwrap();
        assert!(
            output.status.success()
                && stderr(&output).starts_with(&format!("exported: {runs} runs, ")),
            "{}",
            stderr(&output)
        );
    }
    let whole = |archive: &Path| {
        let files = contents(archive);
        let ends = |bytes: &[u8]| bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1");
        let half = files.iter().filter(|(path, bytes)| {
            path.extension().is_some_and(|e| e == "parquet") && !ends(bytes)
        });
        assert_eq!(half.count(), 0);
        files.len()
    };
    let all = whole(&place.results().join("archive"));
    // Ctrl-C while it goes on.
    let archive = place.root.path().join("archive");
    let mut child = Command::new(env!("CARGO_BIN_EXE_unixmark"))
        .args(["export", "--parquet"])
        .arg(&archive)
        .env("UNIXMARK_RESULTS", place.results())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !archive.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // It may have ended already.
    let _ = kill_process(Pid::from_child(&child), Signal::INT);
    child.wait().unwrap();
    whole(&archive);
    export_all(&place);
    assert!(whole(&archive) >= all);

    let disk = place.root.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return testing::skip("mounting a tmpfs needs root");
    }
    let output = place.unixmark(&format!("export --parquet {}", disk.display())).output().unwrap();
    let written = std::panic::catch_unwind(|| whole(&disk));
    Command::new("umount").arg(&disk).status().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("make room") && stderr(&output).contains("No space left"),
        "{}",
        stderr(&output)
    );
    assert!(written.unwrap() < all);
}

#[test]
fn journals_are_not_read_where_there_are_summaries() {
    let place = Place::new();
    let journal = add_recorded(&place, "index");
    let trend = || stdout(&place.unixmark("report --trend syscall").output().unwrap());
    let shown = trend();
    export_all(&place);
    let exported = contents(&place.root.path().join("archive"));
    // The same length, and nothing of it can be read but the first line.
    let mut bytes = std::fs::read(&journal).unwrap();
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let last = bytes.len() - 1;
    bytes[first + 1..last].fill(b'?');
    std::fs::write(&journal, &bytes).unwrap();
    assert!(!shown.is_empty() && trend() == shown);
    export_all(&place);
    assert_eq!(contents(&place.root.path().join("archive")), exported);
    assert!(
        stdout(&place.unixmark("list runs").output().unwrap()).contains("run syscall pipe spawn")
    );
    // The summary is a cache: without it the journal is read, and found damaged.
    std::fs::remove_file(journal.with_extension("json")).unwrap();
    assert_eq!(export(&place, "").0, 1);
    assert_eq!(place.unixmark("report --trend syscall").output().unwrap().status.code(), Some(3));
}
