//! `unixmark report --trend TEST`: one test over the runs of the results directory.

use anyhow::{Result, anyhow};

use crate::reports::results;
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::{Layout, Subject};
use analysis::{Results, Summary, Trend};
use catalogue::Catalogue;
use journal::{FILE, Store, View};
use words::nearest;

/// Every host, in place of a name.
const ALL: &str = "all";

/// Prints the trend of a test, or an index, on one host or all; or the chain of its comparisons. Journals that have a
/// summary are not read.
pub(super) fn run(
    (test, is_chain): (&str, bool),
    host: Option<&str>,
    layout: Layout,
    store: &Store,
    catalogue: &Catalogue,
) -> Result<Status> {
    let test = catalogue.index(test).map_or(test, |index| index.id.as_str());
    let mut status = Status::Fine;
    let mut with: Vec<Summary> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut hosts: Vec<String> = Vec::new();
    for listed in store.list()? {
        match archive::summary(&listed.path.join(FILE), catalogue) {
            Ok(summary) if has(&summary, test) => {
                hosts.push(summary.run.host.clone());
                with.push(summary);
            }
            Ok(summary) => names.extend(tests(&summary).map(str::to_owned)),
            Err(why) => {
                say(&format!("left out: {why:#}"));
                status = Status::Failed;
            }
        }
    }
    // It may be in a run that was left out.
    let wrong = |error| if status == Status::Fine { usage(error) } else { error };
    if with.is_empty() {
        let what = format!("no run in {} has the test '{test}'", store.root().display());
        return Err(wrong(match nearest(test, names.iter().map(String::as_str)) {
            Some(near) => anyhow!("{what}; did you mean '{near}'?"),
            None => anyhow!("{what}; `unixmark list runs` shows the runs, `unixmark list indexes` the indexes"),
        }));
    }
    let latest = with.iter().max_by_key(|summary| summary.run.started.parse::<jiff::Timestamp>().ok());
    let host = host.or(is_chain.then_some(ALL));
    let host = host.map_or_else(|| latest.map(|summary| summary.run.host.clone()).unwrap_or_default(), str::to_owned);
    with.retain(|summary| host == ALL || summary.run.host == host);
    if with.is_empty() {
        let what = format!("no run with the test '{test}' comes from host '{host}'");
        return Err(wrong(match nearest(&host, hosts.iter().map(String::as_str)) {
            Some(near) => anyhow!("{what}; did you mean '{near}'?"),
            None => anyhow!("{what}; --host all shows all hosts"),
        }));
    }
    let trend = if is_chain { chain(test, &with, store, catalogue)? } else { Trend::new(test, &with) };
    print(&::report::render(Subject::Trend(&trend), layout)?)?;
    Ok(status)
}

/// Returns the chain of a test over the runs that compare it.
///
/// # Errors
/// None does, or a journal cannot be read.
fn chain(test: &str, summaries: &[Summary], store: &Store, catalogue: &Catalogue) -> Result<Trend> {
    let compares = |summary: &&Summary| matches!(summary.run.view, View::Ab | View::Cost);
    let names = summaries.iter().filter(compares).map(|summary| &summary.run.name);
    let runs = names.map(|name| results(store, catalogue, name)).collect::<Result<Vec<Results>>>()?;
    let trend = Trend::chained(test, &runs);
    if trend.series.is_empty() {
        return Err(usage(anyhow!("no run compares the test '{test}'; a chain is of runs of `unixmark ab` or `cost`")));
    }
    Ok(trend)
}

/// The tests and indexes that a run has figures for.
fn tests(summary: &Summary) -> impl Iterator<Item = &str> {
    let figures = summary.figures.iter().map(|figure| figure.cell.key.test.as_str());
    figures.chain(summary.indexes.iter().filter(|index| index.complete).map(|index| index.id.as_str()))
}

fn has(summary: &Summary, test: &str) -> bool {
    tests(summary).any(|name| name == test)
}
