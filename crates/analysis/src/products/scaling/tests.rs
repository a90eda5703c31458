use std::collections::BTreeMap;

use super::*;
use crate::findings::Results;
use catalogue::Catalogue;
use journal::{Copy, End, Ended, Journal, Key, View};

/// A test to plant: name, category, metric and unit.
type Test = (&'static str, &'static str, Metric, &'static str);

/// A level of it: copies, their rates, and the clock where it is told.
type Planted = (u32, Vec<u64>, Option<f64>);

/// A journal of tests at several levels.
fn journal(tests: &[(Test, Vec<Planted>)], borders: &[(u32, &str)]) -> Journal {
    let mut journal = Journal::default();
    journal.run.view = View::Scaling;
    journal.run.borders =
        borders.iter().map(|(copies, what)| (*copies, (*what).to_owned())).collect();
    for ((test, category, metric, unit), levels) in tests {
        for (copies, rates, clock) in levels {
            let id = journal.cells.len();
            journal.cells.push(cell(id, (test, category, *metric, unit), *copies));
            for block in 0..3 {
                let copy = |rate: &u64| Copy {
                    slices: vec![[0, 1_000_000_000, *rate + block].into()],
                    values: clock
                        .iter()
                        .map(|ghz| (CLOCK.to_owned(), (*ghz, "GHz".to_owned())))
                        .collect::<BTreeMap<_, _>>(),
                    ..Copy::default()
                };
                let copies = rates.iter().map(copy).collect();
                journal.trials.push(Trial {
                    cell: id,
                    block: block as u32,
                    copies,
                    ..Trial::default()
                });
            }
        }
    }
    journal.end = Some(End { reason: Ended::Complete, seconds: 1.0 });
    journal
}

fn cell(
    id: usize,
    (test, category, metric, unit): (&str, &str, Metric, &str),
    copies: u32,
) -> Cell {
    Cell {
        id,
        key: Key::plain(test, copies),
        label: test.to_owned(),
        metric,
        unit: unit.to_owned(),
        timebase: 1.0,
        scale: if metric == Metric::Time { 1e9 } else { 1.0 },
        clock: (category == "cpu").then(|| "core-clock".to_owned()),
        category: category.to_owned(),
        ..Cell::default()
    }
}

fn scaled(journal: &Journal) -> Vec<Scaling> {
    Results::new(journal, &Catalogue::load().unwrap(), None).scaling().to_vec()
}

const RATE: Test = ("work", "cpu", Metric::Rate, "op/s");

fn told(scaling: &Scaling, words: &str) -> bool {
    scaling.notes.iter().any(|note| note.contains(words))
}

#[test]
fn totals_gains_and_efficiency() {
    let levels =
        vec![(1, vec![100_000], None), (2, vec![90_000; 2], None), (4, vec![40_000; 4], None)];
    let scaling = &scaled(&journal(&[(RATE, levels)], &[]))[0];
    let totals: Vec<f64> = scaling.levels.iter().map(|level| level.total.value.round()).collect();
    assert_eq!(totals, [100_001.0, 180_002.0, 160_004.0]);
    let last = &scaling.levels[2];
    assert!((last.per_copy.value - 40_001.0).abs() < 0.1 && (last.gain.value - 1.6).abs() < 1e-4);
    assert!(
        (last.step.unwrap().value - 0.8889).abs() < 1e-4
            && (last.efficiency.value - 0.4).abs() < 1e-4
    );
    assert!(last.gain.bounded() && last.fairness == Some(1.0));
    assert_eq!((scaling.fitted, scaling.clock), (3, Clock::Unknown));
    assert!(
        told(scaling, "three levels determine") && told(scaling, "measure core-clock"),
        "{:?}",
        scaling.notes
    );
}

/// 10 ns with one copy, 20 ns with two: together they do as much as one.
#[test]
fn times_are_throughputs() {
    let levels = vec![(1, vec![100_000_000], None), (2, vec![50_000_000; 2], None)];
    let scaling = &scaled(&journal(&[(("t", "kernel", Metric::Time, "ns"), levels)], &[]))[0];
    assert_eq!(scaling.total_unit, "M/s");
    let [one, two] = &scaling.levels[..] else { panic!() };
    assert!((one.total.value - 100.0).abs() < 1e-3 && (two.per_copy.value - 20.0).abs() < 1e-3);
    assert!(
        (two.total.value - 100.0).abs() < 1e-3
            && two.total.low < two.total.value
            && two.total.value < two.total.high
    );
    let law = scaling.law.unwrap();
    assert!((law.law.sigma - 1.0).abs() < 1e-5 && law.kappa.is_none());
    assert!(told(scaling, "Amdahl"));
}

/// Half the clock with four copies is not contention.
#[test]
fn the_clock_is_no_contention() {
    let own = vec![
        (1, vec![100_000], Some(4.0)),
        (2, vec![100_000; 2], Some(4.0)),
        (4, vec![50_000; 4], Some(2.0)),
    ];
    let scaling = &scaled(&journal(&[(RATE, own)], &[]))[0];
    assert_eq!(scaling.clock, Clock::Own);
    let last = &scaling.levels[2];
    assert!(
        (last.gain.value - 2.0).abs() < 1e-4
            && (last.fitted_total().value / scaling.levels[0].fitted_total().value - 4.0).abs()
                < 1e-4
    );
    assert!(scaling.law.unwrap().law.sigma.abs() < 1e-4);
    assert!(
        told(scaling, "2.00 to 4.00 GHz: at one clock the gain with 4 copies is 4.00x"),
        "{:?}",
        scaling.notes
    );
}

#[test]
fn the_clock_of_another_test() {
    let clock = ("core-clock", "cpu", Metric::Rate, "GHz");
    let clocks = vec![(1, vec![4_000_000], None), (2, vec![3_000_000; 2], None)];
    let levels = || vec![(1, vec![100_000], None), (2, vec![75_000; 2], None)];
    let kernel = ("call", "kernel", Metric::Rate, "op/s");
    let all = scaled(&journal(&[(clock, clocks), (RATE, levels()), (kernel, levels())], &[]));
    let of = |test: &str| all.iter().find(|scaling| scaling.key.test == test).unwrap();
    assert_eq!((of("work").clock, of("call").clock), (Clock::CoreClock, Clock::Unknown));
    assert!(
        of("work").law.unwrap().law.sigma.abs() < 1e-4 && of("call").law.unwrap().law.sigma > 0.3
    );
}

#[test]
fn the_law_ends_at_the_first_border() {
    let level = |copies: u32, rate: u64| (copies, vec![rate; copies as usize], None);
    let levels = vec![
        level(1, 100_000),
        level(2, 100_000),
        level(3, 100_000),
        level(4, 60_000),
        level(6, 40_000),
    ];
    let borders = [
        (0, "2 NUMA nodes"),
        (3, "SMT siblings"),
        (5, "more copies than processors"),
        (6, "nothing"),
    ];
    let scaling = &scaled(&journal(&[(RATE, levels)], &borders))[0];
    assert_eq!((scaling.fitted, scaling.levels.len()), (3, 5));
    assert!(scaling.law.unwrap().law.sigma.abs() < 1e-4);
    assert!(told(scaling, "spans 2 NUMA nodes"));
    let said = "up to 3 copies; beyond that are SMT siblings (from 4 copies), more copies than processors (from 6 copies)";
    assert!(told(scaling, said), "{:?}", scaling.notes);
    // Beyond the border from the start.
    let levels = vec![level(4, 60_000), level(8, 50_000)];
    let scaling = &scaled(&journal(&[(RATE, levels)], &[(3, "SMT siblings")]))[0];
    assert!(scaling.fitted == 2 && told(scaling, "every level spans SMT siblings"));
    // One level before it.
    let levels = vec![level(1, 60_000), level(2, 50_000)];
    let scaling = &scaled(&journal(&[(RATE, levels)], &[(1, "SMT siblings")]))[0];
    assert!(scaling.law.is_none() && told(scaling, "no law: it needs two levels"));
}

#[test]
fn unfair_shares_are_told() {
    let levels = vec![(1, vec![100_000], None), (2, vec![150_000, 50_000], None)];
    let scaling = &scaled(&journal(&[(RATE, levels)], &[]))[0];
    assert!(told(scaling, "with 2 copies the slowest copy did 33 %"), "{:?}", scaling.notes);
}

#[test]
fn a_law_that_does_not_hold_says_so() {
    let level = |copies: u32, rate: u64| (copies, vec![rate; copies as usize], None);
    let levels = vec![
        level(1, 100_000),
        level(2, 50_000),
        level(4, 100_000),
        level(8, 30_000),
        level(16, 90_000),
    ];
    let scaling = &scaled(&journal(&[(RATE, levels)], &[]))[0];
    assert!(
        told(scaling, "the law does not describe these totals") && told(scaling, "5 levels"),
        "{:?}",
        scaling.notes
    );
}
