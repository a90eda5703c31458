//! The results of runs that are kept, and the reports beside their journals.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::status::usage;
use ::report::Format;
use analysis::{Results, Summary};
use catalogue::Catalogue;
use journal::{Baseline, FILE, Store};

/// Runs beside one that are looked at, at most.
const MOST: usize = 200;

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
    let path = find(store, name)?;
    let mut results = Results::new(&journal::read(&path)?, catalogue, baseline);
    results.place_among(&beside(&path, catalogue));
    Ok(results)
}

/// Returns the runs whose directories lie beside that of a run, which is named by it or by its journal: the newest two hundred.
/// Those that cannot be read are left out.
pub(crate) fn beside(run: &Path, catalogue: &Catalogue) -> Vec<Summary> {
    let directory = if run.is_dir() { run } else { run.parent().unwrap_or(run) };
    let siblings = directory.parent().and_then(|root| std::fs::read_dir(root).ok()).into_iter().flatten().flatten();
    let journals = siblings.map(|entry| entry.path()).filter(|path| path != directory).map(|path| path.join(FILE));
    let changed = |path: PathBuf| Some((std::fs::metadata(&path).ok()?.modified().ok()?, path));
    let mut found: Vec<_> = journals.filter_map(changed).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.iter().take(MOST).filter_map(|(_, path)| archive::summary(path, catalogue).ok()).collect()
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
