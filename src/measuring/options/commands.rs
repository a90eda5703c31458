//! Commands of the user's, and how they are executed: in hyperfine's words, so that its command
//! lines work.
//!
//! [`Commands`] are the options. A command of the user's is [`Given`] with the values of its
//! parameters. [`Commands::complete`] adds its name and what comes with each of its executions, and
//! [`Commands::execution`] says how all are executed. Both make tests of the catalogue's row for
//! commands: one test for each command ([`Commands::alone`]), or one for all
//! ([`Commands::alternating`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::names::{name, names};
use super::parameters::Combination;
use super::streams::{Outputs, find_input, hand_on_stderr};
use super::values::{caption, duration, executions, statuses, utf8};
use ::report::Format;
use catalogue::{
    Catalogue, Command, Execution, Ignored, Instructions, MAX_COMMANDS, Metric, Sequence, Servers,
    Test,
};
use journal::TimeUnit;
use plan::Effort;

/// The rows of the catalogue that execute commands: one times them, one counts what they do, one
/// samples where they spend their time.
const TIMING_ROW: &str = "command";
const COUNTING_ROW: &str = "command-counts";
const SAMPLING_ROW: &str = "command-where";

/// The shell that executes quoted commands, and hyperfine's words for it and for none.
const SHELL: &str = "sh";
const DEFAULT_SHELL: &str = "default";
const NO_SHELL: &str = "none";

/// The executions of --runs or --max-runs are divided among at least this many windows, where there
/// are so many: these show how the machine changes.
const MIN_WINDOWS: u32 = 50;

/// The most windows of a run; each starts a program.
const MAX_WINDOWS: u32 = 10_000;

/// The blocks of a command that has a set-up of its own, unless it is executed less often: each
/// costs a set-up. Eight pairs are the fewest of which one difference among six can be significant.
const SETUP_BLOCKS: u32 = 8;

/// Executions that are sampled whatever time they take, and at most: as programs/command/where.c
/// has them.
const MIN_SAMPLED_RUNS: u32 = 5;
const MAX_SAMPLED_RUNS: u32 = 1000;

/// The way commands are executed.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Commands {
    /// Execute this before each execution, untimed; given once for all commands, or once for each
    #[arg(short, long, value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Execute this after each execution, untimed; given once for all commands, or once for each
    #[arg(short = 'C', long, value_name = "COMMAND")]
    conclude: Vec<String>,
    /// Execute this once before all executions. Commands for which it differs, by a parameter, are
    /// executed in blocks, each after its own
    #[arg(short, long, value_name = "COMMAND")]
    setup: Option<String>,
    /// Execute this once after all executions, or after each block, unless the run was interrupted
    #[arg(long, value_name = "COMMAND")]
    cleanup: Option<String>,
    /// Execute each command this many times before it is measured
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    warmup: u32,
    /// Have commands read this file [default: /dev/null]
    #[arg(long, value_name = "null|FILE")]
    input: Option<PathBuf>,
    /// Where commands print: nowhere, into a pipe that is read and forgotten, where unixmark
    /// prints, or into a file; given once for all commands, or once for each [default: null]
    #[arg(long, value_name = "null|pipe|inherit|./FILE")]
    output: Vec<PathBuf>,
    /// Short for --output inherit: show what commands print
    #[arg(long, conflicts_with = "output")]
    show_output: bool,
    /// Execute each command this many times, instead of until enough is known
    #[arg(short, long, value_name = "N", value_parser = executions)]
    runs: Option<u32>,
    /// Execute each command this many times at least
    #[arg(long, value_name = "N", conflicts_with = "runs", value_parser = executions)]
    min_runs: Option<u32>,
    /// Execute each command this many times at most
    #[arg(long, value_name = "N", conflicts_with = "runs", value_parser = executions)]
    max_runs: Option<u32>,
    /// End the run if a command, --prepare, --conclude or --cleanup takes longer than this, as 30s
    /// or 2m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// Measure only the part of commands that they mark: one that writes a byte to the descriptor
    /// whose number is in $UNIXMARK_READY starts the clock, one to $UNIXMARK_DONE stops it
    #[arg(long)]
    region: bool,
    /// Measure commands even if they fail, or even if they end with one of these statuses
    #[arg(
        long,
        value_name = "all-non-zero|STATUS,…",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all-non-zero",
        value_parser = statuses
    )]
    ignore_failure: Option<Ignored>,
    /// Unit of times in reports for people [default: what suits the slowest command]
    #[arg(short = 'u', long, value_name = "UNIT")]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Write all times to this file, in hyperfine's format
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,
    /// Write the report to this file as Markdown; `ab` writes hyperfine's table
    #[arg(long, value_name = "FILE")]
    export_markdown: Option<PathBuf>,
    /// Write the report to this file as CSV; `ab` writes hyperfine's columns
    #[arg(long, value_name = "FILE")]
    export_csv: Option<PathBuf>,
    /// Write hyperfine's table to this file for AsciiDoc
    #[arg(long, value_name = "FILE")]
    export_asciidoc: Option<PathBuf>,
    /// Write hyperfine's table to this file for Emacs's Org mode
    #[arg(long, value_name = "FILE")]
    export_orgmode: Option<PathBuf>,
    /// Execute quoted commands with this shell and its arguments; `none`: without one
    #[arg(short = 'S', long, value_name = "SHELL", default_value = SHELL)]
    shell: String,
    /// Execute quoted commands without a shell: short for --shell none
    #[arg(short = 'N', conflicts_with = "shell")]
    no_shell: bool,
    /// Name of a command in reports; repeatable [default: its words]
    #[arg(short = 'n', long, value_name = "NAME", value_parser = caption)]
    command_name: Vec<String>,
}

