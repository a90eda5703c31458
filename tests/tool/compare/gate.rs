//! The exit code for continuous integration.

use super::made::{Made, earlier, place};
use testing::{Place, stderr, stdout};

/// The exit code and what was said.
fn compare(place: &Place, words: &str) -> (i32, String) {
    let output = place.unixmark(&format!("compare {words}")).output().unwrap();
    (output.status.code().unwrap(), stderr(&output))
}

#[test]
fn a_gate_for_continuous_integration() {
    let a = Made::new("a", 11).rate("syscall", 1e6, 10).rate("pipe", 1e6, 10);
    let b = Made::new("b", 12).rate("syscall", 9e5, 10).rate("pipe", 1e6, 10);
    let place = place(&[a, b, Made::new("c", 13).rate("dc", 1e6, 10)]);
    earlier(|made| made.rate("syscall", 1e6, 10).rate("pipe", 1e6, 10), &place);
    let code = |words: &str| {
        let output = place.unixmark(&format!("compare {words}")).output().unwrap();
        (output.status.code().unwrap(), stderr(&output))
    };
    let (failed, said) = code("--fail-on 5% a b");
    assert_eq!(failed, 1);
    assert!(
        said.contains("syscall (score, 1 copy, load none, condition none) is slower in B by"),
        "{said}"
    );
    for told in [
        "measure only these again, once as a was and once as b",
        "`unixmark run syscall -c 1`",
        "--confirm latest~1 latest",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    for (words, status) in
        [("a b", 0), ("--fail-on 30 a b", 0), ("--fail-on 5% b a", 0), ("a c", 3)]
    {
        assert_eq!(code(words).0, status, "{words}");
    }
    for (words, told) in [
        ("a", "needs two runs"),
        ("a a", "are the same run"),
        ("a latest~5", "are the same run"),
        ("--paired a", "takes rounds of two runs"),
        ("--paired a b c a b", "5 is an odd number of runs"),
        ("--fail-on x a b", "is not a percentage"),
        ("--threshold 0 a b", "try 5%"),
    ] {
        let (status, said) = code(words);
        assert!(status == 2 && said.contains(told), "{words}: {status}, {said}");
    }
    let (status, said) = code("a bb");
    assert!(status == 2 && said.contains("there is no run 'bb'"), "{said}");
}

#[test]
fn a_second_look_is_at_as_many_runs_where_they_are_kept() {
    let run = |name, seed, rate| Made::new(name, seed).rate("syscall", rate, 10);
    let place = place(&[run("a", 11, 1e6), run("b", 12, 9e5), run("c", 13, 9e5)]);
    earlier(|made| made.rate("syscall", 1e6, 10), &place);
    let results = place.results();
    let results = results.display();

    for (runs, compare) in [
        ("a b c", "compare latest~2 latest~1 latest --fail-on 5%".to_owned()),
        (
            &*format!("a b --results {results}"),
            format!("compare a b --results {results} --fail-on 5% --confirm latest~1 latest"),
        ),
    ] {
        let output = place.unixmark(&format!("compare --fail-on 5% {runs}")).output().unwrap();
        let said = stderr(&output);
        assert!(said.contains(&format!("`unixmark {compare}`")), "{said}");
    }
}

/// A gate that could not have seen the loss says so, and is closed by it where that is asked for.
#[test]
fn what_a_gate_cannot_tell_has_a_status_of_its_own() {
    let run = |name, seed| Made::new(name, seed).rate("pipe", 1e6, 4);
    let place = place(&[run("a", 21), run("b", 22)]);
    for (words, status) in [("", 0), ("--strict-gate", 4)] {
        let (code, said) =
            compare(&place, &format!("a b --fail-on 0.01% --threshold 0.01% {words}"));
        assert_eq!(code, status, "{said}");
        assert!(said.contains("the 0.01 % gate cannot judge 1 comparison: "), "{said}");
    }
    assert_eq!(compare(&place, "a b --fail-on 90% --strict-gate").0, 0);
    assert_eq!(compare(&place, "a b --strict-gate").0, 2, "it needs --fail-on");
}

/// Two looks at two programs: `syscall` loses 10 % in the first, and what is given in the second.
fn looks(second: f64) -> Place {
    let rate = |name, seed, speed: f64| Made::new(name, seed).rate("syscall", 1e6 * speed, 24);
    let a = rate("a", 1, 1.0).rate("pipe", 1e6, 24);
    let b = rate("b", 2, 0.9).rate("pipe", 1e6, 24);
    place(&[a, b, rate("a2", 3, 1.0), rate("b2", 4, 1.0 - second)])
}

/// Without earlier runs like them, what differs between two runs fails only if a second look shows
/// it.
#[test]
fn two_runs_alone_never_fail() {
    let place = looks(0.1);
    let (code, said) = compare(&place, "--fail-on 5% a b");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("is worse (\"differs between the runs\") in B by")
            && said.contains("so it passes"),
        "{said}"
    );
    assert!(said.contains("--confirm latest~1 latest"), "{said}");
    let (code, said) = compare(&place, "--fail-on 5% a b --confirm a2 b2");
    assert!(code == 1 && said.contains("and again in the second look: -"), "{code}: {said}");
    let output = looks(0.1).unixmark("compare --format json --fail-on 5% a b").output().unwrap();
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&report["gate"]["open"], &report["gate"]["suspects"][0]["closes"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn a_loss_fails_only_if_it_is_there_again() {
    let words = "--fail-on 5% a b --confirm a2 b2";
    let (code, said) = compare(&looks(0.1), words);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("and again in the second look: -"), "{said}");
    let (code, said) = compare(&looks(0.0), words);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("but not in the second look, so it passes"), "{said}");
    let output = looks(0.0).unixmark(&format!("compare --format json {words}")).output().unwrap();
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let suspect = &report["gate"]["suspects"][0];
    assert_eq!((&report["gate"]["open"], &suspect["confirmed"]), (&true.into(), &false.into()));
    assert_eq!(
        (&suspect["test"], &suspect["second"]["test"]),
        (&"syscall".into(), &"syscall".into())
    );
}

