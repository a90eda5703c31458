//! The CPU's vulnerabilities and what the kernel does about them: one fact in sum, one for each.

use super::super::{Machine, kernel};
use super::{Fact, to_one_line};

const DIR: &str = "/sys/devices/system/cpu/vulnerabilities";

/// A vulnerability, and its state in the kernel's words: `Mitigation: …`, `Vulnerable: …`.
struct Vulnerability {
    name: String,
    state: String,
}

pub fn facts(machine: &Machine) -> Vec<Fact> {
    let mut vulnerabilities: Vec<Vulnerability> = Vec::new();
    for name in machine.list(DIR) {
        if let Some(state) = machine.read(&format!("{DIR}/{name}")) {
            vulnerabilities.push(Vulnerability { name, state });
        }
    }
    if vulnerabilities.is_empty() {
        return Vec::new();
    }

    let summary = summarise(machine, &vulnerabilities);
    let mut facts = vec![security_fact("security.mitigations", "Mitigations", &summary)];
    for Vulnerability { name, state } in &vulnerabilities {
        let label = name.replace('_', " ");
        facts.push(security_fact(&format!("security.vulnerability.{name}"), &label, state));
    }
    facts
}

fn security_fact(name: &str, label: &str, value: &str) -> Fact {
    Fact::new([name, label, "Security"], to_one_line(value), None)
}

/// `mitigations=auto; mitigated: a, b; vulnerable: c; 15 not affected`: the choice of the command
/// line, if it makes one, then the states.
fn summarise(machine: &Machine, vulnerabilities: &[Vulnerability]) -> String {
    let mut clauses = Vec::new();
    if let Some(choice) = kernel::option(machine, "mitigations") {
        clauses.push(format!("mitigations={choice}"));
    }
    for (word, start) in [("mitigated", "Mitigation"), ("vulnerable", "Vulnerable")] {
        let names = names_in_state(vulnerabilities, start);
        if !names.is_empty() {
            clauses.push(format!("{word}: {}", names.join(", ")));
        }
    }

    let unaffected = names_in_state(vulnerabilities, "Not affected");
    clauses.push(format!("{} not affected", unaffected.len()));
    clauses.join("; ")
}

/// The names of the vulnerabilities whose state begins with `start`.
fn names_in_state<'v>(vulnerabilities: &'v [Vulnerability], start: &str) -> Vec<&'v str> {
    vulnerabilities
        .iter()
        .filter(|vulnerability| vulnerability.state.starts_with(start))
        .map(|vulnerability| vulnerability.name.as_str())
        .collect()
}
