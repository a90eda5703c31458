//! The command that measures the suspects of a comparison again, as their run was made.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory, Parser};

use super::super::Cli;
use super::Arguments;
use crate::limits::Limit;
use crate::measuring;
use ::report::{Repeat, is_name};
use analysis::{Comparisons, Gate};
use catalogue::NONE;
use journal::{Key, Run};
use words::{Unique, shell};

/// Options that say which cells were measured, where the run was kept and how it was shown. All
/// others say how it was made.
const DROPPED: [&str; 22] = [
    "copies",
    "load",
    "seed",
    "comment",
    "results",
    "format",
    "quiet",
    "verbose",
    "watch",
    "emit",
    "fleet",
    "node",
    "baseline",
    "fail-on",
    "console",
    "task",
    "without-task",
    "without-load",
    "calls",
    "modern",
    "desktop",
    "at",
];

/// The cells to measure again.
struct Suspects {
    tests: Vec<String>,
    copies: String,
    loads: Vec<String>,
}

impl Suspects {
    fn new(gate: &Gate) -> Suspects {
        let keys: Vec<&Key> = gate.suspects.iter().map(|suspect| &suspect.first.cell.key).collect();
        let copies = keys.iter().map(|key| key.copies.to_string()).unique();
        Suspects {
            tests: known_names(keys.iter().map(|key| &key.test)),
            copies: copies.join(","),
            loads: known_names(keys.iter().map(|key| &key.load)),
        }
    }

    /// Their coordinates as options.
    fn options(&self) -> Vec<String> {
        let mut options = vec!["-c".to_owned(), self.copies.clone()];
        if self.loads != [NONE] {
            options.extend(["--load".to_owned(), self.loads.join(",")]);
        }
        options
    }
}

/// Each name once; one that is no plain word, as a stranger's journal may have, is left out.
fn known_names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names.filter(|name| is_name(name)).cloned().unique()
}

/// A sentence with the commands that measure only the suspects again and, unless the runs are
/// rounds, the command that compares the new runs. `is_own` says of each run whether
/// the user made it: of a stranger's command line, words that could run a command or name a file
/// are left out.
pub(super) fn advice(
    comparisons: &Comparisons,
    gate: &Gate,
    arguments: &Arguments,
    is_own: &[bool],
) -> String {
    let suspects = Suspects::new(gate);
    let lead = "to see whether that was chance, measure only these again";

    // For a run whose own command line cannot be repeated.
    let plain_verb = match &arguments.conditions {
        Some([base, condition]) if base == NONE => vec!["cost", condition],
        Some([base, condition]) => vec!["cost", "--against", base, condition],
        None => vec!["run"],
    };
    let runs: Vec<&Run> = comparisons.runs.iter().map(|compared| &compared.results.run).collect();
    let results_words = arguments.results.words();
    let commands = runs.iter().zip(is_own).map(|(run, is_own)| {
        repeating_command(run, *is_own, &suspects, &plain_verb, &results_words)
    });
    let each: Vec<String> = commands.collect();
    let unique = each.clone().into_iter().unique();
    // One run of a command that all have says enough; of several each is made again.
    let is_for_all = unique.len() == 1 || comparisons.asked.is_paired();
    let commands = if is_for_all { unique } else { each };

    // --confirm is not for rounds.
    if comparisons.asked.is_paired() {
        return format!("{lead}, A and B in turn: {}", commands.join(", "));
    }

    // A run that has both conditions is made once.
    let has_both_conditions = arguments.conditions.is_some() && commands.len() == 1;
    let how = match (&commands[..], &runs[..]) {
        ([command], _) if has_both_conditions => format!(": {command}"),
        ([command], [first, second]) => {
            format!(", once as {} was and once as {}: {command}", first.name, second.name)
        }
        ([command], _) => format!(", once as each was: {command}"),
        _ => format!(", as each was: {}", commands.join(", then ")),
    };
    let later_count = if has_both_conditions { 1 } else { runs.len() };
    let compare = comparing_command(comparisons, arguments, later_count);
    format!("{lead}{how}; then `{compare}`")
}

/// The command that compares the runs with a second look, which will be the latest `later_count`
/// runs. More than two runs have no second look: then it compares the later ones alone.
fn comparing_command(
    comparisons: &Comparisons,
    arguments: &Arguments,
    later_count: usize,
) -> String {
    let later: Vec<String> = (0..later_count)
        .rev()
        .map(|age| if age == 0 { "latest".to_owned() } else { format!("latest~{age}") })
        .collect();
    let has_second_look = comparisons.runs.len() == 2;

    let mut words = vec!["unixmark".to_owned(), "compare".to_owned()];
    if has_second_look {
        words.extend(lasting_names(comparisons, &arguments.sides().0));
    } else {
        words.extend(later.clone());
    }
    if let Some([base, condition]) = &arguments.conditions {
        words.extend(["--conditions".to_owned(), format!("{base},{condition}")]);
    }
    words.extend(arguments.results.words());
    // Only a limit of the time makes suspects, so there is one.
    let max_loss = arguments.fail_on.iter().find_map(Limit::time).unwrap_or_default();
    words.extend(["--fail-on".to_owned(), format!("{max_loss}%")]);
    if has_second_look {
        words.push("--confirm".to_owned());
        words.extend(later);
    }
    shell(&words)
}

