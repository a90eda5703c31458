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

/// Interbench's `-c`, which keeps no run, is `-c` without a number of copies after it. A command after `--` is the
/// user's.
pub(super) fn interbench(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|verb| verb != "latency") {
        return words;
    }
    let is_number = |word: &OsString| {
        let text = word.to_string_lossy();
        text.starts_with(|first: char| first.is_ascii_digit()) || text.starts_with("max")
    };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_alone = |place: usize| place < end && words[place] == "-c" && !words.get(place + 1).is_some_and(is_number);
    (0..words.len()).map(|place| if is_alone(place) { "--console".into() } else { words[place].clone() }).collect()
}

/// Returns the command that was probably meant by words without a verb: tests or options of `run`, or a condition.
pub(crate) fn meant(words: &[OsString]) -> Option<String> {
    let words: Vec<String> =
        words.iter().skip(1).map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
    if is_verb(words.first()?) {
        return None;
    }
    let catalogue = Catalogue::load().ok()?;
    let [run, cost] = ["run", "cost"].map(|verb| [&[verb.to_owned()], &words[..]].concat());
    let named = |line: &[String]| {
        let matches = command().try_get_matches_from([&["unixmark".to_owned()], line].concat()).ok()?;
        let names = matches.subcommand()?.1.get_many::<String>("names");
        Some(names.into_iter().flatten().cloned().collect::<Vec<String>>())
    };
    if named(&run).is_some_and(|names| catalogue.expand(&names).is_ok()) {
        return Some(format!("unixmark {}", words::shell(&run)));
    }
    let conditions: Vec<String> = words.first()?.split(',').map(str::to_owned).collect();
    (named(&cost).is_some() && catalogue.expand_conditions(&conditions).is_ok())
        .then(|| format!("unixmark {}", words::shell(&cost)))
}

/// Returns true if a word is a verb of the command line.
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
        let meant = |text: &str| meant(&words(text));
        assert_eq!(meant("unixmark dhry2reg").unwrap(), "unixmark run dhry2reg");
        assert_eq!(meant("unixmark -c 1 -c 4 dhry2reg").unwrap(), "unixmark run -c 1 -c 4 dhry2reg");
        assert_eq!(meant("unixmark -q").unwrap(), "unixmark run -q");
        assert_eq!(meant("unixmark nice=5 pipe").unwrap(), "unixmark cost nice=5 pipe");
        assert_eq!(
            (meant("unixmark run nothing"), meant("unixmark rum"), meant("unixmark --nothing")),
            (None, None, None)
        );
    }

    #[test]
    fn a_letter_of_interbench() {
        let read = |text: &str| interbench(words(text)).join(std::ffi::OsStr::new(" ")).into_string().unwrap();
        assert_eq!(read("unixmark latency -c -t 30"), "unixmark latency --console -t 30");
        assert_eq!(read("unixmark latency audio -c"), "unixmark latency audio --console");
        assert_eq!(read("unixmark latency -c 2 -c max"), "unixmark latency -c 2 -c max");
        assert_eq!(read("unixmark latency -c -- sh -c true"), "unixmark latency --console -- sh -c true");
        assert_eq!(read("unixmark run -c x"), "unixmark run -c x");
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
