//! Runs in no time: the bench spawns nothing and has a clock of its own.

use std::cell::RefCell;
use std::sync::Arc;

use super::*;
use crate::Suspects;
use catalogue::{Catalogue, Condition};
use journal::Topology;
use journal::{Copy, Frames, Run};
use plan::{Arms, Effort, Kind, Matrix, Procedure, Purpose};

type Script<'a> = Box<dyn FnMut(&Cell, u32) -> Result<Trial, Refusal> + 'a>;

/// Measures by a script: what a cell's trial comes to, by how many it had before. A trial takes the
/// time that is planned.
struct Fake<'a> {
    script: Script<'a>,
    /// When which signal comes.
    signal: Option<(f64, i32)>,
    /// Pauses that the user asks for, each during one trial.
    pauses: u32,
    /// Whether what a condition changed cannot be undone.
    is_stuck: bool,
    named: Result<f64, Refusal>,
    clock: Duration,
    rests: u32,
    trials: Vec<String>,
    /// The time for which each test was sampled.
    sampled: Vec<Duration>,
}

impl<'a> Fake<'a> {
    fn new(script: impl FnMut(&Cell, u32) -> Result<Trial, Refusal> + 'a) -> Fake<'a> {
        let script = Box::new(script);
        Fake {
            script,
            signal: None,
            pauses: 0,
            is_stuck: false,
            named: Ok(1.0),
            clock: Duration::ZERO,
            rests: 0,
            trials: Vec::new(),
            sampled: Vec::new(),
        }
    }

    fn good() -> Fake<'a> {
        Fake::new(|_, _| good())
    }
}

impl Bench for Fake<'_> {
    fn measure(
        &mut self,
        cell: &Cell,
        _tell: &mut dyn FnMut(&Slow),
    ) -> Result<Result<Trial, Refusal>> {
        anyhow::ensure!(!self.is_stuck, "thp stays off");
        let name = self.command_line(cell);
        let before = self.trials.iter().filter(|trial| **trial == name).count();
        self.trials.push(name);
        self.clock += Duration::from_secs_f64(cell.seconds());
        Ok((self.script)(cell, u32::try_from(before)?))
    }

    fn sample(&mut self, _cell: &Cell, time: Duration) -> Result<Vec<Profile>, Refusal> {
        self.sampled.push(time);
        self.clock += time;
        Ok(Vec::new())
    }

    fn measure_named(&mut self, _test: &Test) -> Result<f64, Refusal> {
        self.named.clone()
    }

    fn command_line(&self, cell: &Cell) -> String {
        format!(
            "{}{} {}",
            cell.test.id,
            if cell.control { " again" } else { "" },
            cell.condition.name
        )
    }

    fn rest(&mut self) -> bool {
        self.rests += 1;
        self.clock += Duration::from_secs(3);
        self.signal().is_none()
    }

    fn sleep_until(&mut self, due: Duration) -> bool {
        self.clock = self.clock.max(due);
        self.signal().is_none()
    }

    fn elapsed(&self) -> Duration {
        self.clock
    }

    fn signal(&self) -> Option<i32> {
        self.signal.filter(|(at, _)| *at <= self.clock.as_secs_f64()).map(|(_, signal)| signal)
    }

    fn pause(&mut self) -> bool {
        let is_wanted = self.pauses > 0;
        self.pauses = self.pauses.saturating_sub(1);
        is_wanted
    }
}

fn good() -> Result<Trial, Refusal> {
    Ok(Trial { copies: vec![Copy::default()], ..Trial::default() })
}

fn failed(why: &str) -> Result<Trial, Refusal> {
    Err(why.into())
}

/// A plan of tests under conditions, one copy each.
fn plan(procedure: Procedure, tests: &[&str], conditions: &[&str], control: bool) -> Plan {
    let catalogue = Catalogue::load().unwrap();
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut conditions: Vec<Arc<Condition>> =
        catalogue.expand_conditions(&words(conditions)).unwrap();
    let tests = catalogue.expand(&words(tests)).unwrap();
    let arms = if control {
        Arms::compared(conditions.remove(0), conditions)
    } else {
        Arms::apart(conditions)
    };
    let matrix = Matrix { tests, arms, procedure, seed: 7, ..Matrix::default() };
    Plan::new(&matrix, &catalogue, &Topology::default()).unwrap()
}

