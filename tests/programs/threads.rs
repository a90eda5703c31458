//! Tests whose copies may be threads: the same work and the same answers, nothing that one copy
//! writes and another reads, and what threads share is to be seen.

use std::process::Command;
use std::sync::Arc;

use catalogue::{Catalogue, Copies, Test};
use rustix::process::{Signal, kill_process_group};

use testing::Machine;
use testing::compiled::{Build, THREADS};

use crate::builds::{measured, program};
use crate::hand::{Hand, SOON, answers, arguments};
use crate::rates::{each, holds};

/// Races of the kit that are none: the first thread reads how much the others have done.
const READ_BY_FIRST: &str =
    "race:^note_edge$\nrace:^work_so_far$\nrace:^sample_report$\nrace:^wait_for_end$\n";

/// Every test that can run both ways, as threads.
fn tests() -> Vec<Arc<Test>> {
    let is_both = |test: &&Arc<Test>| {
        [Copies::Processes, Copies::Threads].into_iter().all(|mode| test.can_be(mode))
    };
    let tests = Catalogue::load().unwrap().tests;
    tests.iter().filter(is_both).map(|test| test.as_copies(Copies::Threads).unwrap()).collect()
}

#[test]
fn threads_give_the_answers_of_processes() {
    each(&tests(), |test| {
        let said = answers(test, &measured(test), 25);
        let copies: Vec<&str> = said.lines().filter(|line| line.starts_with("copy ")).collect();
        assert_eq!(copies, ["copy 0", "copy 1"], "{}: {said}", test.id);
    });
}

/// A copy that wrote what another reads would be a test of that, and of nothing else.
#[test]
#[ignore = "compiles all with sanitizers"]
fn no_copy_writes_what_another_reads() {
    let place = tempfile::tempdir().unwrap();
    let suppressions = place.path().join("suppressions");
    std::fs::write(&suppressions, READ_BY_FIRST).unwrap();
    let options = format!("report_signal_unsafe=0 suppressions={}", suppressions.display());
    // ThreadSanitizer takes several times the memory that a program does, and has none for this.
    let takes_all_memory = |test: &Arc<Test>| test.args.iter().any(|word| word == "size=ram");
    let tests: Vec<Arc<Test>> =
        tests().into_iter().filter(|test| !takes_all_memory(test)).collect();
    each(&tests, |test| {
        let binary = program(Build { cc: "gcc", flags: THREADS }, test);
        // ThreadSanitizer of GCC 12 knows fewer places for memory than the kernel draws from.
        let mut command = Command::new("setarch");
        command.arg("-R").arg(&binary).args(arguments(test, &["threads=3"]));
        command.env("TSAN_OPTIONS", &options);
        let mut hand = Hand::start(command);
        if hand.line() != "ready" {
            return;
        }
        hand.say("go 0 1000000000 100");
        hand.works();
        // Its handlers wait for a call that it knows, which a loop may not have.
        kill_process_group(hand.pid(), Signal::KILL).unwrap();
        let complaint = hand.end(SOON).complaint;
        assert!(!complaint.contains("ThreadSanitizer"), "{}: {complaint}", test.id);
    });
}

/// Threads have one table of files, which the usual limit is too low for from eight copies on.
#[test]
fn threads_may_open_as_many_files_as_their_user() {
    let test = Catalogue::load().unwrap().test("poll2").unwrap().clone();
    let binary = measured(&test);

    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 200; exec \"$@\"", "sh"]);
    command.arg(binary).args(arguments(&test, &["threads=3"]));

    assert_eq!(Hand::start(command).line(), "ready");
}

/// Two threads that map memory wait for the lock of their one memory map, asleep at times; two
/// processes, each with a map of its own, never do. The kernel counts how often they slept.
#[test]
fn threads_wait_for_their_memory_map_and_processes_do_not() {
    let _machine = Machine::alone();
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return testing::skip("on one processor nobody waits for another");
    }
    let test = Catalogue::load().unwrap().test("mmap1").unwrap().clone();
    let binary = measured(&test);

    let as_threads = || sleeps(vec![Hand::test(&test, &binary, &["threads=2"])]);
    let as_processes =
        || sleeps(vec![Hand::test(&test, &binary, &[]), Hand::test(&test, &binary, &[])]);

    holds(|| {
        let (threads, processes) = (as_threads(), as_processes());
        match threads > processes {
            true => Ok(()),
            false => Err(format!("{threads} sleeps of threads, {processes} of processes")),
        }
    })
    .unwrap();
}

/// How often programs that work at the same time gave up a processor to wait.
fn sleeps(mut hands: Vec<Hand>) -> u64 {
    for hand in &mut hands {
        assert_eq!(hand.line(), "ready");
    }
    for hand in &mut hands {
        hand.say("go 0 100000000 2");
    }
    hands.iter_mut().map(|hand| voluntary_switches(&hand.end(SOON).said)).sum()
}

/// The seventh number of the line `usage`: see programs/kit.h.
fn voluntary_switches(said: &str) -> u64 {
    let usage = said.lines().find_map(|line| line.strip_prefix("usage ")).unwrap();
    usage.split(' ').nth(6).unwrap().parse().unwrap()
}
