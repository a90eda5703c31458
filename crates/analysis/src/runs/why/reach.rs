//! The reach of a fact: the tests that it can change, by what they do.

use catalogue::Catalogue;
use serde::Serialize;

/// A kind of work that a fact may change, and with it the tests that do this work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Starting programs: exec and the shell's scripts.
    Starts,
    /// Entering the kernel and leaving it.
    Calls,
    /// Everything that the kernel does.
    Kernel,
    /// The compiled code.
    Code,
    /// Memory.
    Memory,
    /// Files and disks.
    Files,
    /// All tests.
    Everything,
}

use Reach::{Calls, Code, Everything, Files, Kernel, Memory, Starts};

/// The reaches of facts, by how their names begin; the first that fits counts.
const REACHES_BY_FACT: [(&str, &[Reach]); 10] = [
    ("software.libc", &[Starts]),
    ("software.shell", &[Starts]),
    ("software.build", &[Code]),
    ("software.compiler", &[Code]),
    ("security.", &[Calls]),
    ("kernel.", &[Kernel, Calls]),
    ("memory.", &[Memory]),
    ("storage.", &[Files]),
    ("cpu.", &[Everything]),
    ("system.virtualisation", &[Everything, Kernel, Calls]),
];

/// The reaches that are tried for a fact that may affect anything, such as the distribution.
const ALL_REACHES: [Reach; 7] = [Starts, Calls, Kernel, Code, Memory, Files, Everything];

impl Reach {
    /// The reaches that are tried for a fact.
    pub(super) fn from_fact(fact: &str) -> &'static [Reach] {
        let known = REACHES_BY_FACT.iter().find(|(start, _)| fact.starts_with(start));
        known.map_or(&ALL_REACHES, |(_, reaches)| reaches)
    }

    /// Its tests, and groups of tests, in the catalogue; none of [`Everything`].
    fn names(self) -> &'static [&'static str] {
        match self {
            Starts => &["execl", "shell", "shell16"],
            Calls => &["syscall", "pipe", "context1", "context1-one", "context1-two", "calls"],
            Kernel => &["oldsystem", "shell", "kernel", "calls"],
            Code => &["arithmetic", "dhrystone", "whetstone"],
            Memory => &["memory"],
            Files => &["fs", "disk"],
            Everything => &[],
        }
    }

    /// Its tests in words.
    pub fn words(self) -> &'static str {
        match self {
            Starts => "exec and shell",
            Calls => "system calls",
            Kernel => "the kernel's tests",
            Code => "compiled code",
            Memory => "memory",
            Files => "files and disks",
            Everything => "all tests",
        }
    }

    /// For each of `tests`, whether it is inside the reach.
    pub(super) fn contains(self, tests: &[String], catalogue: &Catalogue) -> Vec<bool> {
        if self == Everything {
            return vec![true; tests.len()];
        }

        let mut inside = Vec::new();
        for name in self.names() {
            // A unit test checks that the catalogue knows every name.
            let known = catalogue.expand(&[(*name).to_owned()]).unwrap_or_default();
            inside.extend(known.iter().map(|test| test.id.clone()));
        }
        tests.iter().map(|test| inside.contains(test)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reach_is_of_the_catalogue() {
        let catalogue = Catalogue::load().unwrap();
        for name in ALL_REACHES.iter().flat_map(|reach| reach.names()) {
            assert!(catalogue.expand(&[(*name).to_owned()]).is_ok(), "{name}");
        }
        let index: Vec<String> = catalogue
            .expand(&["index".to_owned()])
            .unwrap()
            .iter()
            .map(|test| test.id.clone())
            .collect();
        let count = |reach: Reach| {
            reach.contains(&index, &catalogue).into_iter().filter(|is_in| *is_in).count()
        };
        let counts = [Starts, Calls, Kernel, Code, Files, Everything].map(count);
        assert_eq!(counts, [3, 3, 10, 2, 3, 12], "of the index");
    }
}