fn standard(budget: Option<f64>) -> Procedure {
    Procedure::new(
        Purpose::Scores,
        Effort { budget: budget.map(Duration::from_secs_f64), ..Effort::default() },
    )
}

/// What a run left.
struct Ran {
    ended: Ended,
    journal: journal::Journal,
    /// Time left and share done before each trial.
    progress: Vec<(f64, f64)>,
    /// What was measured, in order: test and condition.
    order: Vec<String>,
    rests: u32,
    /// The time for which each test was sampled.
    sampled: Vec<Duration>,
}

impl Ran {
    /// How many trials each cell has.
    fn counts(&self) -> Vec<usize> {
        let cells = 0..self.journal.cells.len();
        cells
            .map(|cell| self.journal.trials.iter().filter(|trial| trial.cell == cell).count())
            .collect()
    }
}

fn run(plan: &Plan, policy: Policy<'_>, bench: Fake<'_>) -> Ran {
    try_run(plan, policy, bench).unwrap()
}

fn try_run(plan: &Plan, policy: Policy<'_>, bench: Fake<'_>) -> Result<Ran> {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path()).unwrap();
    let run = Run { format: journal::FORMAT.to_owned(), ..Run::default() };
    writer.append(&Record::Run(Box::new(run))).unwrap();
    let mut progress = Vec::new();
    let mut watch = |event: Event<'_>| {
        if let Event::Begin { left, done, .. } = event {
            progress.push((left.as_secs_f64(), done));
        }
    };
    let mut rounds = Rounds::new(plan, policy, bench, &mut writer, &mut watch);
    let ended = rounds.run()?;
    let Fake { trials: order, rests, sampled, .. } = rounds.bench;
    let journal = journal::read(folder.path()).unwrap();
    Ok(Ran { ended, journal, progress, order, rests, sampled })
}

/// Asks of each family alone whether it has enough trials.
fn each(enough: impl Fn(&[Measured<'_>]) -> bool) -> impl Fn(&[Vec<Measured<'_>>]) -> Vec<bool> {
    move |families| families.iter().map(|family| enough(family)).collect()
}

/// Stops looking for more when every cell of a family has this many trials.
fn at_least(count: usize) -> impl Fn(&[Vec<Measured<'_>>]) -> Vec<bool> {
    each(move |family| family.iter().all(|(_, trials)| trials.len() >= count))
}

/// Never has enough.
fn never(families: &[Vec<Measured<'_>>]) -> Vec<bool> {
    vec![false; families.len()]
}

const NEVER: Policy<'static> = Policy { enough: &never, suspects: None, wants_units: None };

#[test]
fn every_cell_once_in_each_block_until_it_is_enough() {
    let plan = plan(standard(None), &["pipe", "syscall", "spawn"], &["none"], false);
    let ran = run(
        &plan,
        Policy { enough: &at_least(20), suspects: None, wants_units: None },
        Fake::good(),
    );
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![24, 24, 24]));
    for (number, trials) in ran.journal.trials.chunks(3).enumerate() {
        assert!(trials.iter().all(|trial| trial.block as usize == number && !trial.second));
        assert_eq!(trials.iter().map(|trial| trial.cell).sum::<usize>(), 3, "each once");
    }
    let times: Vec<f64> = ran.journal.trials.iter().map(|trial| trial.at).collect();
    assert!(times[0] == 0.0 && times.is_sorted());
    let trials =
        |id: &str| times.iter().zip(&ran.order).filter(|(_, name)| name.starts_with(id)).count();
    assert_eq!((trials("pipe"), trials("syscall"), trials("spawn")), (24, 24, 24));
}

#[test]
fn nothing_is_asked_before_the_least_or_measured_beyond_the_most() {
    let plan = plan(standard(None), &["pipe"], &["none"], false);
    let asked = RefCell::new(Vec::new());
    let enough = each(|family: &[Measured<'_>]| {
        asked.borrow_mut().push(family[0].1.len());
        false
    });
    let ran =
        run(&plan, Policy { enough: &enough, suspects: None, wants_units: None }, Fake::good());
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![32]));
    assert_eq!(*asked.borrow(), [16, 24, 32]);
}

