//! UnixBench's files in the results directory: BASE, BASE.log, BASE.html and BASE.csv.

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

/// What is added to a base name.
const ENDINGS: [&str; 4] = ["", ".log", ".html", ".csv"];

/// The files of one run.
pub(super) struct Files {
    directory: PathBuf,
    base: String,
    csv: bool,
}

impl Files {
    /// Takes the first number that is free today, or the name that the user gave, by making its log.
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
        let files = Files { directory: directory.clone(), base, csv: environment.csv };
        files.log()?;
        Ok(files)
    }

    /// Opens the log, which grows if it is there.
    fn log(&self) -> Result<fs::File> {
        let path = self.path(".log");
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .with_context(|| format!("{} cannot be written; set UB_RESULTDIR to a directory that can", path.display()))
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.directory.join(format!("{}{ending}", self.base))
    }

    /// Writes the files, and prints the text report.
    ///
    /// # Errors
    /// One of them cannot be written.
    pub(super) fn write(&self, journal: &Journal, results: &Results, heading: &Heading) -> Result<()> {
        let mut log = self.log()?;
        log.write_all(unixbench::log(journal, results).as_bytes()).context("the log cannot be written")?;
        if results.rows.is_empty() {
            return Ok(());
        }
        let text = unixbench::text(results, heading);
        write(&self.path(""), &text)?;
        write(&self.path(".html"), &unixbench::page(results, heading))?;
        if self.csv {
            write(&self.path(".csv"), &unixbench::csv(results)?)?;
        }
        print(&format!("\n{text}"))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)
        .with_context(|| format!("{} cannot be written; make room, or set UB_RESULTDIR", path.display()))
}