/// A command, and the values of parameters that are in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    /// The command; its label is its whole text.
    pub(crate) command: Command,
    /// The text before the parameters were replaced.
    pub(crate) template: String,
    pub(crate) values: Combination,
    /// True if it has its name already, which is not one of --command-name.
    pub(crate) is_named: bool,
}

/// The way commands that are compared are executed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// True if all must print the same.
    pub(crate) is_same: bool,
    /// True if what they print is read.
    pub(crate) is_read: bool,
    /// The blocks of each command, its set-up and cleanup around each block; `None` if commands
    /// take turns.
    pub(crate) blocks: Option<u32>,
    /// How their servers are started.
    pub(crate) servers: Servers,
    /// The windows of each command where servers fix their number: each window starts one.
    pub(crate) windows: Option<u32>,
}

impl From<Command> for Given {
    fn from(command: Command) -> Given {
        Given { template: command.label.clone(), command, ..Given::default() }
    }
}

impl Commands {
    /// The files of --export-…, with the formats of the report there; `markdown` and `csv` are
    /// unixmark's or hyperfine's.
    pub(crate) fn exports(&self, [markdown, csv]: [Format; 2]) -> Vec<(Format, &Path)> {
        [
            (Format::Hyperfine, &self.export_json),
            (markdown, &self.export_markdown),
            (csv, &self.export_csv),
            (Format::HyperfineAsciidoc, &self.export_asciidoc),
            (Format::HyperfineOrgmode, &self.export_orgmode),
        ]
        .into_iter()
        .filter_map(|(format, path)| Some((format, path.as_deref()?)))
        .collect()
    }

    /// [`Commands::exports`], in unixmark's formats.
    pub(crate) fn report_exports(&self) -> Vec<(Format, &Path)> {
        self.exports([Format::Markdown, Format::Csv])
    }

    /// True if the user names commands.
    pub(crate) fn is_named(&self) -> bool {
        !self.command_name.is_empty()
    }

    /// True if the user wants a number of executions.
    pub(crate) fn has_count(&self) -> bool {
        [self.runs, self.min_runs, self.max_runs].iter().any(Option::is_some)
    }

    /// True if other commands are executed before them, which may build them.
    pub(crate) fn are_prepared(&self) -> bool {
        self.setup.is_some() || !self.prepare.is_empty()
    }

