//! Figures of published files and of public reports, as the model has them: name, copies, unit,
//! direction, and each repetition's value or why it has none.
#![cfg(test)]

extern crate unixmark_interop as interop;

use catalogue::{Catalogue, Metric};
use interop::harness::measurements;
use journal::{Cell, Journal, NoValue, Trial};

macro_rules! case {
    ($name:literal) => {
        include_str!(concat!("../../../tests/cases/imports/", $name))
    };
}

fn imported(text: &str) -> Vec<Journal> {
    interop::import("x", text, &Catalogue::load().unwrap()).unwrap()
}

/// A line for each figure.
fn figures(journal: &Journal) -> Vec<String> {
    journal.cells.iter().map(|cell| figure(cell, &journal.trials)).collect()
}

fn figure(cell: &Cell, trials: &[Trial]) -> String {
    let Cell { label, unit, metric, key, .. } = cell;
    let repetition = |trial: &Trial| match (&trial.score, &trial.error, &trial.skip) {
        (Some(score), ..) => score.value.to_string(),
        (_, Some(reason), _) => format!("failed: {reason}"),
        (_, _, reason) => format!("skipped: {}", reason.as_deref().unwrap_or_default()),
    };
    let own = trials.iter().filter(|trial| trial.cell == cell.id);
    let values = own.map(repetition).collect::<Vec<String>>().join(", ");
    format!("{label} x{} {unit} {metric:?}: {values}", key.copies)
}