#[test]
fn costs_are_asked_at_fixed_looks_only() {
    let plan = plan(
        Procedure::new(Purpose::Cost, Effort::default()),
        &["pipe"],
        &["none", "nice=5"],
        true,
    );
    let asked = RefCell::new(BTreeSet::new());
    let enough = each(|family: &[Measured<'_>]| {
        let conditions = family.iter().map(|(cell, _)| (cell.key.condition.clone(), cell.control));
        assert_eq!(
            conditions.collect::<BTreeSet<_>>().len(),
            3,
            "both arms of the reference, and the condition"
        );
        asked.borrow_mut().insert(family[0].1.len());
        family[0].1.len() >= 24
    });
    let ran =
        run(&plan, Policy { enough: &enough, suspects: None, wants_units: None }, Fake::good());
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![24, 24, 6]));
    assert_eq!(Vec::from_iter(asked.borrow().iter().copied()), [12, 16, 24]);
}

#[test]
fn a_family_is_closed_as_one_and_others_go_on() {
    let plan = plan(standard(None), &["pipe", "syscall"], &["none", "nice=5"], false);
    // Of pipe one condition alone would be enough at the first look, its family at the second;
    // syscall never is.
    let enough = each(|family: &[Measured<'_>]| {
        family.iter().all(|(cell, trials)| {
            cell.key.test == "pipe"
                && trials.len() >= if cell.key.condition == "none" { 6 } else { 17 }
        })
    });
    let ran =
        run(&plan, Policy { enough: &enough, suspects: None, wants_units: None }, Fake::good());
    let counts =
        ran.journal.cells.iter().map(|cell| (cell.key.test.as_str(), ran.counts()[cell.id]));
    assert_eq!(BTreeSet::from_iter(counts), BTreeSet::from([("pipe", 24), ("syscall", 32)]));
}

#[test]
fn no_block_begins_that_does_not_fit_the_budget() {
    let one = plan(standard(None), &["pipe", "syscall"], &["none"], false);
    let block: f64 = one.cells.iter().map(Cell::seconds).sum();
    for (budget, blocks) in [(0.1, 1), (7.5, 7), (7.0 + 1e-6, 7)] {
        let plan = plan(standard(Some(budget * block)), &["pipe", "syscall"], &["none"], false);
        let ran = run(&plan, NEVER, Fake::good());
        assert_eq!((ran.ended, ran.counts()), (Ended::Budget, vec![blocks; 2]), "{budget}");
    }
    // A cell that is closed gives its time to the others.
    let plan = plan(standard(Some(10.0 * block)), &["pipe", "syscall"], &["none"], false);
    let skip = |cell: &Cell, _| {
        if cell.test.id == "pipe" { Err(Refusal::Unavailable("no".to_owned())) } else { good() }
    };
    assert_eq!(run(&plan, NEVER, Fake::new(skip)).counts(), [1, 19]);
}

#[test]
fn time_left_falls_to_a_block_and_the_share_rises() {
    let plan = plan(standard(None), &["pipe", "syscall"], &["none"], false);
    let ran = run(&plan, NEVER, Fake::good());
    let whole = plan.duration().1.as_secs_f64();
    assert!(
        (ran.progress[0].0 - whole).abs() < 1e-6 && ran.progress[0].1 == 0.0,
        "{:?}",
        ran.progress[0]
    );
    assert!(ran.progress.is_sorted_by(|a, b| a.0 >= b.0 && a.1 < b.1), "{:?}", ran.progress);
    let last = ran.progress[ran.progress.len() - 1];
    assert!(last.0 < 2.0 * whole / 32.0 && last.1 > 0.9, "{last:?}");
    let short = run(&plan_with_budget(15.0), NEVER, Fake::good());
    assert!(short.progress.iter().all(|(left, _)| *left <= 15.0));
}

