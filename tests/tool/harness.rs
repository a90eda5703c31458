//! `unixmark ab --harness`: programs that print figures, made up by a script with noise of its own.

use std::path::PathBuf;

use serde_json::Value;
use testing::{Place, stderr, stdout};

/// Prints three figures of Go; the second is `$1` times as large. The noise is 1 %.
const GO: &str = r#"noisy() { echo $(($1 * (1000 + $(od -An -N1 -tu1 /dev/urandom) % 20) / 1000)); }
echo "goos: linux"
echo "BenchmarkAlpha-2 1000 $(noisy 100000) ns/op 0 B/op"
echo "BenchmarkBeta-2 1000 $(noisy "${1}00000") ns/op 0 B/op"
echo "BenchmarkGamma-2 1000 $(noisy 30000) ns/op 0 B/op"
"#;

struct Scripts {
    place: Place,
    folder: tempfile::TempDir,
}

impl Scripts {
    fn new() -> Scripts {
        Scripts { place: Place::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// Writes a script for sh; returns its path.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn ab(&self, words: &[&str]) -> std::process::Output {
        self.place.unixmark("ab --budget 20s").args(words).output().unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.ab(&[&["--format", "json", "-q"], words].concat());
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output)))
    }
}

/// Labels and verdicts of the comparisons.
fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let rows = report["comparisons"].as_array().unwrap_or_else(|| panic!("{report}")).iter();
    rows.map(|row| (row["label"].as_str().unwrap(), row["verdict"].as_str().unwrap())).collect()
}

