//! The documents' `$` lines do what they say.

#![cfg(test)]

use std::os::unix::fs::symlink;
use std::path::Path;

use testing::Machine;

/// Runs what stands below some headings of the guide, in a directory that goes with the test. It is the
/// home of what a user configures, and where the guide's reader would have the repository.
fn guide(headings: &[&str]) {
    // A node of a fleet measures alone on its host, and `restore` is told of every run beside it.
    let is_alone = headings.iter().any(|heading| ["Many machines", "What does it cost?"].contains(heading));
    let _machine = if is_alone { Machine::alone() } else { Machine::shared() };
    let place = tempfile::tempdir().unwrap();
    for folder in ["docs", "tests"] {
        symlink(testing::file(folder), place.path().join(folder)).unwrap();
    }
    std::env::set_current_dir(place.path()).unwrap();
    std::fs::write("guide.md", only(headings)).unwrap();
    trycmd::TestCases::new()
        .env("UNIXMARK_RESULTS", place.path().join("results").to_str().unwrap())
        .env("XDG_CONFIG_HOME", place.path().join(".config").to_str().unwrap())
        .register_bin("unixmark", Path::new(env!("CARGO_BIN_EXE_unixmark")))
        .case("guide.md")
        .run();
}

fn text() -> String {
    std::fs::read_to_string(testing::file("docs/guide.md")).unwrap()
}

/// Returns the guide with empty lines in place of all other sections, so that lines keep their numbers.
fn only(headings: &[&str]) -> String {
    let mut is_chosen = headings.contains(&"");
    let line = |line: &str| {
        is_chosen = line.strip_prefix("## ").map_or(is_chosen, |heading| headings.contains(&heading));
        if is_chosen { format!("{line}\n") } else { "\n".to_owned() }
    };
    text().lines().map(line).collect()
}

/// A test of each section, after the one whose runs it goes on with.
macro_rules! sections {
    ($($(#[$attribute:meta])* $name:ident: $headings:expr,)*) => {
        $(#[test] $(#[$attribute])* fn $name() { guide(&$headings); })*
        const HEADINGS: &[&[&str]] = &[$(&$headings),*];
    };
}

sections! {
    first: [""],
    measure: ["Measure"],
    commands: ["Your own commands"],
    look_again: ["Measure", "Look again"],
    smooth: ["Does it stay smooth?"],
    resource: ["One resource at a time"],
    #[ignore = "needs an X server"]
    graphics: ["Graphics"],
    scale: ["How does it scale?"],
    questions: ["Measure", "Questions across runs"],
    many_machines: ["Many machines"],
    hold_up: ["Does it hold up?"],
    cost: ["What does it cost?"],
    power: ["How much power does it take?"],
    changed: ["What changed?"],
    measured: ["What can be measured"],
    other_suites: ["Results of other suites"],
    unixbench: ["In UnixBench's place"],
    own: ["A test of your own"],
    builds: ["Builds, and continuous integration"],
}

#[test]
fn every_section_with_commands_is_tested() {
    let text = text();
    let sections = format!("\n{text}");
    for section in sections.split("\n## ").filter(|section| section.contains("\n$ ")) {
        let heading = section.lines().next().unwrap();
        let heading = if section.starts_with("\n#") { "" } else { heading };
        assert!(
            HEADINGS.iter().any(|headings| headings.contains(&heading)),
            "tests/docs.rs has no test of '{heading}'"
        );
    }
}
