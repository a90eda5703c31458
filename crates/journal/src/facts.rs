//! Facts of the system under test.
//!
//! A fact has a name that is stable, a text for people, and, if it is a number, a [`Quantity`].
//! [`KNOWN_FACTS`] lists the facts that reports use in a special way, and how.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A number with its unit; in journals `[number, unit]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "(f64, String)")]
pub struct Quantity {
    pub number: f64,
    /// Empty for a plain count.
    pub unit: String,
}

/// One thing known of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "FactLine", into = "FactLine")]
pub struct Fact {
    /// Dotted and stable, such as `kernel.release`.
    pub name: String,
    /// The name for people, such as `Release`.
    pub label: String,
    /// The part of the report it belongs to, such as `Kernel`.
    pub group: String,
    /// The value, as people read it.
    pub value: String,
    /// The value as a number with its unit, if it is one.
    pub quantity: Option<Quantity>,
}

/// A fact as its line of a journal has it.
#[derive(Clone, Serialize, Deserialize)]
struct FactLine {
    name: String,
    label: String,
    group: String,
    value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unit: String,
}

/// All that is known of a system, in the order of reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Facts(Vec<Fact>);

/// A fact that runs should have in common before they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InCommon {
    /// Its name.
    pub fact: &'static str,
    /// The plural noun for its values in sentences: `kernels`.
    pub what: &'static str,
    /// The advice if runs differ in it.
    pub advice: &'static str,
    /// True if a run without this fact is left out; otherwise it counts as unknown.
    pub if_known: bool,
}

impl InCommon {
    fn new(fact: &'static str, used: Use) -> Option<InCommon> {
        match used {
            Common(what, advice) => Some(InCommon { fact, what, advice, if_known: false }),
            CommonIfKnown(what, advice) => Some(InCommon { fact, what, advice, if_known: true }),
            Heading | Suspect | Moment => None,
        }
    }
}

/// The use of a fact in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// The fact is in the heading of a run's report.
    Heading,
    /// The fact is one of the first suspects where figures change from run to run.
    Suspect,
    /// Runs that are compared should have it in common: the noun for its values, and the advice if
    /// runs differ in it.
    Common(&'static str, &'static str),
    /// [`Use::Common`] among those runs that have the fact.
    CommonIfKnown(&'static str, &'static str),
    /// The fact holds for a moment only: it differs between any two runs and nodes.
    Moment,
}

use Use::{Common, CommonIfKnown, Heading, Moment, Suspect};

/// The facts that reports single out: name, title, uses. The order is that of headings.
const KNOWN_FACTS: [(&str, &str, &[Use]); 23] = [
    ("system.os", "System", &[Heading, Suspect]),
    (
        "kernel.release",
        "Kernel",
        &[
            Heading,
            Suspect,
            Common(
                Facts::KERNELS,
                "part of every difference may be the kernel's: boot the same for all runs",
            ),
        ],
    ),
    (
        "cpu.model",
        "Processor",
        &[Heading, Suspect, Common("processors", "these are differences between processors")],
    ),
    ("cpu.microcode", "Microcode", &[Suspect]),
    ("cpu.topology", "Topology", &[Heading]),
    ("cpu.governor", "Governor", &[Heading, Suspect]),
    ("memory.total", "Memory", &[Heading, Suspect]),
    ("system.virtualisation", "Virtual", &[Heading]),
    ("security.mitigations", "Mitigations", &[Heading, Suspect]),
    ("security.audit", "Auditing", &[Heading]),
    ("storage.file_system", "File system", &[Heading]),
    ("software.libc", "C library", &[Heading]),
    ("software.shell", "Shell", &[Heading]),
    (
        "graphics.server",
        "Display",
        &[
            Heading,
            CommonIfKnown(
                "display servers",
                "part of every difference in graphics may be the server's",
            ),
        ],
    ),
    (
        "graphics.gl_renderer",
        "Renderer",
        &[
            Heading,
            CommonIfKnown(
                "renderers",
                "what a software renderer does is work of the processors, and says nothing of a graphics card",
            ),
        ],
    ),
    (Fact::IDLE, "Idle power", &[Moment]),
    ("cpu.frequency.now", "Frequency", &[Moment]),
    ("memory.available", "Memory available", &[Moment]),
    ("storage.free", "Free space", &[Moment]),
    ("system.load", "Load", &[Moment]),
    ("system.steal", "Steal", &[Moment]),
    ("system.time", "Time", &[Moment]),
    ("system.uptime", "Uptime", &[Moment]),
];