#[test]
fn the_planted_figure_is_called_and_fails_the_gate() {
    let scripts = Scripts::new();
    let script = scripts.write("go", GO).display().to_string();
    let [old, new] = ["2", "3"].map(|size| format!("sh {script} {size}"));
    let words = ["--harness", "gobench", &old, &new, "-n", "old", "-n", "new", "--fail-on", "10%"];
    let report = scripts.json(&words);
    let found = verdicts(&report);
    assert_eq!(found.len(), 6, "{found:?}");
    let amounts = found.iter().filter(|(label, _)| label.ends_with("B/op"));
    assert!(amounts.clone().all(|(_, verdict)| *verdict == "same"), "{found:?}");
    let called = found
        .iter()
        .filter(|(_, verdict)| ["slower", "faster"].contains(verdict))
        .collect::<Vec<_>>();
    assert_eq!(called, [&("BenchmarkBeta", "slower")], "{report}");
    let row = report["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["label"] == "BenchmarkBeta")
        .unwrap();
    assert!(
        row["unit"] == "ns/op"
            && row["low"].as_f64() > Some(40.0)
            && row["high"].as_f64() < Some(60.0),
        "{row}"
    );
    let output = scripts.ab(&words);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    let is_it = |line: &str| {
        line.starts_with("unixmark: BenchmarkBeta x2: ") && line.contains(" % slower with new (")
    };
    assert!(said.lines().any(is_it), "{said}");
    let said = stdout(&output).replace('\n', " ");
    assert!(said.contains("new is worse than old in 1 of 6 figures (BenchmarkBeta x2 +"), "{said}");
    let markdown = stdout(&scripts.ab(&[&words[..], &["--format", "markdown", "-q"]].concat()));
    assert!(markdown.contains("| BenchmarkBeta x2"), "{markdown}");
    let list = scripts.place.unixmark("list runs").output().unwrap();
    assert!(list.status.success(), "{}", stderr(&list));
}

#[test]
fn directories_have_figures_and_a_stdout_that_is_opened_by_name() {
    let scripts = Scripts::new();
    for (name, text) in [
        ("base/bench", r#"echo running; echo '{"a_ms": 100, "old only": 1}' >/dev/stdout"#),
        ("head/bench", r#"echo running; echo '{"a_ms": 200, "new only": 1}' >/dev/stdout"#),
    ] {
        scripts.write(name, text);
    }
    let [base, head] =
        ["base", "head"].map(|name| scripts.folder.path().join(name).display().to_string());
    let report =
        scripts.json(&["--harness", "auto", "--base", &base, "--head", &head, "--", "sh", "bench"]);
    assert_eq!(verdicts(&report), [("a_ms", "slower")], "{report}");
    let missing = report["cost"]["missing"].as_array().unwrap();
    let only = missing.iter().find(|gap| gap["label"] == "new only").unwrap();
    assert!(only["reason"].as_str().unwrap().contains("base did not print it"), "{only}");
}

#[test]
fn what_only_import_reads_is_compared_too() {
    let scripts = Scripts::new();
    let file = testing::file("tests/vectors/imports/sysbench-cpu.txt");
    let slower =
        format!("sed 's/events per second: .*/events per second: 1.5/' {}", file.display());

    let report = scripts.json(&[
        "--harness",
        "auto",
        "--runs",
        "12",
        &format!("cat {}", file.display()),
        &slower,
    ]);

    assert!(verdicts(&report).contains(&("sysbench cpu events", "slower")), "{report}");
}

#[test]
fn what_cannot_be_read_is_said_with_the_command() {
    let scripts = Scripts::new();
    let figure = "echo BenchmarkA 1 5 ns/op";
    for (words, code, why) in [
        (
            &["--harness", "gbench", figure, "echo b", "-n", "old", "-n", "new"][..],
            3,
            "what 'old' printed cannot be used: it has no figures in the format of Google Benchmark",
        ),
        (
            &["--harness", "auto", figure, "echo b", "-n", "old", "-n", "new"],
            3,
            "what 'new' printed cannot be used: it has no figures in the format of any",
        ),
        (
            &["--harness", "auto", figure, "echo 'tps = 5'", "-n", "old", "-n", "new"],
            3,
            "what 'new' printed cannot be used: it is the output of pgbench, which has no reader",
        ),
        (
            &["--harness", "auto", figure, "echo gone >&2; exit 4"],
            3,
            "ended with exit status 4, saying 'gone'",
        ),
        (&["--harness", "bench", figure, "echo b"], 2, "use auto, gbench, pytest"),
        (&["--harness", "auto", "--same-output", figure, "echo b"], 2, "cannot be used with"),
        (
            &["--harness", "auto", "--output", "/dev/null", figure, "echo b"],
            2,
            "cannot be used with",
        ),
    ] {
        let output = scripts.ab(words);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{words:?}: {}{}",
            stdout(&output),
            stderr(&output)
        );
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn runs_of_one_merge_after_the_other_are_a_chain() {
    let scripts = Scripts::new();
    for [old, new] in [[100, 125], [125, 125], [125, 120]] {
        let [old, new] = [old, new].map(|time| format!(r#"echo '{{"parse": {time}}}'"#));
        let output = scripts.ab(&[
            "--harness",
            "json",
            "--better",
            "lower:parse",
            "-q",
            "-n",
            "base",
            "-n",
            "head",
            &old,
            &format!("{new} "),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let report = |words: &str| scripts.place.unixmark(&format!("report {words}")).output().unwrap();
    let output = report("--trend parse --chain");
    let said = stdout(&output).split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(
        said.contains("From the first base to the last head, over 3 runs: +20.0 % (worse;"),
        "{said}{}",
        stderr(&output)
    );
    assert!(
        said.contains("the level is 25.0 % higher (worse;")
            && said.contains("the level is 4.0 % lower (better;"),
        "{said}"
    );
    let json: Value =
        serde_json::from_slice(&report("--trend parse --chain --format json").stdout).unwrap();
    let points = json["points"].as_array().unwrap();
    let close = |place: usize, key: &str, wanted: f64| {
        (points[place][key].as_f64().unwrap() - wanted).abs() < 1e-6
    };
    assert!(points.len() == 3 && close(0, "change", 25.0) && close(2, "value", 120.0), "{json}");
    for (words, why) in [
        ("--chain", "--trend"),
        ("--trend other --chain", "no run in"),
        (
            "--trend parse --chain --host nobody",
            "no run with the test 'parse' comes from host 'nobody'",
        ),
    ] {
        let output = report(words);
        assert!(
            output.status.code() == Some(2) && stderr(&output).contains(why),
            "{words}: {}",
            stderr(&output)
        );
    }
}

/// User review of 2026-11, person 8: `cost` measured only the time of a client, not what it printed.
#[test]
fn a_condition_is_compared_by_the_figures_of_a_command() {
    let _host = testing::host();
    let place = Place::new();
    // What a client waits, no processor works.
    let client = "sleep 0.02; echo \"{\\\"tps\\\": $(($(nice) * 100 + 100))}\"";

    let output = place
        .unixmark("cost nice=19 --harness json --better higher:tps -i 8 --format json -q")
        .args(["--", "sh", "-c", client])
        .output()
        .unwrap();

    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output)));
    assert_eq!(verdicts(&report), [("tps", "faster")]);
    let of_test = place.unixmark("cost nice=5 pipe --harness json").output().unwrap();
    assert!(
        stderr(&of_test).contains("pipe is a test; name commands alone"),
        "{}",
        stderr(&of_test)
    );
}
