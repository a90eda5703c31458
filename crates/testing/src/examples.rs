//! The examples of a document: blocks of ```` ```console ````, executed as a reader would type
//! them.
//!
//! ```text
//! $ unixmark list runs        a command, for a shell
//! ? 1                         its exit status, if that is not 0
//! host-[..]-01  [..]          what it prints, on stdout and stderr
//! ...
//! ```
//!
//! `[..]` stands for any characters of a line, and a line of `...` for any number of lines.

use std::fs::File;
use std::path::Path;
use std::process::Command;

/// A command of a document, and what the document says of it.
#[derive(Debug, PartialEq)]
struct Example {
    command: String,
    status: i32,
    output: Vec<String>,
}

/// Executes the examples of a document one after the other, in the directory `home`.
///
/// # Panics
/// One of them ends otherwise, or prints something else, than the document says.
pub fn check_examples(document: &str, home: &Path, environment: &[(&str, &str)]) {
    let examples = parse_examples(document);
    assert!(!examples.is_empty(), "the document has no example");

    for example in examples {
        let said = home.join("said");
        let file = File::create(&said).unwrap();
        let status = Command::new("sh")
            .args(["-c", &example.command])
            .current_dir(home)
            .envs(environment.iter().copied())
            .stdin(std::process::Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        let printed = std::fs::read_to_string(&said).unwrap();
        std::fs::remove_file(&said).unwrap();

        let lines: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        assert!(
            status.code() == Some(example.status) && match_lines(&example.output, &lines),
            "$ {}\nends with {status}, not {}, or does not print\n{}\nbut\n{printed}",
            example.command,
            example.status,
            example.output.join("\n")
        );
    }
}

fn parse_examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_console = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
            continue;
        }
        if !is_console {
            continue;
        }

        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_owned();
            examples.push(Example { command, status: 0, output: Vec::new() });
            continue;
        }
        let Some(example) = examples.last_mut() else { continue };
        match line.strip_prefix("? ") {
            Some(status) => example.status = status.parse().unwrap(),
            None => example.output.push(line.trim_end().to_owned()),
        }
    }

    // The empty lines that separate a command from the next are not what it prints.
    for example in &mut examples {
        while example.output.last().is_some_and(String::is_empty) {
            example.output.pop();
        }
    }
    examples
}

/// True if the printed lines are as the document says.
fn match_lines(expected: &[String], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=printed.len()).any(|skipped| match_lines(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| match_line(first, line) && match_lines(rest, others)),
    }
}

/// True if a printed line is as the document says.
fn match_line(expected: &str, printed: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return expected == printed };
    let Some(printed) = printed.strip_prefix(start) else { return false };
    let mut places = printed.char_indices().map(|(place, _)| place).chain([printed.len()]);
    places.any(|place| match_line(rest, &printed[place..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_the_console_blocks_of_a_document() {
        let document = "$ not one\n```console\n$ a b\n? 2\nx\n\ny\n\n$ c\n```\n```sh\n$ d\n```\n";
        let example = |command: &str, status, output: &[&str]| Example {
            command: command.to_owned(),
            status,
            output: output.iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(
            parse_examples(document),
            [example("a b", 2, &["x", "", "y"]), example("c", 0, &[])]
        );
    }

    #[test]
    fn brackets_stand_for_characters_and_dots_for_lines() {
        let matches = |expected: &str, printed: &str| {
            let expected: Vec<String> = expected.lines().map(str::to_owned).collect();
            match_lines(&expected, &printed.lines().collect::<Vec<&str>>())
        };
        assert!(matches("a[..]c[..]", "abbbcd") && matches("a[..]c", "aäc") && matches("", ""));
        assert!(!matches("a[..]c", "abcd") && !matches("ab", "abc") && !matches("", "a"));
        assert!(
            matches("a\n...\nb", "a\nx\ny\nb") && matches("...\nb", "b") && matches("a\n...", "a")
        );
        assert!(!matches("a\n...\nb", "a\nx\nb\ny") && !matches("a\nb", "a"));
    }
}
