//! Machines to ask, recorded and invented.
//!
//! A machine is one text file in this directory: `=== /path` begins a file, and
//! `=== /path -> target` is a symbolic link. Lines before the first are commentary.

use ::journal::Severity;
use ::machine::{Machine, Sample, examine, facts, sample};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub type Outcome = Result<(), Box<dyn Error>>;

pub const MACHINES: &[&str] = &[
    "bare-metal-intel",
    "this-vm",
    "container-v1",
    "container-v2",
    "arm64",
    "arm64-clusters",
    "old-kernel",
];

pub const DIR: &str = "/srv/bench";

/// A machine unpacked below a directory of its own, which goes when this does.
pub struct Fixture {
    pub root: TempDir,
}

impl Fixture {
    pub fn unpack(name: &str) -> Result<Fixture, Box<dyn Error>> {
        let file = testing::file(format!("crates/machine/tests/machine/{name}.txt"));
        let fixture = Fixture { root: tempfile::tempdir()? };
        for part in fs::read_to_string(file)?.split("\n=== ").skip(1) {
            let (head, body) = part.split_once('\n').unwrap_or((part, ""));
            match head.split_once(" -> ") {
                Some((link, target)) => fixture.link(link, target)?,
                None => fixture.write(head, format!("{body}\n"))?,
            }
        }
        Ok(fixture)
    }

    pub fn machine(&self) -> Machine {
        Machine::at(self.root.path())
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    pub fn make_parent(&self, path: &str) -> std::io::Result<PathBuf> {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(path)
    }

    pub fn write(&self, path: &str, body: impl AsRef<[u8]>) -> std::io::Result<()> {
        fs::write(self.make_parent(path)?, body)
    }

    pub fn link(&self, path: &str, target: &str) -> std::io::Result<()> {
        std::os::unix::fs::symlink(target, self.make_parent(path)?)
    }

    pub fn facts(&self) -> BTreeMap<String, String> {
        let facts = facts(&self.machine(), Path::new(DIR));
        facts.into_iter().map(|fact| (fact.name, fact.value)).collect()
    }

    /// The findings of a look in which nothing happened.
    pub fn findings(&self) -> BTreeMap<String, (Severity, String)> {
        let now = sample(&self.machine());
        self.findings_between(&now, &now)
    }

    pub fn findings_between(
        &self,
        before: &Sample,
        after: &Sample,
    ) -> BTreeMap<String, (Severity, String)> {
        let findings = examine(&self.machine(), Path::new(DIR), before, after);
        findings
            .into_iter()
            .map(|f| (f.name, (f.severity, format!("{} | {}", f.what, f.fix))))
            .collect()
    }

    /// Every regular file, as a path of the machine.
    pub fn files(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let mut dirs = vec![self.root.path().to_path_buf()];
        let mut files = Vec::new();
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    dirs.push(entry.path());
                } else if kind.is_file() {
                    let path = entry.path().strip_prefix(self.root.path())?.display().to_string();
                    files.push(format!("/{path}"));
                }
            }
        }
        Ok(files)
    }
}

/// Asserts that each named fact has the value, and says which has not.
#[track_caller]
pub fn assert_facts(fixture: &Fixture, expected: &[(&str, &str)]) {
    let facts = fixture.facts();
    for (name, value) in expected {
        assert_eq!(facts.get(*name).map(String::as_str), Some(*value), "{name}");
    }
}

#[track_caller]
pub fn assert_absent(fixture: &Fixture, names: &[&str]) {
    let facts = fixture.facts();
    for name in names {
        assert_eq!(facts.get(*name), None, "{name}");
    }
}

/// Asserts the severity and a word of each finding, and that there is no other.
#[track_caller]
pub fn assert_findings(fixture: &Fixture, expected: &[(&str, Severity, &str)]) {
    let mut findings = fixture.findings();
    // The free space is that of the machine the tests run on.
    findings.remove("storage.free");
    for (name, severity, word) in expected {
        let Some((found, text)) = findings.remove(*name) else {
            panic!("{name} was not found");
        };
        assert_eq!(found, *severity, "{name}");
        assert!(text.contains(word), "{name}: {word:?} is not in {text:?}");
    }
    assert!(findings.is_empty(), "not expected: {findings:#?}");
}
