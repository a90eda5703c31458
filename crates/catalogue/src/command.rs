//! Commands of the user's as tests.

use std::path::PathBuf;
use std::sync::Arc;

use super::Test;

/// The programs that execute commands: one times them, the other counts what they do.
const PROGRAMS: [&str; 2] = ["command/execute", "command/count"];

/// The arguments that both know.
const SHARED: [&str; 4] = ["folder=", "input=", "output=", "ignore="];

/// Every how many rounds the first of several commands is executed twice, as a control.
const CONTROL: u32 = 4;

/// A command, and what is executed before each of its executions without being timed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The name in reports.
    pub label: String,
    /// The executable and its arguments.
    pub words: Vec<String>,
    /// The same of what prepares an execution; empty without that.
    pub prepare: Vec<String>,
    /// Where it works, if that is not where all commands do.
    pub folder: Option<PathBuf>,
}

/// The way commands are executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Execution {
    /// Where they work.
    pub folder: PathBuf,
    /// Their stdin; `None` for /dev/null.
    pub input: Option<PathBuf>,
    /// Their stdout; `None` for /dev/null.
    pub output: Option<PathBuf>,
    /// Commands executed before all of them, and after all; empty without that.
    pub setup: Vec<String>,
    /// As `setup`.
    pub cleanup: Vec<String>,
    /// Rounds that are executed first and not measured.
    pub warmup: u32,
    /// Rounds in a trial; 0 for as many as its window has time for.
    pub rounds: u32,
    /// True if all must print the same.
    pub same: bool,
    /// True if what they print is kept for the tool to read.
    pub keep: bool,
    /// True if they may fail.
    pub ignore: bool,
}

impl Execution {
    fn arguments(&self) -> Vec<String> {
        let path = |name: &str, path: &PathBuf| format!("{name}={}", path.display());
        let mut arguments = vec![path("folder", &self.folder)];
        arguments.extend(self.input.iter().map(|input| path("input", input)));
        arguments.extend(self.output.iter().map(|output| path("output", output)));
        let flags = [
            ("warmup", self.warmup),
            ("rounds", self.rounds),
            ("same", self.same.into()),
            ("keep", self.keep.into()),
            ("ignore", self.ignore.into()),
        ];
        arguments.extend(flags.iter().filter(|(_, value)| *value > 0).map(|(name, value)| format!("{name}={value}")));
        arguments
    }

    /// The words by which the program knows what comes before and after all commands.
    fn around(&self) -> Vec<String> {
        [("setup", &self.setup), ("cleanup", &self.cleanup)].map(section).concat()
    }
}

impl Test {
    /// Returns this row as the test of a command.
    pub fn executing(&self, command: &Command, how: &Execution) -> Test {
        Test {
            id: command.label.clone(),
            label: command.label.clone(),
            args: how.arguments(),
            command: [how.around(), sections(command)].concat(),
            cleans: !how.cleanup.is_empty(),
            ..self.clone()
        }
    }

    /// Returns this row as the test of several commands, executed in turn; the first is executed twice now and then.
    pub fn alternating(&self, id: &str, commands: &[Command], how: &Execution) -> Test {
        let mut args = how.arguments();
        args.push(format!("control={CONTROL}"));
        Test {
            id: id.to_owned(),
            label: id.to_owned(),
            args,
            command: std::iter::once(how.around()).chain(commands.iter().map(sections)).flatten().collect(),
            cleans: !how.cleanup.is_empty(),
            // More words than a command line holds would be needed for more.
            arms: u32::try_from(commands.len()).unwrap_or(u32::MAX),
            ..self.clone()
        }
    }

    /// Returns this test of commands as one whose commands are executed by `row`, too, which counts what they do.
    pub fn counted_by(self, row: &Test) -> Test {
        let is_shared = |arg: &&String| SHARED.iter().any(|name| arg.starts_with(name));
        let args = self.args.iter().filter(is_shared).cloned().collect();
        let (id, command) = (self.id.clone(), self.command.clone());
        Test { counting: Some(Arc::new(Test { id, args, command, arms: self.arms, ..row.clone() })), ..self }
    }

    /// Returns true if it executes commands of the user's.
    pub fn is_command(&self) -> bool {
        PROGRAMS.contains(&&*self.program)
    }
}

/// The words by which the program knows a command.
fn sections(command: &Command) -> Vec<String> {
    let folder: Vec<String> = command.folder.iter().map(|folder| folder.display().to_string()).collect();
    [("in", &folder), ("prepare", &command.prepare), ("run", &command.words)].map(section).concat()
}

/// A kind of section with its words; nothing without any.
fn section((kind, words): (&str, &Vec<String>)) -> Vec<String> {
    if words.is_empty() {
        return Vec::new();
    }
    [&[kind.to_owned(), words.len().to_string()], &words[..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_becomes_arguments_of_the_program() {
        let catalogue = Catalogue::load().unwrap();
        let row = catalogue.test("command").unwrap();
        let how = Execution { folder: "/home/me".into(), warmup: 3, ignore: true, ..Execution::default() };
        let old = Command { label: "old".into(), words: words("./old x"), ..Command::default() };
        let test = row.executing(&old, &how);
        assert_eq!((&*test.id, &test.command, test.arms), ("old", &words("run 2 ./old x"), 0));
        assert_eq!(test.args, words("folder=/home/me warmup=3 ignore=1"));
        assert!(test.is_command() && !catalogue.test("pipe").unwrap().is_command());
        let new =
            Command { label: "new".into(), words: words("./new"), prepare: words("sync"), folder: Some("/new".into()) };
        let around = Execution { setup: words("make"), cleanup: words("make clean"), ..Execution::default() };
        let cleaned = row.executing(&old, &around);
        assert_eq!(cleaned.command, words("setup 1 make cleanup 2 make clean run 2 ./old x"));
        assert!(cleaned.cleans && !test.cleans);
        let both = row.alternating("ab", &[old, new], &Execution { folder: "/".into(), ..Execution::default() });
        assert_eq!(both.command, words("run 2 ./old x in 1 /new prepare 1 sync run 1 ./new"));
        assert_eq!((&both.args, both.arms), (&words("folder=/ control=4"), 2));
        let counting = both.counted_by(catalogue.test("command-counts").unwrap()).counting.unwrap();
        assert_eq!((&counting.args, counting.arms, &*counting.program), (&words("folder=/"), 2, "command/count"));
        assert_eq!(counting.command, words("run 2 ./old x in 1 /new prepare 1 sync run 1 ./new"));
    }
}
