//! The stand-in for the half that measures where there is no Linux: its verbs say so, and which
//! ones work.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use crate::status::Status;
use catalogue::{Need, Switch};

/// The text of `unixmark` without a verb: a command for each question.
pub(crate) const QUESTIONS: &str = "\
Measuring needs Linux. What do you want to know about runs that were measured there?

  what did a run find?                   unixmark report run.jsonl
  what changed between two runs?         unixmark compare one two
  what does UnixBench's report say?      unixmark import report.txt
  how do many machines compare?          unixmark site runs --into www
  which nodes are slow?                  unixmark collect out --into night

`unixmark help` shows all verbs, and `unixmark help report` the options of one.
";

/// The verbs that need Linux.
const VERBS: [&str; 18] = [
    "run",
    "ab",
    "hyperfine",
    "bisect",
    "card",
    "unixbench",
    "latency",
    "scale",
    "cost",
    "boots",
    "quiet",
    "bill",
    "burnin",
    "doctor",
    "new",
    "build",
    "clean",
    "restore",
];

/// A verb that needs Linux, by its name.
#[derive(Debug)]
pub(crate) struct Verb(String);

impl Verb {
    /// # Errors
    /// There is no Linux.
    pub(crate) fn run(&self) -> Result<Status> {
        refuse_without_linux(&self.0)
    }
}

impl FromArgMatches for Verb {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Verb(matches.subcommand_name().unwrap_or_default().to_owned()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Verb::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Verb {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(
            VERBS.iter().map(|name| Slurm::augment_args(Command::default().name(*name))),
        )
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Verb::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        VERBS.contains(&name)
    }
}

/// The words after `fleet slurm`, or after a verb; any are taken.
#[derive(Debug, Args)]
#[command(about = "Needs Linux", hide = true, disable_help_flag = true)]
pub(crate) struct Slurm {
    #[arg(num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

impl Slurm {
    /// # Errors
    /// There is no Linux.
    pub(crate) fn run(&self) -> Result<Status> {
        refuse_without_linux("fleet slurm")
    }
}

fn refuse_without_linux(verb: &str) -> Result<Status> {
    bail!(
        "`{verb}` needs Linux; report, compare, import, export, site, collect, fleet and list work here as well"
    )
}

/// Reading runs needs no signals.
pub(crate) fn meet_signals() {}

/// No command line is anything but a verb.
pub(crate) fn run_hidden(_: &[OsString]) -> Option<ExitCode> {
    None
}

/// The words as they are: the tools whose command lines are translated measure.
pub(crate) fn to_own_words(words: Vec<OsString>) -> Vec<OsString> {
    words
}

/// Nothing was meant but what was typed.
pub(crate) fn guess_command(_: &[OsString]) -> Option<String> {
    None
}

/// No caller expects UnixBench's exit codes.
pub(crate) fn is_unixbench(_: &[OsString]) -> bool {
    false
}

/// No caller expects hyperfine's exit codes.
pub(crate) fn is_hyperfine(_: &[OsString]) -> bool {
    false
}

/// No run that was killed here can have switched anything.
pub(crate) fn mention_left_changes() {}

/// The reason why something with these needs is not measured here: nothing is yet, and some never
/// will be.
pub(crate) fn unmet(needs: &[Need]) -> Option<String> {
    let reason = if needs.contains(&Need::Linux) {
        "it needs Linux"
    } else {
        "it is measured on Linux only, so far"
    };
    Some(reason.to_owned())
}

/// The reason why a switch is not switched here.
pub(crate) fn unavailable(switch: &Switch, _: &str) -> Option<String> {
    unmet(&switch.needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides of the seam have the same verbs.
    #[test]
    fn every_verb_that_measures_is_known_elsewhere() {
        let verbs = |command: Command| -> Vec<String> {
            command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
        };
        let there = verbs(crate::measuring::Verb::augment_subcommands(Command::new("unixmark")));
        assert_eq!(verbs(Verb::augment_subcommands(Command::new("unixmark"))), there);
    }

    #[test]
    fn rows_that_need_linux_are_told_from_those_that_could_be_measured_here() {
        let catalogue = catalogue::Catalogue::load().unwrap();
        let why = |id: &str| unmet(&catalogue.test(id).unwrap().needs).unwrap();
        assert_eq!(why("watch-fanotify"), "it needs Linux");
        assert_eq!(why("dhry2reg"), "it is measured on Linux only, so far");
        assert_eq!(why("session-tree"), "it needs Linux", "whatever else it needs");
        let switch = |id: &str| catalogue.switches.iter().find(|switch| switch.id == id).unwrap();
        assert_eq!(unavailable(switch("governor"), "powersave").unwrap(), "it needs Linux");
        assert_ne!(unavailable(switch("nice"), "5").unwrap(), "it needs Linux");
    }

    #[test]
    fn a_verb_that_measures_says_what_it_needs() {
        let command = Verb::augment_subcommands(Command::new("unixmark"));
        for words in
            [&["unixmark", "run", "pipe", "-c", "1", "--help"][..], &["unixmark", "restore"]]
        {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            let error = Verb::from_arg_matches(&matches).unwrap().run().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{}` needs Linux; report", words[1])), "{error}");
        }
    }
}
