//! The counts of a run's commands, judged by limits.

use super::Results;
use crate::products::comparison::Outcome;
use crate::products::counts::{CountLimit, Counts};

impl Results {
    /// The counts of a test's command under a condition.
    pub fn counts_under(&self, condition: &str) -> Option<&Counts> {
        self.counts.iter().find(|counts| counts.cell.key.condition == condition)
    }

    /// Judges the counts of all commands but the first, its base, by limits: each outcome with its
    /// sentence.
    pub fn judge_counts(&self, limits: &[CountLimit]) -> Vec<(Outcome, String)> {
        if limits.is_empty() {
            return Vec::new();
        }
        let Some((base, others)) =
            self.counts.split_first().filter(|(_, others)| !others.is_empty())
        else {
            let why =
                "nothing was counted, so no limit can be judged; the report's warnings say why";
            return vec![(Outcome::Failed, why.to_owned())];
        };

        let mut outcomes = Vec::new();
        for counts in others {
            let names = [counts, base].map(|counts| counts.cell.key.condition.as_str());
            outcomes.extend(limits.iter().map(|limit| counts.judge(base, names, limit)));
        }
        outcomes
    }
}
