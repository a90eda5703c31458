//! Counts of the executions of commands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The prefix of the name of a system call.
const CALL: &str = "call:";

/// One execution of a command that was counted and not timed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The cell of the command.
    pub cell: usize,
    /// The counts by their names: `syscalls`, `faults`, `call:openat`; and in KiB `rss:NAME`, of
    /// the largest process.
    pub counts: BTreeMap<String, u64>,
    /// The program's remarks on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Counts {
    /// The name of the count of a system call: `call:openat`.
    pub fn of_call(name: &str) -> String {
        format!("{CALL}{name}")
    }

    /// The system call that a count of this name is of, by its name or its number; `None` for other
    /// counts.
    pub fn call(name: &str) -> Option<&str> {
        name.strip_prefix(CALL)
    }
}