    /// The words that parameters may be in, other than commands.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let around = self.prepare.iter().chain(&self.conclude);
        let once = self.setup.iter().chain(&self.cleanup);
        let paths = self.input.iter().chain(&self.output).filter_map(|path| path.to_str());
        around.chain(once).chain(&self.command_name).map(String::as_str).chain(paths).collect()
    }

    /// A command whose words are executed as they are.
    ///
    /// # Errors
    /// A word is not UTF-8, or the first is blank.
    pub(crate) fn from_words(words: &[OsString]) -> Result<Command> {
        let words: Vec<String> = words.iter().map(|word| utf8(word)).collect::<Result<_>>()?;
        if let Some(first) = words.first() {
            refuse_blank("the first word after --", first)?;
        }
        Ok(Command { label: words::shell(&words), words, ..Command::default() })
    }

    /// A command that was given as one quoted word.
    ///
    /// # Errors
    /// It is blank, or cannot be executed without a shell, which was asked for.
    pub(crate) fn quoted(&self, command: &str) -> Result<Command> {
        refuse_blank("a command with its parameters", command)?;
        Ok(Command { label: command.to_owned(), words: self.words(command)?, ..Command::default() })
    }

    /// The tests of `names`, then those of the quoted commands among them and of the command
    /// `words`; `usual` if both are empty.
    ///
    /// # Errors
    /// There is no such test, a file is missing, or there are more names than commands.
    pub(crate) fn tests(
        &self,
        catalogue: &Catalogue,
        (names, words): (&[String], &[OsString]),
        usual: &str,
    ) -> Result<Vec<Arc<Test>>> {
        self.tests_in(catalogue, (names, words), (usual, Manner::default()))
    }

    /// [`Commands::tests`], with commands that are executed in a manner.
    ///
    /// # Errors
    /// As [`Commands::tests`].
    pub(crate) fn tests_in(
        &self,
        catalogue: &Catalogue,
        (names, words): (&[String], &[OsString]),
        (usual, manner): (&str, Manner),
    ) -> Result<Vec<Arc<Test>>> {
        refuse_blanks(names)?;
        let mut test_names = Vec::new();
        let mut commands = Vec::new();
        for name in names {
            if is_command(name) {
                commands.push(Given::from(self.quoted(name)?));
            } else {
                test_names.push(name.clone());
            }
        }
        if !words.is_empty() {
            commands.push(Given::from(Commands::from_words(words)?));
        }
        if test_names.is_empty() && commands.is_empty() {
            test_names.push(usual.to_owned());
        }

        let mut tests = catalogue.expand(&test_names)?;
        if !commands.is_empty() {
            tests.extend(self.alone(catalogue, commands, manner)?);
        }
        Ok(tests)
    }

    /// A test for each command.
    ///
    /// # Errors
    /// As [`Commands::tests`].
    pub(crate) fn alone(
        &self,
        catalogue: &Catalogue,
        commands: Vec<Given>,
        manner: Manner,
    ) -> Result<Vec<Arc<Test>>> {
        let row = find_row(catalogue, TIMING_ROW)?;
        let execution = self.execution(&commands, manner)?;
        let commands = self.complete(commands, manner)?;
        Ok(commands.iter().map(|command| Arc::new(row.executing(command, &execution))).collect())
    }

    /// The test in which commands are executed in turn, or one after the other, and their names.
    ///
    /// # Errors
    /// As [`Commands::tests`], or there are too many.
    pub(crate) fn alternating(
        &self,
        catalogue: &Catalogue,
        commands: Vec<Given>,
        manner: Manner,
    ) -> Result<(Arc<Test>, Vec<String>)> {
        ensure!(
            commands.len() <= MAX_COMMANDS,
            "there are {} commands, and {MAX_COMMANDS} can be compared in one run; name fewer commands or values",
            commands.len()
        );
        let execution = self.execution(&commands, manner)?;
        let commands = self.complete(commands, manner)?;
        let names: Vec<String> = commands.iter().map(|command| command.label.clone()).collect();
        let row = find_row(catalogue, TIMING_ROW)?;
        Ok((Arc::new(row.alternating("ab", &commands, &execution)), names))
    }

    /// The commands with their names, and with what comes with each execution.
    fn complete(&self, given: Vec<Given>, manner: Manner) -> Result<Vec<Command>> {
        self.check_counts(&given)?;

        let mut outputs = Outputs::with_patience(self.timeout);
        let mut titles = Vec::new();
        let mut commands = Vec::new();
        let mut user_names = self.command_name.iter();
        for (place, Given { command, template, values, is_named }) in given.into_iter().enumerate()
        {
            let has_one_name = self.command_name.len() == 1 && !values.is_empty();
            let user_name = match self.command_name.first() {
                _ if is_named => None,
                first if has_one_name => first,
                _ => user_names.next(),
            };
            // One name for all values does not distinguish them unless it has a place for them.
            let mut texts = vec![template.as_str()];
            texts.extend(user_name.filter(|_| has_one_name).map(String::as_str));
            let parameters = values.used_by(&texts);
            let text = user_name.map_or(command.label.clone(), |name| values.replace(name));
            titles.push(journal::title(&text, &parameters));

            let output = match pick(&self.output, place) {
                _ if self.show_output => outputs.find(Path::new("inherit"))?,
                Some(output) => outputs.find(&replace_in_path(output, &values))?,
                None => None,
            };
            let prepare = self.words_with(pick(&self.prepare, place), &values)?;
            let conclude = self.words_with(pick(&self.conclude, place), &values)?;
            // Elsewhere they are executed once for all commands.
            let has_blocks = manner.blocks.is_some();
            let setup = self.setup.as_ref().filter(|_| has_blocks);
            let cleanup = self.cleanup.as_ref().filter(|_| has_blocks);
            let before = self.words_with(setup, &values)?;
            let after = self.words_with(cleanup, &values)?;
            let input = match &self.input {
                Some(input) => find_input(&replace_in_path(input, &values))?,
                None => None,
            };
            commands.push(Command {
                text,
                parameters,
                prepare,
                conclude,
                before,
                after,
                input,
                output,
                ..command
            });
        }

        for (command, name) in commands.iter_mut().zip(names(&titles)) {
            command.label = name;
        }
        Ok(commands)
    }

    /// The blocks of commands whose --setup or --cleanup depends on a parameter, so that they
    /// cannot take turns; `None` if they can.
    pub(crate) fn own_blocks(&self, commands: &[Given]) -> Option<u32> {
        let depends_on_values = |command: &String| {
            let mut texts = commands.iter().map(|given| given.values.replace(command));
            let first = texts.next();
            texts.any(|text| Some(text) != first)
        };
        if !self.setup.iter().chain(&self.cleanup).any(depends_on_values) {
            return None;
        }
        let executions = self.max_executions().unwrap_or(SETUP_BLOCKS);
        Some(executions.min(SETUP_BLOCKS))
    }

    /// Checks that options that may be given once for each command are given as often as there are
    /// commands, or once.
    fn check_counts(&self, given: &[Given]) -> Result<()> {
        let count = given.len();
        for (option, times) in [
            ("--prepare", self.prepare.len()),
            ("--conclude", self.conclude.len()),
            ("--output", self.output.len()),
        ] {
            ensure!(
                times <= 1 || times == count,
                "{option} is given {times} times for {}; give it once for all, or once for each",
                words::count(count, "command")
            );
        }

        let unnamed = given.iter().filter(|given| !given.is_named).count();
        let names = self.command_name.len();
        let has_values = given.iter().any(|given| !given.values.is_empty());
        ensure!(
            !has_values || names <= 1 || names == unnamed,
            "there are {names} names for {}, one for each value; name all of them, or give one name with {{NAME}} in it",
            words::count(unnamed, "command")
        );
        ensure!(
            names <= unnamed,
            "there are {names} names for {}; name each once",
            words::count(unnamed, "command")
        );
        Ok(())
    }

    /// The test, in which the commands are also sampled if it has any: as many executions as are
    /// measured, where --runs says how many.
    ///
    /// # Errors
    /// The catalogue has no row that samples.
    pub(crate) fn sampled(&self, catalogue: &Catalogue, test: Arc<Test>) -> Result<Arc<Test>> {
        if !test.is_command() {
            return Ok(test);
        }

        let mut args = Vec::new();
        if let Some(runs) = self.runs {
            args.push(format!("least={}", runs.min(MIN_SAMPLED_RUNS)));
            args.push(format!("most={}", runs.min(MAX_SAMPLED_RUNS)));
        }
        let sampling = find_row(catalogue, SAMPLING_ROW)?;
        Ok(Arc::new(Arc::unwrap_or_clone(test).sampled_by(sampling, args)))
    }

    /// The effort, with as many blocks as it takes to execute each command as often as --runs,
    /// --min-runs and --max-runs say.
    pub(crate) fn effort(&self, effort: Effort) -> Effort {
        let blocks = self.runs.map(|runs| runs / self.rounds());
        Effort {
            blocks: blocks.or(effort.blocks),
            min_executions: self.min_runs.unwrap_or(0),
            max_blocks: self.max_runs.map(|runs| runs / self.rounds()),
            ..effort
        }
    }

    /// The executions of each command that the user allows.
    pub(crate) fn max_executions(&self) -> Option<u32> {
        self.runs.or(self.max_runs)
    }

    /// The executions of each command in a window: with --runs the largest divisor, and with
    /// --max-runs the largest number, that leaves [`MIN_WINDOWS`]; 0 for as many as the window has
    /// time for.
    fn rounds(&self) -> u32 {
        let Some(runs) = self.max_executions() else { return 0 };
        let max_rounds = (runs / MIN_WINDOWS).max(1);
        if self.runs.is_none() {
            return max_rounds;
        }
        (1..=max_rounds).rev().find(|rounds| runs.is_multiple_of(*rounds)).unwrap_or(1)
    }

    /// The words of a command with the parameters' values; none if there is no command.
    fn words_with(&self, command: Option<&String>, values: &Combination) -> Result<Vec<String>> {
        match command {
            Some(command) => self.words(&values.replace(command)),
            None => Ok(Vec::new()),
        }
    }

    /// The words by which a quoted command is executed.
    ///
    /// # Errors
    /// It cannot be executed without a shell, which was asked for.
    pub(crate) fn words(&self, command: &str) -> Result<Vec<String>> {
        if !self.no_shell && self.shell != NO_SHELL {
            return shell_words(&self.shell, command);
        }
        let words = shlex::split(command).with_context(|| {
            format!(
                "'{command}' cannot be executed without a shell: a quote is open, or it ends in a \
                 backslash; close the quote, or leave out -N"
            )
        })?;
        ensure!(
            !words.is_empty(),
            "'{command}' cannot be executed without a shell: it is empty; name a command"
        );
        Ok(words)
    }

    /// How commands are executed in a manner.
    ///
    /// # Errors
    /// --runs, --min-runs and --max-runs cannot be met.
    fn execution(&self, commands: &[Given], manner: Manner) -> Result<Execution> {
        if let (Some(min), Some(max)) = (self.min_runs, self.max_runs)
            && min > max
        {
            bail!("--min-runs {min} is more than --max-runs {max}; try --runs {max}");
        }

        let inherits = self.output.iter().any(|place| place == Path::new("inherit"));
        let shown_stderr = match self.show_output || inherits {
            true => Some(hand_on_stderr()?),
            false => None,
        };
        let common = Execution {
            warmup: self.warmup,
            same: manner.is_same,
            region: self.region,
            ignore: self.ignore_failure.clone().unwrap_or_default(),
            timeout: self.timeout,
            shown_stderr,
            ..Execution::default()
        };

        if let Some(blocks) = manner.blocks {
            let [least, most] = [self.min_runs, self.max_runs].map(Option::unwrap_or_default);
            let sequence = Some(Sequence { blocks, least, most });
            return Ok(Execution { rounds: self.runs.unwrap_or(0), sequence, ..common });
        }

        let rounds = match (manner.windows, self.runs) {
            (Some(windows), Some(runs)) => runs.div_ceil(windows),
            _ => self.rounds(),
        };
        if let Some(runs) = self.runs
            && manner.windows.is_none()
            && runs / self.rounds() > MAX_WINDOWS
        {
            let round = runs.next_multiple_of(1000);
            bail!("{runs} executions cannot be divided evenly among windows; try --runs {round}");
        }
        // Commands whose set-ups differ have blocks.
        let values = commands.first().map(|given| &given.values);
        Ok(Execution {
            setup: self.words_once(self.setup.as_ref(), values)?,
            cleanup: self.words_once(self.cleanup.as_ref(), values)?,
            rounds,
            servers: manner.servers,
            keep: manner.is_read,
            ..common
        })
    }

    /// The words of a command that is executed once; none if there is nothing to execute it for.
    fn words_once(
        &self,
        command: Option<&String>,
        values: Option<&Combination>,
    ) -> Result<Vec<String>> {
        match values {
            Some(values) => self.words_with(command, values),
            None => Ok(Vec::new()),
        }
    }
}

