//! Whether throttling is told from noise, and by which evidence its cause, by simulation.

use std::sync::OnceLock;

use analysis::{BurnIn, Results};
use catalogue::Catalogue;
use journal::{self, Beat, Burned, Fact, Fault, Journal, Pass, Sample, SensorLimits, Stage, Word};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use testing::normal;

/// A machine under load for three minutes.
#[derive(Clone, Copy)]
struct Scene {
    threads: u32,
    /// Noise of the best chain of a second.
    noise: f64,
    /// When the clock falls, for which threads, and what it keeps.
    fall: Option<(f64, u32, f64)>,
    /// Whether a neighbour takes half of the time now and then, for some seconds.
    neighbour: bool,
    /// Whether the clock is measured.
    clock: bool,
    rest: u32,
}

const CALM: Scene =
    Scene { threads: 2, noise: 0.004, fall: None, neighbour: false, clock: true, rest: 0 };

const WORK: u32 = 180;

fn journal(scene: &Scene, random: &mut impl Rng) -> Journal {
    let mut busy = 0_u32;
    let sample = |second: u32| {
        let resting = second > WORK;
        let at = f64::from(second);
        if scene.neighbour && busy == 0 && random.random::<f64>() < 0.05 {
            busy = random.random_range(2..12);
        }
        busy = busy.saturating_sub(1);
        let mut beats = Vec::new();
        for thread in 0..scene.threads {
            let mut kept = 1.0 + scene.noise * normal(random);
            if scene
                .fall
                .is_some_and(|(when, threads, _)| at > when && thread < threads && !resting)
            {
                kept *= scene.fall.unwrap().2;
            }
            // A neighbour takes time; the best chain of the second hardly notices.
            let time = if busy > 0 { 0.3 + 0.4 * random.random::<f64>() } else { 1.0 };
            let clock = if busy > 0 { kept * (1.0 - 0.01 * random.random::<f64>()) } else { kept };
            let count =
                if resting { 0.0 } else { 1000.0 * kept * time * (1.0 + 0.01 * normal(random)) };
            let clock = if scene.clock { 4.0 * clock } else { 0.0 };
            let at = at + 0.002 * random.random::<f64>();
            beats.push(Beat { thread, cpu: thread, at, count: count as u64, clock, wrong: 0 });
        }
        let mut sample = Sample { at: at + 0.1, resting, beats, ..Sample::default() };
        sample.sensors.steal = Some(if busy > 0 { 40.0 } else { 0.1 });
        sample
    };
    let samples =
        std::iter::once(Sample::default()).chain((1..=WORK + scene.rest).map(sample)).collect();
    let burnin = journal::BurnIn {
        kind: Burned::Cooling,
        threads: scene.threads,
        seconds: Some(f64::from(WORK)),
        rest: f64::from(scene.rest),
        ..journal::BurnIn::default()
    };
    Journal { burnin: Some(burnin), samples, ..Journal::default() }
}

fn judged(journal: &Journal) -> BurnIn {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    let catalogue = CATALOGUE.get_or_init(|| Catalogue::load().unwrap());
    Results::new(journal, catalogue, None).burnin().unwrap().clone()
}

/// How many of 200 burn-ins are such.
fn count(scene: Scene, seed: u64, is: impl Fn(&BurnIn) -> bool) -> usize {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..200).filter(|_| is(&judged(&journal(&scene, &mut random)))).count()
}

fn throttled(burnin: &BurnIn) -> Option<f64> {
    burnin.cooling.as_ref().unwrap().fall.as_ref().map(|fall| fall.at)
}

