//! Sites: what their files hold, and what a browser makes of them.

mod again;
mod browsed;
mod forged;
mod hints;
mod submitted;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::corpus::{GCC, Made, Recorded};
use testing::page::text;
use testing::{Place, stderr, stdout};

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
        std::fs::write(folder.join(format!("{compiler:.2}{number}.jsonl")), base.made(&made))
            .unwrap();
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
    let output = command
        .arg(folder)
        .arg("--into")
        .arg(&www)
        .args(options.split_whitespace())
        .output()
        .unwrap();
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
                found.insert(
                    path.strip_prefix(root).unwrap().to_path_buf(),
                    std::fs::read(&path).unwrap(),
                );
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
    let pages = |files: &BTreeMap<PathBuf, Vec<u8>>| {
        files.keys().filter(|path| path.starts_with("r")).count()
    };
    assert_eq!(pages(&first), 3 * 7, "page, record and journal of each run");
    assert_eq!(first, files(&site(&place, &folder, "again", "").0), "another directory");
    let times = || -> BTreeMap<PathBuf, _> {
        let path = |name: &PathBuf| www.join(name).metadata().unwrap().modified().unwrap();
        first.keys().map(|name| (name.clone(), path(name))).collect()
    };
    let before = times();
    let (_, _, said) = site(&place, &folder, "www", "");
    assert!(
        said.contains("7 runs, 0 of them new") && times() == before && files(&www) == first,
        "{said}"
    );
    systems(&folder.join("more"), &[("h", 2.0, &[("cpu.model", "Gamma")])], GCC);
    let (_, _, said) = site(&place, &folder, "www", "");
    assert!(said.contains("8 runs, 1 of them new"), "{said}");
    let after = times();
    let changed: Vec<&PathBuf> =
        before.keys().filter(|name| before[*name] != after[*name]).collect();
    assert!(
        !changed.is_empty()
            && changed.iter().all(|name| !name.starts_with("r") && !name.starts_with("h")),
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
    std::fs::write(folder.join("damaged.jsonl"), whole.replacen("\"trial\"", "\"trial", 1))
        .unwrap();
    std::fs::write(folder.join("notes.txt"), "not a journal").unwrap();
    let (www, status, said) = site(&place, &folder, "www", "");
    assert_eq!(status, 1);
    assert!(
        said.contains("foreign.jsonl")
            && said.contains("damaged.jsonl, line")
            && said.contains("7 runs"),
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
    systems(
        &folder,
        &[(HOSTILE, 1.0, &[("cpu.model", HOSTILE)]), ("plain", 1.0, &[("cpu.model", "Beta")])],
        GCC,
    );
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

/// imports item 26: 21 µs were "0.0000 s".
#[test]
fn small_times_have_a_unit_in_which_they_have_figures() {
    let place = Place::new();
    for (day, time) in [(1, 2.1e-5), (2, 3.1e-5)] {
        let file = place.root.path().join(format!("{day}.json"));
        let times = [time; 6];
        let json = serde_json::json!({
            "context": {"date": format!("2026-01-0{day}T00:00:00+00:00"), "host_name": "box"},
            "benchmarks": times.map(|time| serde_json::json!({
                "name": "parse", "run_type": "iteration", "iterations": 1, "time_unit": "s",
                "real_time": time, "cpu_time": time,
            })),
        });
        std::fs::write(&file, json.to_string()).unwrap();
        let imported = place.unixmark("import").arg(&file).output().unwrap();
        assert!(imported.status.success(), "{}", stderr(&imported));
    }

    let (www, ..) = site(&place, &place.results(), "www", "");

    let files = files(&www);
    let file = |name: &str| String::from_utf8_lossy(&files[Path::new(name)]).into_owned();
    let is_host = |name: &&PathBuf| name.starts_with("h") && !name.to_string_lossy().contains('-');
    let host = files.keys().find(is_host).unwrap().to_string_lossy().into_owned();
    for page in ["index.html", &host] {
        let page = text(&file(page));
        assert!(page.contains(", µs"), "{page}");
        assert!(page.contains("31.0"), "{page}");
        assert!(!page.contains("0.000"), "{page}");
    }
    assert!(file("data/site.js").contains("\"unit\":\"µs\""));
    // Programs have the unit of the file.
    assert!(file("runs.csv").contains(",s,one,0.000031,"), "{}", file("runs.csv"));
}

#[test]
fn fleets_and_imported_reports_are_runs_too() {
    let place = Place::new();
    for report in ["unixbench_1copy_report.txt", "lbench_scaling.json"] {
        let imported = place
            .unixmark("import")
            .arg(testing::file("tests/vectors").join(report))
            .output()
            .unwrap();
        assert!(imported.status.success(), "{}", stderr(&imported));
    }
    let www = place.root.path().join("www");
    let output =
        place.unixmark("site tests/runs --into").arg(&www).arg(place.results()).output().unwrap();
    assert!(
        output.status.success() && stdout(&output).ends_with("www/index.html\n"),
        "{}",
        stderr(&output)
    );
    let runs = text(&std::fs::read_to_string(www.join("runs.html")).unwrap());
    assert!(
        runs.contains("imported from UnixBench") && runs.contains("classic procedure"),
        "{runs}"
    );
    let pages = std::fs::read_dir(www.join("r")).unwrap();
    for page in pages
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
    {
        assert!(
            text(&std::fs::read_to_string(&page).unwrap()).contains("Journal"),
            "{}",
            page.display()
        );
    }
}

/// User review of 2026-11, person 2: commands were ranked among systems, failed tries listed.
#[test]
fn user_2_comparisons_are_offered_by_their_answers() {
    let place = Place::new();
    let failed = place.unixmark("ab -q false true").output().unwrap();
    assert_eq!(failed.status.code(), Some(3), "{}", stderr(&failed));
    let folder = place.root.path().join("runs");
    std::fs::create_dir(&folder).unwrap();
    for run in ["ab", "index"] {
        let journal = testing::recorded(run).join("run.jsonl");
        std::fs::copy(journal, folder.join(format!("{run}.jsonl"))).unwrap();
    }

    let failures = place.results().display().to_string();
    let (www, status, said) = site(&place, &folder, "www", &failures);

    assert_eq!(status, 0, "{said}");
    assert!(said.contains("3 runs, 3 of them new"), "{said}");
    let page = std::fs::read_to_string(www.join("index.html")).unwrap();
    let text = testing::flat(&text(&page));
    assert!(text.contains("Comparisons of commands new is slower than old by 28.6 %"), "{text}");
    assert!(text.contains("Pipe Throughput"), "{text}");
    assert!(!text.contains("condition=old") && !text.contains("nothing was measured"), "{text}");
}
