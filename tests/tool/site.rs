//! Sites: what their files hold, and what a browser makes of them.

mod again;
mod browsed;
mod forged;
mod hints;
mod submitted;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::archive::corpus::{Made, Recorded};
use testing::page::text;
use testing::{Place, stderr, stdout};

const GCC: &str = "cc (Debian 12.2.0-14) 12.2.0";

/// A name that tries to be markup, to end an attribute and to turn the text around.
const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}</title>";

/// A made-up system: its host, its speed, its facts.
type System<'a> = (&'a str, f64, &'a [(&'a str, &'a str)]);

/// Writes the journals of made-up systems, each with a speed and facts of its own.
fn systems(folder: &Path, systems: &[System], compiler: &str) {
    let base = Recorded::read("tests/runs/years/run.jsonl", 4);
    std::fs::create_dir_all(folder).unwrap();
    for (number, (host, speed, facts)) in systems.iter().enumerate() {
        let started = format!("2026-05-{:02}T03:00:00+00:00", number + 1);
        let factor = |_: &str, _: &str, _: u64| *speed;
        let made = Made { host, started: &started, facts, factor: &factor, compiler, fleet: None };
        std::fs::write(folder.join(format!("{compiler:.2}{number}.jsonl")), base.made(&made)).unwrap();
    }
}

/// Six systems, of two processors and kernels, and one with another build.
fn six(place: &Place) -> PathBuf {
    let folder = place.root.path().join("runs");
    let facts = |old: bool| -> &'static [(&'static str, &'static str)] {
        if old {
            &[("cpu.model", "Alpha"), ("kernel.release", "6.1")]
        } else {
            &[("cpu.model", "Beta"), ("kernel.release", "6.12")]
        }
    };
    let all = [
        ("a", 1.0, facts(true)),
        ("b", 1.0, facts(true)),
        ("c", 1.0, facts(true)),
        ("d", 4.0, facts(false)),
        ("e", 16.0, facts(false)),
        ("f", 64.0, facts(true)),
    ];
    systems(&folder, &all, GCC);
    systems(&folder, &[("g", 8.0, facts(false))], "clang 19");
    folder
}

/// Builds a site of a folder; returns its directory, the exit status and the messages.
fn site(place: &Place, folder: &Path, name: &str, options: &str) -> (PathBuf, i32, String) {
    let www = place.root.path().join(name);
    let mut command = place.unixmark("site");
    command.env("XDG_CACHE_HOME", place.root.path().join("cache"));
    let output = command.arg(folder).arg("--into").arg(&www).args(options.split_whitespace()).output().unwrap();
    (www, output.status.code().unwrap(), stderr(&output))
}

/// Every file below a directory, by its name there.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_path_buf(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_same_runs_are_the_same_bytes_and_one_more_leaves_the_others_alone() {
    let place = Place::new();
    let folder = six(&place);
    let (www, status, _) = site(&place, &folder, "www", "");
    assert_eq!(status, 0);
    let first = files(&www);
    let pages = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().filter(|path| path.starts_with("r")).count();
    assert_eq!(pages(&first), 5 * 7, "page, record, journal, badge and chart of each run");
    assert_eq!(first, files(&site(&place, &folder, "again", "").0), "another directory");
    let times = || -> BTreeMap<PathBuf, _> {
        let path = |name: &PathBuf| www.join(name).metadata().unwrap().modified().unwrap();
        first.keys().map(|name| (name.clone(), path(name))).collect()
    };
    let before = times();
    let (_, _, said) = site(&place, &folder, "www", "");
    assert!(said.contains("7 runs, 0 of them new") && times() == before && files(&www) == first, "{said}");
    systems(&folder.join("more"), &[("h", 2.0, &[("cpu.model", "Gamma")])], GCC);
    let (_, _, said) = site(&place, &folder, "www", "");
    assert!(said.contains("8 runs, 1 of them new"), "{said}");
    let after = times();
    let changed: Vec<&PathBuf> = before.keys().filter(|name| before[*name] != after[*name]).collect();
    assert!(
        !changed.is_empty() && changed.iter().all(|name| !name.starts_with("r") && !name.starts_with("h")),
        "{changed:?}"
    );
    // As if it had been there from the beginning; and taken away again it leaves nothing behind.
    assert_eq!(files(&www), files(&site(&place, &folder, "fresh", "").0));
    std::fs::remove_dir_all(folder.join("more")).unwrap();
    site(&place, &folder, "www", "");
    assert_eq!(files(&www), first);
}

