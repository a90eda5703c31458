//! Tests: what command lines ask for and which plan that is, without a process for each.

use std::ffi::OsString;

use anyhow::Result;
use clap::FromArgMatches;

use super::{Verb, cost, latency, run, scale};
use crate::commands::command;
use catalogue::Catalogue;
use machine::Machine;
use measure::Ask;
use plan::{Kind, Plan};

/// Returns what a command line asks for, and its plan and warnings.
fn asked(words: &str) -> Result<(Ask, Plan, Vec<String>)> {
    let words = ["unixmark"].into_iter().chain(words.split_whitespace()).map(OsString::from);
    let matches = command().try_get_matches_from(super::to_own_words(words.collect()))?;
    let (mut catalogue, machine) = (Catalogue::load()?, Machine::here());
    let ask = match Verb::from_arg_matches(&matches)? {
        Verb::Run(arguments) => run::to_ask(&arguments, &catalogue, &machine),
        Verb::Scale(arguments) => scale::to_ask(&arguments, &catalogue, &machine),
        Verb::Cost(arguments) => cost::to_ask(&arguments, &catalogue, &machine),
        Verb::Latency(arguments) => latency::to_ask(&arguments, &mut catalogue, &machine),
        verb => panic!("{verb:?} has no plan"),
    }?;
    let prepared = measure::prepare(ask, &catalogue, &machine)?;
    Ok((prepared.ask, prepared.plan, prepared.warnings))
}

/// Returns a plan as it is shown.
fn plan(words: &str) -> String {
    plan::show(&asked(words).unwrap().1)
}

/// Returns why there is no plan.
fn refused(words: &str) -> String {
    let Err(error) = asked(words) else { panic!("{words} is not refused") };
    format!("{error:#}")
}

#[test]
fn a_plan_is_repeatable() {
    let first = plan("run index -c 1,2 --seed 7");
    assert_eq!(first, plan("run index -c 1 -c 2 --seed 7"));
    assert_ne!(first, plan("run index -c 1,2 --seed 8"));
    assert!(
        first.lines().any(|line| line.starts_with("shell8") && line.contains(" 2  none")),
        "{first}"
    );
    assert!(first.contains("expected duration"), "{first}");
    assert!(plan("run load -c 1").contains("shell16"), "UnixBench's alias `load`, mended");
}

#[test]
fn the_classic_procedure_is_unixbench_s() {
    let classic = plan("run index -c 1 --procedure classic");
    let takes = ["28 min", "29 min"].map(|time| format!("expected duration: {time}"));
    assert!(takes.iter().any(|time| classic.contains(time)), "{classic}");
    // UnixBench's -i: long tests take N passes, short ones max(1, (N+1)/3).
    let classic = plan("run pipe spawn -c 1 --procedure classic -i 6");
    assert!(
        classic.lines().any(|line| line.contains("pipe") && line.contains(" 6  10 x 1000 ms")),
        "{classic}"
    );
    assert!(
        classic.lines().any(|line| line.contains("spawn") && line.contains(" 2  30 x 1000 ms")),
        "{classic}"
    );
    for words in ["--precision 1%", "--budget 1m", "--over 1h"] {
        assert!(
            refused(&format!("run pipe {words} --procedure classic")).contains("fixed length"),
            "{words}"
        );
    }
}

#[test]
fn a_plan_names_what_is_switched() {
    let shown = plan("cost nice=5 pipe syscall --seed 1");
    assert_eq!(shown.lines().filter(|line| line.starts_with("pipe ")).count(), 1, "{shown}");
    assert!(
        shown.contains("none  the machine as it was found (compared with; in some blocks twice"),
        "{shown}"
    );
    assert!(shown.contains("\n  nice=5  nice value\n"), "{shown}");
    let json = plan::to_json(&asked("cost nice=5 pipe --seed 1").unwrap().1);
    let cells = json["cells"].as_array().unwrap();
    let controls: Vec<bool> = cells.iter().map(|cell| cell["control"].as_bool().unwrap()).collect();
    assert_eq!(controls, [false, false, true]);
    assert_eq!((&cells[1]["condition"], &json["seed"]), (&"nice=5".into(), &1.into()));
    assert!(refused("cost mitigations=off").contains("`unixmark compare before after`"));
}

