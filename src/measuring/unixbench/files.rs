//! UnixBench's files in the results directory: BASE, BASE.log, BASE.html and BASE.csv.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::environment::Environment;
use crate::terminal::print;
use ::report::unixbench::{self, Heading};
use analysis::Results;
use journal::{Journal, today};
use machine::Machine;
use runner::Event;

/// What is added to a base name.
const ENDINGS: [&str; 4] = ["", ".log", ".html", ".csv"];

/// The files of one run.
pub(super) struct Files {
    directory: PathBuf,
    base: String,
    csv: bool,
    /// Length of the log before the run.
    begun: u64,
    /// The cell whose passes are being added to it.
    current: Cell<Option<usize>>,
    /// Whether the text report is a new file, empty until the end.
    is_new: bool,
}

impl Files {
    /// Takes the first number that is free today, or the name that the user gave, by making its text and its log: runs that
    /// are kept in the same directory have such names too.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(super) fn claim(environment: &Environment, machine: &Machine) -> Result<Files> {
        let directory = &environment.results;
        let host = machine.read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned());
        let start = format!("{host}-{}", today());
        let is_free = |base: &String| !ENDINGS.iter().any(|ending| directory.join(format!("{base}{ending}")).exists());
        let numbered = || (1..).map(|number: u32| format!("{start}-{number:02}")).find(is_free);
        let base = environment.file_name.clone().or_else(numbered).unwrap_or_default();
        let (csv, directory) = (environment.csv, directory.clone());
        let mut files = Files { directory, base, csv, begun: 0, current: Cell::new(None), is_new: false };
        files.begun = files.open(".log")?.metadata().map_or(0, |log| log.len());
        files.is_new = !files.path("").exists();
        files.open("")?;
        Ok(files)
    }

    /// Opens a file, which grows if it is there.
    fn open(&self, ending: &str) -> Result<fs::File> {
        let path = self.path(ending);
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .with_context(|| format!("{} cannot be written; set UB_RESULTDIR to a directory that can", path.display()))
    }

    /// Adds a pass to the log as it ends. If that fails, so does the whole log at the end.
    pub(super) fn passed(&self, event: &Event<'_>) {
        let Event::Ended { cell, trial } = event else { return };
        let is_first = self.current.replace(Some(trial.cell)) != Some(trial.cell);
        let text = unixbench::passed(&runner::journal_cell(trial.cell, cell), trial, is_first);
        let _ = self.open(".log").map(|mut log| log.write_all(text.as_bytes()));
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.directory.join(format!("{}{ending}", self.base))
    }

    /// Writes the files, and prints the text report.
    ///
    /// # Errors
    /// One of them cannot be written.
    pub(super) fn write(&self, journal: &Journal, results: &Results, heading: &Heading) -> Result<()> {
        let mut log = self.open(".log")?;
        // The passes once more, with what the tests come to.
        log.set_len(self.begun)
            .and_then(|()| log.write_all(unixbench::log(journal, results).as_bytes()))
            .with_context(|| format!("{} cannot be written; make room", self.path(".log").display()))?;
        if results.rows.is_empty() {
            return Ok(());
        }
        let text = unixbench::text(results, heading);
        write(&self.path(""), &text)?;
        write(&self.path(".html"), &unixbench::page(results, heading))?;
        if self.csv {
            write(&self.path(".csv"), &unixbench::csv(results)?)?;
        }
        print(&format!("\n{}{text}", unixbench::rule()))
    }
}

impl Drop for Files {
    /// A report of nothing is none.
    fn drop(&mut self) {
        let text = self.path("");
        if self.is_new && fs::metadata(&text).is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(text);
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)
        .with_context(|| format!("{} cannot be written; make room, or set UB_RESULTDIR", path.display()))
}
