//! The server of requests: it answers in order, keeps to its schedule, and a delay or a stall shows
//! as what it is. Queues are held against the textbook by simulation over the moments that the
//! program planned; of time only relations are asserted.

use std::path::PathBuf;

use catalogue::Catalogue;
use testing::compiled::{Build, MEASURED, SANITIZED};

use crate::builds::program;
use crate::hand::{AT_ONCE, Hand, SOON};
use crate::rates::each;

/// No calibration, and requests that sleep instead of working.
const ASLEEP: [&str; 2] = ["speed=100000", "work=0"];

/// One worker, to whom requests come at random.
const QUEUE: [&str; 4] = ["arrivals=poisson", "messengers=1", "workers=1", "deadline=1"];

const MS: u64 = 1_000_000;

/// A request, in ns.
#[derive(Debug, Clone, Copy)]
struct Request {
    planned: u64,
    woke: u64,
    done: u64,
}

impl Request {
    fn response(&self) -> u64 {
        self.done.saturating_sub(self.planned)
    }
}

fn built(build: Build) -> PathBuf {
    program(build, Catalogue::load().unwrap().test("requests").unwrap())
}

/// Returns the requests of a second or more, as they were planned.
fn serve(build: Build, args: &[&str], seconds: u32) -> Vec<Request> {
    let said = Hand::with(&built(build), ASLEEP.iter().chain(args)).go(500, 2 * seconds);
    let frames = said.lines().filter_map(|line| line.strip_prefix("frame "));
    let request = |line: &str| {
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        let [planned, woke, done, sent] = numbers[..] else { panic!("{line}") };
        assert!(planned <= sent + 16 && sent <= woke + 16, "{line}");
        Request { planned, woke, done }
    };
    let requests: Vec<Request> = frames.map(request).collect();
    assert!(requests.windows(2).all(|pair| pair[0].planned <= pair[1].planned), "{said}");
    assert!(!requests.is_empty() && said.ends_with("done\n"), "{said}");
    requests
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the mean time that requests wait before one worker takes them (Lindley 1952).
fn waiting(planned: &[u64], mut service: impl FnMut() -> f64) -> f64 {
    let (mut wait, mut sum) = (0.0_f64, 0.0);
    for pair in planned.windows(2) {
        wait = (wait + service() - (pair[1] - pair[0]) as f64).max(0.0);
        sum += wait;
    }
    sum / (planned.len() - 1) as f64
}

/// The program's own numbers above 0 and up to 1.
fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 32) as f64 + 1.0) / 4_294_967_296.0
}

/// Half of the time is busy, so M/D/1 waits for half a service, and M/M/1 for a whole one.
#[test]
fn a_queue_waits_as_the_textbook_says() {
    let _shared = testing::Machine::shared();
    const SERVICE: f64 = 50_000.0;
    // 10 000 a second for two seconds; the machine may serve fewer in that time, but plans them
    // all.
    let args = [&QUEUE[..], &["think=50", "rate=10000", "seed=3"]].concat();
    let planned: Vec<u64> =
        serve(MEASURED, &args, 2).iter().map(|request| request.planned).collect();
    let gaps = || planned.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
    let (gap, count) = (mean(gaps()), planned.len() as f64);
    assert!((gap / 100_000.0 - 1.0).abs() < 4.0 / count.sqrt(), "a gap of {gap} ns");
    let variance = mean(gaps().map(|one| (one / gap - 1.0).powi(2)));
    // The variance of an exponential's squared deviation is 8.
    assert!((variance - 1.0).abs() < 4.0 * (8.0 / count).sqrt(), "{variance}");
    let fixed = waiting(&planned, || SERVICE) / SERVICE;
    assert!((fixed - 0.5).abs() < 0.08, "M/D/1 waits for {fixed} services");
    let mut seed = 1;
    let exponential = waiting(&planned, || -random(&mut seed).ln() * SERVICE) / SERVICE;
    assert!((exponential - 1.0).abs() < 0.2, "M/M/1 waits for {exponential} services");
}

/// Nobody is answered before those that came earlier, nor sooner than the work takes.
#[test]
fn requests_are_served_in_order() {
    let _shared = testing::Machine::shared();
    for service in ["fixed", "exponential"] {
        let service_is = format!("service={service}");
        let args = [&QUEUE[..], &["think=2000", "rate=200", "seed=7", &service_is]].concat();
        let requests: Vec<Request> =
            serve(MEASURED, &args, 2).into_iter().filter(|one| one.done > 0).collect();
        // The first worker's seed.
        let mut seed = 7 + 1_000_003;
        for pair in requests.windows(2) {
            let work = if service == "fixed" { 1.0 } else { -random(&mut seed).ln() };
            assert!(pair[0].done - pair[0].woke + 32 >= (2e6 * work) as u64, "{service}: {pair:?}");
            assert!(pair[1].woke + 32 >= pair[1].planned.max(pair[0].done), "{service}: {pair:?}");
        }
    }
}

