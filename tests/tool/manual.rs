//! The manual: a page for every verb and for what the catalogue has, which man and mandoc take
//! without a complaint.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use testing::{Place, stderr, stdout};

/// What every page of a verb has.
const SECTIONS: [&str; 8] = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "EXAMPLES",
    "FILES",
    "ENVIRONMENT",
    "EXIT STATUS",
];

/// Writes all pages, and returns their paths.
fn pages(place: &Place) -> Vec<PathBuf> {
    let folder = place.root.path().join("man");
    let mut tool = place.unixmark("man --into");
    // Rows of the user's own are no part of what is handed out.
    let output = tool.arg(&folder).env("UNIXMARK_CATALOGUE", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    testing::contents(&folder).into_iter().map(|(path, _)| path).collect()
}

fn ids(place: &Place, what: &str) -> Vec<String> {
    let output = place
        .unixmark(&format!("list {what} --format json"))
        .env("UNIXMARK_CATALOGUE", "/dev/null")
        .output();
    let rows: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_verb_and_every_row_has_its_place() {
    let place = Place::new();
    let pages = pages(&place);
    let text = |name: &str| {
        let path =
            pages.iter().find(|path| path.ends_with(name)).unwrap_or_else(|| panic!("no {name}"));
        fs::read_to_string(path).unwrap()
    };
    for name in [
        "unixmark",
        "unixmark-run",
        "unixmark-burnin-memory",
        "unixmark-fleet-slurm",
        "unixmark-new-test",
    ] {
        text(&format!("man1/{name}.1"));
    }
    // The tool's page names those of all verbs, and every page has all sections once.
    let whole = text("man1/unixmark.1");
    for path in pages.iter().filter(|path| path.to_string_lossy().ends_with(".1")) {
        let page = fs::read_to_string(path).unwrap();
        let sections: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let of = |section: &str| sections.iter().filter(|known| **known == section).count();
        assert!(
            SECTIONS.iter().all(|section| of(section) == 1),
            "{}: {sections:?}",
            path.display()
        );
        assert!(
            sections.iter().all(|section| of(section) == 1),
            "{}: {sections:?}",
            path.display()
        );
        let name = path.file_stem().unwrap().to_string_lossy().replace('-', "\\-");
        let below = name.matches("\\-").count();
        assert!(below != 1 || whole.contains(&format!(".BR {name} (1)")), "{name}");
    }
    let escaped = |id: &String| format!("\\fB{}\\fR\n", id.replace('-', "\\-"));
    let tests = text("man7/unixmark-tests.7");
    for what in ["tests", "tasks", "loads", "burnins", "watchers", "groups", "indexes"] {
        let missing: Vec<String> =
            ids(&place, what).into_iter().filter(|id| id != "none").collect();
        let missing: Vec<&String> =
            missing.iter().filter(|id| !tests.contains(&escaped(id))).collect();
        assert!(missing.is_empty(), "{what}: {missing:?}");
    }
    let conditions = text("man7/unixmark-conditions.7");
    assert!(ids(&place, "conditions").iter().all(|id| conditions.contains(&escaped(id))));
    // The same page by its verb.
    let one = place
        .unixmark("man burnin memory")
        .env("UNIXMARK_CATALOGUE", "/dev/null")
        .output()
        .unwrap();
    assert_eq!(stdout(&one), text("man1/unixmark-burnin-memory.1"));
    let none = place.unixmark("man nothing").output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(
        stderr(&none).contains("there is no page 'nothing'; try one of run, "),
        "{}",
        stderr(&none)
    );
}

#[test]
fn man_and_mandoc_have_no_complaint() {
    if !testing::has("mandoc") || !testing::has("man") {
        return;
    }
    let place = Place::new();
    for path in pages(&place) {
        let lint = Command::new("mandoc").args(["-Tlint", "-Wstyle"]).arg(&path).output().unwrap();
        assert_eq!(stdout(&lint) + &stderr(&lint), "", "{}", path.display());
        let shown = Command::new("man")
            .args(["--warnings=w", "-l"])
            .arg(&path)
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert_eq!(stderr(&shown), "", "{}", path.display());
        assert!(stdout(&shown).contains("SEE ALSO"), "{}", path.display());
    }
}

#[test]
fn help_has_the_examples_too() {
    let place = Place::new();
    let help = stdout(&place.unixmark("run --help").output().unwrap());
    assert!(help.contains("Examples:\n  unixmark run --budget 2m\n"), "{help}");
}
