//! Which nodes of a fleet are slow, in one made of a recorded run and one that was recorded.
//! `bench/slow` measures a real one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};
use testing::{Place, normal, stderr, stdout};

/// Ten nodes, made of the recorded run `index`: whatever its programs counted, times what a node
/// deviates by in a test (1.2 %). The seventh is 10 % slow, has an old microcode, and its
/// neighbours took processor time. `change` has each journal's text.
fn collected(place: &Place, change: impl Fn(usize, String) -> String) -> PathBuf {
    let recorded = testing::file("tests/runs/index/run.jsonl");
    let recorded = std::fs::read_to_string(recorded).unwrap();
    let lines: Vec<Value> =
        recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut random = Pcg64Mcg::seed_from_u64(77);
    let sources = place.root.path().join("sources");
    std::fs::create_dir(&sources).unwrap();
    for node in 1..=10 {
        let slow = node == 7;
        let speeds: Vec<f64> = (0..10)
            .map(|_| (0.012 * normal(&mut random)).exp() * if slow { 0.9 } else { 1.0 })
            .collect();
        let mut text = String::new();
        for mut line in lines.clone() {
            if line["type"] == "run" {
                line["fleet"] =
                    json!({"run": "night", "node": format!("n{node}"), "task": "0", "attempt": 0});
            }
            if line["type"] == "cell" && line["id"] == 0 {
                let microcode = if slow { "0xb000038" } else { "0xb000040" };
                for (name, value) in [
                    ("cpu.microcode", microcode.to_owned()),
                    ("system.host", format!("host{node}")),
                ] {
                    text += &json!({"type": "fact", "name": name, "label": name, "group": "Processor", "value": value})
                        .to_string();
                    text.push('\n');
                }
            }
            let speed = line["cell"].as_u64().map(|cell| speeds[cell as usize]);
            for copy in line.get_mut("copies").and_then(Value::as_array_mut).into_iter().flatten() {
                for slice in copy["slices"].as_array_mut().into_iter().flatten() {
                    slice[2] = json!((slice[2].as_f64().unwrap() * speed.unwrap()).round() as u64);
                }
            }
            if slow && line["noise"].is_object() {
                line["noise"]["steal_s"] = json!(0.1);
            }
            text += &line.to_string();
            text.push('\n');
        }
        std::fs::write(sources.join(format!("{node:02}.jsonl")), change(node, text)).unwrap();
    }
    let into = place.root.path().join("fleet");
    let output = place
        .unixmark(&format!("collect {} --into {}", sources.display(), into.display()))
        .output()
        .unwrap();
    assert!(output.status.code().unwrap() < 2, "{}", stderr(&output));
    into
}

fn fleet_report(place: &Place, directory: &Path, words: &str) -> (i32, String, String) {
    let output =
        place.unixmark(&format!("fleet report {} {words}", directory.display())).output().unwrap();
    (output.status.code().unwrap(), stdout(&output), stderr(&output))
}

/// A journal whose trials took so many watts, by a meter.
fn metered(text: &str, watts: f64) -> String {
    let mut metered = String::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["type"] == "cell" && line["id"] == 0 {
            let fact = json!({"type": "fact", "name": "run.energy", "label": "Energy", "group": "Run", "value": "meter"});
            metered += &format!("{fact}\n");
        }
        if line["type"] == "trial" && line["copies"].is_array() {
            line["energy"] = json!({"joules": watts, "seconds": 1.0});
        }
        metered += &format!("{line}\n");
    }
    metered
}

#[test]
fn the_node_that_burns_more_is_named() {
    let place = Place::new();
    // The seventh is slow, so it takes more for the same work at the same power; the third has a
    // bad power supply.
    let directory =
        collected(&place, |node, text| metered(&text, if node == 3 { 240.0 } else { 200.0 }));
    let (_, text, said) = fleet_report(&place, &directory, "");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let flat = testing::flat(&text);
    assert!(flat.contains("1 of 10 nodes is slow: n7"), "{text}{said}");
    assert!(
        flat.contains("More energy for the same work: n3 (+19.8 %) and n7 (+11.4 %)."),
        "{text}"
    );
    insta::assert_snapshot!("energy_text", text.split("Energy of the same work").nth(1).unwrap());
    let (_, json, _) = fleet_report(&place, &directory, "--format json");
    let json: Value = serde_json::from_str(&json).unwrap();
    let energy = json["energy"].as_array().unwrap();
    assert_eq!(
        (energy.len(), &energy[0]["node"], &energy[0]["named"]),
        (10, &json!("n3"), &json!("more"))
    );
    assert!((energy[0]["watts"].as_f64().unwrap() - 240.0).abs() < 1e-6, "{}", energy[0]);
    let [excess, low, high] =
        ["excess", "excess_low", "excess_high"].map(|key| energy[0][key].as_f64().unwrap());
    assert!(low < excess && excess < high && (17.0..23.0).contains(&excess), "{}", energy[0]);
    let named = energy
        .iter()
        .filter(|one| !one["named"].is_null())
        .map(|one| one["node"].as_str().unwrap());
    assert_eq!(named.collect::<BTreeSet<&str>>(), BTreeSet::from(["n3", "n7"]));
    for format in ["html", "markdown", "csv"] {
        let (_, shown, _) = fleet_report(&place, &directory, &format!("--format {format}"));
        assert!(
            shown.contains("240") && (format == "csv" || shown.contains("Energy of the same work")),
            "{format}"
        );
    }
}