#[test]
fn a_plan_says_what_a_budget_holds() {
    let (_, short, warnings) = asked("run pipe -c 1 --budget 1s").unwrap();
    assert!(warnings[0].contains("intervals need 6; try --budget "), "{warnings:?}");
    assert!(plan::show(&short).contains(" ~3 "));
    let enough = warnings[0].split("--budget ").nth(1).unwrap().split(',').next().unwrap();
    assert!(asked(&format!("run pipe -c 1 --budget {enough}")).unwrap().2.is_empty());
}

#[test]
fn a_plan_says_where_copies_run() {
    let shown = plan("scale syscall-floor --copies 1,2 --pin smt --seed 1");
    assert!(shown.contains("cpu=") && shown.contains("5 x 50 ms"), "{shown}");
    assert!(!plan("scale syscall-floor --copies 1,2").contains("cpu="));
    assert!(plan("run syscall -c 1 --pin node").contains("cpu="));
    assert!(plan("scale syscall-floor --copies 1..max").contains("\nsyscall-floor "));
    assert!(
        refused("scale syscall --pin here")
            .contains("try none, core, smt, node or a processor's number")
    );
    assert!(refused("scale audio").contains("audio is an interactive task"));
    assert!(refused("scale --copies 4..2").contains("not a range of copies; try 1..9 or 1..max"));
}

#[test]
fn a_plan_says_that_there_is_one_copy() {
    let shown = plan("run gindex -c 1,4");
    // Not the order of the first block, whose lines may begin with any name.
    let rows = || shown.lines().filter(|line| line.contains(" ms "));
    let copies =
        |test: &str| rows().filter(|line| line.split_whitespace().next() == Some(test)).count();
    assert_eq!((copies("syscall"), copies("ubgears"), copies("2d-blit")), (2, 1, 1), "{shown}");
    assert!(shown.contains("never more than one copy: 2d-aashapes"), "{shown}");
}

#[test]
fn interbench_s_words() {
    let cells = |words: &str| asked(&format!("latency {words}")).unwrap().1.cells.len();
    assert_eq!(cells(""), 34, "Interbench's matrix");
    assert!(plan("latency").contains("expected duration: 17 min"), "{}", plan("latency"));
    assert!(plan("latency --quick").contains("expected duration: 1 min"));
    assert_eq!(cells("-r"), 17);
    assert!(plan("latency -r -W audio").contains("policy=fifo priority=80 lock=1"));
    assert_eq!(cells("-w None -w BURN -W Video"), 2);
    assert_eq!(cells("-x memload -X gaming"), 22);
    assert!(plan("latency -C 25 -I 8000 -W custom -w none").contains("period=8000 work=2000"));
    assert_eq!(cells("-C 25 -I 8000"), 34 + 9 + 4);
    assert!(plan("latency -L 7 -N 3 -w burn").contains("beside duty=100 nice=3 count=7"));
    assert!(plan("latency -u -b -B 5 -N 10 -W audio -w none").contains("nice=5 cpu=0"));
    // Its -c has no number and keeps no run.
    let (ask, plan, _) = asked("latency audio -c -w none,burn -t 1 -c 2").unwrap();
    assert!(ask.discard && plan.cells.iter().any(|cell| cell.load_name() == "burn"));
    assert!(!asked("latency audio -w none").unwrap().0.discard);
    for wrong in ["-C 5", "-W burn", "-w nothing", "-t 0", "--placement moon", "-W audio -X audio"]
    {
        let why = refused(&format!("latency {wrong}"));
        assert!(
            ["try", "required", "unixmark list"].iter().any(|word| why.contains(word)),
            "{wrong}: {why}"
        );
    }
}

