//! Ends the children of its own process, so it is alone in one.

use std::fs;
use std::process::Command;
use std::time::Duration;

use unixmark_processes::Children;

#[test]
fn children_that_are_not_known_are_ended_and_reaped() {
    let mut known = Command::new("sleep").arg("1000").spawn().unwrap();
    let all = Children::now();
    #[allow(clippy::zombie_processes, reason = "who reaps it is what is tested")]
    let stranger = Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
    assert_eq!(Children::now().without(&all).iter().count(), 1);

    all.end_others(Duration::from_secs(20));

    assert_eq!(Children::now().without(&all), Children::default());
    assert!(!fs::exists(format!("/proc/{}", stranger.id())).unwrap(), "a zombie is left");
    assert!(known.try_wait().unwrap().is_none(), "it was ended, too");
    known.kill().unwrap();
    known.wait().unwrap();
}
