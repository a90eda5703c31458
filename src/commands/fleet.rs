//! `unixmark fleet`: what came of a fleet run.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

use super::{Status, print};
use crate::fleet::{Fleet, State};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say which nodes have delivered, and what is wrong with the others
    Status {
        /// The fleet run's directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let Verb::Status { directory, json } = &arguments.verb;
    let fleet = Fleet::read(directory)?;
    print(&if *json { serde_json::to_string_pretty(&fleet)? + "\n" } else { table(&fleet) })?;
    Ok(if fleet.is_complete() { Status::Fine } else { Status::Failed })
}

/// The fleet in words: how many nodes delivered, and a line for each part.
pub(super) fn table(fleet: &Fleet) -> String {
    let count = |state: State| fleet.entries.iter().filter(|entry| entry.state == state).count();
    let of = |state: State| Some(format!("{} {}", count(state), state.name())).filter(|_| count(state) > 0);
    let counts: Vec<String> = [State::Whole, State::Partial, State::Missing].into_iter().filter_map(of).collect();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "fleet run {}: {}\n", fleet.run, counts.join(", "));
    let width = fleet.entries.iter().map(|entry| entry.node.chars().count()).max().unwrap_or(0);
    for entry in &fleet.entries {
        let why: Vec<&str> = entry.reason.iter().chain(&entry.notes).map(String::as_str).collect();
        let line = format!("{:<width$}  {:<7}  {}", entry.node, entry.state.name(), why.join("; "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
