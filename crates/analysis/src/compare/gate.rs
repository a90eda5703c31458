//! The gate: it fails on a loss, at once or if a second look confirms it. Exit status, JUnit and reports use it.

use std::fmt::{Display, Formatter, Result};

use super::{Comparison, Comparisons, NotCompared, RATE, Verdict};
use stats::false_discovery_rates;
use words::{NOTHING, at_least, count};

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
    /// The outcomes of limits of counts, with a sentence for each.
    pub counts: Vec<(Outcome, String)>,
    /// True if an undecided comparison also fails it.
    pub is_strict: bool,
}

/// Comparisons that may hide a loss of a gate's size: neither shown nor ruled out by the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unseen {
    /// The size, in per cent.
    pub size: f64,
    /// Their number.
    pub count: usize,
    /// The number of all.
    pub of: usize,
    /// The loss from which on all of them would probably have shown it; infinite if one has no interval.
    pub below: f64,
}

impl Unseen {
    /// Returns those among the comparisons of a gate of `size`; `None` if there are none.
    pub fn among<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>, size: f64) -> Option<Unseen> {
        let all: Vec<&Comparison> = comparisons.into_iter().filter(|one| !one.is_of_execution()).collect();
        let below: Vec<f64> = all.iter().filter_map(|one| one.hides(size)).collect();
        let most = below.iter().copied().fold(0.0, f64::max);
        (!below.is_empty()).then_some(Unseen { size, count: below.len(), of: all.len(), below: most })
    }
}

impl Display for Unseen {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Unseen { size, count: hidden, of, below } = self;
        let all = count(*of, "comparison");
        let hidden = if hidden == of { all } else { format!("{hidden} of {all}") };
        write!(f, "the {size} % gate cannot judge {hidden}: ")?;
        match at_least(*below) {
            endless if endless == NOTHING => f.write_str("too few trials to show any loss; try a longer run"),
            below => write!(f, "losses below {below} % may be missed; a longer run finds smaller ones"),
        }
    }
}

impl Comparison {
    /// Returns the loss from which on it would probably have shown one, if it may hide a loss of `size`.
    fn hides(&self, size: f64) -> Option<f64> {
        match self.verdict {
            Verdict::Undecided(could) if could > size && self.delta.low <= -size => Some(could),
            _ => None,
        }
    }
}

/// The outcome of a gate: for a comparison, a cell without one, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No loss.
    Passed,
    /// The exit status is 1 for it.
    Failed,
    /// Nothing is shown.
    Undecided,
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
    /// Returns true if it fails the gate: no second look cleared it, and a difference that any two runs may show was
    /// confirmed.
    pub fn stands(&self) -> bool {
        match &self.second {
            Some(Second::Again(_)) => true,
            Some(Second::Gone(_)) => false,
            Some(Second::Missing) | None => self.first.verdict.is_loss(),
        }
    }
}

impl Gate {
    /// Returns what it makes of all.
    pub fn outcome(&self) -> Outcome {
        match self.is_blind {
            _ if !self.lost.is_empty() || self.suspects.iter().any(Suspect::stands) => Outcome::Failed,
            _ if self.counts.iter().any(|(outcome, _)| *outcome == Outcome::Failed) => Outcome::Failed,
            true => Outcome::Undecided,
            false => Outcome::Passed,
        }
    }

    /// Returns what it makes of a comparison: one that later runs do not show again has passed.
    pub fn outcome_of(&self, one: &Comparison) -> Outcome {
        let suspect = self.suspects.iter().find(|suspect| suspect.first.run == one.run && suspect.first.is_like(one));
        match (suspect, one.verdict) {
            (Some(suspect), _) if suspect.stands() => Outcome::Failed,
            (Some(Suspect { second: Some(Second::Gone(_)), .. }), _) => Outcome::Passed,
            (_, Verdict::Undecided(_) | Verdict::Differs) => Outcome::Undecided,
            _ => Outcome::Passed,
        }
    }
}

impl NotCompared {
    /// Returns what a gate makes of it.
    pub fn outcome(&self) -> Outcome {
        if self.lost { Outcome::Failed } else { Outcome::Undecided }
    }
}

impl Comparisons {
    /// Returns the gate for losses of at least `size` per cent (points for deadlines met), with the verdict of a
    /// `second` comparison, of runs made later. About one chance loss in twenty fails a gate once; in independent runs
    /// it rarely does so twice (two-stage confirmation).
    pub fn gate(&self, size: f64, second: Option<&Comparisons>) -> Gate {
        let losses: Vec<Comparison> = self.comparisons.iter().filter(|one| one.is_suspect_of(size)).cloned().collect();
        let looks = second.map(|second| looks(&losses, second));
        let second = |place: usize| looks.as_ref().map(|looks| looks[place].clone());
        let suspects = losses.into_iter().enumerate();
        let suspects = suspects.map(|(place, first)| Suspect { first, second: second(place) });
        Gate {
            suspects: suspects.collect(),
            lost: self.missing.iter().filter(|gap| gap.outcome() == Outcome::Failed).cloned().collect(),
            unseen: Unseen::among(&self.comparisons, size),
            is_blind: size.is_finite()
                && !self.comparisons.is_empty()
                && self.comparisons.iter().all(Comparison::is_blind),
            ..Gate::default()
        }
    }

    /// Returns what speaks against `second` as a second look: made before the first, or of other builds.
    pub fn doubts(&self, second: &Comparisons) -> Vec<String> {
        let time = |one: &super::Compared| one.results.run.started.parse::<jiff::Timestamp>().ok();
        let last = self.runs.iter().filter_map(time).max();
        let mut doubts = Vec::new();
        if second.runs.iter().filter_map(time).any(|began| last.is_some_and(|last| began < last)) {
            doubts.push("the second look is not later than the first, so it may share its luck".to_owned());
        }
        for (first, again) in self.runs.iter().zip(&second.runs) {
            let hash = |one: &super::Compared| one.results.run.build.as_ref().map(|build| build.hash.clone());
            if hash(first) != hash(again) {
                doubts.push(format!("the second look ran another build of {0} than the first", first.letter));
            }
        }
        doubts
    }
}

/// Returns the second comparison's verdict on each loss, corrected for these alone.
fn looks(losses: &[Comparison], second: &Comparisons) -> Vec<Second> {
    let known = || second.comparisons.iter().filter(|one| one.delta.bounded());
    let again: Vec<Option<&Comparison>> = losses.iter().map(|loss| known().find(|one| one.is_like(loss))).collect();
    let found: Vec<&Comparison> = again.iter().flatten().copied().collect();
    let mut rates = false_discovery_rates(&found.iter().map(|one| one.p).collect::<Vec<f64>>()).into_iter();
    let threshold = second.asked.threshold;
    let look = |(first, again): (&Comparison, Option<&Comparison>)| match again {
        None => Second::Missing,
        Some(again) => {
            let again = Comparison { q: rates.next().unwrap_or(1.0), ..again.clone() };
            if shown_again(first, &again, threshold) { Second::Again(again) } else { Second::Gone(again) }
        }
    };
    losses.iter().zip(again).map(look).collect()
}

/// Returns true if a loss is confirmed: significant by itself, or at least half as large (chance may have doubled the
/// first) and unlikely by chance.
fn shown_again(first: &Comparison, again: &Comparison, threshold: f64) -> bool {
    let delta = &again.delta;
    let beyond_doubt = delta.high < 0.0 && delta.value < -threshold && again.q < RATE;
    beyond_doubt || (delta.value <= first.delta.value / 2.0 && again.p < RATE)
}
