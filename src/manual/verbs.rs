//! The pages of the verbs.

use clap::{Arg, Command};

use super::roff::{Page, bold, capitalised, italic, plain};
use crate::examples;
use crate::status::CODES;

/// Files: the option whose verbs use each, its name, and what it is.
const FILES: &str = include_str!("files.txt");

/// Variables, likewise.
const VARIABLES: &str = include_str!("variables.txt");

/// Returns the page of a command; `name` is that of the page.
pub(super) fn page(command: &Command, name: &str, path: &str) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = Page::new(name, 1, &lower(&about));
    synopsis(&mut page, command, path);
    page.section("DESCRIPTION");
    page.text(&description(command, &about));
    let (codes, remarks): (Vec<String>, Vec<String>) =
        remarks(command).into_iter().partition(|remark| remark.starts_with("Exit codes"));
    remarks.iter().for_each(|remark| page.paragraph(remark));
    verbs(&mut page, command, name);
    options(&mut page, command);
    examples(&mut page, path);
    table(&mut page, "FILES", FILES, command);
    environment(&mut page, command);
    page.section("EXIT STATUS");
    match codes.first().filter(|_| !path.is_empty()) {
        Some(own) => page.text(own),
        None => CODES
            .iter()
            .for_each(|(code, meaning)| page.tagged(&bold(code), &format!("{meaning}."))),
    }
    see_also(&mut page, name);
    page.finish()
}

/// A sentence as the words after a name.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn description(command: &Command, about: &str) -> String {
    command.get_long_about().map(ToString::to_string).unwrap_or_else(|| format!("{about}."))
}

/// Returns the paragraphs at the end of a command's help, up to its examples.
fn remarks(command: &Command) -> Vec<String> {
    let all = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let remarks = all.split("Examples:\n").next().unwrap_or_default().split("\n\n").map(str::trim);
    remarks.filter(|remark| !remark.is_empty()).map(str::to_owned).collect()
}

fn synopsis(page: &mut Page, command: &Command, path: &str) {
    page.section("SYNOPSIS");
    let usage = command.clone().render_usage().to_string();
    let tool = format!("unixmark {path}");
    for (place, line) in usage.trim_start_matches("Usage:").lines().enumerate() {
        if place > 0 {
            page.line(".br");
        }
        let words = line.trim().strip_prefix(tool.trim()).unwrap_or(line).trim();
        page.line(format!("{} {}", bold(tool.trim()), plain(words)).trim());
    }
}

/// The verbs below a command, each with its page.
fn verbs(page: &mut Page, command: &Command, name: &str) {
    let mut below = super::below(command).peekable();
    if below.peek().is_some() {
        page.section("COMMANDS");
    }
    for verb in below {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let verb = format!("{name}-{}", verb.get_name());
        page.tagged(&format!(".BR {} (1)", plain(&verb)), &format!("{about}."));
    }
}

fn options(page: &mut Page, command: &Command) {
    let all: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let mut headings: Vec<&str> = all.iter().filter_map(|arg| arg.get_help_heading()).collect();
    headings.dedup();
    page.section("OPTIONS");
    for arg in all.iter().filter(|arg| arg.get_help_heading().is_none()) {
        option(page, arg);
    }
    for heading in headings {
        page.subsection(heading);
        all.iter()
            .filter(|arg| arg.get_help_heading() == Some(heading))
            .for_each(|arg| option(page, arg));
    }
}

fn option(page: &mut Page, arg: &Arg) {
    let value = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| italic(name))
        .collect::<Vec<_>>()
        .join(" ");
    let value = if arg.get_action().takes_values() { value } else { String::new() };
    let letter = arg.get_short().map(|letter| bold(&format!("-{letter}")));
    let long = arg.get_long().map(|long| bold(&format!("--{long}")));
    let names = letter.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{}.", help.trim_end_matches('.'));
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        text += &format!(" [default: {}]", defaults.join(" "));
    }
    page.tagged([names, value].join(" ").trim(), &text);
    let values: Vec<_> =
        arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    if !arg.get_action().takes_values() || values.is_empty() {
        return;
    }
    page.line(".RS");
    for value in values {
        let help = value.get_help().map(|help| format!("{help}.")).unwrap_or_default();
        page.line(".TP");
        page.line(&bold(value.get_name()));
        if !help.is_empty() {
            page.text(&help);
        }
    }
    page.line(".RE");
}

fn examples(page: &mut Page, path: &str) {
    let examples = examples::for_verb(if path.is_empty() { "run" } else { path });
    page.section("EXAMPLES");
    for (command, what) in examples {
        page.paragraph(&format!("{}:", capitalised(what)));
        page.verbatim(command);
    }
}

/// Returns true if a command, or one below it, has an option.
fn has(command: &Command, option: &str) -> bool {
    let own = command.get_arguments().any(|arg| arg.get_long() == Some(option));
    option.is_empty() || own || command.get_subcommands().any(|verb| has(verb, option))
}

fn table(page: &mut Page, heading: &str, rows: &str, command: &Command) {
    page.section(heading);
    for row in rows.lines() {
        let fields: Vec<&str> = row.split(" | ").collect();
        if let [option, name, what] = fields[..]
            && has(command, option.trim())
        {
            page.tagged(&italic(name), &format!("{what}."));
        }
    }
}

/// The variables of the table, and those that stand in for options.
fn environment(page: &mut Page, command: &Command) {
    table(page, "ENVIRONMENT", VARIABLES, command);
    for arg in command.get_arguments() {
        if let (Some(variable), Some(long)) = (arg.get_env(), arg.get_long()) {
            page.tagged(&italic(&variable.to_string_lossy()), &format!("Instead of `--{long}`."));
        }
    }
}

fn see_also(page: &mut Page, name: &str) {
    page.section("SEE ALSO");
    let all = [("unixmark", 1), ("unixmark-tests", 7), ("unixmark-conditions", 7)];
    let others: Vec<_> = all.iter().filter(|(other, _)| *other != name).collect();
    for (place, (other, section)) in others.iter().enumerate() {
        let comma = if place + 1 < others.len() { "," } else { "" };
        page.line(&format!(".BR {} ({section}){comma}", plain(other)));
    }
}