#[test]
fn figures_have_their_names_units_directions_and_gaps() {
    for (source, text, expected) in [
        (
            "imports_9_go_negative_nan_and_inf",
            case!("go_negative.txt"),
            &[
                "BenchmarkClock x8 ns/op Time: 50000, 50100",
                "BenchmarkClock skew-us x8 skew-us Time: -2.5, 1.5",
                "BenchmarkRatio x8 ns/op Time: 70000",
                "BenchmarkRatio hit-ratio x8 hit-ratio Unknown: failed: it is NaN",
                "BenchmarkInf x8 ns/op Time: 80000",
                "BenchmarkInf ratio x8 ratio Unknown: failed: it is infinite",
                "BenchmarkGood x8 ns/op Time: 90000",
            ][..],
        ),
        (
            "imports_12_go_signs",
            case!("go_signs_old.txt"),
            &["BenchmarkShift/by=-1 x8 ns/op Time: 500", "BenchmarkShift/by=1 x8 ns/op Time: 100"],
        ),
        (
            "imports_8_go_ops_per_sec",
            "BenchmarkPush-8 100 50000 ns/op 20000 ops/sec 3.5 p99-ms\n",
            &[
                "BenchmarkPush x8 ns/op Time: 50000",
                "BenchmarkPush ops/sec x8 ops/sec Rate: 20000",
                "BenchmarkPush p99-ms x8 p99-ms Time: 3.5",
            ],
        ),
        (
            "imports_13_go_fails_skips_and_panics",
            "BenchmarkA-8 10 5 ns/op\n\
             BenchmarkBad-8   \t--- FAIL: BenchmarkBad-8\n    x_test.go:10: no device\n\
             --- SKIP: BenchmarkOff\n    x_test.go:12: not here\n\
             BenchmarkP-8 \tpanic: oh\nexit status 2\nFAIL\tp\t0.1s\n",
            &[
                "BenchmarkA x8 ns/op Time: 5",
                "BenchmarkBad x8 ns/op Time: failed: x_test.go:10: no device",
                "BenchmarkOff x1 ns/op Time: skipped: x_test.go:12: not here",
                "BenchmarkP x8 ns/op Time: failed: panic: oh",
            ],
        ),
        (
            "imports_28_go_levels_of_cpu_lists",
            "BenchmarkX 10 5 ns/op\nBenchmarkX-2 10 4 ns/op\nBenchmarkX-16 10 3 ns/op\n",
            &[
                "BenchmarkX x1 ns/op Time: 5",
                "BenchmarkX x2 ns/op Time: 4",
                "BenchmarkX x16 ns/op Time: 3",
            ],
        ),
        (
            "imports_5_and_8_gbench_counters_errors_and_skips",
            case!("gb_counters.json"),
            &[
                "BM_gemm/64/threads:8 x8 ms Time: 5",
                "BM_gemm/64/threads:8 GFLOPS x8 GFLOPS Rate: 100",
                "BM_gemm/64/threads:8 items_per_second x8 items_per_second Rate: 1000000",
                "BM_gemm/64/threads:8 hit_rate x8 hit_rate Unknown: 0.9",
                "BM_gemm/64/threads:8 errors x8 errors Unknown: 0",
                "BM_bad x1 ns Time: failed: no device",
                "BM_skip x1 ns Time: skipped: not here",
            ],
        ),
        (
            "imports_14_gbench_before_1_5",
            case!("gb_old_aggregates.json"),
            &["BM_sort x1 ns Time: 100, 102, 104"],
        ),
        (
            "gbench_379_a_share_that_is_no_json",
            r#"{"context": {}, "benchmarks": [
                {"name": "a", "iterations": 1, "real_time": 672, "cpu_time": 670, "time_unit": "ns"},
                {"name": "a_RMS", "rms": 2%}
            ]}"#,
            &["a x1 ns Time: 672"],
        ),
        ("gbench_674_aggregates_only", case!("gb_aggregates_new.json"), &["BM_a x1 ns Time: 98"]),
        (
            "imports_6_jmh_modes_and_percentiles",
            case!("jmh_modes.json"),
            &[
                "org.x.B.sort (thrpt) x1 ops/s Rate: 990, 1000, 1010",
                "org.x.B.sort (avgt) x1 s/op Time: 0.00099, 0.001, 0.00101",
                "org.x.B.sort (sample) x1 s/op Time: 0.0012",
                "org.x.B.sort (sample) p50 x1 s/op Time: 0.001",
                "org.x.B.sort (sample) p99 x1 s/op Time: 0.009",
                "org.x.B.sort (ss) x1 s/op Time: 0.5",
            ],
        ),
        (
            "imports_13_hyperfine_exit_codes",
            case!("hf_failed.json"),
            &[
                "build --fast x1 s Time: failed: it ended with exit status 127, failed: it ended \
                 with exit status 127, failed: it ended with exit status 127",
                "build --slow x1 s Time: 2.99, failed: a signal ended it, failed: it ended with \
                 exit status 1",
            ],
        ),
        ("hyperfine_319_null", case!("hf_null.json"), &["one run x1 s Time: 1.5"]),
        (
            "hyperfine_67_parameters_in_prepare",
            case!("hf_same_command.json"),
            &[
                "make -j8 (tag = v1) x1 s Time: 9.9, 10, 10.1",
                "make -j8 (tag = v2) x1 s Time: 19.9, 20, 20.1",
                "make -j8 (tag = v3) x1 s Time: 29.9, 30, 30.1",
            ],
        ),
        (
            "imports_7_hyperfine_times_of_0",
            r#"{"results": [{"command": "false", "mean": 0.003, "times": [0, 0, 0.0098]}]}"#,
            &["false x1 s Time: 0, 0, 0.0098"],
        ),
        (
            "github_action_benchmark_s_own_format",
            case!("gab_custom.json"),
            &[
                "My Custom Smaller Is Better Benchmark - CPU Load x1 Percent Unknown: 50",
                "My Custom Smaller Is Better Benchmark - Memory Used x1 Megabytes Unknown: 100",
                "fib(25) x1 ops/sec Rate: 1431.76",
            ],
        ),
        (
            "github_action_benchmark_neighbours",
            "[{\"name\": \"a ms\", \"value\": 2}, {\"name\": \"b\", \"unit\": \"ns\", \"value\": \"3\"},\
             {\"name\": \"c\", \"unit\": \"s\"}, {\"name\": \"b\", \"unit\": \"ns\", \"value\": 4},\
             {\"name\": 7, \"value\": true}, {\"name\": \"b\", \"value\": 9}]",
            &[
                "a ms x1  Time: 2",
                "b x1 ns Time: 3, 4",
                "c x1 s Time: failed: it is null",
                "7 x1  Unknown: failed: it is true",
                "b #2 x1  Unknown: 9",
            ],
        ),
        (
            "time_rs_names_with_the_word_time",
            "Benchmarking time::parse: Warming up for 3.0000 s\n\
             Benchmarking time::parse: Analyzing\n\
             time::parse             time:   [97.1 ns 97.4 ns 97.7 ns]\n\
             parse time: iso/naive   time:   [1.1 µs 1.2 µs 1.3 µs]\n",
            &["time::parse x1 ns Time: 97.4", "parse time: iso/naive x1 ns Time: 1200"],
        ),
        (
            "quamina_498_words_that_a_go_benchmark_prints",
            "BenchmarkA-8   \t2026/01/01 00:00:00 starting:\n2026/01/01 00:00:01 5 ns\n     \
             100\t  10000000 ns/op\t  12 B/op\nBenchmarkB-8 \tlisten :80 ...done     300\t   410 \
             ns/op\nBenchmarkC-8 \tlost 12345678\nBenchmark of the rest\nPASS\nok  \tp\t1.0s\n",
            &[
                "BenchmarkA x8 ns/op Time: 10000000",
                "BenchmarkA B/op x8 B/op Amount: 12",
                "BenchmarkB x8 ns/op Time: 410",
                "BenchmarkC x8 ns/op Time: failed: lost 12345678",
            ],
        ),
        (
            "go_events_of_packages_that_alternate",
            r#"{"Action":"output","Package":"p","Output":"pkg: p\n"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":"BenchmarkA-8   \t"}
{"Action":"output","Package":"q","Output":"pkg: q\n"}
{"Action":"output","Package":"q","Test":"BenchmarkZ","Output":"BenchmarkZ-8   \t"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":" 200\t 5000000 ns/op\n"}
{"Action":"output","Package":"q","Test":"BenchmarkZ","Output":" 100\t 7 ns/op\n"}
"#,
            &["p.BenchmarkA x8 ns/op Time: 5000000", "q.BenchmarkZ x8 ns/op Time: 7"],
        ),
        (
            "gbench_means_alone_and_no_context",
            r#"{"benchmarks": [
                {"name": "a_mean", "run_name": "a", "run_type": "aggregate",
                 "aggregate_name": "mean", "real_time": 12.5, "cpu_time": 12, "time_unit": "us"},
                {"name": "b_mean", "run_name": "b", "run_type": "aggregate",
                 "aggregate_name": "mean", "real_time": 3.5, "cpu_time": 3, "time_unit": "us"},
                {"name": "b_median", "run_name": "b", "run_type": "aggregate",
                 "aggregate_name": "median", "real_time": 3.25, "cpu_time": 3, "time_unit": "us"}
            ]}"#,
            &["a x1 us Time: 12.5", "b x1 us Time: 3.25"],
        ),
        (
            "scalajs_benchmark_107_an_average_of_rates",
            r#"[{"benchmark": "a", "mode": "avgt", "primaryMetric": {"score": 42313.7,
                 "scoreUnit": "ops/s"}}]"#,
            &["a x1 ops/s Rate: 42313.7"],
        ),
        (
            "security_n11_plain_json",
            r#"{"tps": 100, "parse_ns": 0, "depth": -5, "odd": "NaN"}"#,
            &[
                "depth x1  Unknown: -5",
                "odd x1  Unknown: failed: it is NaN",
                "parse_ns x1  Time: 0",
                "tps x1  Rate: 100",
            ],
        ),
    ] {
        let journals = imported(text);

        let mut found = figures(&journals[0]);
        if source.contains("plain_json") {
            found.sort();
        }
        assert_eq!(journals.len(), 1, "{source}");
        assert_eq!(found, expected, "{source}");
    }
}