/// The runs as they can be named later: `latest` will be another run by then.
fn lasting_names(comparisons: &Comparisons, words: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for (word, compared) in words.iter().zip(&comparisons.runs) {
        let is_relative = word.starts_with("latest");
        let name = if is_relative { &compared.results.run.name } else { word };
        names.push(name.clone());
    }
    names
}

/// The command that repeats a run for the suspects alone, with a remark on what was left out of
/// a stranger's. If the run's own words cannot be repeated, the command is `plain_verb` and the
/// suspects. `results_words` say where runs are kept.
fn repeating_command(
    run: &Run,
    is_own: bool,
    suspects: &Suspects,
    plain_verb: &[&str],
    results_words: &[String],
) -> String {
    let repeat = match is_own {
        true => Repeat { words: run.arguments.clone(), left_out: String::new() },
        false => Repeat::new(run),
    };

    let mut words = repeating_words(run, &repeat.words, suspects).unwrap_or_else(|| {
        let mut plain = vec!["unixmark".to_owned()];
        plain.extend(plain_verb.iter().map(|word| (*word).to_owned()));
        plain.extend(suspects.tests.clone());
        plain.extend(suspects.options());
        plain
    });

    words.extend(results_words.iter().cloned());
    let command = shell(&words);
    if repeat.left_out.is_empty() {
        return format!("`{command}`");
    }
    format!("`{command}` (left out: {})", repeat.left_out)
}

/// The words of a run's command line, with the suspects in place of what it measured; `None` if
/// they cannot be parsed, or if their verb does not measure tests.
fn repeating_words(run: &Run, words: &[String], suspects: &Suspects) -> Option<Vec<String>> {
    let typed = std::iter::once("unixmark").chain(words.iter().map(String::as_str));
    let own_words = measuring::to_own_words(typed.map(OsString::from).collect());
    Cli::try_parse_from(&own_words).ok()?;

    let own_words: Vec<String> =
        own_words.into_iter().map(OsString::into_string).collect::<Result<_, _>>().ok()?;
    let verb = own_words.get(1)?;
    let CommandLine { options, names } =
        kept_words(&own_words[2..], Cli::command().find_subcommand(verb)?);

    // Not of `words`: a stranger's `--program` was left out of them, but its arguments were not.
    let has_program = run.arguments.iter().any(|word| word.split('=').next() == Some("--program"));
    let names = match verb.as_str() {
        // The condition is followed by the tests.
        "cost" => names.into_iter().take(1).chain(suspects.tests.clone()).collect(),
        // They are the program's arguments.
        "run" if has_program => names,
        "run" | "scale" | "latency" => suspects.tests.clone(),
        _ => return None,
    };

    let mut repeating = vec!["unixmark".to_owned(), verb.clone()];
    repeating.extend(names);
    repeating.extend(suspects.options());
    repeating.extend(options);
    Some(repeating)
}

/// The words after a verb.
#[derive(Default)]
struct CommandLine {
    /// The options, each followed by its value, if that is a word of its own.
    options: Vec<String>,
    names: Vec<String>,
}

/// Sorts the words after a verb, without the options that are dropped.
fn kept_words(words: &[String], verb: &Command) -> CommandLine {
    let mut kept = CommandLine::default();
    let mut words = words.iter();

    while let Some(word) = words.next() {
        if word == "--" {
            kept.names.extend(words.by_ref().cloned());
            break;
        }
        if word.len() == 1 || !word.starts_with('-') {
            kept.names.push(word.clone());
            continue;
        }

        let (option, has_value) = find_option(word, verb);
        let Some(option) = option else { continue };
        let needs_value = option.get_action().takes_values() && !has_value;
        let value = if needs_value { words.next() } else { None };
        let is_dropped = option.get_long().is_some_and(|long| DROPPED.contains(&long));
        if !is_dropped {
            kept.options.push(word.clone());
            kept.options.extend(value.cloned());
        }
    }
    kept
}

/// The option that a word names, and whether the word has its value, too.
fn find_option<'a>(word: &str, verb: &'a Command) -> (Option<&'a Arg>, bool) {
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split('=').next();
        let option = verb.get_arguments().find(|option| option.get_long() == name);
        return (option, long.contains('='));
    }

    let letter = word.chars().nth(1);
    let option = verb.get_arguments().find(|option| option.get_short() == letter);
    (option, word.chars().count() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(words: &str, is_own: bool) -> String {
        let run = Run {
            arguments: words.split_whitespace().map(str::to_owned).collect(),
            ..Run::default()
        };
        let suspects = Suspects {
            tests: vec!["audio".to_owned()],
            copies: "1".to_owned(),
            loads: vec!["burn".to_owned()],
        };
        repeating_command(&run, is_own, &suspects, &["run"], &[])
    }

    #[test]
    fn a_run_is_repeated_as_it_was_made() {
        for (made, again) in [
            (
                "run --program ./mine size=4096 -m x",
                "run size=4096 -c 1 --load burn --program ./mine",
            ),
            ("run -q pipe -c1 --quick -i 6 --seed=3", "run audio -c 1 --load burn --quick -i 6"),
            (
                "latency -c -W video -t 3 -i 3 --slack 500000 -w none -w burn -X x",
                "latency audio -c 1 --load burn -t 3 -i 3 --slack 500000",
            ),
            (
                "cost nice=5 pipe --against nice=0 --results r",
                "cost nice=5 audio -c 1 --load burn --against nice=0",
            ),
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
            said.starts_with(
                "`unixmark run size=4096 -c 1 --load burn -i 6` (left out: --program and --meter: "
            ),
            "{said}"
        );
    }
}
