//! The results of runs that are kept, and the reports beside their journals.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::status::usage;
use ::report::Format;
use analysis::Results;
use catalogue::Catalogue;
use journal::{Baseline, FILE, Store};

/// Returns where the run called `name` is.
///
/// # Errors
/// There is none, which is wrong usage.
pub(crate) fn find(store: &Store, name: &str) -> Result<PathBuf> {
    store.find(name).map_err(usage)
}

/// Returns the results of the run called `name`.
///
/// # Errors
/// There is none, or its journal cannot be read.
pub(crate) fn results(
    store: &Store,
    catalogue: &Catalogue,
    name: &str,
    baseline: Option<&Baseline>,
) -> Result<Results> {
    Ok(Results::new(&journal::read(&find(store, name)?)?, catalogue, baseline))
}

/// Writes every form of report into the run's directory, and a summary beside its journal.
///
/// # Errors
/// One of them cannot be written.
pub(crate) fn write_all(results: &Results, directory: &Path) -> Result<()> {
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
