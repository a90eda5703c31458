//! Appending to a journal.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{FILE, Record};

/// The open journal of a run in progress.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// True if every line goes to stdout as well.
    emits: bool,
}

impl Writer {
    /// Creates the journal in the run's directory, which must not have one.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(directory: &Path) -> Result<Writer> {
        let path = directory.join(FILE);
        let file = File::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .with_context(|| format!("the journal {} cannot be created", path.display()))?;
        Ok(Writer { file, path, emits: false })
    }

    /// Has every line go to stdout as well, for whoever moves it elsewhere.
    pub fn emit(&mut self) {
        self.emits = true;
    }

    /// Appends one line by one write, so that a reader sees whole lines or the last one cut.
    ///
    /// # Errors
    /// The line could not be written, as when the disk is full: the run must stop, since samples
    /// that are not kept were not measured.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_vec(record).context("a journal line cannot be encoded")?;
        line.push(b'\n');
        if self.emits {
            let mut out = std::io::stdout().lock();
            out.write_all(&line).and_then(|()| out.flush()).context("the journal cannot be written to stdout")?;
        }
        let advice = "what was measured so far is kept: make room, then start a new run";
        self.file
            .write_all(&line)
            .with_context(|| format!("the journal {} cannot be written; {advice}", self.path.display()))
    }

    /// Makes what was appended survive a power cut.
    ///
    /// # Errors
    /// The device refused.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().with_context(|| format!("the journal {} cannot be synced", self.path.display()))
    }
}
