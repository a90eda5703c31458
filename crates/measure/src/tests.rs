//! Runs from what is asked to what was found, in no time.

use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use catalogue::Instructions;
use conditions::Refusal;
use fake::{COUNT, Fake, Notes, setup, trial, wobble};
use journal::{Copy, Ended, Execution, Frames, Journal, Trial, View};
use plan::{Arms, Cell, Effort, Kind, Matrix, Pin, Procedure, Purpose};

mod fake;

/// The clock of a core whose additions take two cycles would be half of what it is.
#[test]
fn an_addition_takes_what_the_core_needs_for_it() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("proc")).unwrap();
    let (catalogue, machine) = (Catalogue::load().unwrap(), Machine::at(root.path()));
    assert_eq!(add_cycles(&catalogue, &machine), 1, "unknown");
    for (cpu, cycles) in [("POWER8 (raw), altivec supported", 1), ("POWER9, altivec supported", 2)]
    {
        std::fs::write(root.path().join("proc/cpuinfo"), format!("cpu\t\t: {cpu}\n")).unwrap();
        assert_eq!(add_cycles(&catalogue, &machine), cycles, "{cpu}");
    }
}

fn catalogue() -> Catalogue {
    Catalogue::load().unwrap()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// The ask for tests, one copy each.
fn scores(tests: &[&str], effort: Effort) -> Ask {
    let tests = catalogue().expand(&words(tests)).unwrap();
    let procedure = Procedure::new(Purpose::Scores, effort);
    Ask { matrix: Matrix { tests, procedure, seed: 7, ..Matrix::default() }, ..Ask::default() }
}

/// The ask for what a condition costs one test.
fn cost(gate: Option<f64>, effort: Effort) -> Ask {
    let others = catalogue().expand_conditions(&words(&["nice=5"])).unwrap();
    let Ask { matrix, .. } = scores(&["pipe"], Effort::default());
    let procedure = Procedure::new(Purpose::Cost, effort);
    let arms = Arms::compared(catalogue::Condition::none(), others);
    Ask { matrix: Matrix { procedure, arms, ..matrix }, view: View::Cost, gate, ..Ask::default() }
}

fn blocks(number: u32) -> Effort {
    Effort { kind: Kind::Quick, blocks: Some(number), ..Effort::default() }
}

/// What an ask comes to on a bench.
fn measured(ask: Ask, bench: Fake<'_>) -> Measured {
    measured_with(ask, bench, |setup| setup)
}

fn measured_with(ask: Ask, bench: Fake<'_>, change: impl Fn(Setup) -> Setup) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let (catalogue, machine) = (catalogue(), Machine::here());
    let prepared = prepare(ask, &catalogue, &machine).unwrap();
    prepared.measure_on(bench, &change(setup(folder.path())), &mut Notes::default()).unwrap()
}

/// The number of trials of each cell.
fn trials(journal: &Journal) -> Vec<usize> {
    let count = |cell: usize| journal.trials.iter().filter(|trial| trial.cell == cell).count();
    (0..journal.cells.len()).map(count).collect()
}

fn full_speed<'a>() -> Fake<'a> {
    Fake::at(|_| 1.0)
}

#[test]
fn a_run_is_kept_and_has_results() {
    let (catalogue, machine) = (catalogue(), Machine::here());
    let folder = tempfile::tempdir().unwrap();
    let ask = scores(&["pipe", "syscall"], blocks(4));
    let setup = Setup {
        comment: "why=not".to_owned(),
        arguments: words(&["run", "pipe"]),
        ..setup(folder.path())
    };
    let mut notes = Notes::default();
    let prepared = prepare(ask, &catalogue, &machine).unwrap();
    let Measured { directory, journal, results, ended, failures, .. } =
        prepared.measure_on(full_speed(), &setup, &mut notes).unwrap();
    assert_eq!((failures, ended.unwrap().ended), (Vec::new(), Ended::Complete));
    assert_eq!((trials(&journal), notes.trials, results.figures.len()), (vec![4, 4], 8, 2));
    let run = &journal.run;
    assert_eq!(
        (&*run.comment, &run.arguments[..], run.seed),
        ("why=not", &words(&["run", "pipe"])[..], 7)
    );
    assert_eq!(
        (&run.name, run.procedure.name(), &run.host),
        (&notes.name, "quick", &machine.host_name())
    );
    assert_eq!(directory.parent(), Some(folder.path().join("results").as_path()));
    assert!(journal.facts.iter().any(|fact| fact.name == "system.host"));
    // Slices of 50 ms.
    let speed = COUNT as f64 / 0.05;
    assert!(results.figures.iter().all(|row| (row.score.value / speed - 1.0).abs() < 0.01));
    assert_eq!(
        journal::read(&directory).unwrap().trials.len(),
        8,
        "what is returned is what was kept"
    );
}

#[test]
fn what_cannot_be_measured_is_a_failure_with_its_reason() {
    for (failure, strict, told) in [
        (Refusal::Unavailable("there is no device".to_owned()), false, "there is no device"),
        (Refusal::Unavailable("there is no device".to_owned()), true, "there is no device"),
        (Refusal::Failed("it crashed".to_owned()), false, "it crashed"),
    ] {
        let bench = Fake::new(|_, _| Err(failure.clone()));
        let run =
            measured_with(scores(&["pipe"], blocks(2)), bench, |setup| Setup { strict, ..setup });
        assert!(run.is_empty() && run.signal().is_none());
        assert_eq!(run.failures, [format!("pipe: not measured: {told}")]);
    }
    // Each reason once.
    let bench = Fake::new(|_, _| Err("it crashed".into()));
    let run = measured(scores(&["pipe", "syscall"], blocks(2)), bench);
    assert_eq!(run.failures, ["pipe, syscall: not measured: it crashed"]);
}

#[test]
fn a_skipped_test_is_a_failure_only_where_that_is_strict() {
    let bench = || {
        Fake::new(|cell: &Cell, number| match &*cell.test.id {
            "pipe" => Err(Refusal::Unavailable("no".to_owned())),
            _ => Ok(trial(cell, wobble(number, 0.001))),
        })
    };
    let ask = || scores(&["pipe", "syscall"], blocks(2));
    let run = measured(ask(), bench());
    assert!(run.failures.is_empty() && !run.is_empty() && run.results.skipped.len() == 1);
    let run = measured_with(ask(), bench(), |setup| Setup { strict: true, ..setup });
    assert_eq!(run.failures, ["pipe: skipped, which --strict does not allow: no"]);
}

#[test]
fn trials_that_fail_are_counted_and_the_others_stay() {
    let bench = Fake::new(|cell, number| match number % 2 {
        0 => Err("one of two".into()),
        _ => Ok(trial(cell, 1.0)),
    });
    let run = measured(scores(&["pipe"], blocks(4)), bench);
    assert_eq!(run.failures, ["2 trials failed; the report has the reasons"]);
    let row = &run.results.figures[0];
    let warnings: Vec<String> = row.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.contains(&"2 of 4 trials failed: one of two".to_owned()), "{warnings:?}");
}