#[test]
fn the_slow_node_of_a_fleet_is_named() {
    let place = Place::new();
    let directory = collected(&place, |_, text| text);
    let (code, text, said) = fleet_report(&place, &directory, "");
    assert_eq!(code, 0, "{said}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("fleet_text", text);
    let (_, json, _) = fleet_report(&place, &directory, "--format json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["format"], "unixmark-fleet-report/2");
    let slow: BTreeSet<&str> = json["outliers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["node"].as_str().unwrap())
        .collect();
    assert_eq!(slow, BTreeSet::from(["n7"]));
    let count = |key: &str| json[key].as_array().unwrap().len();
    assert_eq!(
        count("figures"),
        count("nodes") * (count("columns") + 1),
        "each node has each test, and all together"
    );
    let (_, csv, _) = fleet_report(&place, &directory, "--format csv");
    assert_eq!(csv.lines().count(), 1 + count("figures"));
    // The same fleet against itself: nothing changed, on no node.
    let (code, text, said) =
        fleet_report(&place, &directory, &format!("--against {}", directory.display()));
    assert!(
        code == 0 && !text.contains("slower than") && text.contains("same within"),
        "{text}{said}"
    );
    let (code, _, said) = fleet_report(&place, &directory, "--by cpu.microcod");
    assert!(code == 2 && said.contains("did you mean 'cpu.microcode'"), "{said}");
}

/// Ten nodes on one processor, recorded by `bench/slow` on a machine that others used too: the
/// programs of n7 lose a tenth of their rate by the kit's own argument, and it alone had 777 open
/// files.
#[test]
fn a_node_whose_programs_are_slowed_is_named_in_a_recorded_fleet() {
    let place = Place::new();
    let sources = testing::file("tests/runs/fleet");
    let into = place.root.path().join("fleet");
    let collected = place
        .unixmark(&format!("collect {} --into {}", sources.display(), into.display()))
        .output()
        .unwrap();
    assert!(collected.status.success(), "{}", stderr(&collected));
    let (code, text, said) = fleet_report(&place, &into, "");
    assert_eq!(code, 0, "{said}");
    insta::assert_snapshot!("recorded_text", text);
    assert!(text.contains("1 of 10 nodes is slow: n7"), "{text}");
    assert!(text.contains("only one with limits.nofile 777."), "{text}");
}

/// A node whose journal has a first line and nothing else is not among those that are fit, nor does
/// it make facts differ.
#[test]
fn a_node_without_trials_is_no_healthy_one() {
    let place = Place::new();
    let first = |text: String| text.split_inclusive('\n').next().unwrap().to_owned();
    let same = |text: String| text.replace("0xb000038", "0xb000040");
    let into = collected(&place, |node, text| if node == 7 { first(text) } else { same(text) });
    let (code, text, said) = fleet_report(&place, &into, "");
    assert_eq!(code, 0, "{said}");
    let flat = testing::flat(&text);
    assert!(
        flat.contains("None of 9 nodes is shown to be slow. 1 node delivered no figure."),
        "{text}"
    );
    assert!(!flat.contains("unknown (1)"), "{text}");
}

/// Names that would move a terminal's cursor, of 500 letters, or of nothing; and a node that
/// delivered half.
#[test]
fn hostile_names_and_cut_journals_do_not_break_it() {
    let place = Place::new();
    let names =
        ["\\u001b[2J\\u001b[31m", "a\\nb\\rc", &"n".repeat(500), "", "\\u202etxt", "<b>&amp;"];
    let into = collected(&place, |node, text| match names.get(node - 1) {
        Some(name) => {
            text.replace(&format!("\"node\":\"n{node}\""), &format!("\"node\":\"{name}\""))
        }
        None if node == 9 => text[..text.len() * 2 / 3].to_owned(),
        None => text,
    });
    place
        .unixmark(&format!("collect {} --into {0} --expect gone", into.display()))
        .output()
        .unwrap();
    let (code, text, said) = fleet_report(&place, &into, "");
    assert_eq!(code, 0, "{said}");
    assert!(
        text.chars().all(|c| c == '\n' || !c.is_control()) && !text.contains('\u{202e}'),
        "{text:?}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for words in
        ["Delivered: 9 of 11 whole", "no journal of it was found\n", "its journal was cut short"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let status =
        stdout(&place.unixmark(&format!("fleet status {}", into.display())).output().unwrap());
    assert!(
        status.chars().all(|c| c == '\n' || !c.is_control()) && status.contains("(no name)"),
        "{status:?}"
    );
    let (code, json, _) = fleet_report(&place, &into, "--format json");
    assert!(code == 0 && serde_json::from_str::<Value>(&json).is_ok());
}
