//! `unixmark cost … --start`: what is planned, and what is refused.

use testing::{Place, stderr, stdout};

#[test]
fn each_sandbox_is_started_cold_and_warm() {
    let place = Place::new();

    let output = place.unixmark("cost podman,bubblewrap --start --dry-run").output().unwrap();

    let plan = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for condition in ["podman=whole", "bubblewrap", "cold", "cold+podman=whole"] {
        let has_arm = plan.split([' ', '\n', ',']).any(|word| word == condition);
        assert!(has_arm, "no {condition} in {plan}");
    }
    place.assert_clean();
}

#[test]
fn what_is_no_sandbox_has_no_start() {
    let place = Place::new();
    for (words, refusal) in [
        ("cost nice=5 --start", "nice=5 is no sandbox that --start could time"),
        ("cost podman,thp=never --start", "thp=never is no sandbox"),
        ("cost podman --start --calls", "cannot be used with"),
        ("cost nosuch --start", "there is no condition 'nosuch'"),
    ] {
        let output = place.unixmark(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stdout(&output));
        assert!(stderr(&output).contains(refusal), "{words}: {}", stderr(&output));
    }
    place.assert_clean();
}
