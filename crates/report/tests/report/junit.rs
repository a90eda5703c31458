//! JUnit XML, as a parser reads it.

use std::io::Write;
use std::process::{Command, Stdio};

use analysis::{Asked, Comparisons, Design, Gate, Results, Suspect, Verdict};
use catalogue::Catalogue;
use journal::{Finding, Severity};
use report::{Format, Subject};
use serde_json::Value;

/// What Python's parser finds: the counts that the suite declares, and each case with its outcome
/// and its message.
fn read(xml: &str) -> Value {
    let script = "import sys, json, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
suite, = root.findall('testsuite')
cases = [[case.get('name'), child.tag, child.get('message') or child.text, case.get('classname')] for case in suite for child in case]
assert root.tag == 'testsuites' and len(cases) == len(suite)
print(json.dumps([{key: int(suite.get(key)) for key in ('tests', 'failures', 'skipped', 'errors')}, cases]))";
    let mut python = Command::new("python3");
    let mut child =
        python.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(xml.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{xml}");
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = |tag: &str| cases(&read).iter().filter(|case| case[1] == tag).count() as u64;
    for (key, number) in [
        ("tests", cases(&read).len() as u64),
        ("failures", count("failure")),
        ("skipped", count("skipped")),
        ("errors", 0),
    ] {
        assert_eq!(read[0][key].as_u64(), Some(number), "{key}: {xml}");
    }
    read
}

fn cases(read: &Value) -> &Vec<Value> {
    read[1].as_array().unwrap()
}

fn outcomes<'a>(read: &'a Value, tag: &str) -> Vec<&'a str> {
    cases(read).iter().filter(|case| case[1] == tag).map(|case| case[0].as_str().unwrap()).collect()
}

/// The recorded run, and another that is `speed` times as fast and lacks its first cell.
fn compared(speed: f64) -> Comparisons {
    let before = journal::read(&testing::recorded("index")).unwrap();
    let mut after = before.clone();
    after.cells.iter_mut().for_each(|cell| cell.scale *= speed);
    let lost = after.cells[0].id;
    after.trials.retain(|trial| trial.cell != lost);
    let catalogue = Catalogue::load().unwrap();
    let asked = Asked { design: Design::Apart, threshold: 1.0, conditions: None };
    let mut all = Comparisons::new(
        [before, after].iter().map(|one| Results::new(one, &catalogue, None)).collect(),
        &asked,
    );
    // As earlier runs would have it.
    for one in all.comparisons.iter_mut().filter(|one| one.verdict == Verdict::Differs) {
        one.verdict = if speed < 1.0 { Verdict::Slower } else { Verdict::Faster };
    }
    all
}

#[test]
fn what_closes_the_gate_fails() {
    for speed in [0.3, 1.0, 3.0] {
        let all = compared(speed);
        let gate = all.gate(5.0, None);
        let xml = report::render(Subject::Comparison(&all, Some(&gate)), Format::Junit).unwrap();
        let read = read(&xml);
        let unseen = usize::from(gate.unseen.is_some());
        assert_eq!(cases(&read).len(), all.comparisons.len() + all.missing.len() + unseen, "{xml}");
        let failed = outcomes(&read, "failure");
        let standing: Vec<&Suspect> =
            gate.suspects.iter().filter(|suspect| suspect.stands()).collect();
        assert_eq!(failed.len(), standing.len() + gate.lost.len(), "{xml}");
        assert_eq!((!standing.is_empty(), gate.lost.len()), (speed < 1.0, 1), "{speed}: {xml}");
        for suspect in standing {
            assert!(
                failed.iter().any(|name| name.starts_with(&suspect.first.cell.key.test)),
                "{failed:?}"
            );
        }
        let undecided = all
            .comparisons
            .iter()
            .filter(|one| matches!(one.verdict, Verdict::Undecided(_) | Verdict::Differs));
        let unknown = all.missing.iter().filter(|gap| !gap.lost);
        assert_eq!(
            outcomes(&read, "skipped").len(),
            undecided.count() + unknown.count() + unseen,
            "{xml}"
        );
    }
    // What neither is lost nor can be ruled out is a case of its own, and a failure where that is
    // asked for.
    let all = compared(1.0);
    let gate = all.gate(5.0, None);
    let below = gate.unseen.unwrap().below;
    assert!(below > 5.0 && all.gate(50.0, None).unseen.is_none());
    for is_strict in [false, true] {
        let gate = Gate { is_strict, ..gate.clone() };
        let xml = report::render(Subject::Comparison(&all, Some(&gate)), Format::Junit).unwrap();
        assert!(xml.contains("name=\"gate\"") && xml.contains("may be missed"), "{xml}");
        assert_eq!(outcomes(&read(&xml), "failure").contains(&"gate"), is_strict, "{xml}");
    }
    let all = compared(0.3);
    insta::assert_snapshot!(
        "gate",
        report::render(Subject::Comparison(&all, Some(&all.gate(5.0, None))), Format::Junit)
            .unwrap()
    );
}

#[test]
fn doctors_findings_fail_as_its_status_says() {
    let finding = |severity| Finding {
        severity,
        name: "cpu.governor".to_owned(),
        what: "the <governor> \"powersave\" & a bell \u{7} | more".to_owned(),
        fix: "none\nat all".to_owned(),
    };
    let read_of = |findings: &[Finding]| {
        read(&report::render(Subject::Doctor(findings), Format::Junit).unwrap())
    };
    let some = read_of(&[Severity::Spoils, Severity::Disturbs, Severity::Note].map(finding));
    let tags: Vec<&Value> = cases(&some).iter().map(|case| &case[1]).collect();
    assert_eq!(tags, ["failure", "skipped", "skipped"]);
    assert_eq!(cases(&some)[0][2], "the <governor> \"powersave\" & a bell \\u{7} | more");
    // CI tools complain of a suite without cases.
    assert_eq!(outcomes(&read_of(&[]), "system-out"), ["this machine"]);
}

#[test]
fn what_cannot_fail_says_so() {
    let alone = report::render(Subject::Comparison(&compared(1.0), None), Format::Junit)
        .unwrap_err()
        .to_string();
    assert!(alone.contains("--fail-on 5%"), "{alone}");
    let results = Results::new(
        &journal::read(&testing::recorded("index")).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    );
    let run = report::render(Subject::Run(&results), Format::Junit).unwrap_err().to_string();
    assert!(run.contains("doctor"), "{run}");
}