#[test]
fn fixed_arrivals_are_a_clock() {
    let _shared = testing::Machine::shared();
    let requests = serve(
        MEASURED,
        &["arrivals=fixed", "messengers=2", "rate=100", "share=50", "deadline=1"],
        1,
    );
    assert_eq!(requests.len(), 49, "the last one's deadline ends with the window");
    assert!(
        requests.windows(2).all(|pair| (pair[1].planned - pair[0].planned).abs_diff(20 * MS) < 100)
    );
}

/// A worker that runs later by a delay has that in its wake-up and in its answer.
#[test]
fn a_delay_shifts_both() {
    let _shared = testing::Machine::shared();
    let least = |delay: &str| {
        let requests = serve(MEASURED, &["think=1000", "workers=1", delay], 1);
        let wake = requests.iter().map(|one| one.woke - one.planned).min().unwrap();
        (wake, requests.iter().map(Request::response).min().unwrap())
    };
    let (wake, response) = least("delay=0");
    let (late, answered) = least("delay=5000");
    assert!(wake < 5 * MS && late + 32 >= 5 * MS, "{wake} {late}");
    assert!(
        response >= MS && answered + 64 >= 6 * MS && answered > response,
        "{response} {answered}"
    );
}

/// A messenger that halts for 0.3 s makes late what was planned meanwhile; where nothing is
/// planned, nothing is late.
#[test]
fn a_stall_shows_only_where_requests_do_not_wait_for_it() {
    let _shared = testing::Machine::shared();
    let late = |arrivals: &str| {
        let args =
            ["think=100", "workers=1", "rate=200", "deadline=100000", "stall=300000", arrivals];
        let requests = serve(MEASURED, &args, 2);
        requests.iter().filter(|one| one.done == 0 || one.response() > 100 * MS).count()
    };
    let (open, closed) = (late("arrivals=fixed"), late("arrivals=closed"));
    // 0.2 s of the stall are more than 0.1 s before its end.
    assert!(open >= 38 && closed < open / 2, "{open} and {closed}");
}

/// More than can be answered fills the window with answers, and the rest is dropped.
#[test]
fn what_comes_too_fast_is_left_over() {
    let _shared = testing::Machine::shared();
    let args = ["arrivals=fixed", "think=10000", "workers=2", "rate=400", "deadline=1"];
    let requests = serve(MEASURED, &args, 2);
    let answered = requests.iter().filter(|one| one.done > 0).count();
    assert_eq!(requests.len(), 799);
    assert!(
        (100..=400).contains(&answered),
        "two workers answer at most 400 in two seconds: {answered}"
    );
    assert!(requests.iter().skip(400).all(|one| one.done == 0), "those that came last are left");
}

#[test]
fn they_come_over_connections_and_with_a_disk() {
    for args in [
        &["through=tcp"][..],
        &["through=tcp", "arrivals=poisson"],
        &["io=read"],
        &["io=fsync", "workers=3"],
    ] {
        assert!(
            serve(MEASURED, &[args, &["think=1000", "messengers=2"]].concat(), 1).len() > 5,
            "{args:?}"
        );
    }
}

#[test]
fn it_is_a_load_too() {
    each(&["arrivals=closed", "arrivals=poisson", "through=tcp"], |arg| {
        let mut hand = Hand::with(&built(MEASURED), ASLEEP.iter().chain(&[*arg]));
        hand.load();
        hand.mark();
        hand.close();
        let end = hand.end(SOON);
        assert!(
            end.said.ends_with("done\n") && end.said.contains("\nslice "),
            "{arg}: {}",
            end.said
        );
    });
}

#[test]
fn it_ends_with_the_tool() {
    for arg in ["arrivals=closed", "arrivals=fixed", "through=tcp"] {
        let mut hand = Hand::with(&built(MEASURED), ASLEEP.iter().chain(&[arg, "rate=1"]));
        assert!(hand.is_ready());
        hand.say("go 0 1000000000 100");
        hand.heard();
        hand.close();
        assert_eq!(hand.end(AT_ONCE).said, "ready\n", "{arg}");
    }
}

#[test]
fn what_it_cannot_do_is_said() {
    let last = |arg: &str| Hand::with(&built(MEASURED), ["speed=100000", arg]).end(SOON).said;
    assert!(
        last("through=pigeon").starts_with("error through=pigeon is not known: try through=tcp")
    );
    assert!(last("break_over=5").starts_with("skip --break-over is for tasks whose frames follow"));
    assert!(last("wake=futex").starts_with("skip wake=futex is for tasks with a period"));
    assert!(
        Hand::with(&built(MEASURED), ["speed=100000", "work=5", "think=0"])
            .end(SOON)
            .said
            .starts_with("error a request")
    );
}

#[test]
#[ignore = "compiles all with sanitizers"]
fn they_are_clean_under_sanitizers() {
    let build = Build { cc: "gcc", flags: SANITIZED };
    for args in [
        &["arrivals=closed"][..],
        &["arrivals=poisson", "service=exponential"],
        &["through=tcp", "io=fsync"],
    ] {
        serve(build, args, 1);
    }
}
