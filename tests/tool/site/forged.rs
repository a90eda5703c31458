//! Runs that were made up to stand among those of others: names that collide, tests that are called
//! like others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{files, site};
use testing::page::text;
use testing::{Place, stdout};

/// A whole recorded run, line by line. Under FNV-1a of 32 bits its class was 1e6d0aab.
fn recorded() -> Vec<Value> {
    let text = std::fs::read_to_string(testing::recorded("years").join("run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The same as another suite's, whose figures nothing checks.
fn imported(tool: &str) -> Vec<Value> {
    let mut lines = recorded();
    let run = lines[0].as_object_mut().unwrap();
    run.remove("build");
    for (key, value) in
        [("procedure", "imported"), ("tool", tool), ("host", "forged"), ("name", "forged-01")]
    {
        run.insert(key.to_owned(), json!(value));
    }
    // The first of all runs.
    run.insert("started".to_owned(), json!("1990-01-01T00:00:00+00:00"));
    lines
}

/// Gives the cells of a test another value.
fn set(lines: &mut [Value], test: &str, key: &str, value: &str) {
    let cells: Vec<&mut Value> =
        lines.iter_mut().filter(|line| line["type"] == "cell" && line["test"] == test).collect();
    assert!(!cells.is_empty());
    cells.into_iter().for_each(|cell| cell[key] = json!(value));
}

/// Builds a site of the recorded run and a forged one, which passes the check.
fn built(place: &Place, forged: &[Value]) -> PathBuf {
    let folder = place.root.path().join("runs");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, lines) in [("own", &recorded()[..]), ("forged", forged)] {
        let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        std::fs::write(folder.join(format!("{name}.jsonl")), text).unwrap();
    }
    let checked = place.unixmark("site --check").arg(folder.join("forged.jsonl")).output().unwrap();
    assert!(checked.status.success(), "{}", stdout(&checked));
    let (www, status, said) = site(place, &folder, "www", "");
    assert_eq!(status, 0, "{said}");
    www
}

/// The arguments of the call in a script of the site.
fn handed(www: &Path, name: &str) -> Value {
    let script = std::fs::read_to_string(www.join("data").join(name)).unwrap();
    let (from, to) = (script.find('(').unwrap() + 1, script.rfind(')').unwrap());
    serde_json::from_str(&format!("[{}]", &script[from..to])).unwrap()
}

/// Every measure's values are in the file that says so.
fn assert_measures_stand_apart(www: &Path) -> Vec<Value> {
    let about = handed(www, "site.js")[0].clone();
    let measures = about["measures"].as_array().unwrap().clone();
    let ids: BTreeSet<&str> =
        measures.iter().map(|measure| measure["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), measures.len(), "two of one name: {measures:?}");
    for measure in &measures {
        let values = handed(www, &format!("m-{}.js", measure["file"].as_str().unwrap()));
        assert_eq!(values[0], measure["id"], "another's values are in its file");
        let runs = values[1].as_object().unwrap().len();
        assert_eq!(Some(runs as u64), measure["runs"].as_u64(), "{}", measure["id"]);
    }
    measures
}

#[test]
fn a_class_cannot_be_called_like_another() {
    let place = Place::new();
    // Its hash of 32 bits is that of the recorded run's class.
    let www = built(&place, &imported("suite b7l1af49"));
    let about = handed(&www, "site.js")[0].clone();
    let classes: BTreeSet<&str> = about["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(classes.len(), 2, "{about}");
    assert!(classes.iter().all(|id| id.len() >= 32), "{classes:?}");
    let shards = about["shards"].as_str().unwrap().chars();
    let rows = shards
        .flat_map(|digit| handed(&www, &format!("runs-{digit}.js"))[0].as_array().unwrap().clone());
    assert_eq!(
        rows.map(|row| row[4].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>().len(),
        2
    );
    // On the front page each is the first of its own list.
    let front = text(&std::fs::read_to_string(www.join("index.html")).unwrap());
    let lines: Vec<&str> = front.lines().filter(|line| !line.is_empty()).collect();
    for host in ["vm", "forged"] {
        let place = lines.iter().position(|line| *line == host).unwrap();
        assert_eq!(lines[place - 1], "1", "{host}: {front}");
    }
}

#[test]
fn a_test_cannot_take_the_figures_of_another() {
    for name in [
        // Its hash of 32 bits is that of `pipe`.
        "zc35fab06", // What measures of other kinds are called.
        "index.system",
        "pipe/none/none",
        "cost/pipe/none/audit/none",
        "index.system per watt by meter",
    ] {
        let place = Place::new();
        let mut forged = imported("a suite");
        set(&mut forged, "pipe", "test", name);
        let www = built(&place, &forged);
        let measures = assert_measures_stand_apart(&www);
        let own = measures.iter().find(|measure| measure["id"] == "pipe").unwrap();
        assert_eq!((&own["label"], &own["runs"]), (&json!("Pipe Throughput"), &json!(1)), "{name}");
        let index = measures.iter().find(|measure| measure["id"] == "index.system").unwrap();
        assert_eq!(index["label"], "System Benchmarks index", "{name}");
    }
}

/// An earlier run with another unit once made the figures of all later ones disappear, and its
/// label was that of all.
#[test]
fn no_run_decides_what_the_figures_of_others_are_called() {
    let place = Place::new();
    let mut forged = imported("a suite");
    set(&mut forged, "pipe", "unit", "MB/s");
    set(&mut forged, "syscall", "label", "Visit example.org");
    let www = built(&place, &forged);
    let measures = assert_measures_stand_apart(&www);
    let of = |id: &str| measures.iter().find(|measure| measure["id"] == id).unwrap();
    assert_eq!((&of("pipe")["unit"], &of("pipe")["runs"]), (&json!("lps"), &json!(1)));
    assert_eq!(
        (&of("syscall")["label"], &of("syscall")["runs"]),
        (&json!("System Call Overhead"), &json!(2))
    );
}

#[test]
fn a_fact_cannot_be_taken_for_another() {
    let place = Place::new();
    // The hash of 32 bits of both is the same.
    let alike = ["Alpha", "Beta ddd0fe12"];
    let runs = place.root.path().join("two");
    let facts: [&[(&str, &str)]; 2] =
        alike.map(|model| -> &[(&str, &str)] { Box::leak(Box::new([("cpu.model", model)])) });
    super::systems(&runs, &[("a", 1.0, facts[0]), ("b", 1.0, facts[1])], crate::corpus::GCC);
    let (www, ..) = site(&place, &runs, "www", "");
    let about = handed(&www, "site.js")[0].clone();
    let facet = about["facets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|facet| facet["id"] == "cpu.model")
        .unwrap();
    assert_eq!(facet["values"], json!(alike));
}

/// Links lead out of what was checked, also where a fleet's nodes should be.
#[test]
fn links_are_not_followed() {
    let place = Place::new();
    let folder = super::six(&place);
    let (fleet, elsewhere) = (folder.join("fleet"), place.root.path().join("elsewhere"));
    let mut collect = place.unixmark("collect");
    let collected =
        collect.arg(testing::recorded("fleet")).arg("--into").arg(&fleet).output().unwrap();
    assert!(collected.status.success(), "{}", testing::stderr(&collected));
    let runs =
        |name: &str| super::site(&place, &folder, name, "").2.split(' ').next().unwrap().to_owned();
    assert_eq!(runs("own"), "17");
    std::fs::rename(fleet.join("nodes"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, fleet.join("nodes")).unwrap();
    assert_eq!(runs("linked"), "7");
}

/// Whatever a site had under names of an earlier tool is gone when it is built again.
#[test]
fn names_are_long_and_shorter_ones_are_swept() {
    let place = Place::new();
    let folder = super::six(&place);
    let (www, ..) = site(&place, &folder, "www", "");
    let first = files(&www);
    for old in [
        "r/005507dabb11c860.html",
        "h/0123456789abcdef.html",
        "data/m-c4e85ed9.js",
        "e/005507dabb11c860.html",
    ] {
        std::fs::write(www.join(old), "old").unwrap();
    }
    site(&place, &folder, "www", "");
    assert_eq!(files(&www), first);
    for name in first
        .keys()
        .filter(|name| name.starts_with("r") || name.starts_with("h") || name.starts_with("e"))
    {
        let name = name.file_name().unwrap().to_str().unwrap();
        let digits = name.split('.').next().unwrap();
        assert!(
            digits.len() >= 32 && digits.chars().all(|c| c.is_ascii_hexdigit() || c == '-'),
            "{name}"
        );
    }
}
