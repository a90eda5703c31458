//! Figures that benchmark programs print: what `import` and `compare` say of two files, and what
//! `ab --harness` says of two programs that print them, is the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use testing::{Place, file, flat, stderr, stdout};

/// A figure by its label and its unit.
type Name = (String, String);

/// What is said of the figures of two texts.
#[derive(Debug, Default, PartialEq)]
struct Said {
    /// The verdict on each: `same`, `worse`, `better`, `undirected`.
    verdicts: BTreeMap<Name, String>,
    /// Whether less is better; null if nobody knows.
    directions: BTreeMap<Name, Value>,
    /// The labels of what the second lacks.
    lost: Vec<String>,
}

/// The files of a format before and after a change.
fn files(format: &str) -> [PathBuf; 2] {
    let folder = file("tests/cases/figures");
    ["base", "head"].map(|side| {
        let names = ["txt", "json"].map(|end| folder.join(format!("{format}-{side}.{end}")));
        names.into_iter().find(|name| name.exists()).unwrap()
    })
}

fn parsed(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", stdout(output), stderr(output)))
}

/// What a report says; `missing` are the figures that it could not compare.
fn said(report: &Value, missing: &Value) -> Said {
    let mut said = Said::default();
    for row in report["comparisons"].as_array().unwrap() {
        let name = ["label", "unit"].map(|key| row[key].as_str().unwrap().to_owned()).into();
        said.verdicts.insert(Name::clone(&name), verdict(row));
        said.directions.insert(name, row["lower_is_better"].clone());
    }
    for gap in missing.as_array().unwrap() {
        if gap["lost"] == true {
            said.lost.push(gap["label"].as_str().unwrap().to_owned());
        }
    }
    said.lost.sort();
    said
}

/// The verdict of a row. Runs that were made one after the other differ without a verdict: by the
/// side that is larger it is worse or better.
fn verdict(row: &Value) -> String {
    let is_lower_better = row["lower_is_better"].as_bool();
    let is_more = row["b"].as_f64() > row["a"].as_f64();
    let word = match row["verdict"].as_str().unwrap() {
        "differs" if is_lower_better.is_none() => "undirected",
        "differs" if is_lower_better == Some(is_more) => "worse",
        "slower" => "worse",
        "differs" | "faster" => "better",
        verdict => verdict,
    };
    word.to_owned()
}

fn imported(place: &Place, path: &PathBuf) -> String {
    let output = place.unixmark("import").arg(path).output().unwrap();
    assert!(output.status.success(), "{}: {}", path.display(), stderr(&output));
    stdout(&output).trim().to_owned()
}

/// What `compare` says of two files, and its exit status with a gate.
fn compared(place: &Place, [base, head]: &[PathBuf; 2]) -> (Said, Option<i32>) {
    let [base, head] = [base, head].map(|path| imported(place, path));
    let words = format!("compare {base} {head} --format json --fail-on 5%");
    let output = place.unixmark(&words).output().unwrap();
    let report = parsed(&output);
    (said(&report, &report["missing"]), output.status.code())
}

/// What `ab --harness` says of programs that print the files, and its exit status with a gate.
fn executed(place: &Place, format: &str, files: &[PathBuf; 2]) -> (Said, Option<i32>) {
    let [base, head] = files.clone().map(|path| format!("cat {}", path.display()));
    let output = place
        .unixmark("ab --budget 20s --runs 20 --format json -q --fail-on 5%")
        .args(["--harness", format, "-n", "base", "-n", "head", &base, &head])
        .output()
        .unwrap();
    let report = parsed(&output);
    (said(&report, &report["cost"]["missing"]), output.status.code())
}

