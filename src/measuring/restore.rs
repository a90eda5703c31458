//! `unixmark restore`: undoes system changes left behind by a run that was killed.

use anyhow::{Result, ensure};
use clap::Args;

use crate::status::Status;
use crate::terminal::{print, print_words, say};
use conditions::{Restored, Survey, Undo};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only show what is to be undone, and in which file that is written
    #[arg(long, conflicts_with = "forget")]
    list: bool,
    /// Drop a step that can never be undone, by the name that --list shows; what it would undo
    /// stays as it is
    #[arg(long, value_name = "STEP")]
    forget: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    match &arguments.forget {
        _ if arguments.list => list(),
        Some(step) => forget_step(step),
        None => restore(),
    }
}

/// Undoes the changes of runs that were killed, and says which.
fn restore() -> Result<Status> {
    let Restored { steps: undone, failed, busy, unreadable } = conditions::restore()?;
    for step in &undone {
        print_words(&format!("{}\n", step.description()))?;
    }

    let mut problems = unreadable;
    if !failed.is_empty() {
        problems.push(conditions::not_undone(&failed));
    }
    problems.extend(busy.first().map(|path| {
        format!(
            "another unixmark is running, or cleaning up after itself ({}); what it changed it undoes when it ends",
            path.display()
        )
    }));
    ensure!(problems.is_empty(), "{}", problems.join("; "));

    if undone.is_empty() {
        print("there is nothing to undo\n")?;
    }
    Ok(Status::Fine)
}

/// Prints the steps of each ledger, by which changes are undone.
fn list() -> Result<Status> {
    let Survey { left, busy, unreadable } = conditions::survey()?;
    for ledger in &left {
        print(&format!("{}\n", ledger.path.display()))?;
        for step in &ledger.steps {
            print_words(&format!("  {}: {}\n", step.name(), step.description()))?;
        }
    }
    for path in &busy {
        print(&format!(
            "{}\n  of a run that goes on, or of what cleans up after it\n",
            path.display()
        ))?;
    }
    ensure!(unreadable.is_empty(), "{}", unreadable.join("; "));
    if left.is_empty() && busy.is_empty() {
        print("there is nothing to undo\n")?;
    }
    Ok(Status::Fine)
}

fn forget_step(name: &str) -> Result<Status> {
    for step in conditions::forget(name)? {
        say(&format!("warning: dropped, not undone: {}", step.description()));
    }
    Ok(Status::Fine)
}

/// Says that a killed run left changes behind; called at the start of any other command.
pub(crate) fn mention_left_changes() {
    let Ok(Survey { left, unreadable, .. }) = conditions::survey() else {
        return;
    };
    let steps: Vec<String> =
        left.iter().flat_map(|ledger| &ledger.steps).map(Undo::description).collect();
    if !steps.is_empty() {
        say(&format!(
            "unixmark: a run that was killed left {} behind ({}); `unixmark restore` undoes that",
            words::count(steps.len(), "system change"),
            steps.join("; ")
        ));
    }
    for why in unreadable {
        say(&format!("unixmark: {why}"));
    }
}
