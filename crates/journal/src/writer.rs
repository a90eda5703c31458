//! Appends to a journal. A line is written whole or not at all, and only if a reader will accept
//! it.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::bounds::{Tally, check_line};
use super::line::Line;
use super::{FILE, Record};

/// The open journal of a run in progress.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    length: u64,
    /// Counts what was written, as whoever reads it does.
    tally: Tally,
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
        let file = files::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .with_context(|| format!("the journal {} cannot be created", path.display()))?;
        Ok(Writer { file, path, length: 0, tally: Tally::default(), emits: false })
    }

    /// Has every line go to stdout as well, for whoever moves it elsewhere.
    pub fn emit(&mut self) {
        self.emits = true;
    }

    /// Appends one line by one write, so that a reader sees whole lines or the last one cut.
    ///
    /// # Errors
    /// The line could not be written, as when the disk is full, or nobody could read it: it has
    /// more of something than a journal may have. The run must stop, since samples that are not
    /// kept were not measured.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_vec(record).context("a journal line cannot be encoded")?;
        line.push(b'\n');

        self.check(&line).with_context(|| {
            format!(
                "the journal {} cannot take another record, and what was measured before is kept",
                self.path.display()
            )
        })?;

        if self.emits {
            let mut out = std::io::stdout().lock();
            out.write_all(&line)
                .and_then(|()| out.flush())
                .context("the journal cannot be written to stdout")?;
        }

        let written = self.file.write_all(&line);
        if written.is_err() {
            // Half a line would spoil the next one, such as that of the end. If this fails too, so
            // does the next line.
            let _ = self.file.set_len(self.length);
        }
        written.with_context(|| {
            let advice =
                "what was measured so far is kept: make room or raise `ulimit -f`, then start a new run";
            format!("the journal {} cannot be written; {advice}", self.path.display())
        })?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Checks that a line can be read, as whoever reads it does.
    fn check(&mut self, line: &[u8]) -> Result<()> {
        check_line(line.len())?;
        match Line::read(line)? {
            Line::Known(record) => self.tally.add(&record),
            Line::Unknown => Ok(()),
        }
    }

    /// Makes what was appended survive a power cut.
    ///
    /// # Errors
    /// The device refused.
    pub fn sync(&self) -> Result<()> {
        self.file
            .sync_data()
            .with_context(|| format!("the journal {} cannot be synced", self.path.display()))
    }
}
