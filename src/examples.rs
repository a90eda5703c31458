//! Examples of every verb, for its help and its manual page.

use clap::Command;

/// A paragraph for every verb: its words, then each command above its purpose.
const EXAMPLES: &str = include_str!("examples.txt");

/// The examples of a verb: a command, and its purpose.
pub(crate) fn for_verb(verb: &str) -> Vec<(&'static str, &'static str)> {
    let mut paragraphs = EXAMPLES.split("\n\n").filter_map(|paragraph| paragraph.split_once('\n'));
    let Some((_, text)) = paragraphs.find(|(name, _)| *name == verb) else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks_exact(2).map(|example| (example[0], example[1].trim())).collect()
}

/// The command line with examples at the end of every verb's help. `path` are the verbs above.
pub(crate) fn with_examples(command: Command, path: &str) -> Command {
    let name = [path, command.get_name()].join(" ").trim().to_owned();
    let mut text = String::new();
    for (words, purpose) in for_verb(&name) {
        text += &format!("  {words}\n      {purpose}\n");
    }

    // Verbs are named without the tool.
    let below = if command.get_name() == "unixmark" { String::new() } else { name };
    let command = command.mut_subcommands(|verb| with_examples(verb, &below));
    if text.is_empty() {
        return command;
    }
    let more = command.get_after_help().map(|more| format!("{more}\n\n")).unwrap_or_default();
    command.after_help(format!("{more}Examples:\n{}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command;

    #[test]
    fn every_paragraph_is_a_verb_s() {
        let is_verb = |name: &str| {
            command().find_subcommand(name.split(' ').next().unwrap_or_default()).is_some()
        };
        let names = EXAMPLES.split("\n\n").filter_map(|paragraph| paragraph.lines().next());
        assert_eq!(names.filter(|name| !is_verb(name)).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    fn check(command: &Command, path: &str) {
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let name = format!("{path} {}", verb.get_name()).trim().to_owned();
            let examples = for_verb(&name);
            assert!(!examples.is_empty(), "`{name}` has no example");
            for (words, _) in examples {
                let words = words.split([' ', '>', '|']).take_while(|word| !word.is_empty());
                let words: Vec<String> = words.map(|word| word.replace('\'', "")).collect();
                assert!(words.join(" ").starts_with(&format!("unixmark {name}")), "{words:?}");
                // A word in quotes is several here.
                let words = words.iter().filter(|word| !["old", "server"].contains(&word.as_str()));
                let read = crate::commands::command().try_get_matches_from(words.clone());
                assert!(read.is_ok(), "{words:?}: {}", read.unwrap_err());
            }
            check(verb, &name);
        }
    }

    /// Every verb has some, and each is a command that is understood.
    #[test]
    fn examples_are_commands() {
        check(&command(), "");
    }

    /// Returns the words of a line as a shell has them, where quotes are around whole words.
    fn split(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(place, part)| match place % 2 {
            1 => vec![part],
            _ => part.split_whitespace().collect(),
        });
        words.map(str::to_owned).collect()
    }

    /// The commands that documents set apart, and those beside known names, are understood.
    #[test]
    fn commands_of_the_documents_are_understood() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let pages =
            std::fs::read_dir(docs.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
        let mut known = 0;
        for page in pages.chain([docs.join("README.md")]) {
            let text = std::fs::read_to_string(&page).unwrap().replace("\\\n        ", "");
            let apart = text.lines().filter_map(|line| line.strip_prefix("    unixmark "));
            let apart = apart.map(|line| line.split("  ").next().unwrap());
            let names = page
                .ends_with("names.md")
                .then(|| text.split('`').filter_map(|span| span.strip_prefix("unixmark ")));
            for line in apart.chain(names.into_iter().flatten()) {
                let words = [vec!["unixmark".to_owned()], split(line)].concat();
                let read = command().try_get_matches_from(&words);
                assert!(read.is_ok(), "{}: {words:?}: {}", page.display(), read.unwrap_err());
                known += 1;
            }
        }
        assert!(known > 40, "{known}");
    }
}