#[test]
fn a_signal_ends_a_run_and_what_was_measured_stays() {
    let bench = full_speed().stopped_at(3, 15);
    let run = measured(scores(&["pipe"], blocks(8)), bench);
    assert_eq!((run.signal(), trials(&run.journal)), (Some(15), vec![3]));
    assert_eq!(run.results.end, Some(Ended::Interrupted));
    assert!(run.failures.is_empty() && run.results.figures.len() == 1);
    let bench = Fake::new(|_, _| Err(Refusal::Stopped)).stopped_at(1, 2);
    let run = measured(scores(&["pipe"], blocks(8)), bench);
    assert_eq!((run.signal(), run.is_empty()), (Some(2), true));
}

#[test]
fn what_cannot_be_undone_ends_a_run_without_an_end() {
    let bench = full_speed().stuck("thp stays off");
    let run = measured(scores(&["pipe"], blocks(2)), bench);
    assert!(run.ended.is_none() && run.signal().is_none());
    assert_eq!((trials(&run.journal), &*run.failures[0]), (vec![1], "thp stays off"));
    assert_eq!(run.results.end, None, "the journal says so too");
}

#[test]
fn a_frame_that_is_too_late_ends_a_run() {
    let bench = Fake::new(|cell, _| {
        let mut trial = trial(cell, 1.0);
        let broke = Some(Default::default());
        trial.copies[0].frames = Some(Box::new(Frames { broke, ..Frames::default() }));
        Ok(trial)
    });
    let run = measured(scores(&["pipe"], blocks(4)), bench);
    assert_eq!(trials(&run.journal), [1]);
    assert!(
        run.failures.contains(
            &"the run ended at the first frame later than --break-over allows".to_owned()
        )
    );
}

