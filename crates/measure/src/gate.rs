//! Which differences a limit of --fail-on judges: quantiles may have one of their own.

use super::Ask;
use analysis::{Comparison, Cost, Effect, Outcome, Unseen};

/// A limit of the loss in per cent, and the differences that it judges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate {
    size: f64,
    rows: Rows,
}

/// The differences that a limit judges.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rows {
    All,
    Quantiles,
    AllButQuantiles,
}

/// The limits of what is asked for.
pub(super) fn gates(ask: &Ask) -> Vec<Gate> {
    // The limit of the time is not that of the slowest executions. Of what programs print, all have
    // one, unless quantiles have their own.
    let are_apart = ask.tail_gate.is_some() || ask.harness.is_none();
    let rows = if are_apart { Rows::AllButQuantiles } else { Rows::All };
    let of_time = ask.gate.map(|size| Gate { size, rows });
    let of_tail = ask.tail_gate.map(|size| Gate { size, rows: Rows::Quantiles });
    of_time.into_iter().chain(of_tail).collect()
}

impl Gate {
    fn judges(&self, comparison: &Comparison) -> bool {
        // Interactive tests have a p99 of their own, which any limit judges.
        let is_quantile = comparison.cell.is_alternating() && comparison.is_of_quantile();
        match self.rows {
            Rows::All => true,
            Rows::Quantiles => is_quantile,
            Rows::AllButQuantiles => !is_quantile,
        }
    }

    /// The losses of at least its size.
    pub(super) fn losses<'a>(&self, cost: &'a Cost) -> Vec<&'a Effect> {
        let mut losses = cost.losses(self.size);
        losses.retain(|effect| self.judges(&effect.comparison));
        losses
    }

    /// The comparisons that it judges: a loss of its size fails; a smaller one, or one that a
    /// second look took back, passes.
    pub(super) fn outcomes<'a>(&self, cost: &'a Cost) -> Vec<(&'a Comparison, Outcome)> {
        let losses = self.losses(cost);
        let mut outcomes = Vec::new();
        for effect in cost.effects().filter(|effect| self.judges(&effect.comparison)) {
            let is_failing_loss = losses.iter().any(|loss| std::ptr::eq(*loss, effect));
            let outcome = match is_failing_loss {
                true => Outcome::Failed,
                false => Outcome::without_loss(effect.comparison.verdict),
            };
            outcomes.push((&effect.comparison, outcome));
        }
        outcomes
    }

    /// The comparisons that may hide a loss of its size.
    pub(super) fn unseen(&self, cost: &Cost) -> Option<Unseen> {
        Unseen::among(cost.comparisons().filter(|one| self.judges(one)), self.size)
    }

    /// The labels of the figures that it cannot judge, since nobody knows which direction of them
    /// is better.
    pub(super) fn undirected(&self, cost: &Cost) -> Vec<String> {
        analysis::undirected(cost.comparisons().filter(|one| self.judges(one)), self.size)
    }

    /// Says why there is no quantile that it could judge; `None` if there is one.
    pub(super) fn explain_missing(&self, cost: &Cost) -> Option<String> {
        let is_empty = !cost.comparisons().any(|one| self.judges(one));
        if self.rows != Rows::Quantiles || !is_empty {
            return None;
        }
        let reason = cost.missing.first().map_or("there is none", |gap| gap.reason.as_str());
        Some(format!("the limit for a quantile has nothing to judge: {reason}"))
    }
}
