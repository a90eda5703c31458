//! Tests: which verb has which option. One name is one thing in every verb that can have it.

use std::collections::BTreeMap;

use clap::CommandFactory;

use super::Cli;

/// The options that several verbs share, with the verbs that have them.
const SHARED: [(&str, &str); 26] = [
    (
        "all-facts",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale",
    ),
    ("budget", "ab bill bisect cost latency quiet run scale"),
    (
        "build",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale",
    ),
    (
        "comment",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory card cost import latency quiet reference-add run scale",
    ),
    (
        "copies",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale unixbench",
    ),
    (
        "dir",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory card cost doctor latency quiet run scale",
    ),
    (
        "dry-run",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory clean cost latency quiet run scale",
    ),
    (
        "emit",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory card cost latency quiet run scale",
    ),
    ("fail-on", "ab compare cost"),
    (
        "format",
        "ab bill bisect boots burnin-burst burnin-cooling burnin-memory card compare cost doctor fleet-report fleet-status latency list quiet report run scale",
    ),
    ("iterations", "ab bill bisect cost latency quiet run scale unixbench"),
    ("load", "ab bill bisect cost latency quiet run scale"),
    ("over", "ab bill bisect cost latency quiet run scale"),
    (
        "patience",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale",
    ),
    ("pin", "ab bill bisect cost latency quiet run scale"),
    ("precision", "ab bill bisect cost latency quiet run scale"),
    ("procedure", "ab bill bisect cost latency quiet run scale unixbench"),
    ("quick", "ab bill bisect card cost latency quiet run scale"),
    (
        "quiet",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale unixbench",
    ),
    ("redact", "card collect compare export report"),
    (
        "results",
        "ab bill bisect boots burnin-burst burnin-cooling burnin-memory card compare cost doctor export import latency list quiet reference-add report run scale site",
    ),
    ("seed", "ab bill bisect cost latency quiet run scale"),
    (
        "strict",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale",
    ),
    ("yes", "ab bill bisect cost latency quiet run scale"),
    (
        "verbose",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale unixbench",
    ),
    (
        "watch",
        "ab bill bisect burnin-burst burnin-cooling burnin-memory cost latency quiet run scale",
    ),
];

/// Words that mean one of the above and must not come back beside it.
const NEVER: [&str; 5] = ["json", "silent", "note", "threads", "iterations-per-test"];

/// Verbs, with those below a verb after a `-`, and their commands.
fn verbs() -> BTreeMap<String, clap::Command> {
    let mut command = Cli::command();
    command.build();
    let mut all = BTreeMap::new();
    // Those of `hyperfine` are those of `ab`.
    let is_other = |verb: &&clap::Command| !["help", "hyperfine"].contains(&verb.get_name());
    for verb in command.get_subcommands().filter(is_other) {
        let mut below =
            verb.get_subcommands().filter(|below| below.get_name() != "help").peekable();
        if below.peek().is_none() {
            all.insert(verb.get_name().to_owned(), verb.clone());
        }
        all.extend(
            below.map(|below| (format!("{}-{}", verb.get_name(), below.get_name()), below.clone())),
        );
    }
    all
}

/// The option of a verb.
fn option<'a>(verb: &'a clap::Command, name: &str) -> Option<&'a clap::Arg> {
    verb.get_arguments().find(|arg| arg.get_long() == Some(name))
}

#[test]
#[cfg_attr(not(feature = "parquet"), ignore = "needs `export`")]
fn verbs_and_options() {
    let verbs = verbs();
    for (name, expected) in SHARED {
        let with = verbs.iter().filter(|(_, verb)| option(verb, name).is_some());
        let with: Vec<&str> = with.map(|(name, _)| name.as_str()).collect();
        assert_eq!(with.join(" "), expected, "--{name}");
    }
    for name in NEVER {
        assert!(verbs.values().all(|verb| option(verb, name).is_none()), "--{name}");
    }
}

/// An option that two verbs have is the same option: letter, value and the beginning of its help.
#[test]
fn one_name_is_one_thing() {
    // The same word for another thing, in another part of the tool.
    const OTHER: [(&str, &str); 22] = [
        ("ab", "base"),
        ("ab", "build"),
        // A number of them, or a pattern of builds that are there.
        ("ab", "builds"),
        ("ab", "fail-on"),
        // hyperfine's own letters, and those that it has for something else.
        ("ab", "cleanup"),
        ("ab", "comment"),
        ("ab", "copies"),
        ("ab", "ignore-failure"),
        ("ab", "iterations"),
        ("ab", "max-runs"),
        ("ab", "min-runs"),
        ("ab", "sort"),
        // A file of them.
        ("bill", "counts"),
        ("bisect", "build"),
        ("compare", "fail-on"),
        ("fleet-report", "against"),
        ("fleet-report", "threshold"),
        // Slurm's own letter.
        ("fleet-slurm", "partition"),
        ("fleet-slurm", "time"),
        // A letter of its own, as of ls.
        ("list", "long"),
        ("collect", "run"),
        ("export", "fleet"),
    ];
    // The letters of Interbench, which no other verb has to share.
    const INTERBENCH: &str = "lbtuwrLBNCIWXx";
    let mut known: BTreeMap<String, (String, Option<char>, Vec<String>)> = BTreeMap::new();
    let mut letters: BTreeMap<char, (String, String)> = BTreeMap::new();
    for (verb, command) in verbs() {
        for arg in command.get_arguments() {
            let Some(long) = arg.get_long() else { continue };
            let values =
                arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
            let is_other = OTHER.contains(&(verb.as_str(), long));
            let is_interbench = |letter: &char| verb == "latency" && INTERBENCH.contains(*letter);
            let letter = arg.get_short().filter(|letter| !is_interbench(letter));
            if !is_other {
                let this = (verb.clone(), letter, values);
                let first = known.entry(long.to_owned()).or_insert_with(|| this.clone());
                assert_eq!(
                    (first.1, &first.2),
                    (this.1, &this.2),
                    "--{long} of {} and {verb}",
                    first.0
                );
            }
            if let Some(letter) = letter.filter(|_| !is_other) {
                let first =
                    letters.entry(letter).or_insert_with(|| (verb.clone(), long.to_owned()));
                assert_eq!(first.1, long, "-{letter} of {} and {verb}", first.0);
            }
        }
    }
}
