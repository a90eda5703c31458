//! `unixmark list`: the catalogue and the runs.

use anyhow::Result;

use crate::options::Results;
use crate::status::Status;
use crate::terminal::print;
use ::conditions as switches;
use catalogue::{Catalogue, NONE, Switch};
use journal::{Ended, FILE, Listed, Store};
use machine::Machine;

/// Columns of a list.
const WIDTH: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// What can be measured
    Tests,
    /// Names for several tests
    Groups,
    /// Ways to combine scores into one number
    Indexes,
    /// What can run in the background
    Loads,
    /// What can be switched on the machine
    Conditions,
    /// The runs in the results directory
    Runs,
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What to list [default: tests and groups]
    #[arg(value_enum)]
    what: Option<What>,
    /// Add what each one exercises, and what it does not show
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let long = arguments.long;
    let text = match arguments.what {
        None => format!("Tests:\n{}\nGroups:\n{}", tests(&catalogue, long), groups(&catalogue, long)),
        Some(What::Tests) => tests(&catalogue, long),
        Some(What::Groups) => groups(&catalogue, long),
        Some(What::Indexes) => {
            rows(catalogue.indexes.iter().map(|row| (row.id.as_str(), row.name.clone(), row.doc.as_str())), long)
        }
        Some(What::Loads) => loads(&catalogue, long),
        Some(What::Conditions) => conditions(&catalogue, long),
        Some(What::Runs) => runs(&arguments.results.store()?)?,
    };
    print(&text)?;
    Ok(Status::Fine)
}

fn tests(catalogue: &Catalogue, long: bool) -> String {
    let row = |test: &'_ catalogue::Test| format!("{} ({})", test.label, test.unit);
    rows(catalogue.tests.iter().map(|test| (test.id.as_str(), row(test), test.doc.as_str())), long)
}

fn loads(catalogue: &Catalogue, long: bool) -> String {
    let none = (NONE, "nothing beyond what the machine does anyway".to_owned(), "");
    let loads =
        catalogue.loads().map(|test| (test.id.as_str(), format!("{} ({})", test.label, test.unit), test.doc.as_str()));
    rows(std::iter::once(none).chain(loads), long)
}

/// Every switch with its levels, and which of them are not available here, and why.
fn conditions(catalogue: &Catalogue, long: bool) -> String {
    let machine = Machine::here();
    let about = |switch: &Switch| {
        let mut about = switch.label.clone();
        let levels: Vec<&str> =
            switch.levels.iter().map(|level| level.id.as_str()).filter(|level| !level.is_empty()).collect();
        if !levels.is_empty() {
            about += &format!(": {}", levels.join(", "));
        }
        for (why, levels) in unavailable(switch, &levels, &machine) {
            about +=
                &if levels.is_empty() { format!(" - not here: {why}") } else { format!(" - no {levels} here: {why}") };
        }
        about
    };
    rows(catalogue.switches.iter().map(|row| (row.id.as_str(), about(row), row.doc.as_str())), long)
}

/// Why levels of a switch are not available here: each reason with its levels, or without any if
/// it holds for all.
fn unavailable(switch: &Switch, levels: &[&str], machine: &Machine) -> Vec<(String, String)> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    if switch.levels.iter().any(|level| level.id.is_empty()) {
        // The level itself names the file and the text.
        return Vec::new();
    }
    let whole = [""];
    let asked = if levels.is_empty() { &whole[..] } else { levels };
    for level in asked.iter().filter(|level| !level.ends_with(':')) {
        if let Err(why) = switches::available(switch, level, machine) {
            match reasons.iter_mut().find(|known| known.0 == why) {
                Some(known) => known.1.push(level),
                None => reasons.push((why, vec![level])),
            }
        }
    }
    let all = |names: &[&str]| names.len() == asked.len();
    reasons.into_iter().map(|(why, names)| (why, if all(&names) { String::new() } else { names.join(", ") })).collect()
}

fn groups(catalogue: &Catalogue, long: bool) -> String {
    rows(
        catalogue.groups.iter().map(|group| (group.id.as_str(), catalogue.names(group).join(" "), group.doc.as_str())),
        long,
    )
}

/// One line per row, with the documentation under it if wanted.
fn rows<'a>(rows: impl Iterator<Item = (&'a str, String, &'a str)>, long: bool) -> String {
    let mut text = String::new();
    for (id, about, doc) in rows {
        let mut line = format!("  {id:<18}");
        for word in about.split(' ') {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                text.push_str(&line);
                text.push('\n');
                line = " ".repeat(20);
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
        if long {
            text.push_str(&format!("      {}\n", doc.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    text
}

fn runs(store: &Store) -> Result<String> {
    let runs = store.list()?;
    if runs.is_empty() {
        return Ok(format!("no runs in {}\n", store.root().display()));
    }
    let line = |listed: &Listed| words::visible(&format!("  {:<30} {}", listed.name, description(listed))) + "\n";
    Ok(runs.iter().map(line).collect())
}

/// When a run began, how it measured, how it ended, and its command line.
fn description(listed: &Listed) -> String {
    let Some(run) = &listed.run else { return "cut short before its first line".to_owned() };
    // A run in progress has no end either.
    let end = journal::last_line(&listed.path.join(FILE)).map_or("unfinished", Ended::name);
    let started = run.started.get(..16).unwrap_or(&run.started).replace('T', " ");
    let words = if run.arguments.is_empty() { run.tool.clone() } else { run.arguments.join(" ") };
    format!("{started}  {:<9} {end:<11} {words}", run.procedure)
}
