//! Questions to an archive, answered by DuckDB (`tests/archive.py`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use testing::stderr;

/// The directory of a Python that has DuckDB; none where pip reaches no index.
pub fn python() -> Option<PathBuf> {
    testing::python_or_skip("duckdb==2.0.0")
}

/// The answers to the questions of a document over the archive in a directory.
pub fn ask(python: &Path, place: &Path, document: &Path) -> Vec<Value> {
    let script = testing::file("tests/archive.py");
    let mut command = Command::new(python.join("bin/python"));
    let output =
        command.arg(script).arg("duckdb").arg(document).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The answer to one question of our own.
pub fn query(python: &Path, place: &Path, sql: &str) -> Vec<Value> {
    let views = std::fs::read_to_string(document()).unwrap();
    let start = views.find("```sql duckdb").unwrap();
    let views = &views[start..start + views[start..].find("```\n\n").unwrap() + 4];
    let asked = place.join("question.md");
    std::fs::write(&asked, format!("{views}\n```sql\n{sql}\n```\n")).unwrap();
    ask(python, place, &asked)[0]["rows"].as_array().unwrap().clone()
}

pub fn document() -> PathBuf {
    testing::file("docs/archive.md")
}
