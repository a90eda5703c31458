//! Commands of the user's as tests.

use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{SamplingUnit, Test};

/// The programs that execute commands: one times them, one counts what they do, one samples where
/// they spend their time.
const PROGRAMS: [&str; 3] = ["command/execute", "command/count", "command/where"];

/// Whether instructions are counted where that takes long, since the processor's counters are
/// hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// No.
    Unwanted,
    /// Of commands that end soon.
    IfShort,
    /// Yes, as the user has set a limit for them.
    Needed,
}

/// The arguments that all of them know.
const SHARED_ARGUMENTS: [&str; 3] = ["ignore=", "limit=", "region="];

/// In one of so many rounds one of several commands is executed twice, as a control.
const CONTROL_INTERVAL: u32 = 4;

/// One program executes no more commands alternately: with the control, they fill the room that it
/// has.
pub const MAX_COMMANDS: usize = 255;

/// A command has no more builds: MAX_UNITS of programs/command/arms.h.
pub const MAX_BUILDS: u32 = 64;

/// A command, and others that are executed around it without being timed. These are words each, and
/// empty if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The name in reports.
    pub label: String,
    /// The whole command, or the name that the user gave it.
    pub text: String,
    /// The values of its parameters.
    pub parameters: Vec<Parameter>,
    /// The executable and its arguments.
    pub words: Vec<String>,
    /// Executed before each execution.
    pub prepare: Vec<String>,
    /// Executed after each execution.
    pub conclude: Vec<String>,
    /// Executed before each of the [`Sequence`]'s blocks.
    pub before: Vec<String>,
    /// Executed after each of these blocks.
    pub after: Vec<String>,
    /// Its stdin; `None` for /dev/null.
    pub input: Option<PathBuf>,
    /// Its stdout; `None` for /dev/null.
    pub output: Option<Output>,
    /// Its working directory, if it is not that of all commands.
    pub folder: Option<PathBuf>,
    /// Its builds, of which each execution takes one. Empty where it was built once.
    pub builds: Vec<Build>,
    /// Its server, which is started anew in each window; empty without one.
    pub serve: Vec<String>,
    /// Succeeds once the server is ready; empty if it is ready as soon as its port accepts.
    pub ready: Vec<String>,
}

/// One build of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// Its working directory.
    pub folder: PathBuf,
    /// The executable and its arguments.
    pub words: Vec<String>,
}

/// Builds that are made while a run measures, if they narrow its interval.
#[derive(Debug, Clone, Default)]
pub struct Growth {
    /// The builds of each command that are there when the run begins.
    pub built: u32,
    /// The commands that make each further build of all commands, in order.
    pub further: Vec<Vec<BuildStep>>,
    /// How long such a build takes.
    pub seconds: f64,
}

/// A command that is part of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildStep {
    /// Where it is executed.
    pub folder: PathBuf,
    /// The executable and its arguments.
    pub words: Vec<String>,
}

/// The value of a parameter in one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The parameter's name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// True if the command's text has no place for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unused: bool,
}

/// The stdout of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A file, which each execution writes anew.
    File(PathBuf),
    /// A file descriptor that the tool hands on.
    Inherited(i32),
}

/// The way commands are executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Execution {
    /// The words of a command that is executed before all others; empty without one.
    pub setup: Vec<String>,
    /// The words of a command that is executed after all others; empty without one.
    pub cleanup: Vec<String>,
    /// Rounds that are executed first and not measured.
    pub warmup: u32,
    /// Rounds in a trial; 0 for as many as fit its window.
    pub rounds: u32,
    /// Set if commands do not take turns.
    pub sequence: Option<Sequence>,
    /// How the commands' servers are started, if they have some.
    pub servers: Servers,
    /// True if all commands must print the same.
    pub same: bool,
    /// True if what they print is kept for the tool to read.
    pub keep: bool,
    /// True if only the part is measured that they mark.
    pub region: bool,
    /// The exit statuses with which they may end.
    pub ignore: Ignored,
    /// The longest time that an execution may take.
    pub timeout: Option<Duration>,
    /// The file descriptor on which their stderr is shown while they run.
    pub shown_stderr: Option<i32>,
}

/// The blocks of commands that do not take turns: each command has one in every pass over all of
/// them. Unless the number of rounds is set, also how often they are executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sequence {
    /// The blocks of each command, at least one; with one, the commands' order is kept.
    pub blocks: u32,
    /// The minimum of executions of each command; 0 for the usual number.
    pub least: u32,
    /// The maximum; 0 for no limit.
    pub most: u32,
}

/// How the servers of commands are started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Servers {
    /// True if only one is up at a time.
    pub are_apart: bool,
    /// The longest time that a server may take until it is ready; `None` for the program's own.
    pub patience: Option<Duration>,
}

