//! Figures that commands print, made up: how often equal ones are called different, and whether the
//! planted ones are found.

use std::f64::consts::LN_2;

use analysis::pairs::{Question, is_answered};
use analysis::{Comparison, Results, Verdict};
use catalogue::{Catalogue, Metric};
use journal::{
    Cell, Copy, Execution, Journal, Key, Printed, Procedure, Role, Run, Slice, Trial, View,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use testing::normal;

/// Figures that an execution prints.
const FIGURES: usize = 20;

/// Seconds of an execution.
const SECONDS: f64 = 0.5;

const BUDGET: f64 = 60.0;

/// A machine whose speed wanders, and commands that print times; those of the second differ by
/// logarithms.
struct Made {
    random: Pcg64Mcg,
    effects: [f64; FIGURES],
    speed: f64,
}

impl Made {
    /// Returns what an execution prints; all of its figures share the machine's speed.
    fn print(&mut self, is_second: bool) -> Vec<f64> {
        self.speed = 0.9 * self.speed + 0.1 * normal(&mut self.random);
        let effect = |place: usize| if is_second { self.effects[place] } else { 0.0 };
        let effects: Vec<f64> = (0..FIGURES).map(effect).collect();
        effects
            .iter()
            .map(|effect| (0.1 * self.speed + 0.01 * normal(&mut self.random) + effect).exp())
            .collect()
    }

    /// The trials of a block of one round: of both commands, and now and then of the control.
    fn block(&mut self, block: u32) -> Vec<Trial> {
        let mut order: Vec<usize> = vec![0, 1];
        order.extend((self.random.random::<f64>() < 0.25).then_some(2));
        rand::seq::SliceRandom::shuffle(&mut order[..], &mut self.random);
        let trial = |cell: usize| {
            let ns = (SECONDS * 1e9) as u64;
            let printed = self
                .print(cell == 1)
                .into_iter()
                .enumerate()
                .map(|(place, value)| printed(place, value));
            let copy = Copy {
                slices: vec![Slice { start: 0, end: ns, count: 1 }],
                values: [("wall".to_owned(), (1e3 * SECONDS, "ms".to_owned()))].into(),
                executions: vec![Execution { end: ns, ..Execution::default() }],
                printed: printed.collect(),
                ..Copy::default()
            };
            Trial {
                cell,
                block,
                at: 2.0 * SECONDS * f64::from(block),
                copies: vec![copy],
                ..Trial::default()
            }
        };
        order.into_iter().map(trial).collect()
    }
}

fn printed(place: usize, value: f64) -> Printed {
    Printed {
        name: format!("figure {place}"),
        unit: "ns".into(),
        metric: Metric::Time,
        rounds: vec![(0, value)],
        ..Printed::default()
    }
}

fn cell(id: usize, condition: &str) -> Cell {
    Cell {
        id,
        key: Key { test: "ab".into(), copies: 1, load: "none".into(), condition: condition.into() },
        control: id == 2,
        metric: Metric::Time,
        unit: "ms".into(),
        value: Some("wall".into()),
        role: Role::Alternating,
        ..Cell::default()
    }
}

/// Measures until the question is answered, or the time is up; returns the comparisons, and the
/// seconds it took.
fn measured(
    effects: [f64; FIGURES],
    seed: u64,
    question: &Question,
    catalogue: &Catalogue,
) -> (Vec<Comparison>, f64) {
    let mut made = Made { random: Pcg64Mcg::seed_from_u64(seed), effects, speed: 0.0 };
    let cells = vec![cell(0, "old"), cell(1, "new"), cell(2, "old")];
    let mut trials: [Vec<Trial>; 3] = Default::default();
    let mut seconds = 0.0;
    for block in 0.. {
        made.block(block).into_iter().for_each(|trial| trials[trial.cell].push(trial));
        seconds = 2.0 * SECONDS * f64::from(block + 1);
        let family: Vec<(&Cell, &[Trial])> =
            cells.iter().zip(&trials).map(|(cell, own)| (cell, &own[..])).collect();
        if is_answered(&family, question) || seconds >= question.budget {
            break;
        }
    }
    let procedure = Procedure::Standard;
    let run = Run { procedure, view: View::Ab, against: "old".into(), cpus: 2, ..Run::default() };
    let journal = Journal {
        run,
        cells,
        trials: trials.into_iter().flatten().collect(),
        ..Journal::default()
    };
    let results = Results::new(&journal, catalogue, None);
    let cost = results.cost().unwrap();
    (cost.conditions[0].effects.iter().map(|effect| effect.comparison.clone()).collect(), seconds)
}

#[test]
fn the_planted_figure_and_no_other_is_called() {
    let catalogue = Catalogue::load().unwrap();
    let runs = testing::simulated(40);
    for (planted, threshold) in [(0.05, Some(2.0)), (0.05, None), (0.0, Some(2.0))] {
        let question =
            Question { precision: 0.01, threshold, tail_threshold: None, budget: BUDGET };
        let mut effects = [0.0; FIGURES];
        effects[7] = planted;
        let (mut found, mut wrong, mut held, mut time) = (0, 0, 0, 0.0);
        for seed in 0..runs {
            let (comparisons, seconds) = measured(effects, seed, &question, &catalogue);
            assert_eq!(comparisons.len(), FIGURES, "the command's own time is no row");
            let is_called = |place: usize| {
                matches!(comparisons[place].verdict, Verdict::Slower | Verdict::Faster)
            };
            found += u32::from(is_called(7));
            wrong += u32::from((0..FIGURES).any(|place| place != 7 && is_called(place)));
            held += (0..FIGURES)
                .filter(|place| {
                    let change = comparisons[*place].change();
                    let truth = 100.0 * effects[*place].exp_m1();
                    change.low <= truth && truth <= change.high
                })
                .count();
            time += seconds;
        }
        let of = |count: u32| f64::from(count) / runs as f64;
        let held = held as f64 / (runs as usize * FIGURES) as f64;
        let time = time / runs as f64;
        println!(
            "planted {planted}, threshold {threshold:?}: found {}, another called {}, held {held}, {time:.1} s",
            of(found),
            of(wrong)
        );
        assert!(planted == 0.0 || of(found) >= 0.95, "{}", of(found));
        assert!(of(wrong) <= if testing::all_must_run() { 0.09 } else { 0.2 }, "{}", of(wrong));
        assert!(held >= 0.93, "{held}");
        assert!(planted == 0.0 || threshold.is_none() || time < BUDGET, "{time}");
    }
}

/// Figures that are not above 0 have no ratio. Whether their interval is narrow is a matter of
/// their size then, and not of the unit that the harness prints them in.
#[test]
fn the_unit_of_a_negative_figure_does_not_end_a_run() {
    let cells = [cell(0, "old"), cell(1, "new")];
    let is_answered_at = |unit: f64, noise: f64| {
        let trial = |cell: usize, block: u32| {
            let deviation = f64::from((block * 7 + 3 * cell as u32) % 11) / 11.0 - 0.5;
            let figure = printed(0, -unit * (1.0 + noise * deviation));
            let copy = Copy { printed: vec![figure], ..Copy::default() };
            Trial { cell, block, at: f64::from(block), copies: vec![copy], ..Trial::default() }
        };
        // The executions of the last block make a look due.
        let trials = [0, 1].map(|cell| (0..26).map(|block| trial(cell, block)).collect::<Vec<_>>());
        let family: Vec<(&Cell, &[Trial])> =
            cells.iter().zip(&trials).map(|(cell, own)| (cell, &own[..])).collect();
        is_answered(
            &family,
            &Question { precision: 0.01, threshold: None, tail_threshold: None, budget: BUDGET },
        )
    };

    for unit in [1e-9, 1.0, 1e9] {
        assert!(is_answered_at(unit, 0.001), "narrow at {unit}");
        assert!(!is_answered_at(unit, 0.5), "wide at {unit}");
    }
}

#[test]
fn a_figure_of_one_command_is_not_waited_for_and_one_of_zero_is_compared() {
    let catalogue = Catalogue::load().unwrap();
    let cells = vec![cell(0, "old"), cell(1, "new"), cell(2, "old")];
    let mut made =
        Made { random: Pcg64Mcg::seed_from_u64(1), effects: [LN_2; FIGURES], speed: 0.0 };
    let mut trials: Vec<Trial> = (0..39).flat_map(|block| made.block(block)).collect();
    for trial in &mut trials {
        let all = &mut trial.copies[0].printed;
        all.truncate(2);
        all[1].rounds[0].1 = 0.0;
        if trial.cell == 1 {
            all.push(printed(2, 5.0));
        }
    }
    let own = |cell: &Cell| {
        trials.iter().filter(|trial| trial.cell == cell.id).cloned().collect::<Vec<Trial>>()
    };
    let by_cell: Vec<Vec<Trial>> = cells.iter().map(own).collect();
    let family: Vec<(&Cell, &[Trial])> =
        cells.iter().zip(&by_cell).map(|(cell, own)| (cell, &own[..])).collect();
    assert!(is_answered(
        &family,
        &Question { precision: 0.01, threshold: None, tail_threshold: None, budget: BUDGET }
    ));
    let run = Run {
        procedure: Procedure::Standard,
        view: View::Ab,
        against: "old".into(),
        cpus: 2,
        ..Run::default()
    };
    let results =
        Results::new(&Journal { run, cells, trials, ..Journal::default() }, &catalogue, None);
    let cost = results.cost().unwrap();
    let effects = cost.conditions[0].effects.iter().map(|effect| &effect.comparison);
    let found: Vec<(&str, &str)> =
        effects.map(|one| (&*one.cell.label, one.verdict.word())).collect();
    assert_eq!(found, [("figure 0", "slower"), ("figure 1", "same")]);
    let missing: Vec<(&str, &str)> =
        cost.missing.iter().map(|gap| (&*gap.label, &*gap.reason)).collect();
    assert_eq!(missing, [("figure 2", "old did not print it")]);
}
