//! The interval of commands that alternate, while the run measures and in its report.
//!
//! The engine's interval is that of independent pairs that are looked at once. Neither is true of
//! rounds, so that interval becomes wider by two factors:
//!
//! - *Dependence.* Rounds follow each other closely, so one may depend on the one before. The
//!   interval is that of as many independent rounds as these are worth: wider by the root of
//!   [`stats::dependence`].
//! - *Looks.* The run looks at the difference while it measures, and stops by what it sees. The
//!   interval is that of the last of several looks: wider by [`stats::sequential_widening`]. Where
//!   several executions are one sample, looks are at executions, and only the part of the variance
//!   that is theirs is larger.
//!
//! Each interval that `ab` uses has a function here: [`widen`] for the report, [`delta_at_look`]
//! for a look at the threshold, [`cautious_half_width`] for a look at the width.

use stats::{Estimate, sequential_widening};

use crate::figures::Widening;
use crate::products::comparison::Comparison;
use crate::products::comparison::engine::Draft;

/// Fewest pairs, or units on either side, whose difference has an interval. That of two would be
/// Student's with one degree of freedom, 12.7 standard errors on either side: up to 1.3e8 %.
pub const MIN_PAIRS: u32 = 3;

/// Widens the interval of a comparison for dependence and looks. Too few rounds leave every
/// difference possible.
pub(super) fn widen(mut draft: Draft) -> Draft {
    let dependence = draft.difference.variance_inflation().sqrt();
    let n = draft.comparison.n;
    let has_interval = n.a.min(n.b) >= MIN_PAIRS as usize;
    let widening = match has_interval {
        true => look_widening(&draft.comparison) * dependence,
        false => f64::INFINITY,
    };
    draft.difference.widen(Widening::by(widening));
    draft.comparison.delta = draft.difference.delta();
    draft
}

/// The factor by which looks widen the interval. Of units, only the share of the variance that is
/// their executions' grows.
fn look_widening(comparison: &Comparison) -> f64 {
    let Some(units) = comparison.units else {
        return sequential_widening();
    };
    (1.0 + units.execution_share() * (sequential_widening().powi(2) - 1.0)).sqrt()
}

/// The difference at a look at the threshold, in per cent or in points. [`widen`] has widened the
/// draft for looks; the `level` allows for them too, so that factor is taken back.
pub(super) fn delta_at_look(draft: &Draft, level: f64) -> Estimate {
    let Estimate { value, low, high } = draft.difference.interval(level);
    let factor = look_widening(&draft.comparison);
    let [low, high] = [low, high].map(|end| value + (end - value) / factor);
    draft.difference.delta_of(&Estimate { value, low, high })
}

/// Half the width of an interval plus one standard error of it: a width that is known from few
/// samples (executions, or units) may be narrow by luck.
pub(super) fn cautious_half_width(estimate: &Estimate, samples: usize) -> f64 {
    let relative_error = (2.0 * samples.max(1) as f64).sqrt().recip();
    estimate.half_width() * (1.0 + relative_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Measure;
    use crate::products::comparison::Scale;
    use crate::products::comparison::engine::{Data, Design, Observed, Sides, Values};
    use journal::Cell;

    /// A comparison of two commands with these differences in its rounds.
    fn paired(differences: &[f64]) -> Draft {
        let differences: Values = (1..).zip(differences.iter().copied()).collect();
        let n = Sides { a: differences.len(), b: differences.len() };
        let shown = Sides { a: 1.0, b: 1.0 };
        let data = Data::Paired(differences);
        let observed = Observed::from_data(Design::Blocks, Scale::Ratio, shown, n, data);
        Draft::new("new", &Cell::default(), Measure::Score, observed)
    }

    /// A look at the threshold was 1.065 times as wide twice: 1.135 times in place of 1.065, which
    /// its level alone makes it.
    #[test]
    fn a_look_is_not_widened_for_all_looks_twice() {
        let differences: Vec<f64> = (0..16).map(|i| f64::from(i * 5 % 16) / 100.0).collect();
        let level = stats::look_level(1.0);

        let plain = paired(&differences).difference.interval(level);
        let look = delta_at_look(&widen(paired(&differences)), level);

        let expected = Scale::Ratio.delta(&plain);
        assert!((look.low - expected.low).abs() < 1e-9, "{look:?} {expected:?}");
        assert!((look.high - expected.high).abs() < 1e-9, "{look:?} {expected:?}");
    }

    #[test]
    fn two_pairs_leave_every_difference_possible() {
        let found = widen(paired(&[0.01, 0.02])).comparison.delta;

        assert!(!found.bounded(), "{found:?}");
    }
}
