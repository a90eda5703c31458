//! `unixmark report --trend TEST`: one test over the runs of the results directory.

use anyhow::{Result, anyhow};

use crate::reports::results;
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::{Layout, Subject};
use analysis::{Summary, Trend};
use catalogue::Catalogue;
use journal::{FILE, Store, View};
use words::nearest;

/// Every host, in place of a name.
const ALL_HOSTS: &str = "all";

/// Prints the trend of a test, or an index, on one host or all; or the chain of its comparisons.
/// Journals that have a summary are not read, except for a chain.
pub(super) fn run(
    (test, is_chain): (&str, bool),
    host: Option<&str>,
    layout: Layout,
    store: &Store,
    catalogue: &Catalogue,
) -> Result<Status> {
    let test = catalogue.index(test).map_or(test, |index| index.id.as_str());
    let mut summaries = Summaries::read(test, store, catalogue)?;

    let host = match host {
        Some(host) => host.to_owned(),
        None if is_chain => ALL_HOSTS.to_owned(),
        None => summaries.latest_host(),
    };
    summaries.keep_host(&host, test)?;

    let trend = match is_chain {
        true => chain(test, &summaries.with_test, store, catalogue)?,
        false => Trend::new(test, &summaries.with_test),
    };
    print(&::report::render(Subject::Trend(&trend), layout)?)?;
    Ok(if summaries.has_gaps { Status::Failed } else { Status::Fine })
}

/// The summaries of the runs that have figures for a test; never empty.
struct Summaries {
    with_test: Vec<Summary>,
    /// True if there are runs that cannot be read.
    has_gaps: bool,
}

impl Summaries {
    /// Reads the summaries of all runs, and says which cannot be read.
    ///
    /// # Errors
    /// No run has the test.
    fn read(test: &str, store: &Store, catalogue: &Catalogue) -> Result<Summaries> {
        let mut summaries = Summaries { with_test: Vec::new(), has_gaps: false };
        let mut other_tests: Vec<String> = Vec::new();
        for listed in store.list()? {
            match archive::summary(&listed.path.join(FILE), catalogue) {
                Ok(summary) if tests(&summary).any(|name| name == test) => {
                    summaries.with_test.push(summary);
                }
                Ok(summary) => other_tests.extend(tests(&summary).map(str::to_owned)),
                Err(error) => {
                    say(&format!("left out: {error:#}"));
                    summaries.has_gaps = true;
                }
            }
        }
        if !summaries.with_test.is_empty() {
            return Ok(summaries);
        }

        let problem = format!("no run in {} has the test '{test}'", store.root().display());
        let near = nearest(test, other_tests.iter().map(String::as_str));
        Err(summaries.no_such(match near {
            Some(near) => anyhow!("{problem}; did you mean '{near}'?"),
            None => anyhow!(
                "{problem}; `unixmark list runs` shows the runs, `unixmark list indexes` the indexes"
            ),
        }))
    }

    /// The host of the latest run.
    fn latest_host(&self) -> String {
        let started = |summary: &&Summary| summary.run.started.parse::<jiff::Timestamp>().ok();
        let latest = self.with_test.iter().max_by_key(started);
        latest.map(|summary| summary.run.host.clone()).unwrap_or_default()
    }

    /// Drops the runs of other hosts than `host`.
    ///
    /// # Errors
    /// No run is left.
    fn keep_host(&mut self, host: &str, test: &str) -> Result<()> {
        if host == ALL_HOSTS {
            return Ok(());
        }

        let hosts: Vec<String> =
            self.with_test.iter().map(|summary| summary.run.host.clone()).collect();
        self.with_test.retain(|summary| summary.run.host == host);
        if !self.with_test.is_empty() {
            return Ok(());
        }

        let problem = format!("no run with the test '{test}' comes from host '{host}'");
        let near = nearest(host, hosts.iter().map(String::as_str));
        Err(self.no_such(match near {
            Some(near) => anyhow!("{problem}; did you mean '{near}'?"),
            None => anyhow!("{problem}; --host all shows all hosts"),
        }))
    }

    /// A name that no run has is wrong usage, unless it may be in a run that was left out.
    fn no_such(&self, error: anyhow::Error) -> anyhow::Error {
        if self.has_gaps { error } else { usage(error) }
    }
}

/// The chain of a test over the runs that compare it.
///
/// # Errors
/// No run compares it, or a journal cannot be read.
fn chain(test: &str, summaries: &[Summary], store: &Store, catalogue: &Catalogue) -> Result<Trend> {
    let mut runs = Vec::new();
    for summary in summaries {
        if matches!(summary.run.view, View::Ab | View::Cost) {
            runs.push(results(store, catalogue, &summary.run.name)?);
        }
    }

    let trend = Trend::chained(test, &runs);
    if trend.series.is_empty() {
        return Err(usage(anyhow!(
            "no run compares the test '{test}'; a chain is of runs of `unixmark ab` or `cost`"
        )));
    }
    Ok(trend)
}

/// The tests and indexes that a run has figures for.
fn tests(summary: &Summary) -> impl Iterator<Item = &str> {
    let figures = summary.figures.iter().map(|figure| figure.cell.key.test.as_str());
    let indexes = summary.indexes.iter().filter(|index| index.complete);
    figures.chain(indexes.map(|index| index.id.as_str()))
}
