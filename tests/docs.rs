//! The documents' `$` lines do what they say, their links lead somewhere, and known names are
//! found.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use testing::{Machine, check_examples, stdout};

/// Executes the examples of a page of the guide, in a directory that is the home of what a user
/// configures, and where the reader would have the repository.
fn check(page: &str, _machine: Machine) {
    let home = tempfile::tempdir().unwrap();
    for folder in ["docs", "tests"] {
        symlink(testing::file(folder), home.path().join(folder)).unwrap();
    }
    let programs = tempfile::tempdir().unwrap();
    symlink(env!("CARGO_BIN_EXE_unixmark"), programs.path().join("unixmark")).unwrap();

    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let results = home.path().join("results");
    let config = home.path().join(".config");
    let document = fs::read_to_string(testing::file(format!("docs/guide/{page}"))).unwrap();
    check_examples(
        &document,
        home.path(),
        &[
            ("PATH", &path),
            ("UNIXMARK_RESULTS", results.to_str().unwrap()),
            ("XDG_CONFIG_HOME", config.to_str().unwrap()),
        ],
    );
}

/// A test of each page with commands.
macro_rules! pages {
    ($($(#[$attribute:meta])* $name:ident: $page:literal, $machine:expr,)*) => {
        $(#[test] $(#[$attribute])* fn $name() { check($page, $machine); })*
        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    two_programs: "two-programs.md", Machine::shared(),
    agents: "agents.md", Machine::shared(),
    // `restore` is told of every run beside it.
    setting: "setting.md", Machine::alone(),
    unixbench: "unixbench.md", Machine::shared(),
    resources: "resources.md", Machine::shared(),
    #[ignore = "needs an X server"]
    graphics: "graphics.md", Machine::shared(),
    smoothness: "smoothness.md", Machine::shared(),
    scaling: "scaling.md", Machine::shared(),
    burn_in: "burn-in.md", Machine::shared(),
    energy: "energy.md", Machine::shared(),
    changes: "changes.md", Machine::shared(),
    #[cfg_attr(not(feature = "parquet"), ignore = "needs `export`")]
    systems: "systems.md", Machine::shared(),
    // A node of a fleet measures alone on its host.
    fleet: "fleet.md", Machine::alone(),
    runs: "runs.md", Machine::shared(),
    reference: "reference.md", Machine::shared(),
    imports: "imports.md", Machine::shared(),
    own_tests: "own-tests.md", Machine::shared(),
}

/// The Markdown files of the repository, by their names there. Pages of the notebook keep the links
/// of their day.
fn documents() -> Vec<String> {
    let list =
        Command::new("git").args(["ls-files", "*.md"]).current_dir(testing::file("")).output();
    let names = stdout(&list.unwrap());

    names.lines().filter(|name| !name.starts_with("docs/lab/")).map(str::to_owned).collect()
}

/// Returns the lines of a document that are not code.
fn prose(name: &str) -> Vec<String> {
    let text = fs::read_to_string(testing::file(name)).unwrap();
    let mut is_code = false;
    let is_prose = |line: &&str| {
        is_code ^= line.starts_with("```");
        !is_code
    };
    text.lines().filter(is_prose).map(str::to_owned).collect()
}

#[test]
fn every_page_with_commands_is_tested() {
    let pages = documents()
        .into_iter()
        .filter_map(|name| name.strip_prefix("docs/guide/").map(str::to_owned));
    let has_commands = |page: &String| {
        fs::read_to_string(testing::file(format!("docs/guide/{page}"))).unwrap().contains("\n$ ")
    };
    let with: BTreeSet<String> = pages.filter(has_commands).collect();
    assert_eq!(with, PAGES.iter().map(|&page| page.to_owned()).collect());
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = prose("docs/guide/README.md").join("\n");
    for name in documents() {
        let Some(page) = name.strip_prefix("docs/guide/").filter(|page| *page != "README.md")
        else {
            continue;
        };
        assert!(
            contents.contains(&format!("[{page}]({page})")),
            "the contents of the guide lack {page}"
        );
    }
}

/// Returns the name by which links address a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut links = 0;
    for name in documents() {
        let text = prose(&name).join("\n");
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap();
            if target.contains(':') || target.contains(' ') {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = Path::new(&name).parent().unwrap();
            let file = if file.is_empty() { PathBuf::from(&name) } else { folder.join(file) };
            let path = testing::file(file.to_str().unwrap());
            assert!(path.exists(), "{name} links to {target}, which does not exist");
            let has = || {
                prose(file.to_str().unwrap())
                    .iter()
                    .any(|line| line.starts_with('#') && anchor(line) == heading)
            };
            // After the name of a page of a site stands what it shows.
            let is_page = path.extension().is_some_and(|end| end == "html");
            assert!(
                heading.is_empty() || is_page || has(),
                "{name} links to {target}, a heading that does not exist"
            );
            links += 1;
        }
    }
    assert!(links > 100, "{links}");
}

/// Names of other tools lead to the rows that ask the same here, through `list` and through unknown
/// words.
#[test]
fn known_names_are_found() {
    let unixmark = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_unixmark")).args(words).output().unwrap();
        format!("{}{}", stdout(&output), testing::stderr(&output))
    };
    let rows = prose("docs/guide/names.md");
    let rows =
        rows.iter().filter(|line| line.contains("`unixmark ")).filter(|line| line.starts_with('|'));
    let mut names = 0;
    for row in rows {
        for name in row.split('|').nth(1).unwrap().split(',') {
            let words: Vec<&str> = name.split_whitespace().collect();
            let said = unixmark(&[&["list", "tests"], &words[..]].concat());
            assert!(said.trim() != "no matches", "`list tests {name}` finds nothing");
            names += 1;
        }
    }
    assert!(names > 25, "{names}");
    let said = unixmark(&["run", "cyclictest"]);
    assert!(said.contains("there is no test or group 'cyclictest'; related: cyclic;"), "{said}");
}
