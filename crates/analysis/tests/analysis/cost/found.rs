//! What is found in a small run that is written here.

use std::collections::{BTreeMap, BTreeSet};

use analysis::cost::{is_precise, suspects};
use analysis::{Effect, Measure, Results, Sides, Verdict};
use catalogue::{Catalogue, Metric};
use journal::{
    Cell, Copy, End, Ended, Energy, Evidence, Recorder, Schedule, Slice, Trail, Trial, Usage,
};
use stats::Method;

use super::made::{Machine, Made, Order, effects};

const ALL: &str = "audit=all";
const ON: &str = "audit=on";

/// What the conditions do to tests: system calls lose most of their rate, exec a little, arithmetic
/// nothing.
fn effect(cell: &Cell) -> f64 {
    match (cell.key.test.as_str(), cell.key.condition.as_str()) {
        ("syscall", ALL) => (0.148_f64).ln(),
        ("execl", ALL) => (0.85_f64).ln(),
        _ => 0.0,
    }
}

/// A run of four tests on a quiet machine; the first two are system calls, the last two arithmetic.
fn run(blocks: u32) -> Made {
    let mut made = Made::new(4, &["audit=off", ON, ALL]);
    let tests = [
        ("syscall", "System Call Overhead", "system"),
        ("execl", "Execl Throughput", "system"),
        ("dhry2reg", "Dhrystone 2", "cpu"),
        ("whetstone-double", "Whetstone", "cpu"),
    ];
    for cell in &mut made.journal.cells {
        let place: usize = cell.key.test[1..].parse().unwrap();
        let (test, label, category) = tests[place];
        (cell.key.test, cell.label, cell.category) =
            (test.to_owned(), label.to_owned(), category.to_owned());
    }
    let mut machine = Machine::new(7, 0.002);
    machine.drift = 0.0;
    made.measure(&mut machine, 0..blocks, Order::Whole, effect);
    made
}

/// Gives every trial of audit=all a trail: three events per count in the window, of 417 bytes each.
fn audited(mut made: Made) -> Made {
    for trial in &mut made.journal.trials {
        if made.journal.cells[trial.cell].key.condition != ALL {
            continue;
        }
        let count = trial.copies[0].slices[0].count;
        let (window, all) = (3 * count, 3 * count + 5);
        let trail = Trail {
            seconds: 1.0,
            events: window,
            records: 3 * window,
            bytes: 417 * window,
            all_events: all,
            all_bytes: 417 * all,
            waited_s: 0.25,
            backlog: trial.block,
            queued: 3 * window / 10,
            kernel_cpu_s: 0.2,
            sink_cpu_s: 0.3,
            ..Trail::default()
        };
        let figures = BTreeMap::from([(
            "rules".to_owned(),
            (f64::from(3 + trial.block % 2), "rules".to_owned()),
        )]);
        let notes = vec!["enabled=1 in the kernel's status".to_owned()];
        trial.evidence = Some(Box::new(Evidence { figures, notes, trail: Some(trail) }));
        trial.copies[0].values.insert("calls".to_owned(), (5.0, "calls".to_owned()));
        let usage = Usage {
            user: 0.5,
            system: 0.25,
            child_user: 0.125,
            child_system: 0.125,
            ..Usage::default()
        };
        trial.copies[0].usage = Some(usage);
    }
    made
}

/// Adds a one-second energy reading to every trial, at the power that `watts` gives its cell.
fn metered(mut made: Made, watts: impl Fn(&Cell) -> f64) -> Made {
    for trial in &mut made.journal.trials {
        trial.energy = Some(Energy::new(watts(&made.journal.cells[trial.cell]), 1.0));
    }
    made
}

fn catalogue() -> Catalogue {
    Catalogue::load().unwrap()
}

