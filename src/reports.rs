//! The results of runs that are kept, and the reports beside their journals.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::options::Redact;
use crate::status::usage;
use crate::terminal::say;
use ::report::{Format, Subject};
use analysis::{Findings, Results, Summary};
use catalogue::Catalogue;
use journal::{Baseline, FILE, Listed, Run, Store, View};

/// Runs beside one that are looked at, at most.
const MOST: usize = 200;

/// Returns where the run called `name` is.
///
/// # Errors
/// There is none, which is wrong usage.
pub(crate) fn find(store: &Store, name: &str) -> Result<PathBuf> {
    let path = store.find(name).map_err(usage)?;
    if name == "latest"
        && let Some(newest) = store.list()?.last().filter(|newest| newest.path != path)
    {
        let measured = path.file_name().unwrap_or_default().to_string_lossy();
        say(&format!("unixmark: {} measured nothing: the latest run that did is {measured}", newest.name));
    }
    Ok(path)
}

/// Returns true if the run at `path` is this user's own: in the results directory, where nobody else
/// could have put it. Those of others are only read.
pub(crate) fn is_own(store: &Store, path: &Path) -> bool {
    path.parent() == Some(store.root()) && files::check_trusted(&path.join(FILE)).is_ok()
}

/// Returns the results of the run called `name`.
///
/// # Errors
/// There is none, or its journal cannot be read.
pub(crate) fn results(store: &Store, catalogue: &Catalogue, name: &str) -> Result<Results> {
    Ok(Results::new(&journal::read(&find(store, name)?)?, catalogue, None))
}

/// Returns the scores to divide by: of the reference entry called `name`, or of the run.
///
/// # Errors
/// There is neither, or the run's journal cannot be read.
pub(crate) fn baseline(store: &Store, catalogue: &Catalogue, name: &str) -> Result<Baseline> {
    let entry = archive::reference::entries(catalogue).into_iter().find(|entry| entry.run.name == name);
    entry.map_or_else(|| results(store, catalogue, name), Ok).map(|results| results.as_baseline())
}

/// Returns the results of the run called `name`, placed among the runs beside it and the reference collection.
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
    stand(&mut results, catalogue);
    Ok(results)
}

/// Places the results of the run at `path` among the runs beside it, except those named in `without`; a cost also gets
/// the note of the newest `doctor --power` beside it.
pub(crate) fn put_among_runs(results: &mut Results, path: &Path, catalogue: &Catalogue, without: &[String]) {
    let directory = run_directory(path);
    // By its own name and host, which the results may leave out.
    let run = journal::first_line(&directory.join(FILE)).unwrap_or_else(|| results.run.clone());
    let listed = listed_beside(directory);
    let mut others = alike(&listed, directory, &run, catalogue);
    others.retain(|other| !without.contains(&other.run.name));
    results.place_among(&others);
    if let Findings::Cost(cost) = &mut results.findings {
        cost.notes.extend(newest_power(&listed, &run, catalogue));
    }
}

/// Finds where the figures of a run stand among those of the reference collection, which is read for that.
pub(crate) fn stand(results: &mut Results, catalogue: &Catalogue) {
    if results.is_of_a_machine() {
        results.stand_among(&archive::reference::entries(catalogue));
    }
}

/// Returns the directory of a run that is named by it or by its journal.
fn run_directory(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}

/// Returns what the newest `unixmark doctor --power` beside a run says, which was made on its host with its build.
pub(crate) fn power_beside(path: &Path, run: &Run, catalogue: &Catalogue) -> Option<String> {
    newest_power(&listed_beside(run_directory(path)), run, catalogue)
}

/// Returns the runs whose directories lie beside this one, the oldest first.
fn listed_beside(directory: &Path) -> Vec<Listed> {
    let store = directory.parent().and_then(|root| Store::at(Some(root.to_path_buf())).ok());
    store.and_then(|store| store.list().ok()).unwrap_or_default()
}

fn newest_power(listed: &[Listed], run: &Run, catalogue: &Catalogue) -> Option<String> {
    let is_like = |other: &Run| other.view == View::Power && (&other.host, &other.build) == (&run.host, &run.build);
    let newest = listed.iter().rev().find(|other| other.run.as_ref().is_some_and(is_like))?;
    let found = Results::new(&journal::read(&newest.path).ok()?, catalogue, None);
    let day = found.run.started.get(..10).unwrap_or_default().to_owned();
    let said: Vec<String> = found.power()?.sentences();
    Some(format!("by `unixmark doctor --power` of {day} on this machine: {}", said.join(" ")))
}

/// Returns the newest two hundred of the runs listed, other than that in `directory`, of the same host, procedure and
/// build as `run`: what it may be placed among. Those that cannot be read are left out.
fn alike(listed: &[Listed], directory: &Path, run: &Run, catalogue: &Catalogue) -> Vec<Summary> {
    let is_like = |other: &&Listed| {
        let known = other.run.as_ref().filter(|_| other.path != directory);
        known
            .is_some_and(|other| (&other.host, other.procedure, &other.build) == (&run.host, run.procedure, &run.build))
    };
    let like = listed.iter().rev().filter(is_like).take(MOST);
    like.filter_map(|other| archive::summary(&other.path.join(FILE), catalogue).ok()).collect()
}

/// Writes every form of report into the run's directory, and a summary beside its journal.
///
/// # Errors
/// One of them cannot be written.
pub(crate) fn write_all(results: &Results, directory: &Path) -> Result<()> {
    archive::keep(results, &directory.join(FILE))?;
    for (format, file) in Format::FILES {
        let path = directory.join(file);
        let report = ::report::render(Subject::Run(results), format)?;
        let why = "cannot be written; the journal is whole, and `unixmark report --format html` prints from it";
        files::write_atomically(&path, report.as_bytes())
            .with_context(|| format!("the report {} {why}", path.display()))?;
    }
    Ok(())
}
