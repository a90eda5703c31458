//! Conditions of disks and swap for real: there, slow, and gone again.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use journal::Trial;

use crate::conditions::{Alone, mounts, prove};

#[test]
#[ignore = "changes the system"]
fn swap_is_added_and_goes() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let swaps = || fs::read_to_string("/proc/swaps").unwrap();
    let before = swaps();
    for name in ["swap=16", "zram=16"] {
        let Some(mut entered) = alone.enter(name) else {
            continue;
        };
        assert_eq!(swaps().lines().count(), before.lines().count() + 1, "{name}");
        let evidence = prove(&mut entered, &Trial::default(), None).unwrap();
        assert!(!evidence.notes.is_empty(), "{name}");
        alone.leave();
        assert_eq!(swaps(), before, "{name}");
    }
}

/// A limit of rates is a lower bound of times, however busy the machine is.
#[test]
#[ignore = "changes the system"]
fn a_slow_disk_takes_what_its_rate_says() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let before = mounts(&alone);
    let Some(mut entered) = alone.enter("slow-disk=10") else {
        return;
    };
    let folder = entered.staging.folder.clone().unwrap();
    // Version 2 limits programs of its group only.
    let join: String = entered
        .staging
        .cgroups
        .iter()
        .map(|at| format!("echo $$ >{}/cgroup.procs; ", at.display()))
        .collect();
    let work =
        format!("{join} dd if=/dev/zero of={}/data bs=1M count=8 conv=fsync", folder.display());
    let begun = Instant::now();
    assert!(Command::new("sh").args(["-c", &work]).status().unwrap().success());
    assert!(
        begun.elapsed() > Duration::from_millis(600),
        "8 MiB at 10 MB/s in {:?}",
        begun.elapsed()
    );
    prove(&mut entered, &Trial::default(), None).unwrap();
    alone.leave();
    assert_eq!(mounts(&alone), before);
    assert!(prove(&mut entered, &Trial::default(), None).is_err());
}
