//! The command line: one verb, one file.

mod burnin;
mod burning;
mod collect;
mod compare;
mod completions;
mod cost;
mod doctor;
mod export;
mod fleet;
mod import;
mod latency;
mod list;
mod man;
mod measure;
mod place;
mod progress;
mod report;
mod restore;
mod run;
mod scale;
mod trend;
mod values;
mod watch;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind as ClapError;
use clap::{Args, Parser, Subcommand};

use journal::Store;
use words::visible;

/// Measures what a Unix system can do, with an interval round every number
#[derive(Debug, Parser)]
#[command(name = "unixmark", version, max_term_width = 100, args_override_self = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 measured but something failed or regressed, 2 wrong usage, 3 could not measure.

A RUN is a directory, a run's name, or `latest` (`latest~1` the one before).";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure tests or groups; without names, the UnixBench index
    Run(run::Arguments),
    /// Measure whether interactive tasks stay smooth beside loads
    Latency(latency::Arguments),
    /// Measure how tests scale from one copy to many
    Scale(scale::Arguments),
    /// Measure what a condition costs: auditing, a filter, a setting of the kernel
    Cost(cost::Arguments),
    /// Burn in the cooling or the memory: run until told, look for faults
    Burnin(burnin::Arguments),
    /// Show a run again, from its journal
    Report(report::Arguments),
    /// Say what is slower or faster than in another run
    Compare(compare::Arguments),
    /// Turn reports of UnixBench, BYTE and Lbench into runs
    Import(import::Arguments),
    /// Write runs into an archive, of which engines for tables answer questions
    Export(export::Arguments),
    /// Make one fleet run of many nodes' journals
    Collect(collect::Arguments),
    /// Measure on a cluster, and say what came of a fleet run
    Fleet(fleet::Arguments),
    /// Show tests, groups, indexes, loads, conditions or runs
    List(list::Arguments),
    /// Say what will spoil a run here, and how to mend it
    Doctor(doctor::Arguments),
    /// Put back what a run that was killed left switched
    Restore,
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Print the manual page
    Man,
}

/// Where runs are kept.
#[derive(Debug, Args)]
struct Results {
    /// Keep runs here [default: the user's data directory]
    #[arg(long, value_name = "DIR", env = "UNIXMARK_RESULTS", hide_env_values = true)]
    results: Option<PathBuf>,
}

impl Results {
    fn store(&self) -> Result<Store> {
        Store::at(self.results.clone())
    }
}

/// How a command ended, other than by an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// All is well.
    Fine,
    /// It was measured, but something failed.
    Failed,
    /// Nothing could be measured.
    Nothing,
    /// A signal ended it.
    Signal(i32),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        match status {
            Status::Fine => ExitCode::SUCCESS,
            Status::Failed => ExitCode::from(1),
            Status::Nothing => ExitCode::from(3),
            // Shells report a death by signal N as 128 + N.
            Status::Signal(number) => ExitCode::from(u8::try_from(128 + number).unwrap_or(u8::MAX)),
        }
    }
}

/// An error of usage rather than of measuring: exit code 2.
#[derive(Debug)]
struct Usage(anyhow::Error);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Usage {}

/// Marks an error as wrong usage.
fn usage(error: anyhow::Error) -> anyhow::Error {
    Usage(error).into()
}

/// Runs the command line of this process and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    // The guardian and the private X server are no verbs of the user's: see runner::guardian and the crate display.
    if let [name, scratch] = &words[..]
        && name == runner::GUARDIAN
    {
        runner::guardian(&PathBuf::from(scratch));
        return ExitCode::SUCCESS;
    }
    if let [name, words @ ..] = &words[..]
        && name == display::XVFB
    {
        display::xvfb(words);
        return ExitCode::FAILURE;
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe while help is printed is not an error of the user's.
            let _ = error.print();
            return match error.kind() {
                ClapError::DisplayHelp | ClapError::DisplayVersion => ExitCode::SUCCESS,
                _ => ExitCode::from(2),
            };
        }
    };
    match dispatch(cli.verb) {
        Ok(status) => status.into(),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done for a user whose stderr is closed.
            let _ = writeln!(std::io::stderr(), "unixmark: {error:#}");
            ExitCode::from(if error.is::<Usage>() { 2 } else { 3 })
        }
    }
}

fn dispatch(verb: Verb) -> Result<Status> {
    if !matches!(verb, Verb::Restore | Verb::Completions(_) | Verb::Man) {
        restore::offer();
    }
    match verb {
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Latency(arguments) => latency::run(&arguments),
        Verb::Scale(arguments) => scale::run(&arguments),
        Verb::Cost(arguments) => cost::run(&arguments),
        Verb::Burnin(arguments) => burnin::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
        Verb::Import(arguments) => import::run(&arguments),
        Verb::Export(arguments) => export::run(&arguments),
        Verb::Collect(arguments) => collect::run(&arguments),
        Verb::Fleet(arguments) => fleet::run(&arguments),
        Verb::List(arguments) => list::run(&arguments),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Restore => restore::run(),
        Verb::Man => man::run(),
    }
}

/// Prints a result to stdout.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a message to stderr, where a closed pipe is nobody's loss. Part of it may be what others wrote.
fn say(text: &str) {
    for line in text.split('\n') {
        let _ = writeln!(std::io::stderr(), "{}", visible(line));
    }
}

/// Whether the reader of our output went away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
