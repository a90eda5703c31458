//! A journal without what says whose machine it was.
//!
//! A [`Redactor`] knows the names that a journal may give away (of its host, its node and its user)
//! and the forms of words that no other machine has (addresses, serial numbers). It takes both out
//! of a text. [`Journal::redact`] applies it to the texts of a journal, and takes out paths, too.
//! Whoever publishes other people's journals applies it to everything that is left.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Fact, Journal, NoValue, Run, Trial};

/// Facts that name the user, the host, or places on its disks.
const PRIVATE_FACTS: [&str; 7] = [
    "system.host",
    "system.user",
    "limits.cgroup.path",
    "storage.dir",
    "storage.mount_point",
    "storage.device",
    "storage.options",
];

/// Parts of the names of facts that no other machine has.
const UNIQUE_FACT_PARTS: [&str; 6] =
    ["serial", "uuid", "machine_id", "mac_address", "address", "hostid"];

/// The stand-ins for what is taken out.
const PATH: &str = "PATH";
const HOST: &str = "host";
const USER: &str = "user";
const ADDRESS: &str = "ADDRESS";
const SERIAL: &str = "SERIAL";

/// A thorough redactor replaces names of this length inside words, too. Shorter ones, such as `vm`,
/// are part of many words.
const MIN_LETTERS_INSIDE_WORDS: usize = 5;

/// Counts of replacements by their kind: `hosts`, `addresses` …
pub type Replaced = BTreeMap<Cow<'static, str>, usize>;

/// Takes out of texts what says whose machine it was, and counts what it took out.
pub struct Redactor {
    /// The stand-in for the host.
    alias: String,
    names: Vec<Name>,
    /// True if long names are replaced inside words, too.
    is_thorough: bool,
    /// What was taken out so far.
    pub replaced: Replaced,
}

/// A name that is taken out.
struct Name {
    name: String,
    /// The stand-in for the name.
    alias: String,
    /// Its kind, as [`Replaced`] counts it.
    kind: &'static str,
}

impl Redactor {
    /// A redactor of the names in a journal; `alias` stands for its host and its node.
    pub fn new(journal: &Journal, alias: &str, is_thorough: bool) -> Redactor {
        let mut names = Vec::new();
        if !journal.is_redacted() {
            let host = &journal.run.host;
            // `web1` for `web1.example.org`.
            let short_host = host.split('.').next().unwrap_or_default();
            let node = journal.run.fleet.as_ref().map_or("", |attempt| &*attempt.id.node);
            for name in [host, short_host, node] {
                names.push(Name { name: name.to_owned(), alias: alias.to_owned(), kind: "hosts" });
            }
        }

        let fact = journal.facts.value("system.user").unwrap_or_default();
        let user = fact.split([' ', '(']).next().unwrap_or_default();
        // Everybody has a root; others may be known by a number: `uid 1000`.
        if !["root", "uid"].contains(&user) {
            names.push(Name { name: user.to_owned(), alias: USER.to_owned(), kind: "users" });
        }

        names.retain(|Name { name, .. }| !name.is_empty());
        // Longer names first: once `web1` is replaced, `web1.example.org` is no longer found.
        names.sort_by_key(|Name { name, .. }| std::cmp::Reverse(name.len()));
        Redactor { alias: alias.to_owned(), names, is_thorough, replaced: Replaced::new() }
    }

    /// A text without names, addresses and serial numbers.
    pub fn redacted(&mut self, text: &str) -> String {
        let text = self.replace_names(text);

        let is_separator = |c: char| c.is_whitespace() || "'\"()[],;=<>".contains(c);
        let mut redacted = String::with_capacity(text.len());
        for part in text.split_inclusive(is_separator) {
            let word = part.trim_end_matches(is_separator);
            let (kind, stand_in) = match word {
                _ if is_address(word) => ("addresses", ADDRESS),
                _ if is_uuid(word) => ("serials", SERIAL),
                _ => {
                    redacted += part;
                    continue;
                }
            };
            *self.replaced.entry(kind.into()).or_default() += 1;
            redacted += stand_in;
            redacted += &part[word.len()..];
        }

        redacted
    }

    fn replace_names(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for Name { name, alias, kind } in &self.names {
            let is_anywhere = self.is_thorough && name.len() >= MIN_LETTERS_INSIDE_WORDS;
            let (replaced, count) = replace_name(&text, name, alias, is_anywhere);
            if count > 0 {
                *self.replaced.entry((*kind).into()).or_default() += count;
                text = replaced;
            }
        }

        text
    }

    /// Takes names, addresses, serial numbers and paths out of a text.
    fn clean(&mut self, text: &mut String) {
        *text = without_paths(&self.redacted(text));
    }
}