/// The exit statuses, other than 0, with which commands may end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ignored {
    /// None: the first failure ends the run.
    #[default]
    None,
    /// All of them, and signals.
    All,
    /// These.
    Statuses(Vec<u8>),
}

impl Ignored {
    /// The value of the programs' argument; `None` where they need none.
    fn argument(&self) -> Option<String> {
        match self {
            Ignored::None => None,
            Ignored::All => Some("all".to_owned()),
            Ignored::Statuses(statuses) => {
                let statuses: Vec<String> = statuses.iter().map(u8::to_string).collect();
                Some(statuses.join(","))
            }
        }
    }
}

impl Execution {
    fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (name, value) in [
            ("warmup", self.warmup),
            ("rounds", self.rounds),
            ("blocks", self.sequence.map_or(0, |sequence| sequence.blocks)),
            ("least", self.sequence.map_or(0, |sequence| sequence.least)),
            ("most", self.sequence.map_or(0, |sequence| sequence.most)),
            ("same", self.same.into()),
            ("keep", self.keep.into()),
            ("region", self.region.into()),
            ("apart", self.servers.are_apart.into()),
        ] {
            if value > 0 {
                arguments.push(format!("{name}={value}"));
            }
        }
        arguments.extend(self.ignore.argument().map(|statuses| format!("ignore={statuses}")));
        let limit = self.timeout.map(|timeout| timeout.as_millis().max(1));
        arguments.extend(limit.map(|ms| format!("limit={ms}")));
        let ready_limit = self.servers.patience.map(|patience| patience.as_millis().max(1));
        arguments.extend(ready_limit.map(|ms| format!("ready_ms={ms}")));
        arguments.extend(self.shown_stderr.map(|number| format!("stderr={number}")));
        arguments
    }

    /// True if a command that is executed around others may leave servers behind.
    fn may_start_servers(&self, commands: &[Command]) -> bool {
        !self.setup.is_empty()
            || commands.iter().any(|command| {
                !command.before.is_empty()
                    || !command.prepare.is_empty()
                    || !command.conclude.is_empty()
            })
    }

    /// What one sample is of commands that are compared.
    fn sampled(&self, commands: &[Command]) -> SamplingUnit {
        if commands.iter().any(|command| !command.builds.is_empty()) {
            return SamplingUnit::Build;
        }
        if commands.iter().any(|command| !command.serve.is_empty()) {
            return SamplingUnit::Process;
        }
        match self.sequence {
            Some(Sequence { blocks, .. }) if blocks > 1 => SamplingUnit::Block,
            _ => SamplingUnit::Execution,
        }
    }

    /// The program's sections for the commands before and after all others.
    fn around(&self) -> Vec<String> {
        [("setup", &self.setup[..]), ("cleanup", &self.cleanup)].map(format_section).concat()
    }
}

impl Test {
    /// This row as the test of a command.
    pub fn executing(&self, command: &Command, how: &Execution) -> Test {
        Test {
            id: command.label.clone(),
            label: command.label.clone(),
            args: how.arguments(),
            command: [how.around(), format_command(command)].concat(),
            commands: vec![command.clone()],
            cleans: !how.cleanup.is_empty(),
            has_servers: how.may_start_servers(slice::from_ref(command)),
            ..self.clone()
        }
    }

    /// This row as the test of several commands that are executed alternately. One of them is
    /// executed twice in some rounds.
    pub fn alternating(&self, id: &str, commands: &[Command], how: &Execution) -> Test {
        let mut args = how.arguments();
        args.push(format!("control={CONTROL_INTERVAL}"));
        Test {
            id: id.to_owned(),
            label: id.to_owned(),
            args,
            command: std::iter::once(how.around())
                .chain(commands.iter().map(format_command))
                .flatten()
                .collect(),
            commands: commands.to_vec(),
            cleans: !how.cleanup.is_empty(),
            has_servers: how.may_start_servers(commands),
            // No command line holds the words of so many.
            arms: u32::try_from(commands.len()).unwrap_or(u32::MAX),
            sampled: how.sampled(commands),
            ..self.clone()
        }
    }

    /// This test of commands, which are also executed by the program of `row`, to be counted.
    pub fn counted_by(self, row: &Test, instructions: Instructions) -> Test {
        let mut counting = self.executed_by(row);
        counting.args.push(format!("instructions={}", instructions as u32));
        Test { counting: Some(Arc::new(counting)), ..self }
    }

    /// This test of commands, which are also executed by the program of `row`, to be sampled; that
    /// program gets `more` arguments.
    pub fn sampled_by(self, row: &Test, more: Vec<String>) -> Test {
        let mut sampling = self.executed_by(row);
        sampling.args.extend(more);
        Test { sampling: Some(Arc::new(sampling)), ..self }
    }

