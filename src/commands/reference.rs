//! `unixmark reference`: the machines that the tool comes with, to hold a run against.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::options::{self, Comment};
use crate::reports::results;
use crate::status::{Status, usage};
use crate::terminal::{print, print_words, say};
use analysis::Results;
use archive::reference;
use catalogue::Catalogue;
use journal::Procedure;

/// Bytes of a file that is read at most: many more than an entry may have, so that the check can say what is too long.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Only check entries before they are submitted: each must be complete, of a known procedure, and not say whose
    /// machine it was
    #[arg(long, value_name = "FILE", num_args = 1..)]
    check: Vec<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print a run as an entry: its figures with their intervals, and nothing that says whose machine it was
    Add(Add),
}

#[derive(Debug, clap::Args)]
#[command(mut_arg("comment", |arg| arg.help("Title of the entry [default: the run's comment, or the processor and the number of CPUs]")))]
struct Add {
    /// The run
    #[arg(default_value = "latest", value_name = "RUN")]
    run: String,
    /// Name of the entry [default: its title in lower case, joined by hyphens]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Where an imported run was published
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    source: String,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    results: options::Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    match &arguments.what {
        Some(What::Add(add)) => entry(add, &catalogue),
        None if arguments.check.is_empty() => {
            let lines = reference::entries(&catalogue).iter().map(line).collect::<String>();
            print_words(&lines).map(|()| Status::Fine)
        }
        None => check(&arguments.check, &catalogue),
    }
}

fn entry(arguments: &Add, catalogue: &Catalogue) -> Result<Status> {
    let Add { run, name, source, comment, results: store } = arguments;
    let results = results(&store.store()?, catalogue, run)?;
    if !results.is_of_a_machine() || results.burnin().is_some() {
        return Err(usage(anyhow::anyhow!(
            "{} is no run of a machine as it is (it compares, or burns in), so it cannot become an entry; try `unixmark run index`",
            results.run.name
        )));
    }
    let told = [&comment.comment, &results.run.comment].into_iter().find(|told| !told.is_empty());
    let title = told.cloned().unwrap_or_else(|| {
        let model = results.facts.value("cpu.model").unwrap_or(&results.run.tool);
        format!("{model}, {}", words::count(results.run.cpus, "CPU"))
    });
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_lowercase).collect::<Vec<String>>().join("-");
    let entry = results.entry(name.as_deref().unwrap_or(&slug), &title, source);
    let lines = reference::lines(&entry)?;
    reference::check(&lines, catalogue).with_context(|| format!("{} cannot become an entry", entry.run.name))?;
    print(&lines)?;
    say("save this entry as a file in `reference/`; CONTRIBUTING.md says how to send it");
    Ok(Status::Fine)
}

fn check(files: &[PathBuf], catalogue: &Catalogue) -> Result<Status> {
    let mut status = Status::Fine;
    for file in files {
        let text = files::read_text(file, MOST_BYTES);
        let text = text.with_context(|| format!("{} cannot be read", file.display())).map_err(usage)?;
        match reference::check(&text, catalogue) {
            Ok(results) => print_words(&format!("{}: accepted: {}", file.display(), line(&results)))?,
            Err(error) => {
                status = Status::Failed;
                say(&format!("{}: refused: {error:#}", file.display()));
            }
        }
    }
    Ok(status)
}

/// `zen-4          AMD EPYC, Zen 4, 2 CPUs; standard procedure; 2026-11-23; System Benchmarks 898 ±4.6% (1 copy)`.
fn line(results: &Results) -> String {
    let run = &results.run;
    let index = |index: &analysis::Index| {
        let spread = words::plus_minus(index.score.halves());
        format!("{} {} {spread} ({})", index.name, ::report::score(&index.score), words::copies(index.copies))
    };
    let indexes = results.indexes().iter().map(index);
    let how = match run.procedure {
        Procedure::Imported => "imported".to_owned(),
        procedure => format!("{procedure} procedure"),
    };
    let parts = [run.comment.clone(), how, run.started.clone()].into_iter().chain(indexes);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    format!("{:<14} {}\n", run.name, parts.join("; "))
}