#[test]
fn compare_and_ab_say_the_same_of_every_format() {
    let place = Place::new();
    for (format, verdicts, lost) in [
        (
            "gobench",
            &[
                ("BenchmarkAlloc", "ns/op", "same"),
                ("BenchmarkAlloc B/op", "B/op", "worse"),
                ("BenchmarkPush", "ns/op", "same"),
                ("BenchmarkPush hit-ratio", "hit-ratio", "undirected"),
                ("BenchmarkPush ops/sec", "ops/sec", "better"),
                ("BenchmarkPush skew-us", "skew-us", "better"),
                ("BenchmarkShift/by=1", "ns/op", "same"),
                ("BenchmarkSlow", "ns/op", "worse"),
                ("BenchmarkUnit", "ms/op", "same"),
            ][..],
            &["BenchmarkFails", "BenchmarkShift/by=-1"][..],
        ),
        (
            "gbench",
            &[
                ("BM_Same", "ns", "same"),
                ("BM_Same GFLOPS", "GFLOPS", "better"),
                ("BM_Same hit_rate", "hit_rate", "undirected"),
                ("BM_Same misses", "misses", "worse"),
                ("BM_Slow", "ns", "worse"),
            ],
            &["BM_Fails", "BM_Gone", "BM_Skips"],
        ),
        (
            "pytest",
            &[("test_a.py::test_same[1]", "s", "same"), ("test_a.py::test_slow", "s", "worse")],
            &["test_a.py::test_gone"],
        ),
        (
            "jmh",
            &[
                ("o.B.same", "ops/us", "same"),
                ("o.B.same gc.alloc.rate.norm", "B/op", "worse"),
                ("o.B.slow", "ns/op", "worse"),
                ("o.B.two (avgt)", "us/op", "same"),
                ("o.B.two (thrpt)", "ops/us", "better"),
            ],
            &["o.B.gone", "o.B.mode"],
        ),
        (
            "nanobench",
            &[
                ("copy", "s/op", "worse"),
                ("copy instructions/op", "instructions/op", "same"),
                ("sort", "s/op", "same"),
                ("sort instructions/op", "instructions/op", "better"),
            ],
            &["gone"],
        ),
    ] {
        let files = files(format);
        let expected: BTreeMap<Name, String> = verdicts
            .iter()
            .map(|(label, unit, verdict)| {
                ((label.to_string(), unit.to_string()), verdict.to_string())
            })
            .collect();

        let (of_files, compared) = compared(&place, &files);
        let (of_programs, executed) = executed(&place, format, &files);

        assert_eq!(of_files.verdicts, expected, "{format}: compare");
        assert_eq!(of_files.lost, lost, "{format}: compare");
        assert_eq!(of_programs, of_files, "{format}: ab and compare");
        assert_eq!([compared, executed], [Some(1); 2], "{format}: the gate");
    }
}

/// A file of these has one number of each figure, which `compare` cannot judge.
#[test]
fn compare_and_ab_read_the_same_where_a_file_has_single_numbers() {
    let place = Place::new();
    for (format, verdicts, lost) in [
        (
            "criterion",
            &[("a group/copy", "ns", "same"), ("hash", "ns", "worse")][..],
            &["gone"][..],
        ),
        (
            "json",
            &[
                ("below", "", "undirected"),
                ("depth", "", "undirected"),
                ("parse_ms", "", "same"),
                ("tps", "", "better"),
                ("zero", "", "undirected"),
            ],
            &["gone", "odd"],
        ),
    ] {
        let files = files(format);
        let (of_files, compared) = compared(&place, &files);
        let (of_programs, executed) = executed(&place, format, &files);

        let found: Vec<(&str, &str, &str)> = of_programs
            .verdicts
            .iter()
            .map(|((label, unit), verdict)| (label.as_str(), unit.as_str(), verdict.as_str()))
            .collect();
        assert_eq!(found, verdicts, "{format}");
        assert_eq!(of_programs.lost, lost, "{format}");
        assert_eq!(of_programs.directions, of_files.directions, "{format}");
        assert_eq!(of_programs.lost, of_files.lost, "{format}");
        assert_eq!([compared, executed], [Some(1); 2], "{format}: the gate");
    }
}

/// `ab --harness json` of two programs that print one object each, with these words.
fn ab(place: &Place, [base, head]: [&str; 2], words: &[&str]) -> std::process::Output {
    let [base, head] = [base, head].map(|object| format!("echo '{object}'"));
    place
        .unixmark("ab --budget 20s --runs 20 -q --format text --harness json --fail-on 5%")
        .args(["-n", "base", "-n", "head", &base, &head])
        .args(words)
        .output()
        .unwrap()
}

