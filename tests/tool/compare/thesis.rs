//! The 1994 thesis's tables: its own figures come out, and later runs have the same tables.

use serde_json::{Map, Value, json};

use super::made::{self, Made};
use testing::{Place, stdout};

const PAIR: &str = include_str!("../../vectors/audit_1994_pair1.json");

/// Figure 4 of both pairs: the tests that lose more than 1 % in either, and the larger loss.
const FIGURE: [(&str, f64); 10] = [
    ("System Call Overhead Test", 85.219_440),
    ("Dc: sqrt(2) to 99 decimal places", 17.527_989),
    ("Execl Throughput Test", 15.505_618),
    ("Process Creation Test", 9.390_445),
    ("File Read (10 seconds)", 7.692_308),
    ("C Compiler Test", 7.534_247),
    ("Shell scripts (1 concurrent)", 7.142_857),
    ("File Read (30 seconds)", 4.252_059),
    ("Shell scripts (2 concurrent)", 3.75),
    ("Pipe Throughput Test", 1.417_871),
];

/// What is known of Delta-2: where the figure's bar is not Delta-1's, and where Delta-3 tells.
const SECOND: [(&str, f64); 8] = [
    ("System Call Overhead Test", -84.80),
    ("Execl Throughput Test", -15.505_618),
    ("Process Creation Test", -9.390_445),
    ("File Read (10 seconds)", -100.0 / 13.0),
    ("File Read (30 seconds)", -4.252_059),
    ("File Write (30 seconds)", -0.971),
    ("Dhrystone 2 without register variables", -0.014_418),
    ("Arithmetic Test (type = register)", 0.216_395 - 0.139_125),
];

fn vector() -> Value {
    serde_json::from_str(PAIR).unwrap()
}

/// Imports a table of runs and returns their names.
fn import(place: &Place, table: &Value) -> Vec<String> {
    let path = place.root.path().join("runs.json");
    std::fs::write(&path, table.to_string()).unwrap();
    let output = place.unixmark(&format!("import {}", path.display())).output().unwrap();
    stdout(&output).lines().map(|line| line.rsplit('/').next().unwrap().to_owned()).collect()
}

/// The first pair, and a second one that has what is known of it.
fn both_pairs() -> Value {
    let mut table = vector();
    let off = table["run2"].as_object().unwrap().clone();
    let on: Map<String, Value> = off
        .iter()
        .map(|(label, test)| {
            let delta =
                SECOND.iter().find(|(known, _)| known == label).map_or(0.0, |(_, delta)| *delta);
            let value = test["value"].as_f64().unwrap() * (1.0 + delta / 100.0);
            (label.clone(), json!({"value": value, "unit": test["unit"]}))
        })
        .collect();
    table["run3"] = on.into();
    table["run4"] = off.into();
    table
}

fn row<'a>(report: &'a Value, label: &str) -> &'a Value {
    let rows = report["thesis"]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["label"] == label).unwrap_or_else(|| panic!("{label}"))
}

#[test]
fn the_first_pair_comes_out_exactly() {
    let place = Place::new();
    let runs = import(&place, &vector());
    assert_eq!(runs.len(), 2);
    let report = made::json(&place, &format!("--paired {}", runs.join(" ")));
    let vector = vector();
    let expected = vector["expected_delta1_percent"].as_object().unwrap();
    assert_eq!((expected.len(), report["thesis"]["rows"].as_array().unwrap().len()), (27, 27));
    for (label, delta) in expected {
        let row = row(&report, label);
        let delta = delta.as_f64().unwrap();
        // The expected deltas are printed with nine decimals.
        assert!((row["deltas"][0].as_f64().unwrap() - delta).abs() <= 1e-9, "{row}, {delta}");
        let factor = vector["expected_time_factor"][label].as_f64().unwrap();
        assert!((row["time_factor"].as_f64().unwrap() - factor).abs() < 1e-9, "{row}, {factor}");
        assert!(row["delta3"].is_null());
        // The comparison says the same.
        let all = report["comparisons"].as_array().unwrap();
        let one = all.iter().find(|one| one["label"] == label.as_str()).unwrap();
        assert!((one["delta"].as_f64().unwrap() - delta).abs() < 1e-8, "{one}");
        assert_eq!(
            (one["verdict_text"].as_str(), one["low"].as_f64()),
            (Some("undecided (no interval)"), None)
        );
        assert_eq!((one["run"].as_str(), one["against"].as_str()), (Some("A"), Some("B")));
    }
    // ON over OFF, the geometric mean of all 27.
    let total = &report["totals"][0];
    assert_eq!(total["rates"], 27);
    assert_eq!(format!("{:.4}", 1.0 + total["delta"].as_f64().unwrap() / 100.0), "0.9093");
    assert_eq!(
        report["runs"][0]["comment"].as_str().unwrap().rsplit("; ").next(),
        Some("auditing on")
    );
}