/// What has no value is named when a file is imported.
#[test]
fn imports_13_what_failed_is_named() {
    let journal = imported(case!("hf_failed.json")).remove(0);

    let warnings: Vec<&str> = journal.warnings.iter().map(|one| one.text.as_str()).collect();

    assert_eq!(
        warnings[..3],
        [
            "'build --fast' has no value: it ended with exit status 127",
            "one of 3 values of 'build --slow' was left out: a signal ended it",
            "one of 3 values of 'build --slow' was left out: it ended with exit status 1",
        ]
    );
}

#[test]
fn imports_10_go_configurations_are_runs() {
    let journals = imported(case!("go_two_configs.txt"));

    let found: Vec<(&str, Vec<String>)> =
        journals.iter().map(|one| (one.run.comment.as_str(), figures(one))).collect();

    assert_eq!(
        found,
        [
            ("commit: aaa", vec!["BenchmarkSum x4 ns/op Time: 100, 100, 100".to_owned()]),
            ("commit: bbb", vec!["BenchmarkSum x4 ns/op Time: 300, 300, 300".to_owned()]),
        ]
    );
    let of_a_program = measurements(None, case!("go_two_configs.txt")).unwrap();
    let names: Vec<&str> = of_a_program.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["BenchmarkSum [commit: aaa]", "BenchmarkSum [commit: bbb]"]);
}

