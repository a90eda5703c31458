//! How closely a printed score can be known: the thesis's lesson of the zero that was one digit too
//! few.

use super::rows::Match;
use crate::figures::Measure;
use crate::figures::Remark;
use crate::findings::Results;
use crate::products::comparison::Comparison;

/// Share of the value, in per cent, from which a unit of the last digit is reported.
const MIN_REPORTED_PERCENT: f64 = 1.0;

/// Most decimals that any suite prints; a number with more was computed.
const MAX_PRINTED_DECIMALS: usize = 6;

/// Suites that print all scores with the same number of decimals; other programs write numbers as
/// long as they are.
const ROUNDING_SUITES: [&str; 3] = ["UnixBench", "BYTE UNIX Benchmarks", "Lbench"];

/// One unit of the last digit of the scores in a report of a suite that rounds them. Numbers that
/// end in 0 hide it, so the longest score shows it. `None` for other runs.
pub(super) fn unit(results: &Results) -> Option<f64> {
    let tool = &results.run.tool;
    if !ROUNDING_SUITES.iter().any(|suite| tool.starts_with(suite)) {
        return None;
    }

    let printed =
        results.figures.iter().filter(|row| row.samples.is_empty() && row.latency.is_none());
    let decimals = printed
        .map(|row| decimals(row.score.value))
        .filter(|decimals| *decimals <= MAX_PRINTED_DECIMALS)
        .max()?;
    Some(0.1_f64.powi(decimals as i32))
}

/// The number of digits after a value's point.
fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// One unit of the last digit in per cent of the value, the largest of all runs, if it is more than
/// 1 %.
pub(super) fn in_percent(matches: &[Match<'_>], measure: Measure) -> Option<f64> {
    if measure != Measure::Score {
        return None;
    }
    let sides = matches.iter().flat_map(|round| [round.sides.a, round.sides.b]);
    let shares = sides
        .filter(|side| side.row.samples.is_empty())
        .filter_map(|side| Some(100.0 * side.run.unit? / side.row.score.value.abs()));
    shares.filter(|share| *share > MIN_REPORTED_PERCENT && share.is_finite()).reduce(f64::max)
}

/// The remark on a difference of numbers with few digits.
pub(super) fn warning(comparison: &Comparison) -> Option<Remark> {
    let value = if comparison.a.abs() < comparison.b.abs() { comparison.a } else { comparison.b };
    let (unit, delta) = (comparison.unit.clone(), comparison.delta.value);
    Some(Remark::FewDigits { value, unit, delta, resolution: comparison.resolution? })
}