#[test]
fn what_costs_is_told_with_its_size() {
    let results = Results::new(&run(12).journal, &catalogue(), None);
    assert!(results.indexes().is_empty() && results.gains().is_empty());
    assert_eq!((results.figures.len(), results.controls().len()), (12, 4));
    let cost = results.cost().unwrap();
    assert_eq!((cost.against.as_str(), cost.threshold), ("audit=off", 1.0));
    let names: Vec<&str> =
        cost.conditions.iter().map(|condition| condition.name.as_str()).collect();
    assert_eq!(names, [ON, ALL]);
    let all = &cost.conditions[1];
    let syscall =
        all.effects.iter().find(|effect| effect.comparison.cell.key.test == "syscall").unwrap();
    let one = &syscall.comparison;
    let twelve = Sides { a: 12, b: 12 };
    assert_eq!(
        (one.verdict, one.method, one.n, one.pairs.len()),
        (Verdict::Slower, Method::SignedRank, twelve, 12)
    );
    assert!(one.delta.low < -85.2 + 0.3 && one.delta.high > -85.2 - 0.3, "{:?}", one.delta);
    assert!((one.time_factor().unwrap() - 6.76).abs() < 0.1);
    assert!((one.b / one.a - 0.148).abs() < 0.002 && (one.pairs[3].delta + 85.2).abs() < 1.0);
    assert!(syscall.floor.is_none() && cost.widening == 1.0, "{syscall:?}");
    let verdicts = |place: usize| -> Vec<&str> {
        cost.conditions[place]
            .effects
            .iter()
            .map(|effect| effect.comparison.verdict.word())
            .collect()
    };
    assert_eq!(verdicts(0), ["same"; 4]);
    assert_eq!(BTreeSet::from_iter(verdicts(1)), BTreeSet::from(["slower", "same"]));
    assert!(cost.control.iter().all(|effect| effect.comparison.verdict.word() == "same"));
    let index = &all.totals.iter().find(|total| total.id == "system").unwrap().mean;
    let expected = 100.0 * ((0.148_f64.ln() + 0.85_f64.ln()) / 4.0).exp_m1();
    assert!(
        (index.delta.value - expected).abs() < 0.5 && index.delta.low < index.delta.high,
        "{index:?}"
    );
    assert_eq!((index.rates, index.worst.key.test.as_str()), (4, "syscall"));
    assert!(all.totals.iter().any(|total| total.id == "all"));
    assert_eq!(cost.losses(5.0).len(), 2);
    assert_eq!(cost.losses(50.0).len(), 1);
}

#[test]
fn the_sentence_says_what_is_lost_first() {
    let cost = audited(run(12)).cost(&catalogue());
    let sentence = &cost.conditions[1].sentence;
    let within = |text: &str| {
        let (before, after) = text.split_once("the same within ").unwrap();
        let (size, after) = after.split_once(" %").unwrap();
        assert!((0.1..=1.0).contains(&size.parse::<f64>().unwrap()), "{text}");
        format!("{before}the same within x %{after}")
    };
    assert_eq!(
        within(sentence),
        "Auditing every system call cuts the rate of System Call Overhead by 85 % (6.8x the time) and Execl Throughput by 15 %; \
         the same within x %: cpu (all 2 tests); 250 bytes of trail per call of System Call Overhead; none lost."
    );
    let on = within(&cost.conditions[0].sentence);
    assert_eq!(on, "Auditing without a rule shows no cost; the same within x %: all its 4 tests.");
}

