//! Neighbours that come and go: what the machine does while they are quiet is found, and how long
//! they were not.

use analysis::{Neighbours, Results};
use catalogue::Catalogue;
use journal::{Noise, Slice, Trial, Usage};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use testing::{Wandering, allowed, normal, simulated};

use crate::shared_machine::{copy, measured};

/// A neighbour that is busy a share of the time, for random dwells.
#[derive(Clone, Copy)]
struct Planted {
    share: f64,
    /// What it takes from the logarithm of a trial's speed.
    depth: f64,
    /// Whether the kernel's accounts show it, and whether the test waits for it.
    visible: bool,
    competes: bool,
    /// What a lucky slice gains, as a logarithm. The share of lucky slices differs between tests
    /// and runs.
    luck: f64,
}

/// A machine without a neighbour and without luck.
const ALONE: Planted =
    Planted { share: 0.0, depth: 0.0, visible: false, competes: false, luck: 0.0 };

/// Mean seconds of a busy and a quiet spell together.
const CYCLE: f64 = 10.0;

/// Standard deviations of a quiet machine's trials: their own, and of a speed they share that
/// wanders within 20 s.
const OWN: f64 = 0.03;
const SHARED: f64 = 0.01;

/// That of the slices within a trial.
const SLICES: f64 = 0.03;

/// The largest share of a lucky test's slices that are lucky, and what they gain, as a logarithm: a
/// factor of two. Context switching gains up to three when both processes happen to be on one
/// processor.
const LUCKY: f64 = 0.2;
const LUCK: f64 = 0.7;

/// A run of the index at one copy beside the neighbour, and the share of its trials that it
/// disturbed.
fn beside(seed: u64, planted: Planted, blocks: u32) -> (Results, f64) {
    let catalogue = Catalogue::load().unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut chance = Pcg64Mcg::seed_from_u64(seed + 2);
    let lucky: Vec<f64> = catalogue.tests.iter().map(|_| LUCKY * chance.random::<f64>()).collect();
    let mut speed = Wandering::new(&mut random, 20.0);
    let (mut at, mut busy, mut until, mut disturbed, mut trials) = (0.0, true, 0.0, 0, 0);
    let mut order = Pcg64Mcg::seed_from_u64(seed + 1);
    let journal = measured(&catalogue, &[1], blocks, &mut order, |cell| {
        at += 0.4;
        while at > until {
            busy = !busy;
            let mean = CYCLE * if busy { planted.share } else { 1.0 - planted.share };
            until += -mean * (1.0 - random.random::<f64>()).ln();
        }
        let here = busy && planted.share > 0.0;
        (disturbed, trials) = (disturbed + u32::from(here), trials + 1);
        let log = SHARED * speed.after(&mut random, 0.4) + OWN * normal(&mut random);
        let log = log - if here { planted.depth } else { 0.0 };
        let others = if here && planted.visible { 1.0 } else { 0.02 };
        let waiting = if here && planted.competes { 0.5 } else { 0.01 };
        let mut slices: Vec<_> =
            copy(log).slices.iter().flat_map(|slice| in_slices(&mut random, *slice)).collect();
        if catalogue.test(&cell.key.test).is_some_and(|test| test.lucky) {
            let mut gain = || {
                if chance.random::<f64>() < lucky[cell.id] { planted.luck.exp() } else { 1.0 }
            };
            slices.iter_mut().for_each(|slice| slice.count = (slice.count as f64 * gain()) as u64);
        }
        let copy = journal::Copy {
            slices,
            usage: Some(Usage { user: 1.0, ..Usage::default() }),
            ..copy(log)
        };
        let noise = Noise {
            busy_s: Some(1.0 + others),
            steal_s: Some(0.0),
            psi_cpu_some_s: Some(waiting),
            ..Noise::default()
        };
        Trial { at, copies: vec![copy], noise: Some(noise), ..Trial::default() }
    });
    (Results::new(&journal, &catalogue, None), f64::from(disturbed) / f64::from(trials))
}

