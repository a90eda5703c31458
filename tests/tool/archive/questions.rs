//! The questions of docs/archive.md find what was planted in years of made-up runs.

use serde_json::Value;

use testing::{Place, stderr};

use super::duckdb::{ask, document, python};
use super::{export, export_all};
use crate::corpus::{GCC, Made, Recorded, add_journal};

/// Eight hosts of a kind and one of another, six months, a kernel between; a fleet; and what is
/// planted.
fn years(place: &Place) {
    let base = Recorded::read("tests/runs/years/run.jsonl", 6);
    let hosts = ["a1", "a2", "a3", "a4", "a5", "saver", "drifts", "noisy", "big"];
    let months =
        ["2026-01-10", "2026-02-09", "2026-03-11", "2026-04-10", "2026-05-10", "2026-06-09"];
    for host in hosts {
        for (month, date) in months.iter().enumerate() {
            let new = month >= 3;
            let facts = [
                ("kernel.release", if new { "6.12.0" } else { "6.1.0" }),
                ("cpu.model", if host == "big" { "Big Iron" } else { "AMD EPYC" }),
                ("cpu.governor", if host == "saver" { "powersave" } else { "performance" }),
            ];
            let factor = |test: &str, _: &str, block: u64| {
                let kernel = if new && test == "syscall" { 0.9 } else { 1.0 };
                kernel
                    * match host {
                        "big" => 2.0,
                        "saver" => 0.8,
                        "drifts" => (-0.03 * month as f64).exp(),
                        "noisy" => [0.5, 1.5][(block % 2) as usize],
                        _ => 1.0,
                    }
            };
            let compiler =
                if host == "a1" && month == 5 { "cc (Debian 14.2.0) 14.2.0" } else { GCC };
            let started = format!("{date}T03:00:00+00:00");
            let made = Made {
                host,
                started: &started,
                facts: &facts,
                factor: &factor,
                compiler,
                fleet: None,
            };
            add_journal(place, &format!("{host}-{date}"), &base.made(&made));
        }
    }
    let cost = Recorded::read("tests/runs/cost/run.jsonl", 12);
    for (kernel, date) in [("6.1.0", "2026-03-01"), ("6.12.0", "2026-05-01")] {
        let factor = |_: &str, condition: &str, _: u64| {
            if kernel == "6.12.0" && condition == "audit=all" { 0.8 } else { 1.0 }
        };
        let facts = [("kernel.release", kernel), ("cpu.model", "Small")];
        let started = format!("{date}T03:00:00+00:00");
        let made = Made {
            host: "audited",
            started: &started,
            facts: &facts,
            factor: &factor,
            compiler: GCC,
            fleet: None,
        };
        add_journal(place, &format!("audited-{date}"), &cost.made(&made));
    }
    let nodes = place.root.path().join("nodes");
    std::fs::create_dir(&nodes).unwrap();
    for number in 1..=16 {
        let node = format!("n{number:02}");
        let facts = [("cpu.microcode", if number > 10 { "0x2" } else { "0x1" })];
        let factor = |_: &str, _: &str, _: u64| match number {
            13 => 0.8,
            11.. => 0.93,
            _ => 1.0,
        };
        let started = "2026-07-01T03:00:00+00:00";
        let made = Made {
            host: &node,
            started,
            facts: &facts,
            factor: &factor,
            compiler: GCC,
            fleet: Some("night"),
        };
        std::fs::write(nodes.join(format!("{node}.jsonl")), base.made(&made)).unwrap();
    }
}

/// A question's answer, its rows as objects.
fn answer(answers: &[Value], words: &str) -> Vec<Value> {
    let found: Vec<&Value> =
        answers.iter().filter(|a| a["question"].as_str().unwrap().contains(words)).collect();
    assert_eq!(found.len(), 1, "one question about '{words}'");
    let columns = found[0]["columns"].as_array().unwrap();
    let object = |row: &Value| {
        let pairs = columns.iter().zip(row.as_array().unwrap());
        Value::Object(
            pairs.map(|(name, value)| (name.as_str().unwrap().to_owned(), value.clone())).collect(),
        )
    };
    found[0]["rows"].as_array().unwrap().iter().map(object).collect()
}

fn near(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / wanted - 1.0).abs() < 1e-3)
}

