//! Energy between runs: the same work with more or less of it.

use serde_json::Value;
use testing::{Place, stderr, stdout};

use super::made::{Made, earlier, json, of, place, text};

/// Two tests at the usual rates, on a machine that draws so many watts.
fn drawing(name: &str, seed: u64, watts: f64) -> Made {
    let made = Made::new(name, seed).rate("syscall", 1e6, 24).rate("pipe", 2e5, 24);
    from(made, "meter").with(|journal| {
        journal
            .trials
            .iter_mut()
            .for_each(|trial| trial.energy = Some(journal::Energy::new(watts, 1.0)));
    })
}

/// A run whose energy was read from a source.
fn from(made: Made, source: &str) -> Made {
    made.with(|journal| journal.facts.remove("run.energy")).fact("run.energy", source)
}

fn energies(report: &Value) -> Vec<&Value> {
    report["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["measure"] == "energy")
        .collect()
}

fn numbers<const N: usize>(one: &Value, keys: [&str; N]) -> [f64; N] {
    keys.map(|key| one[key].as_f64().unwrap_or_else(|| panic!("{key} of {one}")))
}

/// Six rounds of 40 W and of something else.
fn rounds(watts: f64) -> (Place, String) {
    let base = (0..6).map(|number| drawing(&format!("base{number}"), number, 40.0));
    let changed = (0..6).map(|number| drawing(&format!("changed{number}"), number + 7, watts));
    let place = place(&base.chain(changed).collect::<Vec<Made>>());
    let names = |side: &str| {
        (0..6).map(|number| format!("{side}{number}")).collect::<Vec<String>>().join(" ")
    };
    (place, format!("--base {} --changed {}", names("base"), names("changed")))
}

#[test]
fn a_planted_saving_is_shown_with_its_interval() {
    let place = place(&[drawing("a", 1, 40.0), drawing("b", 2, 32.0)]);
    let report = json(&place, "a b");
    assert_eq!(energies(&report).len(), 2);
    for one in energies(&report) {
        let [delta, low, high, a, b] = numbers(one, ["delta", "low", "high", "a", "b"]);
        assert!(
            (-22.0..-18.0).contains(&delta) && low < -20.0 && -20.0 < high && high < -15.0,
            "{one}"
        );
        // Both sides show their medians, and the delta is the median of differences.
        assert!((b / a - 1.0 - delta / 100.0).abs() < 0.02, "{one}");
        assert_eq!((&one["unit"], &one["lower_is_better"]), (&"J".into(), &true.into()));
        assert!(one["time_factor"].is_null(), "energy is no time: {one}");
        // Two runs alone do not show that it was the change.
        assert_eq!(one["verdict"], "differs", "{one}");
    }
    let [a] = numbers(of(&report, "syscall", "energy"), ["a"]);
    assert!((a / 40e-6 - 1.0).abs() < 0.03, "40 W over a million a second: {a}");
    let text = text(&place, "a b");
    let row = text.lines().find(|line| line.starts_with("syscall energy, J -")).unwrap();
    assert!(row.ends_with(" µJ") && row.contains(" 4"), "{text}");
    assert!(
        report["totals"][0]["delta"].as_f64().unwrap().abs() < 2.0,
        "of rates alone: {}",
        report["totals"]
    );
}

#[test]
fn every_format_has_it() {
    let (place, sides) = rounds(32.0);
    for format in
        ["text", "markdown", "html", "csv", "json", "junit", "commit", "bmf", "github-smaller"]
    {
        let shown = text(&place, &format!("{sides} --fail-on 5% --format {format}"));
        assert!(shown.contains("energy"), "{format}: {shown}");
    }
    for one in energies(&json(&place, &sides)) {
        assert_eq!(one["verdict"], "better", "{one}");
        let [low, high] = numbers(one, ["low", "high"]);
        assert!(low < -20.0 && -20.0 < high, "{one}");
    }
    assert!(text(&place, &sides).contains(" 2 faster or better"), "{}", text(&place, &sides));
    // A table of the thesis is of rates.
    let thesis = json(&place, "--paired changed0 base0 changed1 base1");
    assert_eq!(
        (energies(&thesis).len(), thesis["thesis"]["rows"].as_array().unwrap().len()),
        (2, 2)
    );
    let beside = json(&place, "base0 changed0 --side-by-side");
    let rows: Vec<&Value> = beside["systems"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["measure"] == "energy")
        .collect();
    assert_eq!(rows.len(), 2);
    rows.iter().for_each(|row| assert_eq!(row["scores"]["B"]["mark"], "best", "{row}"));
    assert!(text(&place, "base0 changed0 --side-by-side").contains("2 systems, 2 figures"));
}

#[test]
fn what_takes_more_closes_the_gate() {
    let (place, sides) = rounds(50.0);
    let gate = |size: &str| {
        let output = place.unixmark(&format!("compare {sides} --fail-on {size}")).output().unwrap();
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (status, shown, said) = gate("20%");
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("syscall (energy, 1 copy, load none, condition none) is worse in B by 2"),
        "{said}"
    );
    assert!(shown.contains(": 2 slower or worse (") && shown.contains(" energy +2"), "{shown}");
    assert_eq!(gate("30%").0, Some(0));
}

#[test]
fn the_same_energy_is_no_difference() {
    let (place, sides) = rounds(40.0);
    for words in [&sides, "base0 base1", "base1 changed3"] {
        for one in energies(&json(&place, words)) {
            assert!(
                ["same", "undecided"].contains(&one["verdict"].as_str().unwrap()),
                "{words}: {one}"
            );
        }
    }
}

/// What is called of speed does not depend on a meter beside the machine.
#[test]
fn speed_is_judged_as_without_energy() {
    let runs = |is_metered: bool| {
        let made = |name: &str, seed, rate| {
            let made = Made::new(name, seed).rate("syscall", rate, 6).rate("pipe", 2e5, 6);
            from(made, "meter").with(|journal| {
                let energy = is_metered.then(|| journal::Energy::new(40.0, 1.0));
                journal.trials.iter_mut().for_each(|trial| trial.energy = energy);
            })
        };
        let place = place(&[made("a", 1, 1e6), made("b", 2, 9e5)]);
        earlier(|made| made.rate("syscall", 1e6, 6).rate("pipe", 2e5, 6), &place);
        json(&place, "a b")
    };
    let (with, without) = (runs(true), runs(false));
    assert_eq!((energies(&with).len(), energies(&without).len()), (2, 0));
    for test in ["syscall", "pipe"] {
        assert_eq!(of(&with, test, "score"), of(&without, test, "score"));
    }
}

#[test]
fn it_is_absent_where_a_side_has_none_or_another_source() {
    let without = Made::new("without", 3).rate("syscall", 1e6, 24).rate("pipe", 2e5, 24);
    let other = from(drawing("other", 4, 40.0), "powercap: package-0");
    let place = place(&[drawing("a", 1, 40.0), without, other]);
    for (words, says) in [("a without", false), ("without a", false), ("a other", true)] {
        let report = json(&place, words);
        assert!(
            energies(&report).is_empty() && report["missing"].as_array().unwrap().is_empty(),
            "{words}"
        );
        let notes = report["notes"].to_string();
        assert_eq!(notes.contains("same kind: meter (A), powercap (B)"), says, "{notes}");
        assert!(!text(&place, words).contains("syscall energy"));
    }
    let beside = json(&place, "a other --side-by-side");
    assert!(beside["systems"].as_array().unwrap().iter().all(|row| row["measure"] == "score"));
}
