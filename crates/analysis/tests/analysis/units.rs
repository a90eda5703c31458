//! Commands whose executions come in units, on a machine that is made up: how often equal sources
//! are called different, and how often an interval holds what was planted.

use analysis::pairs::{Question, is_answered, wants_units};
use analysis::{Comparison, Results};
use catalogue::Catalogue;
use journal::{Cell, Copy, Execution, Journal, Run, SamplingUnit, Trial, View};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use testing::{allowed, normal};

/// Executions of each build per block.
const EXECUTIONS_OF_BUILD: u64 = 2;

/// Executions of each process of a server: a block has one.
const EXECUTIONS_OF_PROCESS: u64 = 16;

/// Two sources of equal speed but for `effect`, and how their times vary. All numbers are
/// differences of logarithms.
#[derive(Debug, Clone, Copy)]
struct Sources {
    unit: SamplingUnit,
    units: u32,
    /// The standard deviation from unit to unit.
    between: f64,
    /// True if a unit has one of two speeds, as likely as the other.
    has_two_speeds: bool,
    /// The standard deviation from execution to execution of a unit.
    within: f64,
    /// How much slower the second source is.
    effect: f64,
    /// How far the machine's speed wanders from block to block.
    drift: f64,
    /// Executions of a source in each block, if these are too few for all of its builds.
    executions_of_block: Option<u64>,
}

const BUILDS: Sources = Sources {
    unit: SamplingUnit::Build,
    units: 8,
    between: 0.01,
    has_two_speeds: false,
    within: 0.02,
    effect: 0.0,
    drift: 0.02,
    executions_of_block: None,
};

struct Machine {
    sources: Sources,
    /// The speed of each unit of both sources.
    speeds: [Vec<f64>; 2],
    /// The builds that there are.
    built: u32,
    drift: f64,
    random: Pcg64Mcg,
}

impl Machine {
    fn new(sources: Sources, seed: u64) -> Machine {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let speeds = [0.0, sources.effect].map(|centre| {
            let drawn = (0..sources.units).map(|_| match sources.has_two_speeds {
                true => normal(&mut random).signum(),
                false => normal(&mut random),
            });
            drawn.map(|speed| centre + sources.between * speed).collect()
        });
        Machine { sources, speeds, built: sources.units, drift: 0.0, random }
    }

    /// The trials of one block. Builds all are executed in it; of a server a new process.
    fn block(&mut self, block: u32) -> [Trial; 2] {
        self.drift += self.sources.drift * normal(&mut self.random);
        let (numbers, executions): (Vec<u32>, u64) = match self.sources.unit {
            SamplingUnit::Process => (vec![block + 1], EXECUTIONS_OF_PROCESS),
            // The first process of each server is all that there is.
            SamplingUnit::Execution => (vec![1], EXECUTIONS_OF_PROCESS),
            _ => ((1..=self.built).collect(), EXECUTIONS_OF_BUILD),
        };
        let executions_of_all = executions * numbers.len() as u64;
        let rounds = self.sources.executions_of_block.unwrap_or(executions_of_all);
        [0, 1].map(|arm| {
            let mut numbers = numbers.clone();
            if rounds < executions_of_all {
                numbers.shuffle(&mut self.random);
            }
            let mut copy = Copy::default();
            for round in 0..rounds {
                let number = numbers[round as usize % numbers.len()];
                let speed = self.speeds[arm][number as usize - 1];
                let log = self.drift + speed + self.sources.within * normal(&mut self.random);
                let end = (1e7 * log.exp()) as u64;
                copy.units.push((round, number));
                copy.executions.push(Execution { round, end, ..Execution::default() });
            }
            Trial { cell: arm, block, copies: vec![copy], ..Trial::default() }
        })
    }

    fn cell(&self, id: usize) -> Cell {
        Cell { sampled: self.sources.unit, ..super::ab::cell(id, ["old", "new"][id]) }
    }
}

/// Measures `blocks` blocks, or fewer if the question is answered earlier.
fn measured(
    sources: Sources,
    seed: u64,
    blocks: u32,
    question: Option<Question>,
    catalogue: &Catalogue,
) -> (Comparison, u32) {
    let growing = Growing { built: sources.units, question };
    measured_while_growing(sources, seed, blocks, growing, catalogue)
}

