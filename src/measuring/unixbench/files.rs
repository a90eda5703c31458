//! UnixBench's files in the results directory: BASE, BASE.log, BASE.html and BASE.csv.
//!
//! The text and the log are made before the run, which takes the name ([`Files::claim`]). The log
//! grows pass by pass ([`Logged`]), and is written once more at the end with the others
//! ([`Files::write`]). If nothing was measured, the empty text is removed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::environment::Environment;
use crate::measuring::terminal::RunDisplay;
use crate::terminal::print;
use ::report::unixbench::{self, Heading};
use analysis::Results;
use journal::{Journal, today};
use machine::Machine;
use measure::Observer;
use runner::Event;

/// The endings that are added to a base name.
const ENDINGS: [&str; 4] = ["", ".log", ".html", ".csv"];

/// The files of one run.
pub(super) struct Files {
    directory: PathBuf,
    base: String,
    csv: bool,
    log: File,
    /// Bytes of the log before the run.
    earlier_log_bytes: u64,
    /// The cell whose passes are being added to the log.
    logged_cell: Option<usize>,
    /// True if the text report is a new file, empty until the end.
    is_new: bool,
}

impl Files {
    /// Takes the first number that is free today, or the name that the user gave, by making its
    /// text and its log: runs that are kept in the same directory have such names too.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(super) fn claim(environment: &Environment, machine: &Machine) -> Result<Files> {
        let directory = environment.results.clone();
        let base = match &environment.file_name {
            Some(name) => name.clone(),
            None => find_free_base(&directory, machine),
        };
        let text = directory.join(&base);
        let log = open_to_append(&text.with_file_name(format!("{base}.log")))?;
        let earlier_log_bytes = log.metadata().map_or(0, |log| log.len());
        let is_new = fs::symlink_metadata(&text).is_err();
        // Nothing is appended to the text: it takes the name, and is replaced at the end.
        open_to_append(&text)?;

        Ok(Files {
            directory,
            base,
            csv: environment.csv,
            log,
            earlier_log_bytes,
            logged_cell: None,
            is_new,
        })
    }

    /// The observer of a run that is shown by `display`, and logged.
    pub(super) fn log_run<'a>(&'a mut self, display: RunDisplay<'a>) -> Logged<'a> {
        Logged { files: self, display }
    }

    /// Adds a pass to the log as it ends. If that fails, so does the whole log at the end.
    fn log_pass(&mut self, event: &Event<'_>) {
        let Event::Ended { cell, trial } = event else {
            return;
        };
        let is_first = self.logged_cell.replace(trial.cell) != Some(trial.cell);
        let text = unixbench::passed(&runner::journal_cell(trial.cell, cell), trial, is_first);
        let _ = self.log.write_all(text.as_bytes());
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.directory.join(format!("{}{ending}", self.base))
    }

    /// Writes the files, and prints the text report.
    ///
    /// # Errors
    /// One of them cannot be written.
    pub(super) fn write(
        &self,
        journal: &Journal,
        results: &Results,
        heading: &Heading,
    ) -> Result<()> {
        // In place of the passes, which were logged as they ended, the whole log.
        let mut log = &self.log;
        log.set_len(self.earlier_log_bytes)
            .and_then(|()| log.write_all(unixbench::log(journal, results).as_bytes()))
            .with_context(|| {
                format!("{} cannot be written; make room", self.path(".log").display())
            })?;
        // The empty text is removed when the files are dropped.
        if results.figures.is_empty() {
            return Ok(());
        }

        let text = unixbench::report(results, heading);
        write_file(&self.path(""), &text)?;
        write_file(&self.path(".html"), &unixbench::page(results, heading))?;
        if self.csv {
            write_file(&self.path(".csv"), &unixbench::csv(results)?)?;
        }
        print(&format!("\n{}{text}", unixbench::rule()))
    }
}

/// A run that is shown and logged.
pub(super) struct Logged<'a> {
    files: &'a mut Files,
    display: RunDisplay<'a>,
}

impl Observer for Logged<'_> {
    fn began(&mut self, name: &str) -> Result<()> {
        self.display.began(name)
    }

    fn warned(&mut self, text: &str) {
        self.display.warned(text);
    }

    fn happened(&mut self, event: &Event<'_>) {
        self.files.log_pass(event);
        self.display.happened(event);
    }
}

impl Drop for Files {
    /// Removes the text report if it is still empty: nothing was measured.
    fn drop(&mut self) {
        let text = self.path("");
        if self.is_new && fs::symlink_metadata(&text).is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(text);
        }
    }
}

/// The first of today's base names that no file has.
fn find_free_base(directory: &Path, machine: &Machine) -> String {
    let start = format!("{}-{}", machine.host_name(), today());
    (1..)
        .map(|number: u32| format!("{start}-{number:02}"))
        .find(|base| is_free(directory, base))
        .unwrap_or_default()
}

fn is_free(directory: &Path, base: &str) -> bool {
    ENDINGS.iter().all(|ending| {
        // A link that leads nowhere takes a name too.
        fs::symlink_metadata(directory.join(format!("{base}{ending}"))).is_err()
    })
}

/// Opens a file, which is made if it is missing. A link is not followed: where others may write in
/// the directory, it leads anywhere.
fn open_to_append(path: &Path) -> Result<File> {
    let file = ::files::unfollowed().append(true).create(true).open(path);
    file.with_context(|| {
        format!("{} cannot be written; set UB_RESULTDIR to a directory that can", path.display())
    })
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    ::files::write_atomically(path, text.as_bytes()).with_context(|| {
        format!("{} cannot be written; make room, or set UB_RESULTDIR", path.display())
    })
}
