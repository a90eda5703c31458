//! How closely a printed score can be known: the thesis's lesson of the zero that was one digit too few.

use super::rows::Match;
use super::{Compared, Comparison, Measure};
use crate::{Remark, Results};

/// A unit of the last digit is told from this share of the value on, in per cent.
const TOLD: f64 = 1.0;

/// More digits than any suite prints: a number that was computed.
const COMPUTED: usize = 6;

/// Returns one unit of the last digit that an imported run's scores are printed with: suites print all of them with as
/// many, and numbers that end in 0 hide it, so the longest tells. Nothing of a run that was measured here, whose counts
/// are known.
pub(super) fn unit(results: &Results) -> Option<f64> {
    let digits = |value: f64| value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    let printed = results.figures.iter().filter(|row| row.samples.is_empty() && row.latency.is_none());
    let most = printed.map(|row| digits(row.score.value)).filter(|count| *count <= COMPUTED).max()?;
    Some(0.1_f64.powi(most as i32))
}

/// Returns one unit of the last digit in per cent of the value, the larger of all runs', where it is more than 1 %.
pub(super) fn in_percent(found: &[Match<'_>], measure: Measure) -> Option<f64> {
    let runs = found.iter().flat_map(|one| [one.sides.a, one.sides.b]);
    let shares = runs.filter(|side| side.row.samples.is_empty() && measure == Measure::Score).filter_map(|side| {
        let Compared { unit, .. } = side.run;
        Some(100.0 * (*unit)? / side.row.score.value)
    });
    shares.filter(|share| *share > TOLD && share.is_finite()).reduce(f64::max)
}

/// Returns the remark on a difference below the resolution.
pub(super) fn warning(comparison: &Comparison) -> Option<Remark> {
    let value = if comparison.a.abs() < comparison.b.abs() { comparison.a } else { comparison.b };
    let (unit, delta) = (comparison.unit.clone(), comparison.delta.value);
    Some(Remark::FewDigits { value, unit, delta, resolution: comparison.resolution? })
}
