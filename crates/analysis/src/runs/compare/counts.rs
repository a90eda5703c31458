//! What limits make of the counts of commands in several runs.

use super::Comparisons;
use crate::products::comparison::Outcome;
use crate::products::counts::{CountLimit, Counts, label};

/// The counts of one command in a later run, next to those of the first.
pub struct ComparedCounts<'a> {
    /// The letter of the later run.
    pub letter: &'a str,
    pub counts: &'a Counts,
    pub base: &'a Counts,
}

impl Comparisons {
    /// The counts of each command that a later run has in common with the first; none of rounds.
    pub fn counts(&self) -> Vec<ComparedCounts<'_>> {
        let mut compared = Vec::new();
        let Some((first, others)) = self.runs.split_first().filter(|_| !self.asked.is_paired())
        else {
            return compared;
        };

        for run in others {
            for counts in &run.results.counts {
                let mut of_first = first.results.counts.iter();
                if let Some(base) = of_first.find(|base| base.cell.key == counts.cell.key) {
                    compared.push(ComparedCounts { letter: &run.letter, counts, base });
                }
            }
        }
        compared
    }

    /// Judges the counts by limits: each outcome with its sentence.
    pub fn judge_counts(&self, limits: &[CountLimit]) -> Vec<(Outcome, String)> {
        let compared = self.counts();
        if let ([limit, ..], []) = (limits, &compared[..]) {
            let why = format!(
                "the runs have no counts of the same command, so {} cannot be judged; try `unixmark run --counts`",
                label(&limit.name)
            );
            return vec![(Outcome::Failed, why)];
        }

        let mut outcomes = Vec::new();
        for ComparedCounts { letter, counts, base } in compared {
            let label = &counts.cell.label;
            let name = format!("{label} in {letter}");
            let base_name = format!("{label} in {}", self.against());
            let judged = limits.iter().map(|limit| counts.judge(base, [&name, &base_name], limit));
            outcomes.extend(judged);
        }
        outcomes
    }
}
