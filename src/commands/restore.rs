//! `unixmark restore`: puts back what a run that was killed left switched.

use anyhow::Result;

use super::{Status, print, say};

pub(super) fn run() -> Result<Status> {
    match conditions::leftovers()? {
        None => print("nothing is left to put back\n")?,
        Some(left) => {
            conditions::restore(&left.path)?;
            print(&left.steps.iter().map(|step| format!("{step}\n")).collect::<String>())?;
        }
    }
    Ok(Status::Fine)
}

/// Offers to put things back, at the start of any other command.
pub(super) fn offer() {
    if let Ok(Some(left)) = conditions::leftovers() {
        say(&format!(
            "unixmark: a run that was killed left {} changed ({}); `unixmark restore` puts it back",
            if left.steps.len() == 1 { "one thing" } else { "things" },
            left.steps.join("; ")
        ));
    }
}
