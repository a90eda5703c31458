//! The archive: what is exported is what reports show, the questions of docs/archive.md find what was planted, and bad luck
//! leaves no half file.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;
#[path = "archive/corpus.rs"]
mod corpus;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, contents, stderr, stdout};
use corpus::{Made, Recorded};
use serde_json::Value;
use unixmark::archive;
use unixmark::catalogue::Catalogue;

const GCC: &str = "cc (Debian 12.2.0-14) 12.2.0";

/// The directory of a Python that has DuckDB; none where pip reaches no index.
fn python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("sh").arg(root.join("tests/python.sh")).arg("duckdb==2.0.0").output().unwrap();
    if output.status.success() {
        return Some(PathBuf::from(stdout(&output).trim()));
    }
    let why = stderr(&output).to_lowercase();
    let offline = ["connection", "resolution", "timed out", "unreachable"].iter().any(|sign| why.contains(sign));
    assert!(offline, "DuckDB cannot be installed: {why}");
    eprintln!("skipped: pip reaches no package index: {why}");
    None
}

/// The answers to the questions of a document over the archive in a directory.
fn ask(python: &Path, place: &Path, document: &Path) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archive.py");
    let mut command = Command::new(python.join("bin/python"));
    let output = command.arg(script).arg("duckdb").arg(document).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The answer to one question of our own.
fn query(python: &Path, place: &Path, sql: &str) -> Vec<Value> {
    let views = std::fs::read_to_string(document()).unwrap();
    let start = views.find("```sql duckdb").unwrap();
    let views = &views[start..start + views[start..].find("```\n\n").unwrap() + 4];
    let asked = place.join("question.md");
    std::fs::write(&asked, format!("{views}\n```sql\n{sql}\n```\n")).unwrap();
    ask(python, place, &asked)[0]["rows"].as_array().unwrap().clone()
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/archive.md")
}

fn keep(place: &Place, name: &str, journal: &str) -> PathBuf {
    let folder = place.results().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("run.jsonl"), journal).unwrap();
    folder.join("run.jsonl")
}

/// Exports into `archive`; returns the exit code and what was said.
fn export(place: &Place, words: &str) -> (i32, String) {
    let archive = place.root.path().join("archive");
    let output = place.unixmark(&format!("export --parquet {} {words}", archive.display())).output().unwrap();
    (output.status.code().unwrap(), stderr(&output))
}

/// Exports all there is.
fn export_all(place: &Place) {
    let (code, said) = export(place, "");
    assert_eq!(code, 0, "{said}");
}

/// Every recorded run of the repository.
fn recorded(place: &Place) -> Vec<String> {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    let mut names: Vec<String> =
        std::fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // A fleet's journals lie side by side.
    names.retain(|name| runs.join(name).join("run.jsonl").exists());
    names.sort();
    for name in &names {
        keep(place, name, &std::fs::read_to_string(runs.join(name).join("run.jsonl")).unwrap());
    }
    names
}

#[test]
fn what_is_exported_is_what_reports_show() {
    let place = Place::new();
    let names = recorded(&place);
    let (code, said) = export(&place, "");
    assert!(code == 0 && said.starts_with(&format!("{} runs with ", names.len())), "{said}");
    let first = contents(&place.root.path().join("archive"));
    export_all(&place);
    assert_eq!(contents(&place.root.path().join("archive")), first, "again: the same bytes, and none besides");
    let Some(python) = python() else { return };
    let sql = "SELECT run, started, test, copies, load, condition, value, low, high, n, unit
        FROM results WHERE state = 'measured' AND metric <> 'index' AND NOT control ORDER BY ALL";
    let rows = query(&python, place.root.path(), sql);
    let mut shown = 0;
    for name in &names {
        let report = place.json(name);
        for result in report["results"].as_array().unwrap() {
            shown += 1;
            let same = |row: &&Value| {
                let keys = ["test", "copies", "load", "condition", "value", "low", "high", "n", "unit"];
                row[0] == report["run"]["name"]
                    && keys.iter().zip([2, 3, 4, 5, 6, 7, 8, 9, 10]).all(|(key, at)| row[at] == result[*key])
            };
            assert_eq!(rows.iter().filter(same).count(), 1, "{name}: {result}");
        }
    }
    assert_eq!(rows.len(), shown);
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
        all + report["skipped"].as_array().unwrap().len() + report["errors"].as_array().unwrap().len()
    });
    assert!(unscored > 0);
    assert_eq!(counts[0], serde_json::json!([unscored, 0, 0]));
}