#[test]
fn sampling_gets_what_timing_leaves_of_the_budget() {
    for budget in [60.0, 20.0] {
        let mut plan = plan_with_budget(budget);
        for cell in &mut plan.cells {
            let test = Arc::make_mut(&mut cell.test);
            test.sampling = Some(Arc::new(test.clone()));
        }

        let ran = run(&plan, NEVER, Fake::good());

        let [first, second] = ran.sampled[..] else { panic!("{:?}", ran.sampled) };
        assert_eq!(first, second);
        let timed = budget - (first + second).as_secs_f64();
        assert!(timed > 0.0 && timed <= budget / 2.0, "{timed} of {budget}");
        assert_eq!(ran.progress[0].0, budget);
    }
}

fn plan_with_budget(seconds: f64) -> Plan {
    plan(standard(Some(seconds)), &["pipe", "syscall"], &["none"], false)
}

#[test]
fn a_second_look_has_fresh_blocks_of_the_suspects() {
    let plan = plan(
        Procedure::new(Purpose::Cost, Effort { kind: Kind::Quick, ..Effort::default() }),
        &["pipe", "syscall"],
        &["none", "nice=5"],
        true,
    );
    let suspects = |cells: &[journal::Cell], trials: &[Vec<Trial>]| {
        assert!(trials.iter().all(|trials| trials.len() == 8));
        cells.iter().filter(|cell| cell.key.test == "syscall").map(|cell| cell.id).collect()
    };
    let suspects: &Suspects<'_> = &suspects;
    let ran = run(
        &plan,
        Policy {
            enough: &|_| panic!("a fixed number of blocks"),
            suspects: Some(suspects),
            wants_units: None,
        },
        Fake::good(),
    );
    assert_eq!(ran.ended, Ended::Complete);
    let (first, second): (Vec<&Trial>, Vec<&Trial>) =
        ran.journal.trials.iter().partition(|trial| !trial.second);
    assert_eq!((first.len(), second.len()), (6 * 8, 3 * 8));
    assert!(second.iter().all(|trial| ran.journal.cells[trial.cell].key.test == "syscall"));
    assert_eq!((first[first.len() - 1].block, second[0].block, second[23].block), (7, 8, 15));
    let none: &Suspects<'_> = &|_, _| BTreeSet::new();
    let ran = run(
        &plan,
        Policy { enough: &never, suspects: Some(none), wants_units: None },
        Fake::good(),
    );
    assert!(ran.journal.trials.iter().all(|trial| !trial.second));
}

#[test]
fn a_second_look_is_not_cut_by_the_budget_but_by_a_signal() {
    let plan = plan_with_budget(20.0);
    let all: &Suspects<'_> = &|cells, _| cells.iter().map(|cell| cell.id).collect();
    let policy = Policy { enough: &never, suspects: Some(all), wants_units: None };
    let ran = run(&plan, policy, Fake::good());
    let second = ran.journal.trials.iter().filter(|trial| trial.second);
    assert_eq!((ran.ended, second.count()), (Ended::Budget, 32));
    let ran = run(&plan, policy, Fake { signal: Some((21.0, 15)), ..Fake::good() });
    assert_eq!(ran.ended, Ended::Interrupted);
    // Nor is it shorter where the first look was enough already.
    let ran = run(&plan_with_budget(60.0), Policy { enough: &at_least(6), ..policy }, Fake::good());
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![32, 32]));
}