impl Journal {
    /// True if the journal no longer says whose machine it was. A host may really be called as the
    /// stand-in for all is; its facts tell.
    pub fn is_redacted(&self) -> bool {
        self.run.is_redacted() && PRIVATE_FACTS.iter().all(|name| self.facts.value(name).is_none())
    }

    /// Takes out the user, the host, the control group, paths, addresses and serial numbers, in
    /// facts, the command line and all messages. Figures and what they were measured on stay.
    pub fn redact(&mut self) {
        let mut redactor = Redactor::new(self, HOST, false);
        self.redact_with(&mut redactor);
    }

    /// [`Journal::redact`] with the caller's redactor, whose alias replaces the host.
    pub fn redact_with(&mut self, redactor: &mut Redactor) {
        self.redact_run(redactor);
        self.redact_facts(redactor);
        for warning in &mut self.warnings {
            redactor.clean(&mut warning.text);
        }
        for note in self.counts.iter_mut().flat_map(|counts| &mut counts.notes) {
            redactor.clean(note);
        }
        for note in self.profiles.iter_mut().flat_map(|profile| &mut profile.notes) {
            redactor.clean(note);
        }
        for trial in &mut self.trials {
            redact_trial(trial, redactor);
        }
    }

    fn redact_run(&mut self, redactor: &mut Redactor) {
        self.run.host.clone_from(&redactor.alias);
        self.run.name = redactor.redacted(&self.run.name);
        redactor.clean(&mut self.run.comment);
        self.redact_commands(redactor);
        for word in self.run.arguments.iter_mut().chain(&mut self.run.settings) {
            redactor.clean(word);
        }
        for finding in &mut self.run.findings {
            redactor.clean(&mut finding.what);
            redactor.clean(&mut finding.fix);
        }
        if let Some(attempt) = &mut self.run.fleet {
            attempt.id.node.clone_from(&redactor.alias);
        }
        if let Some(baseline) = &mut self.run.baseline {
            baseline.name = redactor.redacted(&baseline.name);
        }
    }

    /// Redacts the names of commands in cells, in the run, and in its list of commands.
    fn redact_commands(&mut self, redactor: &mut Redactor) {
        let mut commands = CommandNames::default();
        for cell in self.cells.iter_mut().filter(|cell| cell.is_of_command()) {
            for name in [&mut cell.key.test, &mut cell.key.condition, &mut cell.label] {
                *name = commands.redacted(name, redactor);
            }
        }
        if let Some(name) = commands.0.get(&self.run.against) {
            self.run.against.clone_from(name);
        }
        for given in &mut self.run.commands {
            given.command = commands.redacted(&given.command, redactor);
            given.name = commands.redacted(&given.name, redactor);
            for parameter in &mut given.parameters {
                redactor.clean(&mut parameter.value);
            }
        }
    }

    /// Drops the facts that no other machine has, and redacts the others.
    fn redact_facts(&mut self, redactor: &mut Redactor) {
        let mut facts = Vec::new();
        for fact in std::mem::take(&mut self.facts) {
            let is_unique = fact.name.split('.').any(|part| UNIQUE_FACT_PARTS.contains(&part));
            if is_unique {
                *redactor.replaced.entry("facts".into()).or_default() += 1;
            }
            if !is_unique && !PRIVATE_FACTS.contains(&fact.name.as_str()) {
                facts.push(Fact { value: redactor.redacted(&fact.value), ..fact });
            }
        }
        self.facts = facts.into_iter().collect();
    }
}

fn redact_trial(trial: &mut Trial, redactor: &mut Redactor) {
    for reason in [&mut trial.error, &mut trial.skip].into_iter().flatten() {
        redactor.clean(reason);
    }
    let printed = trial.copies.iter_mut().flat_map(|copy| &mut copy.printed);
    for (_, gap) in printed.flat_map(|figure| &mut figure.gaps) {
        let (NoValue::Failed(reason) | NoValue::Skipped(reason)) = gap;
        redactor.clean(reason);
    }

    let background = trial.background.iter_mut().map(|background| &mut background.copy);
    let notes = trial.copies.iter_mut().chain(background).flat_map(|copy| &mut copy.notes);
    let proofs = trial.evidence.iter_mut().flat_map(|evidence| &mut evidence.notes);
    for note in notes.chain(proofs) {
        redactor.clean(note);
    }

    for frames in trial.copies.iter_mut().filter_map(|copy| copy.frames.as_mut()) {
        // The names of processes.
        frames.holders = None;
    }
}

impl Run {
    /// True if the run has the stand-in for a host.
    pub fn is_redacted(&self) -> bool {
        self.host == HOST
    }
}

