//! `unixmark collect`: merges journals from many nodes into one fleet run.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::fleet::table;
use crate::options::Redact;
use crate::status::{Status, usage};
use crate::terminal::{print_words, say};
use ::fleet::{Fleet, alias, collect, keep_others_out, slurm};
use catalogue::Catalogue;
use words::hosts;

/// Files that hold no journal and are named.
const FEW: usize = 3;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Journals, or directories that contain journals at any depth
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The fleet run's directory, created if missing
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Accept journals of this fleet run only [default: the directory's, or else the first one
    /// found]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Nodes that should deliver: n1,n2 or n[1-10]; added to those of earlier collections
    #[arg(long, value_name = "NODE,…", value_parser = hosts)]
    expect: Vec<Vec<String>>,
    #[command(flatten)]
    redact: Redact,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let Arguments { sources, into, run, expect, redact: Redact { redact } } = arguments;
    if let Some(missing) = sources.iter().find(|source| !source.exists()) {
        return Err(usage(anyhow::anyhow!("{} does not exist", missing.display())));
    }
    let alone = keep_others_out(into, || {
        say(&format!("another collector is working in {}: waiting for it", into.display()))
    })?;
    let name = Fleet::name(into, run.as_deref()).map_err(usage)?;
    let catalogue = Catalogue::load()?;
    let collected = collect(sources, into, name.as_deref(), *redact, &catalogue)?;
    for refused in &collected.refused {
        say(&format!("not taken in: {}: {}", refused.path.display(), refused.reason));
    }
    if !collected.others.is_empty() {
        let names: Vec<String> =
            collected.others.iter().map(|other| other.path.display().to_string()).collect();
        say(&format!("no journals: {}", words::listed(&names, FEW)));
    }
    let Some(name) = collected.run.clone() else {
        alone.undo();
        bail!(
            "no journal of a fleet run was found; nodes measure with `unixmark run … --fleet NAME`"
        );
    };
    let expect: Vec<String> = expect
        .iter()
        .flatten()
        .map(|node| if *redact { alias(node) } else { node.clone() })
        .collect();
    Fleet::expect(into, &name, &expect)?;
    let mut fleet = Fleet::read(into, &catalogue)?;
    collected.explain(&mut fleet);
    slurm::explain(&mut fleet, into)?;
    print_words(&table(&fleet))?;
    say(&format!(
        "{} taken in, {} already there",
        words::count(collected.taken, "journal"),
        collected.known
    ));
    if !fleet.is_complete() {
        say("unixmark: not every node has delivered a whole run");
    }
    Ok(if fleet.entries.iter().all(|entry| entry.journal.is_none()) {
        Status::Nothing
    } else if fleet.is_complete() {
        Status::Fine
    } else {
        Status::Failed
    })
}