#[test]
fn energy_is_judged_for_itself() {
    let plain = run(12).cost(&catalogue());
    let cost = metered(run(12), |cell| if cell.key.condition == ALL { 50.0 } else { 40.0 })
        .cost(&catalogue());
    for (condition, plain) in cost.conditions.iter().zip(&plain.conditions) {
        let of = |is_energy| {
            condition.effects.iter().filter(move |one| one.comparison.is_energy() == is_energy)
        };
        let told = |effect: &Effect| {
            (effect.comparison.verdict, effect.comparison.delta, effect.comparison.q)
        };
        assert!(
            of(false).map(told).eq(plain.effects.iter().map(told)),
            "a meter changes nothing of what is called of speed"
        );
        for effect in of(true) {
            let one = &effect.comparison;
            let is_all = one.cell.key.condition == ALL;
            let change =
                100.0 * (if is_all { 1.25 / self::effect(&one.cell).exp() } else { 1.0 } - 1.0);
            let found = one.change();
            assert!(found.low - 1.0 < change && change < found.high + 1.0, "{change}: {found:?}");
            assert_eq!(one.verdict.word(), if is_all { "worse" } else { "same" }, "{one:?}");
        }
        assert_eq!((of(false).count(), of(true).count()), (4, 4));
    }
    let [on, all] = [0, 1].map(|place| &cost.conditions[place].sentence);
    assert!(!on.contains("energy"), "{on}");
    assert!(all.contains("; energy per operation: System Call Overhead 8.4x"), "{all}");
    assert!(all.contains(", Execl Throughput 1.47x"), "{all}");
    assert_eq!((cost.losses(5.0).len(), plain.losses(5.0).len()), (6, 2));
}

#[test]
fn energies_whose_control_differs_are_less_certain() {
    let cost = metered(run(12), |cell| if cell.control { 60.0 } else { 40.0 }).cost(&catalogue());
    assert_eq!(cost.widening, 1.0, "that of speeds");
    let notes = cost.notes.join("; ");
    let told = "; the energies of the control differ by more than their intervals allow, so the intervals of energies were made ";
    assert!(notes.contains(told), "{notes}");
    assert!(notes.contains("shows no difference (4 comparisons)"), "{notes}");
    let equal = metered(run(12), |_| 40.0).cost(&catalogue());
    for (wide, narrow) in
        effects(&cost).iter().zip(effects(&equal)).filter(|(one, _)| one.comparison.is_energy())
    {
        let [wide, narrow] =
            [&wide.comparison.delta, &narrow.comparison.delta].map(|delta| delta.high - delta.low);
        assert!(wide > 2.0 * narrow, "{wide} {narrow}");
    }
}

#[test]
fn trails_are_counted_per_count_and_in_all() {
    let made = audited(run(12));
    let counted: u64 = made
        .journal
        .trials
        .iter()
        .filter(|trial| {
            made.journal.cells[trial.cell].key.test == "syscall" && trial.evidence.is_some()
        })
        .map(|trial| trial.copies[0].slices[0].count)
        .sum();
    let cost = made.cost(&catalogue());
    let effect = &cost.conditions[1].effects[place(&cost.conditions[1].effects, "syscall")];
    let trail = effect.trail.unwrap();
    let near = |is: f64, should: f64| (is / should - 1.0).abs() < 1e-9;
    assert!(
        near(trail.events_per, 3.0)
            && near(trail.bytes_per, 1251.0)
            && near(trail.bytes_per_event, 417.0)
    );
    assert!(near(trail.bytes_per_second, 1251.0 * counted as f64 / 12.0));
    assert_eq!((trail.events, trail.bytes), (3 * counted + 60, 417 * (3 * counted + 60)));
    assert_eq!((trail.lost, trail.backlog), (0, 11));
    assert!(
        near(trail.waited, 0.25)
            && near(trail.outside_cpu, 0.5)
            && (trail.queued - 0.1).abs() < 1e-5
    );
    assert_eq!(effect.calls, Some(5.0));
    // Programs without auditing told no processor time here.
    assert_eq!(effect.cpu_ns, None);
    assert!(cost.conditions[0].effects.iter().all(|effect| effect.trail.is_none()));
    let expected = ["rules: 3 to 4", "enabled=1 in the kernel's status"];
    assert_eq!(cost.conditions[1].evidence, expected);
    assert!(cost.conditions[0].evidence.is_empty());
}