#[test]
fn numbers_out_of_range() {
    for (words, told) in [
        ("-c 0", "nothing to measure with 0 copies"),
        ("-c x", "'x' is not a number of copies"),
        ("-c 9..1", "not a range"),
        ("-c -1", "-1"),
        ("-i x", "invalid digit"),
        ("--budget 0s", "a time of 0 measures nothing"),
        ("--budget soon", "try 90, 90s, 3m or 1h"),
        ("--precision 0%", "try 1%"),
        ("--precision 200%", "not a share"),
        ("-q -v", "cannot be used with"),
        ("--program /nonexistent/x", "/nonexistent/x cannot be run"),
        ("pipe --unit words", "--program"),
        ("--program x --unit=", "printable text"),
    ] {
        assert!(
            refused(&format!("run {words}")).contains(told),
            "{words}: {}",
            refused(&format!("run {words}"))
        );
    }
}

/// A typo writes no file that is not the kernel's.
#[test]
fn settings_are_files_of_the_kernel() {
    for word in
        ["file:/etc/hostname=x", "file:/sys/../etc/hostname=x", "sysctl:../../etc/hostname=x"]
    {
        let why = refused(&format!("cost {word} syscall"));
        assert!(
            why.contains("is not in /proc or /sys") && why.contains("your own catalogue"),
            "{why}"
        );
    }
    assert!(
        refused("cost sysctl:vm.swappiness syscall").contains("try sysctl:vm.swappiness=VALUE")
    );
}

#[test]
fn every_verb_has_the_same_options() {
    let shared = "--copies 1,2 --load none --pin 1 --quick -i 2 --budget 9m --precision 2% --seed 3 -m x --xvfb";
    for verb in ["run pipe", "scale pipe", "cost nice=5 pipe", "latency audio"] {
        let (ask, quick, _) = asked(&format!("{verb} {shared}")).unwrap();
        assert_eq!(
            (quick.procedure.effort.kind, quick.seed, ask.xvfb),
            (Kind::Quick, 3, true),
            "{verb}"
        );
        let shown = plan::show(&quick);
        assert!(
            shown.starts_with("quick procedure, seed 3") && shown.contains(" cpu=1,1"),
            "{verb}: {shown}"
        );
        let both = refused(&format!("{verb} --quick --procedure standard"));
        assert!(both.contains("cannot be used with"), "{verb}: {both}");
        if verb != "run pipe" {
            assert!(
                refused(&format!("{verb} --procedure classic")).contains("only `unixmark run`"),
                "{verb}"
            );
        }
        let budget = |time: &str| plan(&format!("{verb} --seed 1 --budget {time}"));
        assert_eq!(budget("120"), budget("2m"), "{verb}");
    }
}

#[test]
fn doctor_plants_losses_beside_next_to_none() {
    let ask = super::doctor::to_power_ask(&Catalogue::load().unwrap(), &[]).unwrap();
    let names: Vec<&str> =
        ask.matrix.arms.others.iter().map(|condition| &*condition.name).collect();
    assert_eq!(names, ["arg:slowed=0.01", "arg:slowed=2", "arg:slowed=5", "arg:slowed=10"]);
    assert_eq!((ask.matrix.procedure.min_blocks, ask.matrix.procedure.max_blocks), (12, 12));
    assert!(ask.matrix.arms.controls == 1 && ask.matrix.arms.reference.unwrap().parts.is_empty());
    let own =
        super::doctor::to_power_ask(&Catalogue::load().unwrap(), &["make".into(), "-j2".into()])
            .unwrap();
    let tests: Vec<(&str, bool)> =
        own.matrix.tests.iter().map(|test| (&*test.label, test.is_command())).collect();
    assert_eq!(tests, [("make -j2", true)]);
}
