//! What is known of the system under test.

use serde::{Deserialize, Serialize};

/// One thing known of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Dotted and stable, such as `kernel.release`.
    pub name: String,
    /// The name for people, such as `Release`.
    pub label: String,
    /// The part of the report it belongs to, such as `Kernel`.
    pub group: String,
    /// What was found, as text with its unit.
    pub value: String,
}
