//! `unixmark import FILE …`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::options::{Comment, Results, check_directions};
use crate::reports::write_all;
use crate::status::{Status, usage};
use crate::terminal::{self, print_words, say};
use ::report::{Extent, Format, Layout, Subject};
use analysis::Better;
use catalogue::Catalogue;
use journal::{FORMAT, Journal, Listed, Run, Store, Writer, today};

/// Larger than any report; a log of a hundred thousand passes is smaller.
const MAX_BYTES: u64 = 32 << 20;

/// Stands for standard input.
const STDIN: &str = "-";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Files of other benchmarks, recognised by their content: UnixBench 4, 5 and 6.0 (report,
    /// .log, HTML, CSV), its ancestor BYTE 3, tables of runs (`run1`, `run2` …), Lbench, which
    /// measures at 1 to N threads (JSON), Phoronix Test Suite (composite.xml), lmbench (summary),
    /// fio, hyperfine, Geekbench and YABS (JSON), sysbench, cyclictest, hackbench, schbench,
    /// Interbench, rtla, rt-app, MangoHud, PresentMon; figures of go test -bench, criterion, Google
    /// Benchmark, pytest-benchmark, JMH, nanobench, github-action-benchmark's list of `{"name",
    /// "unit", "value"}`, and `{"name": number}`. `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Say which direction of a figure is better, where its unit does not: its name or its unit, as
    /// in higher:tps
    #[arg(long, value_name = "higher|lower:NAME")]
    better: Vec<Better>,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let store = arguments.results.store()?;

    let mut journals = Vec::new();
    for file in &arguments.files {
        journals.extend(read_journals(file, &catalogue)?);
    }
    check_directions(&arguments.better).map_err(usage)?;
    give_directions(&arguments.better, &mut journals).map_err(usage)?;

    let comment = &arguments.comment.comment;
    for mut journal in journals {
        if !comment.is_empty() {
            journal.run.comment.clone_from(comment);
        }
        if arguments.results.is_nowhere() {
            show(&journal, &catalogue)?;
        } else {
            keep(journal, &store, &catalogue)?;
        }
    }
    Ok(Status::Fine)
}

/// Prints the report of a run that nobody keeps.
fn show(journal: &Journal, catalogue: &Catalogue) -> Result<()> {
    let results = analysis::Results::new(journal, catalogue, None);
    let layout = terminal::layout(Format::Text);
    let layout = Layout { extent: Extent::ShortAndUnkept, ..layout };
    print_words(&::report::render(Subject::Run(&results), layout)?)
}

/// Reads the runs that a file holds.
fn read_journals(file: &Path, catalogue: &Catalogue) -> Result<Vec<Journal>> {
    let bytes = match read_bytes(file) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => bail!(
            "{} is larger than any report of a benchmark; name the report itself",
            file.display()
        ),
        read => {
            read.with_context(|| format!("{} cannot be read", file.display())).map_err(usage)?
        }
    };

    let name = match file.to_str() {
        Some(STDIN) => "stdin".into(),
        _ => file.file_name().unwrap_or_default().to_string_lossy(),
    };
    interop::import(&name, &bytes, catalogue)
        .with_context(|| format!("{} cannot be imported", file.display()))
}

/// Returns what a file holds. Only standard input and a pipe that the shell has handed over are
/// waited for.
fn read_bytes(file: &Path) -> std::io::Result<Vec<u8>> {
    if file == Path::new(STDIN) {
        return files::read_at_most(std::io::stdin().lock(), MAX_BYTES);
    }

    let is_handed_over = ["/dev/fd", "/dev/stdin"].iter().any(|folder| file.starts_with(folder));
    if is_handed_over {
        return files::read_at_most(std::fs::File::open(file)?, MAX_BYTES);
    }
    files::read_regular(file, MAX_BYTES)
}

/// Gives the figures of a name or a unit their direction.
///
/// # Errors
/// One of them is no figure's.
fn give_directions(directions: &[Better], journals: &mut [Journal]) -> Result<()> {
    for better in directions {
        let mut is_known = false;
        for journal in journals.iter_mut() {
            is_known |= better.apply_to_cells(journal.cells.iter_mut());
        }
        if !is_known {
            bail!(better.describe_unknown("these files"));
        }
    }
    Ok(())
}

/// Writes a run and prints its directory, or that of the earlier import of the same results.
fn keep(mut journal: Journal, store: &Store, catalogue: &Catalogue) -> Result<()> {
    journal.run.format = FORMAT.to_owned();
    if let Some(known) = find_same(&journal, store)? {
        say(&describe_known(&known, &journal.run.comment));
        return print_words(&format!("{}\n", known.path.display()));
    }

    let host = match journal.run.host.as_str() {
        "" => "imported".to_owned(),
        host => host.to_owned(),
    };
    let date = journal.run.started.get(..10).map_or_else(today, str::to_owned);
    let (name, directory) = store.create(&host, &date)?;
    journal.run.name = name;

    let mut writer = Writer::create(&directory)?;
    for record in journal.records() {
        writer.append(&record)?;
    }
    writer.sync()?;

    let results = analysis::Results::new(&journal, catalogue, None);
    for warning in &results.warnings {
        say(&format!("warning: {warning}"));
    }
    write_all(&results, &directory)?;
    print_words(&format!("{}\n", directory.display()))
}

fn describe_known(known: &Listed, comment: &str) -> String {
    let name = known.path.file_name().unwrap_or_default().display();
    let has_comment = known.run.as_ref().is_some_and(|run| run.comment == comment);
    let lost = match comment.is_empty() || has_comment {
        true => String::new(),
        false => format!(", and the comment '{comment}' is not kept: call it {name}"),
    };
    format!("already imported as {name}, so nothing was added{lost}")
}

/// The imported run with the same results, if the store has one.
fn find_same(journal: &Journal, store: &Store) -> Result<Option<Listed>> {
    // Few runs agree in these, so few journals are read.
    let head = |run: &Run| (run.procedure, run.started.clone(), run.host.clone(), run.tool.clone());
    let wanted_head = head(&journal.run);

    for listed in store.list()? {
        let is_likely = listed.run.as_ref().is_some_and(|run| head(run) == wanted_head);
        let is_same = |known: Journal| bare(&known) == bare(journal);
        if is_likely && journal::read(&listed.path).is_ok_and(is_same) {
            return Ok(Some(listed));
        }
    }
    Ok(None)
}

/// A journal without what is not of its report: its name, and what the user wrote of it.
fn bare(journal: &Journal) -> Option<String> {
    let mut journal = journal.clone();
    journal.run.name.clear();
    journal.run.comment.clear();
    serde_json::to_string(&journal.records()).ok()
}