#[test]
fn every_column_is_documented_and_every_file_tells_its_version() {
    let place = Place::new();
    let journal = keep(&place, "index", &std::fs::read_to_string("tests/runs/index/run.jsonl").unwrap());
    let summary = archive::summary(&journal, &Catalogue::load().unwrap()).unwrap();
    let text = std::fs::read_to_string("docs/format.md").unwrap();
    let start = text.find("`unixmark-parquet/1`").unwrap();
    let section = &text[start..start + text[start..].find("\n## ").unwrap()];
    for table in [archive::results("", &summary), archive::samples("", &summary), archive::facts("", &summary)] {
        for (name, kind) in table.columns() {
            // A line of the table that has both, or the sentences on the smaller tables.
            let told = section.lines().any(|line| line.contains(&format!("`{name}`")) && line.contains(kind));
            assert!(told || kind == "string" && section.contains(&format!("`{name}`")), "{name} {kind}");
        }
    }
    export_all(&place);
    let files = contents(&place.root.path().join("archive"));
    assert_eq!(files.len(), 3);
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("unixmark.format") && text.contains("unixmark-parquet/1"), "{}", path.display());
    }
}

/// Eight hosts of a kind and one of another, six months, a kernel between; a fleet; and what is planted.
fn years(place: &Place) {
    let base = Recorded::read("docs/examples/run.jsonl", 6);
    let hosts = ["a1", "a2", "a3", "a4", "a5", "saver", "drifts", "noisy", "big"];
    let months = ["2026-01-10", "2026-02-09", "2026-03-11", "2026-04-10", "2026-05-10", "2026-06-09"];
    for host in hosts {
        for (month, date) in months.iter().enumerate() {
            let new = month >= 3;
            let facts = [
                ("kernel.release", if new { "6.12.0" } else { "6.1.0" }),
                ("cpu.model", if host == "big" { "Big Iron" } else { "AMD EPYC" }),
                ("cpu.governor", if host == "saver" { "powersave" } else { "performance" }),
            ];
            let factor = |test: &str, _: &str, block: u64| {
                let kernel = if new && test == "syscall" { 0.9 } else { 1.0 };
                kernel
                    * match host {
                        "big" => 2.0,
                        "saver" => 0.8,
                        "drifts" => (-0.03 * month as f64).exp(),
                        "noisy" => [0.5, 1.5][(block % 2) as usize],
                        _ => 1.0,
                    }
            };
            let compiler = if host == "a1" && month == 5 { "cc (Debian 14.2.0) 14.2.0" } else { GCC };
            let started = format!("{date}T03:00:00+00:00");
            let made = Made { host, started: &started, facts: &facts, factor: &factor, compiler, fleet: None };
            keep(place, &format!("{host}-{date}"), &base.made(&made));
        }
    }
    let cost = Recorded::read("tests/runs/cost/run.jsonl", 12);
    for (kernel, date) in [("6.1.0", "2026-03-01"), ("6.12.0", "2026-05-01")] {
        let factor = |_: &str, condition: &str, _: u64| {
            if kernel == "6.12.0" && condition == "audit=all" { 0.8 } else { 1.0 }
        };
        let facts = [("kernel.release", kernel), ("cpu.model", "Small")];
        let started = format!("{date}T03:00:00+00:00");
        let made =
            Made { host: "audited", started: &started, facts: &facts, factor: &factor, compiler: GCC, fleet: None };
        keep(place, &format!("audited-{date}"), &cost.made(&made));
    }
    let nodes = place.root.path().join("nodes");
    std::fs::create_dir(&nodes).unwrap();
    for number in 1..=16 {
        let node = format!("n{number:02}");
        let facts = [("cpu.microcode", if number > 10 { "0x2" } else { "0x1" })];
        let factor = |_: &str, _: &str, _: u64| match number {
            13 => 0.8,
            11.. => 0.93,
            _ => 1.0,
        };
        let started = "2026-07-01T03:00:00+00:00";
        let made = Made { host: &node, started, facts: &facts, factor: &factor, compiler: GCC, fleet: Some("night") };
        std::fs::write(nodes.join(format!("{node}.jsonl")), base.made(&made)).unwrap();
    }
}

/// A question's answer, its rows as objects.
fn answer(answers: &[Value], words: &str) -> Vec<Value> {
    let found: Vec<&Value> = answers.iter().filter(|a| a["question"].as_str().unwrap().contains(words)).collect();
    assert_eq!(found.len(), 1, "one question about '{words}'");
    let columns = found[0]["columns"].as_array().unwrap();
    let object = |row: &Value| {
        let pairs = columns.iter().zip(row.as_array().unwrap());
        Value::Object(pairs.map(|(name, value)| (name.as_str().unwrap().to_owned(), value.clone())).collect())
    };
    found[0]["rows"].as_array().unwrap().iter().map(object).collect()
}

