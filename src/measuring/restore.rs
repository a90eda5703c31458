//! `unixmark restore`: undoes system changes left behind by a run that was killed.

use anyhow::Result;

use crate::status::Status;
use crate::terminal::{print, print_words, say};

pub(super) fn run() -> Result<Status> {
    match conditions::leftovers()? {
        None => print("there is nothing to undo\n")?,
        Some(left) => {
            conditions::restore(&left.path)?;
            print_words(&left.steps.iter().map(|step| format!("{step}\n")).collect::<String>())?;
        }
    }
    Ok(Status::Fine)
}

/// Reports such changes, at the start of any other command.
pub(crate) fn offer() {
    if let Ok(Some(left)) = conditions::leftovers() {
        say(&format!(
            "unixmark: a run that was killed left {} behind ({}); `unixmark restore` undoes that",
            words::count(left.steps.len(), "system change"),
            left.steps.join("; ")
        ));
    }
}
