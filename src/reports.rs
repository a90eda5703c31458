//! The results of runs that are kept, and the reports next to their journals.
//!
//! A run's directory holds its journal, a summary and a report in every format. Its results are
//! placed among the runs next to it that are of the same host, procedure and build, and among the
//! reference collection.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::options::Redact;
use crate::status::usage;
use crate::terminal::say;
use ::report::{Format, Subject};
use analysis::{Findings, Results, Summary};
use catalogue::Catalogue;
use journal::{Baseline, FILE, Listed, Run, Store, View};

/// Earlier runs that one is placed among, at most.
const MAX_EARLIER_RUNS: usize = 200;

/// The path of the run called `name`.
///
/// # Errors
/// There is none, which is wrong usage.
pub(crate) fn find(store: &Store, name: &str) -> Result<PathBuf> {
    let path = store.find(name).map_err(usage)?;
    if name == "latest"
        && let Some(newest) = store.list()?.last().filter(|newest| newest.path != path)
    {
        let measured = path.file_name().unwrap_or_default().to_string_lossy();
        say(&format!(
            "unixmark: {} measured nothing: the latest run that did is {measured}",
            newest.name
        ));
    }
    Ok(path)
}

/// True if the run at `path` is this user's own: in the results directory, where nobody else could
/// have put it. Those of others are only read.
pub(crate) fn is_own(store: &Store, path: &Path) -> bool {
    path.parent() == Some(store.root()) && files::check_trusted(&path.join(FILE)).is_ok()
}

/// The results of the run called `name`.
///
/// # Errors
/// There is none, or its journal cannot be read.
pub(crate) fn results(store: &Store, catalogue: &Catalogue, name: &str) -> Result<Results> {
    Ok(Results::new(&journal::read(&find(store, name)?)?, catalogue, None))
}

/// The scores to divide by: of the reference entry called `name`, or of the run.
///
/// # Errors
/// There is neither, or the run's journal cannot be read.
pub(crate) fn baseline(store: &Store, catalogue: &Catalogue, name: &str) -> Result<Baseline> {
    let entry =
        archive::reference::entries(catalogue).into_iter().find(|entry| entry.run.name == name);
    let results = match entry {
        Some(entry) => entry,
        None => results(store, catalogue, name)?,
    };
    Ok(results.as_baseline())
}

/// The results of the run called `name`, placed among the runs next to it and the reference
/// collection.
///
/// # Errors
/// As [`results`].
pub(crate) fn placed(
    store: &Store,
    catalogue: &Catalogue,
    name: &str,
    baseline: Option<&Baseline>,
    redact: &Redact,
) -> Result<Results> {
    let path = find(store, name)?;
    let mut results = Results::new(&redact.read(&path)?, catalogue, baseline);
    put_among_runs(&mut results, &path, catalogue, &[]);
    put_among_references(&mut results, catalogue);
    Ok(results)
}

/// Places the results of the run at `path` among the runs next to it, except those named in
/// `without`; a cost also gets the note of the newest `doctor --power` among them.
pub(crate) fn put_among_runs(
    results: &mut Results,
    path: &Path,
    catalogue: &Catalogue,
    without: &[String],
) {
    let directory = run_directory(path);
    // By the journal's name and host, which redacted results lack.
    let run = journal::read_run(&directory.join(FILE)).unwrap_or_else(|| results.run.clone());

    let listed = list_siblings(directory);
    let mut earlier = comparable_runs(&listed, directory, &run, catalogue);
    earlier.retain(|other| !without.contains(&other.run.name));
    results.place_among(&earlier);

    if let Findings::Cost(cost) = &mut results.findings {
        cost.notes.extend(newest_power(&listed, &run, catalogue));
    }
}

/// Finds where the figures of a run stand among those of the reference collection, which is read
/// for that.
pub(crate) fn put_among_references(results: &mut Results, catalogue: &Catalogue) {
    if results.is_of_a_machine() {
        results.stand_among(&archive::reference::entries(catalogue));
    }
}

/// Returns the directory of a run that is named by it or by its journal.
fn run_directory(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}

/// The sentences of the newest `unixmark doctor --power` next to a run that was made on its host
/// with its build; `None` if there is none.
pub(crate) fn power_beside(path: &Path, run: &Run, catalogue: &Catalogue) -> Option<String> {
    newest_power(&list_siblings(run_directory(path)), run, catalogue)
}

/// The runs whose directories lie next to this one, the oldest first, and its own among them; none
/// if they cannot be listed.
fn list_siblings(directory: &Path) -> Vec<Listed> {
    let store = directory.parent().and_then(|root| Store::at(Some(root.to_path_buf())).ok());
    store.and_then(|store| store.list().ok()).unwrap_or_default()
}

fn newest_power(listed: &[Listed], run: &Run, catalogue: &Catalogue) -> Option<String> {
    let newest = listed.iter().rev().find(|other| {
        other.run.as_ref().is_some_and(|other| {
            other.view == View::Power && (&other.host, &other.build) == (&run.host, &run.build)
        })
    })?;
    let results = Results::new(&journal::read(&newest.path).ok()?, catalogue, None);
    let day = results.run.started.get(..10).unwrap_or_default().to_owned();
    let sentences: Vec<String> = results.power()?.sentences();
    Some(format!("by `unixmark doctor --power` of {day} on this machine: {}", sentences.join(" ")))
}

/// Summaries of the newest runs with which `run` may be compared: of its host, procedure and build,
/// and not in its own `directory`. Those that cannot be read are left out.
fn comparable_runs(
    listed: &[Listed],
    directory: &Path,
    run: &Run,
    catalogue: &Catalogue,
) -> Vec<Summary> {
    let is_comparable = |other: &Run| {
        (&other.host, other.procedure, &other.build) == (&run.host, run.procedure, &run.build)
    };
    listed
        .iter()
        .rev()
        .filter(|other| other.path != directory && other.run.as_ref().is_some_and(is_comparable))
        .take(MAX_EARLIER_RUNS)
        .filter_map(|other| archive::summary(&other.path.join(FILE), catalogue).ok())
        .collect()
}

/// Writes a summary next to the run's journal.
///
/// # Errors
/// It cannot be written.
pub(crate) fn keep_summary(results: &Results, directory: &Path) -> Result<()> {
    archive::keep(results, &directory.join(FILE))
}

/// Writes every form of report into the run's directory, and a summary next to its journal.
///
/// # Errors
/// One of them cannot be written.
pub(crate) fn write_all(results: &Results, directory: &Path) -> Result<()> {
    keep_summary(results, directory)?;
    for (format, file) in Format::FILES {
        let path = directory.join(file);
        let report = ::report::render(Subject::Run(results), format)?;
        let why = "cannot be written; the journal is whole, and `unixmark report --format html` prints from it";
        files::write_atomically(&path, report.as_bytes())
            .with_context(|| format!("the report {} {why}", path.display()))?;
    }
    Ok(())
}
