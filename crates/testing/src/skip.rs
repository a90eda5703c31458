//! A test that cannot run here says so; where everything must run, that is a failure.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;

use crate::file;

/// True if `UNIXMARK_TEST_ALL=1` asks for every test. They may then leave marks that last until the
/// machine starts again: kernel auditing is switched on.
pub fn all_must_run() -> bool {
    std::env::var_os("UNIXMARK_TEST_ALL").is_some_and(|value| value == "1")
}

/// Notes that a test, or a part of it, cannot run here. The note is a line on stderr and of the
/// file `UNIXMARK_TEST_SKIPS`, which the pool prints in the end.
///
/// # Panics
/// Where all tests must run, unless `tests/impossible.txt` lists the reason.
#[track_caller]
pub fn skip(reason: &str) {
    let reason = crate::flat(reason);
    let thread = std::thread::current();
    let note =
        format!("{} {}: {reason}", Location::caller().file(), thread.name().unwrap_or_default());

    let list = std::fs::read_to_string(file("tests/impossible.txt")).unwrap();
    assert!(
        !all_must_run() || is_listed(&list, &reason),
        "skipped where all tests must run: {note}"
    );

    eprintln!("skipped: {note}");
    if let Some(path) = std::env::var_os("UNIXMARK_TEST_SKIPS") {
        let mut notes = OpenOptions::new().create(true).append(true).open(path).unwrap();
        notes.write_all(format!("{note}\n").as_bytes()).unwrap();
    }
}

/// True if the test runs as root; a skip where it does not.
#[track_caller]
pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip("it needs root");
    }
    is_root
}

/// True if a command is installed; a skip where it is not.
#[track_caller]
pub fn has(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = std::env::split_paths(&path).any(|folder| folder.join(command).is_file());
    if !is_installed {
        skip(&format!("it needs {command} (make test-all installs it)"));
    }
    is_installed
}

/// True if one of the list's lines, `PART OF A REASON | WHY IT CANNOT BE HAD`, fits the reason.
fn is_listed(list: &str, reason: &str) -> bool {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" | ")).any(|(part, _)| reason.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasons_of_the_list_are_accepted() {
        let list = "# a GPU | x\na GPU | there is none\nhalf a line\n";
        assert!(is_listed(list, "it needs a GPU"));
        assert!(!is_listed(list, "it needs root") && !is_listed(list, "half a line"));
    }

    #[test]
    fn every_line_of_the_list_has_a_reason() {
        let list = std::fs::read_to_string(file("tests/impossible.txt")).unwrap();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let (part, why) = line.split_once(" | ").unwrap();
            assert!(part.len() > 4 && why.split(' ').count() > 3, "{line}");
        }
    }
}
