//! `unixmark collect`: one fleet run of many nodes' journals.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::fleet::table;
use super::{Status, print, say, usage};
use ::fleet::{Fleet, alone, collect, slurm};
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Journals, and directories with journals at any depth
    #[arg(required = true, value_name = "SOURCE")]
    pub(super) sources: Vec<PathBuf>,
    /// The fleet run's directory, made where it is not there
    #[arg(long, value_name = "DIR")]
    pub(super) into: PathBuf,
    /// Take in this fleet run alone [default: the directory's, else the first that is found]
    #[arg(long, value_name = "NAME")]
    pub(super) run: Option<String>,
    /// The nodes that should deliver
    #[arg(long, value_name = "NODE,…", value_delimiter = ',')]
    pub(super) expect: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let Arguments { sources, into, run, expect } = arguments;
    if let Some(missing) = sources.iter().find(|source| !source.exists()) {
        return Err(usage(anyhow::anyhow!("there is nothing at {}", missing.display())));
    }
    let alone = alone(into, || say(&format!("another collector works in {}: waiting for it", into.display())))?;
    let name = Fleet::name(into, run.as_deref()).map_err(usage)?;
    let catalogue = Catalogue::load()?;
    let collected = collect(sources, into, name.as_deref(), &catalogue)?;
    for refused in &collected.refused {
        say(&format!("not taken in: {}: {}", refused.path.display(), refused.reason));
    }
    let Some(name) = collected.run else {
        alone.undo();
        bail!("no journal of a fleet run was found; nodes measure with `unixmark run … --fleet NAME`");
    };
    Fleet::expect(into, &name, expect)?;
    let mut fleet = Fleet::read(into, &catalogue)?;
    slurm::explain(&mut fleet, into)?;
    print(&table(&fleet))?;
    say(&format!("{} journals were taken in, {} were there already", collected.taken, collected.known));
    Ok(if fleet.entries.iter().all(|entry| entry.journal.is_none()) {
        Status::Nothing
    } else if fleet.is_complete() {
        Status::Fine
    } else {
        Status::Failed
    })
}