#[test]
fn a_run_ends_where_its_intervals_are_narrow() {
    let standard = Effort::default();
    let run = |ask, noise: f64| {
        let bench = Fake::new(move |cell, number| {
            let phase = if cell.condition.parts.is_empty() { 0 } else { 7 };
            Ok(trial(cell, wobble(number + phase, noise)))
        });
        trials(&measured(ask, bench).journal)[0]
    };
    assert_eq!(run(scores(&["pipe"], standard), 0.001), 16);
    assert_eq!(run(scores(&["pipe"], standard), 0.3), 32);
    let precise = Effort { precision: Some(0.5), ..standard };
    assert_eq!(run(scores(&["pipe"], precise), 0.3), 16, "the user's precision");
    let precise = Effort { precision: Some(1e-5), ..standard };
    assert_eq!(run(scores(&["pipe"], precise), 0.3), 160, "not for ever");
    assert_eq!(run(cost(None, standard), 0.001), 12);
    assert_eq!(run(cost(None, standard), 0.3), 48);
    assert_eq!(run(cost(None, blocks(5)), 0.3), 5);
}

#[test]
fn a_budget_ends_a_run() {
    let minute = std::time::Duration::from_secs(60);
    let ask = scores(&["pipe"], Effort { budget: Some(minute), ..Effort::default() });
    let bench = Fake::new(|cell, number| Ok(trial(cell, wobble(number, 0.5))));
    let run = measured(ask, bench);
    assert_eq!(run.ended.unwrap().ended, Ended::Budget);
    assert!(run.failures.is_empty() && trials(&run.journal)[0] > 100);
}

#[test]
fn a_loss_is_measured_again_and_then_is_a_failure() {
    let slower = |cell: &Cell| {
        if cell.condition.parts.is_empty() { 1.0 } else { 0.9 }
    };
    let gated = |gate| measured(cost(gate, Effort::default()), Fake::at(slower));
    let run = gated(Some(5.0));
    let [failure] = &run.failures[..] else { panic!("{:?}", run.failures) };
    assert!(failure.starts_with("pipe: 10.0 % slower under nice=5"), "{failure}");
    assert!(run.journal.trials.iter().any(|trial| trial.second));
    assert_eq!(run.journal.run.against, "none");
    // A smaller loss than the gate's, a gain, and no gate.
    assert!(gated(Some(20.0)).failures.is_empty());
    assert!(gated(None).failures.is_empty());
    let faster = |cell: &Cell| 2.0 - slower(cell);
    let run = measured(cost(Some(5.0), Effort::default()), Fake::at(faster));
    assert!(run.failures.is_empty() && !run.journal.trials.iter().any(|trial| trial.second));
}

#[test]
fn a_loss_that_does_not_come_back_is_none() {
    let bench = Fake::new(|cell, number| {
        let is_slow = !cell.condition.parts.is_empty() && number < 12;
        Ok(trial(cell, wobble(number, 0.001) * if is_slow { 0.8 } else { 1.0 }))
    });
    let run = measured(cost(Some(5.0), Effort::default()), bench);
    assert!(run.journal.trials.iter().any(|trial| trial.second));
    assert_eq!(run.failures, Vec::<String>::new());
}

#[test]
fn levels_of_copies_make_a_table() {
    let ask = scores(&["pipe"], blocks(2));
    let matrix = Matrix {
        copies: vec![1, 2, 4],
        procedure: Procedure::new(Purpose::Scaling, blocks(2)),
        ..ask.matrix
    };
    let run = measured(
        Ask { matrix, view: View::Scaling, ..ask },
        Fake::new(|cell, _| Ok(trial(cell, 1.0))),
    );
    assert_eq!((run.journal.run.view, run.results.figures.len()), (View::Scaling, 3));
    let scaling = run.results.scaling();
    let levels: Vec<(u32, f64)> =
        scaling[0].levels.iter().map(|level| (level.copies, level.total.value)).collect();
    let speed = COUNT as f64 / 0.05;
    for ((copies, total), wanted) in levels.iter().zip([1.0, 2.0, 4.0]) {
        assert!((total / (wanted * speed) - 1.0).abs() < 1e-6, "{copies}: {total}");
    }
    assert_eq!(levels.len(), 3);
}