/// The value for the command at a place: a single value is for all commands.
fn pick<T>(values: &[T], place: usize) -> Option<&T> {
    values.get(if values.len() > 1 { place } else { 0 })
}

/// A path with the parameters' values; one that is not UTF-8 has none.
fn replace_in_path(path: &Path, values: &Combination) -> PathBuf {
    path.to_str().map_or_else(|| path.to_owned(), |path| values.replace(path).into())
}

/// True if a word is a quoted command and cannot be a test's name.
pub(crate) fn is_command(word: &str) -> bool {
    word.contains(char::is_whitespace) || (word.contains('/') && !word.contains(':'))
}

/// A quoted command as a load, which may fail.
///
/// # Errors
/// The catalogue has no row that executes commands.
pub(crate) fn command_load(catalogue: &Catalogue, command: &str) -> Result<Arc<Test>> {
    let words = shell_words(SHELL, command)?;
    let command = Command { label: name(command), words, ..Command::default() };
    let execution = Execution { ignore: Ignored::All, ..Execution::default() };
    Ok(Arc::new(find_row(catalogue, TIMING_ROW)?.executing(&command, &execution)))
}

/// A command as an interactive task, whose wake-ups are measured.
///
/// # Errors
/// A word is not UTF-8.
pub(crate) fn command_task(catalogue: &Catalogue, words: &[OsString]) -> Result<Arc<Test>> {
    let command = Commands::from_words(words)?;
    let command = Command { text: command.label.clone(), label: name(&command.label), ..command };
    // A command that is ended by `timeout` fails.
    let execution = Execution { ignore: Ignored::All, ..Execution::default() };
    let test = find_row(catalogue, TIMING_ROW)?.executing(&command, &execution);
    Ok(Arc::new(Test { metric: Metric::Latency, value: None, ..test }))
}

