//! What `--dry-run` shows, and what is not here.

use testing::{Place, stderr, stdout};

#[test]
fn a_plan_is_printed_and_nothing_is_left() {
    let place = Place::new();
    let dry = |words: &str| {
        place.unixmark(&format!("run pipe -c 1 --seed 1 --dry-run {words}")).output().unwrap()
    };
    let text = stdout(&dry(""));
    assert!(
        text.starts_with("standard procedure, seed 1\n") && text.contains("expected duration"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_slice(&dry("--format json").stdout).unwrap();
    assert_eq!((&json["cells"][0]["test"], &json["seed"]), (&"pipe".into(), &1.into()));
    let short = dry("--budget 1s");
    assert!(
        stderr(&short).starts_with("warning: this budget allows about 3 blocks"),
        "{}",
        stderr(&short)
    );
    assert_eq!((dry("--format csv").status.code(), short.status.code()), (Some(2), Some(0)));
    assert!(!place.results().exists());
}

#[test]
fn a_plan_says_what_will_be_skipped() {
    let place = Place::new();
    let output = place
        .unixmark("run shell1 syscall -c 1 --dry-run")
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert!(
        stderr(&output).contains("to be skipped: shell1: it needs `sort`"),
        "{}",
        stderr(&output)
    );
    assert!(!stderr(&output).contains("syscall"), "{}", stderr(&output));
}

#[test]
fn conditions_that_are_not_here() {
    let place = Place::new();
    for words in
        ["cost governor=nothing-such pipe", "run pipe --condition file:/proc/nonexistent/x=1"]
    {
        let code = |more: &str| {
            let output = place.unixmark(&format!("{words} --quick -c 1 {more}")).output().unwrap();
            (output.status.code(), stderr(&output))
        };
        let (dry, real) = (code("--dry-run"), code(""));
        assert_eq!(dry, real, "{words}");
        assert!(dry.0 != Some(0) && !place.results().exists(), "{words}: {dry:?}");
    }
    let dry = place
        .unixmark("run pipe --condition none,file:/proc/nonexistent/x=1 -c 1 --dry-run")
        .output()
        .unwrap();
    assert_eq!(dry.status.code(), Some(0));
    assert!(stderr(&dry).contains("is not available here: "), "{}", stderr(&dry));
}

#[test]
fn what_is_elsewhere() {
    let place = Place::new();
    let empty = stdout(&place.unixmark("list tests seccomp").output().unwrap());
    assert!(empty.contains("try `unixmark list conditions seccomp`"), "{empty}");
}
