//! Commands of the user's, and how they are executed: in hyperfine's words, so that its command lines work.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::values::caption;
use ::report::Format;
use catalogue::{Catalogue, Command, Execution, Metric, Test};
use journal::TimeUnit;
use plan::Effort;

/// The rows of the catalogue that execute commands, one timing them and one counting what they do.
const ROW: &str = "command";
const COUNTING: &str = "command-counts";

/// Characters of a command that are its name in reports.
const NAME: usize = 60;

/// The way commands are executed.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Commands {
    /// Execute this before each execution, untimed; given once for all commands, or once for each
    #[arg(short, long, value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Execute this once before all executions
    #[arg(short, long, value_name = "COMMAND")]
    setup: Option<String>,
    /// Execute this once after all executions, unless the run was interrupted
    #[arg(long, value_name = "COMMAND")]
    cleanup: Option<String>,
    /// Execute each command this many times before it is measured
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    warmup: u32,
    /// Have commands read this file [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write what commands print to this file [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Execute each command this many times, instead of until enough is known
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..10_000))]
    pub(crate) runs: Option<u32>,
    /// Measure commands even if they fail
    #[arg(long)]
    ignore_failure: bool,
    /// Unit of times in reports for people [default: what suits the slowest command]
    #[arg(short = 'u', long, value_name = "UNIT")]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Write all times to this file, in hyperfine's format
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,
    /// Write the report to this file as Markdown
    #[arg(long, value_name = "FILE")]
    export_markdown: Option<PathBuf>,
    /// Write the report to this file as CSV
    #[arg(long, value_name = "FILE")]
    export_csv: Option<PathBuf>,
    /// Execute quoted commands with this shell; `none`: without one
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "sh")]
    shell: String,
    /// Execute quoted commands without a shell: short for --shell none
    #[arg(short = 'N', conflicts_with = "shell")]
    no_shell: bool,
    /// Name of a command in reports; repeatable [default: its words]
    #[arg(short = 'n', long, value_name = "NAME", value_parser = caption)]
    command_name: Vec<String>,
}

impl Commands {
    /// Returns the files that a report is written to, too.
    pub(crate) fn exports(&self) -> Vec<(Format, &Path)> {
        let Commands { export_json, export_markdown, export_csv, .. } = self;
        let all = [(Format::Hyperfine, export_json), (Format::Markdown, export_markdown), (Format::Csv, export_csv)];
        all.into_iter().filter_map(|(format, path)| Some((format, path.as_deref()?))).collect()
    }

    /// Returns true if they have names of the user's.
    pub(crate) fn is_named(&self) -> bool {
        !self.command_name.is_empty()
    }

    /// Returns true if other commands are executed before them, which may build them.
    pub(crate) fn are_prepared(&self) -> bool {
        self.setup.is_some() || !self.prepare.is_empty()
    }

    /// Returns a command whose words are executed as they are.
    ///
    /// # Errors
    /// A word is not UTF-8.
    pub(crate) fn from_words(words: &[OsString]) -> Result<Command> {
        let words: Vec<String> = words.iter().map(utf8).collect::<Result<_>>()?;
        Ok(Command { label: shown(&words::shell(&words)), words, ..Command::default() })
    }

    /// Returns a quoted command.
    ///
    /// # Errors
    /// It cannot be executed without a shell, which was asked for.
    pub(crate) fn quoted(&self, command: &str) -> Result<Command> {
        Ok(Command { label: shown(command), words: self.words(command)?, ..Command::default() })
    }

    /// Returns the tests of `names`, then those of the quoted commands among them and of the command `words`; `usual`
    /// if both are empty.
    ///
    /// # Errors
    /// There is no such test, a file is missing, or there are more names than commands.
    pub(crate) fn tests(
        &self,
        catalogue: &Catalogue,
        (names, words): (&[String], &[OsString]),
        usual: &str,
    ) -> Result<Vec<Arc<Test>>> {
        let (quoted, mut names): (Vec<String>, Vec<String>) = names.iter().cloned().partition(|name| is_command(name));
        let mut commands: Vec<Command> = quoted.iter().map(|command| self.quoted(command)).collect::<Result<_>>()?;
        if !words.is_empty() {
            commands.push(Commands::from_words(words)?);
        }
        if names.is_empty() && commands.is_empty() {
            names.push(usual.to_owned());
        }
        let mut tests = catalogue.expand(&names)?;
        if !commands.is_empty() {
            tests.extend(self.alone(catalogue, commands)?);
        }
        Ok(tests)
    }

    /// Returns a test for each command.
    ///
    /// # Errors
    /// As [`Commands::tests`].
    pub(crate) fn alone(&self, catalogue: &Catalogue, commands: Vec<Command>) -> Result<Vec<Arc<Test>>> {
        let (row, how) = (row(catalogue)?, self.execution()?);
        Ok(self.completed(commands)?.iter().map(|command| Arc::new(row.executing(command, &how))).collect())
    }

