//! deploy/grafana: the dashboard is of Grafana's model, and its queries find what was planted in an
//! archive.

use std::process::Command;

use serde_json::Value;

use testing::{Place, python_or_skip, stderr};

use super::duckdb::python;
use super::export_all;
use crate::corpus::{GCC, Made, Recorded, add_journal};

/// Three hosts of a kind, of which one is slow, and one of another kind; a new kernel in March
/// makes system calls slower; the last run of `a` was made by another compiler.
fn months(place: &Place) {
    let base = Recorded::read("tests/runs/years/run.jsonl", 6);
    for host in ["a", "b", "slow", "big"] {
        for month in 1..=4 {
            let new = month >= 3;
            let facts = [
                ("kernel.release", if new { "6.12.0" } else { "6.1.0" }),
                ("cpu.model", if host == "big" { "Big's Iron" } else { "AMD EPYC" }),
            ];
            let factor = |test: &str, _: &str, _: u64| {
                let kernel = if new && test == "syscall" { 0.9 } else { 1.0 };
                kernel
                    * match host {
                        "slow" => 0.8,
                        "big" => 2.0,
                        _ => 1.0,
                    }
            };
            let compiler =
                if host == "a" && month == 4 { "cc (Debian 14.2.0) 14.2.0" } else { GCC };
            let started = format!("2026-{month:02}-10T03:00:00+00:00");
            let made = Made {
                host,
                started: &started,
                facts: &facts,
                factor: &factor,
                compiler,
                fleet: None,
            };
            add_journal(place, &format!("{host}-{month}"), &base.made(&made));
        }
    }
}

/// The rows of a panel, as objects.
fn rows(panel: &Value) -> Vec<Value> {
    let columns = panel["columns"].as_array().unwrap();
    let object = |row: &Value| {
        let pairs = columns.iter().zip(row.as_array().unwrap());
        Value::Object(
            pairs.map(|(name, value)| (name.as_str().unwrap().to_owned(), value.clone())).collect(),
        )
    };
    panel["rows"].as_array().unwrap().iter().map(object).collect()
}

fn near(value: &Value, wanted: f64) -> bool {
    (value.as_f64().unwrap() - wanted).abs() < 1e-3
}

#[test]
#[ignore = "needs DuckDB"]
fn the_dashboard_shows_what_was_planted() {
    let place = Place::new();
    months(&place);
    export_all(&place);
    let (Some(python), Some(_)) =
        (python(), python_or_skip("grafana-foundation-sdk==1769699998!10.1.0"))
    else {
        return;
    };
    let output = Command::new(python.join("bin/python"))
        .arg(testing::file("tests/grafana.py"))
        .arg(testing::file("deploy/grafana"))
        .arg(place.root.path().join("archive"))
        .args(["2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z", "test=syscall", "copies=1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["lost"], serde_json::json!([]), "Grafana's model knows all of it");
    for place in found["grid"].as_array().unwrap() {
        assert!(place["x"].as_u64().unwrap() + place["w"].as_u64().unwrap() <= 24, "{place}");
    }
    let variables = &found["variables"];
    assert!(
        variables["program"][0].as_str().unwrap().starts_with(GCC),
        "the build of most runs: {variables}"
    );
    assert_eq!(variables["host"], serde_json::json!(["a", "b", "big", "slow"]));
    assert_eq!(variables["test"][0], "system", "an index first");

    let panels = &found["panels"];
    let of = |host: &str| rows(&panels[format!("syscall on {host}, copies: 1")]);
    assert_eq!((of("a").len(), of("b").len()), (3, 4), "another build is not among them");
    for row in of("b") {
        let [value, low, high] = ["value", "low", "high"].map(|name| row[name].as_f64().unwrap());
        assert!(low <= value && value <= high, "{row}");
    }
    let values: Vec<f64> = of("b").iter().map(|row| row["value"].as_f64().unwrap()).collect();
    assert!((values[2] / values[1] - 0.9).abs() < 1e-3, "{values:?}");

    let latest = rows(&panels["Latest run of each host: syscall"]);
    assert_eq!(
        (latest.len(), &latest[0]["host"], &latest[3]["host"]),
        (4, &"big".into(), &"slow".into())
    );
    let b = latest.iter().find(|row| row["host"] == "b").unwrap();
    assert!(near(&b["change_percent"], -10.0) && b["runs"] == 4, "{b}");

    let standing = rows(&panels["Where each host stands, all tests"]);
    let hosts: Vec<&Value> = standing.iter().map(|row| &row["host"]).collect();
    assert!(
        hosts[0] == "slow" && !hosts.contains(&&"big".into()),
        "one of a kind has nothing to stand beside: {hosts:?}"
    );
    assert!(near(&standing[0]["typical_percent"], -20.0), "{standing:?}");

    let changed = rows(&panels["Facts that changed"]);
    let kernels: Vec<&Value> = changed.iter().filter(|row| row["value"] == "6.12.0").collect();
    assert!(
        kernels.len() == 4 && kernels.iter().all(|row| row["earlier"] == "6.1.0"),
        "{changed:?}"
    );
    let notes = rows(&found["annotations"]["Facts that changed"]);
    assert!(
        notes.iter().any(|note| note["text"].as_str().unwrap().contains("6.1.0 → 6.12.0")),
        "{notes:?}"
    );

    let left_out = rows(&panels["Left out: runs that are not comparable"]);
    assert_eq!((left_out.len(), &left_out[0]["runs"]), (1, &1.into()), "{left_out:?}");
    assert!(left_out[0]["program"].as_str().unwrap().contains("14.2.0"), "{left_out:?}");
}
