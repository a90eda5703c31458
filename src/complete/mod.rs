//! Completions of a shell after TAB: the names of the catalogue, runs and fleet runs, by what a
//! value is called in the help.

mod shells;

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};

use crate::options::store_of_words;
use catalogue::{Catalogue, Group, NONE, Role, Switch, Test};
use fleet::Fleet;
use journal::{Listed, Run};

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

/// The command line with completers of its values.
fn with_completers(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_completers)
}

fn with_completer(arg: Arg) -> Arg {
    let name = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string)
        .unwrap_or_default();
    match COMPLETERS.iter().find(|(known, _)| *known == name) {
        Some((_, complete)) => {
            let complete = move |word: &OsStr| word.to_str().map(complete).unwrap_or_default();
            arg.add(ArgValueCompleter::new(complete))
        }
        None if name == "DIR" => arg.value_hint(ValueHint::DirPath),
        None => arg,
    }
}

/// A name, and a word about it.
fn candidate(name: impl Into<String>, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(name.into()).help(Some(StyledStr::from(about.to_owned())))
}

/// The candidates that begin with a word.
fn starting(
    word: &str,
    all: impl IntoIterator<Item = CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    all.into_iter()
        .filter(|candidate| candidate.get_value().to_string_lossy().starts_with(word))
        .collect()
}

/// The catalogue; `None` if it cannot be read: the verb will say why.
fn catalogue() -> Option<Catalogue> {
    Catalogue::load().ok()
}

fn tests(is_wanted: impl Fn(&Test) -> bool) -> Vec<CompletionCandidate> {
    let tests = catalogue().into_iter().flat_map(|catalogue| catalogue.tests);
    tests.filter(|test| is_wanted(test)).map(|test| candidate(&test.id, &test.label)).collect()
}

/// The groups that have a member that is wanted.
fn groups(is_wanted: impl Fn(&Test) -> bool) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let mut candidates = Vec::new();
    for Group { id, doc, .. } in &catalogue.groups {
        let members = catalogue.expand(std::slice::from_ref(id)).unwrap_or_default();
        if members.iter().any(|test| is_wanted(test)) {
            candidates.push(candidate(id, words::first_sentence(doc)));
        }
    }
    candidates
}

fn tests_and_groups(word: &str, is_wanted: fn(&Test) -> bool) -> Vec<CompletionCandidate> {
    starting(word, groups(is_wanted).into_iter().chain(tests(is_wanted)))
}

/// The candidates for `report --trend`.
fn trends(word: &str) -> Vec<CompletionCandidate> {
    let indexes = catalogue().into_iter().flat_map(|catalogue| catalogue.indexes);
    let indexes: Vec<_> = indexes.map(|index| candidate(index.id, &index.name)).collect();
    starting(word, indexes.into_iter().chain(tests(|_| true)))
}

/// Loads, or any other test, which may run in the background as well.
fn loads(word: &str) -> Vec<CompletionCandidate> {
    let none = candidate(NONE, "nothing beyond what the machine does anyway");
    let found =
        starting(word, [none].into_iter().chain(tests(|test| test.roles.contains(&Role::Load))));
    if found.is_empty() { starting(word, tests(Test::is_rate)) } else { found }
}

/// Conditions with their levels; after `thp=never,` the other levels as well.
fn conditions(word: &str) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let begin = word.rfind(['+', ',']).map_or(0, |end| end + 1);
    let (before, part) = word.split_at(begin);

    let mut candidates = Vec::new();
    if let Some(switch) = find_open_switch(before, &catalogue) {
        candidates.extend(switch.levels.iter().map(|level| candidate(&level.id, &switch.label)));
    }
    for switch in &catalogue.switches {
        let Switch { id, label, levels, .. } = &**switch;
        if levels.is_empty() {
            candidates.push(candidate(id, label));
        }
        for level in levels {
            let name = if level.id.is_empty() { id.clone() } else { format!("{id}={}", level.id) };
            candidates.push(candidate(name, label));
        }
    }
    starting(part, candidates).into_iter().map(|found| found.add_prefix(before)).collect()
}

/// The switch whose levels may go on after a comma: of `thp=never,`, `thp`.
fn find_open_switch<'c>(before: &str, catalogue: &'c Catalogue) -> Option<&'c Switch> {
    let last = before.strip_suffix(',')?.rsplit(['+', ',']).find(|part| part.contains('='))?;
    let id = last.split('=').next()?;
    catalogue.switches.iter().map(AsRef::as_ref).find(|switch: &&Switch| switch.id == id)
}

/// Runs of the results directory, the latest first; without one of that name, directories.
fn runs(word: &str) -> Vec<CompletionCandidate> {
    let store = store_of_words(std::env::args_os()).ok();
    let listed = store.and_then(|store| store.list().ok()).unwrap_or_default();
    let mut candidates = Vec::new();
    if !listed.is_empty() {
        candidates.push(candidate("latest", "the last one"));
    }
    for Listed { name, run, .. } in listed.iter().rev() {
        // A name that a shell could not show as it is cannot be typed either.
        if words::visible(name) == *name {
            let about = run.as_ref().map(describe_run).unwrap_or_default();
            candidates.push(candidate(name, &words::clean(&about)));
        }
    }

    let found = starting(word, candidates);
    if found.is_empty() { PathCompleter::dir().complete(OsStr::new(word)) } else { found }
}

/// The day of a run, and its command line.
fn describe_run(run: &Run) -> String {
    format!("{} {}", run.started.get(..10).unwrap_or_default(), run.arguments.join(" "))
}

/// Directories. Those of fleet runs lose their slash, so that a word ends with them.
fn fleets(word: &str) -> Vec<CompletionCandidate> {
    let mut candidates = Vec::new();
    for directory in PathCompleter::dir().complete(OsStr::new(word)) {
        let name = directory.get_value().to_string_lossy().into_owned();
        let path = name.trim_end_matches('/');
        candidates.push(match Fleet::name(Path::new(path), None) {
            Ok(Some(run)) => candidate(path, &format!("fleet run {run}")),
            _ => directory,
        });
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(found: Vec<CompletionCandidate>) -> Vec<String> {
        found.iter().map(|found| found.get_value().to_string_lossy().into_owned()).collect()
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