#[test]
fn a_cell_that_cannot_run_is_tried_once_and_one_that_fails_twice_in_a_row() {
    let plan = plan(standard(None), &["pipe", "syscall", "spawn", "execl"], &["none"], false);
    let script = |cell: &Cell, trial: u32| match (cell.test.id.as_str(), trial) {
        ("pipe", _) => Err(Refusal::Unavailable("no pipes here".to_owned())),
        ("syscall", 3..) | ("spawn", 1 | 3 | 5) => failed("it crashed"),
        _ => good(),
    };
    let ran = run(
        &plan,
        Policy { enough: &at_least(10), suspects: None, wants_units: None },
        Fake::new(script),
    );
    // The fifth of syscall is its second failure in a row; spawn never fails twice in a row.
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![1, 5, 16, 16]));
    let reasons = |of: fn(&Trial) -> &Option<String>| {
        ran.journal.trials.iter().filter_map(|trial| of(trial).as_deref()).collect::<Vec<_>>()
    };
    assert_eq!(reasons(|trial| &trial.skip), ["no pipes here"]);
    assert_eq!(reasons(|trial| &trial.error), ["it crashed"; 5]);
}

/// A trial whose copies begin these times in ms after the common start.
fn begun(late: &[u64]) -> Result<Trial, Refusal> {
    let copy = |ms: &u64| Copy {
        slices: vec![[ms * 1_000_000, 250_000_000, 9].into()],
        ..Copy::default()
    };
    Ok(Trial { copies: late.iter().map(copy).collect(), ..Trial::default() })
}

#[test]
fn a_trial_whose_copies_share_too_little_of_the_window_is_repeated_and_says_so() {
    let fixed = Procedure::new(Purpose::Scores, Effort { blocks: Some(4), ..Effort::default() });
    let plan = plan(fixed, &["pipe"], &["none"], false);
    // 5 % of 250 ms are 12.5.
    let script = |_: &Cell, trial: u32| begun(if trial == 1 { &[0, 13] } else { &[0, 12] });
    let ran = run(&plan, NEVER, Fake::new(script));
    let late: Vec<&[u64]> = ran.journal.trials.iter().map(|trial| &trial.late[..]).collect();
    assert_eq!(late, [&[][..], &[13_000_000], &[], &[]]);
    assert_eq!((ran.counts(), ran.order.len()), (vec![4], 5));
    assert!(
        ran.journal.trials.iter().all(|trial| trial.last_start() == 12_000_000),
        "the late one is not kept"
    );
}

#[test]
fn a_trial_that_is_always_late_is_kept_and_not_repeated_for_ever() {
    let fixed = Procedure::new(Purpose::Scores, Effort { blocks: Some(4), ..Effort::default() });
    let plan = plan(fixed, &["pipe"], &["none"], false);
    let ran = run(&plan, NEVER, Fake::new(|_, _| begun(&[0, 100])));
    assert_eq!(
        (ran.counts(), ran.order.len()),
        (vec![4], 3 + 1 + 1 + 1),
        "repeating did not help the first time"
    );
    assert!(ran.journal.trials.iter().all(|trial| trial.last_start() == 100_000_000));
    assert_eq!(ran.journal.trials[0].late, [100_000_000; 3]);
    assert_eq!(ran.journal.trials[1].late, [100_000_000]);
    // One that sleeps through its window has no rate.
    let ran = run(&plan, NEVER, Fake::new(|_, _| begun(&[0, 250])));
    assert_eq!(
        ran.journal.trials[0].error.as_deref(),
        Some(
            "a copy began 250 ms late, when its window was over; try fewer copies, or the longer \
             windows of --procedure classic"
        )
    );
}

/// What an interactive test misses by a late start is dropped frames, which are in its figures.
#[test]
fn an_interactive_trial_is_not_repeated() {
    let latency =
        Procedure::new(Purpose::Latency, Effort { kind: Kind::Quick, ..Effort::default() });
    let plan = plan(latency, &["video"], &["none"], false);
    let ran = run(&plan, NEVER, Fake::new(|_, _| begun(&[1000])));
    assert_eq!((ran.order.len(), ran.journal.trials[0].late.len()), (1, 0));
}

