//! The reach of a fact: the tests that it can change, by what they do.

use catalogue::Catalogue;
use serde::Serialize;

/// Tests that share what a fact may change.
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

/// The reach of facts, by how their names begin; the first that fits counts.
const KNOWN: [(&str, &[Reach]); 10] = [
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
const ALL: [Reach; 7] = [Starts, Calls, Kernel, Code, Memory, Files, Everything];

impl Reach {
    /// Returns the reaches of a fact.
    pub(super) fn from_fact(fact: &str) -> Vec<Reach> {
        let known = KNOWN.iter().find(|(start, _)| fact.starts_with(start));
        known.map_or(&ALL[..], |(_, reaches)| reaches).to_vec()
    }

    /// The tests and groups of it.
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

    /// Returns which of the tests it has.
    pub(super) fn among(self, ids: &[String], catalogue: &Catalogue) -> Vec<bool> {
        if self == Everything {
            return vec![true; ids.len()];
        }
        let expanded = |name: &&str| catalogue.expand(&[(*name).to_owned()]).unwrap_or_default();
        let own: Vec<String> = self.names().iter().flat_map(expanded).map(|test| test.id.clone()).collect();
        ids.iter().map(|id| own.contains(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reach_is_of_the_catalogue() {
        let catalogue = Catalogue::load().unwrap();
        for name in ALL.iter().flat_map(|reach| reach.names()) {
            assert!(catalogue.expand(&[(*name).to_owned()]).is_ok(), "{name}");
        }
        let index: Vec<String> =
            catalogue.expand(&["index".to_owned()]).unwrap().iter().map(|test| test.id.clone()).collect();
        let count = |reach: Reach| reach.among(&index, &catalogue).into_iter().filter(|is_in| *is_in).count();
        let counts = [Starts, Calls, Kernel, Code, Files, Everything].map(count);
        assert_eq!(counts, [3, 3, 10, 2, 3, 12], "of the index");
    }
}
