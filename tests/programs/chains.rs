//! The interactive tests of several processes: their frames are in order, and nothing of them
//! outlives a dead stage or the tool. Relations only, never speeds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use catalogue::Catalogue;
use rustix::process::{Pid, Signal, kill_process};
use testing::compiled::{Build, MEASURED, SANITIZED};

use crate::builds::{builds, program};
use crate::hand::{AT_ONCE, Hand, SOON, is_alive};
use crate::rates::each;

const PROGRAMS: [&str; 4] = ["game_frame", "input_chain", "terminal_echo", "app_launch"];

/// No calibration: the work is as many operations as a slow machine does in the time.
const SPEED: &str = "speed=100000";

/// Returns one of the programs.
fn built(build: Build, name: &str) -> PathBuf {
    let catalogue = Catalogue::load().unwrap();
    program(build, catalogue.tests.iter().find(|test| test.binary() == name).unwrap())
}

/// Starts one of the programs as it is measured; none where it cannot run here.
fn ready(name: &str, args: &[&str]) -> Option<Hand> {
    let mut hand = Hand::with(&built(MEASURED, name), args);
    hand.is_ready().then_some(hand)
}

/// Waits for its end, which must come in time and leave nothing; returns what it said after
/// `ready`.
fn said_until_end(mut hand: Hand, limit: std::time::Duration) -> String {
    let end = hand.end(limit);
    assert_eq!(end.complaint, "", "{}", end.said);
    assert_eq!(hand.files().len(), 0, "it left files behind");
    end.said.strip_prefix("ready\n").unwrap_or(&end.said).to_owned()
}

fn kill(process: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(process).unwrap(), signal);
}

fn numbers(line: &str) -> Vec<u64> {
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

/// Checks a report of a window of 2 slices; returns the plan and the frames.
fn verify(program: &str, said: &str) -> (Vec<u64>, Vec<Vec<u64>>) {
    assert_eq!(said.lines().last(), Some("done"), "{program}: {said}");
    let of = |word: &str| -> Vec<&str> {
        said.lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(first, _)| *first == word)
            .map(|(_, rest)| rest)
            .collect()
    };
    let plan = of("plan");
    assert!(plan.len() == 1 && plan[0].ends_with(" response"), "{program}: {said}");
    let slices: Vec<_> = of("slice").into_iter().map(numbers).collect();
    let frames: Vec<_> = of("frame").into_iter().map(numbers).collect();
    assert_eq!(slices.len(), 2, "{program}: {said}");
    let start = slices[0][0];
    for frame in &frames {
        assert!(
            frame.len() == if program == "input_chain" { 4 } else { 3 },
            "{program}: {frame:?}"
        );
        assert!(start <= frame[0] && frame[0] <= frame[1], "{program}: {frame:?}");
        assert!(frame[2] == 0 || frame[1] <= frame[2], "{program}: {frame:?}");
        // The stamp is kept in units of 16 ns, as the other moments are.
        assert!(
            frame.len() == 3 || (frame[0] <= frame[3] && frame[3] <= frame[1]),
            "{program}: {frame:?}"
        );
    }
    assert!(frames.windows(2).all(|pair| pair[0][0] < pair[1][0]), "{program}: {frames:?}");
    let done = frames.iter().filter(|frame| frame[2] > 0).count() as u64;
    assert_eq!(slices.iter().map(|slice| slice[2]).sum::<u64>(), done, "{program}");
    (numbers(plan[0]), frames)
}

/// Runs it for a second, in two slices.
fn measure(build: Build, name: &str, args: &[&str]) -> Option<(Vec<u64>, Vec<Vec<u64>>)> {
    let mut hand = Hand::with(&built(build, name), args);
    if !hand.is_ready() {
        return None;
    }
    hand.say("go 0 500000000 2");
    Some(verify(name, &said_until_end(hand, SOON)))
}

#[test]
fn frames_are_planned_and_in_order() {
    let plans = BTreeMap::from([
        ("game_frame", [0, 0, 8_000_000]),
        ("input_chain", [0, 33_333_000, 2_100_000]),
        ("terminal_echo", [0, 20_000_000, 200_000]),
        ("app_launch", [250_000_000, 0, 5_000_000]),
    ]);
    let items: Vec<_> =
        builds().into_iter().flat_map(|build| PROGRAMS.map(|program| (build, program))).collect();
    each(&items, |(build, program)| {
        let Some((plan, frames)) = measure(*build, program, &[SPEED]) else {
            return;
        };
        assert_eq!(plan[..3], plans[program], "{program}");
        assert!(frames.len() as u64 <= plan[3], "{program}: {plan:?}");
        assert!(!frames.is_empty(), "{program}");
        match *program {
            // Uncapped: a frame is due as soon as the one before is shown.
            "game_frame" => {
                assert!(frames.windows(2).all(|pair| pair[1][0].abs_diff(pair[0][2]) < 16))
            }
            // (1 s - 20 ms of jitter - 20 ms of deadline) / 50 ms
            "terminal_echo" => assert_eq!(plan[3], 19),
            "app_launch" => assert_eq!(plan[3], 4),
            _ => assert!(plan[3] > 30 && plan[3] < 90, "{plan:?}"),
        }
    });
}

