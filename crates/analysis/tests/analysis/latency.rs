//! What the interval of a percentile promises holds for tasks on a machine with neighbours, shown
//! by simulation.

use analysis::Results;
use catalogue::{Catalogue, Metric};
use journal::{Cell, Copy, Frame, Journal, Key, Recorder, Schedule, Trial};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use stats::Estimate;
use testing::{Wandering, normal};

use crate::shared_machine::coverage_of_mean;

/// Frames of a trial of 4 s, one every 10 ms.
const FRAMES: u64 = 400;
const PERIOD: u64 = 10_000_000;

/// Seconds from one trial to the next: the load needs a while to become steady.
const APART: f64 = 5.5;

/// Simulated runs per case.
const RUNS: u64 = 60;

/// What the latencies of a run's tasks depend on.
#[derive(Debug, Clone, Copy)]
struct Noise {
    /// Standard deviation of the logarithm, from neighbours that come and go within 20 s.
    neighbours: f64,
    /// The share of trials that a stall of 20 to 80 ms hits.
    stalls: f64,
}

const QUIET: Noise = Noise { neighbours: 0.0, stalls: 0.0 };

/// A run of `tasks` tasks with `blocks` trials each.
fn run(catalogue: &Catalogue, seed: u64, noise: Noise, (tasks, blocks): (usize, u32)) -> Results {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut speed = Wandering::new(&mut random, 20.0);
    let mut journal = Journal::default();
    for id in 0..tasks {
        let key = Key::plain(&format!("task{id}"), 1);
        journal.cells.push(Cell {
            id,
            key,
            metric: Metric::Latency,
            unit: "ms".to_owned(),
            ..Cell::default()
        });
    }
    for number in 0..blocks * tasks as u32 {
        let slower = noise.neighbours * speed.after(&mut random, APART) + 0.1 * normal(&mut random);
        let copies = vec![frames(&mut random, slower, noise.stalls)];
        let (cell, block, at) =
            (number as usize % tasks, number / tasks as u32, f64::from(number) * APART);
        journal.trials.push(Trial { cell, block, at, copies, ..Trial::default() });
    }
    Results::new(&journal, catalogue, None)
}

/// A trial's frames: their latencies have a median of 0.1 ms times e to the power of `slower`, and
/// scatter by half.
fn frames(random: &mut Pcg64Mcg, slower: f64, stalls: f64) -> Copy {
    let begin = random.random_range(0..FRAMES) * PERIOD;
    let is_hit = random.random::<f64>() < stalls;
    let stall = begin..begin + if is_hit { random.random_range(20_000_000..80_000_000) } else { 0 };
    let mut recorder = Recorder::new(Schedule {
        period: PERIOD,
        deadline: PERIOD,
        planned: FRAMES,
        ..Schedule::default()
    });
    for planned in (0..FRAMES).map(|number| number * PERIOD) {
        let wait = (1e5 * (slower + 0.5 * normal(random)).exp()) as u64;
        let woke = if stall.contains(&planned) { stall.end } else { planned } + wait;
        recorder.add(Frame { planned, sent: planned, woke, done: Some(woke) });
    }
    Copy { frames: Some(Box::new(recorder.finish(None))), ..Copy::default() }
}

/// Returns how often the interval of a p99 covers the mean of such runs.
fn covered(noise: Noise, shape: (usize, u32)) -> f64 {
    let catalogue = Catalogue::load().unwrap();
    let runs = (0..testing::simulated(RUNS)).map(|seed| run(&catalogue, seed, noise, shape));
    let found: Vec<Estimate> = runs.flat_map(|run| run.figures).map(|row| row.score).collect();
    let (share, half) = coverage_of_mean(&found);
    println!("{noise:?}, {shape:?}: {share} within ±{half}");
    share
}

#[test]
fn percentiles_cover_on_a_machine_with_neighbours() {
    let (neighbours, stalls) =
        (Noise { neighbours: 0.3, ..QUIET }, Noise { neighbours: 0.3, stalls: 0.3 });
    for noise in [QUIET, neighbours, stalls] {
        for shape in [(4, 6), (4, 12)] {
            let share = covered(noise, shape);
            assert!(testing::allowed(0.9..0.985).contains(&share), "{noise:?}, {shape:?}: {share}");
        }
    }
}

/// Six trials of one task span half a minute, too little to see neighbours that come and go within
/// 20 s.
#[test]
fn a_task_alone_is_known_less() {
    assert!(covered(QUIET, (1, 6)) >= testing::allowed(0.94..1.0).start);
    assert!(
        covered(Noise { neighbours: 0.3, ..QUIET }, (1, 6)) >= testing::allowed(0.7..1.0).start
    );
}
