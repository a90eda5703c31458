//! `unixmark export --parquet DIR`: runs into an archive.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rayon::prelude::*;

use crate::options::{Redact, Results};
use crate::reports::find;
use crate::status::Status;
use crate::terminal::say;
use archive::{self, Place};
use catalogue::Catalogue;
use journal::journal_file;

/// The tables of the archive; a run without rows in one has no file there.
const TABLES: [(&str, MakeTable); 3] =
    [("results", archive::results), ("samples", archive::samples), ("facts", archive::facts)];

type MakeTable = fn(&str, &analysis::Summary) -> archive::Table;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write Parquet files below this directory, replacing earlier ones of the same runs
    #[arg(long, value_name = "DIR", required = true)]
    parquet: PathBuf,
    /// Export the fleet run in this directory
    #[arg(long, value_name = "FLEET", conflicts_with = "runs")]
    fleet: Option<PathBuf>,
    /// Runs to export [default: all in the results directory]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    redact: Redact,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let archive = &arguments.parquet;
    let journals = match &arguments.fleet {
        Some(directory) => {
            let ::fleet::Journals { counting, superseded } =
                fleet::journals(directory, &catalogue)?;
            // What was exported before a better attempt came in.
            for path in superseded {
                let place = Place::new(&archive::summary(&path, &catalogue)?.run);
                for (name, _) in TABLES {
                    place.remove(archive, name)?;
                }
            }
            counting
        }
        None => journals_of_runs(arguments)?,
    };

    let exported = export(&journals, archive, &arguments.redact, &catalogue)?;
    let results: usize = exported.iter().map(|rows| rows[0]).sum();
    let samples: usize = exported.iter().map(|rows| rows[1]).sum();
    let left_out = journals.len() - exported.len();

    let mut parts = vec![
        words::count(exported.len(), "run"),
        words::count(results, "result"),
        words::count(samples, "sample"),
    ];
    if left_out > 0 {
        parts.push(format!("{left_out} left out"));
    }
    say(&format!("exported: {}", parts.join(", ")));
    Ok(if left_out > 0 { Status::Failed } else { Status::Fine })
}

/// The journals of the runs that are asked for.
fn journals_of_runs(arguments: &Arguments) -> Result<Vec<PathBuf>> {
    let store = arguments.results.store()?;
    let runs: Vec<PathBuf> = match &arguments.runs[..] {
        [] => store.list()?.into_iter().map(|run| run.path).collect(),
        names => names.iter().map(|name| find(&store, name)).collect::<Result<_>>()?,
    };

    let mut journals: Vec<PathBuf> = runs.iter().map(|run| journal_file(run)).collect();
    // One may be named twice.
    journals.sort();
    journals.dedup();
    Ok(journals)
}

/// The number of rows of each table of a run.
type Rows = [usize; TABLES.len()];

/// Exports every journal that can be read, on all processors, and reports the others.
fn export(
    journals: &[PathBuf],
    archive: &Path,
    redact: &Redact,
    catalogue: &Catalogue,
) -> Result<Vec<Rows>> {
    let export_one = |journal: &PathBuf| match summary(journal, redact, catalogue) {
        Ok(summary) => Some(write_run(&summary, archive)),
        Err(error) => {
            say(&format!("left out: {error:#}"));
            None
        }
    };
    journals.par_iter().filter_map(export_one).collect()
}

/// Returns the summary of a run: the one that is kept, unless something is to be left out.
fn summary(journal: &Path, redact: &Redact, catalogue: &Catalogue) -> Result<analysis::Summary> {
    if redact.redact {
        return Ok(analysis::Summary::new(&redact.read(journal)?, catalogue, 0));
    }
    archive::summary(journal, catalogue)
}

/// Writes a run's tables; returns how many rows each has. The results come last: where they are,
/// the others are.
fn write_run(summary: &analysis::Summary, archive: &Path) -> Result<Rows> {
    let place = Place::new(&summary.run);
    let mut rows = [0; TABLES.len()];
    for (row_count, (name, make_table)) in rows.iter_mut().zip(TABLES).rev() {
        let table = make_table(&place.id, summary);
        *row_count = table.rows;
        if table.rows > 0 {
            place.write(archive, name, &table)?;
        } else {
            place.remove(archive, name)?;
        }
    }
    Ok(rows)
}