#[test]
#[ignore = "needs DuckDB"]
fn the_documents_questions_find_what_was_planted() {
    let place = Place::new();
    years(&place);
    let root = place.root.path();
    let collected = place
        .unixmark(&format!("collect {0}/nodes --into {0}/fleet", root.display()))
        .output()
        .unwrap();
    assert_eq!(collected.status.code(), Some(0), "{}", stderr(&collected));
    export_all(&place);
    let (code, said) = export(&place, &format!("--fleet {}/fleet", root.display()));
    assert!(code == 0 && said.starts_with("exported: 16 runs, "), "{said}");
    let Some(python) = python() else { return };
    let answers = ask(&python, root, &document());
    assert_eq!(answers.len(), 11);

    let kernels = answer(&answers, "kernel to kernel");
    let typical = |kernel: &str| {
        let row = kernels.iter().find(|row| row["kernel"] == kernel && row["runs"] == 24).unwrap();
        row["typical"].as_f64().unwrap()
    };
    assert!((typical("6.12.0") / typical("6.1.0") - 0.9).abs() < 1e-4, "{kernels:#?}");

    let microcodes = answer(&answers, "share a microcode");
    assert_eq!(
        (microcodes.len(), &microcodes[0]["microcode"], &microcodes[0]["slowest"]),
        (2, &"0x2".into(), &"n13".into())
    );
    assert!(
        near(&microcodes[0]["typical"], 0.93) && near(&microcodes[0]["its_share"], 0.8),
        "{microcodes:#?}"
    );
    assert!(near(&microcodes[1]["typical"], 1.0), "{microcodes:#?}");

    let costs = answer(&answers, "auditing cost");
    let cost = |kernel: &str, condition: &str, test: &str| {
        let found: Vec<&Value> = costs
            .iter()
            .filter(|row| {
                row["kernel"] == kernel && row["condition"] == condition && row["test"] == test
            })
            .collect();
        assert_eq!(found.len(), 1, "{kernel} {condition} {test}");
        1.0 + found[0]["change_percent"].as_f64().unwrap() / 100.0
    };
    for test in ["syscall", "execl"] {
        assert!(
            (cost("6.12.0", "audit=all", test) / cost("6.1.0", "audit=all", test) - 0.8).abs()
                < 1e-3,
            "{test}"
        );
        assert!(
            (cost("6.12.0", "audit=on", test) / cost("6.1.0", "audit=on", test) - 1.0).abs() < 1e-3,
            "{test}"
        );
    }

    let slower = answer(&answers, "become slower since a given day");
    let of = |host: &str| slower.iter().filter(|row| row["host"] == host).count();
    assert_eq!((of("a1"), of("saver"), of("big"), of("audited")), (1, 1, 1, 0), "{slower:#?}");
    assert_eq!(of("drifts"), 12, "every test of the index");
    let syscall = slower.iter().find(|row| row["host"] == "a1").unwrap();
    assert!(syscall["test"] == "syscall" && near(&syscall["change_percent"], -10.0), "{syscall}");

    let drifts = answer(&answers, "host drifts");
    assert!(
        drifts[0]["host"] == "drifts" && near(&drifts[0]["percent_a_month"], -3.0),
        "{drifts:#?}"
    );
    assert!(
        drifts[1..].iter().all(|row| row["percent_a_month"].as_f64().unwrap().abs() < 0.01),
        "{drifts:#?}"
    );

    let noise = answer(&answers, "noisy, and where");
    assert_eq!(noise.iter().filter(|row| row["host"] == "noisy").count(), 12, "{noise:#?}");
    assert_eq!(noise[0]["host"], "noisy");

    let indexes = answer(&answers, "index of each type");
    let index = |cpu: &str| {
        indexes.iter().find(|row| row["cpu"] == cpu && row["test"] == "system").unwrap()
    };
    let ratio = index("Big Iron")["typical"].as_f64().unwrap()
        / index("AMD EPYC")["typical"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 0.04, "{indexes:#?}");

    let settings = answer(&answers, "governor and mitigations");
    let saved = settings
        .iter()
        .filter(|row| row["governor"] == "powersave" && near(&row["below_best_percent"], -20.0));
    assert_eq!(saved.count(), 20, "{settings:#?}");

    let builds = answer(&answers, "another compiler");
    assert_eq!(
        (builds.len(), &builds[0]["host"], &builds[0]["date"]),
        (1, &"a1".into(), &"2026-06-09".into())
    );

    let standing = answer(&answers, "stand in its fleet");
    assert_eq!(
        (standing.len(), &standing[0]["node"], &standing[0]["highest"]),
        (16, &"n13".into(), &0.0.into())
    );

    let changes = answer(&answers, "What changed on a host");
    let kernels =
        changes.iter().filter(|row| row["earlier"] == "6.1.0" && row["value"] == "6.12.0").count();
    assert_eq!(
        (kernels, changes.len()),
        (10, 10),
        "every host's kernel, and nothing else: {changes:#?}"
    );
}
