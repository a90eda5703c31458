//! The arms of a run: the states in which the machine is measured.

use std::sync::Arc;

use catalogue::Condition;

/// The conditions of a run, and which of them the others are compared with.
#[derive(Debug, Clone)]
pub struct Arms {
    /// The condition that the others are compared with, if one is.
    pub reference: Option<Arc<Condition>>,
    /// The others, in order.
    pub others: Vec<Arc<Condition>>,
    /// True if the reference is measured twice in some blocks, as a control.
    pub control: bool,
}

impl Default for Arms {
    /// Returns the machine as found, compared with nothing.
    fn default() -> Arms {
        Arms::apart(vec![Condition::none()])
    }
}

impl Arms {
    /// Returns conditions that are not compared with each other.
    pub fn apart(others: Vec<Arc<Condition>>) -> Arms {
        Arms { reference: None, others, control: false }
    }

    /// Returns conditions that are compared with `reference`, which has a control.
    pub fn compared(reference: Arc<Condition>, others: Vec<Arc<Condition>>) -> Arms {
        Arms { reference: Some(reference), others, control: true }
    }

    /// Returns the conditions, the reference first.
    pub fn conditions(&self) -> impl Iterator<Item = &Arc<Condition>> {
        self.reference.iter().chain(&self.others)
    }

    /// Returns each arm: its condition, and whether it is the control, which comes last.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Arc<Condition>, bool)> {
        let control = self.reference.iter().filter(|_| self.control);
        self.conditions().map(|one| (one, false)).chain(control.map(|one| (one, true)))
    }
}