/// A run that begins with some of the builds, and makes others where they narrow its interval.
#[derive(Clone, Copy)]
struct Growing {
    built: u32,
    question: Option<Question>,
}

fn measured_while_growing(
    sources: Sources,
    seed: u64,
    blocks: u32,
    Growing { built, question }: Growing,
    catalogue: &Catalogue,
) -> (Comparison, u32) {
    let mut machine = Machine { built, ..Machine::new(sources, seed) };
    let cells = vec![machine.cell(0), machine.cell(1)];
    let mut trials: [Vec<Trial>; 2] = Default::default();
    let mut done = 0;
    while done < blocks {
        for trial in machine.block(done) {
            trials[trial.cell].push(Trial { at: f64::from(done), ..trial });
        }
        done += 1;
        let family: Vec<(&Cell, &[Trial])> =
            cells.iter().zip(&trials).map(|(cell, own)| (cell, &own[..])).collect();
        if let Some(question) = question.filter(|question| is_answered(&family, question)) {
            if machine.built == sources.units || !wants_units(&family, &question) {
                break;
            }
            machine.built = (machine.built + machine.built / 2).min(sources.units);
        }
    }

    let run = Run { view: View::Ab, against: "old".into(), cpus: 2, ..Run::default() };
    let trials = trials.into_iter().flatten().collect();
    let journal = Journal { run, cells, trials, ..Journal::default() };
    let results = Results::new(&journal, catalogue, None);
    let cost = results.cost().unwrap();
    (cost.conditions[0].effects[0].comparison.clone(), done)
}

/// The share of comparisons that called a difference, and of those whose interval held the truth.
struct Shares {
    called: f64,
    held: f64,
}

/// Simulates runs of `blocks` blocks; of servers, a block for each of their processes.
fn simulate(all: &[Sources], blocks: u32, question: Option<Question>) -> Shares {
    let catalogue = Catalogue::load().unwrap();
    let (mut called, mut held, mut count) = (0, 0, 0);
    for sources in all {
        let (mut own_called, mut own_held) = (0, 0);
        let runs = testing::simulated(400);
        for seed in 0..runs {
            let is_served = sources.unit == SamplingUnit::Process;
            let blocks = if is_served { sources.units } else { blocks };
            let (found, _) = measured(*sources, seed, blocks, question, &catalogue);
            let (change, truth) = (found.change(), 100.0 * sources.effect.exp_m1());
            own_called += u32::from(found.verdict.is_decided());
            own_held += u32::from(change.low <= truth && truth <= change.high);
        }
        println!("{sources:?}: called {own_called}, held {own_held} of {runs}");
        (called, held, count) = (called + own_called, held + own_held, count + runs as u32);
    }
    let [called, held] = [called, held].map(|number| f64::from(number) / f64::from(count));
    println!("called {called}, held {held}");
    Shares { called, held }
}

fn every_deviation(sources: Sources) -> Vec<Sources> {
    let mut all = Vec::new();
    for units in [3, 4, 8, 16] {
        for between in [0.0, 0.01, 0.03] {
            for within in [0.005, 0.05, 0.2] {
                all.push(Sources { units, between, within, ..sources });
            }
        }
    }
    all
}

#[test]
fn intervals_of_builds_hold_and_equal_sources_are_seldom_called_different() {
    let Shares { called, held } = simulate(&every_deviation(BUILDS), 6, None);

    assert!(called <= 0.05, "{called}");
    assert!((0.93..=0.97).contains(&held), "{held}");
}

#[test]
fn intervals_of_processes_hold_and_equal_sources_are_seldom_called_different() {
    let processes = Sources { unit: SamplingUnit::Process, ..BUILDS };
    let Shares { called, held } = simulate(&every_deviation(processes), 0, None);

    assert!(called <= 0.05, "{called}");
    assert!((0.93..=0.985).contains(&held), "{held}");
}