#[test]
fn a_condition_that_is_missing_is_a_warning_or_an_obstacle() {
    let (catalogue, machine) = (catalogue(), Machine::here());
    let expand = |names: &[&str]| catalogue.expand_conditions(&words(names)).unwrap();
    let missing = "file:/proc/nonexistent/x=1";
    let with = |arms: Arms| {
        let Ask { matrix, .. } = scores(&["pipe"], blocks(1));
        prepare(Ask { matrix: Matrix { arms, ..matrix }, ..Ask::default() }, &catalogue, &machine)
            .unwrap()
    };
    let compared = |reference: &str, others: &[&str]| {
        with(Arms::compared(expand(&[reference]).remove(0), expand(others)))
    };
    let warned = |prepared: &Prepared<'_>| {
        prepared
            .warnings
            .iter()
            .any(|text| text.starts_with(&format!("{missing} is not available here: ")))
    };
    // One that is there is enough where nothing is compared, and another beside the reference.
    for prepared in
        [with(Arms::apart(expand(&["none", missing]))), compared("none", &["nice=5", missing])]
    {
        assert!(warned(&prepared) && prepared.check().is_ok(), "{:?}", prepared.warnings);
    }
    for prepared in [
        with(Arms::apart(expand(&[missing]))),
        compared("none", &[missing]),
        compared(missing, &["none", "nice=5"]),
    ] {
        let why = prepared.check().unwrap_err().to_string();
        assert!(why.contains("is not available here") && why.ends_with("shows what is"), "{why}");
        assert!(!warned(&prepared), "said once");
        let folder = tempfile::tempdir().unwrap();
        let setup = setup(folder.path());
        assert!(prepared.measure_on(full_speed(), &setup, &mut Notes::default()).is_err());
        assert!(!folder.path().join("results").exists(), "nothing begins");
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let (catalogue, machine) = (catalogue(), Machine::here());
    let classic = Effort { kind: Kind::Classic, ..Effort::default() };
    for (ask, told) in [
        (scores(&["audio"], classic), "audio has no classic procedure"),
        (scores(&[], blocks(1)), "there is nothing to measure"),
    ] {
        assert!(
            prepare(ask, &catalogue, &machine).unwrap_err().to_string().starts_with(told),
            "{told}"
        );
    }
    let short = Effort { budget: Some(std::time::Duration::from_secs(1)), ..Effort::default() };
    let prepared = prepare(scores(&["pipe"], short), &catalogue, &machine).unwrap();
    let [warning] = &prepared.warnings[..] else { panic!("{:?}", prepared.warnings) };
    assert!(warning.contains("intervals need 6; try --budget "), "{warning}");
}

#[test]
fn what_changes_the_figures_is_in_the_journal() {
    let ask = scores(&["audio"], blocks(1));
    let matrix = Matrix {
        test_args: words(&["slack=1"]),
        loads: catalogue().expand_loads(&words(&["burn"])).unwrap(),
        load_args: words(&["nice=3"]),
        load_number: Some(7),
        pin: Pin::Cpu(0),
        ..ask.matrix
    };
    let ask = Ask { matrix, indexes: words(&["byte"]), ..ask };
    let run = measured(ask, full_speed()).journal.run;
    let settings = ["slack=1", "load nice=3", "load number=7", "1.5 s of frames a block"];
    assert_eq!(run.settings, words(&settings));
    assert_eq!((&*run.pin, run.indexes), ("0", words(&["byte"])));
    let plain = measured(scores(&["pipe"], blocks(1)), full_speed()).journal.run;
    assert!(plain.settings.is_empty() && plain.pin.is_empty() && plain.against.is_empty());
}

