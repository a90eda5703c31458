//! `unixmark import FILE …`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::options::{Comment, Results};
use crate::reports::write_all;
use crate::status::{Status, usage};
use crate::terminal::{print_words, say};
use catalogue::Catalogue;
use journal::{FORMAT, Journal, Store, Writer, today};

/// Larger than any report; a log of a hundred thousand passes is smaller.
const MOST_BYTES: u64 = 32 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Files of other benchmarks, recognised by their content: UnixBench 4, 5 and 6.0 (report, .log, HTML, CSV), its
    /// ancestor BYTE 3, tables of runs (`run1`, `run2` …), Lbench, which measures at 1 to N threads (JSON), Phoronix
    /// Test Suite (composite.xml), lmbench (summary), fio, hyperfine, Geekbench and YABS (JSON), sysbench, cyclictest,
    /// hackbench, schbench, rtla, rt-app, MangoHud, PresentMon; figures of go test -bench, criterion, Google Benchmark,
    /// pytest-benchmark, JMH, nanobench, and `{"name": number}`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let store = arguments.results.store()?;
    for file in &arguments.files {
        let why = || format!("{} cannot be read", file.display());
        let bytes = match read(file) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                bail!("{} is larger than any report of a benchmark; name the report itself", file.display());
            }
            read => read.with_context(why).map_err(usage)?,
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let journals = interop::import(&name, &String::from_utf8_lossy(&bytes), &catalogue)
            .with_context(|| format!("{} cannot be imported", file.display()))?;
        for mut journal in journals {
            if !arguments.comment.comment.is_empty() {
                journal.run.comment.clone_from(&arguments.comment.comment);
            }
            keep(journal, &store, &catalogue)?;
        }
    }
    Ok(Status::Fine)
}

/// Returns what a file holds. Only a pipe that the shell has handed over is waited for.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let is_handed_over = ["/dev/fd", "/dev/stdin"].iter().any(|folder| file.starts_with(folder));
    if is_handed_over {
        return files::read_at_most(std::fs::File::open(file)?, MOST_BYTES);
    }
    files::read_regular(file, MOST_BYTES)
}

/// Writes a run and prints its directory, or that of the earlier import of the same results.
fn keep(mut journal: Journal, store: &Store, catalogue: &Catalogue) -> Result<()> {
    journal.run.format = FORMAT.to_owned();
    if let Some(known) = twin(&journal, store)? {
        let name = known.file_name().unwrap_or_default().display();
        say(&format!("already imported as {name}; no second run was made"));
        return print_words(&format!("{}\n", known.display()));
    }
    let host = if journal.run.host.is_empty() { "imported".to_owned() } else { journal.run.host.clone() };
    let date = journal.run.started.get(..10).map_or_else(today, str::to_owned);
    let (name, directory) = store.create(&host, &date)?;
    journal.run.name = name;
    let mut writer = Writer::create(&directory)?;
    journal.records().iter().try_for_each(|record| writer.append(record))?;
    writer.sync()?;
    let results = analysis::Results::new(&journal, catalogue, None);
    for warning in &results.warnings {
        say(&format!("warning: {warning}"));
    }
    write_all(&results, &directory)?;
    print_words(&format!("{}\n", directory.display()))
}

/// The imported run with the same results, if the store has one.
fn twin(journal: &Journal, store: &Store) -> Result<Option<PathBuf>> {
    let alike = |run: &journal::Run| (run.procedure, run.started.clone(), run.host.clone(), run.tool.clone());
    let same = |path: &PathBuf| journal::read(path).is_ok_and(|known| bare(&known) == bare(journal));
    let runs = store.list()?.into_iter();
    let mut likely = runs.filter(|listed| listed.run.as_ref().is_some_and(|run| alike(run) == alike(&journal.run)));
    Ok(likely.find(|listed| same(&listed.path)).map(|listed| listed.path))
}

/// A journal without what is not of its report: its name, and what the user wrote of it.
fn bare(journal: &Journal) -> Option<String> {
    let mut journal = journal.clone();
    journal.run.name.clear();
    journal.run.comment.clear();
    serde_json::to_string(&journal.records()).ok()
}
