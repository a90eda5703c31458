//! Fleets by Slurm. A script (`fleet.sh`) calls Slurm's commands: it submits and watches jobs, and
//! says what became of them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{Entry, Fleet, State};

/// The command that submits a fleet run. It takes the words that `fleet.sh` names, from
/// TOOL on.
pub fn submitter() -> Command {
    let mut command = script("submit");
    command.arg(include_str!("node.sh"));
    command
}

fn script(verb: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", include_str!("fleet.sh"), "unixmark", verb]);
    command
}

/// Adds to every node that has not delivered a whole run what Slurm knows of its job: it is late as
/// long as Slurm has the job. Does nothing for a fleet run that Slurm has no part in.
///
/// # Errors
/// The record of the submission is damaged.
pub fn explain(fleet: &mut Fleet, directory: &Path) -> Result<()> {
    if fleet.is_complete() || !directory.join("slurm/jobs").exists() {
        return Ok(());
    }

    let output = script("explain").arg(directory).output().context("/bin/sh cannot be started")?;
    if !output.status.success() {
        bail!(
            "{}",
            String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("unixmark: ")
        );
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let fields: Vec<&str> = line.splitn(4, '\t').collect();
        let [node, state, written, reason] = fields[..] else {
            continue;
        };

        let open = fleet
            .entries
            .iter_mut()
            .filter(|entry| entry.id.node == node && entry.state != State::Whole);
        open.for_each(|entry| add(entry, state == "late", written == "written", reason));
    }

    Ok(())
}

/// Adds the state of a node's job to what is known of the node.
fn add(entry: &mut Entry, is_late: bool, is_written: bool, reason: &str) {
    let mut reasons: Vec<String> = entry.reason.take().into_iter().collect();
    // Its job may have ended well, and others not, which the collector waits for.
    let is_ready = is_written && entry.journal.is_none();
    if is_late || is_ready {
        entry.state = State::Late;
        reasons.clear();
    }
    reasons.push(reason.to_owned());
    if is_ready {
        reasons.push("its journal is ready to be collected".to_owned());
    }
    entry.reason = Some(reasons.join("; "));
}
