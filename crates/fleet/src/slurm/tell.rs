//! Slurm's knowledge of nodes that have not delivered.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;

use super::Place;
use super::engine::{self, Job};
use super::record::{Line, Record};
use crate::{Entry, Fleet, State};
use journal::first_line;

/// Says of every node that has not delivered a whole run what became of its job: late as long as Slurm has it, else how it
/// ended, which is written down, since Slurm forgets it. Does nothing for a fleet run that Slurm has no part in.
///
/// # Errors
/// The record cannot be read.
pub fn explain(fleet: &mut Fleet, directory: &Path) -> Result<()> {
    let Some(mut record) = Record::read(directory)? else { return Ok(()) };
    if fleet.is_complete() {
        return Ok(());
    }
    let jobs = engine::jobs(&record.submission.job);
    for job in jobs.iter().flatten().filter(|job| job.has_ended() && !job.node.is_empty()) {
        if record.ended.get(&job.node) != Some(&job.state) {
            // A directory that may only be read is as good, for as long as Slurm remembers.
            let _ = record.add(Line::Ended { node: job.node.clone(), state: job.state.clone() });
        }
    }
    let written = written(&Place::new(directory).journals());
    for entry in fleet.entries.iter_mut().filter(|entry| entry.state != State::Whole) {
        let told = tell(&entry.id.node, &record, &jobs).map(|(late, told)| {
            // Its job may have ended well, and others not, which the collector waits for.
            let ready = entry.journal.is_none() && written.contains(&entry.id.node);
            if ready { (true, format!("{told}; its journal is ready to be collected")) } else { (late, told) }
        });
        // Of others' journals in this directory Slurm knows nothing.
        if let Some((late, told)) = told {
            say(entry, late, told);
        }
    }
    Ok(())
}

/// The nodes that have written a journal; of one that was cut in its first line nothing can be collected.
fn written(journals: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(journals).into_iter().flatten().flatten();
    let written = names.filter(|entry| first_line(&entry.path()).is_some());
    let stems = written.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned));
    stems.filter_map(|stem| stem.rsplit_once('.').map(|(node, _)| node.to_owned())).collect()
}

/// Returns true if a node is late, and the state of its job in words.
fn tell(node: &str, record: &Record, jobs: &Result<Vec<Job>>) -> Option<(bool, String)> {
    if !record.submission.nodes.iter().any(|name| name == node) {
        return None;
    }
    // A job that was submitted as the submission was cut short is in no record, but in the queue.
    let job = jobs.iter().flatten().find(|job| job.node == node);
    let id = job.map(|job| &job.id).or_else(|| record.jobs.get(node));
    let Some(id) = id else { return Some((false, "no job was submitted for it".to_owned())) };
    Some(match (job, record.ended.get(node), jobs) {
        (Some(job), _, _) if !job.has_ended() => (true, going(job)),
        (Some(Job { state, .. }), _, _) | (None, Some(state), _) => (false, format!("its job {id} ended as {state}")),
        (None, None, Ok(_)) => (false, format!("its job {id} has ended, and Slurm has forgotten how")),
        (None, None, Err(error)) => {
            let awaited = Timestamp::now() < record.submission.until;
            (awaited, format!("the state of its job {id} is unknown: {error:#}"))
        }
    })
}

/// Returns the state in words of a job that Slurm has.
fn going(job: &Job) -> String {
    let Job { id, state, start, reason, .. } = job;
    match state.as_str() {
        _ if job.is_held() => format!("its job {id} was requeued and is held until {start}"),
        "PENDING" => format!("its job {id} waits: {reason}"),
        "RUNNING" => format!("its job {id} has been running since {start}"),
        _ => format!("its job {id} is {state}"),
    }
}

fn say(entry: &mut Entry, late: bool, told: String) {
    if late {
        entry.state = State::Late;
    }
    entry.reason = Some(match entry.reason.take().filter(|_| entry.state != State::Late) {
        Some(fault) => format!("{fault}; {told}"),
        None => told,
    });
}
