//! What one sample of a command is.

use serde::{Deserialize, Serialize};

/// What one sample of a command is: the level at which a comparison repeats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SamplingUnit {
    /// A single execution.
    #[default]
    Execution,
    /// All executions of one build.
    Build,
    /// The executions after one set-up.
    Block,
    /// The executions that one process of a server answered.
    Process,
}

impl SamplingUnit {
    /// The noun for one unit.
    pub fn name(self) -> &'static str {
        match self {
            SamplingUnit::Execution => "execution",
            SamplingUnit::Build => "build",
            SamplingUnit::Block => "block",
            SamplingUnit::Process => "process",
        }
    }

    /// True if the units of all arms that have one number are measured at the same time.
    pub fn are_simultaneous(self) -> bool {
        matches!(self, SamplingUnit::Block | SamplingUnit::Process)
    }

    /// True if nothing is repeated but executions.
    pub fn is_execution(&self) -> bool {
        *self == SamplingUnit::Execution
    }
}
