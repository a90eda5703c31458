//! Cards of two machines that differ in what was planted, and in nothing else.

use crate::cost::made::{Machine, cell};
use analysis::{Asked, Comparisons, Found, Results, Work};
use catalogue::Catalogue;
use journal::{Copy, End, Ended, Journal, Key, Procedure, Run, Trial, View};
use testing::simulated;

/// Blocks of a card.
const BLOCKS: u32 = 8;

/// The noise of a trial, a share.
const NOISE: f64 = 0.03;

/// A card of `cpus` processors, the logarithm of whose speeds `effect` changes.
fn card(seed: u64, cpus: u32, effect: impl Fn(&Key) -> f64) -> Journal {
    let catalogue = Catalogue::load().unwrap();
    let run = Run {
        name: format!("card-{seed}"),
        procedure: Procedure::Standard,
        view: View::Card,
        cpus: 2,
        ..Run::default()
    };
    let end = Some(End { reason: Ended::Complete, seconds: 140.0 });
    let mut journal = Journal { run, end, ..Journal::default() };

    let of_index = catalogue.tests.iter().filter(|test| test.baseline.contains_key("system"));
    let scores: Vec<String> = of_index.map(|test| test.id.clone()).collect();
    for copies in 1..=cpus {
        for test in scores.iter().map(String::as_str).chain(["copy-ram", "latency-ram"]) {
            let mut cell = cell(journal.cells.len(), test, "none", false);
            cell.key.copies = copies;
            journal.cells.push(cell);
        }
    }
    for test in ["disk-mix-4k", "disk-mix-64k", "disk-mix-1m"] {
        journal.cells.push(cell(journal.cells.len(), test, "none", false));
    }

    let mut machine = Machine::new(seed, NOISE);
    for block in 0..BLOCKS {
        for cell in &journal.cells {
            let log = machine.speed() + effect(&cell.key);
            let slice = [0, 1_000_000_000, (1e6 * log.exp()).round() as u64].into();
            let copy = Copy { slices: vec![slice], ..Copy::default() };
            let copies = vec![copy; cell.key.copies as usize];
            let at = f64::from(machine.trials);
            journal.trials.push(Trial { cell: cell.id, block, at, copies, ..Trial::default() });
        }
    }
    journal
}

/// What is found of a machine beside one of two processors.
fn found(seed: u64, cpus: u32, effect: impl Fn(&Key) -> f64) -> Vec<(Work, Found)> {
    let catalogue = Catalogue::load().unwrap();
    let cards = [card(2 * seed, 2, |_| 0.0), card(2 * seed + 1, cpus, effect)];
    let results = cards.map(|card| Results::new(&card, &catalogue, None)).into();
    let asked = Asked { threshold: 1.0, ..Asked::default() };
    let comparisons = Comparisons::new(results, &asked);
    let [machines] = &comparisons.machines[..] else { panic!("no machines are compared") };
    machines.at_work.iter().map(|one| (one.work, one.found())).collect()
}

/// What is called faster or slower.
fn called(seed: u64, cpus: u32, effect: impl Fn(&Key) -> f64) -> Vec<(Work, Found)> {
    let mut found = found(seed, cpus, effect);
    found.retain(|(_, found)| matches!(found, Found::Faster | Found::Slower));
    found
}

/// Two cards of one machine are called different in any kind of work in at most one of twenty.
#[test]
fn equal_machines_are_seldom_called_different() {
    let runs = simulated(100);

    let found: Vec<Vec<(Work, Found)>> = (0..runs).map(|seed| called(seed, 2, |_| 0.0)).collect();
    let wrong = found.iter().filter(|called| !called.is_empty()).count();

    assert!(wrong as f64 <= 0.05 * runs as f64 + 1.0, "{wrong} of {runs}");
}

/// "About as fast" can be said: of the index, two equal machines have it in most cards.
#[test]
fn equal_machines_are_often_about_as_fast() {
    let runs = simulated(20);

    let cards: Vec<Vec<(Work, Found)>> = (0..runs).map(|seed| found(seed, 2, |_| 0.0)).collect();
    let same = cards.iter().filter(|card| card.contains(&(Work::OneCopy, Found::Same))).count();

    assert!(same as f64 >= 0.6 * runs as f64, "{same} of {runs}");
}

/// Issue 53: the sentence names what was planted, and nothing else.
#[test]
fn what_was_planted_is_called_and_nothing_else() {
    let is_disk = |key: &Key| key.test.starts_with("disk");
    let quota = |key: &Key| if key.copies > 1 { 0.5f64.ln() } else { 0.0 };
    let disk = |key: &Key| if is_disk(key) { 0.1f64.ln() } else { 0.0 };
    let slower = |work| vec![(work, Found::Slower)];
    let runs = simulated(20);
    let [mut right, mut all] = [0, 0];
    for seed in 0..runs {
        let planted =
            [(called(seed, 2, quota), Work::AllProcessors), (called(seed, 2, disk), Work::Disk)];
        for (found, work) in planted {
            assert!(found.contains(&(work, Found::Slower)), "seed {seed}: {found:?}");
            right += usize::from(found == slower(work));
            all += 1;
        }
    }
    assert!(right as f64 >= 0.95 * all as f64 - 1.0, "{right} of {all}");
}
