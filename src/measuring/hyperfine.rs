//! `unixmark hyperfine`, or the tool called as `hyperfine`: the command line of hyperfine 1.20, its
//! text, files and exit codes.
//!
//! It is `ab` with other defaults: every option of `ab` works here, too, but the help has only
//! hyperfine's and `--sequential`. What differs is in docs/guide/two-programs.md.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

use anyhow::Result;
use clap::builder::ArgPredicate;

use crate::measuring::ab;
use crate::status::{Status, Usage};
use crate::terminal::say;
use measure::Measured;

/// The name of hyperfine's program, and the verb.
const VERB: &str = "hyperfine";

/// The answer to `--version`, for scripts that read a version.
const VERSION: &str = concat!("1.20.0 (unixmark ", env!("CARGO_PKG_VERSION"), ")");

/// The options in the help, by the names that they have here: hyperfine's, and `--sequential`.
const OPTIONS: [&str; 32] = [
    "quoted",
    "warmup",
    "min_runs",
    "max_runs",
    "runs",
    "setup",
    "reference",
    "reference_name",
    "prepare",
    "conclude",
    "cleanup",
    "parameter_scan",
    "parameter_step_size",
    "parameter_list",
    "shell",
    "no_shell",
    "ignore_failure",
    "style",
    "sort",
    "time_unit",
    "export_asciidoc",
    "export_csv",
    "export_json",
    "export_markdown",
    "export_orgmode",
    "show_output",
    "output",
    "input",
    "command_name",
    "sequential",
    "help",
    "version",
];

#[derive(Debug, clap::Args)]
#[command(
    version = VERSION,
    display_name = VERB,
    after_help = DIFFERENCES,
    mut_args(|arg| arg.hide_if_ours()),
    mut_arg("format", |arg| arg.default_value("hyperfine-text")),
    mut_arg("quiet", |arg| arg.default_value(quiet_default())),
    // hyperfine's letter of --version.
    mut_arg("verbose", |arg| arg.short(None)),
    // All that comes after `--` are commands, as in hyperfine; `ab` has another use for it.
    mut_arg("quoted", |arg| arg.required_unless_present("words")),
    mut_arg("words", |_| commands_after_options()),
    arg(debug_mode_option()),
    mut_arg("runs", |arg| arg.default_value_if(DEBUG_MODE, ArgPredicate::IsPresent, DEBUG_RUNS))
)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    ab: ab::Arguments,
}

const DIFFERENCES: &str = "\
Unlike hyperfine, commands take turns until the answer is known, and --setup and --cleanup come once for all of them, \
or before and after several blocks of each command if a parameter makes them differ; with --sequential, which hyperfine \
lacks, one is measured after the other. Commands that cannot be \
distinguished are not ranked. The other options of `unixmark ab` work here, too. A link called `hyperfine` to the tool needs no verb.

Exit codes, as hyperfine's: 0 fine, 1 a command failed or could not be measured, 2 wrong usage; 128 + N ended by signal N.";

/// hyperfine's hidden option for its own tests. There it executes nothing and takes the number
/// after `sleep` for the time; here it executes commands, as often as hyperfine does slow ones.
const DEBUG_MODE: &str = "debug-mode";
const DEBUG_RUNS: &str = "10";

fn debug_mode_option() -> clap::Arg {
    clap::Arg::new(DEBUG_MODE).long(DEBUG_MODE).action(clap::ArgAction::SetTrue).hide(true)
}

/// The commands after `--`, which [`ab::Arguments`] has only with --base, --serve or --builds.
fn commands_after_options() -> clap::Arg {
    clap::Arg::new("words")
        .value_name("COMMAND")
        .value_parser(clap::value_parser!(OsString))
        .action(clap::ArgAction::Append)
        .num_args(1..)
        .last(true)
        .hide(true)
}

/// The default of --quiet: hyperfine's progress is for terminals.
fn quiet_default() -> &'static str {
    if std::io::stderr().is_terminal() { "false" } else { "true" }
}

trait Hide {
    /// Takes an option out of the help if hyperfine does not have it.
    fn hide_if_ours(self) -> Self;
}

impl Hide for clap::Arg {
    fn hide_if_ours(self) -> clap::Arg {
        let is_ours = !OPTIONS.contains(&self.get_id().as_str());
        self.hide(is_ours)
    }
}

/// hyperfine's sentence for an error of ours: the fixed parts of the error, and the sentence, where
/// `{0}` and `{1}` stand for the words between these parts.
struct Sentence(&'static [&'static str], &'static str);

