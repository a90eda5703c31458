//! Commands whose executions are made up: their figure, and what is noted of them.

use analysis::{Figure, Measure, Results};
use catalogue::{Catalogue, Metric};
use journal::{Cell, Copy, Execution, Fact, Journal, Key, Quantity, Role, Run, Slice, Trial, View};

const MS: u64 = 1_000_000;

/// A command that is executed in turn with another: `old` or `new`.
fn cell(id: usize, condition: &str) -> Cell {
    Cell {
        id,
        key: Key { condition: condition.to_owned(), ..Key::plain("ab", 1) },
        label: "ab".to_owned(),
        metric: Metric::Time,
        unit: "ms".to_owned(),
        value: Some("wall".to_owned()),
        scale: 1.0,
        role: Role::Alternating,
        ..Cell::default()
    }
}

/// A trial of executions of these milliseconds with their exit statuses, one in each round.
fn trial(cell: usize, block: u32, executions: &[(f64, u64)]) -> Trial {
    let mut copy =
        Copy { slices: vec![Slice { start: 0, end: 1000 * MS, count: 1 }], ..Copy::default() };
    let mut start = 0;
    let mut sum = 0.0;
    for (round, (ms, status)) in (0..).zip(executions) {
        let end = start + (ms * MS as f64) as u64;
        copy.executions.push(Execution {
            round,
            start,
            end,
            status: *status,
            ..Execution::default()
        });
        start = end;
        sum += ms;
    }
    // What the program reports of a window is no figure of a command.
    copy.values.insert("wall".to_owned(), (sum / executions.len() as f64, "ms".to_owned()));
    let at = 10.0 * f64::from(block);
    Trial { cell, block, at, copies: vec![copy], ..Trial::default() }
}

fn results(trials: Vec<Trial>, facts: Vec<Fact>) -> Results {
    let run = Run { view: View::Ab, against: "old".to_owned(), cpus: 2, ..Run::default() };
    let cells = vec![cell(0, "old"), cell(1, "new")];
    let facts = facts.into_iter().collect();
    let journal = Journal { run, cells, trials, facts, ..Journal::default() };
    Results::new(&journal, &Catalogue::load().unwrap(), None)
}

/// The figure of a command with these executions in its trials.
fn figure(trials: &[Vec<f64>]) -> Figure {
    let executions = |trial: &Vec<f64>| trial.iter().map(|ms| (*ms, 0)).collect::<Vec<_>>();
    let trials = (0..).zip(trials).map(|(block, ms)| trial(0, block, &executions(ms)));
    results(trials.collect(), Vec::new()).figures.remove(0)
}

/// The median of the trials' means is 30 ms here, and half of the executions took 10 ms.
#[test]
fn a_command_s_figure_is_the_median_of_all_its_executions() {
    let mut trials = vec![vec![30.0]; 7];
    trials.push(vec![10.0; 9]);

    let found = figure(&trials);

    assert_eq!(found.score.value, 10.0);
    assert_eq!(found.value(Measure::Score), Some(10.0));
    assert_eq!(found.executed.unwrap().all.len(), 16);
}

/// "14 ms, 95 % 3.9 to 19,732.5" of executions that took 9 to 157 ms.
#[test]
fn the_interval_of_a_command_stays_within_its_executions() {
    for stall in [20.0, 157.0, 20_000.0] {
        for count in 1..40 {
            // A level that wanders, so that drift is seen, in trials of five.
            let executions: Vec<f64> = (0..count)
                .map(|i| if i % 7 == 6 { stall } else { 10.0 + f64::from(i / 10) })
                .collect();
            let trials: Vec<Vec<f64>> = executions.chunks(5).map(<[f64]>::to_vec).collect();

            let score = figure(&trials).score;

            let most = executions.iter().copied().fold(0.0, f64::max);
            assert_eq!(score.bounded(), count >= 6, "{count}");
            let is_within = 10.0 <= score.low && score.low <= score.value && score.high <= most;
            assert!(!score.bounded() || is_within, "{count}, {stall}: {score:?}");
        }
    }
}

