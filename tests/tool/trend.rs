//! One test over many runs.

use serde_json::Value;
use testing::{Place, stderr, stdout};

use crate::corpus::{GCC, Made, Recorded, add_journal};

#[test]
fn a_trend_marks_what_changed_and_weighs_the_latest() {
    let place = Place::new();
    let base = Recorded::read("tests/runs/index/run.jsonl", 6);
    let add = |host: &str, day: u32, kernel: &str, rate: f64| {
        let started = format!("2026-03-{day:02}T03:00:00+00:00");
        let facts = [("kernel.release", kernel), ("cpu.microcode", "0x1")];
        let factor = |test: &str, _: &str, _: u64| if test == "syscall" { rate } else { 1.0 };
        let made = Made {
            host,
            started: &started,
            facts: &facts,
            factor: &factor,
            compiler: GCC,
            fleet: None,
        };
        add_journal(&place, &format!("{host}-{day}"), &base.made(&made));
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
    assert!(
        text.contains("alpha-2026-03-20-01 kernel: 6.1.0 -> 6.12.0") && !text.contains("beta"),
        "{text}"
    );
    let words = testing::flat(&text);
    assert!(words.contains("10.9 % lower (worse) than the mean of the 9 runs before it"), "{text}");
    assert!(words.contains("one run in twenty would be more than 2."), "{text}");
    assert!(words.contains("Changed before it: kernel 6.1.0 -> 6.12.0."), "{text}");
    let json: Value =
        serde_json::from_slice(&run("syscall --format json --host all").stdout).unwrap();
    assert_eq!(json["format"], "unixmark-trend/3");
    let points = json["points"].as_array().unwrap();
    assert_eq!((points.len(), &json["series"][0]["before"]), (11, &9.into()));
    // A host is a series of its own.
    assert_eq!(json["series"][1]["common"]["host"], "beta", "{json}");
    assert!(
        json["series"][0]["p"].as_f64().unwrap() < 0.01 && json["series"][1]["p"].is_null(),
        "{json}"
    );
    // From the third run at a lower level on, that is a change, with what changed there.
    for day in [21, 22, 23] {
        add("alpha", day, "6.12.0", 0.9 + f64::from(day % 3) / 100.0);
    }
    let words = testing::flat(&stdout(&run("syscall")));
    assert!(words.contains("Since alpha-2026-03-20-01 the level is 10."), "{words}");
    assert!(
        words.contains("% lower (worse; 95 %: ")
            && words.contains("Changed there: kernel 6.1.0 -> 6.12.0."),
        "{words}"
    );
    assert!(
        words.contains("tests together: 0.0 %, so this test changed rather than the machine"),
        "{words}"
    );
    assert!(
        words.contains("than the mean of the 3 runs since the last change of level before it"),
        "{words}"
    );
    for (format, words) in [
        ("csv", "alpha-2026-03-20-01,alpha,kernel: 6.1.0 -> 6.12.0"),
        ("markdown", "| kernel: 6.1.0 -&gt; 6.12.0 |"),
        ("html", "kernel: 6.1.0 -&gt; 6.12.0</td>"),
    ] {
        let report = stdout(&run(&format!("syscall --format {format}")));
        assert!(report.contains(words), "{format}: {report}");
    }
    // A machine that changes takes all of its tests along.
    for day in 1..=12 {
        let started = format!("2026-04-{day:02}T03:00:00+00:00");
        let factor =
            |_: &str, _: &str, _: u64| if day > 6 { 0.8 } else { 1.0 } + f64::from(day % 3) / 100.0;
        let made = Made {
            host: "gamma",
            started: &started,
            facts: &[],
            factor: &factor,
            compiler: GCC,
            fleet: None,
        };
        add_journal(&place, &format!("gamma-{day}"), &base.made(&made));
    }
    let words = testing::flat(&stdout(&run("syscall --host gamma")));
    assert!(
        words.contains("Since gamma-2026-04-07-01")
            && words.contains("so the machine changed, not this test alone"),
        "{words}"
    );
    // An unknown test and an unknown host.
    assert!(stderr(&run("sycsall")).contains("did you mean 'syscall'"));
    assert!(stderr(&run("syscall --host alpa")).contains("did you mean 'alpha'"));
}