#[test]
fn events_are_the_same_for_the_same_seed() {
    let _shared = testing::Machine::shared();
    let gaps = |seed: &str| -> Vec<u64> {
        let (_, frames) = measure(MEASURED, "input_chain", &[SPEED, seed]).unwrap();
        frames.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect()
    };
    let (one, again, other) = (gaps("seed=1"), gaps("seed=1"), gaps("seed=2"));
    // A busy machine may serve fewer of them.
    assert!(one.iter().zip(&again).all(|(a, b)| a == b), "{one:?} {again:?}");
    assert_ne!(one[0], other[0]);
}

#[test]
fn a_cap_holds_frames_back() {
    let _shared = testing::Machine::shared();
    let args = [SPEED, "main=100", "render=100", "worker=100", "cap=20000"];
    let (plan, frames) = measure(MEASURED, "game_frame", &args).unwrap();
    assert_eq!(plan[0], 0);
    assert!(
        frames.len() <= 51 && frames.windows(2).all(|pair| pair[1][0] - pair[0][0] >= 20_000_000),
        "{frames:?}"
    );
}

/// As loads they work until stdin closes, and report what they did since the mark.
#[test]
fn they_are_loads_too() {
    each(&PROGRAMS, |program| {
        let Some(mut hand) = ready(program, &[SPEED]) else {
            return;
        };
        hand.say("go 0 0 0");
        hand.mark();
        hand.close();
        let said = said_until_end(hand, SOON);
        let slices: Vec<_> =
            said.lines().filter_map(|line| line.strip_prefix("slice ")).map(numbers).collect();
        assert!(slices.len() == 1 && slices[0][2] > 0, "{program}: {said}");
        assert!(said.ends_with("done\n"), "{program}: {said}");
    });
}

/// Whichever stage dies, in a window or as a load, that is an error at once.
#[test]
fn a_stage_that_dies_is_an_error() {
    let deaths = [(0, "go 0 1000000000 60"), (1, "go 0 1000000000 60"), (2, "go 0 1000000000 0")];
    let items: Vec<_> =
        PROGRAMS.into_iter().flat_map(|program| deaths.map(|death| (program, death))).collect();
    each(&items, |(program, (stage, go))| {
        let Some(mut hand) = ready(program, &[SPEED]) else {
            return;
        };
        hand.say(go);
        hand.heard();
        kill_one(&mut hand, *stage);
        let said = said_until_end(hand, AT_ONCE);
        let last = said.lines().last().unwrap_or("");
        assert!(
            last.starts_with("error ") && last.contains(" ended "),
            "{program} {stage}: {said}"
        );
    });
}

/// Kills one of its children, and another where it goes on with others, as that had ended by itself
/// before.
fn kill_one(hand: &mut Hand, number: usize) {
    let begun = Instant::now();
    while !hand.has_ended() && begun.elapsed() < AT_ONCE {
        let stages = hand.children();
        if let Some(stage) = stages.get(number % stages.len().max(1)) {
            kill(*stage, Signal::KILL);
            let is_new = |hand: &Hand| hand.children().iter().any(|child| !stages.contains(child));
            hand.waits(AT_ONCE, |hand| hand.has_ended() || is_new(hand));
        }
    }
}

/// Neither the end of stdin nor the death of the program leaves anything behind, whatever the
/// stages are doing.
#[test]
fn nothing_outlives_the_tool() {
    let items: Vec<_> =
        PROGRAMS.into_iter().flat_map(|program| [(program, false), (program, true)]).collect();
    each(&items, |(program, stops)| {
        let Some(mut hand) = ready(program, &[SPEED, "policy=batch"]) else {
            return;
        };
        hand.say("go 0 1000000000 100");
        hand.heard();
        assert!(hand.waits(SOON, |hand| !hand.children().is_empty()), "{program} has no stages");
        let stages = hand.children();
        if *stops {
            stages.iter().for_each(|stage| kill(*stage, Signal::STOP));
        }
        hand.close();
        hand.end(AT_ONCE);
        let are_gone = hand.waits(AT_ONCE, |_| !stages.iter().any(|stage| is_alive(*stage)));
        assert!(are_gone, "{program}: {stages:?} are left");
        assert_eq!(said_until_end(hand, AT_ONCE), "", "{program}");
    });
}

/// An argument that they have no use for does not break them; what they cannot do is a skip or an
/// error.
#[test]
fn arguments_of_other_tasks_are_taken() {
    let last = |name: &str, arg: &str| {
        said_until_end(Hand::with(&built(MEASURED, name), [SPEED, arg]), SOON)
    };
    each(&PROGRAMS, |program| {
        let args = [
            SPEED,
            "unit=cpu",
            "footprint=256",
            "policy=fifo",
            "priority=50",
            "fallback=1",
            "lock=1",
        ];
        measure(MEASURED, program, &args);
        assert!(
            last(program, "wake=eventfd")
                .starts_with("skip wake=eventfd is for tasks with a period"),
            "{program}"
        );
    });
    assert!(last("game_frame", "policy=deadline").starts_with("skip the deadline policy"));
    assert!(last("terminal_echo", "jitter=30000").starts_with("error jitter=30000 "));
    assert!(last("app_launch", "files=0").starts_with("error files=0 "));
}

#[test]
#[ignore = "compiles all with sanitizers"]
fn they_are_clean_under_sanitizers() {
    let mut items: Vec<_> = PROGRAMS.map(|program| (program, vec![SPEED])).into();
    items.push(("app_launch", vec![SPEED, "cold=1"]));
    let build = Build { cc: "gcc", flags: SANITIZED };
    each(&items, |(program, args)| _ = measure(build, program, args));
}