#[test]
fn a_gate_of_figures_passes_only_what_was_judged() {
    let place = Place::new();
    for (objects, words, code, said) in [
        (
            [r#"{"a":1,"b":2}"#, r#"{"a":1}"#],
            &[][..],
            1,
            "b is missing with head: head did not print it",
        ),
        ([r#"{"parse":1}"#, r#"{"parse2":3}"#], &[], 1, "parse is missing with head"),
        ([r#"{"a":1}"#, r#"{"a":1,"b":2}"#], &["--strict-gate"], 0, ""),
        ([r#"{"a":1}"#, r#"{"a":2}"#], &[], 0, "try --better higher:a or lower:a"),
        (
            [r#"{"a":1}"#, r#"{"a":2}"#],
            &["--strict-gate"],
            4,
            "it is not known whether higher or lower is better for a, so there is no verdict",
        ),
        ([r#"{"a":1}"#, r#"{"a":2}"#], &["--better", "lower:a"], 1, "a: 2.00x, worse with head"),
        ([r#"{"a":1}"#, r#"{"a":2}"#], &["--better", "higher:a", "--strict-gate"], 0, ""),
        (
            [r#"{"a":0}"#, r#"{"a":3}"#],
            &["--better", "lower:a"],
            1,
            "a: from 0.0 to 3.000 worse with head",
        ),
        ([r#"{"a":-5}"#, r#"{"a":-6}"#], &["--better", "higher:a"], 1, "a: 20.0 % worse with head"),
        (
            [r#"{"a":"NaN","b":1}"#, r#"{"a":1,"b":1}"#],
            &[],
            0,
            "a failed under base, so it cannot be judged: it is NaN",
        ),
        ([r#"{"a":"NaN","b":1}"#, r#"{"a":1,"b":1}"#], &["--strict-gate"], 4, "a failed under"),
        ([r#"{"a":1,"b":1}"#, r#"{"a":"NaN","b":1}"#], &[], 1, "a is missing with head: it is NaN"),
        ([r#"{"a":"NaN"}"#, r#"{"a":1}"#], &["--strict-gate"], 4, "--fail-on has nothing to judge"),
    ] {
        let output = ab(&place, objects, words);

        let complaint = flat(&stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{objects:?} {words:?}: {complaint}");
        assert!(complaint.contains(said), "{objects:?} {words:?}: {complaint}");
    }
}

/// The path of a new file.
fn written(place: &Place, (name, text): (&str, String)) -> PathBuf {
    let path = place.root.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A benchmark in another package gives all of them longer names.
#[test]
fn one_more_package_makes_no_figure_missing() {
    let place = Place::new();
    let good = "pkg: example.com/a\nBenchmarkX-4 10 50 ns/op\n".repeat(7);
    let more = format!("{good}pkg: example.com/b\nBenchmarkY-4 10 70 ns/op\n");
    let files = [("good", good), ("more", more)].map(|file| written(&place, file));

    for (said, code) in [compared(&place, &files), executed(&place, "gobench", &files)] {
        let name = ("BenchmarkX".to_owned(), "ns/op".to_owned());
        assert!(said.verdicts.contains_key(&name), "{said:?}");
        assert_eq!((said.lost.len(), code), (0, Some(0)));
    }
}

/// The values that are left may be of other work.
#[test]
fn a_figure_that_fails_only_now_and_then_fails_a_gate() {
    let place = Place::new();
    let good = "BenchmarkX-4 10 50 ns/op\n".repeat(7);
    let failed = format!("{good}--- FAIL: BenchmarkX-4\n    x_test.go:5: wrong result\nFAIL\n");
    let files = [("good", good), ("failed", failed)].map(|file| written(&place, file));

    for (said, code) in [compared(&place, &files), executed(&place, "gobench", &files)] {
        assert_eq!((said.lost, code), (vec!["BenchmarkX".to_owned()], Some(1)));
    }
    let [good, failed] = files;
    let (said, code) = compared(&place, &[failed, good]);
    assert_eq!((said.lost, code), (Vec::new(), Some(0)));
}

#[test]
fn a_figure_that_failed_in_the_base_leaves_a_strict_gate_undecided() {
    let place = Place::new();
    let good = "BenchmarkX-4 10 50 ns/op\nBenchmarkX-4 10 51 ns/op\n".repeat(10);
    let failed = format!("{good}--- FAIL: BenchmarkY-4\n    x_test.go:5: wrong result\nFAIL\n");
    let more = format!("{good}{}", good.replace('X', "Y"));
    let [base, head] = [("base", failed), ("head", more)].map(|(name, text)| {
        let path = place.root.path().join(name);
        std::fs::write(&path, text).unwrap();
        imported(&place, &path)
    });

    for (strict, code) in [("", 0), ("--strict-gate", 4)] {
        let words = format!("compare {base} {head} --fail-on 50% {strict}");
        let output = place.unixmark(&words).output().unwrap();

        let complaint = stderr(&output);
        let said = "BenchmarkY cannot be judged: failed in A: x_test.go:5: wrong result";
        assert_eq!(output.status.code(), Some(code), "{complaint}");
        assert!(complaint.contains(said), "{complaint}");
    }
}

#[test]
fn the_report_names_what_a_command_lacks_and_what_has_no_verdict() {
    let place = Place::new();

    let output = ab(&place, [r#"{"a":1,"b":2,"c":3}"#, r#"{"a":1,"b":4}"#], &[]);

    let text = flat(&stdout(&output));
    for said in [
        "head is without a verdict in 1 of 2 figures (b 2.00x), the same in 1 of 2 figures",
        "1 figure is missing: c (head did not print it)",
        "try --better higher:b or lower:b.",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // The short report has few caveats, and a busy machine has others first.
    let long = flat(&stdout(&place.unixmark("report --long latest").output().unwrap()));
    assert!(long.contains("c under head: not compared: head did not print it"), "{long}");
}

#[test]
fn compare_takes_a_direction_and_refuses_one_of_nothing() {
    let place = Place::new();
    let [base, head] = files("gbench").map(|path| imported(&place, &path));
    for (words, code, said) in [
        ("--better higher:hit_rate --format text", 0, "BM_Same hit_rate"),
        (
            "--better higher:nothing",
            2,
            "--better names 'nothing', which is neither a figure nor a unit",
        ),
        ("--better more:hit_rate", 2, "'more' is not a direction; try higher:hit_rate"),
    ] {
        let output = place.unixmark(&format!("compare {base} {head} {words}")).output().unwrap();

        let text = flat(&(stdout(&output) + &stderr(&output)));
        assert_eq!(output.status.code(), Some(code), "{words}: {text}");
        assert!(text.contains(said), "{words}: {text}");
        assert!(!text.contains("no verdict"), "{words}: {text}");
    }
}

/// imports item 29: what another suite measured is not measured again here.
#[test]
fn imported_figures_are_not_advised_to_be_measured_again() {
    let place = Place::new();
    let [base, head] = files("gobench").map(|path| imported(&place, &path));

    let output = place.unixmark(&format!("compare {base} {head} --fail-on 5%")).output().unwrap();

    assert!(!stderr(&output).contains("unixmark run"), "{}", stderr(&output));
}

/// security N12: a figure whose name is new in each execution does not cost the others.
#[test]
fn names_that_change_are_left_out_and_the_steady_figure_stays() {
    let place = Place::new();
    let script = r#"echo "{\"steady\": 1, \"of $$\": 2, \"at $$-x\": 3}""#;

    let output = place
        .unixmark("ab --budget 20s --runs 20 -q --format json --harness json -n base -n head")
        .args([script, &format!("{script} ")])
        .output()
        .unwrap();

    let report = parsed(&output);
    let rows = report["comparisons"].as_array().unwrap().iter();
    assert_eq!(rows.map(|row| row["label"].as_str().unwrap()).collect::<Vec<_>>(), ["steady"]);
    let text = report.to_string();
    assert!(text.contains("are left out, since each came from a single execution"), "{text}");
}

#[test]
fn go_s_levels_that_differ_are_compared_where_each_side_has_one() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let text = |level: u32, ns: u32| {
        format!("BenchmarkA-{level} 100 {ns} ns/op\nBenchmarkB-{level} 100 50 ns/op\n").repeat(6)
    };
    let [base, head, several] =
        ["base", "head", "several"].map(|name| folder.path().join(format!("{name}.txt")));
    std::fs::write(&base, text(8, 100)).unwrap();
    std::fs::write(&head, text(4, 200)).unwrap();
    std::fs::write(&several, text(4, 200) + &text(2, 400)).unwrap();
    let commands = [&base, &head, &several].map(|path| format!("cat {}", path.display()));

    let ab = |head: &str| {
        let words = ["-q", "--runs", "8", "--harness", "gobench", "--fail-on", "5%"];
        let words = [&words[..], &["--format", "text", &commands[0], head]].concat();
        place.unixmark("ab").args(words).output().unwrap()
    };
    let compare = |head: &std::path::Path| {
        let runs = [&base, head].map(|file| {
            let output = place.unixmark("import").arg(file).output().unwrap();
            stdout(&output).trim().to_owned()
        });
        place.unixmark("compare --format text").args(runs).output().unwrap()
    };

    let remark = "GOMAXPROCS was 4 here and 8 in what this is compared with";
    ab(&commands[1]);
    // The short report has few caveats, and a busy machine has others first.
    let of_ab = place.unixmark("report --long --format text latest").output().unwrap();
    for output in [of_ab, compare(&head)] {
        let text = flat(&stdout(&output));
        assert!(text.contains(remark), "{text}");
        assert!(text.contains("+100"), "{text}");
        assert!(!text.contains("missing"), "{text}");
    }
    for output in [ab(&commands[2]), compare(&several)] {
        let text = flat(&(stdout(&output) + &stderr(&output)));
        assert!(!text.contains(remark), "{text}");
        assert!(text.contains("of 4 copies") || text.contains("of 2 copies"), "{text}");
    }
}

#[test]
fn a_better_that_names_no_figure_is_refused() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.json");
    std::fs::write(&file, "{\"hits\": 5}\n").unwrap();
    let why = "--better names 'hit', which is neither a figure nor a unit";

    let ab = place
        .unixmark("ab -q --runs 3 --harness json --better higher:hit")
        .args(["echo '{\"hits\": 5}'", "echo '{\"hits\": 6}'"])
        .output()
        .unwrap();
    let import = place.unixmark("import --better higher:hit").arg(&file).output().unwrap();

    assert!(flat(&stderr(&ab)).contains(why), "{}", stderr(&ab));
    assert_eq!(ab.status.code(), Some(1));
    assert!(flat(&stderr(&import)).contains(why), "{}", stderr(&import));
    assert_eq!((import.status.code(), stdout(&import).as_str()), (Some(2), ""));
}

#[test]
fn a_trend_has_small_times_in_a_smaller_unit_and_says_where_no_direction_is_known() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("1", r#"{"results": [{"command": "tiny", "mean": 0.000021, "times": [0.000021]}]}"#),
        ("2", r#"{"results": [{"command": "tiny", "mean": 0.000031, "times": [0.000031]}]}"#),
        ("3", "{\"hits\": 1}\n"),
        ("4", "{\"hits\": 2}\n"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let output = place.unixmark("import").arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }

    let [tiny, hits, program] = ["tiny", "hits", "tiny --format json"]
        .map(|test| place.unixmark(&format!("report --trend {test}")).output().unwrap())
        .map(|output| stdout(&output));

    assert!(tiny.contains("tiny, 1 copy, µs; lower is better"), "{tiny}");
    assert!(tiny.contains(" 31.0"), "{tiny}");
    assert!(hits.contains("hits, 1 copy; the better direction is unknown"), "{hits}");
    assert!(program.contains("\"unit\": \"s\""), "{program}");
    assert!(program.contains("\"value\": 0.000031"), "{program}");
}
