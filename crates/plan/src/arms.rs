//! The arms of a run: the states in which the machine is measured.

use std::sync::Arc;

use catalogue::Condition;

/// The conditions of a run.
#[derive(Debug, Clone)]
pub struct Arms {
    /// The condition with which the others are compared, if they are.
    pub reference: Option<Arc<Condition>>,
    /// The other conditions, in order.
    pub others: Vec<Arc<Condition>>,
    /// So many conditions from the first are measured twice in some blocks, as controls.
    pub controls: usize,
}

impl Default for Arms {
    /// The machine as found, compared with nothing.
    fn default() -> Arms {
        Arms::apart(vec![Condition::none()])
    }
}

impl Arms {
    /// Conditions that are not compared with each other.
    pub fn apart(others: Vec<Arc<Condition>>) -> Arms {
        Arms { reference: None, others, controls: 0 }
    }

    /// Conditions that are compared with `reference`, which has a control.
    pub fn compared(reference: Arc<Condition>, others: Vec<Arc<Condition>>) -> Arms {
        Arms { reference: Some(reference), others, controls: 1 }
    }

    /// All conditions, the reference first.
    pub fn conditions(&self) -> impl Iterator<Item = &Arc<Condition>> {
        self.reference.iter().chain(&self.others)
    }

    /// Each arm: its condition, and true if it is a control; these come last.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Arc<Condition>, bool)> {
        let controls = self.conditions().take(self.controls);
        self.conditions()
            .map(|condition| (condition, false))
            .chain(controls.map(|condition| (condition, true)))
    }
}
