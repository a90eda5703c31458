//! Proofs that a condition was on, and its products.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The words in a note on a setting between its value and the one that it had before.
pub const IN_PLACE_OF: &str = " in place of ";

/// Proofs and products of a condition in one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Counts with their units: `rules`, `events`, `watched` …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, (f64, String)>,
    /// Proofs in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The trail of auditing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<Trail>,
}

/// The trail of auditing during one trial. `window` is the time in which counts are measured; the
/// whole trial also has the programs' start and end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trail {
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Events in the window.
    pub events: u64,
    /// Records of the events in the window.
    pub records: u64,
    /// Bytes of these records, as lines of a trail.
    pub bytes: u64,
    /// Events of the whole trial.
    pub all_events: u64,
    /// Bytes of the whole trial.
    pub all_bytes: u64,
    /// Records the kernel dropped, in the whole trial.
    pub lost: u64,
    /// Seconds that processes slept for room in the backlog, all together.
    pub waited_s: f64,
    /// The longest backlog that was seen.
    pub backlog: u32,
    /// Records of the window that were still queued when it closed.
    pub queued: u64,
    /// Seconds from the end of the window until the backlog was empty.
    pub drain_s: f64,
    /// Processor time of the kernel's thread, in seconds, until the backlog was empty.
    pub kernel_cpu_s: f64,
    /// Processor time of whoever received the records, in seconds.
    pub sink_cpu_s: f64,
}
