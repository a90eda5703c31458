//! `unixmark fleet`: measures on a cluster, and reports on fleet runs.

mod report;

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

use crate::measuring::Slurm;
use crate::options::{ListForm, ListFormat};
use crate::status::Status;
use crate::terminal::{print_json, print_words, say};
use ::fleet::{self, Fleet, State};
use catalogue::Catalogue;
use words::{shortened, visible};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure on nodes of a Slurm cluster, each in a job of its own
    Slurm(Slurm),
    /// Show which nodes have delivered, and what is wrong with the others
    Status {
        /// The fleet run's directory
        #[arg(value_name = "FLEET")]
        directory: PathBuf,
        #[command(flatten)]
        form: ListForm,
    },
    /// Show which nodes are slow, at what, by how much, and what they have in common
    Report(report::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let (directory, form) = match &arguments.verb {
        Verb::Report(arguments) => return report::run(arguments),
        Verb::Slurm(arguments) => return arguments.run(),
        Verb::Status { directory, form } => (directory, form),
    };
    let mut fleet = Fleet::read(directory, &Catalogue::load()?)?;
    fleet::slurm::explain(&mut fleet, directory)?;
    match form.format {
        ListFormat::Json => print_json(&fleet)?,
        ListFormat::Text => print_words(&table(&fleet))?,
    }
    if !fleet.is_complete() {
        say("unixmark: not every node has delivered a whole run");
        return Ok(Status::Failed);
    }
    Ok(Status::Fine)
}

/// The fleet in words: how many nodes delivered, and a line for each part.
pub(super) fn table(fleet: &Fleet) -> String {
    let count = |state: State| fleet.entries.iter().filter(|entry| entry.state == state).count();
    let counted = |state: State| {
        Some(format!("{} {}", count(state), state.name())).filter(|_| count(state) > 0)
    };
    let states = [State::Whole, State::Partial, State::Late, State::Missing];
    let counts: Vec<String> = states.into_iter().filter_map(counted).collect();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "fleet run {}: {}\n", shortened(&fleet.run, 24), counts.join(", "));
    let width = fleet
        .entries
        .iter()
        .map(|entry| shortened(&entry.id.node, 24).chars().count())
        .max()
        .unwrap_or(0);
    for entry in &fleet.entries {
        let why: Vec<&str> = entry.reason.iter().chain(&entry.notes).map(String::as_str).collect();
        let line = format!(
            "{:<width$}  {:<7}  {}",
            shortened(&entry.id.node, 24),
            entry.state.name(),
            why.join("; ")
        );
        let _ = writeln!(text, "{}", visible(line.trim_end()));
    }
    text
}
