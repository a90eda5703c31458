//! Commands whose executions have one of two speeds: how often skewed times are taken for two, and
//! what is said of a program that is fast more often.

use analysis::{Comparison, Results, TwoSpeeds};
use catalogue::Catalogue;
use journal::{Copy, Execution, Journal, Noise, Run, Slice, Trial, Usage, View};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use testing::normal;

/// Rounds of a run, in blocks of [`ROUNDS_PER_BLOCK`].
const ROUNDS: u32 = 120;
const ROUNDS_PER_BLOCK: u32 = 20;

/// Draws the times of an execution of either command, in ms.
type Draw<'a> = &'a dyn Fn(&mut Pcg64Mcg) -> [f64; 2];

pub(super) fn compared(draw: Draw<'_>, random: &mut Pcg64Mcg) -> Comparison {
    compared_beside(0.0, draw, random)
}

/// Compares beside programs that keep so many processors busy.
fn compared_beside(foreign_cpus: f64, draw: Draw<'_>, random: &mut Pcg64Mcg) -> Comparison {
    let mut trials: Vec<Trial> = Vec::new();
    for block in 0..ROUNDS / ROUNDS_PER_BLOCK {
        let mut copies: [Copy; 2] = Default::default();
        for round in 0..u64::from(ROUNDS_PER_BLOCK) {
            for (copy, ms) in copies.iter_mut().zip(draw(random)) {
                let end = (1e6 * ms) as u64;
                copy.executions.push(Execution { round, end, ..Execution::default() });
            }
        }
        for (cell, mut copy) in copies.into_iter().enumerate() {
            copy.slices.push(Slice { start: 0, end: 1_000_000_000, count: 1 });
            copy.usage = Some(Usage::default());
            let busy_s = Some(foreign_cpus);
            trials.push(Trial {
                cell,
                block,
                at: f64::from(block),
                copies: vec![copy],
                noise: Some(Noise { busy_s, ..Noise::default() }),
                ..Trial::default()
            });
        }
    }
    let cells = vec![super::ab::cell(0, "old"), super::ab::cell(1, "new")];
    let run = Run { view: View::Ab, against: "old".into(), cpus: 2, ..Run::default() };
    let results = Results::new(
        &Journal { run, cells, trials, ..Journal::default() },
        &Catalogue::load().unwrap(),
        None,
    );
    results.cost().unwrap().conditions[0].effects[0].comparison.clone()
}

/// A command that is fast, 4 ms, in a share of executions, and else takes 8.5 ms.
fn mixed(share: f64, random: &mut Pcg64Mcg) -> f64 {
    let speed = if random.random::<f64>() < share { 4.0 } else { 8.5 };
    speed * (0.05 * normal(random)).exp()
}

#[test]
fn skewed_times_are_seldom_taken_for_two_speeds() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut called = 0;
    for command in 0..200 {
        let scatter = 0.01 * 1.02_f64.powi(command);
        let compared = compared(
            &|random| {
                [0, 1].map(|_| {
                    let stall = if random.random::<f64>() < 0.05 { 3.0 } else { 0.0 };
                    let skewed = match command % 4 {
                        0 => (scatter * normal(random)).exp(),
                        1 => 1.0 - scatter * random.random::<f64>().ln(),
                        2 => {
                            1.0 + scatter * normal(random).abs()
                                - stall * random.random::<f64>().ln()
                        }
                        _ => 1.0 + scatter * normal(random).powi(2),
                    };
                    5.0 * skewed
                })
            },
            &mut random,
        );
        called += u32::from(compared.two_speeds.is_some());
    }

    println!("{called} of 200");
    assert!(called <= 10, "{called}");
}

#[test]
fn a_program_that_is_fast_more_often_is_named_with_its_shares() {
    let mut random = Pcg64Mcg::seed_from_u64(2);

    let found = compared(&|random| [mixed(0.3, random), mixed(0.7, random)], &mut random);

    let TwoSpeeds { fast, slow, fast_share, more_often_fast, when_fast, when_slow } =
        found.two_speeds.unwrap();
    assert!((fast - 4.0).abs() < 0.2 && (slow - 8.5).abs() < 0.3, "{fast} {slow}");
    assert!((fast_share.a - 0.3).abs() < 0.15 && (fast_share.b - 0.7).abs() < 0.15);
    assert!(more_often_fast.low > 10.0 && more_often_fast.high < 70.0, "{more_often_fast:?}");
    for same in [when_fast, when_slow] {
        assert!(same.low < 0.5 && same.high > -0.5 && same.half_width() < 4.0, "{same:?}");
    }
}

#[test]
fn equal_shares_are_seldom_called_different() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let (mut found, mut held) = (0, 0);
    for _ in 0..testing::simulated(300) {
        let share = random.random::<f64>();
        let draw = |random: &mut Pcg64Mcg| [mixed(share, random), mixed(share, random)];
        if let Some(speeds) = compared(&draw, &mut random).two_speeds {
            let points = speeds.more_often_fast;
            found += 1;
            held += u32::from(points.holds_zero());
        }
    }

    println!("{held} of {found}");
    let share = f64::from(held) / f64::from(found);
    assert!(testing::allowed(0.93..0.99).contains(&share), "{held} of {found}");
    assert!(found >= 10, "{found}");
}

/// A machine that is slow for seconds, as beside a neighbour, is slow for both commands.
#[test]
fn spells_of_the_machine_are_no_speeds_of_a_command() {
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let round = std::cell::Cell::new(0);

    let found = compared(
        &|random| {
            round.set(round.get() + 1);
            let speed = if round.get() / 30 % 2 == 0 { 4.0 } else { 8.5 };
            [0, 1].map(|_| speed * (0.05 * normal(random)).exp())
        },
        &mut random,
    );

    assert_eq!(found.two_speeds, None);
}

/// Beside another guest of the same core, which comes and goes with every few executions: the two
/// of a round are slow together, and in no spells. One command does 2 % more work.
#[test]
fn speeds_that_the_commands_of_a_round_share_are_the_machines() {
    let mut random = Pcg64Mcg::seed_from_u64(6);
    let mut found = 0;
    for _ in 0..40 {
        let draw = |random: &mut Pcg64Mcg| {
            let is_beside = random.random::<f64>() < 0.6;
            [1.0, 1.02].map(|work| {
                let has_changed = random.random::<f64>() < 0.1;
                let speed = if is_beside == has_changed { 4.0 } else { 7.0 };
                work * speed * (0.05 * normal(random)).exp()
            })
        };
        found += u32::from(compared(&draw, &mut random).two_speeds.is_some());
    }

    println!("{found} of 40");
    assert!(found <= 4, "{found}");
}

/// `ab` beside a compilation: whatever waits for a processor takes two turns in place of one.
#[test]
fn speeds_that_both_sides_have_on_a_loaded_machine_are_the_machines() {
    let beside = |foreign_cpus, shares: [f64; 2]| {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let draw = |random: &mut Pcg64Mcg| shares.map(|share| mixed(share, random));
        compared_beside(foreign_cpus, &draw, &mut random).two_speeds
    };

    assert_eq!(beside(1.5, [0.5, 0.5]), None);
    assert!(beside(0.0, [0.5, 0.5]).is_some(), "nobody else used the machine");
    assert!(beside(1.5, [0.3, 0.8]).is_some(), "the load does not choose between commands");
}
