//! Planted delays: a program that is stopped before its start or across the end of its window never
//! moves the window.

use std::time::Duration;

use catalogue::Catalogue;
use journal::Copy;
use runner::{Conclusion, Parser};
use rustix::process::{Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::builds::measured;
use crate::hand::{Hand, SOON};
use testing::Machine;

const MS: u64 = 1_000_000;

/// From `ready` to the planned start, in ms.
const LEAD: u64 = 100;

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn sleep_until(ns: u64) {
    std::thread::sleep(Duration::from_nanos(ns.saturating_sub(now())));
}

/// Runs a test for five slices of 100 ms, stopped for as long as lies between two moments in ms
/// since the planned start.
fn stopped(id: &str, from: i64, to: u64) -> Copy {
    let _alone = Machine::alone();
    let test = Catalogue::load().unwrap().test(id).unwrap().clone();
    let mut hand = if test.is_rate() {
        Hand::test(&test, &measured(&test), &[])
    } else {
        // Their work's speed is measured by the tool, and by the program where it is not given.
        Hand::with(&measured(&test), test.args.iter().filter(|arg| !arg.starts_with("speed=")))
    };
    assert_eq!(hand.line(), "ready");
    let pid = hand.pid();
    let start = now() + LEAD * MS;
    hand.say(&format!("go {start} {} 5", 100 * MS));
    let stop = start.saturating_add_signed(from * MS as i64);
    sleep_until(stop);
    kill_process(pid, Signal::STOP).unwrap();
    // As long a stop where this is late, on a busy machine.
    sleep_until(start + to * MS + now().saturating_sub(stop));
    kill_process(pid, Signal::CONT).unwrap();
    let said = hand.end(SOON).said;
    let mut parser = Parser::default();
    parser.start = start;
    parser.feed(said.as_bytes());
    match parser.conclusion() {
        Conclusion::Done(mut copies) => copies.swap_remove(0),
        other => panic!("{id}: {other:?}: {said}"),
    }
}

/// When the first slice began and the last ended, in ms since the planned start.
fn window(copy: &Copy) -> (u64, u64) {
    assert_eq!(copy.slices.len(), 5, "{:?}", copy.slices);
    (copy.slices[0].start / MS, copy.slices[4].end / MS)
}

/// The counter that the timer reads, completions, and a program that watches the window itself.
const RATES: [&str; 3] = ["arithoh", "shell1", "execl"];

#[test]
fn a_rate_that_begins_late_ends_when_it_was_planned_to() {
    for id in RATES {
        let copy = stopped(id, -50, 250);
        let (from, to) = window(&copy);
        assert!(
            from >= 250 && (from < to || id == "shell1") && to < 600,
            "{id}: {from}..{to}: {:?}",
            copy.slices
        );
        assert!(copy.slices.iter().all(|slice| slice.end / MS >= 250), "{id}: {:?}", copy.slices);
    }
}

#[test]
fn a_rate_that_sleeps_through_its_window_says_so() {
    let copy = stopped("arithoh", -50, 700);
    let (from, to) = window(&copy);
    assert!(from >= 700 && to < 900, "{:?}", copy.slices);
}

#[test]
fn a_stall_across_the_end_of_the_window_is_in_the_rate() {
    for id in RATES {
        let copy = stopped(id, 350, 900);
        let (from, to) = window(&copy);
        assert!(from < 100 && to >= 900, "{id}: {:?}", copy.slices);
        // The work of 350 ms took 900.
        let before: u64 = copy.slices[..3].iter().map(|slice| slice.count).sum();
        let all: u64 = copy.slices.iter().map(|slice| slice.count).sum();
        assert!((all as f64) < before as f64 * 2.0 + 2.0, "{id}: {:?}", copy.slices);
    }
}

#[test]
fn a_stall_between_the_edges_is_in_the_rate() {
    let copy = stopped("arithoh", 120, 380);
    let (from, to) = window(&copy);
    assert!(from < 50 && (500..600).contains(&to), "{:?}", copy.slices);
    assert!(
        copy.slices[2].start == copy.slices[2].end && copy.slices[2].count == 0,
        "slept through: {:?}",
        copy.slices
    );
}

/// Frames of 60 Hz: one period after the start the first, so that 29 fit into 500 ms.
#[test]
fn what_a_task_misses_before_it_begins_is_dropped_and_has_waited() {
    for (id, latency) in [("video", "wake"), ("gaming", "overrun")] {
        for (from, to) in [(-50, 300), (300, 900)] {
            let frames = *stopped(id, from, to).frames.unwrap();
            let longest = frames.corrected.max() / 1e6;
            let stall = (to as f64) - from.max(0) as f64;
            assert!(longest >= stall - 40.0, "{id} {latency} {from}..{to}: {longest} ms");
            if id == "video" {
                assert_eq!(frames.schedule.planned, 29);
                let least = if from < 0 { 15 } else { 10 };
                assert!(frames.dropped() >= least, "{from}..{to}: {} dropped", frames.dropped());
                let waited = frames
                    .corrected
                    .counts()
                    .filter(|(ns, _)| *ns > 50 * MS)
                    .map(|(_, count)| count)
                    .sum::<u64>();
                assert!(waited >= 8, "{from}..{to}: {waited} frames waited for more than 50 ms");
            }
        }
    }
}

/// The program that reads the clock and nothing else sees the time in which it was stopped, and one
/// gap that long.
#[test]
fn noise_is_the_time_that_others_have() {
    let copy = stopped("noise", 100, 400);
    let value = |name: &str| copy.values[name].0;
    assert!(value("held") >= 59.9 && value("held") <= 100.0, "{:?}", copy.values);
    assert!(value("longest") >= 299_000.0 && value("gaps_1ms") >= 2.0, "{:?}", copy.values);
    assert!(
        value("gaps") >= value("gaps_10us") && value("gaps_10us") >= value("gaps_100us"),
        "{:?}",
        copy.values
    );
}