#[test]
fn what_is_noted_of_executions() {
    let fine = [(10.0, 0), (11.0, 0), (10.5, 0), (9.0, 0), (10.2, 0), (10.1, 0)];
    let replaced = |place: usize, execution: (f64, u64)| {
        let mut executions = fine;
        executions[place] = execution;
        executions.to_vec()
    };
    for (executions, expected) in [
        (fine.to_vec(), ""),
        (replaced(3, (9.0, 7)), "1 of 6 executions failed (exit status 7)"),
        (vec![(1.0, 127); 6], "all 6 executions failed (exit status 127)"),
        (
            [replaced(3, (9.0, 1)), replaced(0, (9.0, 137)), replaced(0, (9.0, 1))].concat(),
            "3 of 18 executions failed (exit status 1: 2; 137: 1)",
        ),
        // sharkdp/hyperfine#729.
        (
            replaced(0, (512.0, 0)),
            "the first execution took 512 ms, the others 10.2 ms at the median: if it fills a cache, --warmup 1 leaves \
             it out",
        ),
        (
            replaced(0, (1.0, 0)),
            "the first execution took 1.00 ms, the others 10.2 ms at the median: if it fills a cache, --warmup 1 \
             leaves it out",
        ),
        // A stall in the middle, and a first one that is no outlier.
        (replaced(2, (512.0, 0)), ""),
        (replaced(0, (11.5, 0)), ""),
        (
            vec![(512.0, 0), (10.0, 0), (11.0, 0)],
            "no interval: the median of 3 executions has none, that of six has",
        ),
    ] {
        let trials = vec![trial(1, 0, &executions)];

        let found = results(trials, Vec::new()).figures.remove(0);

        let notes: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(notes.join("; "), expected);
    }
}

/// Two of five pairs are slower by half, three faster by 5 %: the medians show 5 % less, the pairs
/// 19 % more.
#[test]
fn medians_that_differ_the_other_way_are_named() {
    let pairs = [(10.0, 15.0), (20.0, 19.0), (20.0, 19.0), (10.0, 15.0), (20.0, 19.0)];
    let side = |of: fn(&(f64, f64)) -> f64| -> Vec<(f64, u64)> {
        (0..40).map(|i| (of(&pairs[i % 5]), 0)).collect()
    };
    let trials = vec![trial(0, 0, &side(|pair| pair.0)), trial(1, 0, &side(|pair| pair.1))];

    let results = results(trials, Vec::new());

    let comparison = &results.cost().unwrap().conditions[0].effects[0].comparison;
    assert_eq!((comparison.a, comparison.b), (20.0, 19.0));
    assert!(comparison.change().value > 15.0, "{}", comparison.change().value);
    let notes: Vec<String> = comparison.warnings.iter().map(ToString::to_string).collect();
    let expected = "the medians of both sides differ the other way: the delta is that of pairs, which share the \
                    machine's noise";
    assert_eq!(notes, [expected]);
}

/// "1.3e8 % more" had two pairs behind it.
#[test]
fn two_pairs_have_no_interval() {
    let trials = vec![trial(0, 0, &[(10.0, 0), (10.0, 0)]), trial(1, 0, &[(10.0, 0), (30.0, 0)])];

    let results = results(trials, Vec::new());

    let comparison = &results.cost().unwrap().conditions[0].effects[0].comparison;
    assert_eq!(comparison.n.b, 2);
    assert!(!comparison.delta.bounded(), "{:?}", comparison.delta);
}

#[test]
fn processors_that_the_run_could_not_use_are_noted() {
    let fact = |name: &str, cpus: f64| {
        Fact::new([name, "", "Limits"], "".to_owned(), Some(Quantity::new(cpus, "CPUs")))
    };
    let usable = |cpus| fact("limits.cpus", cpus);
    let quota = |cpus| fact("limits.cgroup.cpu", cpus);
    for (facts, expected) in [
        (vec![], ""),
        (vec![usable(2.0)], ""),
        (vec![usable(2.0), quota(4.0)], ""),
        (
            vec![usable(1.0)],
            "only 1 of 2 CPUs could be used: the affinity or a cpuset left out the others",
        ),
        (
            vec![usable(2.0), quota(0.3)],
            "a control group allowed 0.30 CPUs of 2: what used more was stopped for the rest of a period",
        ),
        (
            vec![usable(1.0), quota(1.0)],
            "only 1 of 2 CPUs could be used: the affinity or a cpuset left out the others",
        ),
    ] {
        let results = results(vec![trial(0, 0, &[(10.0, 0)])], facts);

        let mut notes: Vec<String> = results.warnings.iter().map(ToString::to_string).collect();
        notes.retain(|note| note.contains("CPUs"));
        assert_eq!(notes.join("; "), expected);
    }
}
