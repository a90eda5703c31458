//! Cells without a result.

use serde::{Deserialize, Serialize};

use catalogue::Metric;
use journal::{Cell, Key};

/// A cell without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its place in the matrix.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// True if its score would be a latency.
    #[serde(skip)]
    pub latency: bool,
    /// True if it is a figure that a program prints.
    #[serde(skip)]
    pub printed: bool,
    /// True if what it should have been compared with has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// Why.
    pub reason: String,
}

/// The reason of a cell that the run did not come to: the cause is with another cell.
pub const NOT_REACHED: &str = "the run ended before it was measured";

impl Missing {
    pub(crate) fn new(cell: &Cell, reason: &str) -> Missing {
        Missing {
            key: cell.key.clone(),
            label: cell.label.clone(),
            latency: cell.metric == Metric::Latency,
            printed: cell.is_printed(),
            lost: false,
            reason: reason.to_owned(),
        }
    }
}