/// The names of commands, each with its redacted one; different names stay different.
#[derive(Default)]
struct CommandNames(BTreeMap<String, String>);

impl CommandNames {
    fn redacted(&mut self, name: &str, redactor: &mut Redactor) -> String {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }

        let short = without_directories(&redactor.redacted(name));
        let is_free = |candidate: &String| self.0.values().all(|other| other != candidate);
        let redacted =
            words::free_name([short.clone()], |number| format!("{short} ({number})"), is_free);
        self.0.insert(name.to_owned(), redacted.clone());
        redacted
    }
}

/// A command without paths, but with the name of its program.
fn without_directories(command: &str) -> String {
    let cleaned = without_paths(command);
    let program = command.split(' ').next().and_then(|program| program.rsplit_once('/'));
    match (cleaned.strip_prefix(PATH), program) {
        (Some(rest), Some((_, name))) => format!("{PATH}/{name}{rest}"),
        _ => cleaned,
    }
}

/// A text with `alias` in place of a name, and the number of replacements: wherever the name is if
/// `is_anywhere`, else only where no letter or digit is next to it.
fn replace_name(text: &str, name: &str, alias: &str, is_anywhere: bool) -> (String, usize) {
    let mut replaced = String::new();
    let mut copied_to = 0;
    let mut count = 0;
    for (at, _) in text.match_indices(name) {
        let end = at + name.len();
        let is_part_of_word = text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
            || text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if is_anywhere || !is_part_of_word {
            replaced.push_str(&text[copied_to..at]);
            replaced.push_str(alias);
            copied_to = end;
            count += 1;
        }
    }

    replaced.push_str(&text[copied_to..]);
    (replaced, count)
}

/// A text without absolute paths and those below a home; the kernel's own stay.
fn without_paths(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end_matches(char::is_whitespace);
        cleaned += &without_path(word);
        cleaned += &part[word.len()..];
    }
    cleaned
}

/// A word in which [`PATH`] replaces everything from its first path on that is not the kernel's.
fn without_path(word: &str) -> Cow<'_, str> {
    let is_private = |at: usize| {
        let (before, rest) = word.split_at(at);
        let is_kernels = rest.starts_with("/proc/") || rest.starts_with("/sys/");
        begins_path(before, rest) && !is_kernels
    };
    let start = word.char_indices().map(|(at, _)| at).find(|at| is_private(*at));
    let Some(start) = start else { return word.into() };

    let before = &word[..start];
    // The dots of `./x` and `../x` belong to the path.
    format!("{}{PATH}", before.trim_end_matches('.')).into()
}

/// True if a path (`/x`, `~/x` or `~user/x`) starts at `rest`, which follows `before` in the same
/// word.
fn begins_path(before: &str, rest: &str) -> bool {
    /// What may stand before a path in a word. After a letter a slash is part of it: `read/write`.
    const SEPARATORS: [char; 16] =
        ['=', '\'', '"', '(', '[', '{', '`', '.', ',', ':', ';', '<', '>', '|', '&', '@'];

    let is_absolute = rest.starts_with('/');
    let is_below_home = rest.strip_prefix('~').is_some_and(|rest| {
        rest.starts_with('/') || (rest.starts_with(char::is_alphabetic) && rest.contains('/'))
    });
    let is_separate = before.is_empty() || before.ends_with(SEPARATORS);
    // In an option any slash begins a path, as in `-I/x`; so `--rw=read/write` is cut, too.
    let follows_option =
        is_absolute && before.starts_with('-') && !before.contains(['/', ':', ',']);
    (is_absolute || is_below_home) && (is_separate || follows_option)
}

/// True if a word is an address of the network or of mail: `10.0.0.1`, `fe80::1`,
/// `52:54:00:12:34:56`, `me@example.org`.
fn is_address(word: &str) -> bool {
    // Without the length of a network and the name of an interface.
    let bare = word.split(['/', '%']).next().unwrap_or_default();
    let host = bare.split(':').next().unwrap_or_default();
    let is_v4 = host.parse::<std::net::Ipv4Addr>().is_ok();
    // Texts such as `0::` are read as addresses too.
    let is_v6 = bare.len() > 4
        && bare.contains(':')
        && bare.trim_matches(['[', ']']).parse::<std::net::Ipv6Addr>().is_ok();
    let is_pair = |pair: &str| pair.len() == 2 && pair.chars().all(|c| c.is_ascii_hexdigit());
    let is_mac = bare.split([':', '-']).count() == 6 && bare.split([':', '-']).all(is_pair);
    let is_mail =
        word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    is_v4 || is_v6 || is_mac || is_mail
}