#[test]
fn noise_and_neighbours_are_no_throttling() {
    for (number, scene) in [
        CALM,
        Scene { threads: 16, ..CALM },
        Scene { noise: 0.02, ..CALM },
        Scene { neighbour: true, ..CALM },
        Scene { neighbour: true, noise: 0.015, threads: 4, ..CALM },
        Scene { neighbour: true, clock: false, ..CALM },
        Scene { noise: 0.02, clock: false, ..CALM },
    ]
    .into_iter()
    .enumerate()
    {
        let wrong = count(scene, 1, |burnin| throttled(burnin).is_some());
        assert!(wrong <= 10, "scene {number}: {wrong} of 200 throttled");
        let slowed = count(scene, 2, |burnin| burnin.cooling.as_ref().unwrap().slowed.is_some());
        assert!(slowed <= 10, "scene {number}: {slowed} of 200 slowed");
        let cores = |burnin: &BurnIn| {
            burnin.cooling.as_ref().unwrap().cores.iter().any(|core| core.fell.is_some())
        };
        let alone = count(scene, 3, cores);
        assert!(alone <= 10, "scene {number}: a core of {alone} of 200 fell");
    }
}

#[test]
fn a_drop_of_a_tenth_is_found_within_two_seconds() {
    for (number, scene) in [
        Scene { fall: Some((28.0, 99, 0.9)), ..CALM },
        Scene { fall: Some((100.0, 99, 0.9)), threads: 16, ..CALM },
        Scene { fall: Some((41.0, 99, 0.9)), neighbour: true, noise: 0.015, ..CALM },
        Scene { fall: Some((60.0, 99, 0.9)), clock: false, ..CALM },
    ]
    .into_iter()
    .enumerate()
    {
        let when = scene.fall.unwrap().0;
        let found = count(scene, 4, |burnin| {
            let near = throttled(burnin).is_some_and(|at| (at - when).abs() <= 2.0);
            let cooling = burnin.cooling.as_ref().unwrap();
            let kept = cooling.clock.as_ref().or(cooling.throughput.as_ref()).unwrap().ratio;
            near && (kept.value - 0.9).abs() < 0.02
        });
        assert!(found >= 190, "scene {number}: {found} of 200 found");
    }
}

#[test]
fn one_core_of_many_is_named() {
    let scene = Scene { threads: 16, fall: Some((50.0, 1, 0.8)), ..CALM };
    let burnin = judged(&journal(&scene, &mut Pcg64Mcg::seed_from_u64(5)));
    assert_eq!(throttled(&burnin), None, "a sixteenth of a fifth is little of the whole");
    assert!(burnin.verdict.ends_with("Only the clock of CPU 0 fell."), "{}", burnin.verdict);
    let core = &burnin.cooling.as_ref().unwrap().cores[0];
    assert!(
        (core.fell.unwrap() - 50.0).abs() <= 2.0
            && (core.clock.as_ref().unwrap().ratio.value - 0.8).abs() < 0.01
    );
}

#[test]
fn the_clock_comes_back() {
    let scene = Scene { fall: Some((30.0, 99, 0.7)), rest: 20, ..CALM };
    let burnin = judged(&journal(&scene, &mut Pcg64Mcg::seed_from_u64(6)));
    assert!(burnin.cooling.as_ref().unwrap().recovery.unwrap() < 3.0);
    assert_eq!(burnin.worked, f64::from(WORK));
    assert!(burnin.cool_down.is_none(), "there is no sensor");
}

#[test]
fn intervals_hold_the_truth() {
    let scene = Scene { fall: Some((28.0, 99, 0.9)), noise: 0.01, ..CALM };
    let covered = count(scene, 7, |burnin| {
        let ratio = burnin.cooling.as_ref().unwrap().clock.as_ref().unwrap().ratio;
        (ratio.low..=ratio.high).contains(&0.9)
    });
    assert!(covered >= 184, "{covered} of 200 intervals hold 0.9");
}

#[test]
fn too_short_to_tell() {
    let mut journal = journal(&CALM, &mut Pcg64Mcg::seed_from_u64(8));
    journal.samples.truncate(3);
    let burnin = judged(&journal);
    assert!(burnin.verdict.starts_with("Too short to judge"), "{}", burnin.verdict);
    assert!(burnin.good);
}

