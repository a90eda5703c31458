//! What is known of the system: one row per fact, one small function per row.
//!
//! To add a fact, add a row. Names are part of the journal's format: they never change.

mod caches;
mod kernel;
mod limits;
mod memory;
mod processor;
mod security;
mod software;
mod storage;
mod system;
mod vulnerabilities;

use super::Machine;
use journal::Fact;
use std::path::Path;

/// Name, label, and how it is read; `None` where the system does not tell.
type Row = (&'static str, &'static str, fn(&Machine, &Path) -> Option<String>);

/// The groups and their rows, in the order of the report.
const TABLE: &[(&str, &[Row])] = &[
    ("System", system::ROWS),
    ("Kernel", kernel::ROWS),
    ("Processor", processor::ROWS),
    ("Processor", caches::ROWS),
    ("Memory", memory::ROWS),
    ("Storage", storage::ROWS),
    ("Security", security::ROWS),
    ("Limits", limits::ROWS),
    ("Software", software::ROWS),
];

/// Everything that is known of the system, in the order of the report; what it does not tell is
/// left out. `dir` is the directory the file tests use.
pub fn facts(machine: &Machine, dir: &Path) -> Vec<Fact> {
    let rows = TABLE.iter().flat_map(|(group, rows)| rows.iter().map(move |row| (*group, row)));
    let read = |(group, (name, label, read)): (&str, &Row)| {
        let value = one_line(&read(machine, dir)?);
        (!value.is_empty()).then(|| fact(group, name, label, value))
    };
    let mut facts: Vec<Fact> = rows.filter_map(read).chain(vulnerabilities::facts(machine)).collect();
    facts.sort_by_key(|fact| TABLE.iter().position(|(group, _)| *group == fact.group));
    facts
}

fn fact(group: &str, name: &str, label: &str, value: String) -> Fact {
    Fact { name: name.into(), label: label.into(), group: group.into(), value }
}

/// A value is one line of printable text, whatever a file held.
fn one_line(value: &str) -> String {
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    let value: String = value.chars().map(blank).collect();
    value.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `on` or `off`.
fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_dotted() {
        let names: Vec<&str> = TABLE.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.0)).collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
        for name in names {
            assert!(name.contains('.') && name.chars().all(is_plain), "{name}");
        }
    }

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(one_line("a\tb\n  c\0\x1b[0m"), "a b c [0m");
    }
}
