//! The gain from more copies: scores and indexes at several copies over those at the fewest.

use std::collections::HashMap;

use crate::figures::Figure;
use crate::products::Index;
use catalogue::{Arithmetic, Metric};
use journal::Key;
use stats::{
    ByBlock, Estimate, Exact, block_differences, in_block, mean, paired_shift, without_blocks,
};

/// Fewest blocks in common that give a quotient: fewer carry no signed ranks, and medians of each
/// level's trials do better then.
const MIN_COMMON_BLOCKS: usize = 6;

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

/// The gains of every rate and index that was measured at the fewest copies and at more. Passes of
/// the `classic` procedure are not blocks: there a gain is the quotient of two independent scores.
pub(crate) fn gains(rows: &[Figure], indexes: &[Index], classic: bool) -> Vec<Gain> {
    let Some(from) = rows.iter().map(|row| row.cell.key.copies).min() else {
        return Vec::new();
    };
    let mut gains = Vec::new();

    // Reversed, so that the first of several rows with one key stays.
    let by_key: HashMap<&Key, &Figure> =
        rows.iter().rev().map(|row| (&row.cell.key, row)).collect();
    for row in rows {
        let to = row.cell.key.copies;
        if to <= from || row.cell.metric != Metric::Rate {
            continue;
        }
        let Some(base) = by_key.get(&Key { copies: from, ..row.cell.key.clone() }) else {
            continue;
        };
        let in_blocks = if classic { None } else { quotient(&row.by_block(), &base.by_block()) };
        let gain = in_blocks.unwrap_or_else(|| row.score.over(&base.score));
        gains.push(Gain { label: row.cell.label.clone(), from, to, gain });
    }

    for index in indexes.iter().filter(|index| index.copies > from) {
        let base = indexes.iter().find(|other| {
            other.id == index.id && other.copies == from && other.has_parts_of(index)
        });
        let Some(base) = base else { continue };
        let in_blocks = if classic {
            None
        } else {
            quotient(&index_by_block(index, rows), &index_by_block(base, rows))
        };
        let gain = in_blocks.unwrap_or_else(|| index.score.over(&base.score));
        gains.push(Gain { label: index.title(), from, to: index.copies, gain });
    }
    gains
}

/// `more` ÷ `less`: Hodges and Lehmann's estimate of the differences of logarithms within blocks,
/// with the interval of the signed ranks. `None` if they share fewer than six blocks, where one
/// stalled trial would move it, or a trial counted nothing.
pub(crate) fn quotient(more: &[(u32, f64)], less: &[(u32, f64)]) -> Option<Estimate> {
    let differences = without_blocks(&block_differences(&to_logs(more), &to_logs(less)));
    let has_logarithms = differences.iter().all(|difference| difference.is_finite());
    if differences.len() < MIN_COMMON_BLOCKS || !has_logarithms {
        return None;
    }

    let Estimate { value, low, high } = paired_shift(&differences).estimate;
    // An end that is not known stays infinite on both sides.
    let [low, high] = [low, high].map(|end| if end.is_finite() { end.exponential() } else { end });
    Some(Estimate { value: value.exponential(), low, high })
}

fn to_logs(values: &[(u32, f64)]) -> ByBlock {
    values.iter().map(|(block, value)| (*block, value.natural_log())).collect()
}

/// An index in each block that has all of its tests.
fn index_by_block(index: &Index, rows: &[Figure]) -> ByBlock {
    let mut tests: Vec<ByBlock> = Vec::new();
    for part in &index.parts {
        let plain = Key::plain(&part.test, index.copies);
        let Some(row) = rows.iter().find(|row| row.cell.key == plain) else {
            return Vec::new();
        };
        let quotients = row.by_block().into_iter();
        tests.push(quotients.map(|(block, value)| (block, value / part.baseline)).collect());
    }
    let Some(first) = tests.first() else {
        return Vec::new();
    };

    let mut joined = Vec::new();
    for (block, _) in first {
        let quotients = tests.iter().map(|test| in_block(test, *block));
        let Some(quotients) = quotients.collect::<Option<Vec<f64>>>() else { continue };
        let value = match index.arithmetic {
            Arithmetic::Geometric => {
                mean(quotients.iter().map(|quotient| quotient.natural_log())).exponential()
            }
            Arithmetic::Arithmetic => mean(quotients),
        };
        joined.push((*block, value));
    }
    joined
}
