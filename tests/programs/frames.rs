//! The frame engine in a world where time goes only as the test says: known delays must show as
//! what they are, and lose exactly the frames that each task's policy says.

use std::path::PathBuf;
use std::sync::LazyLock;

use catalogue::Catalogue;
use journal::{Copy, Frame, Frames, Latency, Recorder, Schedule};
use runner::{Conclusion, Parser};
use testing::compiled::MEASURED;

use crate::hand::Hand;

/// The engine with the test's world.
static DOUBLE: LazyLock<PathBuf> = LazyLock::new(|| {
    let units = [
        "interactive/task.c",
        "interactive/engine.c",
        "interactive/frames.c",
        "../tests/programs/world.c",
    ];
    MEASURED.program("task", &units.map(str::to_owned), &[]).unwrap_or_else(|why| panic!("{why}"))
});

/// Runs a catalogue's task, or one of its own arguments, for `seconds`.
fn run(args: &[String], seconds: u32) -> Copy {
    let said = Hand::with(&DOUBLE, args).go(1000, seconds);
    // Times count from the first slice's start.
    let start = said
        .lines()
        .find_map(|line| line.strip_prefix("slice ")?.split(' ').next()?.parse().ok())
        .unwrap();
    let mut parser = Parser::default();
    parser.start = start;
    parser.feed(said.as_bytes());
    match parser.conclusion() {
        Conclusion::Done(mut copies) => copies.swap_remove(0),
        other => panic!("{other:?}"),
    }
}

fn task(id: &str, more: &[&str]) -> Copy {
    let catalogue = Catalogue::load().unwrap();
    let mut args = catalogue.test(id).unwrap().args.clone();
    // Scheduling is not what this is about.
    args.retain(|arg| {
        !["policy=", "priority=", "lock=", "speed="].iter().any(|word| arg.starts_with(word))
    });
    args.extend(more.iter().map(|word| (*word).to_owned()));
    run(&args, 8)
}

fn frames(id: &str, more: &[&str]) -> Frames {
    *task(id, more).frames.unwrap()
}

fn ms(ns: f64) -> f64 {
    ns / 1e6
}

fn stall(copy: &Copy) -> f64 {
    ms(copy.values["stall_ns"].0)
}

#[test]
fn a_millisecond_is_a_millisecond_in_every_task() {
    let catalogue = Catalogue::load().unwrap();
    let mut seen = 0;
    for test in catalogue.tests.iter().filter(|test| test.program == "interactive/task") {
        let copy = task(&test.id, &["delay=1000"]);
        let frames = copy.frames.as_ref().unwrap();
        if frames.schedule.latency == Latency::Overrun {
            assert_eq!(frames.latency.max(), 0.0, "{} never sleeps, so nothing delays it", test.id);
            continue;
        }
        seen += 1;
        // Where a period has no room for a millisecond and the work, the next frame is begun
        // without sleeping.
        let room = frames.schedule.period > frames.schedule.work + 1_000_000;
        for share in if room { [0.0, 0.5, 1.0] } else { [1.0; 3] } {
            assert!(
                (ms(frames.latency.quantile(share)) - 1.0).abs() < 0.002,
                "{} at {share}",
                test.id
            );
        }
        assert!(!room || (ms(frames.corrected.mean()) - 1.0).abs() < 0.002, "{}", test.id);
        assert!(!room || (frames.late, frames.dropped()) == (0, 0), "{}", test.id);
        assert!((stall(&copy) - 1.0).abs() < 0.001, "{}", test.id);
        assert!(!room || copy.values["cpu_received"].0 == 100.0, "{}", test.id);
    }
    assert!(seen >= 9);
}

#[test]
fn a_stall_of_video_is_one_stall_and_two_pictures() {
    let quiet = frames("video", &[]);
    // 8 s of pictures every 16.666 ms, the first a period after the start.
    assert_eq!((quiet.schedule.planned, quiet.done, quiet.late), (479, 479, 0));
    assert_eq!(quiet.latency.max(), 0.0);

    let copy = task("video", &["stall=20000", "at=30"]);
    let stalled = copy.frames.as_ref().unwrap();
    assert!((stall(&copy) - 20.0).abs() < 0.001);
    // Picture 30 woke after 31 was due and is lost; 31 had begun by then and is passed over.
    assert_eq!(
        (stalled.schedule.planned, stalled.done, stalled.late, stalled.dropped()),
        (479, 477, 0, 2)
    );
    let long: Vec<u64> =
        stalled.latency.counts().filter(|count| count.0 > 0).map(|count| count.1).collect();
    assert_eq!(long, [1], "one wake-up is late, and only one");
    assert!((ms(stalled.latency.max()) - 20.0).abs() < 0.02);
    // Omitted: 31 was due 16.666 ms after 30, so it had waited 3.334 ms.
    let omitted: Vec<f64> = stalled
        .corrected
        .counts()
        .filter(|count| count.0 > 0)
        .map(|count| ms(count.0 as f64))
        .collect();
    assert!(
        omitted.len() == 2 && (omitted[0] - 3.334).abs() < 0.01 && (omitted[1] - 20.0).abs() < 0.02,
        "{omitted:?}"
    );
    assert_eq!(stalled.worst[0].done, None);
    assert!((copy.values["cpu_received"].0 - 100.0 * 477.0 / 479.0).abs() < 1e-3);
}

