//! The loads: each works until it is told to end, and leaves nothing behind however it ends.
//! Relations and counts, never speeds.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use catalogue::{Catalogue, Test};
use rustix::process::{Pid, Signal, kill_process};
use testing::compiled::{Build, SANITIZED};

use crate::builds::{measured, program};
use crate::hand::{AT_ONCE, Hand, SOON, work};
use crate::rates::each;

/// Sizes that keep the tests short, by program.
const SMALL: &[(&str, &[&str])] = &[
    ("burn", &["count=2"]),
    ("write", &["size=32"]),
    // Without the slow disk of their conditions nobody has to wait.
    ("write-slow", &["size=32", "slow=0"]),
    ("write-strict", &["size=32", "slow=0"]),
    ("read", &["size=32"]),
    ("ring", &["count=3"]),
    ("compile", &["jobs=2"]),
    ("make", &["jobs=2", "units=8"]),
    ("link", &["jobs=2", "units=2", "link=1"]),
    ("evict", &[]),
    ("memload", &["share=1"]),
    ("memload-cgroup", &["limit=16"]),
    ("hackbench", &["groups=1"]),
    ("forkstorm", &["jobs=2"]),
];

/// The loads, one row of each program unless all must run.
fn rows() -> Vec<Arc<Test>> {
    let catalogue = Catalogue::load().unwrap();
    // Some need what their condition gives them: swap, a slow disk. tests/system/experiment.rs has
    // those.
    let alone =
        |test: &Test| !test.args.iter().any(|arg| ["swap=1", "slow=1"].contains(&arg.as_str()));
    let here = |test: &&Arc<Test>| test.program.starts_with("load/") && alone(test);
    let all: Vec<Arc<Test>> = catalogue.loads().filter(here).cloned().collect();
    if testing::all_must_run() {
        return all;
    }
    let by_program = all.into_iter().rev().map(|test| (test.binary().to_owned(), test));
    by_program.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// What makes a row small.
pub fn small_words(test: &Test) -> &'static [&'static str] {
    let find = |name: &str| SMALL.iter().find(|(id, _)| *id == name).map(|(_, args)| *args);
    find(&test.id)
        .or_else(|| find(test.binary()))
        .unwrap_or_else(|| panic!("{}: give it a size", test.id))
}

/// The arguments of a row at a small size.
fn small(test: &Test) -> Vec<String> {
    test.args
        .iter()
        .cloned()
        .chain(small_words(test).iter().map(|word| (*word).to_owned()))
        .collect()
}

/// Starts a load as it is measured, at a small size.
fn start(test: &Test) -> Hand {
    Hand::with(&measured(test), small(test))
}

/// From go to the end: what a tool does with a load. Returns the count after the mark.
fn whole_life(test: &Test, binary: &Path) -> u64 {
    let mut hand = Hand::with(binary, small(test));
    hand.load();
    let counts = hand.mark();
    assert!(counts.is_sorted(), "{}: {counts:?}", test.id);
    hand.close();
    let end = hand.end(AT_ONCE);
    assert!(end.status.success(), "{}: {} {:?}", test.id, end.status, end.said);
    assert_eq!(hand.members(), Vec::<i32>::new(), "{} leaves processes behind", test.id);
    hand.leaves_little();
    let rest: Vec<&str> =
        end.said.lines().skip(1).skip_while(|line| line.starts_with("pulse ")).collect();
    let kinds: Vec<&str> = rest.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["slice", "usage", "done"], "{}: {rest:?}", test.id);
    let slice: Vec<u64> = rest[0].split(' ').skip(1).map(|word| word.parse().unwrap()).collect();
    assert!(slice[0] < slice[1], "{}: {rest:?}", test.id);
    slice[2]
}

#[test]
fn every_load_works_until_it_is_told_to_end() {
    each(&rows(), |test| {
        assert!(whole_life(test, &measured(test)) > 0, "{} did nothing after the mark", test.id);
    });
}

#[test]
#[ignore = "compiles all with sanitizers"]
fn every_load_is_clean_under_sanitizers() {
    each(&rows(), |test| {
        _ = whole_life(test, &program(Build { cc: "gcc", flags: SANITIZED }, test))
    });
}

#[test]
fn a_load_can_be_measured_over_a_window() {
    each(&rows(), |test| {
        let said = work(|| start(test), 400);
        assert_eq!(said.lines().next(), Some("ready"), "{}: {said}", test.id);
        assert_eq!(
            said.lines().filter(|line| line.starts_with("slice ")).count(),
            2,
            "{}: {said}",
            test.id
        );
    });
}

#[test]
fn no_load_outlives_a_tool_that_never_says_go() {
    each(&rows(), |test| {
        let mut hand = start(test);
        assert_eq!(hand.line(), "ready", "{}", test.id);
        hand.close();
        assert_eq!(hand.end(AT_ONCE).said, "ready\n", "{} reports nothing", test.id);
        hand.leaves_no_process_within(AT_ONCE);
        hand.leaves_little();
    });
}

