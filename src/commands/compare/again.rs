//! The command that measures the suspects of a comparison again, as their run was made.

use std::ffi::OsString;

use clap::{Command, CommandFactory, Parser};

use super::super::Cli;
use super::Arguments;
use crate::limits::Limit;
use crate::measuring;
use ::report::{Repeat, is_name};
use analysis::{Compared, Comparison, Comparisons, Gate};
use catalogue::NONE;
use journal::Run;
use words::{Unique, shell};

/// Options that say which cells were measured, where the run was kept and how it was shown. All others say how it was
/// made.
const DROPPED: [&str; 22] = [
    "copies", "load", "seed", "comment", "results", "format", "quiet", "verbose", "watch", "emit", "fleet", "node",
    "baseline", "fail-on", "console", "task", "without-task", "without-load", "calls", "modern", "desktop", "at",
];

/// The cells to measure again.
struct Suspects {
    tests: Vec<String>,
    copies: String,
    loads: Vec<String>,
}

impl Suspects {
    fn new(gate: &Gate) -> Suspects {
        let each = |of: fn(&Comparison) -> String| -> Vec<String> {
            gate.suspects.iter().map(|suspect| of(&suspect.first)).unique()
        };
        let names = |of| each(of).into_iter().filter(|name| is_name(name)).collect();
        Suspects {
            tests: names(|one| one.cell.key.test.clone()),
            copies: each(|one| one.cell.key.copies.to_string()).join(","),
            loads: names(|one| one.cell.key.load.clone()),
        }
    }

    /// Their coordinates as options.
    fn options(&self) -> Vec<String> {
        let load = (self.loads != [NONE]).then(|| ["--load".to_owned(), self.loads.join(",")]);
        ["-c".to_owned(), self.copies.clone()].into_iter().chain(load.into_iter().flatten()).collect()
    }
}

/// Returns how to look at the suspects again, and at nothing else; `own` are the runs that the user made.
pub(super) fn advice(comparisons: &Comparisons, gate: &Gate, arguments: &Arguments, own: &[bool]) -> String {
    let suspects = Suspects::new(gate);
    // Only a loss of time has suspects.
    let size = arguments.fail_on.iter().find_map(Limit::time).unwrap_or_default();
    let names = names(comparisons, &arguments.sides().0).join(" ");
    let verb = match &arguments.conditions {
        Some([base, condition]) if base == NONE => vec!["cost", condition],
        Some([base, condition]) => vec!["cost", "--against", base, condition],
        None => vec!["run"],
    };
    let command = |(run, own): (&Compared, &bool)| command(&run.results.run, *own, &suspects, &verb);
    let commands: Vec<String> = comparisons.runs.iter().zip(own).map(command).unique();
    let chance = "to see whether that was chance, measure only these again";
    if let Some([base, condition]) = &arguments.conditions {
        return format!(
            "{chance}: {}; then `unixmark compare {names} --conditions {base},{condition} --fail-on {size}% --confirm latest`",
            commands.join(", ")
        );
    }
    if comparisons.asked.is_paired() {
        return format!("{chance}, A and B in turn: {}", commands.join(", "));
    }
    let runs = &comparisons.runs;
    let how = match &commands[..] {
        [both] => format!("once as {} was and once as {}: {both}", runs[0].results.run.name, runs[1].results.run.name),
        each => format!("as each was: {}", each.join(", then ")),
    };
    format!("{chance}, {how}; then `unixmark compare {names} --fail-on {size}% --confirm latest~1 latest`")
}

/// The runs as they can be named later: `latest` will be another run by then.
fn names(comparisons: &Comparisons, words: &[String]) -> Vec<String> {
    let name = |(word, run): (&String, &Compared)| {
        let name = if word.starts_with("latest") { &run.results.run.name } else { word };
        shell(std::slice::from_ref(name))
    };
    words.iter().zip(&comparisons.runs).map(name).collect()
}

/// The command that repeats a run for the suspects alone, with a remark on what was left out of
/// another's; for a run that was not made by this tool a plain one of `verb`.
fn command(run: &Run, is_own: bool, suspects: &Suspects, verb: &[&str]) -> String {
    let plain = || {
        let verb = ["unixmark"].iter().chain(verb).map(|word| (*word).to_owned());
        verb.chain(suspects.tests.clone()).chain(suspects.options()).collect::<Vec<String>>()
    };
    let own = || Repeat { words: run.arguments.clone(), left_out: String::new() };
    let repeat = if is_own { own() } else { Repeat::new(run) };
    let command = shell(&again(run, &repeat.words, suspects).unwrap_or_else(plain));
    let left_out = if repeat.left_out.is_empty() { String::new() } else { format!(" (left out: {})", repeat.left_out) };
    format!("`{command}`{left_out}")
}