fn place(effects: &[analysis::Effect], test: &str) -> usize {
    effects.iter().position(|effect| effect.comparison.cell.key.test == test).unwrap()
}

#[test]
fn processor_time_is_of_programs_and_their_children() {
    let mut made = run(6);
    for trial in &mut made.journal.trials {
        let all = made.journal.cells[trial.cell].key.condition == ALL;
        let (user, system) = if all { (0.25, 0.5) } else { (0.25, 0.0) };
        trial.copies[0].slices = [[0, 100_000_000, 250_000], [100_000_000, 1_000_000_000, 750_000]]
            .map(Slice::from)
            .to_vec();
        trial.copies[0].usage = Some(Usage { user, system, child_user: 0.25, ..Usage::default() });
    }
    let cost = made.cost(&catalogue());
    assert_eq!(cost.conditions[0].effects[0].cpu_ns, Some(Sides { a: 500.0, b: 500.0 }));
    assert_eq!(cost.conditions[1].effects[0].cpu_ns, Some(Sides { a: 500.0, b: 1000.0 }));
}

#[test]
fn times_and_copies_are_told_apart() {
    let mut made = Made::new(2, &["audit=off", ALL]);
    for cell in &mut made.journal.cells {
        (cell.key.test, cell.label) = ("call-getpid".to_owned(), "getpid".to_owned());
        (cell.metric, cell.unit, cell.scale) = (Metric::Time, "ns".to_owned(), 1e9);
        cell.key.copies = if cell.id < 3 { 1 } else { 4 };
    }
    made.measure(&mut Machine::new(5, 0.002), 0..12, Order::Whole, |cell| {
        -0.5 * f64::from(cell.key.copies)
    });
    let cost = made.cost(&catalogue());
    let found = effects(&cost);
    // Fewer counts in the same time are more ns per count, and that is a loss.
    let one = &found[0].comparison;
    assert!(
        one.b > one.a && (one.delta.value - 100.0 * (-0.5_f64).exp_m1()).abs() < 1.0,
        "{one:?}"
    );
    assert!((one.time_factor().unwrap() - 1.65).abs() < 0.02);
    assert_eq!(
        cost.conditions[0].sentence,
        "Auditing every system call makes getpid (4 copies) take 7.4x as long and getpid (1 copy) take 1.65x as long."
    );
    assert!(cost.conditions[0].totals.is_empty(), "one rate in each place");
}

#[test]
fn few_blocks_are_undecided_and_say_so() {
    let cost = run(5).cost(&catalogue());
    assert_eq!(cost.conditions[1].effects[0].comparison.method, Method::Student);
    assert!(
        cost.notes.iter().any(|note| note.starts_with("fewer than six blocks")),
        "{:?}",
        cost.notes
    );
    // The least p value of six blocks is 2/2⁶: no difference among eight comparisons is called
    // alone.
    let cost = run(6).cost(&catalogue());
    let told = cost.caveats.iter().any(|note| {
        note.contains(
            "with fewer than 9 blocks no single difference among 8 comparisons can be significant",
        )
    });
    assert!(told, "{:?}", cost.caveats);
    let syscall =
        &cost.conditions[1].effects[place(&cost.conditions[1].effects, "syscall")].comparison;
    assert_eq!(syscall.verdict, Verdict::Undecided(f64::INFINITY));
    assert!(syscall.delta.high < -80.0);
    let cost = Made::new(2, &["audit=off", ALL]).cost(&catalogue());
    assert!(cost.conditions[0].effects.is_empty());
    assert_eq!(cost.missing.len(), 2);
    assert_eq!(
        cost.conditions[0].sentence,
        "Auditing every system call: the cost is not known: the run ended before it was measured."
    );
}

