//! A condition next to the sum of its parts.

use super::sentence::times;
use super::{Condition, Effect, Measure};
use crate::products::comparison::Pair;
use catalogue::Catalogue;
use stats::{Exact, paired_shift};

/// Fewest blocks that have a sum of parts.
const MIN_BLOCKS_OF_SUM: usize = 3;

/// A sentence about the test that loses most to a condition: how many times as long it takes under
/// the whole, and under the sum of the parts that the condition's row names. `None` if the row
/// names no parts, if not all were measured, or if fewer than [`MIN_BLOCKS_OF_SUM`] blocks have all
/// of them.
pub(super) fn sentence(
    whole: &Condition,
    all: &[Condition],
    catalogue: &Catalogue,
) -> Option<String> {
    let (id, level) = whole.name.split_once('=')?;
    let switch = catalogue.switches.iter().find(|switch| switch.id == id)?;
    let effects = whole.effects.iter().filter(|effect| effect.comparison.measure == Measure::Score);
    let worst =
        effects.min_by(|a, b| a.comparison.delta.value.total_cmp(&b.comparison.delta.value))?;

    let mut parts = Vec::new();
    for part in &switch.level(level)?.sum {
        let part = all.iter().find(|condition| condition.name == format!("{id}={part}"))?;
        parts.push(part.effects.iter().find(|effect| is_same_cell(effect, worst))?);
    }
    let (first, others) = parts.split_first()?;
    let sums: Vec<f64> =
        first.comparison.pairs.iter().filter_map(|pair| sum_of_parts(pair, others)).collect();
    let ratios: Vec<f64> = worst.comparison.pairs.iter().map(log_ratio).collect();
    if ratios.len().min(sums.len()) < MIN_BLOCKS_OF_SUM {
        return None;
    }

    let label = &worst.comparison.cell.label;
    let [by_whole, by_sum] = [ratios, sums].map(|log_ratios| slowdown(&log_ratios, worst));
    Some(format!(
        "{label} takes {by_whole} the time under the whole, and {by_sum} under the sum of its \
         parts."
    ))
}

/// The logarithm of the ratio of all parts together, in the block of `first`: Σ others − (number of
/// others − 1) · first, since each of the others contains the first part. `None` if one of them has
/// no value in that block.
fn sum_of_parts(first: &Pair, others: &[&Effect]) -> Option<f64> {
    let mut sum = log_ratio(first);
    for part in others {
        let pair = part.comparison.pairs.iter().find(|pair| pair.round == first.round)?;
        sum += log_ratio(pair) - log_ratio(first);
    }
    Some(sum)
}

/// True if two effects are of one test, level of copies and load, by one measure.
fn is_same_cell(a: &Effect, b: &Effect) -> bool {
    let [a, b] = [a, b].map(|effect| &effect.comparison);
    let [key, other] = [&a.cell.key, &b.cell.key];
    a.measure == b.measure
        && (&key.test, key.copies, &key.load) == (&other.test, other.copies, &other.load)
}

fn log_ratio(pair: &Pair) -> f64 {
    (pair.b / pair.a).natural_log()
}

/// The time under a condition as a multiple of the time without it, with its 95 % interval:
/// `1.42x (1.36x to 1.49x)`.
fn slowdown(log_ratios: &[f64], effect: &Effect) -> String {
    let sign = if effect.comparison.lower_is_better() { 1.0 } else { -1.0 };
    let shift =
        paired_shift(&log_ratios.iter().map(|ratio| sign * ratio).collect::<Vec<f64>>()).estimate;
    let [value, low, high] =
        [shift.value, shift.low, shift.high].map(|log| times(log.exponential()));
    format!("{value} ({low} to {high})")
}