fn near(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / wanted - 1.0).abs() < 1e-3)
}

#[test]
fn the_documents_questions_find_what_was_planted() {
    let place = Place::new();
    years(&place);
    let root = place.root.path();
    let collected = place.unixmark(&format!("collect {0}/nodes --into {0}/fleet", root.display())).output().unwrap();
    assert_eq!(collected.status.code(), Some(0), "{}", stderr(&collected));
    export_all(&place);
    let (code, said) = export(&place, &format!("--fleet {}/fleet", root.display()));
    assert!(code == 0 && said.starts_with("16 runs with"), "{said}");
    let Some(python) = python() else { return };
    let answers = ask(&python, root, &document());
    assert_eq!(answers.len(), 11);

    let kernels = answer(&answers, "kernel to kernel");
    let typical = |kernel: &str| {
        let row = kernels.iter().find(|row| row["kernel"] == kernel && row["runs"] == 24).unwrap();
        row["typical"].as_f64().unwrap()
    };
    assert!((typical("6.12.0") / typical("6.1.0") - 0.9).abs() < 1e-4, "{kernels:#?}");

    let microcodes = answer(&answers, "share a microcode");
    assert_eq!(
        (microcodes.len(), &microcodes[0]["microcode"], &microcodes[0]["slowest"]),
        (2, &"0x2".into(), &"n13".into())
    );
    assert!(near(&microcodes[0]["typical"], 0.93) && near(&microcodes[0]["its_share"], 0.8), "{microcodes:#?}");
    assert!(near(&microcodes[1]["typical"], 1.0), "{microcodes:#?}");

    let costs = answer(&answers, "auditing cost");
    let cost = |kernel: &str, condition: &str, test: &str| {
        let found: Vec<&Value> = costs
            .iter()
            .filter(|row| row["kernel"] == kernel && row["condition"] == condition && row["test"] == test)
            .collect();
        assert_eq!(found.len(), 1, "{kernel} {condition} {test}");
        1.0 + found[0]["change_percent"].as_f64().unwrap() / 100.0
    };
    for test in ["syscall", "execl"] {
        assert!((cost("6.12.0", "audit=all", test) / cost("6.1.0", "audit=all", test) - 0.8).abs() < 1e-3, "{test}");
        assert!((cost("6.12.0", "audit=on", test) / cost("6.1.0", "audit=on", test) - 1.0).abs() < 1e-3, "{test}");
    }

    let slower = answer(&answers, "become slower since a day");
    let of = |host: &str| slower.iter().filter(|row| row["host"] == host).count();
    assert_eq!((of("a1"), of("saver"), of("big"), of("audited")), (1, 1, 1, 0), "{slower:#?}");
    assert_eq!(of("drifts"), 12, "every test of the index");
    let syscall = slower.iter().find(|row| row["host"] == "a1").unwrap();
    assert!(syscall["test"] == "syscall" && near(&syscall["change_percent"], -10.0), "{syscall}");

    let drifts = answer(&answers, "host drifts");
    assert!(drifts[0]["host"] == "drifts" && near(&drifts[0]["percent_a_month"], -3.0), "{drifts:#?}");
    assert!(drifts[1..].iter().all(|row| row["percent_a_month"].as_f64().unwrap().abs() < 0.01), "{drifts:#?}");

    let noise = answer(&answers, "noisy, and where");
    assert_eq!(noise.iter().filter(|row| row["host"] == "noisy").count(), 12, "{noise:#?}");
    assert_eq!(noise[0]["host"], "noisy");

    let indexes = answer(&answers, "index has each type");
    let index = |cpu: &str| indexes.iter().find(|row| row["cpu"] == cpu && row["test"] == "system").unwrap();
    let ratio = index("Big Iron")["typical"].as_f64().unwrap() / index("AMD EPYC")["typical"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 0.04, "{indexes:#?}");

    let settings = answer(&answers, "governor and mitigations");
    let saved = settings.iter().filter(|row| row["governor"] == "powersave" && near(&row["below_best_percent"], -20.0));
    assert_eq!(saved.count(), 20, "{settings:#?}");

    let builds = answer(&answers, "another compiler");
    assert_eq!((builds.len(), &builds[0]["host"], &builds[0]["date"]), (1, &"a1".into(), &"2026-06-09".into()));

    let standing = answer(&answers, "stand in its fleet");
    assert_eq!((standing.len(), &standing[0]["node"], &standing[0]["highest"]), (16, &"n13".into(), &0.0.into()));

    let changes = answer(&answers, "What changed on a host");
    let kernels = changes.iter().filter(|row| row["earlier"] == "6.1.0" && row["value"] == "6.12.0").count();
    assert_eq!((kernels, changes.len()), (10, 10), "every host's kernel, and nothing else: {changes:#?}");
}