#[test]
fn what_failed_is_told() {
    let mut made = run(12);
    for trial in &mut made.journal.trials {
        let cell = &made.journal.cells[trial.cell];
        let gone = match (cell.key.test.as_str(), cell.key.condition.as_str(), trial.block) {
            ("execl", ALL, _) | ("dhry2reg", ALL, 3 | 7) => true,
            ("whetstone-double", "audit=off", _) => true,
            // The control stands in for the first arm.
            ("syscall", "audit=off", 4) => !cell.control,
            _ => false,
        };
        if gone {
            (trial.copies, trial.error) = (Vec::new(), Some("it crashed".to_owned()));
        }
    }
    let cost = made.cost(&catalogue());
    let reason = |condition: &str, test: &str| {
        let gap =
            cost.missing.iter().find(|gap| gap.key.condition == condition && gap.key.test == test);
        gap.map(|gap| gap.reason.as_str())
    };
    assert_eq!(reason(ALL, "execl"), Some("it crashed"));
    let nothing = "there is nothing to compare it with: audit=off failed: it crashed";
    assert_eq!(
        (reason(ON, "whetstone-double"), reason(ALL, "whetstone-double")),
        (Some(nothing), Some(nothing))
    );
    assert_eq!(reason(ON, "execl"), None);
    let effects = &cost.conditions[1].effects;
    assert_eq!(effects[place(effects, "dhry2reg")].comparison.n, Sides { a: 10, b: 10 });
    let warnings = &effects[place(effects, "dhry2reg")].comparison.warnings;
    assert!(
        warnings.contains(&analysis::Remark::SomeBlocks { blocks: 10, of: 12 }),
        "{warnings:?}"
    );
    assert_eq!(effects[place(effects, "syscall")].comparison.n, Sides { a: 12, b: 12 });
    assert!(cost.caveats.iter().any(|note| note.contains("trials failed")), "{:?}", cost.caveats);
}

#[test]
fn a_second_look_confirms_or_takes_back() {
    let mut made = run(12);
    let trials = made.trials();
    let numbers = suspects(&made.journal.cells, &trials, 5.0);
    let expected: BTreeSet<usize> = made
        .journal
        .cells
        .iter()
        .filter(|cell| {
            ["syscall", "execl"].contains(&cell.key.test.as_str()) && cell.key.condition != ON
        })
        .map(|cell| cell.id)
        .collect();
    assert_eq!(numbers, expected);
    assert!(suspects(&made.journal.cells, &trials, 90.0).is_empty());
    // In fresh blocks exec loses nothing.
    let mut again = made.clone();
    let mut machine = Machine::new(8, 0.002);
    again.measure(&mut machine, 12..24, Order::Whole, |cell| {
        if cell.key.test == "execl" { 0.0 } else { effect(cell) }
    });
    let fresh = again
        .journal
        .trials
        .into_iter()
        .filter(|trial| trial.block >= 12 && numbers.contains(&trial.cell));
    made.journal.trials.extend(fresh.map(|trial| Trial { second: true, ..trial }));
    let cost = made.cost(&catalogue());
    let all = &cost.conditions[1].effects;
    let confirmed =
        |test: &str| (all[place(all, test)].comparison.n.b, all[place(all, test)].confirmed);
    assert_eq!(confirmed("syscall"), (12, Some(true)));
    assert_eq!(confirmed("execl"), (12, Some(false)));
    assert_eq!(confirmed("dhry2reg"), (12, None));
    assert_eq!(cost.losses(5.0).len(), 1);
    let sentence = &cost.conditions[1].sentence;
    assert!(
        sentence.contains("a second look does not confirm the loss of Execl Throughput"),
        "{sentence}"
    );
}

