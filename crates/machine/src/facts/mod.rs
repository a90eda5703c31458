//! Facts of the system: one row per fact, one small function per row.
//!
//! To add a fact, add a row. Names are part of the journal's format: they never change.

mod caches;
mod kernel;
mod limits;
mod memory;
mod parameters;
mod processor;
mod security;
mod software;
mod storage;
mod system;
mod vulnerabilities;

use super::Machine;
use journal::{Fact, Facts, Quantity};
use std::path::Path;

/// A row: one fact.
struct Row {
    name: &'static str,
    label: &'static str,
    read: Read,
}

/// The way to read a fact; `None` where the system does not report it.
enum Read {
    Text(fn(&Machine, &Path) -> Option<String>),
    Value(fn(&Machine, &Path) -> Option<Value>),
}

/// A value: as people read it, and as a number with its unit if it is one.
struct Value {
    text: String,
    quantity: Option<Quantity>,
}

const fn text(
    name: &'static str,
    label: &'static str,
    read: fn(&Machine, &Path) -> Option<String>,
) -> Row {
    Row { name, label, read: Read::Text(read) }
}

const fn value(
    name: &'static str,
    label: &'static str,
    read: fn(&Machine, &Path) -> Option<Value>,
) -> Row {
    Row { name, label, read: Read::Value(read) }
}

impl Row {
    fn read_fact(&self, group: &str, machine: &Machine, dir: &Path) -> Option<Fact> {
        let value = match self.read {
            Read::Text(read) => Value::text(read(machine, dir)?),
            Read::Value(read) => read(machine, dir)?,
        };
        let text = to_one_line(&value.text);
        (!text.is_empty()).then(|| Fact::new([self.name, self.label, group], text, value.quantity))
    }
}

impl Value {
    /// Words, where other machines have a number.
    fn text(text: impl Into<String>) -> Value {
        Value { text: text.into(), quantity: None }
    }

    /// A number in a unit, to three decimals, written as `text`.
    fn number(number: f64, unit: &str, text: String) -> Value {
        Value { text, quantity: Some(Quantity::new((number * 1e3).round() / 1e3, unit)) }
    }

    /// A count of something, written as it is.
    fn count(number: u64, unit: &str) -> Value {
        Value::number(number as f64, unit, number.to_string())
    }

    /// A size in bytes.
    fn bytes(bytes: u64) -> Value {
        Value::from(Quantity::bytes(bytes))
    }
}

impl From<Quantity> for Value {
    fn from(quantity: Quantity) -> Value {
        Value { text: quantity.to_string(), quantity: Some(quantity) }
    }
}

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

/// All facts that the system reports, in the order of the report. `dir` is the directory of the
/// file tests. The kernel's command line has only the parameters that can change a figure.
pub fn facts(machine: &Machine, dir: &Path) -> Facts {
    collect(machine, dir).into_iter().collect()
}

/// [`facts`], with the kernel's whole command line, which may have addresses and keys.
pub fn all_facts(machine: &Machine, dir: &Path) -> Facts {
    let mut facts = collect(machine, dir);
    if let Some(line) = super::kernel::command_line(machine)
        && let Some(fact) = facts.iter_mut().find(|fact| fact.name == kernel::COMMAND_LINE)
    {
        fact.value = to_one_line(&line);
    }
    facts.into_iter().collect()
}

fn collect(machine: &Machine, dir: &Path) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for (group, rows) in TABLE {
        facts.extend(rows.iter().filter_map(|row| row.read_fact(group, machine, dir)));
    }
    facts.extend(vulnerabilities::facts(machine));

    facts.sort_by_key(|fact| TABLE.iter().position(|(group, _)| *group == fact.group));
    facts
}

/// A value is one line of printable text, whatever a file held.
fn to_one_line(value: &str) -> String {
    let printable: String =
        value.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    printable.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The state of a switch by its file, which has one of `on_words` if the switch is on.
fn switch_state(machine: &Machine, file: &str, on_words: &[&str]) -> Option<String> {
    machine.read(file).map(|word| on_or_off(on_words.contains(&word.as_str())))
}

fn on_or_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_dotted() {
        let names: Vec<&str> =
            TABLE.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.name)).collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
        for name in names {
            assert!(name.contains('.') && name.chars().all(is_plain), "{name}");
        }
    }

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(to_one_line("a\tb\n  c\0\x1b[0m"), "a b c [0m");
    }
}
