//! Fleets by Slurm: one exclusive job for each node, a collector when all have ended, and what Slurm says of those that have
//! not delivered. Calls Slurm's own commands; queue, time limits and requeueing are Slurm's.

mod engine;
mod record;
mod script;
mod tell;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub use engine::{Job, Node, cancel, free, jobs, nodes, partition, rehearse};
pub use record::{Record, Submission};
pub use tell::explain;

use engine::{After, Asked};
use record::Line;

/// Time beyond a job's own in which Slurm ends it, and tells.
const GRACE: Duration = Duration::from_secs(120);

/// The order to Slurm.
#[derive(Debug)]
pub struct Request<'a> {
    /// The fleet run's name.
    pub run: &'a str,
    /// The partition.
    pub partition: &'a str,
    /// The nodes; each gets a job of its own.
    pub nodes: &'a [String],
    /// The measurement of each node: the arguments of the tool, with the verb first.
    pub words: &'a [OsString],
    /// The longest time that a job may take.
    pub time: Duration,
    /// The longest time that a job may wait for its node.
    pub give_up: Duration,
}

/// The place of a submission's files, below the fleet run's directory.
#[derive(Debug)]
pub struct Place(PathBuf);

impl Place {
    /// The place in the fleet run's directory, which must be an absolute path.
    #[must_use]
    pub fn new(directory: &Path) -> Place {
        Place(directory.join("slurm"))
    }

    /// Returns the directory of the nodes' journals.
    #[must_use]
    pub fn journals(&self) -> PathBuf {
        self.0.join("journals")
    }

    /// Returns the directory of the jobs' messages.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    fn tool(&self) -> PathBuf {
        self.0.join("unixmark")
    }

    /// Writes everything that jobs need: the tool, and a script for the nodes and for the collector.
    fn furnish(&self, directory: &Path, request: &Request<'_>) -> Result<()> {
        let why = || format!("{} cannot be written; make room or try --into DIR", self.0.display());
        fs::create_dir_all(self.journals()).with_context(why)?;
        fs::create_dir_all(self.log()).with_context(why)?;
        let tool = std::env::current_exe().context("this executable is not found; start it by its path")?;
        fs::copy(&tool, self.tool()).with_context(why)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(self.tool(), fs::Permissions::from_mode(0o755)).with_context(why)?;
        }
        fs::write(self.0.join("node.sh"), script::node(&self.0, request.run, request.words)).with_context(why)?;
        fs::write(self.0.join("collect.sh"), script::collector(&self.0, directory, request.run)).with_context(why)
    }
}

/// The jobs that were submitted before an error, if there was one.
#[derive(Debug)]
pub struct Submitted {
    /// The record, which the directory has too.
    pub record: Record,
    /// Why it ended before all nodes had a job.
    pub broke: Option<anyhow::Error>,
}

/// Submits a job for every node and the collector after them. What is submitted is written down at once, so that a crash
/// leaves a true record. `stop` says whether to go no further.
///
/// # Errors
/// The directory has a submission already, or cannot be written. A refusal of Slurm's in the middle is none: see
/// [`Submitted::broke`].
pub fn submit(directory: &Path, request: &Request<'_>, mut stop: impl FnMut() -> bool) -> Result<Submitted> {
    if Record::is_in(directory)? {
        bail!("{} has a submission already; try another directory", directory.display());
    }
    let place = Place::new(directory);
    place.furnish(directory, request)?;
    let now = jiff::Timestamp::now();
    let name = script::job_name(request.run, &format!("{now}{}{}", std::process::id(), directory.display()));
    let mut record =
        Record::begin(directory, Submission::new(request, name, now, request.give_up + request.time + GRACE))?;
    for node in request.nodes {
        if stop() {
            let broke = Some(anyhow::anyhow!("it was interrupted"));
            return Ok(Submitted { record, broke });
        }
        let asked = Asked {
            log: place.log().join(format!("{node}.txt")),
            script: place.0.join("node.sh"),
            node: Some(node),
            time: request.time,
            deadline: request.give_up + request.time,
            after: After::Nothing,
        };
        match engine::submit(&record.submission, &asked) {
            Ok(id) => record.add(Line::Job { node: node.clone(), id })?,
            Err(error) => return Ok(Submitted { record, broke: Some(error.context(format!("node {node}"))) }),
        }
    }
    let asked = Asked {
        log: place.log().join("collector.txt"),
        script: place.0.join("collect.sh"),
        node: None,
        time: COLLECTING,
        // It waits for the others to end, and then for a node.
        deadline: request.give_up * 2 + request.time + GRACE + COLLECTING,
        after: After::OfThatName,
    };
    let broke = match engine::submit(&record.submission, &asked) {
        Ok(id) => record.add(Line::Collector { id }).map(|()| None)?,
        Err(error) => Some(error.context("the collector")),
    };
    Ok(Submitted { record, broke })
}

/// The longest time that collecting may take.
const COLLECTING: Duration = Duration::from_secs(600);