/// Nothing but the leader's death tells the others: nobody kills the group.
#[test]
fn the_workers_die_with_a_leader_that_is_killed() {
    each(&rows(), |test| {
        let mut hand = start(test);
        hand.load();
        hand.pulses(2);
        kill_process(hand.pid(), Signal::KILL).unwrap();
        assert_eq!(hand.end(AT_ONCE).status.signal(), Some(9), "{}", test.id);
        hand.leaves_no_process_within(AT_ONCE);
    });
}

/// A worker that somebody kills ends the load with an error, or is none of the lasting ones: it
/// never hangs it.
#[test]
fn a_worker_that_is_killed_hangs_nothing() {
    let killed = |hand: &mut Hand| {
        let process = hand.members().into_iter().min().and_then(Pid::from_raw);
        process.is_some_and(|process| kill_process(process, Signal::KILL).is_ok())
    };
    each(&rows(), |test| {
        let mut hand = start(test);
        hand.load();
        hand.pulses(2);
        assert!(hand.waits(AT_ONCE, killed), "{} has no workers", test.id);
        let end = hand.end(AT_ONCE);
        let last = end.said.lines().last().unwrap();
        assert!(
            end.status.code() == Some(1) && last.starts_with("error "),
            "{}: {} {last}",
            test.id,
            end.status
        );
        hand.leaves_no_process_within(AT_ONCE);
        hand.leaves_little();
    });
}

/// A load with a duty does about as much less; a window may be disturbed.
#[test]
fn a_load_works_for_a_part_of_the_time() {
    let rests = |test: &Arc<Test>| test.args.iter().any(|arg| arg == "duty=100");
    let rows: Vec<_> = rows().into_iter().filter(rests).collect();
    assert!(rows.len() >= 6, "{rows:?}");
    each(&rows, |test| {
        let done = |duty: &str| {
            let mut hand =
                Hand::with(&measured(test), small(test).into_iter().chain([duty.to_owned()]));
            assert_eq!(hand.line(), "ready", "{}", test.id);
            hand.say("go 0 200000000 2");
            let end = hand.end(AT_ONCE);
            let slices = end.said.lines().filter_map(|line| line.strip_prefix("slice "));
            slices.filter_map(|line| line.split(' ').nth(2)?.parse::<u64>().ok()).sum::<u64>()
        };
        let is_less = || 2 * done("duty=5") < done("duty=100");
        assert!(is_less() || is_less() || is_less(), "{} does as much with a duty of 5 %", test.id);
    });
}

/// The data file of one trial serves the next: it is not written again.
#[test]
fn a_prepared_file_is_used_again() {
    let _shared = testing::Machine::shared();
    let test = Catalogue::load().unwrap().test("read").unwrap().clone();
    let mut hand = start(&test);
    assert_eq!(hand.line(), "ready");
    hand.close();
    hand.end(AT_ONCE);
    let file = hand.files().pop().unwrap();
    let before = std::fs::metadata(&file).unwrap();
    assert_eq!(before.len(), 32 << 20);
    let mut again = Command::new(measured(&test));
    again.args(small(&test)).current_dir(hand.folder()).stdin(Stdio::null());
    assert_eq!(again.output().unwrap().stdout, b"ready\n");
    assert_eq!(before.modified().unwrap(), std::fs::metadata(&file).unwrap().modified().unwrap());
}

#[test]
fn what_cannot_run_here_is_skipped_with_the_reason() {
    let _shared = testing::Machine::shared();
    let test = Catalogue::load().unwrap().test("write").unwrap().clone();
    let said = Hand::with(&measured(&test), ["size=1048576"]).line();
    assert!(
        said.starts_with("skip ") && said.contains("MiB more") && said.contains("--dir"),
        "{said}"
    );
}

#[test]
fn wrong_arguments_are_named() {
    let _shared = testing::Machine::shared();
    for (id, word) in [
        ("burn", "count=4097"),
        ("burn", "duty=101"),
        ("write", "sync=2"),
        ("write", "block=1"),
        ("read", "mode=sideways"),
        ("read", "block=12288"),
        ("ring", "kind=rope"),
        ("ring", "tokens=0"),
        ("compile", "jobs=-1"),
        ("make", "jobs=many"),
        ("memload", "share=86"),
        ("memload", "limit=1"),
        ("forkstorm", "duty=0"),
        ("hackbench", "duty=50"),
        ("link", "link=4097"),
        ("write-slow", "slow=2"),
        ("hackbench", "kind=letter"),
        ("hackbench", "size=0"),
        ("forkstorm", "nonsense=1"),
    ] {
        let test = Catalogue::load().unwrap().test(id).unwrap().clone();
        let args: Vec<String> = small(&test).into_iter().chain([word.to_owned()]).collect();
        let end = Hand::with(&measured(&test), &args).end(SOON);
        let name = word.split('=').next().unwrap();
        assert!(
            end.said.starts_with("error ") && end.said.contains(name),
            "{id} {word}: {}",
            end.said
        );
        assert_eq!(end.status.code(), Some(1), "{id} {word}");
    }
}