#[test]
fn blocks_are_spread_over_a_time() {
    let over =
        |blocks| Effort { over: Some(Duration::from_secs(3200)), blocks, ..Effort::default() };
    let began = |ran: &Ran| ran.journal.trials.iter().map(|trial| trial.at).collect::<Vec<f64>>();
    let hour = run(
        &plan(Procedure::new(Purpose::Scores, over(None)), &["pipe"], &["none"], false),
        NEVER,
        Fake::good(),
    );
    assert_eq!((hour.ended, hour.counts()), (Ended::Complete, vec![32]));
    assert!(
        began(&hour).windows(2).all(|two| (two[1] - two[0] - 100.0).abs() < 1.0),
        "{:?}",
        began(&hour)
    );
    assert!(
        (hour.progress[0].0 - 3200.0).abs() < 1.0 && hour.progress[31].0 <= 100.0,
        "{:?}",
        hour.progress
    );
    // However narrow, all of them are wanted; a signal ends the sleep.
    let plan = plan(Procedure::new(Purpose::Scores, over(Some(4))), &["pipe"], &["none"], false);
    let four = run(&plan, Policy { enough: &each(|_| true), ..NEVER }, Fake::good());
    assert!((began(&four)[3] - 2400.0).abs() < 1.0, "{:?}", began(&four));
    let ran = run(&plan, NEVER, Fake { signal: Some((1000.0, 15)), ..Fake::good() });
    assert_eq!((ran.ended, ran.counts()), (Ended::Interrupted, vec![2]));
}

#[test]
fn a_run_ends_when_no_cell_is_open() {
    let plan = plan(standard(None), &["pipe", "syscall"], &["none"], false);
    let ran = run(&plan, NEVER, Fake::new(|_, _| failed("it crashed")));
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![2, 2]));
    // A budget that is spent by then is not why.
    let unavailable = |_: &Cell, _| Err(Refusal::Unavailable("no".to_owned()));
    let ran = run(&plan_with_budget(0.1), NEVER, Fake::new(unavailable));
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![1, 1]));
}

#[test]
fn what_is_fatal_ends_the_run_with_its_reason_kept() {
    let plan = plan(standard(None), &["pipe", "syscall"], &["none"], false);
    let script = |_: &Cell, trial: u32| {
        if trial == 1 { Err(Refusal::Fatal("the disk is full".to_owned())) } else { good() }
    };
    let ran = run(&plan, NEVER, Fake::new(script));
    assert_eq!((ran.ended, ran.journal.trials.len()), (Ended::Failed, 3));
    assert_eq!(ran.journal.trials[2].error.as_deref(), Some("the disk is full"));
}

#[test]
fn a_signal_keeps_what_is_whole() {
    let plan = plan(standard(None), &["pipe"], &["none"], false);
    let seconds = plan.cells[0].seconds();
    // It comes in the middle of the third trial, which is given up.
    let script = |_: &Cell, trial: u32| {
        if trial == 2 { Err(Refusal::Stopped) } else { good() }
    };
    let ran = run(&plan, NEVER, Fake { signal: Some((2.5 * seconds, 2)), ..Fake::new(script) });
    assert_eq!((ran.ended, ran.counts()), (Ended::Interrupted, vec![2]));
    // It comes when the third trial is over.
    let ran = run(&plan, NEVER, Fake { signal: Some((2.5 * seconds, 15)), ..Fake::good() });
    assert_eq!((ran.ended, ran.counts()), (Ended::Interrupted, vec![3]));
}

#[test]
fn a_trial_that_a_pause_cut_short_is_measured_again() {
    let plan = plan(standard(None), &["pipe"], &["none"], false);
    let script = |_: &Cell, trial: u32| {
        if [1, 2].contains(&trial) { Err(Refusal::Stopped) } else { good() }
    };
    let ran = run(&plan, NEVER, Fake { pauses: 2, ..Fake::new(script) });
    assert_eq!(ran.ended, Ended::Complete);
    assert!(ran.counts()[0] > 2, "{:?}", ran.counts());
    let ran = run(&plan, NEVER, Fake { pauses: 1, ..Fake::new(script) });
    assert_eq!((ran.ended, ran.counts()), (Ended::Interrupted, vec![1]));
}