/// A burn-in whose clock falls after 60 s, with what `change` makes of its samples.
fn with_evidence(limits: SensorLimits, change: impl Fn(f64, &mut Sample)) -> BurnIn {
    let scene = Scene { fall: Some((60.0, 99, 0.8)), rest: 30, ..CALM };
    let mut journal = journal(&scene, &mut Pcg64Mcg::seed_from_u64(9));
    journal.burnin.as_mut().unwrap().limits = limits;
    for sample in &mut journal.samples {
        change(sample.at, sample);
    }
    judged(&journal)
}

fn limits(celsius: f64, watts: f64) -> SensorLimits {
    let mut limits = SensorLimits::default();
    limits.temperature.insert("coretemp Package id 0".to_owned(), celsius);
    limits.power.insert("package-0".to_owned(), watts);
    limits
}

fn cause(burnin: &BurnIn) -> &'static str {
    burnin.cooling.as_ref().unwrap().fall.as_ref().unwrap().cause.kind()
}

#[test]
fn causes_by_evidence() {
    let hot = |celsius: f64| {
        move |_: f64, sample: &mut Sample| {
            sample.sensors.temperature.insert("coretemp Package id 0".to_owned(), celsius);
        }
    };
    let power = |first: f64, then: f64, celsius: f64| {
        move |at: f64, sample: &mut Sample| {
            sample
                .sensors
                .power
                .insert("package-0".to_owned(), if at > 60.2 { then } else { first });
            sample.sensors.temperature.insert("coretemp Package id 0".to_owned(), celsius);
        }
    };
    let counts = |name: &'static str| {
        move |at: f64, sample: &mut Sample| {
            sample.sensors.count.insert(name.to_owned(), if at > 60.2 { 9 } else { 5 });
        }
    };
    let brake = |at: f64, sample: &mut Sample| {
        sample.sensors.cooling.insert("thermal-cpufreq-0".to_owned(), u64::from(at > 60.2) * 3);
        sample.sensors.cooling.insert("Fan".to_owned(), 4);
    };
    assert_eq!(cause(&with_evidence(limits(100.0, 15.0), hot(97.0))), "thermal");
    assert_eq!(cause(&with_evidence(limits(100.0, 15.0), hot(80.0))), "unknown");
    assert_eq!(cause(&with_evidence(limits(100.0, 15.0), power(28.0, 15.1, 70.0))), "power");
    assert_eq!(
        cause(&with_evidence(limits(100.0, 45.0), power(60.0, 40.0, 70.0))),
        "power",
        "less power and not hot"
    );
    assert_eq!(
        cause(&with_evidence(limits(100.0, 45.0), power(60.0, 40.0, 92.0))),
        "unknown",
        "less power, but hot"
    );
    let mut of_two_packages = limits(100.0, 45.0);
    of_two_packages.temperature.insert("coretemp Package id 1".to_owned(), 100.0);
    let one_is_warm = |at: f64, sample: &mut Sample| {
        power(60.0, 40.0, 70.0)(at, sample);
        sample.sensors.temperature.insert("coretemp Package id 1".to_owned(), 92.0);
    };
    assert_eq!(cause(&with_evidence(of_two_packages, one_is_warm)), "unknown", "one of two is hot");
    let without_temperature = |at: f64, sample: &mut Sample| {
        power(60.0, 40.0, 70.0)(at, sample);
        sample.sensors.temperature.clear();
    };
    assert_eq!(
        cause(&with_evidence(limits(100.0, 45.0), without_temperature)),
        "unknown",
        "nobody knows whether it is hot"
    );
    assert_eq!(
        cause(&with_evidence(limits(100.0, 15.0), power(28.0, 15.1, 98.0))),
        "thermal and power"
    );
    assert_eq!(
        cause(&with_evidence(SensorLimits::default(), counts("throttle.package"))),
        "thermal"
    );
    assert_eq!(cause(&with_evidence(SensorLimits::default(), counts("power_limit.core"))), "power");
    assert_eq!(cause(&with_evidence(SensorLimits::default(), counts("edac.mc0.ce"))), "unknown");
    assert_eq!(cause(&with_evidence(SensorLimits::default(), brake)), "thermal");
    let nothing = with_evidence(SensorLimits::default(), |_, _| {});
    assert!(
        nothing.verdict.ends_with("The cause is unknown: this machine has no sensors for it."),
        "{}",
        nothing.verdict
    );
}

