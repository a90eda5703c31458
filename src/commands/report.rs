//! `unixmark report RUN`.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Results, Status, print, trend};
use ::report::Format;
use catalogue::Catalogue;
use journal::{self, Baseline, FILE, Store};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The run
    #[arg(default_value = "latest", value_name = "RUN")]
    run: String,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Divide by the scores of this run instead of George's
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Show this test, or index, over all runs in place of one run
    #[arg(long, value_name = "TEST", conflicts_with_all = ["run", "baseline"])]
    trend: Option<String>,
    /// Runs of this host, or `all` [default: the host of the latest run with the test]
    #[arg(long, value_name = "NAME", requires = "trend")]
    host: Option<String>,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let store = arguments.results.store()?;
    let catalogue = Catalogue::load()?;
    if let Some(test) = &arguments.trend {
        return trend::run(test, arguments.host.as_deref(), arguments.format, &store, &catalogue);
    }
    let baseline = arguments.baseline.as_deref().map(|name| baseline(&store, &catalogue, name)).transpose()?;
    let journal = journal::read(&store.find(&arguments.run)?)?;
    let results = analysis::Results::new(&journal, &catalogue, baseline.as_ref());
    print(&::report::report(&results, arguments.format)?)?;
    Ok(Status::Fine)
}

/// Returns the scores of the run called `name`, to divide by.
pub(super) fn baseline(store: &Store, catalogue: &Catalogue, name: &str) -> Result<Baseline> {
    let journal = journal::read(&store.find(name)?)?;
    Ok(analysis::Results::new(&journal, catalogue, None).as_baseline())
}

/// Writes every form of report into the run's directory, and what it came to beside its journal.
pub(super) fn write_all(results: &analysis::Results, directory: &Path) -> Result<()> {
    archive::keep(results, &directory.join(FILE))?;
    for (format, file) in Format::FILES {
        let path = directory.join(file);
        std::fs::write(&path, ::report::report(results, format)?).with_context(|| {
            format!(
                "the report {} cannot be written; the journal is whole: make room, then `unixmark report`",
                path.display()
            )
        })?;
    }
    Ok(())
}