    /// Returns the test in which commands are executed in turn, and their names; `same` if all must print the same,
    /// `keep` if what they print is read.
    ///
    /// # Errors
    /// As [`Commands::tests`], or two have the same name.
    pub(crate) fn in_turn(
        &self,
        catalogue: &Catalogue,
        commands: Vec<Command>,
        [same, keep]: [bool; 2],
    ) -> Result<(Arc<Test>, Vec<String>)> {
        let commands = self.completed(commands)?;
        let names: Vec<String> = commands.iter().map(|command| command.label.clone()).collect();
        if let Some(twice) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            bail!("two commands are called '{}'; give them names with -n", twice.1);
        }
        let how = Execution { same, keep, ..self.execution()? };
        Ok((Arc::new(row(catalogue)?.alternating("ab", &commands, &how)), names))
    }

    /// Returns commands with the names that the user gave them, and with what prepares them.
    fn completed(&self, commands: Vec<Command>) -> Result<Vec<Command>> {
        let count = commands.len();
        let [names, prepares] = [self.command_name.len(), self.prepare.len()];
        if names > count {
            bail!("there are {names} names for {}; name each once", words::count(count, "command"));
        }
        if prepares > 1 && prepares != count {
            bail!(
                "--prepare is given {prepares} times for {}; give it once for all, or once for each",
                words::count(count, "command")
            );
        }
        let complete = |(place, command): (usize, Command)| {
            let prepare = self.prepare.get(if prepares > 1 { place } else { 0 });
            let label = self.command_name.get(place).cloned().unwrap_or(command.label);
            Ok(Command { label, prepare: self.maybe_words(prepare)?, ..command })
        };
        commands.into_iter().enumerate().map(complete).collect()
    }

    /// Returns an effort with as many blocks as it takes to execute each command as often as is wanted.
    pub(crate) fn effort(&self, effort: Effort) -> Effort {
        Effort { blocks: self.runs.map(|runs| runs / rounds(runs)).or(effort.blocks), ..effort }
    }

    /// Returns the words of a quoted command.
    fn words(&self, command: &str) -> Result<Vec<String>> {
        if !self.no_shell && self.shell != "none" {
            return Ok(for_shell(&self.shell, command));
        }
        let words = shlex::split(command).filter(|words| !words.is_empty());
        words
            .with_context(|| format!("'{command}' cannot be executed without a shell: it is empty, or a quote is open"))
    }

    /// Returns the words of a quoted command; none without one.
    fn maybe_words(&self, command: Option<&String>) -> Result<Vec<String>> {
        command.map_or(Ok(Vec::new()), |command| self.words(command))
    }

    fn execution(&self) -> Result<Execution> {
        // hyperfine's word for /dev/null.
        let is_named = |path: &&Path| *path != Path::new("null");
        let input = self.input.as_deref().filter(is_named).map(absolute).transpose()?;
        if let Some(input) = input.as_deref().filter(|input| !input.is_file()) {
            bail!("{} cannot be the commands' input: it is not a regular file; try another --input", input.display());
        }
        Ok(Execution {
            folder: current_dir()?,
            input,
            output: self.output.as_deref().filter(is_named).map(absolute).transpose()?,
            setup: self.maybe_words(self.setup.as_ref())?,
            cleanup: self.maybe_words(self.cleanup.as_ref())?,
            warmup: self.warmup,
            rounds: self.runs.map_or(0, rounds),
            same: false,
            keep: false,
            ignore: self.ignore_failure,
        })
    }
}

/// Returns the executions of a window for a number of executions, of which it is a divisor: each window starts a
/// program, which takes longer than short commands. Fifty windows at least show how the machine changes.
fn rounds(runs: u32) -> u32 {
    (1..=runs / 50).rev().find(|rounds| runs.is_multiple_of(*rounds)).unwrap_or(1)
}

/// Returns true if a word is a quoted command and cannot be a test's name.
pub(crate) fn is_command(word: &str) -> bool {
    word.contains(char::is_whitespace) || (word.contains('/') && !word.contains(':'))
}

/// Returns the load that a quoted command is.
///
/// # Errors
/// The current directory is gone.
pub(crate) fn load(catalogue: &Catalogue, command: &str) -> Result<Arc<Test>> {
    let command = Command { label: shown(command), words: for_shell("sh", command), ..Command::default() };
    let how = Execution { folder: current_dir()?, ignore: true, ..Execution::default() };
    Ok(Arc::new(row(catalogue)?.executing(&command, &how)))
}

/// Returns a command as an interactive task, of which the wake-ups are measured.
///
/// # Errors
/// A word is not UTF-8, or the current directory is gone.
pub(crate) fn task(catalogue: &Catalogue, words: &[OsString]) -> Result<Arc<Test>> {
    // One that is ended by `timeout` fails.
    let how = Execution { folder: current_dir()?, ignore: true, ..Execution::default() };
    let test = row(catalogue)?.executing(&Commands::from_words(words)?, &how);
    Ok(Arc::new(Test { metric: Metric::Latency, value: None, ..test }))
}

fn for_shell(shell: &str, command: &str) -> Vec<String> {
    [shell, "-c", command].map(str::to_owned).to_vec()
}

/// Returns the current directory.
///
/// # Errors
/// It is gone.
pub(crate) fn current_dir() -> Result<PathBuf> {
    std::env::current_dir().context("the current directory is gone; change to another")
}

/// Returns a test of commands as one that counts what they do, too; any other as it is.
///
/// # Errors
/// The catalogue has no row that counts.
pub(crate) fn counted(catalogue: &Catalogue, test: Arc<Test>) -> Result<Arc<Test>> {
    if !test.is_command() {
        return Ok(test);
    }
    let counting = catalogue.test(COUNTING).with_context(|| format!("the catalogue has no row '{COUNTING}'"))?;
    Ok(Arc::new(Arc::unwrap_or_clone(test).counted_by(counting)))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} cannot be used", path.display()))
}

fn utf8(word: &OsString) -> Result<String> {
    let known =
        word.to_str().with_context(|| format!("{} is not UTF-8; try a link of another name", word.display()))?;
    Ok(known.to_owned())
}

fn row(catalogue: &Catalogue) -> Result<&Arc<Test>> {
    catalogue.test(ROW).with_context(|| format!("the catalogue has no row '{ROW}'"))
}

/// Returns the name of a command: itself, shortened, without anything that a terminal acts on.
fn shown(command: &str) -> String {
    let clean: String = command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    words::shortened(&clean, NAME)
}