/// Units that text has: the unit, the one in which the quantity is kept, and how many of that it
/// is.
const UNITS: [(&str, &str, f64); 15] = [
    ("%", "%", 1.0),
    ("CPUs", "CPUs", 1.0),
    ("Hz", "Hz", 1.0),
    ("MHz", "MHz", 1.0),
    ("MB/s", "MB/s", 1.0),
    ("ops/ms", "ops/ms", 1.0),
    ("bytes", BYTES, 1.0),
    ("KiB", BYTES, 1024.0),
    ("MiB", BYTES, 1_048_576.0),
    ("GiB", BYTES, 1_073_741_824.0),
    ("TiB", BYTES, 1_099_511_627_776.0),
    ("min", SECONDS, 60.0),
    ("h", SECONDS, 3600.0),
    ("day", SECONDS, 86_400.0),
    ("days", SECONDS, 86_400.0),
];

const BYTES: &str = "bytes";
const SECONDS: &str = "s";

impl Quantity {
    /// A number in a unit.
    pub fn new(number: f64, unit: &str) -> Quantity {
        Quantity { number, unit: unit.to_owned() }
    }

    /// A size.
    pub fn bytes(count: u64) -> Quantity {
        Quantity::new(count as f64, BYTES)
    }

    /// The quantity that a text begins with, as in `64.8 GiB of 252.0 GiB` or `8 h 2 min`.
    fn from_text(text: &str) -> Option<Quantity> {
        let words: Vec<&str> = text.split(' ').collect();
        let mut sum: Option<Quantity> = None;
        for pair in words.chunks_exact(2) {
            let name = pair[1].trim_end_matches(',');
            let unit = UNITS.iter().find(|(known, _, _)| *known == name);
            let (Ok(number), Some((_, kept_unit, factor))) = (pair[0].parse::<f64>(), unit) else {
                break;
            };

            // Hours and minutes add up; another unit begins another quantity.
            let summand = sum.take().filter(|sum| sum.unit == *kept_unit);
            let so_far = summand.map_or(0.0, |sum| sum.number);
            sum = Some(Quantity::new(so_far + number * factor, kept_unit));
            let has_comma = name != pair[1];
            if has_comma {
                break;
            }
        }

        sum.filter(|sum| sum.number.is_finite())
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit.as_str() {
            BYTES => f.write_str(&words::bytes(self.number as u64)),
            SECONDS => f.write_str(&words::uptime(self.number)),
            "" => write!(f, "{}", self.number),
            unit => write!(f, "{} {unit}", self.number),
        }
    }
}

impl From<Quantity> for (f64, String) {
    fn from(quantity: Quantity) -> (f64, String) {
        (quantity.number, quantity.unit)
    }
}

impl Fact {
    /// A fact of this name, label and group.
    pub fn new([name, label, group]: [&str; 3], value: String, quantity: Option<Quantity>) -> Fact {
        Fact {
            name: name.to_owned(),
            label: label.to_owned(),
            group: group.to_owned(),
            value,
            quantity,
        }
    }

    /// The name of the fact that has the source of readings of energy.
    pub const ENERGY: &str = "run.energy";

    /// The name of the fact that has the power of the idle machine before the run, in W.
    pub const IDLE: &str = "run.idle-power";

    /// A fact that is known as text alone, as other programs and journals of older versions give
    /// it: the number and the unit that the text begins with are its quantity.
    pub fn from_text(name: String, label: String, group: String, value: String) -> Fact {
        let quantity = Quantity::from_text(&value);
        Fact { name, label, group, value, quantity }
    }

    /// True if the fact holds for a moment only, as the load does.
    pub fn is_of_a_moment(&self) -> bool {
        KNOWN_FACTS.iter().any(|(name, _, uses)| *name == self.name && uses.contains(&Moment))
    }
}

impl From<FactLine> for Fact {
    fn from(FactLine { name, label, group, value, number, unit }: FactLine) -> Fact {
        match number {
            Some(number) => {
                Fact { name, label, group, value, quantity: Some(Quantity { number, unit }) }
            }
            None => Fact::from_text(name, label, group, value),
        }
    }
}

impl From<Fact> for FactLine {
    fn from(Fact { name, label, group, value, quantity }: Fact) -> FactLine {
        let (number, unit) = match quantity {
            Some(Quantity { number, unit }) => (Some(number), unit),
            None => (None, String::new()),
        };
        FactLine { name, label, group, value, number, unit }
    }
}

impl Facts {
    /// The noun for different kernels, where runs are compared.
    pub const KERNELS: &str = "kernels";

    /// The fact of a name, if it is known.
    pub fn get(&self, name: &str) -> Option<&Fact> {
        self.iter().find(|fact| fact.name == name)
    }

