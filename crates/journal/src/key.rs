//! Coordinates in the matrix.

use serde::{Deserialize, Serialize};

use catalogue::NONE;

/// The identity of a cell: test × copies × load × condition. Everything that belongs to one cell is
/// found by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The test's id.
    pub test: String,
    /// The number of copies that run at once.
    pub copies: u32,
    /// The load that runs in the background; `none` without one.
    pub load: String,
    /// The condition the machine is in; `none` as it was found.
    pub condition: String,
}

impl Default for Key {
    fn default() -> Key {
        Key::plain("", 1)
    }
}

impl Key {
    /// The key of a test without load and condition.
    pub fn plain(test: &str, copies: u32) -> Key {
        Key { test: test.to_owned(), copies, load: NONE.to_owned(), condition: NONE.to_owned() }
    }

    /// True if the key has neither load nor condition.
    pub fn is_plain(&self) -> bool {
        self.load == NONE && self.condition == NONE
    }

    /// True if both keys are equal but for the condition.
    pub fn same_family(&self, other: &Key) -> bool {
        (&self.test, self.copies, &self.load) == (&other.test, other.copies, &other.load)
    }

    /// The key of the same cell under another condition.
    pub fn under(&self, condition: &str) -> Key {
        Key { condition: condition.to_owned(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_differ_by_condition_alone() {
        let key = Key::plain("pipe", 2);
        assert!(
            key.is_plain()
                && key.same_family(&key.under("thp=never"))
                && key != key.under("thp=never")
        );
        assert!(!key.same_family(&Key { copies: 1, ..key.clone() }));
    }
}
