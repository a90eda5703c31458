//! A quantile of the executions of commands: whether a slower tail is found, and whether equal ones
//! are called different, while the run looks at it.

use analysis::pairs::{Question, is_answered};
use analysis::{Comparison, Cost, Measure, Results, Verdict};
use catalogue::Catalogue;
use journal::{Cell, Copy, Execution, Journal, Run, Trial, View};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use testing::normal;

const ROUNDS_PER_BLOCK: u64 = 100;

/// Two commands of 5 ms. One of fifty executions stalls; `stall` is the mean length, in ms.
struct Commands {
    stall: [f64; 2],
    random: Pcg64Mcg,
}

impl Commands {
    fn execute(&mut self, command: usize) -> f64 {
        let usual = 5.0 * (0.02 * normal(&mut self.random)).exp();
        let stalls = self.random.random::<f64>() < 0.02;
        let stall = -self.stall[command] * self.random.random::<f64>().ln();
        usual + if stalls { stall } else { 0.0 }
    }

    fn block(&mut self, block: u32) -> [Trial; 2] {
        let mut copies: [Copy; 2] = Default::default();
        for round in 0..ROUNDS_PER_BLOCK {
            for (command, copy) in copies.iter_mut().enumerate() {
                let end = (1e6 * self.execute(command)) as u64;
                copy.executions.push(Execution { round, end, ..Execution::default() });
            }
        }
        let mut cell = 0..;
        copies.map(|copy| Trial {
            cell: cell.next().unwrap_or(0),
            block,
            at: f64::from(block),
            copies: vec![copy],
            ..Trial::default()
        })
    }
}

/// Measures `blocks` blocks, or fewer if the question is answered earlier.
fn measured(commands: &mut Commands, blocks: u32, question: Option<Question>) -> Cost {
    let cells = ["old", "new"].map(|name| Cell {
        tails: vec![0.99],
        ..super::ab::cell(usize::from(name == "new"), name)
    });
    let mut trials: [Vec<Trial>; 2] = Default::default();
    for block in 0..blocks {
        for trial in commands.block(block) {
            trials[trial.cell].push(trial);
        }
        let family: Vec<(&Cell, &[Trial])> =
            cells.iter().zip(&trials).map(|(cell, own)| (cell, &own[..])).collect();
        if question.is_some_and(|question| is_answered(&family, &question)) {
            break;
        }
    }
    let run = Run { view: View::Ab, against: "old".into(), cpus: 2, ..Run::default() };
    let trials = trials.into_iter().flatten().collect();
    let journal = Journal { run, cells: cells.to_vec(), trials, ..Journal::default() };
    Results::new(&journal, &Catalogue::load().unwrap(), None).cost().unwrap().clone()
}

fn p99(cost: &Cost) -> Option<Comparison> {
    cost.comparisons().find(|one| one.measure == Measure::P99).cloned()
}

/// The share of runs in which a verdict on the p99 was given.
fn share_called(stall: [f64; 2], question: Option<Question>) -> f64 {
    let runs = testing::simulated(100);
    let mut called = 0;
    for seed in 0..runs {
        let mut commands = Commands { stall, random: Pcg64Mcg::seed_from_u64(seed) };
        let found = p99(&measured(&mut commands, 20, question)).unwrap();
        called += u32::from(found.verdict.is_decided());
    }
    println!("{stall:?}: {called} of {runs}");
    f64::from(called) / runs as f64
}

#[test]
fn equal_tails_are_seldom_called_different() {
    let question =
        Question { precision: 0.01, threshold: None, tail_threshold: Some(10.0), budget: 20.0 };

    assert!(testing::allowed(0.0..0.05).contains(&share_called([5.0, 5.0], None)));
    assert!(testing::allowed(0.0..0.05).contains(&share_called([5.0, 5.0], Some(question))));
}

#[test]
fn a_slower_tail_is_found_where_the_median_is_the_same() {
    let mut commands = Commands { stall: [5.0, 50.0], random: Pcg64Mcg::seed_from_u64(1) };

    let cost = measured(&mut commands, 20, None);

    let found = p99(&cost).unwrap();
    assert_eq!((found.verdict, found.n.a, found.unit.as_str()), (Verdict::Slower, 2000, "ms"));
    // Half of the executions that stall lie beyond the p99: of a stall's median, ln 2 of its mean.
    assert!((8.0..10.0).contains(&found.a) && (30.0..50.0).contains(&found.b), "{found:?}");
    let time = cost.comparisons().find(|one| one.measure == Measure::Score).unwrap();
    assert!(!time.verdict.is_decided(), "{time:?}");
    assert!(share_called([5.0, 50.0], None) >= 0.8);
}

#[test]
fn too_few_executions_have_no_p99_and_the_run_goes_on_for_it() {
    let stall = [5.0, 5.0];
    let mut commands = Commands { stall, random: Pcg64Mcg::seed_from_u64(1) };

    let cost = measured(&mut commands, 9, None);

    assert!(p99(&cost).is_none());
    let why = "the p99 needs 1000 executions of each command, and there are 900";
    assert!(cost.missing[0].reason.starts_with(why), "{:?}", cost.missing);

    let answered_at_once =
        Question { precision: 1.0, threshold: None, tail_threshold: None, budget: 1e9 };
    let cost = measured(&mut commands, 40, Some(answered_at_once));
    assert!(p99(&cost).is_some_and(|found| found.n.a < 2000));
}