#[test]
fn work_that_is_held_up_is_late_and_costs_the_next() {
    let copy = task("video", &["stall=20000", "at=30", "within=1"]);
    let held = copy.frames.as_ref().unwrap();
    // Woken in time, done 26.666 ms after it was planned: late; 31 had begun by then and is
    // dropped.
    assert_eq!((held.done, held.late, held.dropped()), (478, 1, 1));
    assert_eq!(held.latency.max(), 0.0);
    assert!((ms(held.response.max()) - 26.666).abs() < 0.03);
    assert!((stall(&copy) - 20.0).abs() < 0.001);
}

#[test]
fn a_queue_hides_what_it_should_hide() {
    let lost = |stall: &str| {
        let frames = frames("audio-desktop", &[&format!("stall={stall}"), "at=30"]);
        (frames.late, frames.dropped())
    };
    // Two periods are 42.666 ms; the work takes 2 of them.
    assert_eq!(lost("20000"), (0, 0));
    assert_eq!(lost("40000"), (0, 0));
    assert_eq!(lost("41000"), (1, 0), "done 43 ms after it was planned");
    assert_eq!(
        lost("50000"),
        (0, 1),
        "too late to begin; the next is 28.7 ms behind and catches up"
    );
    assert_eq!(lost("100000"), (0, 3));
    let caught_up = frames("audio-desktop", &["stall=20000", "at=30"]);
    assert_eq!(caught_up.done, caught_up.schedule.planned);
}

#[test]
fn a_deadline_before_the_vblank_is_kept_apart_from_the_next_frame() {
    let lost = |stall: &str| {
        let frames = frames("compositor-60", &[&format!("stall={stall}"), "at=30"]);
        (frames.late, frames.dropped())
    };
    assert_eq!(lost("10000"), (0, 0), "done after 14 ms of 14.667");
    assert_eq!(lost("11000"), (1, 0), "done after 15 ms: late, but before the next one begins");
    assert_eq!(lost("13000"), (1, 1), "done after 17 ms: the next has begun");
}

#[test]
fn a_game_that_is_held_up_comes_late_by_that() {
    let copy = task("gaming", &["stall=20000", "at=0", "within=1"]);
    let frames = copy.frames.as_ref().unwrap();
    assert_eq!(frames.schedule.latency, Latency::Overrun);
    assert!((ms(frames.latency.quantile(0.5)) - 20.0).abs() < 0.02, "every frame is slot 0 here");
    assert_eq!(frames.schedule.deadline, 0);
    assert!((copy.values["cpu_received"].0 - 100.0 / 1.2).abs() < 0.1);
}

#[test]
fn a_limit_that_is_broken_ends_the_test_with_its_last_second() {
    let copy = task("video", &["stall=20000", "at=300", "break_over=5000"]).clone();
    let broken = copy.frames.unwrap();
    assert!((ms(broken.broke.unwrap() as f64) - 20.0).abs() < 0.001);
    assert!(
        broken.last.len() >= 59 && broken.last.len() <= 62,
        "a second of 60 Hz: {}",
        broken.last.len()
    );
    assert_eq!(broken.last.last().unwrap().done, None);
    assert!(frames("video", &["stall=20000", "at=300", "break_over=25000"]).broke.is_none());
}

/// An hour at 1 kHz, or a tenth of it unless all must run: under 64 MB in the task's process and 5
/// MB in the journal.
#[test]
fn an_hour_at_one_kilohertz_fits() {
    let seconds: u32 = if testing::all_must_run() { 3600 } else { 360 };
    let planned = u64::from(seconds) * 1000;
    let copy = run(&["period=1000".to_owned(), "delay=70".to_owned()], seconds);
    assert_eq!(copy.frames.as_ref().unwrap().done, planned - 1);
    assert!(copy.usage.unwrap().maxrss_kib < 64_000_000 / 1024);

    let schedule = Schedule {
        period: 1_000_000,
        deadline: 1_000_000,
        work: 0,
        planned,
        latency: Latency::Wake,
    };
    let mut recorder = Recorder::new(schedule);
    let mut random = 1_u64;
    for number in 0..planned {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // From 20 us to some ms, as a busy machine has it.
        let woke = number * 1_000_000 + 20_000 + (1 << (random >> 60)) * ((random >> 40) & 0xff);
        recorder.add(Frame {
            planned: number * 1_000_000,
            sent: number * 1_000_000,
            woke,
            done: Some(woke),
        });
    }
    let line = serde_json::to_string(&recorder.finish(None)).unwrap();
    // For docs/performance.md: UNIXMARK_TEST_ALL=1 cargo test --test programs an_hour --
    // --nocapture
    eprintln!("{seconds} s take {} bytes of the journal", line.len());
    assert!(line.len() < 5_000_000, "{} bytes", line.len());
}