/// The words of a run's command line, with the suspects in place of what it measured.
fn again(run: &Run, words: &[String], suspects: &Suspects) -> Option<Vec<String>> {
    let words = std::iter::once("unixmark").chain(words.iter().map(String::as_str)).map(OsString::from);
    let words = measuring::words(words.collect());
    Cli::try_parse_from(&words).ok()?;
    let words: Vec<String> = words.into_iter().map(OsString::into_string).collect::<Result<_, _>>().ok()?;
    let verb = words.get(1)?;
    let command = Cli::command();
    let Kept { options, names } = kept(&words[2..], command.find_subcommand(verb)?);
    let has_program = run.arguments.iter().any(|word| word.split('=').next() == Some("--program"));
    let names = match verb.as_str() {
        // The condition is followed by the tests.
        "cost" => names.into_iter().take(1).chain(suspects.tests.clone()).collect(),
        // They are the program's arguments.
        "run" if has_program => names,
        "run" | "scale" | "latency" => suspects.tests.clone(),
        _ => return None,
    };
    let lead = ["unixmark".to_owned(), verb.clone()];
    Some(lead.into_iter().chain(names).chain(suspects.options()).chain(options).collect())
}

/// Parts of a command line.
#[derive(Default)]
struct Kept {
    options: Vec<String>,
    names: Vec<String>,
}

/// Sorts the words after a verb, without the options that are dropped.
fn kept(words: &[String], verb: &Command) -> Kept {
    let mut kept = Kept::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (arg, has_value) = match word.strip_prefix("--") {
            Some("") => {
                kept.names.extend(words.by_ref().cloned());
                break;
            }
            Some(long) => {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                (verb.get_arguments().find(|arg| arg.get_long() == Some(name)), value.is_some())
            }
            None if word.len() > 1 && word.starts_with('-') => {
                let letter = word.chars().nth(1);
                (verb.get_arguments().find(|arg| arg.get_short() == letter), word.chars().count() > 2)
            }
            None => {
                kept.names.push(word.clone());
                continue;
            }
        };
        let Some(arg) = arg else { continue };
        let value = (arg.get_action().takes_values() && !has_value).then(|| words.next()).flatten();
        if !arg.get_long().is_some_and(|long| DROPPED.contains(&long)) {
            kept.options.extend(std::iter::once(word).chain(value).cloned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(words: &str, is_own: bool) -> String {
        let run = Run { arguments: words.split_whitespace().map(str::to_owned).collect(), ..Run::default() };
        let suspects =
            Suspects { tests: vec!["audio".to_owned()], copies: "1".to_owned(), loads: vec!["burn".to_owned()] };
        command(&run, is_own, &suspects, &["run"])
    }

    #[test]
    fn a_run_is_repeated_as_it_was_made() {
        for (made, again) in [
            ("run --program ./mine size=4096 -m x", "run size=4096 -c 1 --load burn --program ./mine"),
            ("run -q pipe -c1 --quick -i 6 --seed=3", "run audio -c 1 --load burn --quick -i 6"),
            (
                "latency -c -W video -t 3 -i 3 --slack 500000 -w none -w burn -X x",
                "latency audio -c 1 --load burn -t 3 -i 3 --slack 500000",
            ),
            ("cost nice=5 pipe --against nice=0 --results r", "cost nice=5 audio -c 1 --load burn --against nice=0"),
            ("scale --pin core memory -- pipe", "scale audio -c 1 --load burn --pin core"),
            // Not made by a verb that measures cells.
            ("", "run audio -c 1 --load burn"),
            ("import report.txt", "run audio -c 1 --load burn"),
        ] {
            assert_eq!(repeated(made, true), format!("`unixmark {again}`"), "{made}");
        }
    }

    /// The words are those of whoever wrote the journal.
    #[test]
    fn what_could_run_a_command_is_left_out_of_anothers() {
        let said = repeated("run --program ./mine size=4096 --meter=curl -i 6", false);
        assert!(
            said.starts_with("`unixmark run size=4096 -c 1 --load burn -i 6` (left out: --program and --meter: "),
            "{said}"
        );
    }
}