/// Machines that are alike never fail, although one in twenty comparisons passes for a difference
/// at the first look.
#[test]
fn luck_seldom_strikes_twice() {
    let run = |name: &str, seed: u64| {
        let made =
            Made::new(name, seed).rate("slower", if name.starts_with('b') { 8e5 } else { 1e6 }, 10);
        (0..20).fold(made, |made, test| made.rate(&format!("t{test}"), 1e6, 10))
    };
    let results = |runs: [Made; 2]| {
        let asked = analysis::Asked { threshold: 1.0, ..Default::default() };
        analysis::Comparisons::new(runs.map(|run| run.results()).into(), &asked)
    };
    for seed in 0..10 {
        let first = results([run("a", 4 * seed), run("b", 4 * seed + 1)]);
        let second = results([run("a", 4 * seed + 2), run("b", 4 * seed + 3)]);
        let gate = first.gate(2.0, Some(&second));
        let standing: Vec<&str> = gate
            .suspects
            .iter()
            .filter(|suspect| suspect.stands())
            .map(|suspect| suspect.first.cell.key.test.as_str())
            .collect();
        assert_eq!(standing, ["slower"], "{seed}");
    }
}

#[test]
fn a_second_look_that_is_none() {
    let place = looks(0.1);
    earlier(|made| made.rate("syscall", 1e6, 24).rate("pipe", 1e6, 24), &place);
    let (code, said) = compare(&place, "--fail-on 5% a b --confirm b2 a2");
    assert_eq!(code, 0, "the other way round it is a gain: {said}");
    // Not later; and a suspect that it does not have is not cleared.
    let later = [Made::new("a3", 0).rate("pipe", 1e6, 8), Made::new("b3", 0).rate("pipe", 1e6, 8)];
    later.iter().for_each(|run| drop(run.write(&place)));
    let (code, said) = compare(&place, "--fail-on 5% a b --confirm a3 b3");
    assert_eq!(code, 1);
    assert!(
        said.contains("the second look is inconclusive")
            && said.contains("not later than the first"),
        "{said}"
    );
    for name in ["a5", "b5"] {
        Made::new(name, 21).rate("syscall", 1e6, 1).write(&place);
    }
    assert_eq!(
        compare(&place, "--fail-on 5% a b --confirm a5 b5").0,
        1,
        "one trial clears nothing"
    );
    let built = Made::new("b4", 20).rate("syscall", 9e5, 10).with(|journal| {
        journal.run.build = Some(journal::Build { hash: "ffff".to_owned(), ..Default::default() });
    });
    built.write(&place);
    let (_, said) = compare(&place, "--fail-on 5% a b --confirm a2 b4");
    assert!(
        said.contains("the second look ran another build of B") && said.contains("builds differ"),
        "{said}"
    );
    for (words, told) in [
        ("--confirm a2 b2 a b", "--fail-on"),
        ("--fail-on 5 a b --confirm a b2", "are the same run"),
        ("--fail-on 5 a b --confirm a2", "needs two runs and two made later"),
        ("--fail-on 5 a b a2 --confirm b2 a2", "needs two runs and two made later"),
        ("--fail-on 5 --paired a b --confirm a2 b2", "cannot be used with"),
    ] {
        let (code, said) = compare(&place, words);
        assert!(code == 2 && said.contains(told), "{words}: {code}, {said}");
    }
}