/// ClickHouse#108721: a server's process takes 197 or 235 ms for a query, for life.
#[test]
fn a_server_with_one_of_two_speeds_for_life_is_no_regression() {
    let process = Sources {
        unit: SamplingUnit::Process,
        units: 12,
        between: 0.088,
        has_two_speeds: true,
        ..BUILDS
    };
    let first_process_alone = Sources { unit: SamplingUnit::Execution, ..process };

    let naive = simulate(&[first_process_alone], 12, None);
    let restarted = simulate(&[process], 0, None);

    // Half of all pairs of processes have two speeds.
    assert!(allowed(0.4..0.6).contains(&naive.called), "{}", naive.called);
    assert!(allowed(0.0..0.05).contains(&restarted.called), "{}", restarted.called);
    assert!(allowed(0.93..0.99).contains(&restarted.held), "{}", restarted.held);
}

#[test]
fn a_planted_difference_of_servers_is_found_with_twelve_restarts() {
    let planted =
        Sources { unit: SamplingUnit::Process, units: 12, between: 0.03, effect: 0.05, ..BUILDS };

    let Shares { called, held } = simulate(&[planted], 0, None);

    assert!(called >= 0.8, "{called}");
    assert!(allowed(0.93..0.99).contains(&held), "{held}");
}

#[test]
fn looks_make_no_false_alarms_with_builds() {
    let question =
        Question { precision: 0.01, threshold: Some(2.0), tail_threshold: None, budget: 30.0 };
    let all = [0.0, 0.005, 0.02].map(|between| Sources { between, ..BUILDS });

    let Shares { called, held } = simulate(&all, 30, Some(question));

    assert!(called <= 0.05, "{called}");
    assert!(held >= 0.93, "{held}");
}

/// Four builds of each side at first, and up to sixteen.
#[test]
fn builds_that_are_made_by_the_width_make_no_false_alarms() {
    let catalogue = Catalogue::load().unwrap();
    for threshold in [None, Some(2.0)] {
        let question = Question { precision: 0.01, threshold, tail_threshold: None, budget: 60.0 };
        let growing = Growing { built: 4, question: Some(question) };
        let (mut called, mut held, mut built) = (0, 0, 0);
        let (mut equal, mut count) = (0, 0);
        for (between, effect) in [(0.005, 0.0), (0.01, 0.0), (0.02, 0.0), (0.01, 0.02)] {
            let sources = Sources { units: 16, between, within: 0.01, effect, ..BUILDS };
            for seed in 0..testing::simulated(200) {
                let (found, _) = measured_while_growing(sources, seed, 60, growing, &catalogue);
                let (change, truth) = (found.change(), 100.0 * effect.exp_m1());
                equal += u32::from(effect == 0.0);
                called += u32::from(effect == 0.0 && found.verdict.is_decided());
                held += u32::from(change.low <= truth && truth <= change.high);
                built += found.units.unwrap().n.a;
                count += 1;
            }
        }

        let called = f64::from(called) / f64::from(equal);
        let held = f64::from(held) / f64::from(count);
        let built = built as f64 / f64::from(count);
        println!("threshold {threshold:?}: called {called}, held {held}, {built} builds");
        assert!(called <= 0.05, "{called}");
        // Careful rather than narrow: a width that is known from few units is taken wider.
        assert!(testing::allowed(0.93..0.995).contains(&held), "{held}");
        assert!(built > 6.0, "{built}");
    }
}

