//! A journal without what says whose machine it was.

use std::collections::BTreeMap;

use super::{Fact, Facts, Journal, Run};

/// Facts that name the user, the host, or places on its disks.
const PRIVATE: [&str; 7] = [
    "system.host", "system.user", "limits.cgroup.path", "storage.dir", "storage.mount_point", "storage.device",
    "storage.options",
];

/// The stand-ins for a path and for the host.
const PATH: &str = "PATH";
const HOST: &str = "host";

impl Journal {
    /// Takes out the user, the host, the control group and paths, in facts, the command line and all messages. Figures
    /// and what they were measured on stay.
    pub fn redact(&mut self) {
        let host = std::mem::replace(&mut self.run.host, HOST.to_owned());
        let node = self.run.fleet.as_ref().map_or(String::new(), |attempt| attempt.id.node.clone());
        let anonymous = |text: &str| without_host(&without_host(text, &host), &node);
        let clean = |text: &str| without_paths(&anonymous(text));
        self.run.name = without_host(&self.run.name, &host);
        self.run.comment = clean(&self.run.comment);
        let mut commands = Commands::default();
        for cell in self.cells.iter_mut().filter(|cell| cell.command) {
            for name in [&mut cell.key.test, &mut cell.key.condition, &mut cell.label] {
                *name = commands.redacted(name, anonymous);
            }
        }
        if let Some(name) = commands.0.get(&self.run.against) {
            self.run.against.clone_from(name);
        }
        self.run.arguments = self.run.arguments.iter().map(|word| clean(word)).collect();
        self.run.settings = self.run.settings.iter().map(|word| clean(word)).collect();
        if let Some(attempt) = &mut self.run.fleet {
            attempt.id.node = HOST.to_owned();
        }
        if let Some(baseline) = &mut self.run.baseline {
            baseline.name = without_host(&baseline.name, &host);
        }
        let facts = std::mem::take(&mut self.facts);
        let known = facts.into_iter().filter(|fact| !PRIVATE.contains(&fact.name.as_str()));
        self.facts = known.map(|fact| Fact { value: anonymous(&fact.value), ..fact }).collect::<Facts>();
        self.warnings.iter_mut().for_each(|warning| warning.text = clean(&warning.text));
        self.counts.iter_mut().for_each(|counts| counts.notes.iter_mut().for_each(|note| *note = clean(note)));
        for trial in &mut self.trials {
            for reason in [&mut trial.error, &mut trial.skip].into_iter().flatten() {
                *reason = clean(reason);
            }
            let background = trial.background.iter_mut().map(|background| &mut background.copy);
            let notes = trial.copies.iter_mut().chain(background).flat_map(|copy| &mut copy.notes);
            let proofs = trial.evidence.iter_mut().flat_map(|evidence| &mut evidence.notes);
            notes.chain(proofs).for_each(|note| *note = clean(note));
            // The names of processes.
            trial.copies.iter_mut().filter_map(|copy| copy.frames.as_mut()).for_each(|frames| frames.holders = None);
        }
    }
}

impl Run {
    /// Returns true if it says no more whose machine it was.
    pub fn is_redacted(&self) -> bool {
        self.host == HOST
    }
}

/// The names of commands, each with its redacted one; different names stay different.
#[derive(Default)]
struct Commands(BTreeMap<String, String>);

impl Commands {
    /// Returns the redacted name of a command; `anonymous` takes the names of machines out.
    fn redacted(&mut self, name: &str, anonymous: impl Fn(&str) -> String) -> String {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let short = without_directories(&anonymous(name));
        let is_free = |free: &String| self.0.values().all(|other| other != free);
        let free = words::free_name([short.clone()], |number| format!("{short} ({number})"), is_free);
        self.0.insert(name.to_owned(), free.clone());
        free
    }
}

/// A command without paths but for the name of its program.
fn without_directories(command: &str) -> String {
    let cleaned = without_paths(command);
    let program = command.split(' ').next().and_then(|program| program.rsplit_once('/'));
    match (cleaned.strip_prefix(PATH), program) {
        (Some(rest), Some((_, name))) => format!("{PATH}/{name}{rest}"),
        _ => cleaned,
    }
}

/// A text without the name of the host, where that stands as a word.
fn without_host(text: &str, host: &str) -> String {
    renamed(text, host, HOST, false).0
}

/// Returns a text with `alias` in place of a name, and how often: where the name stands as a word, or wherever it
/// stands.
pub fn renamed(text: &str, name: &str, alias: &str, anywhere: bool) -> (String, usize) {
    if name.is_empty() {
        return (text.to_owned(), 0);
    }
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut done, mut found, mut count) = (0, String::new(), 0);
    for (at, _) in text.match_indices(name) {
        let end = at + name.len();
        let is_part = is_inside(text[..at].chars().next_back()) || is_inside(text[end..].chars().next());
        let is_it = anywhere || !is_part;
        count += usize::from(is_it);
        found.push_str(&text[done..at]);
        found.push_str(if is_it { alias } else { name });
        done = end;
    }
    (found + &text[done..], count)
}

/// A text without absolute paths and those below the home; the kernel's own stay.
fn without_paths(text: &str) -> String {
    let clean = |word: &str| {
        let Some(start) = word.find("~/").or_else(|| word.find('/')) else { return word.to_owned() };
        let is_begin =
            start == 0 || word.starts_with('-') || word[..start].ends_with(['=', '\'', '"', '(', '[', '`', '.', ',']);
        let is_kernels = ["/proc/", "/sys/"].iter().any(|known| word[start..].starts_with(known));
        if !is_begin || is_kernels {
            word.to_owned()
        } else {
            format!("{}{PATH}", &word[..start].trim_end_matches('.'))
        }
    };
    text.split(' ').map(clean).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Key};
    use super::*;

    #[test]
    fn commands_lose_directories_and_stay_apart() {
        let cell = |command: &str| {
            let key = Key { condition: command.to_owned(), ..Key::plain("ab", 1) };
            Cell { key, command: true, ..Cell::default() }
        };
        let cells = ["/home/me/old/x -v", "/home/me/new/x -v", "./y /srv/a", "cat /srv/a"].map(cell).to_vec();
        let mut journal = Journal { cells, ..Journal::default() };
        journal.run.against = "/home/me/old/x -v".to_owned();
        journal.redact();
        let names: Vec<&str> = journal.cells.iter().map(|cell| &*cell.key.condition).collect();
        assert_eq!(names, ["PATH/x -v", "PATH/x -v (2)", "PATH/y PATH", "cat PATH"]);
        assert_eq!((&*journal.run.against, &*journal.cells[0].key.test), ("PATH/x -v", "ab"));
    }

    #[test]
    fn hosts_and_paths_go() {
        assert_eq!(without_host("vm-2026-11-22-01 vms on (vm)", "vm"), "host-2026-11-22-01 vms on (host)");
        assert_eq!(renamed("xsecrethostx", "secrethost", "host", true), ("xhostx".to_owned(), 1));
        assert_eq!(
            without_paths("--dir=/home/me/x read/write /tmp/y /proc/cpuinfo ./mine"),
            "--dir=PATH read/write PATH /proc/cpuinfo PATH"
        );
        assert_eq!(without_paths("'/srv/data' is full; ~/x"), "'PATH is full; PATH");
        assert_eq!(without_paths("cc -I/home/me/include /sysdata/me"), "cc -IPATH PATH");
        assert_eq!(renamed("vmvm vm", "vm", "host", false), ("vmvm host".to_owned(), 1));
    }
}