/// True if a word is a UUID.
fn is_uuid(word: &str) -> bool {
    let word = word.rsplit('/').next().unwrap_or_default();
    let is_hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
    word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && word.split('-').all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Key, Role};
    use super::*;

    #[test]
    fn commands_lose_directories_and_stay_apart() {
        let cell = |command: &str| {
            let key = Key { condition: command.to_owned(), ..Key::plain("ab", 1) };
            Cell { key, role: Role::Command, ..Cell::default() }
        };
        let cells = ["/home/me/old/x -v", "/home/me/new/x -v", "./y /srv/a", "cat /srv/a"]
            .map(cell)
            .to_vec();
        let mut journal = Journal { cells, ..Journal::default() };
        journal.run.against = "/home/me/old/x -v".to_owned();
        journal.redact();
        let names: Vec<&str> = journal.cells.iter().map(|cell| &*cell.key.condition).collect();
        assert_eq!(names, ["PATH/x -v", "PATH/x -v (2)", "PATH/y PATH", "cat PATH"]);
        assert_eq!((&*journal.run.against, &*journal.cells[0].key.test), ("PATH/x -v", "ab"));
    }

    #[test]
    fn hosts_and_paths_go() {
        let replaced =
            |text: &str, name: &str, is_anywhere: bool| replace_name(text, name, HOST, is_anywhere);
        let words = replaced("vm-2026-11-22-01 vms on (vm)", "vm", false);
        assert_eq!(words, ("host-2026-11-22-01 vms on (host)".to_owned(), 2));
        assert_eq!(replaced("vmvm vm", "vm", false), ("vmvm host".to_owned(), 1));
        assert_eq!(replaced("xsecrethostx", "secrethost", true), ("xhostx".to_owned(), 1));
        assert_eq!(
            without_paths("--dir=/home/me/x read/write /tmp/y /proc/cpuinfo ./mine"),
            "--dir=PATH read/write PATH /proc/cpuinfo PATH"
        );
        assert_eq!(without_paths("'/srv/data' is full; ~/x"), "'PATH is full; PATH");
        assert_eq!(without_paths("cc -I/home/me/include /sysdata/me"), "cc -IPATH PATH");
        for (text, cleaned) in [
            ("file:///home/me", "file:PATH"),
            ("-v x:/home/me", "-v x:PATH"),
            ("2>/tmp/x <../y", "2>PATH <PATH"),
            ("~anna/x\t/srv/a\n", "PATH\tPATH\n"),
            ("read/write,/home/me", "read/write,PATH"),
            ("-d @/srv/a", "-d @PATH"),
            (
                "/proc/self/fd:/home/me --bind=/sys/x:/home/me",
                "/proc/self/fd:PATH --bind=/sys/x:PATH",
            ),
            ("~30/s and 5 MB/s", "~30/s and 5 MB/s"),
        ] {
            assert_eq!(without_paths(text), cleaned, "{text}");
        }
    }

    #[test]
    fn users_addresses_and_serial_numbers_go() {
        let mut journal = Journal::default();
        journal.run.host = "web1.example.org".to_owned();
        journal.run.comment =
            "anna on web1, 10.0.0.7; disk 123e4567-e89b-12d3-a456-426614174000".to_owned();
        let fact = |name: &str, value: &str| Fact::new([name, "", ""], value.to_owned(), None);
        journal.facts = [
            fact("system.user", "anna (uid 1000)"),
            fact("board.serial", "X1"),
            fact("processor.model", "A processor"),
        ]
        .into_iter()
        .collect();

        journal.redact();

        assert_eq!(journal.run.comment, "user on host, ADDRESS; disk SERIAL");
        let names: Vec<&str> = journal.facts.iter().map(|fact| &*fact.name).collect();
        assert_eq!(names, ["processor.model"]);
    }

    #[test]
    fn a_machine_that_is_called_host_is_redacted() {
        let mut journal = Journal::default();
        journal.run.host = HOST.to_owned();
        let fact = Fact::new(["system.user", "", ""], "anna (uid 1000)".to_owned(), None);
        journal.facts = [fact].into_iter().collect();

        assert!(!journal.is_redacted());
        journal.redact();

        assert!(journal.is_redacted());
    }

    #[test]
    fn what_is_an_address() {
        for word in [
            "10.0.0.1",
            "10.0.0.1:22",
            "fe80::1%eth0",
            "52:54:00:12:34:56",
            "me@example.org",
            "192.168.1.0/24",
        ] {
            assert!(is_address(word), "{word}");
        }
        for word in
            ["2.36", "6.18.44", "12:30:05", "a:b", "4.15.3", "read/write", "user@host", "0::"]
        {
            assert!(!is_address(word), "{word}");
        }

        assert!(is_uuid("UUID/123e4567-e89b-12d3-a456-426614174000") && !is_uuid("2026-11-21-01"));
    }
}