    /// The row's test of the same commands.
    fn executed_by(&self, row: &Test) -> Test {
        let is_shared = |arg: &&String| SHARED_ARGUMENTS.iter().any(|name| arg.starts_with(name));
        let args = self.args.iter().filter(is_shared).cloned().collect();
        let (id, command) = (self.id.clone(), self.command.clone());
        Test { id, args, command, arms: self.arms, has_servers: self.has_servers, ..row.clone() }
    }

    /// The number of commands, from the first, of which the program executes one twice in some
    /// rounds: both of two, by chance, and of more the one that the others are compared with.
    pub fn controls(&self) -> u32 {
        match self.arms {
            0 => 0,
            2 => 2,
            _ => 1,
        }
    }

    /// True if it executes commands of the user's.
    pub fn is_command(&self) -> bool {
        PROGRAMS.contains(&&*self.program)
    }
}

/// The program's sections for a command.
fn format_command(command: &Command) -> Vec<String> {
    let path = |path: &Path| path.display().to_string();
    // What is executed once, as to be counted, is the first build.
    let first = command.builds.first().map(|build| &build.folder);
    let folder = command.folder.as_ref().or(first).map(|folder| path(folder));
    let input = command.input.as_deref().map(path);
    let output = command.output.as_ref().map(|output| match output {
        Output::File(file) => path(file),
        Output::Inherited(number) => format!("fd:{number}"),
    });
    let builds = command.builds.iter().flat_map(|build| {
        let words = [&[path(&build.folder)], &build.words[..]].concat();
        format_section(("unit", &words))
    });
    let sections = [
        ("in", folder.as_slice()),
        ("input", input.as_slice()),
        ("output", output.as_slice()),
        ("before", &command.before),
        ("after", &command.after),
        ("serve", &command.serve),
        ("ready", &command.ready),
        ("prepare", &command.prepare),
        ("conclude", &command.conclude),
        ("run", &command.words),
    ];
    builds.chain(sections.map(format_section).concat()).collect()
}

/// A section: its kind, the number of its words, and these. Empty without words.
fn format_section((kind, words): (&str, &[String])) -> Vec<String> {
    if words.is_empty() {
        return Vec::new();
    }

    [&[kind.to_owned(), words.len().to_string()], words].concat()
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
        let how = Execution {
            timeout: Some(Duration::from_secs(2)),
            warmup: 3,
            ignore: Ignored::All,
            shown_stderr: Some(8),
            ..Execution::default()
        };
        let old = Command { label: "old".into(), words: words("./old x"), ..Command::default() };
        let test = row.executing(&old, &how);
        assert_eq!((&*test.id, &test.command, test.arms), ("old", &words("run 2 ./old x"), 0));
        assert_eq!(test.args, words("warmup=3 ignore=all limit=2000 stderr=8"));
        assert!(test.is_command() && !catalogue.test("pipe").unwrap().is_command());
        let new = Command {
            label: "new".into(),
            words: words("./new"),
            prepare: words("sync"),
            conclude: words("rm x"),
            input: Some("/in".into()),
            output: Some(Output::Inherited(7)),
            folder: Some("/new".into()),
            ..Command::default()
        };
        let around = Execution {
            setup: words("make"),
            cleanup: words("make clean"),
            ..Execution::default()
        };
        let cleaned = row.executing(&old, &around);
        assert_eq!(cleaned.command, words("setup 1 make cleanup 2 make clean run 2 ./old x"));
        assert!(cleaned.cleans && !test.cleans);
        let sections = "run 2 ./old x in 1 /new input 1 /in output 1 fd:7 prepare 1 sync conclude 2 rm x run 1 ./new";
        let both = row.alternating(
            "ab",
            &[old, new],
            &Execution { ignore: Ignored::All, ..Execution::default() },
        );
        assert_eq!(both.command, words(sections));
        assert_eq!((&both.args, both.arms), (&words("ignore=all control=4"), 2));
        let counting = both
            .counted_by(catalogue.test("command-counts").unwrap(), Instructions::Needed)
            .counting
            .unwrap();
        assert_eq!(
            (&counting.args, counting.arms, &*counting.program),
            (&words("ignore=all instructions=2"), 2, "command/count")
        );
        assert_eq!(counting.command, words(sections));
    }

    #[test]
    fn the_program_has_room_for_as_many_commands_and_builds() {
        let header = include_str!("../../../programs/command/arms.h");

        let room = format!("MAX_ARMS = {}, MAX_UNITS = {MAX_BUILDS} }}", MAX_COMMANDS + 1);

        assert!(header.contains(&room), "{room}");
    }
}