#[test]
fn a_run_that_is_discarded_goes_with_what_was_measured() {
    let (catalogue, machine) = (catalogue(), Machine::here());
    let folder = tempfile::tempdir().unwrap();
    let ask = Ask { discard: true, ..scores(&["pipe"], blocks(1)) };
    let prepared = prepare(ask, &catalogue, &machine).unwrap();
    let run =
        prepared.measure_on(full_speed(), &setup(folder.path()), &mut Notes::default()).unwrap();
    assert!(run.directory.is_dir() && run.directory.starts_with(folder.path()));
    drop(run);
    let left: Vec<PathBuf> =
        folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn nothing_is_measured_that_cannot_be_shown() {
    let (catalogue, machine) = (catalogue(), Machine::here());
    let folder = tempfile::tempdir().unwrap();
    let prepared = prepare(scores(&["pipe"], blocks(1)), &catalogue, &machine).unwrap();
    let mut notes = Notes { blind: Some("no terminal"), ..Notes::default() };
    let failed = prepared.measure_on(full_speed(), &setup(folder.path()), &mut notes);
    assert_eq!((failed.unwrap_err().to_string().as_str(), notes.trials), ("no terminal", 0));
}

/// The ask which of two commands is faster, and what the first does less often.
fn ab(limits: Vec<analysis::CountLimit>) -> Ask {
    let catalogue = catalogue();
    let command = |label: &str| catalogue::Command {
        label: label.to_owned(),
        ..catalogue::Command::default()
    };
    let row = |id: &str| catalogue.test(id).unwrap();
    let test = row("command").alternating(
        "ab",
        &[command("old"), command("new")],
        &catalogue::Execution::default(),
    );
    let condition =
        |name: &str| Arc::new(catalogue::Condition { name: name.to_owned(), parts: Vec::new() });
    let matrix = Matrix {
        tests: vec![Arc::new(test.counted_by(row("command-counts"), Instructions::IfShort))],
        arms: Arms::compared(condition("old"), vec![condition("new")]),
        procedure: Procedure::new(Purpose::Ab, blocks(1)),
        ..Matrix::default()
    };
    Ask { matrix, view: View::Ab, limits, ..Ask::default() }
}

/// A bench that executes two commands, and counts these instructions of each, where it
/// counts any.
fn counting<'a>(instructions: &[Option<[u64; 2]>]) -> Fake<'a> {
    let execution = |round: u64| Execution {
        round,
        start: round * 1_000_000,
        end: round * 1_000_000 + 500_000,
        ..Execution::default()
    };
    let executed = Copy { executions: (0..50).map(execution).collect(), ..Copy::default() };
    let openat = format!("call:{}", machine::call_number("openat").unwrap());
    let copy = |instructions: u64| {
        let values = [("instructions", instructions), (&*openat, 7)];
        let values = values.map(|(name, count)| (name.to_owned(), (count as f64, String::new())));
        Copy { values: values.into(), ..Copy::default() }
    };
    let counts = instructions.iter().map(|one| match one {
        Some(counts) => Ok(counts.map(copy).to_vec()),
        None => Err("tracing is not allowed".into()),
    });
    let trial = Trial { copies: vec![executed.clone(), executed], ..Trial::default() };
    Fake::new(move |_, _| Ok(trial.clone())).counting(counts.collect())
}

#[test]
fn counts_come_after_all_trials_and_fail_what_has_more_than_its_limit() {
    let limit =
        |name: &str, size, is_share| analysis::CountLimit { name: name.to_owned(), size, is_share };
    let limits = || vec![limit("instructions", 1.0, true), limit("call:openat", 0.0, false)];
    let more = counting(&[Some([1000, 1050]), Some([1001, 1052]), Some([1000, 1051])]);
    let run = measured(ab(limits()), more);
    let more = "new exceeds old in instructions: 1050 to 1052 instead of 1000 to 1001, with 1 % more allowed";
    assert_eq!((run.failures, run.vague), (vec![more.to_owned()], Vec::new()));
    assert_eq!(run.journal.counts.len(), 6);
    assert!(
        run.journal.counts.iter().all(|counts| counts.counts["call:openat"] == 7),
        "{:?}",
        run.journal.counts
    );
    let alike = counting(&[Some([1000, 1005]), Some([1001, 1006]), Some([1000, 1007])]);
    assert_eq!(measured(ab(limits()), alike).failures, Vec::<String>::new());
    let vague = counting(&[Some([1000, 1050]), Some([1001, 1500]), Some([1000, 1050])]);
    let run = measured(ab(limits()), vague);
    assert!(
        run.failures.is_empty()
            && run.vague[0].ends_with("so this limit decides nothing; try a wider one"),
        "{:?} {:?}",
        run.failures,
        run.vague
    );
    let refused = measured(ab(limits()), counting(&[None]));
    assert_eq!(
        refused.failures,
        ["nothing was counted, so no limit can be judged; the report's warnings say why"]
    );
    let why = "what the commands do could not be counted: tracing is not allowed";
    assert!(
        refused.journal.warnings.iter().any(|warning| warning.text == why),
        "{:?}",
        refused.journal.warnings
    );
    assert_eq!(measured(ab(Vec::new()), counting(&[None])).failures, Vec::<String>::new());
}
