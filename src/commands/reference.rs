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

/// Bytes of a file that is read at most: many more than an entry may have, so that the check can
/// say what is too long.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Only check entries before they are submitted: each must be complete, of a known procedure,
    /// and not say whose machine it was
    #[arg(long, value_name = "FILE", num_args = 1..)]
    check: Vec<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print a run as an entry: its figures with their intervals, and nothing that says whose
    /// machine it was
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
        Some(What::Add(add)) => print_entry(add, &catalogue),
        None if arguments.check.is_empty() => {
            let lines: String = reference::entries(&catalogue).iter().map(list_line).collect();
            print_words(&lines).map(|()| Status::Fine)
        }
        None => check_files(&arguments.check, &catalogue),
    }
}

fn print_entry(arguments: &Add, catalogue: &Catalogue) -> Result<Status> {
    let Add { run, name, source, comment, results: store } = arguments;
    let results = results(&store.store()?, catalogue, run)?;
    if !results.is_of_a_machine() || results.burnin().is_some() {
        return Err(usage(anyhow::anyhow!(
            "{} is no run of a machine as it is (it compares, or burns in), so it cannot become an entry; try `unixmark run index`",
            results.run.name
        )));
    }

    let title = match (comment.comment.as_str(), results.run.comment.as_str()) {
        ("", "") => {
            let model = results.facts.value("cpu.model").unwrap_or(&results.run.tool);
            format!("{model}, {}", words::count(results.run.cpus, "CPU"))
        }
        ("", comment) | (comment, _) => comment.to_owned(),
    };
    let name = name.clone().unwrap_or_else(|| hyphenated(&title));
    let entry = results.entry(&name, &title, source);

    let lines = reference::lines(&entry)?;
    reference::check(&lines, catalogue)
        .with_context(|| format!("{} cannot become an entry", entry.run.name))?;
    print(&lines)?;
    say("save this entry as a file in `reference/`; CONTRIBUTING.md says how to send it");
    Ok(Status::Fine)
}

/// `zen-4-2-cpus` of "Zen 4, 2 CPUs".
fn hyphenated(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<String>>().join("-")
}

fn check_files(files: &[PathBuf], catalogue: &Catalogue) -> Result<Status> {
    let mut status = Status::Fine;
    for file in files {
        let text = files::read_text(file, MAX_BYTES)
            .with_context(|| format!("{} cannot be read", file.display()))
            .map_err(usage)?;

        match reference::check(&text, catalogue) {
            Ok(results) => {
                print_words(&format!("{}: accepted: {}", file.display(), list_line(&results)))?
            }
            Err(error) => {
                status = Status::Failed;
                say(&format!("{}: refused: {error:#}", file.display()));
            }
        }
    }
    Ok(status)
}

/// `zen-4          AMD EPYC, Zen 4, 2 CPUs; standard procedure; 2026-11-23; System Benchmarks 898
/// ±4.6% (1 copy)`.
fn list_line(results: &Results) -> String {
    let run = &results.run;
    let how = match run.procedure {
        Procedure::Imported => "imported".to_owned(),
        procedure => format!("{procedure} procedure"),
    };

    let mut parts = vec![run.comment.clone(), how, run.started.clone()];
    for index in results.indexes() {
        let score = ::report::score(&index.score);
        let spread = words::plus_minus(index.score.halves());
        parts.push(format!("{} {score} {spread} ({})", index.name, words::copies(index.copies)));
    }
    parts.retain(|part| !part.is_empty());
    format!("{:<14} {}\n", run.name, parts.join("; "))
}
