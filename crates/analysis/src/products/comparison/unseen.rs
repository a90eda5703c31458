//! What a gate cannot judge: losses that noise may hide, and figures whose better direction nobody
//! knows.

use std::fmt::{Display, Formatter, Result};

use catalogue::Metric;
use words::{NOTHING, Unique, at_least};

use super::{Comparison, Verdict};

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

impl Outcome {
    /// The outcome for a comparison that is no loss of the gate's size.
    pub fn without_loss(verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Undecided(_) | Verdict::Differs | Verdict::Undirected => Outcome::Undecided,
            _ => Outcome::Passed,
        }
    }
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
    /// The loss from which on all of them would probably have shown it; infinite if one has no
    /// interval.
    pub below: f64,
}

impl Unseen {
    /// Those among the comparisons of a gate of `size`; `None` if there are none.
    pub fn among<'a>(
        comparisons: impl IntoIterator<Item = &'a Comparison>,
        size: f64,
    ) -> Option<Unseen> {
        let judged: Vec<&Comparison> =
            comparisons.into_iter().filter(|comparison| !comparison.is_of_execution()).collect();
        let hidden_losses: Vec<f64> =
            judged.iter().filter_map(|comparison| comparison.hidden_loss(size)).collect();
        let below = hidden_losses.iter().copied().reduce(f64::max)?;
        Some(Unseen { size, count: hidden_losses.len(), of: judged.len(), below })
    }
}

impl Display for Unseen {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut comparisons = words::count(self.of, "comparison");
        if self.count < self.of {
            comparisons = format!("{} of {comparisons}", self.count);
        }
        write!(f, "the {} % gate cannot judge {comparisons}: ", self.size)?;

        let below = at_least(self.below);
        if below == NOTHING {
            return f.write_str("too few trials to show any loss; try a longer run");
        }
        write!(f, "losses below {below} % may be missed; a longer run finds smaller ones")
    }
}

impl Comparison {
    /// True if a loss of `size` lies in its interval; without a known direction, also a gain.
    fn may_lose(&self, size: f64) -> bool {
        let may_gain = self.delta.high >= size;
        self.delta.low <= -size || (self.cell.metric == Metric::Unknown && may_gain)
    }

    /// The loss from which on it would probably have shown one, if it may hide a loss of `size`.
    fn hidden_loss(&self, size: f64) -> Option<f64> {
        match self.verdict {
            Verdict::Undecided(visible) if visible > size && self.may_lose(size) => Some(visible),
            _ => None,
        }
    }
}

/// The labels of the figures that a gate of `size` cannot judge since nobody knows which direction
/// of them is better.
pub fn undirected<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison>,
    size: f64,
) -> Vec<String> {
    let undirected = comparisons.into_iter().filter(|comparison| comparison.is_undirected_of(size));
    undirected.map(|comparison| comparison.cell.label.clone()).unique()
}
