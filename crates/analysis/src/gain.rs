//! The gain from more copies: scores and indexes at several copies over those at the fewest.

use std::collections::HashMap;

use super::{Figure, Index};
use catalogue::{Arithmetic, Metric};
use journal::Key;
use stats::{ByBlock, Estimate, Exact, block_differences, in_block, mean, paired_shift, without_blocks};

/// Fewer blocks in common carry no signed ranks; medians of each level's trials do better then.
const FEWEST: usize = 6;

/// A score at several copies over that at the fewest.
#[derive(Debug, Clone)]
pub struct Gain {
    /// The test, or the index of this name.
    pub label: String,
    /// The fewest copies.
    pub from: u32,
    /// The copies compared with them.
    pub to: u32,
    /// The quotient of the scores, from the differences within blocks.
    pub gain: Estimate,
}

/// Returns the gains of every rate and index that was measured at the fewest copies and at more. Passes of the
/// `classic` procedure are not blocks: there a gain is the quotient of two independent scores.
pub(super) fn gains(rows: &[Figure], indexes: &[Index], classic: bool) -> Vec<Gain> {
    let Some(from) = rows.iter().map(|row| row.cell.key.copies).min() else { return Vec::new() };
    let within_blocks = |more: ByBlock, less: ByBlock| if classic { None } else { quotient(&more, &less) };
    let mut gains = Vec::new();
    // Of several the first, as everywhere.
    let by_key: HashMap<&Key, &Figure> = rows.iter().rev().map(|row| (&row.cell.key, row)).collect();
    for row in rows.iter().filter(|row| row.cell.key.copies > from && row.cell.metric == Metric::Rate) {
        if let Some(one) = by_key.get(&Key { copies: from, ..row.cell.key.clone() }) {
            let gain = within_blocks(row.by_block(), one.by_block()).unwrap_or_else(|| row.score.over(&one.score));
            gains.push(Gain { label: row.cell.label.clone(), from, to: row.cell.key.copies, gain });
        }
    }
    for index in indexes.iter().filter(|index| index.copies > from) {
        let like = |other: &&Index| other.id == index.id && other.copies == from && other.has_parts_of(index);
        if let Some(one) = indexes.iter().find(like) {
            let gain = within_blocks(by_block(index, rows), by_block(one, rows));
            let gain = gain.unwrap_or_else(|| index.score.over(&one.score));
            gains.push(Gain { label: index.title(), from, to: index.copies, gain });
        }
    }
    gains
}

/// Returns `more` ÷ `less`: Hodges and Lehmann's estimate of the differences of logarithms within blocks, with the
/// interval of the signed ranks. `None` if they share fewer than six blocks, where one stalled trial would move it, or
/// a trial counted nothing.
pub(super) fn quotient(more: &[(u32, f64)], less: &[(u32, f64)]) -> Option<Estimate> {
    let logs = |values: &[(u32, f64)]| -> ByBlock {
        values.iter().map(|(block, value)| (*block, value.natural_log())).collect()
    };
    let differences = without_blocks(&block_differences(&logs(more), &logs(less)));
    if differences.len() < FEWEST || !differences.iter().all(|difference| difference.is_finite()) {
        return None;
    }
    let Estimate { value, low, high } = paired_shift(&differences).estimate;
    let end = |end: f64| if end.is_finite() { end.exponential() } else { end };
    Some(Estimate { value: value.exponential(), low: end(low), high: end(high) })
}

/// Returns what an index comes to in each block that has all of its tests.
fn by_block(index: &Index, rows: &[Figure]) -> ByBlock {
    let test = |part: &super::Part| {
        let plain = Key::plain(&part.test, index.copies);
        let values = rows.iter().find(|row| row.cell.key == plain).map(Figure::by_block)?;
        Some(values.into_iter().map(|(block, value)| (block, value / part.baseline)).collect())
    };
    let Some(tests) = index.parts.iter().map(test).collect::<Option<Vec<ByBlock>>>() else { return Vec::new() };
    let Some(first) = tests.first() else { return Vec::new() };
    let joined = |(block, _): &(u32, f64)| {
        let values = tests.iter().map(|test| in_block(test, *block)).collect::<Option<Vec<f64>>>()?;
        let value = match index.arithmetic {
            Arithmetic::Geometric => mean(values.iter().map(|value| value.natural_log())).exponential(),
            Arithmetic::Arithmetic => mean(values),
        };
        Some((*block, value))
    };
    first.iter().filter_map(joined).collect()
}