    /// The value of a fact as text, if it is known.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.get(name).map(|fact| fact.value.as_str())
    }

    /// The facts in the heading of a report, each with its title.
    pub fn heading(&self) -> impl Iterator<Item = (&'static str, &Fact)> {
        let known = KNOWN_FACTS.iter().filter(|(_, _, uses)| uses.contains(&Heading));
        known.filter_map(|(name, title, _)| Some((*title, self.get(name)?)))
    }

    /// The machine in a line: processor, memory, hypervisor and kernel, as far as they are known.
    pub fn machine(&self) -> String {
        let mut parts = Vec::new();
        for (name, prefix) in [
            ("cpu.model", ""),
            ("memory.total", ""),
            ("system.virtualisation", ""),
            ("kernel.release", "kernel "),
        ] {
            let value = self.value(name).unwrap_or_default();
            if !["", "none", "unknown"].contains(&value) {
                parts.push(format!("{prefix}{value}"));
            }
        }

        parts.join(", ")
    }

    /// The facts to suspect first where figures change from run to run: title and name.
    pub fn suspects() -> impl Iterator<Item = (&'static str, &'static str)> {
        KNOWN_FACTS
            .iter()
            .filter(|(_, _, uses)| uses.contains(&Suspect))
            .map(|(name, title, _)| (*title, *name))
    }

    /// The facts that runs should have in common before they are compared.
    pub fn common() -> impl Iterator<Item = InCommon> {
        KNOWN_FACTS
            .iter()
            .flat_map(|(fact, _, uses)| uses.iter().filter_map(|used| InCommon::new(fact, *used)))
    }

    /// The kind of source that energy was read from: powercap, hwmon or a meter. Figures of
    /// different kinds are not comparable.
    pub fn energy_source(&self) -> Option<&str> {
        self.value(Fact::ENERGY)?.split(':').next()
    }

    /// Adds a fact at the end.
    pub fn push(&mut self, fact: Fact) {
        self.0.push(fact);
    }

    /// Removes the fact of a name.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|fact| fact.name != name);
    }
}

impl Deref for Facts {
    type Target = [Fact];

    fn deref(&self) -> &[Fact] {
        &self.0
    }
}

impl FromIterator<Fact> for Facts {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Facts {
        Facts(facts.into_iter().collect())
    }
}

impl IntoIterator for Facts {
    type Item = Fact;
    type IntoIter = std::vec::IntoIter<Fact>;

    fn into_iter(self) -> std::vec::IntoIter<Fact> {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Facts {
    type Item = &'a Fact;
    type IntoIter = std::slice::Iter<'a, Fact>;

    fn into_iter(self) -> std::slice::Iter<'a, Fact> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_in_text() {
        for (text, quantity) in [
            ("2596 MHz", Some(Quantity::new(2596.0, "MHz"))),
            ("600 MB/s (SATA 6.0 Gbit/s)", Some(Quantity::new(600.0, "MB/s"))),
            ("1.5 GiB of 252.0 GiB", Some(Quantity::bytes(3 << 29))),
            ("512 MiB, 3 MiB used", Some(Quantity::bytes(512 << 20))),
            ("8 h 2 min", Some(Quantity::new(28_920.0, SECONDS))),
            ("1 day 4 h", Some(Quantity::new(100_800.0, SECONDS))),
            ("981624 ops/ms", Some(Quantity::new(981_624.0, "ops/ms"))),
            ("12", None),
            ("inf MHz", None),
            ("2 × 1 MiB", None),
            ("2026-11-21 04:14", None),
            ("26 2 1", None),
            ("", None),
        ] {
            assert_eq!(Quantity::from_text(text), quantity, "{text}");
        }
    }

    #[test]
    fn a_line_without_a_number_is_read_by_its_text() {
        let read = |line: &str| serde_json::from_str::<Fact>(line).unwrap();
        let old =
            read(r#"{"name":"memory.total","label":"Memory","group":"Memory","value":"1 GiB"}"#);
        assert_eq!(old.quantity, Some(Quantity::bytes(1 << 30)));
        let line = r#"{"name":"system.load","label":"Load","group":"System","value":"0.5 1 2","number":0.5}"#;
        let new = read(line);
        assert_eq!(new.quantity, Some(Quantity::new(0.5, "")));
        assert_eq!(serde_json::to_string(&new).unwrap(), line);
    }

    #[test]
    fn a_fact_is_singled_out_once() {
        let names: std::collections::BTreeSet<&str> =
            KNOWN_FACTS.iter().map(|(name, _, _)| *name).collect();
        assert_eq!(names.len(), KNOWN_FACTS.len());
    }
}
