//! Examples of every verb, for its help and its manual page.

use clap::Command;

/// Verbs, with those below a verb after a space, and their examples: a command, and what it is for.
const EXAMPLES: [(&str, &[(&str, &str)]); 30] = [
    (
        "run",
        &[
            ("unixmark run --budget 2m", "one number in two minutes"),
            ("unixmark run --procedure classic", "the same as UnixBench, to the letter"),
            ("unixmark run fsbuffer pipe -c 1,max --load burn", "two tests while hogs run"),
            ("unixmark run -- ./tool input.txt", "how long a command of yours takes"),
            ("unixmark run --program ./mine size=4096 --unit op/s", "a program of yours that speaks the protocol"),
        ],
    ),
    (
        "ab",
        &[
            ("unixmark ab './old x' './new x'", "which of two builds is faster, and by how much"),
            (
                "unixmark ab --fail-on 2% --base ../main --head . -- make test",
                "status 1 if a checkout is slower by over 2 %",
            ),
            ("unixmark ab -N -L file=a,b 'md5sum {file}'", "one command with several values"),
        ],
    ),
    (
        "bisect",
        &[
            ("unixmark bisect --good v1.2 --bad HEAD --build make -- ./tool input.txt", "which commit made it slower"),
            ("unixmark bisect --good v1.2 --bad HEAD -- python3 tool.py", "the same of what needs no build"),
        ],
    ),
    (
        "card",
        &[
            ("unixmark card", "a new server, for a forum post"),
            ("unixmark card --format markdown", "the same for a page"),
        ],
    ),
    (
        "unixbench",
        &[
            ("unixmark unixbench -c 1 -c 4", "UnixBench's index, with its files in ./results"),
            ("unixmark unixbench --procedure standard pipe", "the same files in a fraction of the time"),
        ],
    ),
    (
        "latency",
        &[
            ("unixmark latency --quick", "large differences only, in a few minutes"),
            ("unixmark latency audio -w none,burn", "one task, without and with hogs"),
            ("unixmark latency --modern --policy rr", "today's tasks, scheduled in real time"),
        ],
    ),
    (
        "scale",
        &[
            ("unixmark scale", "the main tests of each resource, up to all processors"),
            ("unixmark scale memory --pin core", "copies on cores of their own first"),
            ("unixmark scale -- ./worker", "what more copies of a command of yours bring"),
        ],
    ),
    (
        "cost",
        &[
            ("unixmark cost nice=5", "what it costs to be nice"),
            ("unixmark cost thp=never,always page-fault", "two levels of a setting, for one test"),
            ("unixmark cost nice=5 -- make -j2", "what it costs a command of yours"),
            ("unixmark cost audit=all --calls --dry-run", "what would be measured, and for how long"),
        ],
    ),
    ("burnin cooling", &[("unixmark burnin cooling --for 1h --watch", "an hour of heat, on the whole terminal")]),
    ("burnin memory", &[("unixmark burnin memory --size 4G --passes 2", "all patterns twice over 4 GiB")]),
    (
        "report",
        &[
            ("unixmark report", "the last run"),
            ("unixmark report latest~1 --format html > run.html", "a page with charts of the one before"),
            ("unixmark report --trend pipe", "one test across all runs"),
        ],
    ),
    (
        "compare",
        &[
            ("unixmark compare latest~1 latest", "what changed between the last two runs"),
            ("unixmark compare latest~1 latest --fail-on 5%", "exit status 1 if something lost 5 %"),
        ],
    ),
    ("import", &[("unixmark import report.txt -m 'the old server'", "a report of UnixBench becomes a run")]),
    ("export", &[("unixmark export --parquet archive", "all runs, for DuckDB, Spark and similar tools")]),
    (
        "site",
        &[
            ("unixmark site --into www", "all runs, for a browser"),
            ("unixmark site runs --into www --anonymous", "to publish"),
        ],
    ),
    ("collect", &[("unixmark collect out --into night --expect n1,n2", "journals from anywhere become a fleet run")]),
    (
        "fleet slurm",
        &[("unixmark fleet slurm --partition bench --into night -- run index", "every node that accepts jobs")],
    ),
    ("fleet status", &[("unixmark fleet status night", "which nodes have not delivered, and why")]),
    ("fleet report", &[("unixmark fleet report night --by kernel.release", "nodes compared within each kernel")]),
    (
        "list",
        &[
            ("unixmark list tests memory", "tests of a group, or about a word"),
            ("unixmark list conditions --available", "what can be switched here"),
            ("unixmark list runs", "what was measured"),
        ],
    ),
    ("new test", &[("unixmark new test my-loop --unit loops", "a C file and its row, to begin with")]),
    ("build", &[("unixmark build mine.c thread/team.c", "a program of your own with a file of the kit")]),
    (
        "clean",
        &[
            ("unixmark clean --dry-run", "what the cache holds, and what would go"),
            ("unixmark clean --all", "every build that is not in use"),
        ],
    ),
    ("doctor", &[("unixmark doctor", "what would distort results here, and how to fix it")]),
    (
        "restore",
        &[
            ("unixmark restore", "after a power cut in the middle of `cost`"),
            ("unixmark restore --list", "what is to be undone, and in which file that is written"),
        ],
    ),
    ("completions", &[("unixmark completions bash > ~/.local/share/bash-completion/completions/unixmark", "for bash")]),
    (
        "man",
        &[
            ("unixmark man run | man -l -", "the page of a verb"),
            ("unixmark man --into ~/.local/share/man", "all pages, where man finds them"),
        ],
    ),
    ("burnin", &[("unixmark burnin memory", "one pass over most of the memory")]),
    ("fleet", &[("unixmark fleet status night", "which nodes have delivered")]),
    ("new", &[("unixmark new test my-loop", "a C file and its row, to begin with")]),
];

/// Returns the examples of a verb.
pub(crate) fn of(verb: &str) -> &'static [(&'static str, &'static str)] {
    EXAMPLES.iter().find(|(name, _)| *name == verb).map_or(&[], |(_, examples)| examples)
}

/// Returns a command line with examples at the end of every verb's help; `path` are the verbs above.
pub(crate) fn with_examples(command: Command, path: &str) -> Command {
    let name = |command: &Command| [path, command.get_name()].join(" ").trim().to_owned();
    let text: String = of(&name(&command)).iter().map(|(words, what)| format!("  {words}\n      {what}\n")).collect();
    let below = if command.get_name() == "unixmark" { String::new() } else { name(&command) };
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

    fn check(command: &Command, path: &str) {
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let name = format!("{path} {}", verb.get_name()).trim().to_owned();
            let examples = of(&name);
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
}
