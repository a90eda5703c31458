//! A condition beside the sum of its parts.

use super::sentence::times;
use super::{Condition, Effect, Measure};
use crate::products::comparison::Pair;
use catalogue::Catalogue;
use stats::{Exact, paired_shift};

/// Fewest blocks that have a sum of parts.
const MIN_BLOCKS_OF_SUM: usize = 3;

/// A sentence about the test that loses most to a condition: how many times as long it takes under
/// the whole, and under the sum of the parts that the condition's row names. `None` if the row
/// names no parts, or not all were measured.
pub(super) fn sentence(
    whole: &Condition,
    all: &[Condition],
    catalogue: &Catalogue,
) -> Option<String> {
    let (id, level) = whole.name.split_once('=')?;
    let switch = catalogue.switches.iter().find(|switch| switch.id == id)?;
    let effects = whole.effects.iter().filter(|effect| effect.comparison.measure == Measure::Score);
    let dearest =
        effects.min_by(|a, b| a.comparison.delta.value.total_cmp(&b.comparison.delta.value))?;

    let mut parts = Vec::new();
    for part in &switch.level(level)?.sum {
        let part = all.iter().find(|condition| condition.name == format!("{id}={part}"))?;
        parts.push(part.effects.iter().find(|effect| is_same_cell(effect, dearest))?);
    }
    let (first, others) = parts.split_first()?;
    let sums: Vec<f64> =
        first.comparison.pairs.iter().filter_map(|pair| sum(pair, others)).collect();
    let ratios: Vec<f64> = dearest.comparison.pairs.iter().map(log_ratio).collect();
    if ratios.len().min(sums.len()) < MIN_BLOCKS_OF_SUM {
        return None;
    }
    let label = &dearest.comparison.cell.label;
    let [whole, sum] = [ratios, sums].map(|log_ratios| slowdown(&log_ratios, dearest));
    Some(format!(
        "{label} takes {whole} the time under the whole, and {sum} under the sum of its parts."
    ))
}

/// The logarithm of the ratios of all parts together in the block of `first`, a part that each of
/// the others contains: Σ others − (number of others − 1) · first.
fn sum(first: &Pair, others: &[&Effect]) -> Option<f64> {
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