#[test]
fn a_virtual_machine_cannot_tell() {
    let scene = Scene { fall: Some((60.0, 99, 0.8)), ..CALM };
    let mut journal = journal(&scene, &mut Pcg64Mcg::seed_from_u64(10));
    let [name, label, group, value] =
        ["system.virtualisation", "Virtualisation", "System", "KVM"].map(str::to_owned);
    journal.facts.push(Fact::from_text(name, label, group, value));
    assert!(
        judged(&journal).verdict.contains("this is a virtual machine, and its host may be hot")
    );
}

#[test]
fn half_of_the_heat_is_gone() {
    let burnin = with_evidence(SensorLimits::default(), |at, sample| {
        let celsius = match at {
            0.0 => 40.0,
            at if at <= 180.2 => 90.0,
            at => 40.0 + 50.0 * (-(at - 180.0) / 10.0).exp(),
        };
        sample.sensors.temperature.insert("k10temp Tctl".to_owned(), celsius);
        sample.sensors.temperature.insert("nvme Composite".to_owned(), 40.0 + at / 3.0);
    });
    let down = burnin.cool_down.unwrap();
    assert_eq!((down.sensor.as_str(), down.before, down.hot), ("k10temp Tctl", 40.0, 90.0));
    // Half of an exponential's: ln 2 times its constant.
    assert!((down.half.unwrap() - 6.93).abs() < 0.2, "{down:?}");
    let sensor = burnin.sensors.iter().find(|sensor| sensor.name == "k10temp Tctl").unwrap();
    assert_eq!(
        (sensor.before, sensor.highest, sensor.sustained),
        (Some(40.0), Some(90.0), Some(90.0))
    );
}

#[test]
fn memory_controllers_are_believed() {
    let burnin = journal::BurnIn {
        kind: Burned::Memory,
        bytes: Some(1 << 30),
        ..journal::BurnIn::default()
    };
    let mut journal = Journal { burnin: Some(burnin), ..Journal::default() };
    for (at, corrected) in [(0.0, 7), (10.1, 7), (20.1, 9)] {
        let mut sample = Sample { at, ..Sample::default() };
        sample.sensors.count.insert("edac.mc1.ce".to_owned(), corrected);
        sample.sensors.count.insert("edac.mc1.ue".to_owned(), 0);
        journal.samples.push(sample);
    }
    journal.passes.push(Pass { at: 20.0, pass: 1, seconds: 20.0, bytes: 14 << 30, faults: 0 });
    let found = judged(&journal);
    assert!(!found.good, "corrected errors are errors");
    assert_eq!(found.verdict, "No fault in 1 pass. Memory controller mc1 corrected 2 errors.");
    journal.samples.truncate(2);
    assert!(judged(&journal).good);
    journal.samples[1].faults = 1500;
    journal.samples[1].stage =
        Some(Stage { pass: 2, pattern: "random".to_owned(), done: 1, total: 4 });
    let fault = Fault { expected: Word(3), read: Word(1), retest: Word(1), ..Fault::default() };
    journal.faults = vec![fault; 1000];
    let found = judged(&journal);
    let memory = found.memory.as_ref().unwrap();
    assert_eq!(
        (memory.faults, memory.patterns[0].faults, memory.patterns[0].held),
        (1500, 1000, 1000)
    );
    assert!(
        found.verdict.starts_with("1500 faults in 1 pass and 25 % of the next"),
        "{}",
        found.verdict
    );
}
