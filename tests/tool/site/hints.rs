//! What a site says of more than one run: why systems differ, and what conditions cost.

use super::{site, six};
use crate::corpus::{GCC, Made, Recorded};
use serde_json::Value;
use testing::browser::Browser;
use testing::{Place, recorded};

/// The facts by which seven systems differ: only the C library changes anything.
const LIBC: [&str; 7] = ["glibc", "musl", "glibc", "glibc", "musl", "glibc", "glibc"];
const KERNEL: [&str; 7] = ["6.1", "6.1", "6.6", "6.6", "6.12", "6.12", "6.12"];

/// Seven systems of which those with musl are slow at starting programs; their names in the site by
/// host.
fn seven(place: &Place) -> std::path::PathBuf {
    let folder = place.root.path().join("runs");
    std::fs::create_dir_all(&folder).unwrap();
    let base = Recorded::read("tests/runs/years/run.jsonl", 8);
    for (number, host) in ["a", "b", "c", "d", "e", "f", "g"].into_iter().enumerate() {
        let is_slow = LIBC[number] == "musl";
        let factor = |test: &str, _: &str, _: u64| {
            if is_slow && (test == "execl" || test.starts_with("shell")) { 0.5 } else { 1.0 }
        };
        let facts: &[(&str, &str)] =
            &[("software.libc", LIBC[number]), ("kernel.release", KERNEL[number])];
        let started = format!("2026-05-{:02}T03:00:00+00:00", number + 1);
        let made =
            Made { host, started: &started, facts, factor: &factor, compiler: GCC, fleet: None };
        std::fs::write(folder.join(format!("{host}.jsonl")), base.made(&made)).unwrap();
    }
    folder
}

/// What a script of the site hands over.
fn handed(www: &std::path::Path, name: &str) -> Value {
    let script = std::fs::read_to_string(www.join("data").join(name)).unwrap();
    let (from, to) = (script.find('(').unwrap() + 1, script.rfind(')').unwrap());
    serde_json::from_str(&script[from..to]).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn a_planted_cause_is_named_beside_the_runs_that_differ_in_it() {
    let place = Place::new();
    let (www, ..) = site(&place, &seven(&place), "www", "");
    let why = handed(&www, "why.js");
    let known = &why.as_object().unwrap().values().next().unwrap();
    assert_eq!(known["systems"], 7);
    let hints = known["hints"].as_array().unwrap();
    assert_eq!(
        hints.iter().map(|hint| &hint["fact"]).collect::<Vec<_>>(),
        ["software.libc"],
        "{hints:?}"
    );
    let text = hints[0]["text"].as_str().unwrap();
    assert!(text.contains("glibc (5 systems), against musl (2 systems)"), "{text}");
    assert!(
        text.contains("slower in exec and shell") && text.contains("based on 2 of 7 systems"),
        "{text}"
    );
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let csv = std::fs::read_to_string(www.join("runs.csv")).unwrap();
    let id = |host: &str| {
        csv.lines()
            .find(|line| line.split(',').nth(2) == Some(host))
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned()
    };
    let mut shown = |one: &str, other: &str| {
        browser.open(
            &www.join("compare.html"),
            &format!("#r={},{}", id(one), id(other)),
            "document.body.dataset.drawn === '1'",
        );
        browser.value("document.getElementById('why').innerText").as_str().unwrap().to_owned()
    };
    let differ = shown("a", "b");
    assert!(differ.contains("Hints, not proof") && differ.contains("musl (2 systems)"), "{differ}");
    let alike = shown("a", "c");
    let told = "None of the facts that differ here goes with the differences between the 7 systems";
    assert!(!alike.contains("musl") && alike.contains(told), "{alike}");
}

#[test]
fn systems_that_differ_in_nothing_but_speed_have_no_hint() {
    let place = Place::new();
    let (www, ..) = site(&place, &six(&place), "www", "");
    for (_, known) in handed(&www, "why.js").as_object().unwrap() {
        assert_eq!(known["hints"], Value::Array(Vec::new()));
        assert!(!known["lead"].as_str().unwrap().is_empty());
    }
}

#[test]
#[ignore = "needs Chromium"]
fn costs_are_ranked_by_what_they_change() {
    let place = Place::new();
    let (www, ..) = site(&place, &recorded("cost"), "www", "");
    let output = place.unixmark("report --format json").arg(recorded("cost")).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let effects = report["comparisons"].as_array().unwrap();
    let about = handed(&www, "site.js");
    let measures: Vec<&Value> = about["measures"].as_array().unwrap().iter().collect();
    let costs: Vec<&&Value> =
        measures.iter().filter(|one| one["group"] == "Cost of a condition").collect();
    assert!(
        !costs.is_empty() && costs.iter().all(|one| one["change"] == true && one["unit"] == "%"),
        "{costs:?}"
    );
    // The figures that they are made of are not ranked as if they were of another machine.
    let raw = |one: &&&Value| one["id"].as_str().unwrap().ends_with("/audit=on");
    assert_eq!(measures.iter().find(raw), None);
    let csv = std::fs::read_to_string(www.join("runs.csv")).unwrap();
    let one = effects.iter().find(|one| one["test"] == "syscall" && one["copies"] == 1).unwrap();
    let (condition, against) =
        (one["condition"].as_str().unwrap(), report["cost"]["against"].as_str().unwrap());
    let measure = format!("cost/syscall/none/{condition}/{against}");
    let line = csv.lines().find(|line| line.contains(&measure) && line.contains(",one,")).unwrap();
    let numbers: Vec<f64> =
        line.rsplit(',').take(3).map(|number| number.parse().unwrap()).collect();
    let close = |a: f64, b: &Value| (a - b.as_f64().unwrap()).abs() < 1e-9;
    assert!(
        close(numbers[2], &one["delta"])
            && close(numbers[1], &one["low"])
            && close(numbers[0], &one["high"]),
        "{line}"
    );
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let address = format!("#m={measure}");
    browser.open(&www.join("index.html"), &address, "document.body.dataset.drawn === '1'");
    let cell = browser.value("document.querySelector('#board tbody td.n').innerText");
    let cell = cell.as_str().unwrap();
    assert!(cell.starts_with('-') && cell.contains(" to -"), "a change with its interval: {cell}");
}