/// A line such as `seed: 7`, which a benchmark prints itself, divides nothing.
/// As in romain-jacotin/aesgcm#1 and most descriptions of changes.
#[test]
fn aesgcm_1_before_and_after_are_two_runs() {
    for [before, after] in [
        ["before:", "after:"],
        ["Before:", "After the change:"],
        ["## Before", "## After"],
        ["**Before**", "**After**"],
        ["Old", "New code"],
        ["Benchmarks before:", "Benchmarks after:"],
    ] {
        let text = format!(
            "{before}\n```\nBenchmarkA-2 10 5 ns/op\nBenchmarkB-2 10 5 ns/op\n```\n\
             {after}\n```\nBenchmarkA-2 10 7 ns/op\nBenchmarkB-2 10 7 ns/op\n```\n"
        );

        let journals = imported(&text);

        let found: Vec<String> = journals.iter().flat_map(figures).collect();
        let expected = ["A-2 5", "B-2 5", "A-2 7", "B-2 7"].map(|figure| {
            let (name, value) = figure.split_once("-2 ").unwrap();
            format!("Benchmark{name} x2 ns/op Time: {value}")
        });
        assert_eq!(found, expected, "{before}");
        assert_eq!(journals[0].run.comment, before.trim_matches([':', '#', '*', ' ']));
    }
    // Words of a benchmark's own are no heading.
    let logged = "BenchmarkA 10 5 ns/op\nlistening on 3000\nBenchmarkA 10 7 ns/op\n";
    assert_eq!(imported(logged).len(), 1);
}

#[test]
fn lines_like_configuration_between_different_benchmarks_are_no_runs() {
    let text = "seed: 1\nBenchmarkA 10 5 ns/op\nseed: 2\nBenchmarkB 10 5 ns/op\n";

    let journals = imported(text);

    assert_eq!(journals.len(), 1);
    assert_eq!(journals[0].cells.len(), 2);
}

#[test]
fn imports_27_and_28_machine_and_date_are_read() {
    let go = "goos: linux\ngoarch: arm64\ncpu: Some Processor @ 3 GHz\nBenchmarkX-8 10 5 ns/op\n";
    let pytest = include_str!("../../../tests/cases/figures/pytest-base.json");
    for (text, started, host, cpus, model) in [
        (go, "", "", 0, "Some Processor @ 3 GHz"),
        (case!("gb_counters.json"), "2026-01-02T03:04:05Z", "", 4, ""),
        (case!("gb_old_aggregates.json"), "2018-01-02T03:04:05Z", "", 4, ""),
        (pytest, "2026-01-02T03:04:05.678901Z", "box", 4, "Some Processor"),
    ] {
        let journal = imported(text).remove(0);

        let found = journal.facts.iter().find(|fact| fact.name == "cpu.model");
        assert_eq!(journal.run.started, started);
        assert_eq!((journal.run.host.as_str(), journal.run.cpus), (host, cpus));
        assert_eq!(found.map_or("", |fact| fact.value.as_str()), model);
    }
}

/// The last line of a text without its end may have lost digits.
#[test]
fn imports_15_a_cut_line_is_named_and_no_figure() {
    for (text, name) in [
        ("BenchmarkA 10 5 ns/op\nBenchmarkB 10 5 ns/op 3 B/o", "BenchmarkB"),
        ("BenchmarkA 10 5 ns/op\nBenchmarkB 10 5", "BenchmarkB"),
        ("test a ... bench: 5 ns/iter (+/- 2)\ntest b ... bench: 1", "b"),
        ("a  time: [1.0 ns 1.0 ns 1.0 ns]\nb  time: [1.0 ns 1.", "b"),
    ] {
        let all = measurements(None, text).unwrap();

        let last = all.last().unwrap();
        assert_eq!(all.len(), 2, "{text}");
        assert_eq!((last.name.as_str(), last.values.len()), (name, 0), "{text}");
        assert_eq!(last.gaps, [NoValue::Failed("its line is cut off".to_owned())], "{text}");
    }
}

/// security L9: reports repeat names many times.
#[test]
fn names_of_figures_have_a_bounded_length() {
    let long = "x".repeat(100_000);
    let text = format!("{{\"{long}a\": 1, \"{long}b\": 2}}");

    let all = measurements(None, &text).unwrap();
    let cells = imported(&text).remove(0).cells;

    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert!(names.iter().all(|name| name.len() < journal::MAX_NAME_BYTES));
    assert_ne!(names[0], names[1]);
    let labels: Vec<&str> = cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels, names);
}

/// Figures of one label in several units keep each its own; repetitions are trials.
#[test]
fn imports_1_twins_are_figures_of_their_own() {
    let text = "BenchmarkX 1 5 ns/op 7 hits 8 hits\nBenchmarkX 1 6 ns/op 9 hits\n";

    let all = measurements(None, text).unwrap();

    let found: Vec<(&str, Metric, &[f64])> =
        all.iter().map(|one| (one.name.as_str(), one.metric, &one.values[..])).collect();
    assert_eq!(
        found,
        [
            ("BenchmarkX", Metric::Time, &[5.0, 6.0][..]),
            ("BenchmarkX hits", Metric::Unknown, &[7.0, 8.0, 9.0]),
        ]
    );
}
