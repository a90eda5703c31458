//! Completions of a shell after TAB: the names of the catalogue, runs and fleet runs, by what a value is called in the
//! help.

mod shells;

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use crate::options::stored;
use catalogue::{Catalogue, Group, NONE, Role, Test};
use fleet::Fleet;

pub(crate) use shells::{answer, registration};

/// Completes a word.
type Complete = fn(&str) -> Vec<CompletionCandidate>;

/// The names of values in the help, and their completers.
const COMPLETERS: [(&str, Complete); 10] = [
    ("TEST|GROUP", |word| tests_and_groups(word, Test::is_rate)),
    ("TASK", |word| tests_and_groups(word, Test::is_task)),
    ("TEST", trends),
    ("GROUP", |word| starting(word, groups(|_| true))),
    ("LOAD", loads),
    ("LOAD,…", loads),
    ("CONDITION", conditions),
    ("CONDITION,…", conditions),
    ("RUN", runs),
    ("FLEET", fleets),
];

/// Returns the command line with what completes its values.
fn with_completers(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_completers)
}

fn with_completer(arg: Arg) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default();
    match COMPLETERS.iter().find(|(known, _)| *known == name) {
        Some((_, complete)) => {
            let complete = move |word: &OsStr| word.to_str().map(complete).unwrap_or_default();
            arg.add(ArgValueCompleter::new(complete))
        }
        None if name == "DIR" => arg.value_hint(ValueHint::DirPath),
        None => arg,
    }
}

/// A name and what it stands for.
fn candidate(name: impl Into<String>, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(name.into()).help(Some(StyledStr::from(about.to_owned())))
}

fn starting(word: &str, all: impl IntoIterator<Item = CompletionCandidate>) -> Vec<CompletionCandidate> {
    all.into_iter().filter(|one| one.get_value().to_string_lossy().starts_with(word)).collect()
}

/// Returns the catalogue; `None` if it cannot be read: the verb will say why.
fn catalogue() -> Option<Catalogue> {
    Catalogue::load().ok()
}

fn tests(is_of: impl Fn(&Test) -> bool) -> Vec<CompletionCandidate> {
    let tests = catalogue().into_iter().flat_map(|catalogue| catalogue.tests);
    tests.filter(|test| is_of(test)).map(|test| candidate(&test.id, &test.label)).collect()
}

/// The groups with a member that `is_of` it.
fn groups(is_of: impl Fn(&Test) -> bool) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else { return Vec::new() };
    let has = |group: &&Group| {
        let tests = catalogue.expand(std::slice::from_ref(&group.id));
        tests.is_ok_and(|tests| tests.iter().any(|test| is_of(test)))
    };
    let about = |doc: &str| words::first_sentence(doc).to_owned();
    catalogue.groups.iter().filter(has).map(|group| candidate(&group.id, &about(&group.doc))).collect()
}

fn tests_and_groups(word: &str, is_of: fn(&Test) -> bool) -> Vec<CompletionCandidate> {
    starting(word, groups(is_of).into_iter().chain(tests(is_of)))
}

/// Returns the candidates for `report --trend`.
fn trends(word: &str) -> Vec<CompletionCandidate> {
    let indexes = catalogue().into_iter().flat_map(|catalogue| catalogue.indexes);
    let indexes: Vec<_> = indexes.map(|index| candidate(index.id, &index.name)).collect();
    starting(word, indexes.into_iter().chain(tests(|_| true)))
}

/// Loads, or any other test, which may run in the background as well.
fn loads(word: &str) -> Vec<CompletionCandidate> {
    let none = candidate(NONE, "nothing beyond what the machine does anyway");
    let found = starting(word, [none].into_iter().chain(tests(|test| test.roles.contains(&Role::Load))));
    if found.is_empty() { starting(word, tests(Test::is_rate)) } else { found }
}

/// Conditions with their levels; after `thp=never,` the other levels as well.
fn conditions(word: &str) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else { return Vec::new() };
    let begin = word.rfind(['+', ',']).map_or(0, |end| end + 1);
    let (before, part) = word.split_at(begin);
    let named = |switch: &str, level: &str| match level {
        "" => switch.to_owned(),
        level => format!("{switch}={level}"),
    };
    let all = catalogue.switches.iter().flat_map(|switch| {
        let levels = switch.levels.iter().map(|level| level.id.as_str());
        let levels: Vec<&str> = if switch.levels.is_empty() { vec![""] } else { levels.collect() };
        levels.into_iter().map(|level| candidate(named(&switch.id, level), &switch.label)).collect::<Vec<_>>()
    });
    let levels = before.strip_suffix(',').and_then(|before| before.rsplit(['+', ',']).find(|part| part.contains('=')));
    let id = levels.and_then(|part| part.split('=').next());
    let switch = catalogue.switches.iter().find(|switch| Some(switch.id.as_str()) == id);
    let levels =
        switch.into_iter().flat_map(|switch| switch.levels.iter().map(|level| candidate(&level.id, &switch.label)));
    let found = starting(part, levels.chain(all));
    found.into_iter().map(|one| one.add_prefix(before)).collect()
}

/// Runs of the results directory, the latest first; without one of that name, directories.
fn runs(word: &str) -> Vec<CompletionCandidate> {
    let listed = stored(std::env::args_os()).ok().and_then(|store| store.list().ok()).unwrap_or_default();
    let about = |run: &Option<journal::Run>| {
        let run = run.as_ref()?;
        Some(format!("{} {}", run.started.get(..10).unwrap_or_default(), run.arguments.join(" ")))
    };
    let latest = (!listed.is_empty()).then(|| candidate("latest", "the last one"));
    // A name that a shell could not show as it is has none to type either.
    let listed = listed.iter().rev().filter(|one| words::visible(&one.name) == one.name);
    let names = listed.map(|one| candidate(&one.name, &words::clean(&about(&one.run).unwrap_or_default())));
    let found = starting(word, latest.into_iter().chain(names));
    if found.is_empty() { PathCompleter::dir().complete(OsStr::new(word)) } else { found }
}

/// Directories: those of fleet runs are whole words.
fn fleets(word: &str) -> Vec<CompletionCandidate> {
    let whole = |one: CompletionCandidate| {
        let name = one.get_value().to_string_lossy().into_owned();
        let path = name.trim_end_matches('/');
        match Fleet::name(Path::new(path), None) {
            Ok(Some(run)) => candidate(path, &format!("fleet run {run}")),
            _ => one,
        }
    };
    PathCompleter::dir().complete(OsStr::new(word)).into_iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(found: Vec<CompletionCandidate>) -> Vec<String> {
        found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn conditions_and_their_levels() {
        assert_eq!(values(conditions("thp=n")), ["thp=never"]);
        assert_eq!(values(conditions("thp=never,al")), ["thp=never,always"]);
        assert_eq!(values(conditions("seccomp=allow+thp=n")), ["seccomp=allow+thp=never"]);
        assert!(values(conditions("no")).contains(&"none".to_owned()));
        assert_eq!(values(conditions("nothing=x")), Vec::<String>::new());
    }

    #[test]
    fn tests_tasks_and_loads() {
        assert!(values(tests_and_groups("dhry", Test::is_rate)).contains(&"dhry2reg".to_owned()));
        assert!(values(tests_and_groups("aud", Test::is_rate)).is_empty());
        assert_eq!(values(tests_and_groups("audio-p", Test::is_task)), ["audio-pro"]);
        assert!(values(loads("b")).contains(&"burn".to_owned()));
        assert_eq!(values(loads("dhry2r")), ["dhry2reg"]);
        assert!(values(trends("sys")).contains(&"system".to_owned()));
    }
}
