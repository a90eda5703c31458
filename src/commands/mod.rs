//! The command line: one verb, one file.

mod borrowed;
mod collect;
mod compare;
mod completions;
mod dashes;
#[cfg(feature = "parquet")]
mod export;
#[cfg(not(feature = "parquet"))]
#[path = "without_export.rs"]
mod export;
mod fleet;
mod import;
mod list;
mod man;
mod reference;
mod report;
mod site;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind as ClapError;
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::examples::with_examples;
use crate::measuring;
use crate::options::values_in_words;
use crate::status::{Status, Usage};
use crate::terminal::{print_json, say, say_error, say_lines};

/// Measures what a Linux system can do, with an interval around every number
#[derive(Debug, Parser)]
#[command(name = "unixmark", version, max_term_width = 100, args_override_self = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 measured but something failed, was flagged or regressed, 2 wrong usage, 3 could not \
measure, 4 undecided with --strict-gate, 125 undecided with `ab --bisect`, 128 + N ended by signal N (130: \
Ctrl-C). `quiet` has that of its command; any other status than 0 comes with a message on stderr.

A RUN is a directory, a run's name, its comment, or `latest`, the newest that measured anything (`latest~1` \
is the one before).";

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(flatten)]
    Measuring(Box<measuring::Verb>),
    /// Show a run again, from its journal
    Report(report::Arguments),
    /// Compare runs: what is slower, what is faster
    Compare(compare::Arguments),
    /// Import the results of other benchmarks as runs: UnixBench, Phoronix, lmbench, fio, sysbench
    /// …
    Import(import::Arguments),
    /// List the machines that runs are compared with, or prepare and check an entry for them
    Reference(reference::Arguments),
    /// Export runs as Parquet tables that DuckDB, Spark and similar tools can query
    Export(export::Arguments),
    /// Generate a static web site from runs: a ranking, a page per run, side by side
    Site(site::Arguments),
    /// Merge journals from many nodes into one fleet run
    Collect(collect::Arguments),
    /// Measure on a cluster; check and report on fleet runs
    Fleet(fleet::Arguments),
    /// List tests, groups, indexes, loads, conditions or runs
    List(list::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Print a page of the manual, or write all of them
    Man(man::Arguments),
}

/// Returns the command line, with examples.
pub(crate) fn command() -> Command {
    with_examples(Cli::command(), "")
}

/// EMFILE, which [`ErrorKind`] lacks.
const TOO_MANY_FILES: i32 = 24;

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    measuring::meet_signals();
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = measuring::run_hidden(&words) {
        return code;
    }
    crate::complete::answer(command);
    let words = measuring::to_own_words(words);
    if words.len() < 2 {
        say_lines(measuring::QUESTIONS.trim_end());
        return ExitCode::from(2);
    }
    let read = command().try_get_matches_from(&words).and_then(|read| Cli::from_arg_matches(&read));
    let cli = match read {
        Ok(cli) => cli,
        Err(error) => return misread(&error, &words),
    };
    match dispatch(cli.verb) {
        Ok(status) => status.into(),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say_error("unixmark", &error);
            if let Some(advice) = advise_on_limits(&error) {
                say(&format!("unixmark: {advice}"));
            }
            let is_usage = error.is::<Usage>() || error.is::<::fleet::NoFleet>();
            let code = code(&words, if is_usage { 2 } else { 3 });
            print_error(&words, &format!("{error:#}"), code);
            ExitCode::from(code)
        }
    }
}

/// Advice for an error because of a limit on this process, which its own sentence cannot have: it
/// names the file or the program that met it.
fn advise_on_limits(error: &anyhow::Error) -> Option<&'static str> {
    let error = error.downcast_ref::<Usage>().map_or(error, Usage::cause);
    let cause = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>())?;
    if cause.raw_os_error() == Some(TOO_MANY_FILES) {
        return Some("a limit on open files is reached; raise it with `ulimit -n`");
    }
    let is_start = format!("{error:#}").contains("cannot be started");
    (is_start && cause.kind() == ErrorKind::WouldBlock).then_some(
        "a limit on processes is reached; raise `ulimit -u`, or pids.max of the control group",
    )
}

/// Says what is wrong with the command line, and what was probably meant; prints help that was
/// asked for.
fn misread(error: &clap::Error, words: &[OsString]) -> ExitCode {
    // A closed pipe while help is printed is not the user's error.
    if matches!(error.kind(), ClapError::DisplayHelp | ClapError::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let code = code(words, 2);
    let verb = words.get(1).map(|word| word.to_string_lossy()).unwrap_or_default();
    let meant = measuring::guess_command(words)
        .map(|command| format!("a verb is missing; try `{command}`"));
    let meant = meant
        .or_else(|| borrowed::describe(error, &verb))
        .or_else(|| dashes::describe(error, words, &command()));
    match meant {
        Some(why) => {
            say(&format!("unixmark: {why}"));
            print_error(words, &why, code);
        }
        None => {
            // The names of files may be others' words, also on the command line.
            let text = error.render().to_string();
            say_lines(text.trim_end());
            let why: Vec<&str> =
                text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
            let why = why.join(" ");
            print_error(words, why.trim_start_matches("error: "), code);
        }
    }
    ExitCode::from(code)
}

/// The version of an error's keys.
const ERROR: &str = "unixmark-error/1";

/// Prints an error as JSON, too, for a program that asked for JSON.
fn print_error(words: &[OsString], error: &str, code: u8) {
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let own: Vec<String> = words.take_while(|word| word != "--").collect();
    let is_json = |format: &str| ["json", "brief"].contains(&format);
    if values_in_words(&own, "--format").any(is_json) {
        let object = serde_json::json!({"format": ERROR, "error": error, "status": code});
        // That stdout is closed does not matter.
        let _ = print_json(&object);
    }
}

/// Returns an exit code for an error: `ours`, or 1 where the caller expects UnixBench's or
/// hyperfine's; for `git bisect run` one that ends it, since others would judge the revision.
fn code(words: &[OsString], ours: u8) -> u8 {
    let is_bisected = words.get(1).is_some_and(|verb| verb == "ab")
        && words.iter().any(|word| word == "--bisect");
    match ours {
        _ if measuring::is_unixbench(words) => 1,
        3 if measuring::is_hyperfine(words) => 1,
        _ if is_bisected => u8::MAX,
        ours => ours,
    }
}

fn dispatch(verb: Verb) -> Result<Status> {
    if !matches!(verb, Verb::Measuring(_) | Verb::Completions(_) | Verb::Man(_)) {
        measuring::mention_left_changes();
    }
    match verb {
        Verb::Measuring(verb) => verb.run(),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
        Verb::Import(arguments) => import::run(&arguments),
        Verb::Reference(arguments) => reference::run(&arguments),
        Verb::Export(arguments) => export::run(&arguments),
        Verb::Site(arguments) => site::run(&arguments),
        Verb::Collect(arguments) => collect::run(&arguments),
        Verb::Fleet(arguments) => fleet::run(&arguments),
        Verb::List(arguments) => list::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Man(arguments) => man::run(&arguments),
    }
}

/// Returns true if the reader of our output went away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
