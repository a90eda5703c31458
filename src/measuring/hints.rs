//! Hints for command lines that are right for another tool: commands without quotes, and benchmark
//! programs whose time nobody wants to know.

use std::path::Path;

/// Words of a command that tell which benchmark program it is, and the `--harness` that reads it.
const HARNESSES: [(&[&str], &str); 6] = [
    (&["go", "test", "-bench"], "gobench"),
    (&["pytest", "--benchmark"], "pytest"),
    (&["cargo", "bench"], "criterion"),
    (&["cargo", "criterion"], "criterion"),
    (&["--benchmark_format"], "gbench"),
    (&["jmh"], "jmh"),
];

/// A warning if a command prints figures of its own, and its time alone would be compared.
pub(super) fn suggest_harness(command: &str) -> Option<String> {
    let (_, harness) = HARNESSES.into_iter().find(|(words, _)| has_words(command, words))?;
    Some(format!(
        "'{}' is timed as a whole; to compare the figures that it prints, add --harness {harness}",
        words::shortened(command, 60)
    ))
}

/// True if words of a command begin as `beginnings` do, in their order. Only the last part of a
/// path counts.
fn has_words(command: &str, beginnings: &[&str]) -> bool {
    let mut missing = beginnings;
    for word in command.split_whitespace() {
        let is_option = word.starts_with('-');
        let name = if is_option { word } else { word.rsplit('/').next().unwrap_or(word) };
        if let [next, rest @ ..] = missing
            && name.starts_with(next)
        {
            missing = rest;
        }
    }
    missing.is_empty()
}

/// The command line that was probably meant where some commands are files that cannot be executed:
/// each file belongs to the command before it. `None` if all may be commands.
pub(super) fn suggest_quotes(commands: &[String]) -> Option<String> {
    let argument = commands.iter().skip(1).find(|word| is_argument(word))?;

    let mut quoted: Vec<String> = Vec::new();
    for word in commands {
        match quoted.last_mut() {
            Some(command) if is_argument(word) => *command += &format!(" {word}"),
            _ => quoted.push(word.clone()),
        }
    }
    let more = if quoted.len() == 1 { " 'ANOTHER COMMAND'" } else { "" };
    Some(format!(
        "'{argument}' is not executable; each command is one quoted word: did you mean `unixmark ab {}{more}`?",
        words::shell(&quoted)
    ))
}

/// True of one word that names a file which cannot be executed.
fn is_argument(word: &str) -> bool {
    let path = Path::new(word);
    !word.contains(char::is_whitespace)
        && path.is_file()
        && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User review of 2026-11, person 3: a minute of `go test` was timed without a word.
    #[test]
    fn benchmark_programs_are_known_by_their_words() {
        for (command, harness) in [
            ("go test -bench . ./...", Some("gobench")),
            ("go test ./... -bench=Fields", Some("gobench")),
            ("go test ./...", None),
            ("venv/bin/python -m pytest --benchmark-json=/dev/stdout", Some("pytest")),
            ("pytest -q", None),
            ("cargo +nightly bench", Some("criterion")),
            ("build/bench --benchmark_format=json", Some("gbench")),
            ("java -jar target/jmh.jar", Some("jmh")),
            ("sort data", None),
        ] {
            let hint = suggest_harness(command);
            let suggested = hint.as_ref().and_then(|hint| hint.rsplit(' ').next());
            assert_eq!(suggested, harness, "{command}");
        }
    }

    /// User review of 2026-11, persons 2 and 9.
    #[test]
    fn arguments_that_stand_alone_are_quoted_with_their_command() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data.json").display().to_string();
        std::fs::write(&data, "").unwrap();
        let hint = |words: &[&str]| {
            suggest_quotes(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };

        let two = hint(&["./old", &data, "./new", &data]).unwrap();
        let one = hint(&["python", &data]).unwrap();

        assert!(two.ends_with(&format!("ab './old {data}' './new {data}'`?")), "{two}");
        assert!(one.ends_with(&format!("ab 'python {data}' 'ANOTHER COMMAND'`?")), "{one}");
        assert_eq!(hint(&["true", "sh"]), None);
        assert_eq!(hint(&[&format!("cat {data}"), "true"]), None);
    }
}
