//! `unixmark fleet report`: which nodes are slow, at what, by how much, and what they have in
//! common.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::options::{Form, percent};
use crate::status::{Status, usage};
use crate::terminal::print;
use ::fleet::{Fleet, State, slurm};
use ::report::Subject;
use analysis::fleet::{Asked, By, Delivered, FleetReport};
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The fleet run's directory
    #[arg(value_name = "FLEET")]
    directory: PathBuf,
    /// Compare nodes that have the same value of this fact, such as kernel.release; none: all nodes
    /// [default: the type of machine]
    #[arg(long, value_name = "FACT")]
    by: Option<String>,
    /// Do not flag nodes or changes smaller than this
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percent)]
    threshold: f64,
    /// Compare with the fleet run in this directory, node by node: before an upgrade and after it
    #[arg(long, value_name = "FLEET")]
    against: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let mut fleet = Fleet::read(&arguments.directory, &catalogue)?;
    slurm::explain(&mut fleet, &arguments.directory)?;
    let before = arguments
        .against
        .as_ref()
        .map(|directory| Fleet::read(directory, &catalogue))
        .transpose()?;
    let (names, old) = (names(&fleet), before.as_ref().map(self::names).unwrap_or_default());
    let delivered = delivered(&fleet, &names);
    if delivered.is_empty() {
        bail!("no node of the fleet run has delivered anything; `unixmark fleet status` shows why");
    }
    let old = before.as_ref().map(|fleet| (fleet.run.as_str(), self::delivered(fleet, &old)));
    let by = match arguments.by.as_deref() {
        None => By::Machine,
        Some("none") => By::Nothing,
        Some(fact) => By::Fact(fact.to_owned()),
    };
    let asked = Asked { by, threshold: arguments.threshold };
    let report = FleetReport::new(
        &fleet.run,
        &delivered,
        old.as_ref().map(|(run, old)| (*run, &old[..])),
        &asked,
    )
    .map_err(usage)?;
    print(&::report::render(Subject::Fleet(&fleet, &report), arguments.form.layout())?)?;
    Ok(Status::Fine)
}

/// Returns the names of the parts: the node, with the task where it has several.
fn names(fleet: &Fleet) -> Vec<String> {
    let mut tasks: HashMap<&str, usize> = HashMap::new();
    fleet.entries.iter().for_each(|entry| *tasks.entry(&entry.id.node).or_default() += 1);
    let name = |entry: &::fleet::Entry| match tasks[entry.id.node.as_str()] {
        1 => entry.id.node.clone(),
        _ => format!("{} task {}", entry.id.node, entry.id.task),
    };
    fleet.entries.iter().map(name).collect()
}

fn delivered<'a>(fleet: &'a Fleet, names: &'a [String]) -> Vec<Delivered<'a>> {
    let part = |(entry, name): (&'a ::fleet::Entry, &'a String)| {
        let summary = entry.summary.as_deref()?;
        Some(Delivered { id: &entry.id, name, whole: entry.state == State::Whole, summary })
    };
    fleet.entries.iter().zip(names).filter_map(part).collect()
}