#[test]
fn hostile_names_break_neither_paths_nor_sql() {
    let place = Place::new();
    let base = Recorded::read("tests/runs/index/run.jsonl", 2);
    let hosts =
        ["a'b\"; DROP TABLE results; --", "../x", "a/b=c", "håst-日本", "", "..", "_hidden", "50%2F", "1234", "a+b c"];
    for (number, host) in hosts.iter().enumerate() {
        let started = format!("2026-01-{:02}T00:00:00Z", number + 1);
        let made =
            Made { host, started: &started, facts: &[], factor: &|_, _, _| 1.0, compiler: GCC, fleet: Some("../f") };
        keep(&place, &number.to_string(), &base.made(&made));
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
    keep(&place, "long", &base.made(&made).replace("unixmark 0.1.0", "../../suite 1"));
    export_all(&place);
    // Three tables of eleven runs, each four directories deep, and nothing anywhere else.
    let root = place.root.path();
    let files = contents(&root.join("archive"));
    assert_eq!(files.len(), 33);
    assert!(files.iter().all(|(path, _)| path.strip_prefix(root).unwrap().components().count() == 6), "{files:?}");
    let Some(python) = python() else { return };
    let rows =
        query(&python, root, "SELECT DISTINCT host, node, fleet FROM results WHERE suite = 'unixmark' ORDER BY ALL");
    assert_eq!(rows.len(), hosts.len());
    for host in hosts {
        let shown = if host.is_empty() { Value::Null } else { host.into() };
        assert!(rows.contains(&serde_json::json!([shown, host, "../f"])), "{host}: {rows:?}");
    }
    let rows =
        query(&python, root, "SELECT count(DISTINCT id) FROM results WHERE host = 'a''b\"; DROP TABLE results; --'");
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
    recorded(&place);
    let good = std::fs::read_to_string(place.results().join("index/run.jsonl")).unwrap();
    keep(&place, "newer", &good.replace("unixmark-run/1", "unixmark-run/9"));
    keep(&place, "foreign", "{\"type\":\"benchmark\"}\n");
    keep(&place, "damaged", &good.replacen("\"type\":\"cell\"", "\"type\":\"ce", 1));
    keep(&place, "empty", "");
    let (code, said) = export(&place, "");
    assert!(code == 1 && said.contains("9 runs with") && said.contains(", 4 were left out"), "{said}");
    for reason in ["unixmark-run/9", "not a unixmark run", "damaged", "holds no run"] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    // One run by its name; one that is not there; none at all.
    let (code, said) = export(&place, "latency");
    assert!(code == 0 && said.starts_with("1 runs with"), "{said}");
    let (code, said) = export(&place, "latancy");
    assert!(code == 3 && said.contains("did you mean 'latency'"), "{said}");
    let (code, said) = export(&place, "--fleet .");
    assert!(code == 3 && said.contains("has no fleet run"), "{said}");
    let output = place.unixmark("export").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// A run that was exported while it went on is replaced; a fleet's attempt that counts no longer is taken out.
#[test]
fn exporting_again_replaces() {
    let place = Place::new();
    let whole = std::fs::read_to_string("tests/runs/index/run.jsonl").unwrap();
    let journal = keep(&place, "index", &whole[..whole.len() * 2 / 3]);
    export_all(&place);
    let archive = place.root.path().join("archive");
    let first = contents(&archive);
    std::fs::write(&journal, &whole).unwrap();
    export_all(&place);
    let second = contents(&archive);
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert!(names(&first) == names(&second) && first != second);

    let fleet = |attempt: u32, text: &str| {
        let part = format!(
            "\"fleet\":{{\"run\":\"night\",\"node\":\"n1\",\"task\":\"0\",\"attempt\":{attempt}}},\"host\":\"vm\""
        );
        let sources = place.root.path().join("sources");
        std::fs::create_dir_all(&sources).unwrap();
        std::fs::write(sources.join(format!("{attempt}.jsonl")), text.replacen("\"host\":\"vm\"", &part, 1)).unwrap();
        let root = place.root.path().display();
        place.unixmark(&format!("collect {root}/sources --into {root}/fleet")).output().unwrap();
        export(&place, &format!("--fleet {root}/fleet"))
    };
    let (code, said) = fleet(0, &whole[..whole.len() * 2 / 3]);
    assert!(code == 0 && said.starts_with("1 runs"), "{said}");
    let (code, said) = fleet(1, &whole);
    assert!(code == 0 && said.starts_with("1 runs"), "{said}");
    assert_eq!(contents(&archive).len(), second.len() * 2, "one attempt of the node, beside the run without a fleet");
}

#[test]
fn journals_are_not_read_where_there_are_summaries() {
    let place = Place::new();
    let journal = keep(&place, "index", &std::fs::read_to_string("tests/runs/index/run.jsonl").unwrap());
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
    assert!(stdout(&place.unixmark("list runs").output().unwrap()).contains("run syscall pipe spawn"));
    // The summary is a cache: without it the journal is read, and found damaged.
    std::fs::remove_file(journal.with_extension("json")).unwrap();
    assert_eq!(export(&place, "").0, 1);
    assert_eq!(place.unixmark("report --trend syscall").output().unwrap().status.code(), Some(3));
}

#[test]
fn bad_luck_leaves_no_half_file() {
    let place = Place::new();
    recorded(&place);
    std::fs::write(place.root.path().join("file"), "").unwrap();
    let blocked = format!("export --parquet {}/file/archive", place.root.path().display());
    let output = place.unixmark(&blocked).output().unwrap();
    assert!(output.status.code() == Some(3) && stderr(&output).contains("cannot be written"), "{}", stderr(&output));
    // An archive inside of the results directory is no run of it.
    let inside = format!("export --parquet {}/archive", place.results().display());
    for _ in 0..2 {
        let output = place.unixmark(&inside).output().unwrap();
        assert!(output.status.success() && stderr(&output).starts_with("9 runs"), "{}", stderr(&output));
    }
    let whole = |archive: &Path| {
        let files = contents(archive);
        let ends = |bytes: &[u8]| bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1");
        let half =
            files.iter().filter(|(path, bytes)| path.extension().is_some_and(|e| e == "parquet") && !ends(bytes));
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
    let _ = Command::new("kill").arg("-INT").arg(child.id().to_string()).stderr(Stdio::null()).status();
    child.wait().unwrap();
    whole(&archive);
    export_all(&place);
    assert!(whole(&archive) >= all);

    let disk = place.root.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    }
    let output = place.unixmark(&format!("export --parquet {}", disk.display())).output().unwrap();
    let written = std::panic::catch_unwind(|| whole(&disk));
    Command::new("umount").arg(&disk).status().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("make room") && stderr(&output).contains("No space left"), "{}", stderr(&output));
    assert!(written.unwrap() < all);
}

#[test]
fn a_trend_marks_what_changed_and_weighs_the_latest() {
    let place = Place::new();
    let base = Recorded::read("tests/runs/index/run.jsonl", 6);
    let add = |host: &str, day: u32, kernel: &str, rate: f64| {
        let started = format!("2026-03-{day:02}T03:00:00+00:00");
        let facts = [("kernel.release", kernel), ("cpu.microcode", "0x1")];
        let factor = |test: &str, _: &str, _: u64| if test == "syscall" { rate } else { 1.0 };
        let made = Made { host, started: &started, facts: &facts, factor: &factor, compiler: GCC, fleet: None };
        keep(&place, &format!("{host}-{day}"), &base.made(&made));
    };
    for day in 1..=9 {
        add("alpha", day, "6.1.0", 1.0 + f64::from(day % 3) / 100.0);
    }
    add("alpha", 20, "6.12.0", 0.9);
    add("beta", 15, "6.1.0", 3.0);
    let run = |words: &str| place.unixmark(&format!("report --trend {words}")).output().unwrap();
    let output = run("syscall");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("* kernel: 6.1.0 -> 6.12.0") && !text.contains("beta"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("10.9 % lower (worse) than the median of the 9 runs before it"), "{text}");
    assert!(words.contains("20 % are as far out (p = 0.20). Before it changed: kernel."), "{text}");
    let json: Value = serde_json::from_slice(&run("syscall --format json --host all").stdout).unwrap();
    assert_eq!(json["format"], "unixmark-trend/1");
    let series = &json["series"][0];
    assert_eq!((series["points"].as_array().unwrap().len(), &series["latest"]["before"]), (11, &10.into()));
    let changed = |at: usize| series["points"][at]["changed"][0]["name"].clone();
    assert_eq!((changed(9), changed(10)), ("host".into(), "host".into()));
    // An index, a name that is not there, a form that there is not.
    assert!(stderr(&run("sycsall")).contains("did you mean 'syscall'"));
    assert!(stderr(&run("syscall --host alpa")).contains("did you mean 'alpha'"));
    assert_eq!(run("syscall --format html").status.code(), Some(2));
}