#[test]
fn the_index_of_byte_hides_what_the_geometric_mean_shows() {
    let place = Place::new();
    let six = vector()["index_byte311"]["run1"]["items"].as_array().unwrap().clone();
    let mut table = vector();
    for run in ["run1", "run2"] {
        let tests = table[run].as_object_mut().unwrap();
        tests.retain(|label, _| six.iter().any(|item| item["test"] == label.as_str()));
    }
    let runs = import(&place, &table);
    let report = made::json(&place, &format!("--paired {}", runs.join(" ")));
    assert_eq!(report["totals"][0]["rates"], 6);
    assert_eq!(
        format!("{:.4}", 1.0 + report["totals"][0]["delta"].as_f64().unwrap() / 100.0),
        "0.9720"
    );
    let index = |run: &str| place.json(run)["index"][0].clone();
    let (on, off) = (index(&runs[0]), index(&runs[1]));
    assert_eq!(
        format!("{:.1} {:.1}", on["score"].as_f64().unwrap(), off["score"].as_f64().unwrap()),
        "1.1 1.1"
    );
}

#[test]
fn both_pairs_have_its_figure() {
    let place = Place::new();
    let runs = import(&place, &both_pairs());
    assert_eq!(runs.len(), 4);
    let words = format!("--paired {}", runs.join(" "));
    let report = made::json(&place, &words);
    let figure = report["thesis"]["figure4"].as_array().unwrap();
    let labels: Vec<&str> = figure.iter().map(|bar| bar["label"].as_str().unwrap()).collect();
    assert_eq!(labels, FIGURE.map(|(label, _)| label));
    for (bar, (label, loss)) in figure.iter().zip(FIGURE) {
        assert!((bar["loss"].as_f64().unwrap() - loss).abs() < 1e-6, "{bar}, {loss}");
        let factor = 1.0 / (1.0 - bar["loss"].as_f64().unwrap() / 100.0);
        assert!((bar["time_factor"].as_f64().unwrap() - factor).abs() < 1e-12);
        assert_eq!(row(&report, label)["time_factor"], bar["time_factor"]);
    }
    // Delta-3 is of the signed deltas: its rows where the signs differ show it.
    for (label, delta3) in [
        ("Dhrystone 2 without register variables", 0.045_227),
        ("Arithmetic Test (type = register)", 0.216_395),
        ("File Read (10 seconds)", 11.692_307),
    ] {
        assert!(
            (row(&report, label)["delta3"].as_f64().unwrap() - delta3).abs() < 1.1e-6,
            "{label}"
        );
    }
    let text = made::text(&place, &words);
    for told in [
        "A1 against B1, A2 against B2: A is what was changed",
        "Delta-1     Delta-2     Delta-3",
        "System Call Overhead Test                     -85.219440  -84.800000    0.419440",
        "System Call Overhead Test 85.219440 6.77x ########",
    ] {
        assert!(testing::flat(&text).contains(&testing::flat(told)), "{told}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let markdown = made::text(&place, &format!("--format markdown {words}"));
    assert!(
        markdown.contains("| System Call Overhead Test | -85.219440 | -84.800000 | 0.419440 |"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| Dc: sqrt(2) to 99 decimal places | 17.527989 | 1.21x |"),
        "{markdown}"
    );
    let csv = made::text(&place, &format!("--format csv {words}"));
    assert!(csv.lines().next().unwrap().ends_with(",warnings,delta1,delta2,delta3"), "{csv}");
    let fields = |line: &str| {
        line.rsplit(',').take(3).map(|field| field.parse::<f64>().unwrap()).collect::<Vec<f64>>()
    };
    let syscall = fields(csv.lines().find(|line| line.contains(",syscall,")).unwrap());
    assert!(
        (syscall[2] + 85.219_440_353).abs() < 1e-8 && (syscall[1] + 84.8).abs() < 1e-8,
        "{syscall:?}"
    );
}

#[test]
fn a_zero_of_too_few_digits_says_so() {
    let place = Place::new();
    let runs = import(&place, &vector());
    let words = format!("--paired {}", runs.join(" "));
    let report = made::json(&place, &words);
    for (label, resolution) in [
        ("Shell scripts (8 concurrent)", Some(6.25)),
        ("Shell scripts (4 concurrent)", Some(2.5)),
        ("Shell scripts (2 concurrent)", Some(100.0 / 77.0)),
        ("File Write (30 seconds)", None),
    ] {
        let found = row(&report, label)["resolution"].as_f64();
        assert_eq!(found.is_some(), resolution.is_some(), "{label}");
        assert!(
            (found.unwrap_or(0.0) - resolution.unwrap_or(0.0)).abs() < 1e-9,
            "{label}: {found:?}"
        );
    }
    let text = made::text(&place, &words);
    assert!(text.contains("0±6.3%") && text.contains("0 ± 6.3\n"), "{text}");
    let warned = made::of(&report, "shell8", "score")["warnings"].to_string();
    assert!(
        warned.contains("1.6 lpm has so few digits that one unit of the last is 6.25 % of it"),
        "{warned}"
    );
    // Runs measured here have all their digits.
    let own = made::place(&[
        Made::new("a", 1).rate("few", 3.0, 8),
        Made::new("b", 2).rate("few", 3.0, 8),
    ]);
    assert!(made::json(&own, "a b")["comparisons"][0]["resolution"].is_null());
}

#[test]
fn latencies_and_many_rounds_have_the_same_table() {
    let run = |name: String, seed: u64| {
        let slow = seed.is_multiple_of(2);
        let made = Made::new(&name, seed).rate("syscall", if slow { 5e5 } else { 1e6 }, 6);
        made.latency("none", if slow { 300.0 } else { 100.0 }, 2, 1200, 4)
    };
    let runs: Vec<Made> = (0..8).map(|number| run(format!("r{number}"), number)).collect();
    let place = made::place(&runs);
    let words = "--paired r0 r1 r2 r3 r4 r5 r6 r7";
    let report = made::json(&place, words);
    let rows = report["thesis"]["rows"].as_array().unwrap();
    // Three times the latency is a third of the rate; met deadlines are no rate.
    assert_eq!(
        rows.iter().map(|row| row["measure"].as_str().unwrap()).collect::<Vec<_>>(),
        ["score", "p50", "p99"]
    );
    assert_eq!(rows[1]["deltas"].as_array().unwrap().len(), 4);
    assert!((rows[1]["deltas"][0].as_f64().unwrap() + 67.0).abs() < 3.0, "{}", rows[1]);
    let deltas: Vec<f64> =
        rows[0]["deltas"].as_array().unwrap().iter().map(|delta| delta.as_f64().unwrap()).collect();
    let spread = deltas.iter().copied().fold(f64::MIN, f64::max)
        - deltas.iter().copied().fold(f64::MAX, f64::min);
    assert!((rows[0]["delta3"].as_f64().unwrap() - spread).abs() < 1e-12);
    let text = made::text(&place, words);
    assert!(
        text.contains("Delta-4      spread") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let csv = made::text(&place, &format!("--format csv {words}"));
    assert!(
        csv.starts_with("run,") && csv.lines().next().unwrap().ends_with("delta4,spread"),
        "{csv}"
    );
    let widths: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{csv}");
}
