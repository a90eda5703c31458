//! The reference collection: listed, divided by, stood among, and an entry prepared and checked.

use testing::{Place, file, recorded, stderr, stdout};

#[test]
fn an_entry_is_prepared_checked_and_refused_when_changed() {
    let place = Place::new();
    let add = |arguments: &[&str]| {
        place
            .unixmark("reference")
            .arg("add")
            .arg(recorded("zen4"))
            .args(arguments)
            .output()
            .unwrap()
    };
    let made = add(&["-m", "My server, 2 CPUs"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let entry = place.root.path().join("entry.jsonl");
    std::fs::write(&entry, &made.stdout).unwrap();
    let check = || place.unixmark("reference").arg("--check").arg(&entry).output().unwrap();
    let said = check();
    assert!(
        said.status.success() && stdout(&said).contains("accepted: my-server-2-cpus"),
        "{}",
        stdout(&said)
    );
    std::fs::write(&entry, stdout(&made).replace("\"cpus\":2", "\"cpus\":4")).unwrap();
    let said = check();
    assert_eq!(said.status.code(), Some(1));
    assert!(stderr(&said).contains("refused: its sum is"), "{}", stderr(&said));
    let compared = place.unixmark("reference").arg("add").arg(recorded("cost")).output().unwrap();
    assert_eq!(compared.status.code(), Some(2), "{}", stderr(&compared));
}

#[test]
fn an_entry_is_a_baseline_and_a_neighbour() {
    let place = Place::new();
    let list = place.unixmark("reference").output().unwrap();
    assert!(
        stdout(&list)
            .lines()
            .any(|line| line.starts_with("cloud-2018 ") && line.contains("; imported; "))
    );
    let report = |arguments: &[&str]| {
        stdout(&place.unixmark("report").arg(recorded("zen4")).args(arguments).output().unwrap())
    };
    let text = report(&[]);
    let line = text
        .lines()
        .find(|line| line.starts_with("System Benchmarks Index Score (1 copy): better than"));
    assert!(line.is_some(), "{text}");
    let against = report(&["--baseline", "zen-4"]);
    let score = against
        .lines()
        .find(|line| line.starts_with("System Benchmarks against zen-4 Index Score"))
        .unwrap();
    assert!(score.contains(" 10.0 "), "{score}");
    assert!(
        !against.contains("against zen-4 Index Score (1 copy): better"),
        "another baseline is another index"
    );
    let imported =
        place.unixmark("report").arg(file("reference/cloud-2018.jsonl")).output().unwrap();
    assert!(stdout(&imported).contains("1362.9"), "{}", stdout(&imported));
}
