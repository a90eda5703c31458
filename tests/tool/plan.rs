//! What `--dry-run` shows, and what is not here.

use testing::{Place, stderr, stdout};

#[test]
fn the_plan_is_shown_and_repeatable() {
    let place = Place::new();
    let plan = |words: &str| stdout(&place.unixmark(&format!("run --dry-run {words}")).output().unwrap());
    let first = plan("index -c 1,2 --seed 7");
    assert_eq!(first, plan("index -c 1 -c 2 --seed 7"));
    assert_ne!(first, plan("index -c 1,2 --seed 8"));
    assert!(first.lines().any(|line| line.starts_with("shell8") && line.contains(" 2  none")), "{first}");
    assert!(first.contains("expected duration"), "{first}");
    let classic = plan("index -c 1 --procedure classic");
    assert!(
        classic.contains("expected duration: 28 min") || classic.contains("expected duration: 29 min"),
        "{classic}"
    );
    // UnixBench's -i: long tests take N passes, short ones max(1, (N+1)/3).
    let classic = plan("pipe spawn -c 1 --procedure classic -i 6");
    assert!(classic.lines().any(|line| line.contains("pipe") && line.contains(" 6  10 x 1000 ms")), "{classic}");
    assert!(classic.lines().any(|line| line.contains("spawn") && line.contains(" 2  30 x 1000 ms")), "{classic}");
    assert!(plan("load -c 1").contains("shell16"), "UnixBench's alias `load`, mended");
    assert!(!place.results().exists());
}

#[test]
fn the_plan_names_what_is_switched_and_what_a_budget_holds() {
    let place = Place::new();
    let dry = |words: &str| place.unixmark(&format!("{words} --dry-run --seed 1")).output().unwrap();
    let plan = stdout(&dry("cost nice=5 pipe syscall"));
    assert_eq!(plan.lines().filter(|line| line.starts_with("pipe ")).count(), 1, "{plan}");
    assert!(plan.contains("none  the machine as it was found (compared with; in some blocks twice"), "{plan}");
    assert!(plan.contains("\n  nice=5  nice value\n"), "{plan}");
    let plan: serde_json::Value = serde_json::from_slice(&dry("cost nice=5 pipe --format json").stdout).unwrap();
    let cells = plan["cells"].as_array().unwrap();
    assert_eq!(cells.iter().map(|cell| cell["control"].as_bool().unwrap()).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((&cells[1]["condition"], &plan["seed"]), (&"nice=5".into(), &1.into()));
    let short = dry("run pipe -c 1 --budget 1s");
    assert!(stderr(&short).contains("intervals need 6; try --budget "), "{}", stderr(&short));
    assert!(stdout(&short).contains(" ~3 "), "{}", stdout(&short));
    let advised = stderr(&short).split("--budget ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert_eq!(stderr(&dry(&format!("run pipe -c 1 --budget {advised}"))), "");
    assert_eq!(dry("run pipe --format csv").status.code(), Some(2));
}

#[test]
fn a_plan_says_what_will_be_skipped() {
    let place = Place::new();
    let output = place.unixmark("run shell1 syscall -c 1 --dry-run").env("PATH", "/nonexistent").output().unwrap();
    assert!(stderr(&output).contains("to be skipped: shell1: it needs `sort`"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("syscall"), "{}", stderr(&output));
}

#[test]
fn conditions_that_are_not_here() {
    let place = Place::new();
    for words in ["cost governor=nothing-such pipe", "run pipe --condition file:/proc/nonexistent/x=1"] {
        let code = |more: &str| {
            let output = place.unixmark(&format!("{words} --quick -c 1 {more}")).output().unwrap();
            (output.status.code(), stderr(&output))
        };
        let (dry, real) = (code("--dry-run"), code(""));
        assert_eq!(dry, real, "{words}");
        assert!(dry.0 != Some(0) && !place.results().exists(), "{words}: {dry:?}");
    }
    let dry = place.unixmark("run pipe --condition none,file:/proc/nonexistent/x=1 -c 1 --dry-run").output().unwrap();
    assert_eq!(dry.status.code(), Some(0));
    assert!(stderr(&dry).contains("is not available here: "), "{}", stderr(&dry));
}

#[test]
fn what_is_elsewhere_or_set_at_boot() {
    let place = Place::new();
    let empty = stdout(&place.unixmark("list tests seccomp").output().unwrap());
    assert!(empty.contains("try `unixmark list conditions seccomp`"), "{empty}");
    let output = place.unixmark("cost mitigations=off --dry-run").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`unixmark compare before after`"), "{}", stderr(&output));
}
