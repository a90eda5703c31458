//! The place of a run in the archive.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Table;
use crate::{encoded, hash};
use files::write_atomically;
use journal::Run;

/// Hive's name for a value that is not there.
const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The longest value in a directory's name; host names of Linux have at most 64 bytes.
const MAX_VALUE_BYTES: usize = 120;

/// A run's place in the archive, made of fields that never change: exporting the run again replaces
/// its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The run's own name: its `id` in every table.
    pub id: String,
    /// Its file below a table's directory.
    path: PathBuf,
}

impl Place {
    /// The place of a run.
    pub fn new(run: &Run) -> Place {
        let Run { name, host, started, seed, .. } = run;
        let fleet = run.fleet.clone().unwrap_or_default();
        let part_of_fleet =
            format!("{}\0{}\0{}\0{}", fleet.run, fleet.id.node, fleet.id.task, fleet.attempt);
        let id = format!(
            "{:016x}",
            hash(&format!("{name}\0{host}\0{started}\0{seed}\0{part_of_fleet}"))
        );

        let path = [
            partition("suite", suite(&run.tool)),
            partition("date", date(started)),
            partition("host", host),
        ]
        .iter()
        .collect::<PathBuf>()
        .join(format!("{id}.{}.parquet", encoded(name, MAX_VALUE_BYTES)));
        Place { id, path }
    }

    /// Writes a table of the run below `archive`, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, archive: &Path, name: &str, table: &Table) -> Result<()> {
        let target = archive.join(name).join(&self.path);
        let why = || {
            format!("{} cannot be written; make room or try another directory", target.display())
        };
        let folder = target.parent().unwrap_or(archive);
        let bytes = table.encode().with_context(why)?;
        files::make_directories(folder)
            .and_then(|()| write_atomically(&target, &bytes))
            .with_context(why)
    }

    /// Takes a table of the run out of the archive, if it is there.
    ///
    /// # Errors
    /// It is there and cannot be removed.
    pub fn remove(&self, archive: &Path, name: &str) -> Result<()> {
        let target = archive.join(name).join(&self.path);
        match fs::remove_file(&target) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.with_context(|| format!("{} cannot be removed", target.display())),
        }
    }
}

/// The directory of a value in Hive's layout: `KEY=VALUE`.
fn partition(key: &str, value: &str) -> String {
    let value = encoded(value, MAX_VALUE_BYTES);
    format!("{key}={}", if value.is_empty() { HIVE_NULL } else { &value })
}

/// The suite's name without its version: `unixmark`, `UnixBench`, `BYTE UNIX Benchmarks`.
fn suite(tool: &str) -> &str {
    let end = tool.find(|c: char| c.is_ascii_digit()).unwrap_or(tool.len());
    tool[..end].trim()
}

/// The day on which a run began, in its machine's time zone; empty if its journal does not say.
fn date(started: &str) -> &str {
    started.get(..10).filter(|date| date.parse::<jiff::civil::Date>().is_ok()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Attempt, NodeId};

    fn run(name: &str, host: &str) -> Run {
        let (tool, started) = ("unixmark 0.1.0".to_owned(), "2026-11-21T10:00:00+00:00".to_owned());
        Run { name: name.to_owned(), host: host.to_owned(), tool, started, ..Run::default() }
    }

    #[test]
    fn a_run_has_one_place() {
        let place = Place::new(&run("vm-2026-11-21-01", "vm"));

        let file =
            format!("suite=unixmark/date=2026-11-21/host=vm/{}.vm-2026-11-21-01.parquet", place.id);
        assert_eq!(place.path, Path::new(&file));
        assert_eq!(place, Place::new(&run("vm-2026-11-21-01", "vm")));
    }

    #[test]
    fn a_part_of_a_fleet_run_has_a_place_of_its_own() {
        let alone = run("vm-2026-11-21-01", "vm");
        let id = NodeId { node: "n1".into(), task: "0".into() };
        let attempt = Attempt { run: "night".into(), id, attempt: 1 };
        let part = Run { fleet: Some(attempt), ..alone.clone() };

        assert_ne!(Place::new(&part).id, Place::new(&alone).id);
    }

    #[test]
    fn no_name_leads_elsewhere() {
        for name in ["", "../../x", "a/b", ".", &"/".repeat(500)] {
            let strange =
                Run { started: name.to_owned(), tool: name.to_owned(), ..run(name, name) };
            let place = Place::new(&strange);
            let parts: Vec<_> =
                place.path.components().map(|part| part.as_os_str().to_owned()).collect();
            assert_eq!(parts.len(), 4, "{}", place.path.display());
            assert!(
                parts.iter().all(|part| part.len() <= 200 && part != ".." && part != "."),
                "{parts:?}"
            );
        }
    }

    #[test]
    fn suites() {
        let names =
            ["unixmark 0.1.0", "UnixBench 5.1.3", "UnixBench", "BYTE UNIX Benchmarks 3.11", "7zip"]
                .map(suite);
        assert_eq!(names, ["unixmark", "UnixBench", "UnixBench", "BYTE UNIX Benchmarks", ""]);
    }
}
