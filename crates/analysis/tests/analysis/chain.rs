//! Chains of comparisons that are made up: whether a planted step is found, and what the levels
//! hold.

use analysis::{Results, Series, Trend};
use catalogue::{Catalogue, Metric};
use journal::{Cell, Copy, Journal, Key, Printed, Procedure, Role, Run, Slice, Trial, View};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use testing::normal;

/// Runs of a chain, pairs of a run, and the place of the planted step.
const RUNS: usize = 24;
const PAIRS: u32 = 30;
const PLANTED: usize = 9;

/// A run on a machine of its own speed, whose head takes longer by the logarithm `effect`.
fn run(number: usize, effect: f64, random: &mut Pcg64Mcg, catalogue: &Catalogue) -> Results {
    let cell = |id: usize, condition: &str| Cell {
        id,
        key: Key { test: "ab".into(), copies: 1, load: "none".into(), condition: condition.into() },
        metric: Metric::Time,
        role: Role::Alternating,
        ..Cell::default()
    };
    let speed = (0.5 * normal(random)).exp();
    let mut trial = |block: u32, cell: usize| {
        let value = speed * (0.02 * normal(random) + if cell == 1 { effect } else { 0.0 }).exp();
        let rounds = vec![(0, value)];
        let copy = Copy {
            slices: vec![Slice { start: 0, end: 1_000_000, count: 1 }],
            printed: vec![Printed {
                name: "parse".into(),
                unit: "ns".into(),
                metric: Metric::Time,
                rounds,
                ..Printed::default()
            }],
            ..Copy::default()
        };
        Trial { cell, block, copies: vec![copy], ..Trial::default() }
    };
    let trials = (0..PAIRS).flat_map(|block| [trial(block, 0), trial(block, 1)]).collect();
    let run = Run {
        name: format!("run{number:02}"),
        host: format!("runner{}", number % 5),
        started: format!("2026-01-{:02}T00:00:00Z", number + 1),
        procedure: Procedure::Standard,
        view: View::Ab,
        against: "base".into(),
        cpus: 2,
        ..Run::default()
    };
    let cells = vec![cell(0, "base"), cell(1, "head")];
    Results::new(&Journal { run, cells, trials, ..Journal::default() }, catalogue, None)
}

fn chain(effects: &[f64], seed: u64, catalogue: &Catalogue) -> Series {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut runs: Vec<Results> = effects
        .iter()
        .enumerate()
        .map(|(number, effect)| run(number, *effect, &mut random, catalogue))
        .collect();
    // The order is that of time.
    runs.reverse();
    let mut trend = Trend::chained("parse", &runs);
    assert_eq!(trend.series.len(), 1, "runners do not part it");
    trend.series.remove(0)
}

#[test]
fn the_planted_step_is_found_and_the_levels_hold() {
    let catalogue = Catalogue::load().unwrap();
    let chains = testing::simulated(400);
    let mut effects = [0.0; RUNS];
    effects[PLANTED] = 0.05;
    let (mut found, mut wrong, mut steps_hold, mut levels_hold) = (0, 0, 0, 0);
    for seed in 0..chains {
        let series = chain(&effects, seed, &catalogue);
        assert_eq!(series.points.len(), RUNS);
        let truth = |log: f64| 100.0 * log.exp();
        let last = series.points[RUNS - 1].score;
        levels_hold += u32::from(last.low <= truth(0.05) && truth(0.05) <= last.high);
        for step in &series.steps {
            let is_planted = step.run == format!("run{PLANTED:02}");
            *if is_planted { &mut found } else { &mut wrong } += 1;
            let holds =
                step.change.low <= truth(0.05) - 100.0 && truth(0.05) - 100.0 <= step.change.high;
            steps_hold += u32::from(is_planted && holds);
        }
    }
    let share = |count: u32| f64::from(count) / chains as f64;
    let [found, wrong, steps_hold, levels_hold] =
        [found, wrong, steps_hold, levels_hold].map(share);
    println!(
        "found {found}, others a chain {wrong}, steps hold {steps_hold}, levels hold {levels_hold}"
    );
    assert!(found >= 0.95 && steps_hold >= 0.9, "{found} {steps_hold}");
    assert!(wrong <= 0.15, "{wrong}");
    assert!(levels_hold >= if testing::all_must_run() { 0.93 } else { 0.85 }, "{levels_hold}");
}

#[test]
fn ratios_are_multiplied_and_errors_carried() {
    let catalogue = Catalogue::load().unwrap();
    let series = chain(&[0.1, 0.1, -0.2, 0.0], 1, &catalogue);
    let product: f64 =
        series.points.iter().map(|point| 1.0 + point.change.unwrap().value / 100.0).product();
    let last = series.points[3].score;
    assert!(
        (last.value - 100.0 * product).abs() < 1e-6 && (last.value - 100.0).abs() < 5.0,
        "{last:?}"
    );
    assert!((series.total.unwrap().value - (last.value - 100.0)).abs() < 1e-9);
    let width = |place: usize| {
        let score = series.points[place].score;
        (score.high / score.low).ln()
    };
    assert!(width(0) < width(1) && width(1) < width(2) && width(2) < width(3));
    let one = series.points[0].change.unwrap();
    assert!((width(0) - ((100.0 + one.high) / (100.0 + one.low)).ln()).abs() < 1e-3);
    assert_eq!(
        series.steps.iter().map(|step| &*step.run).collect::<Vec<_>>(),
        ["run00", "run01", "run02"]
    );
    let single = chain(&[0.0], 2, &catalogue);
    assert!(single.steps.is_empty() && single.latest.is_none());
}