/// The words by which a shell, which may have arguments, executes a command.
fn shell_words(shell: &str, command: &str) -> Result<Vec<String>> {
    let shell = if shell == DEFAULT_SHELL { SHELL } else { shell };
    let words = shlex::split(shell).filter(|words| !words.is_empty());
    let mut words = words.with_context(|| {
        format!("'{shell}' is not a shell: it is empty, or a quote is open; try --shell bash")
    })?;
    words.extend(["-c", command].map(str::to_owned));
    Ok(words)
}

/// Refuses a command of blanks, named by where it was given: a shell executes it with success.
pub(crate) fn refuse_blank(place: &str, command: &str) -> Result<()> {
    ensure!(!command.trim().is_empty(), "{place} is blank; name the command to execute there");
    Ok(())
}

/// [`refuse_blank`], for commands in a row.
pub(crate) fn refuse_blanks(commands: &[String]) -> Result<()> {
    for (number, command) in (1..).zip(commands) {
        refuse_blank(&format!("command {number}"), command)?;
    }
    Ok(())
}

/// # Errors
/// The directory is gone.
pub(crate) fn current_dir() -> Result<PathBuf> {
    std::env::current_dir().context("the current directory is gone; change to another")
}

/// The test, which also counts what its commands do if it has any.
///
/// # Errors
/// The catalogue has no row that counts.
pub(crate) fn counted(
    catalogue: &Catalogue,
    test: Arc<Test>,
    instructions: Instructions,
) -> Result<Arc<Test>> {
    if !test.is_command() {
        return Ok(test);
    }
    let counting = find_row(catalogue, COUNTING_ROW)?;
    Ok(Arc::new(Arc::unwrap_or_clone(test).counted_by(counting, instructions)))
}

fn find_row<'c>(catalogue: &'c Catalogue, id: &str) -> Result<&'c Arc<Test>> {
    catalogue.test(id).with_context(|| format!("the catalogue has no row '{id}'"))
}
