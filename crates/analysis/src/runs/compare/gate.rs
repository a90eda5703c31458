//! The gate: it fails on a loss, at once or if a second look confirms it. Exit status, JUnit and
//! reports use it.

use super::{Compared, Comparisons, NotCompared};
use crate::products::comparison::{Comparison, Outcome, RATE, Unseen, undirected};
use stats::false_discovery_rates;

/// A gate, and what fails it.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    /// Significant losses of at least the size asked for, and runs apart that differ by as much.
    pub suspects: Vec<Suspect>,
    /// Cells that the reference has and the changed side lacks.
    pub lost: Vec<NotCompared>,
    /// True if all comparisons rest on too few values to show a loss of any size.
    pub is_blind: bool,
    /// The comparisons that may hide a loss of its size.
    pub unseen: Option<Unseen>,
    /// The figures that differ by at least the size asked for, and whose direction nobody knows.
    pub undirected: Vec<String>,
    /// The outcomes of limits of counts, with a sentence for each.
    pub counts: Vec<(Outcome, String)>,
    /// True if an undecided comparison also fails it.
    pub is_strict: bool,
}

/// A loss, and what became of it.
#[derive(Debug, Clone)]
pub struct Suspect {
    /// The loss.
    pub first: Comparison,
    /// The verdict of later runs; `None` without them.
    pub second: Option<Second>,
}

/// A second look.
#[derive(Debug, Clone)]
pub enum Second {
    /// It is there again.
    Again(Comparison),
    /// It is not.
    Gone(Comparison),
    /// The later runs do not have it, or too few trials to show anything.
    Missing,
}

impl Suspect {
    /// True if it fails the gate: no second look cleared it, and a difference that any two
    /// runs may show was confirmed.
    pub fn stands(&self) -> bool {
        match &self.second {
            Some(Second::Again(_)) => true,
            Some(Second::Gone(_)) => false,
            Some(Second::Missing) | None => self.first.verdict.is_loss(),
        }
    }
}

impl Gate {
    /// The outcome for all comparisons together.
    pub fn outcome(&self) -> Outcome {
        let has_loss = !self.lost.is_empty() || self.suspects.iter().any(Suspect::stands);
        if has_loss || self.counts.iter().any(|(outcome, _)| *outcome == Outcome::Failed) {
            return Outcome::Failed;
        }
        if self.is_blind { Outcome::Undecided } else { Outcome::Passed }
    }

    /// The outcome for a comparison: one that later runs do not show again has passed.
    pub fn outcome_of(&self, comparison: &Comparison) -> Outcome {
        let suspect = self.suspects.iter().find(|suspect| {
            suspect.first.run == comparison.run && suspect.first.is_like(comparison)
        });
        match suspect {
            Some(suspect) if suspect.stands() => Outcome::Failed,
            Some(Suspect { second: Some(Second::Gone(_)), .. }) => Outcome::Passed,
            _ => Outcome::without_loss(comparison.verdict),
        }
    }
}

impl NotCompared {
    /// The outcome of a gate for it.
    pub fn outcome(&self) -> Outcome {
        if self.lost { Outcome::Failed } else { Outcome::Undecided }
    }
}

impl Comparisons {
    /// The gate for losses of at least `size` per cent (points for deadlines met), with the
    /// verdict of a `second` comparison, of runs made later. About one chance loss in twenty fails
    /// a gate once; in independent runs it rarely does so twice (two-stage confirmation).
    pub fn gate(&self, size: f64, second: Option<&Comparisons>) -> Gate {
        let losses: Vec<Comparison> = self
            .comparisons
            .iter()
            .filter(|comparison| comparison.is_suspect_of(size))
            .cloned()
            .collect();
        let lost = self.missing.iter().filter(|gap| gap.outcome() == Outcome::Failed);
        let is_blind = !self.comparisons.is_empty()
            && size.is_finite()
            && self.comparisons.iter().all(Comparison::is_blind);

        Gate {
            lost: lost.cloned().collect(),
            suspects: suspects(losses, second),
            unseen: Unseen::among(&self.comparisons, size),
            undirected: undirected(&self.comparisons, size),
            is_blind,
            ..Gate::default()
        }
    }

    /// What speaks against `second` as a second look: made before the first, or of other builds.
    pub fn doubts(&self, second: &Comparisons) -> Vec<String> {
        let mut doubts = Vec::new();
        let last_of_first = self.runs.iter().filter_map(start_time).max();
        let first_of_second = second.runs.iter().filter_map(start_time).min();
        if first_of_second.zip(last_of_first).is_some_and(|(second, first)| second < first) {
            doubts.push(
                "the second look is not later than the first, so it may share its luck".to_owned(),
            );
        }
        for (first, again) in self.runs.iter().zip(&second.runs) {
            if build_hash(first) != build_hash(again) {
                doubts.push(format!(
                    "the second look ran another build of {0} than the first",
                    first.letter
                ));
            }
        }
        doubts
    }
}

fn start_time(run: &Compared) -> Option<jiff::Timestamp> {
    run.results.run.started.parse().ok()
}

fn build_hash(run: &Compared) -> Option<&String> {
    run.results.run.build.as_ref().map(|build| &build.hash)
}

/// The losses, each with the second comparison's verdict, which is corrected for these alone.
fn suspects(losses: Vec<Comparison>, second: Option<&Comparisons>) -> Vec<Suspect> {
    let Some(second) = second else {
        return losses.into_iter().map(|first| Suspect { first, second: None }).collect();
    };

    let mut repeats: Vec<Option<Comparison>> = Vec::new();
    for loss in &losses {
        let mut bounded = second.comparisons.iter().filter(|again| again.delta.bounded());
        repeats.push(bounded.find(|again| again.is_like(loss)).cloned());
    }
    let p_values: Vec<f64> = repeats.iter().flatten().map(|again| again.p).collect();
    let q_values = false_discovery_rates(&p_values);
    for (again, q) in repeats.iter_mut().flatten().zip(q_values) {
        again.q = q;
    }

    let mut suspects = Vec::new();
    for (first, again) in losses.into_iter().zip(repeats) {
        let second = match again {
            None => Second::Missing,
            Some(again) if is_confirmed(&first, &again, second.asked.threshold) => {
                Second::Again(again)
            }
            Some(again) => Second::Gone(again),
        };
        suspects.push(Suspect { first, second: Some(second) });
    }
    suspects
}

/// True if a loss is confirmed: significant by itself, or at least half as large (chance may have
/// doubled the first) and unlikely by chance.
fn is_confirmed(first: &Comparison, again: &Comparison, threshold: f64) -> bool {
    let delta = &again.delta;
    let is_significant = delta.high < 0.0 && delta.value < -threshold && again.q < RATE;
    is_significant || (delta.value <= first.delta.value / 2.0 && again.p < RATE)
}