#[test]
fn what_was_measured_first_is_compared_without_blocks() {
    let mut made = run(12);
    let cells = made.journal.cells.len();
    for place in 0..4 {
        let mut off = made
            .journal
            .cells
            .iter()
            .filter(|cell| cell.key.condition == "audit=off" && !cell.control);
        let like = off.nth(place).unwrap().clone();
        made.journal.cells.push(Cell {
            id: cells + place,
            key: like.key.under("audit=never-on"),
            first: true,
            ..like
        });
    }
    let before = made.journal.trials.clone();
    for trial in before {
        let cell = &made.journal.cells[trial.cell];
        if cell.key.condition == "audit=off" && !cell.control {
            let like = |other: &&Cell| {
                other.key.condition == "audit=never-on" && other.key.test == cell.key.test
            };
            let id = made.journal.cells.iter().find(like).unwrap().id;
            let mut trial = Trial { cell: id, ..trial };
            // As in other blocks, and syscall does twice as much.
            let factor = if cell.key.test == "syscall" { 2 } else { 1 };
            trial.copies[0].slices[0].count *= factor;
            made.journal.trials.push(trial);
        }
    }
    let cost = made.cost(&catalogue());
    let first =
        cost.conditions.iter().find(|condition| condition.name == "audit=never-on").unwrap();
    let syscall = &first.effects[place(&first.effects, "syscall")];
    assert_eq!(syscall.comparison.method, Method::RankSum);
    assert!(syscall.comparison.pairs.is_empty() && syscall.floor.is_some());
    assert_eq!(syscall.comparison.verdict, Verdict::Faster);
    assert!((syscall.comparison.delta.value - 100.0).abs() < 1.0);
    assert!(
        cost.notes.iter().any(|note| note.starts_with("audit=never-on has no blocks in common")),
        "{:?}",
        cost.notes
    );
    assert!(
        first
            .sentence
            .starts_with("audit=never-on shows no cost; System Call Overhead gains 100 %")
    );
    assert!(first.totals.iter().any(|total| total.id == "all" && total.mean.delta.bounded()));
}

/// Frames that are `late` µs late about, in trials of `frames`.
fn interactive(late: &[f64], frames: u64) -> Made {
    let mut made = Made::new(1, &["none", "thp=never"]);
    let mut machine = Machine::new(3, 0.05);
    for cell in &mut made.journal.cells {
        (cell.metric, cell.unit) = (Metric::Latency, "ms".to_owned());
    }
    for block in 0..12 {
        for cell in &made.journal.cells {
            let late = late[usize::from(cell.key.condition != "none")];
            let mut recorder = Recorder::new(Schedule {
                period: 10_000_000,
                deadline: 10_000_000,
                planned: frames,
                ..Schedule::default()
            });
            let speed = machine.speed();
            for number in 0..frames {
                let planned = number * 10_000_000;
                let wait = (late * 1e3 * (1.0 + 0.1 * (number % 10) as f64) * speed.exp()) as u64;
                let frame = journal::Frame {
                    planned,
                    sent: planned,
                    woke: planned + wait,
                    done: Some(planned + wait),
                };
                recorder.add(frame);
            }
            let copies =
                vec![Copy { frames: Some(Box::new(recorder.finish(None))), ..Copy::default() }];
            made.journal.trials.push(Trial { cell: cell.id, block, copies, ..Trial::default() });
        }
    }
    made
}

#[test]
fn latencies_are_compared_by_percentiles_and_deadlines() {
    let made = interactive(&[100.0, 300.0], 1200);
    let cost = made.cost(&catalogue());
    let found = effects(&cost);
    let measures: Vec<Measure> = found.iter().map(|effect| effect.comparison.measure).collect();
    assert_eq!(measures, [Measure::P50, Measure::P99, Measure::Met]);
    assert_eq!(cost.control.len(), 3);
    let p99 = &found[1].comparison;
    assert_eq!((p99.verdict, p99.unit.as_str()), (Verdict::Slower, "ms"));
    assert!((p99.time_factor().unwrap() - 3.0).abs() < 0.4, "{p99:?}");
    let met = &found[2].comparison;
    // All 12 trials of either side are in time, which does not show that none is ever late.
    assert_eq!(met.verdict.word(), "undecided");
    assert!(met.delta.low < 0.0 && met.delta.high > 0.0, "{met:?}");
    let sentence = &cost.conditions[0].sentence;
    assert!(sentence.starts_with("thp=never costs time; p"), "{sentence}");
    assert!(
        sentence.contains(" of Test of t0 is ") && sentence.contains("x) as long"),
        "{sentence}"
    );
    let few = interactive(&[100.0, 300.0], 480).cost(&catalogue());
    assert_eq!(effects(&few).len(), 2);
    assert_eq!(few.missing[0].reason, "p99 needs 1000 frames per trial; these have 480");
}

