//! What was added up of the executions of each command.

use std::collections::HashMap;

use journal::Sampled;

/// The executions of a command.
#[derive(Default)]
pub struct Arm {
    pub sampled: Vec<Added>,
    /// Of each execution that was counted: the instructions at each place.
    pub counted: Vec<HashMap<usize, u64>>,
}

/// An execution's time by chains.
pub struct Added {
    pub sampled: Sampled,
    pub ns_by_chain: HashMap<usize, u64>,
}
