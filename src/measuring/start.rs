//! The first thing a user types: no verb at all, or the words of one without it.

use std::ffi::OsString;

use crate::commands::command;
use catalogue::Catalogue;

/// The text of `unixmark` without a verb: a command for each question.
pub(crate) const QUESTIONS: &str = "\
What do you want to know?

  which of two commands is faster?   unixmark ab './old x' './new x'     1 min
  what does a setting cost?          unixmark cost nice=5 --budget 5m    5 min
  what is this new server?           unixmark card                       3 min
  does it stay smooth under load?    unixmark latency --quick            1.5 min
  how well does it scale?            unixmark scale                      4 min
  one number, UnixBench's index      unixmark run --budget 2m            2 min
  UnixBench, to the letter           unixmark run --procedure classic    1 h
  is this machine fit to measure?    unixmark doctor
  what changed between two runs?     unixmark compare latest~1 latest
  what else can be measured?         unixmark list

The times are those of two processors. `unixmark help` shows all verbs, and
`unixmark help run` the options of one; `--dry-run` says how long it takes.
";

/// Replaces Interbench's `-c`, which keeps no run, by `--console`: a `-c` without a number of
/// copies after it. A command after `--` is the user's.
pub(super) fn translate_interbench(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|verb| verb != "latency") {
        return words;
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for place in 0..end {
        let has_number = words.get(place + 1).is_some_and(begins_as_copies);
        if words[place] == "-c" && !has_number {
            words[place] = "--console".into();
        }
    }
    words
}

/// True if a word may be a number of copies, such as `2` or `max/2`.
fn begins_as_copies(word: &OsString) -> bool {
    let text = word.to_string_lossy();
    text.starts_with(|first: char| first.is_ascii_digit()) || text.starts_with("max")
}

/// The command that was probably meant by words without a verb: tests or options of `run`, or a
/// condition.
pub(crate) fn guess_command(words: &[OsString]) -> Option<String> {
    let words: Vec<String> =
        words.iter().skip(1).map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
    if is_verb(words.first()?) {
        return None;
    }

    let catalogue = Catalogue::load().ok()?;
    let [run, cost] = ["run", "cost"].map(|verb| [&[verb.to_owned()], &words[..]].concat());
    if parse_names(&run).is_some_and(|names| catalogue.expand(&names).is_ok()) {
        return Some(format!("unixmark {}", words::shell(&run)));
    }
    let conditions: Vec<String> = words.first()?.split(',').map(str::to_owned).collect();
    if parse_names(&cost).is_some() && catalogue.expand_conditions(&conditions).is_ok() {
        return Some(format!("unixmark {}", words::shell(&cost)));
    }
    None
}

/// The tests that a verb and its words name; `None` if they cannot be parsed.
fn parse_names(words: &[String]) -> Option<Vec<String>> {
    let line = [&["unixmark".to_owned()], words].concat();
    let matches = command().try_get_matches_from(line).ok()?;
    let (_, arguments) = matches.subcommand()?;
    Some(arguments.get_many::<String>("names").into_iter().flatten().cloned().collect())
}

/// True if a word is a verb of the command line.
pub(super) fn is_verb(word: &str) -> bool {
    command().get_subcommands().any(|verb| verb.get_name() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_missing_verb_is_found() {
        for (typed, guessed) in [
            ("unixmark dhry2reg", Some("unixmark run dhry2reg")),
            ("unixmark -c 1 -c 4 dhry2reg", Some("unixmark run -c 1 -c 4 dhry2reg")),
            ("unixmark -q", Some("unixmark run -q")),
            ("unixmark nice=5 pipe", Some("unixmark cost nice=5 pipe")),
            ("unixmark run nothing", None),
            ("unixmark rum", None),
            ("unixmark --nothing", None),
        ] {
            assert_eq!(guess_command(&words(typed)).as_deref(), guessed, "{typed}");
        }
    }

    #[test]
    fn a_letter_of_interbench() {
        for (typed, translated) in [
            ("unixmark latency -c -t 30", "unixmark latency --console -t 30"),
            ("unixmark latency audio -c", "unixmark latency audio --console"),
            ("unixmark latency -c 2 -c max", "unixmark latency -c 2 -c max"),
            ("unixmark latency -c -- sh -c true", "unixmark latency --console -- sh -c true"),
            ("unixmark run -c x", "unixmark run -c x"),
        ] {
            assert_eq!(translate_interbench(words(typed)), words(translated), "{typed}");
        }
    }

    /// Every command that it names is one.
    #[test]
    fn the_questions_have_commands() {
        let lines: Vec<&str> = QUESTIONS.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(lines.len() >= 8 && QUESTIONS.lines().all(|line| line.chars().count() <= 80));
        for line in lines {
            let (_, command) = line.split_once("unixmark ").unwrap();
            let command = command.split("   ").next().unwrap();
            let read = super::command().try_get_matches_from(words(&format!("unixmark {command}")));
            assert!(read.is_ok(), "{command}");
        }
    }
}