#[test]
fn what_is_lost_fails() {
    let a = Made::new("a", 1).rate("syscall", 1e6, 8).rate("pipe", 1e6, 8).without(
        "spawn",
        None,
        Some("it hung"),
    );
    let b = Made::new("b", 2).rate("syscall", 1e6, 8).without("pipe", None, Some("it crashed"));
    let b = b.without("spawn", None, Some("it hung")).rate("execl", 1e3, 8);
    let place = place(&[a, b]);
    let (code, said) = compare(&place, "--fail-on 5% a b");
    assert_eq!(code, 1);
    assert!(
        said.contains(
            "pipe (1 copy, load none, condition none) is missing: failed in B: it crashed"
        ),
        "{said}"
    );
    assert!(
        said.contains("2 other cells could not be compared: ignored")
            && !said.contains("measure only"),
        "{said}"
    );
    // What is new in the other, or failed in both, is no loss; without a gate nothing is.
    let (code, said) = compare(&place, "--fail-on 5% b a");
    assert!(code == 1 && said.contains("execl") && !said.contains("pipe ("), "{code}, {said}");
    assert_eq!(compare(&place, "a b").0, 0);
    // Of rounds, A is what was changed.
    let (code, said) = compare(&place, "--paired --fail-on 5% b a");
    assert!(
        code == 1 && said.contains("pipe (1 copy") && said.contains("failed in A1: it crashed"),
        "{said}"
    );
    // Nothing left at all.
    Made::new("c", 3).without("syscall", Some("no such call"), None).write(&place);
    assert_eq!((compare(&place, "--fail-on 5% a c").0, compare(&place, "a c").0), (1, 3));
}

