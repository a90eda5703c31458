//! `unixmark list`: the catalogue, and the runs there are.

use anyhow::Result;

use super::{Results, Status, print};
use crate::catalogue::{Catalogue, NONE};
use crate::journal::Store;

/// Columns of a list.
const WIDTH: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// What can be measured
    Tests,
    /// Names for several tests
    Groups,
    /// Ways to make one number of scores
    Indexes,
    /// What may run in the background
    Loads,
    /// What may be switched on the machine
    Conditions,
    /// The runs in the results directory
    Runs,
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What to list [default: tests and groups]
    #[arg(value_enum)]
    what: Option<What>,
    /// Add what each exercises and does not show
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
        Some(What::Conditions) => {
            rows(catalogue.switches.iter().map(|row| (row.id.as_str(), row.label.clone(), row.doc.as_str())), long)
        }
        Some(What::Runs) => runs(&arguments.results.store()?)?,
    };
    print(&text)?;
    Ok(Status::Fine)
}

fn tests(catalogue: &Catalogue, long: bool) -> String {
    let row = |test: &'_ crate::catalogue::Test| format!("{} ({})", test.label, test.unit);
    rows(catalogue.tests.iter().map(|test| (test.id.as_str(), row(test), test.doc.as_str())), long)
}

fn loads(catalogue: &Catalogue, long: bool) -> String {
    let none = (NONE, "nothing but what the machine was doing already".to_owned(), "");
    let loads =
        catalogue.loads().map(|test| (test.id.as_str(), format!("{} ({})", test.label, test.unit), test.doc.as_str()));
    rows(std::iter::once(none).chain(loads), long)
}

fn groups(catalogue: &Catalogue, long: bool) -> String {
    rows(catalogue.groups.iter().map(|group| (group.id.as_str(), group.members.join(" "), group.doc.as_str())), long)
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
    let mut text = String::new();
    for listed in runs {
        let about = listed.run.map_or_else(
            || "cut short before its first line".to_owned(),
            |run| {
                let words = if run.arguments.is_empty() { run.tool.clone() } else { run.arguments.join(" ") };
                format!("{}  {:<9} {words}", run.started, run.procedure)
            },
        );
        text.push_str(&format!("  {:<30} {about}\n", listed.name));
    }
    Ok(text)
}
