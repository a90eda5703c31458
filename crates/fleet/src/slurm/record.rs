//! A submission, as the fleet run's directory has it.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Request;
use journal::MOST_BYTES;

/// The file, one JSON object per line, to which is only appended.
const FILE: &str = "slurm.jsonl";

/// Its version.
const FORMAT: &str = "unixmark-slurm/1";

/// A submission.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Submission {
    format: String,
    /// The fleet run's name.
    pub run: String,
    /// The name that all its jobs have, and no others.
    pub job: String,
    /// The partition of their queue.
    pub partition: String,
    /// The nodes that should get one.
    pub nodes: Vec<String>,
    /// The measurement of each.
    pub arguments: Vec<String>,
    /// The moment when it began.
    pub submitted: Timestamp,
    /// The moment when the last job must have ended.
    pub until: Timestamp,
}

impl Submission {
    pub(super) fn new(request: &Request<'_>, job: String, submitted: Timestamp, length: Duration) -> Submission {
        Submission {
            format: FORMAT.to_owned(),
            run: request.run.to_owned(),
            job,
            partition: request.partition.to_owned(),
            nodes: request.nodes.to_vec(),
            arguments: request.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            submitted,
            until: submitted.checked_add(length).unwrap_or(Timestamp::MAX),
        }
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Line {
    Submission(Submission),
    /// A node's job has been submitted.
    Job {
        node: String,
        id: String,
    },
    /// The collector has been.
    Collector {
        id: String,
    },
    /// A job was seen to have ended, in Slurm's word, which Slurm forgets.
    Ended {
        node: String,
        state: String,
    },
}

/// A submission and what is known of its jobs.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    /// The order.
    pub submission: Submission,
    /// The number of each node's job.
    pub jobs: BTreeMap<String, String>,
    /// The collector's number.
    pub collector: Option<String>,
    /// The ends of jobs that Slurm may have forgotten, by node.
    pub ended: BTreeMap<String, String>,
}

impl Record {
    /// Reads the record in a fleet run's directory, if there is one.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or of a later version.
    pub fn read(directory: &Path) -> Result<Option<Record>> {
        let path = directory.join(FILE);
        let text = match files::read_text(&path, MOST_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| serde_json::from_str::<Line>(line).ok());
        let Some(Line::Submission(submission)) = first else {
            bail!("{} is damaged, or of a version that this one does not read ('{FORMAT}')", path.display());
        };
        if submission.format != FORMAT {
            bail!("{} is of the format '{}'; this version reads '{FORMAT}'", path.display(), submission.format);
        }
        let mut record = Record::new(path, submission);
        // The last line is cut where the submission was.
        for line in lines.filter_map(|line| serde_json::from_str(line).ok()) {
            record.take(line);
        }
        Ok(Some(record))
    }

    /// Returns true if a directory has a submission that delivered anything. One whose first job was refused is as good as none.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn is_in(directory: &Path) -> Result<bool> {
        Ok(Record::read(directory)?.is_some_and(|record| !record.jobs.is_empty()))
    }

    /// Begins a record before anything is submitted.
    pub(super) fn begin(directory: &Path, submission: Submission) -> Result<Record> {
        let record = Record::new(directory.join(FILE), submission);
        match fs::remove_file(&record.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{} cannot be written", record.path.display()));
            }
            _ => {}
        }
        record.append(&Line::Submission(record.submission.clone()))?;
        Ok(record)
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: Line) -> Result<()> {
        self.append(&line)?;
        self.take(line);
        Ok(())
    }

    fn new(path: PathBuf, submission: Submission) -> Record {
        Record { path, submission, jobs: BTreeMap::new(), collector: None, ended: BTreeMap::new() }
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Submission(_) => {}
            Line::Job { node, id } => drop(self.jobs.insert(node, id)),
            Line::Collector { id } => self.collector = Some(id),
            Line::Ended { node, state } => drop(self.ended.insert(node, state)),
        }
    }

    fn append(&self, line: &Line) -> Result<()> {
        let text = serde_json::to_string(line).context("a record cannot be encoded")? + "\n";
        let file = OpenOptions::new().append(true).create(true).open(&self.path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("{} cannot be written; make room or try another directory", self.path.display()))
    }
}
