//! The CPU's vulnerabilities and what the kernel does about them: one fact in sum, one for each.

use super::super::{Machine, kernel};
use super::{Fact, one_line};

const DIR: &str = "/sys/devices/system/cpu/vulnerabilities";

pub fn facts(machine: &Machine) -> Vec<Fact> {
    let state = |name: String| Some((name.clone(), machine.read(&format!("{DIR}/{name}"))?));
    let all: Vec<(String, String)> = machine.list(DIR).into_iter().filter_map(state).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let fact = |name: &str, label: &str, value: &str| Fact::new([name, label, "Security"], one_line(value), None);
    let mut facts = vec![fact("security.mitigations", "Mitigations", &summary(machine, &all))];
    for (name, state) in &all {
        facts.push(fact(&format!("security.vulnerability.{name}"), &name.replace('_', " "), state));
    }
    facts
}

/// `mitigated: a, b; vulnerable: c; 15 not affected`, and what the command line asks for.
fn summary(machine: &Machine, all: &[(String, String)]) -> String {
    let named = |sign: &str| -> Vec<&str> {
        let with = all.iter().filter(|(_, state)| state.starts_with(sign));
        with.map(|(name, _)| name.as_str()).collect()
    };
    let mut parts = Vec::new();
    if let Some(choice) = kernel::option(machine, "mitigations") {
        parts.push(format!("mitigations={choice}"));
    }
    for (word, sign) in [("mitigated", "Mitigation"), ("vulnerable", "Vulnerable")] {
        let names = named(sign);
        if !names.is_empty() {
            parts.push(format!("{word}: {}", names.join(", ")));
        }
    }
    parts.push(format!("{} not affected", named("Not affected").len()));
    parts.join("; ")
}