#[test]
fn ties_have_no_order() {
    let place = Place::new();
    let (www, ..) = site(&place, &six(&place), "www", "");
    let front = text(&std::fs::read_to_string(www.join("index.html")).unwrap());
    let lines: Vec<&str> = front.lines().filter(|line| !line.is_empty()).collect();
    let rank_of = |host: &str| lines[lines.iter().position(|line| *line == host).unwrap() - 1];
    assert_eq!(["a", "b", "c"].map(rank_of), ["4–6"; 3]);
    assert_eq!(["f", "e", "d"].map(rank_of), ["1", "2", "3"]);
    assert_eq!(rank_of("g"), "1", "the first of its own build");
}

#[test]
fn what_is_damaged_or_foreign_is_left_out() {
    let place = Place::new();
    let folder = six(&place);
    std::fs::write(folder.join("foreign.jsonl"), "{\"hello\":1}\n").unwrap();
    let whole = std::fs::read_to_string(testing::recorded("index").join("run.jsonl")).unwrap();
    std::fs::write(folder.join("damaged.jsonl"), whole.replacen("\"trial\"", "\"trial", 1)).unwrap();
    std::fs::write(folder.join("notes.txt"), "not a journal").unwrap();
    let (www, status, said) = site(&place, &folder, "www", "");
    assert_eq!(status, 1);
    assert!(
        said.contains("foreign.jsonl") && said.contains("damaged.jsonl, line") && said.contains("7 runs"),
        "{said}"
    );
    assert!(!said.contains("notes.txt") && www.join("index.html").is_file());
    let (_, status, said) = site(&place, &folder.join("notes.txt"), "none", "");
    assert!(status == 3 && said.contains("no run was found"), "{said}");
}

#[test]
fn a_site_overwrites_nothing_of_others() {
    let place = Place::new();
    let folder = six(&place);
    let (_, status, said) = site(&place, &folder, "runs", "");
    assert!(status == 3 && said.contains("holds files of something else"), "{said}");
    // A site among its own runs is not one of them.
    let (_, status, said) = site(&place, &folder, "runs/www", "");
    assert!(status == 0 && site(&place, &folder, "runs/www", "").2.contains("7 runs, 0"), "{said}");
}

#[test]
fn hostile_names_break_no_page() {
    let place = Place::new();
    let folder = place.root.path().join("runs");
    systems(&folder, &[(HOSTILE, 1.0, &[("cpu.model", HOSTILE)]), ("plain", 1.0, &[("cpu.model", "Beta")])], GCC);
    let (www, status, said) = site(&place, &folder, "www", "");
    assert_eq!(status, 0, "{said}");
    for (name, bytes) in files(&www) {
        let content = String::from_utf8(bytes).unwrap();
        let is_journal = name.extension().is_some_and(|end| end == "jsonl");
        assert!(is_journal || !content.contains('\u{202e}'), "{}", name.display());
        if name.extension().is_some_and(|end| end == "html") {
            assert!(!content.contains("<script>"), "{}", name.display());
            // Strict: every tag is closed in its turn, every attribute quoted.
            assert!(!text(&content).is_empty());
        }
    }
}

#[test]
fn fleets_and_imported_reports_are_runs_too() {
    let place = Place::new();
    for report in ["unixbench_1copy_report.txt", "lbench_scaling.json"] {
        let imported = place.unixmark("import").arg(testing::file("tests/vectors").join(report)).output().unwrap();
        assert!(imported.status.success(), "{}", stderr(&imported));
    }
    let www = place.root.path().join("www");
    let output = place.unixmark("site tests/runs --into").arg(&www).arg(place.results()).output().unwrap();
    assert!(output.status.success() && stdout(&output).ends_with("www/index.html\n"), "{}", stderr(&output));
    let runs = text(&std::fs::read_to_string(www.join("runs.html")).unwrap());
    assert!(runs.contains("imported from UnixBench") && runs.contains("classic procedure"), "{runs}");
    let pages = std::fs::read_dir(www.join("r")).unwrap();
    for page in
        pages.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "html"))
    {
        assert!(text(&std::fs::read_to_string(&page).unwrap()).contains("Journal"), "{}", page.display());
    }
}