/// What stands between backticks.
fn commands(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Runs that were made by the tool: each command that is printed is run as printed, and measures
/// what it should.
#[test]
fn the_suggested_commands_repeat_the_runs() {
    let place = Place::new();
    for count in [1000, 500] {
        let output = place.fake("honest", &format!("-i 8 --patience 3s count={count}"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let (code, said) = compare(&place, "latest~1 latest --fail-on 5%");
    assert_eq!(code, 0, "{said}");
    let commands = commands(&said);
    let [as_a, as_b, confirm] = &commands[..] else { panic!("{said}") };
    assert!(
        as_a.contains("count=1000") && as_b.contains("count=500") && as_a.contains("--patience 3s"),
        "{said}"
    );
    let path = std::path::Path::new(env!("CARGO_BIN_EXE_unixmark"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let run = |command: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).env("UNIXMARK_RESULTS", place.results());
        shell.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap())).output().unwrap()
    };
    for command in [as_a, as_b] {
        let output = run(command);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
    }
    let again = run(confirm);
    assert_eq!(again.status.code(), Some(1), "{confirm}: {}", stderr(&again));
    assert!(stderr(&again).contains("and again in the second look"), "{}", stderr(&again));
}

/// The same run as somebody else's file: its program is theirs.
#[test]
fn the_suggested_commands_run_nothing_of_others() {
    let place = Place::new();
    for count in [1000, 500] {
        let output = place.fake("honest", &format!("-i 8 --patience 3s count={count}"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let journal = place.results().join(place.newest()).join("run.jsonl");
    let theirs = place.root.path().join("theirs.jsonl");
    std::fs::copy(journal, &theirs).unwrap();
    let (code, said) = compare(&place, &format!("latest~1 {} --fail-on 5%", theirs.display()));
    assert_eq!(code, 0, "{said}");
    let commands = commands(&said);
    let theirs = commands.iter().find(|command| command.contains("count=500")).unwrap();
    assert!(
        !theirs.contains("--program") && said.contains("(left out: --dir and --program: "),
        "{said}"
    );
    assert!(
        commands
            .iter()
            .any(|command| command.contains("--program") && command.contains("count=1000")),
        "{said}"
    );
}

#[test]
fn sides_can_be_named() {
    let rate = |name, seed, speed: f64| Made::new(name, seed).rate("syscall", 1e6 * speed, 24);
    let place =
        place(&[rate("b1", 1, 1.0), rate("c1", 2, 0.8), rate("b2", 3, 1.0), rate("c2", 4, 0.8)]);
    let text = |words: &str| stdout(&place.unixmark(&format!("compare {words}")).output().unwrap());
    assert_eq!(text("--changed c1 --base b1"), text("b1 c1"));
    // In rounds too the base is A; --paired goes on with the thesis's order, and its tables.
    let (named, paired) = (
        super::made::json(&place, "--base b1 b2 --changed c1 c2"),
        super::made::json(&place, "--paired c1 b1 c2 b2"),
    );
    let (one, other) = (&named["comparisons"][0], &paired["comparisons"][0]);
    for key in ["delta", "low", "high", "verdict", "n", "test"] {
        assert_eq!(one[key], other[key], "{key}");
    }
    assert_eq!((&one["a"], &one["b"], &one["run"]), (&other["b"], &other["a"], &"B".into()));
    assert!(named["thesis"].is_null() && paired["thesis"].is_object());
    let (named, paired) = (text("--base b1 b2 --changed c1 c2"), text("--paired c1 b1 c2 b2"));
    let sides = |text: &str, letters: [&str; 2]| {
        let line = |start: String| {
            text.lines().find(|line| line.trim_start().starts_with(&start)).unwrap().to_owned()
        };
        line(format!("{}1:", letters[0])).contains("b1")
            && line(format!("{}1:", letters[1])).contains("c1")
    };
    assert!(named.contains("B against A: 1 slower") && sides(&named, ["A", "B"]), "{named}");
    assert!(paired.contains("A against B: 1 slower") && sides(&paired, ["B", "A"]), "{paired}");
    let flat = testing::flat(&named);
    assert!(
        flat.contains("B1 against A1, B2 against A2: B is what was changed, A what it is measured"),
        "{named}"
    );
    for (words, reason) in [
        ("--base b1 b2 --changed c1", "must name equally many runs"),
        ("--base b1", "--changed"),
        ("b1 c1 --base b2 --changed c2", "cannot be used with"),
    ] {
        let (code, said) = compare(&place, words);
        assert!(code == 2 && said.contains(reason), "{words}: {said}");
    }
}

#[test]
fn what_keeps_runs_apart_is_named() {
    let rate = |name, seed| Made::new(name, seed).rate("syscall", 1e6, 12);
    let (mut slack, mut nice) = (rate("slack", 2), rate("nice", 3));
    slack.journal.run.settings = vec!["slack=500000".to_owned()];
    nice.journal.cells[0].key.condition = "nice=10".to_owned();
    let place = place(&[rate("plain", 1), slack, nice]);
    let json = super::made::json(&place, "plain slack");
    assert_eq!(
        (json["comparable"].as_bool(), json["unlike"][0].as_str()),
        (Some(false), Some("options")),
        "{json}"
    );
    assert!(
        json["warnings"].to_string().contains("none (A), slack=500000 (B)"),
        "{}",
        json["warnings"]
    );
    let (code, said) = compare(&place, "plain nice");
    assert_eq!(code, 3, "{said}");
    let commands = commands(&said);
    assert_eq!(commands, ["unixmark compare plain nice --conditions none,nice=10"], "{said}");
    assert_eq!(compare(&place, commands[0].strip_prefix("unixmark compare ").unwrap()).0, 0);
}

#[test]
fn a_report_that_does_not_describe_its_system_is_a_line() {
    let place = Place::new();
    let report = testing::file("tests/vectors/unixbench_1copy_report.txt");
    let import = |more: &str| {
        place.unixmark("import").arg(&report).args(more.split_whitespace()).output().unwrap()
    };
    assert_eq!(import("").status.code(), Some(0));
    assert_eq!(place.run("syscall -c 1 -i 2 -q").status.code(), Some(0));
    let text = stdout(&place.unixmark("compare latest~1 latest").output().unwrap());
    let flat = testing::flat(&text);
    assert!(flat.contains("A comes from a report that does not describe its system"), "{text}");
    assert!(text.lines().filter(|line| line.contains("unknown (A)")).count() < 5, "{text}");
}
