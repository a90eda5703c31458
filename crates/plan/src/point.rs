//! A point of the matrix: what a cell measures.

use std::sync::Arc;

use catalogue::{Condition, Test};

/// One point of the matrix.
pub(super) struct Point<'a> {
    pub test: &'a Arc<Test>,
    pub copies: u32,
    pub load: Option<&'a Arc<Test>>,
    pub condition: &'a Arc<Condition>,
    pub control: bool,
}
