//! Findings of a run beyond its rows.

use super::{BurnIn, Cost, Figure, Gain, Index, Power, Results, Scaling};

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

impl Results {
    /// Returns the indexes; none unless the run is about scores.
    pub fn indexes(&self) -> &[Index] {
        if let Findings::Scores { indexes, .. } = &self.findings { indexes } else { &[] }
    }

    pub(crate) fn indexes_mut(&mut self) -> &mut [Index] {
        if let Findings::Scores { indexes, .. } = &mut self.findings { indexes } else { &mut [] }
    }

    /// Returns what more copies bring; nothing unless the run is about scores.
    pub fn gains(&self) -> &[Gain] {
        if let Findings::Scores { gains, .. } = &self.findings { gains } else { &[] }
    }

    /// Returns how tests scale; nothing unless the run is about it.
    pub fn scaling(&self) -> &[Scaling] {
        if let Findings::Scaling(scaling) = &self.findings { scaling } else { &[] }
    }

    /// Returns what conditions cost, if the run is about it.
    pub fn cost(&self) -> Option<&Cost> {
        if let Findings::Cost(cost) = &self.findings { Some(cost) } else { None }
    }

    /// Returns what comparisons find on this machine, if the run is about that.
    pub fn power(&self) -> Option<&Power> {
        if let Findings::Power(power) = &self.findings { power.as_deref() } else { None }
    }

    /// Returns what a burn-in found, if it is one.
    pub fn burnin(&self) -> Option<&BurnIn> {
        if let Findings::BurnIn(burnin) = &self.findings { Some(burnin) } else { None }
    }

    /// Returns the second arms of the condition that others are compared with.
    pub fn controls(&self) -> &[Figure] {
        self.cost().map_or(&[], |cost| &cost.controls)
    }
}
