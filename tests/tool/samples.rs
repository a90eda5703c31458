//! What is said of executions that are not all alike: two speeds, tails of lists, several machines.

use serde_json::Value;
use testing::{Place, stderr, stdout};

fn json(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Sleeps 4 ms in `FAST` of ten executions, which it counts in the file `COUNT`, else 100 ms.
const TWO_SPEEDS: &str = "echo >>COUNT; test $(($(wc -l <COUNT) * 3 % 10)) -lt FAST && \
                          exec sleep 0.004; exec sleep 0.1";

#[test]
fn a_command_with_two_speeds_is_said_to_have_them() {
    let place = Place::new();
    let [old, new] = [("old", "3"), ("new", "7")]
        .map(|(count, fast)| TWO_SPEEDS.replace("COUNT", count).replace("FAST", fast));
    let words = ["ab", "--runs", "60", "-n", "old", "-n", "new", &old, &new];

    let mut tool = place.unixmark("");
    let run =
        tool.args(words).args(["-q", "--format", "json"]).current_dir(place.scratch()).output();
    let run = run.unwrap();
    let text = place.unixmark("report --long").output().unwrap();

    let speeds = &json(&run)["comparisons"][0]["two_speeds"];
    assert!(speeds["slow"].as_f64() > Some(40.0), "{speeds}");
    assert!(speeds["more_often_fast_points"]["low"].as_f64() > Some(5.0), "{speeds}");
    let text = testing::flat(&stdout(&text));
    assert!(text.contains("two speeds, ") && text.contains("old is fast in "), "{text}");
}

#[test]
fn one_speed_has_no_second() {
    let place = Place::new();

    // A neighbour may slow the machine down in the middle of one run.
    let has_one_speed = || {
        let run = place.unixmark("ab -q --format json --runs 30 true").arg("sleep 0.002").output();
        json(&run.unwrap())["comparisons"][0]["two_speeds"].is_null()
    };
    assert!((0..5).any(|_| has_one_speed()));
}

#[test]
fn a_quantile_is_taken_of_each_list() {
    let place = Place::new();
    let requests = |slow: u32| {
        format!("seq -s, 1 {slow} | sed 's/.*/{{\"latency_ms\": [&], \"served\": 7}}/'")
    };
    let words = ["--runs", "20", "--harness", "json", "--quantile", "0.9"];

    let tool = |slow| {
        let mut tool = place.unixmark("ab -q --format json");
        tool.args(words).args([requests(100), requests(slow)]).output().unwrap()
    };

    let report = json(&tool(200));
    let labels: Vec<&Value> =
        report["comparisons"].as_array().unwrap().iter().map(|one| &one["label"]).collect();
    assert!(labels.contains(&&"p90 latency_ms".into()) && labels.contains(&&"served".into()));
    let tail = report["comparisons"].as_array().unwrap().iter();
    let tail = tail.clone().find(|one| one["label"] == "p90 latency_ms").unwrap();
    // The 90th percentiles of 1 to 100 and of 1 to 200.
    for (side, expected) in [("a", 90.1), ("b", 180.1)] {
        assert!((tail[side].as_f64().unwrap() - expected).abs() < 1e-9, "{tail}");
    }

    let short = tool(99);
    let why = "latency_ms has 99 values, and the p90 needs 100";
    assert!(stderr(&short).contains(why), "{}", stderr(&short));
    assert!(!short.status.success());
}

/// wrk2's `-L`, and HdrHistogram's base64 of 1 to 2000, as Java's `encodeIntoCompressedByteBuffer`
/// writes it.
#[test]
fn a_quantile_is_taken_of_each_histogram() {
    let place = Place::new();
    let table = |slow: u32| {
        format!(
            "Value Percentile TotalCount 1/(1-Percentile)\\n\\n1.0 0.500000 500 2.00\\n{slow}.0 0.990000 990 100.00\\n\
             99.0 1.000000 1000 inf\\n#[Mean = 1]"
        )
    };
    let mut histogram = stats::Histogram::default();
    (1..=2000).for_each(|us| histogram.record(us));
    let packed = String::from(histogram);
    let commands = [4, 6].map(|slow| {
        format!("printf '%s\\n' '{{\"table\": \"{}\", \"packed\": \"{packed}\"}}'", table(slow))
    });

    let mut tool = place.unixmark("ab -q --format json --runs 20 --harness json --quantile 0.99");
    let report = json(&tool.args(commands).output().unwrap());

    for (label, a, b) in [("p99 table", 4.0, 6.0), ("p99 packed", 1980.0, 1980.0)] {
        let mut all = report["comparisons"].as_array().unwrap().iter();
        let one = all.find(|one| one["label"] == label).unwrap();
        assert_eq!((one["a"].as_f64(), one["b"].as_f64()), (Some(a), Some(b)), "{one}");
    }
}

#[test]
fn a_quantile_of_executions_is_compared_and_has_a_limit() {
    let place = Place::new();
    // Each fifth execution takes 30 ms more.
    let stalling = "test $((HYPERFINE_ITERATION % 5)) -gt 0 || exec sleep 0.03";
    let tool = |words: &[&str]| {
        let mut tool = place.unixmark("ab --format json --runs 120");
        tool.args(words).args(["-n", "old", "-n", "new", "exec true", stalling]).output().unwrap()
    };

    let output = tool(&["--fail-on", "p90:50%"]);

    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the p90 needs 100 executions of each command"), "{said}");
    assert!(said.contains("p90: ") && said.contains(" slower with new"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut all = report["comparisons"].as_array().unwrap().iter();
    let p90 = all.find(|one| one["measure"] == "p90").unwrap();
    assert_eq!((&p90["verdict"], &p90["method"]), (&"slower".into(), &"quantiles".into()));
    let text = testing::flat(&stdout(&place.unixmark("report").output().unwrap()));
    assert!(text.contains("; p90 +") || text.contains("; p90 "), "{text}");

    // The limit of the time is not that of the slowest executions.
    let output = tool(&["--fail-on", "2000%", "--quantile", "0.9"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = tool(&["--fail-on", "90%", "--quantile", "0.9"]);
    assert!(!stderr(&output).contains("p90: "), "{}", stderr(&output));
}

#[test]
fn quantiles_that_cannot_be_taken_are_refused() {
    for (words, why) in [
        (
            &["--quantile", "0.97", "true", "true"][..],
            "only the p50, p90, p95, p99 and p99.9 of executions can be compared",
        ),
        (&["--quantile", "0.99", "true", "true"], "the p99 needs 1000 executions of each command"),
        (&["--fail-on", "p99:5%", "true", "true"], "and at most 3 are allowed; raise --runs"),
        (
            &["--fail-on", "p90:5%", "--quantile", "0.5", "true", "true"],
            "different quantiles, p50 and p90",
        ),
        (&["--quantile", "0.5", "true"], "there is only one; name another"),
        (&["--harness", "json", "--quantile", "1", "true", "true"], "'1' is no quantile"),
        (&["--harness", "json", "--quantile", "99", "true", "true"], "'99' is no quantile"),
        (
            &["--harness", "json", "--quantile", "0.9", "echo '{\"a\": 1}'", "echo '{\"a\": 2}'"],
            "it has no list of numbers and no HDR histogram",
        ),
        (
            &["--harness", "json", "--quantile", "0.9", "echo '{\"a\": \"HISTFAAA\"}'", "true"],
            "a is a histogram that cannot be read: ",
        ),
    ] {
        let place = Place::new();

        let output = place.unixmark("ab -q --runs 3").args(words).output().unwrap();

        assert!(stderr(&output).contains(why), "{why}: {}", stderr(&output));
        assert!(!output.status.success());
    }
}

#[test]
fn several_runs_are_one_answer() {
    let place = Place::new();
    for _ in 0..3 {
        let words = ["-n", "old", "-n", "new", "sleep 0.01", "sleep 0.2"];
        let run = place.unixmark("ab -q --format json --runs 12").args(words).output().unwrap();
        assert!(run.status.success(), "{}", stderr(&run));
    }
    let pool = |more: &str| {
        let words = format!("compare --pool {more} latest latest~1 latest~2");
        place.unixmark(&words).output().unwrap()
    };

    let text = testing::flat(&stdout(&pool("")));
    assert!(text.contains("new is slower than old by "), "{text}");
    assert!(text.contains("on 3 machines"), "{text}");
    let report: Value = serde_json::from_slice(&pool("--format json").stdout).unwrap();
    let time = &report["pooled"][0];
    assert_eq!(
        (&time["verdict"], time["runs"].as_array().map(Vec::len)),
        (&"slower".into(), Some(3))
    );
    assert_eq!(pool("--fail-on 50%").status.code(), Some(1));
    assert_eq!(pool("--fail-on syscalls:0").status.code(), Some(2));
    let two = place.unixmark("compare --pool latest latest~1").output().unwrap();
    assert!(stderr(&two).contains("3 runs or more, and there are 2"), "{}", stderr(&two));
}

#[test]
fn base_and_head_are_both_compared_with_themselves() {
    for (commands, controlled) in
        [(&["true", "true 1"][..], &["new", "old"][..]), (&["true", "true 1", "true 2"], &["old"])]
    {
        let place = Place::new();
        let names = ["old", "new", "newer"].iter().take(commands.len());
        let mut tool = place.unixmark("ab -q --format json --samples --runs 120");
        for name in names {
            tool.args(["-n", name]);
        }

        let report = json(&tool.args(commands).output().unwrap());

        let rows = report["controls"].as_array().unwrap().iter();
        let mut names: Vec<&str> = rows.clone().filter_map(|row| row["run"].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, controlled);
        assert!(rows.clone().all(|row| row["run"] == row["against"]), "{rows:?}");
        let text = testing::flat(&stdout(&place.unixmark("report").output().unwrap()));
        assert!(text.contains("control: old against itself"), "{text}");
        assert_eq!(text.contains(", new "), controlled.len() == 2, "{text}");
    }
}

/// Where the kernel draws no addresses, the environment's size decides where the stack is.
#[test]
fn the_environment_has_another_size_in_each_execution_where_addresses_are_fixed() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let note = "echo ${#UNIXMARK_PADDING} >>sizes";
    let sizes = |tool: &mut std::process::Command| {
        let _ = std::fs::remove_file(folder.path().join("sizes"));
        let output = tool.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(folder.path().join("sizes")).unwrap();
        text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<String>>()
    };

    let usual = sizes(place.unixmark("ab -q --runs 20").args([note, "true"]));

    let drawn = std::fs::read_to_string("/proc/sys/kernel/randomize_va_space").unwrap();
    let may_fix = std::process::Command::new("setarch").args(["-R", "true"]).status();
    if drawn.trim() == "0" || !may_fix.is_ok_and(|status| status.success()) {
        println!("setarch -R is refused here");
        return;
    }
    assert_eq!(usual.len(), 1);
    let mut tool = std::process::Command::new("setarch");
    tool.arg("-R").arg(testing::built_program("unixmark"));
    tool.env("UNIXMARK_RESULTS", place.results());
    let fixed = sizes(tool.args(["ab", "-q", "--runs", "20", note, "true"]));
    assert!(fixed.len() >= 10, "{fixed:?}");
}
