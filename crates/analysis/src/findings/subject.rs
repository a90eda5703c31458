//! Findings of a run beyond its rows.

use crate::products::cost::{Cost, Power};
use crate::products::{BurnIn, Gain, Index, Scaling};

/// The findings of a run beyond its rows, by subject.
#[derive(Debug, Clone)]
pub enum Findings {
    /// Indexes per level of copies, and what more copies bring.
    Scores {
        /// The indexes.
        indexes: Vec<Index>,
        /// Every test and index measured at the fewest copies and at more.
        gains: Vec<Gain>,
    },
    /// The scaling of tests.
    Scaling(Vec<Scaling>),
    /// The cost of conditions.
    Cost(Box<Cost>),
    /// The power of comparisons on this machine; `None` if too little was measured.
    Power(Option<Box<Power>>),
    /// The findings of a burn-in, which has no rows.
    BurnIn(Box<BurnIn>),
}

impl Default for Findings {
    fn default() -> Findings {
        Findings::Scaling(Vec::new())
    }
}