#[test]
fn widths_decide_when_it_is_enough() {
    let ask_for = |made: &Made, precision: Option<f64>| {
        let trials = made.trials();
        let all: Vec<(&Cell, &[Trial])> = made
            .journal
            .cells
            .iter()
            .zip(&trials)
            .map(|(cell, trials)| (cell, &trials[..]))
            .collect();
        is_precise(&all[..], precision)
    };
    let ask = |made: &Made| ask_for(made, None);
    let noisy = |noise: f64, loss: f64| {
        let mut made = Made::new(1, &["audit=off", ALL]);
        made.measure(&mut Machine::new(9, noise), 0..12, Order::Whole, |_| -loss);
        ask(&made)
    };
    // The half-width of 12 blocks is about 0.9 of the noise.
    assert!(noisy(0.003, 0.0) && !noisy(0.02, 0.0));
    assert!(noisy(0.02, 0.5), "a fifth of a large difference is enough");
    assert!(ask(&interactive(&[100.0, 100.0], 1200)) || ask(&interactive(&[100.0, 300.0], 1200)));
    // The user's own precision counts in place of the usual half per cent.
    let mut same = Made::new(1, &["audit=off", ALL]);
    same.measure(&mut Machine::new(9, 0.003), 0..12, Order::Whole, |_| 0.0);
    assert!(ask_for(&same, Some(0.01)) && !ask_for(&same, Some(0.0005)));
    // What has no result wants no more blocks.
    let mut failed = Made::new(1, &["audit=off", ALL]);
    failed.measure(&mut Machine::new(9, 0.02), 0..12, Order::Whole, |_| 0.0);
    for trial in failed.journal.trials.iter_mut().filter(|trial| trial.cell == 2) {
        trial.copies.clear();
    }
    assert!(ask(&failed));
}

#[test]
fn counts_that_are_too_coarse_are_not_the_same_within_nothing() {
    let mut made = Made::new(1, &["audit=off", ALL]);
    made.measure(&mut Machine::new(9, 0.0), 0..12, Order::Whole, |_| 0.0);
    for trial in &mut made.journal.trials {
        trial.copies[0].slices[0].count = 20;
    }
    let cost = made.cost(&catalogue());
    let one = &effects(&cost)[0].comparison;
    assert!((one.delta.high - 100.0 * (0.05_f64).exp_m1()).abs() < 1e-9, "{:?}", one.delta);
    assert_eq!(one.verdict.word(), "undecided");
}

#[test]
fn a_machine_that_drifts_is_told_of() {
    let told = |drift: f64| {
        let mut machine = Machine::new(11, 0.003);
        machine.drift = drift;
        let mut made = Made::new(3, &["audit=off", ALL]);
        made.measure(&mut machine, 0..12, Order::Whole, |_| 0.0);
        made.journal.end = Some(End { reason: Ended::Budget, seconds: 60.0 });
        let caveats = made.cost(&catalogue()).caveats;
        caveats.into_iter().find(|note| note.starts_with("the machine drifted"))
    };
    // 0.2 % per trial, six trials a block, and three more every fourth time.
    assert!(told(-0.002).unwrap().contains("14 % slower"), "{:?}", told(-0.002));
    assert_eq!(told(0.0), None);
}