#[test]
fn a_frame_that_breaks_the_limit_ends_the_run() {
    let plan = plan(standard(None), &["pipe"], &["none"], false);
    let script = |_: &Cell, trial: u32| {
        let frames = Frames { broke: (trial == 3).then_some(7_000_000), ..Frames::default() };
        Ok(Trial {
            copies: vec![Copy { frames: Some(Box::new(frames)), ..Copy::default() }],
            ..Trial::default()
        })
    };
    let ran = run(&plan, NEVER, Fake::new(script));
    assert_eq!((ran.ended, ran.counts()), (Ended::Broke, vec![4]));
}

#[test]
fn what_cannot_be_undone_is_an_error_of_the_run() {
    let plan = plan(standard(None), &["pipe"], &["none"], false);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path()).unwrap();
    let stuck = Fake { is_stuck: true, ..Fake::good() };
    let error = Rounds::new(&plan, NEVER, stuck, &mut writer, &mut |_| {}).run().unwrap_err();
    assert_eq!(error.to_string(), "thp stays off");
}

#[test]
fn classic_passes_come_one_test_after_the_other_each_after_a_rest() {
    let procedure = Procedure::new(
        Purpose::Scores,
        Effort { blocks: Some(3), kind: Kind::Classic, ..Effort::default() },
    );
    let plan = plan(procedure, &["pipe", "shell1"], &["none"], false);
    let ran = run(&plan, NEVER, Fake::good());
    assert_eq!((ran.ended, ran.rests), (Ended::Complete, 4));
    // Both procedures count down from what the plan expects, but for the first rest.
    assert!(
        (ran.progress[0].0 - plan.duration().1.as_secs_f64()).abs() < 1e-6,
        "{:?}",
        ran.progress[0]
    );
    assert_eq!(ran.order, ["pipe none", "pipe none", "pipe none", "shell1 none"]);
    assert_eq!(
        ran.journal.trials.iter().map(|trial| trial.block).collect::<Vec<_>>(),
        [0, 1, 2, 0]
    );
    // A signal in a rest begins no trial.
    let ran = run(&plan, NEVER, Fake { signal: Some((1.0, 2)), ..Fake::good() });
    assert_eq!((ran.ended, ran.journal.trials.len()), (Ended::Interrupted, 0));
}

#[test]
fn what_must_come_before_any_switching_comes_first_and_is_no_ones_family() {
    let plan = plan(
        Procedure::new(Purpose::Cost, Effort::default()),
        &["pipe"],
        &["audit=never-on", "nice=5"],
        false,
    );
    let enough = each(|family: &[Measured<'_>]| {
        assert!(family.iter().all(|(cell, _)| cell.key.condition == "nice=5"), "{family:?}");
        family.iter().all(|(_, trials)| trials.len() >= 16)
    });
    let ran =
        run(&plan, Policy { enough: &enough, suspects: None, wants_units: None }, Fake::good());
    assert_eq!((ran.ended, ran.counts()), (Ended::Complete, vec![12, 16]));
    let first = ran.order.iter().rposition(|trial| trial.contains("never-on"));
    assert!(first < ran.order.iter().position(|trial| trial.contains("nice")), "{:?}", ran.order);
}

#[test]
fn scores_that_arguments_name_are_facts_or_remarks() {
    let plan = plan(
        Procedure::new(Purpose::Latency, Effort { kind: Kind::Quick, ..Effort::default() }),
        &["audio"],
        &["none"],
        false,
    );
    assert_eq!(plan.named.len(), 1, "audio's work is counted by the speed of work");
    let ran = run(&plan, NEVER, Fake { named: Ok(1234.4), ..Fake::good() });
    assert!(ran.journal.facts[0].value.starts_with("1234 "), "{:?}", ran.journal.facts);
    let ran = run(&plan, NEVER, Fake { named: Err("it crashed".into()), ..Fake::good() });
    assert!(ran.journal.warnings[0].text.contains("it crashed") && ran.journal.trials.len() == 1);
    let ran = run(
        &plan,
        NEVER,
        Fake { named: Err(Refusal::Stopped), signal: Some((0.0, 1)), ..Fake::good() },
    );
    assert_eq!((ran.ended, ran.journal.trials.len()), (Ended::Interrupted, 0));
}