/// Sentences by error; the first that fits counts.
const SENTENCES: [Sentence; 14] = [
    Sentence(&["two parameters are called '", "'"], "Duplicate parameter names: {0}"),
    Sentence(
        &["there are ", " names for ", " command", ", one for each value"],
        "'--command-name' has been specified {0} times. It has to appear exactly once, or exactly {1} times \
         (number of benchmarks)",
    ),
    Sentence(
        &["there are ", " names for ", " command"],
        "Too many --command-name options: Expected {1} at most",
    ),
    Sentence(
        &["--prepare is given ", " "],
        "The '--prepare' option has to be provided just once or once for each command, not {0} times",
    ),
    Sentence(
        &["--conclude is given ", " "],
        "The '--conclude' option has to be provided just once or once for each command, not {0} times",
    ),
    Sentence(
        &["--output is given ", " "],
        "The '--output' option has to be provided just once or once for each command, not {0} times",
    ),
    Sentence(
        &["", " cannot be the commands' input: it does not exist"],
        "The file '{0}' specified as '--input' does not exist",
    ),
    // However they end, since hyperfine has one sentence for all of that.
    Sentence(
        &["--setup '", "' "],
        "The setup command terminated with a non-zero exit code. Append ' || true' to the command if you are sure \
         that this can be ignored.",
    ),
    Sentence(
        &["--prepare '", "' "],
        "The preparation command terminated with a non-zero exit code. Append ' || true' to the command if you are \
         sure that this can be ignored.",
    ),
    Sentence(
        &["--conclude '", "' "],
        "The conclusion command terminated with a non-zero exit code. Append ' || true' to the command if you are \
         sure that this can be ignored.",
    ),
    Sentence(
        &["--cleanup '", "' "],
        "The cleanup command terminated with a non-zero exit code. Append ' || true' to the command if you are sure \
         that this can be ignored.",
    ),
    Sentence(
        &["ended with exit status ", " "],
        "Command terminated with non-zero exit code {0}. Use the '-i'/'--ignore-failure' option if you want to ignore \
         this. Alternatively, use the '--show-output' option to debug what went wrong.",
    ),
    Sentence(
        &["was killed by signal ", " "],
        "The process has been terminated by a signal ({0}). Use the '-i'/'--ignore-failure' option if you want to \
         ignore this. Alternatively, use the '--show-output' option to debug what went wrong.",
    ),
    // In parentheses is the system's reason; without a shell there may be another.
    Sentence(&["", " cannot be executed ("], "Failed to run command '{0}'"),
];

impl Sentence {
    /// Replaces an error by the sentence; `None` if the sentence is for another error.
    fn translate(&self, error: &str) -> Option<String> {
        let Sentence(parts, sentence) = self;
        let (first, parts) = parts.split_first()?;
        let (_, mut rest) = error.split_once(first)?;

        let mut sentence = (*sentence).to_owned();
        for (number, part) in parts.iter().enumerate() {
            let (word, after) = rest.split_once(part)?;
            let word = word.trim_matches(|letter| "',;".contains(letter));
            sentence = sentence.replace(&format!("{{{number}}}"), word);
            rest = after;
        }
        Some(sentence)
    }
}

/// Adds the verb to a command line by which the tool was called as `hyperfine`.
pub(super) fn add_verb(words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().and_then(|name| Path::new(name).file_name());
    if name != Some(OsStr::new(VERB)) {
        return words;
    }
    ["unixmark", VERB].into_iter().map(OsString::from).chain(words.into_iter().skip(1)).collect()
}

/// True if a command line is hyperfine's, which has exit codes of its own.
pub(crate) fn is_hyperfine(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|verb| verb == VERB)
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let outcome = ab::run_with(&arguments.ab, |measured, status| {
        say_failure(measured);
        match status {
            Status::Fine | Status::Signal(_) => status,
            _ => Status::Failed,
        }
    });
    match outcome {
        // hyperfine has one code for all that clap does not see.
        Err(error) if error.is::<Usage>() => {
            let error = format!("{error:#}");
            say(&format!("Error: {}", translate_error(&error).unwrap_or(error)));
            Ok(Status::Failed)
        }
        outcome => outcome,
    }
}

/// Says the first failure of a run for which hyperfine has a sentence, in its words.
fn say_failure(measured: &Measured) {
    let errors = measured.journal.trials.iter().filter_map(|trial| trial.error.as_deref());
    let failures = measured.failures.iter().map(String::as_str);
    if let Some(sentence) = errors.chain(failures).find_map(translate_error) {
        say(&format!("Error: {sentence}"));
    }
}

/// hyperfine's sentence for an error of ours; `None` where it has none.
fn translate_error(error: &str) -> Option<String> {
    // What follows is a --cleanup that failed, too.
    let (error, _) = error.split_once("; afterwards ").unwrap_or((error, ""));
    // hyperfine has no limit of time.
    if error.contains(", its --timeout") {
        return None;
    }
    SENTENCES.iter().find_map(|sentence| sentence.translate(error))
}