/// A slice cut into five that scatter.
fn in_slices(random: &mut Pcg64Mcg, Slice { start, end, count }: Slice) -> Vec<Slice> {
    let part = |at: u64| start + (end - start) * at / 5;
    let counts: Vec<f64> =
        (0..5).map(|_| count as f64 / 5.0 * (SLICES * normal(random)).exp()).collect();
    let scale = count as f64 / counts.iter().sum::<f64>();
    let parts = (0..5).zip(counts);
    parts
        .map(|(at, count)| Slice {
            start: part(at),
            end: part(at + 1),
            count: (count * scale) as u64,
        })
        .collect()
}

/// The logarithm of the quiet index over that of the undisturbed machine of these tests, with its
/// ends.
fn quiet(results: &Results) -> (f64, f64, f64) {
    let index = &results.indexes()[0];
    let truth: f64 = stats::mean(
        index.parts.iter().map(|part| (1e7 / part.baseline).ln()).collect::<Vec<f64>>(),
    );
    let quiet = index.quiet.unwrap();
    (quiet.value.ln() - truth, quiet.low.ln() - truth, quiet.high.ln() - truth)
}

/// What [`quiet`] returns for each of `runs` runs of 32 blocks.
fn quiet_runs(runs: u64, planted: Planted) -> Vec<(f64, f64, f64)> {
    (0..runs).map(|seed| quiet(&beside(100 + seed, planted, 32).0)).collect()
}

#[test]
fn quiet_scores_are_those_of_the_machine_without_neighbours() {
    let runs = simulated(40);
    let undisturbed = stats::mean(quiet_runs(runs, ALONE).iter().map(|found| found.0));
    for planted in [
        Planted { share: 0.3, depth: 0.15, ..ALONE },
        Planted { share: 0.5, depth: 0.1, ..ALONE },
        Planted { share: 0.5, depth: 0.7, visible: true, competes: true, ..ALONE },
        Planted { share: 0.6, depth: 0.1, visible: true, ..ALONE },
        ALONE,
    ] {
        let found = quiet_runs(runs, planted);
        let bias = stats::mean(found.iter().map(|one| one.0)) - undisturbed;
        let covered =
            found.iter().filter(|one| one.1 <= undisturbed && undisturbed <= one.2).count();
        let half =
            stats::median(&found.iter().map(|one| (one.2 - one.1) / 2.0).collect::<Vec<f64>>());
        println!(
            "{} {}: bias {bias:.4}, covered {covered} of {runs}, half {half:.4}",
            planted.share, planted.depth
        );
        assert!(allowed(-0.01..0.01).contains(&bias), "{bias}");
        assert!(covered as f64 >= allowed(0.87..1.0).start * runs as f64, "{covered} of {runs}");
    }
}

/// Whether a run was lucky must not show in its quiet index.
#[test]
fn luck_is_not_taken_for_quiet() {
    let undisturbed = stats::mean(quiet_runs(simulated(40), ALONE).iter().map(|found| found.0));
    let found = quiet_runs(simulated(40), Planted { share: 0.3, depth: 0.15, luck: LUCK, ..ALONE });
    let off = stats::mean(found.iter().map(|one| (one.0 - undisturbed).powi(2))).sqrt();
    println!("off by {off:.4}");
    assert!(off < 0.02, "{off}");
}

#[test]
fn the_share_of_disturbed_trials_and_its_kind_are_those_planted() {
    type Kind = fn(&Neighbours) -> f64;
    let kinds: [(bool, bool, Kind); 3] = [
        (false, false, |found| found.hidden),
        (true, false, |found| found.beside),
        (true, true, |found| found.competing),
    ];
    for (visible, competes, kind) in kinds {
        for share in [0.0, 0.3, 0.5] {
            let mut within = 0;
            for seed in 0..10 {
                let (results, truth) =
                    beside(seed, Planted { share, depth: 0.15, visible, competes, ..ALONE }, 24);
                let found = results.neighbours.unwrap();
                let [off, off_kind] = [found.share() - truth, kind(&found) - truth].map(f64::abs);
                within += u32::from(off < 0.1 && off_kind < 0.1);
                assert!(off < 0.15 && off_kind < 0.15, "{share} {visible}: {found:?}, {truth}");
            }
            assert!(within >= 9, "{share} {visible}: {within} of 10");
        }
    }
}
