//! Commands of the user's, and how they are executed: in hyperfine's words, so that its command lines work.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::values::caption;
use catalogue::{Catalogue, Command, Execution, Test};

/// The row of the catalogue that executes commands.
const ROW: &str = "command";

/// Characters of a command that are its name in reports.
const NAME: usize = 60;

/// How commands are executed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Commands")]
pub(crate) struct Commands {
    /// Execute this before each execution, untimed; given once for all commands, or once for each
    #[arg(short, long, value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Execute a command this often before it is measured
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    warmup: u32,
    /// Have commands read this file [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write what commands print to this file [default: null, which is /dev/null]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Measure commands that fail like others
    #[arg(long)]
    ignore_failure: bool,
    /// Execute quoted commands without a shell
    #[arg(short = 'N')]
    no_shell: bool,
    /// Name of a command in reports; repeatable [default: its words]
    #[arg(short = 'n', long, value_name = "NAME", value_parser = caption)]
    command_name: Vec<String>,
}

impl Commands {
    /// Returns true if a word is a quoted command and cannot be a test's name.
    pub(crate) fn is_command(word: &str) -> bool {
        word.contains(char::is_whitespace) || (word.contains('/') && !word.contains(':'))
    }

    /// Returns the test of a command whose words are executed as they are.
    ///
    /// # Errors
    /// A word is not UTF-8, a file is missing, or there are more names than commands.
    pub(crate) fn test(&self, catalogue: &Catalogue, words: &[OsString]) -> Result<Arc<Test>> {
        let words: Vec<String> = words.iter().map(text).collect::<Result<_>>()?;
        let name = shown(&words::shell(&words));
        self.single(catalogue, (name, words))
    }

    /// Returns the test of a quoted command.
    ///
    /// # Errors
    /// As [`Commands::test`].
    pub(crate) fn quoted(&self, catalogue: &Catalogue, command: &str) -> Result<Arc<Test>> {
        self.single(catalogue, (shown(command), self.words(command)?))
    }

    /// Returns the test in which quoted commands are executed in turn, and their names.
    ///
    /// # Errors
    /// As [`Commands::test`], or two have the same name.
    pub(crate) fn in_turn(
        &self,
        catalogue: &Catalogue,
        quoted: &[String],
        same: bool,
    ) -> Result<(Arc<Test>, Vec<String>)> {
        let named = quoted.iter().map(|command| Ok((shown(command), self.words(command)?)));
        let commands = self.commands(named.collect::<Result<_>>()?)?;
        let names: Vec<String> = commands.iter().map(|command| command.label.clone()).collect();
        let how = Execution { same, ..self.execution()? };
        Ok((Arc::new(row(catalogue)?.alternating("ab", &commands, &how)), names))
    }

    fn single(&self, catalogue: &Catalogue, named: (String, Vec<String>)) -> Result<Arc<Test>> {
        let commands = self.commands(vec![named])?;
        Ok(Arc::new(row(catalogue)?.executing(&commands[0], &self.execution()?)))
    }

    /// Returns commands with what prepares them, of their usual names and their words.
    fn commands(&self, named: Vec<(String, Vec<String>)>) -> Result<Vec<Command>> {
        let count = named.len();
        if self.command_name.len() > count {
            bail!("there are {} names for {}; name each once", self.command_name.len(), words::count(count, "command"));
        }
        if self.prepare.len() > 1 && self.prepare.len() != count {
            bail!(
                "--prepare is given {} times for {}; give it once for all, or once for each",
                self.prepare.len(),
                words::count(count, "command")
            );
        }
        let command = |(place, (usual, words)): (usize, (String, Vec<String>))| {
            let prepare = self.prepare.get(if self.prepare.len() > 1 { place } else { 0 });
            Ok(Command {
                label: self.command_name.get(place).cloned().unwrap_or(usual),
                words,
                prepare: prepare.map_or(Ok(Vec::new()), |prepare| self.words(prepare))?,
                folder: None,
            })
        };
        let commands: Vec<Command> = named.into_iter().enumerate().map(command).collect::<Result<_>>()?;
        for (place, command) in commands.iter().enumerate() {
            if commands[..place].iter().any(|other| other.label == command.label) {
                bail!("two commands are called '{}'; name each with --command-name", command.label);
            }
        }
        Ok(commands)
    }

    /// Returns the words of a quoted command.
    fn words(&self, command: &str) -> Result<Vec<String>> {
        if !self.no_shell {
            return Ok(["sh", "-c", command].map(str::to_owned).to_vec());
        }
        let words = shlex::split(command).filter(|words| !words.is_empty());
        words
            .with_context(|| format!("'{command}' cannot be executed without a shell: it is empty, or a quote is open"))
    }

    fn execution(&self) -> Result<Execution> {
        let folder = std::env::current_dir().context("the current directory is gone; change to another")?;
        let absolute =
            |path: &Path| std::path::absolute(path).with_context(|| format!("{} cannot be used", path.display()));
        let input = self.input.as_deref().filter(|input| *input != Path::new("null")).map(absolute).transpose()?;
        if let Some(input) = input.as_deref().filter(|input| !input.is_file()) {
            bail!("{} cannot be the commands' input: it is no file", input.display());
        }
        let output = self.output.as_deref().filter(|output| *output != Path::new("null"));
        Ok(Execution {
            folder,
            input,
            output: output.map(absolute).transpose()?,
            warmup: self.warmup,
            same: false,
            ignore: self.ignore_failure,
        })
    }
}

fn row(catalogue: &Catalogue) -> Result<&Arc<Test>> {
    catalogue.test(ROW).with_context(|| format!("the catalogue has no row '{ROW}'"))
}

fn text(word: &OsString) -> Result<String> {
    let text = word.to_str().with_context(|| format!("{} is not UTF-8; try a link of another name", word.display()))?;
    Ok(text.to_owned())
}

/// Returns the name of a command: itself, shortened, without anything that a terminal acts on.
fn shown(command: &str) -> String {
    let clean: String = command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    words::shortened(&clean, NAME)
}
