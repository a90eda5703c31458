//! One answer of runs on several machines that are made up: three models of processor whose levels
//! differ by 15 to 25 %, and on which a change may be worth more or less.

use analysis::{Pooled, Results};
use catalogue::Catalogue;
use journal::{Copy, Execution, Fact, Facts, Journal, Run, Trial, View};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use testing::normal;

/// The models, and by how much longer each takes for everything.
const MODELS: [(&str, f64); 3] = [("Xeon", 0.0), ("EPYC", 0.15), ("Graviton", 0.25)];

const ROUNDS: u64 = 60;

/// A run on a machine of a model, where the new command takes longer by `effect`.
fn run(machine: usize, effect: f64, catalogue: &Catalogue, random: &mut Pcg64Mcg) -> Results {
    let (model, level) = MODELS[machine % MODELS.len()];
    let mut copies: [Copy; 2] = Default::default();
    for round in 0..ROUNDS {
        for (copy, effect) in copies.iter_mut().zip([0.0, effect]) {
            let log = level + effect + 0.03 * normal(random);
            let end = (1e7 * log.exp()) as u64;
            copy.executions.push(Execution { round, end, ..Execution::default() });
        }
    }
    let trials = copies
        .into_iter()
        .enumerate()
        .map(|(cell, copy)| Trial { cell, copies: vec![copy], ..Trial::default() })
        .collect();
    let mut facts = Facts::default();
    facts.push(Fact::new(["cpu.model", "Model", "Processor"], model.to_owned(), None));
    let cells = vec![super::ab::cell(0, "old"), super::ab::cell(1, "new")];
    let run = Run {
        name: format!("machine {machine}"),
        view: View::Ab,
        against: "old".into(),
        cpus: 2,
        ..Run::default()
    };
    Results::new(&Journal { run, facts, cells, trials, ..Journal::default() }, catalogue, None)
}

/// The share of pools of `machines` runs that call a difference, and of intervals that hold the
/// mean effect, where machines scatter by `between` about `effect`.
fn simulate(machines: usize, effect: f64, between: f64) -> (f64, f64) {
    let catalogue = Catalogue::load().unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(machines as u64);
    let runs = testing::simulated(200);
    let (mut called, mut held) = (0, 0);
    for _ in 0..runs {
        let results: Vec<Results> = (0..machines)
            .map(|machine| {
                let own = effect + between * normal(&mut random);
                run(machine, own, &catalogue, &mut random)
            })
            .collect();
        let pooled = Pooled::new(&results, 1.0).unwrap();
        let row = &pooled.rows[0];
        let truth = 100.0 * effect.exp_m1();
        called += u32::from(row.verdict.is_decided());
        held += u32::from(row.change.low <= truth && truth <= row.change.high);
    }
    let [called, held] = [called, held].map(|count| f64::from(count) / runs as f64);
    println!("{machines} machines, {effect} ± {between}: called {called}, held {held}");
    (called, held)
}

#[test]
fn equal_commands_are_seldom_called_different_on_several_machines() {
    for (machines, between) in [(3, 0.0), (3, 0.03), (6, 0.01)] {
        let (called, held) = simulate(machines, 0.0, between);

        assert!(called <= 0.05, "{machines} {between}: {called}");
        assert!(held >= 0.93, "{machines} {between}: {held}");
    }
}

#[test]
fn a_change_that_all_machines_share_is_found() {
    let (called, held) = simulate(6, 0.05, 0.01);

    assert!(called >= 0.9, "{called}");
    assert!(held >= 0.93, "{held}");
}

#[test]
fn the_model_that_disagrees_is_named() {
    let catalogue = Catalogue::load().unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let results: Vec<Results> = (0..6)
        .map(|machine| {
            let effect = if machine % 3 == 1 { 0.08 } else { 0.0 };
            run(machine, effect, &catalogue, &mut random)
        })
        .collect();

    let pooled = Pooled::new(&results, 1.0).unwrap();
    let row = &pooled.rows[0];

    let dissent = row.dissent.as_ref().unwrap();
    assert_eq!(dissent.processor, "EPYC");
    assert!((dissent.change.value - 8.3).abs() < 2.0, "{dissent:?}");
    assert!(row.spread_percent > 2.0, "{}", row.spread_percent);
    assert!(!row.verdict.is_decided(), "{:?}", row.change);
}

#[test]
fn what_cannot_be_pooled_is_named() {
    let catalogue = Catalogue::load().unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(8);
    let mut results: Vec<Results> =
        (0..2).map(|machine| run(machine, 0.0, &catalogue, &mut random)).collect();

    let why = Pooled::new(&results, 1.0).unwrap_err().to_string();
    assert!(why.contains("3 runs or more, and there are 2"), "{why}");
    results.push(Results::default());
    let why = Pooled::new(&results, 1.0).unwrap_err().to_string();
    assert!(why.contains("compares nothing by itself"), "{why}");
}