/// The machine's speed wanders by 15 % from block to block, and a block has room for five of a side's
/// eight builds. Taken for what differs between builds, that would leave ±9 %, and hold the spread in
/// 81 % of all runs.
#[test]
fn drift_is_not_taken_for_what_differs_between_builds() {
    let catalogue = Catalogue::load().unwrap();
    // A tenth of them would show little, and all take 2 s.
    let runs = 200;
    for (between, max_half_width) in [(0.0, 2.5), (0.01, 3.0), (0.03, 4.5)] {
        let sources =
            Sources { between, within: 0.1, drift: 0.15, executions_of_block: Some(5), ..BUILDS };
        let (mut called, mut held, mut spread_held, mut half_widths) = (0, 0, 0, 0.0);
        for seed in 0..runs {
            let (found, _) = measured(sources, seed, 60, None, &catalogue);
            let (change, spread) = (found.change(), found.units.unwrap().deviation_percent);
            called += u32::from(found.verdict.is_decided());
            held += u32::from(change.low <= 0.0 && 0.0 <= change.high);
            let truth = 100.0 * between;
            spread_held += u32::from(spread.low <= truth && truth <= spread.high);
            half_widths += change.half_width();
        }

        let [called, held, spread_held, half_width] =
            [f64::from(called), f64::from(held), f64::from(spread_held), half_widths]
                .map(|sum| sum / runs as f64);
        println!("{between}: called {called}, held {held}, spread {spread_held}, ±{half_width} %");
        assert!(called <= 0.05, "{called}");
        assert!((0.92..0.99).contains(&held), "{held}");
        assert!(spread_held >= 0.88, "{spread_held}");
        assert!(half_width < max_half_width, "{half_width}");
    }
}

#[test]
fn a_planted_difference_of_builds_is_found() {
    let planted = Sources { between: 0.0065, effect: 0.03, ..BUILDS };

    let Shares { called, held } = simulate(&[planted], 6, None);

    assert!(called >= 0.8, "{called}");
    assert!(held >= 0.9, "{held}");
}

#[test]
fn the_sample_is_described_with_its_units() {
    let catalogue = Catalogue::load().unwrap();
    let quiet = Sources { within: 0.0001, between: 0.02, ..BUILDS };

    let (found, _) = measured(quiet, 1, 4, None, &catalogue);
    let units = found.units.unwrap();

    assert_eq!(found.describe_sample(), "8 builds of each");
    let why = "builds of one source differ by ±";
    assert!(found.describe_units().unwrap().starts_with(why));
    assert!((1.0..4.0).contains(&units.deviation_percent.value), "{units:?}");
    assert!(units.are_exhausted(), "{units:?}");
}

/// 579 pairs of two links of one source called a difference in three of seven cases: more of them
/// could not know better.
#[test]
fn more_executions_of_the_same_builds_end_the_run() {
    let catalogue = Catalogue::load().unwrap();
    let question =
        Question { precision: 0.0001, threshold: None, tail_threshold: None, budget: 1e9 };
    let layouts = Sources { within: 0.005, between: 0.02, drift: 0.0, ..BUILDS };

    let (_, blocks) = measured(layouts, 1, 200, Some(question), &catalogue);

    assert!(blocks < 20, "{blocks}");
}

/// ClickHouse#108721 again: how many of a hundred comparisons name the speeds that units of both
/// sides have, and how many those of units that have one.
#[test]
fn two_speeds_of_units_are_named() {
    let catalogue = Catalogue::load().unwrap();
    let named = |sources: Sources, is_served: bool| -> f64 {
        let runs = testing::simulated(100);
        let blocks = if is_served { sources.units } else { 4 };
        let speeds = (0..runs).map(|seed| measured(sources, seed, blocks, None, &catalogue).0);
        speeds.filter(|found| found.two_speeds.is_some()).count() as f64 / runs as f64
    };
    let two = Sources { between: 0.088, has_two_speeds: true, ..BUILDS };
    // Processes are measured one after the other, so that drift blurs their speeds.
    let processes = Sources { unit: SamplingUnit::Process, units: 12, drift: 0.005, ..two };
    let one = |sources| Sources { has_two_speeds: false, ..sources };

    // Of eight builds of a side, none or one is often of the other speed.
    let (of_builds, of_processes) = (named(two, false), named(processes, true));
    assert!(allowed(0.6..1.0).contains(&of_builds), "8 builds: {of_builds}");
    assert!(allowed(0.8..1.0).contains(&of_processes), "12 processes: {of_processes}");
    for (sources, is_served) in [(two, false), (processes, true)] {
        let share = named(one(sources), is_served);
        assert!(allowed(0.0..0.05).contains(&share), "{share}");
        // One of two sources may be slower by far, and neither has two speeds.
        let slower = Sources { effect: 0.5, ..one(sources) };
        let share = named(slower, is_served);
        assert!(allowed(0.0..0.05).contains(&share), "slower: {share}");
    }
}
