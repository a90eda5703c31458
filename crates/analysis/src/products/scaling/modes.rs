//! Copies as threads next to copies as processes: what the totals are to each other at each number
//! of copies, and from which on they part.
//!
//! What threads share and processes do not (the memory map, the table of descriptors) costs nothing
//! until several use it, so the two part at some number of copies or at none. The numbers are
//! tested in a fixed order, the largest first, each at 5 %, until one shows no difference: a
//! fixed-sequence procedure (Maurer, Hothorn and Lehmacher, 1995), whose chance to report a number
//! at which nothing differs is 5 % for all of them together. So they part at the smallest of these
//! numbers.

use journal::Key;
use stats::Estimate;

use super::{Measured, series_key};
use crate::products::gain::quotient;

/// A test's threads, compared with its processes.
#[derive(Debug, Clone)]
pub struct ModeComparison {
    /// The numbers of copies that both were measured at, from the fewest.
    pub levels: Vec<ModeLevel>,
    /// The number of copies from which on they differ, in the same direction; `None` if they do not
    /// at the largest number.
    pub parts_at: Option<u32>,
}

/// Both at one number of copies.
#[derive(Debug, Clone, Copy)]
pub struct ModeLevel {
    pub copies: u32,
    /// The total of the threads over that of the processes.
    pub ratio: Estimate,
}

/// Compares threads with processes at the numbers of copies that both were measured at, in the
/// order of `threads`: from the fewest. `None` if they have no number in common.
pub(super) fn compare_modes(
    threads: &[&Measured<'_>],
    processes: &[&Measured<'_>],
) -> Option<ModeComparison> {
    let mut levels = Vec::new();
    for of_threads in threads {
        let copies = of_threads.row.cell.key.copies;
        let mut others = processes.iter();
        let of_processes = others.find(|other| other.row.cell.key.copies == copies);
        let Some(of_processes) = of_processes else { continue };
        let ratio = quotient(&of_threads.totals(), &of_processes.totals())
            .unwrap_or_else(|| of_threads.estimate().over(&of_processes.estimate()));
        levels.push(ModeLevel { copies, ratio });
    }

    let parts_at = smallest_parted(&levels);
    (!levels.is_empty()).then_some(ModeComparison { levels, parts_at })
}

/// The last number of copies, from the largest down, up to which all differ in one direction.
fn smallest_parted(levels: &[ModeLevel]) -> Option<u32> {
    let largest = levels.last()?;
    let is_less = largest.ratio.value < 1.0;
    let differs = |level: &&ModeLevel| match is_less {
        true => level.ratio.high < 1.0,
        false => level.ratio.low > 1.0,
    };
    levels.iter().rev().take_while(differs).last().map(|level| level.copies)
}

/// True if two series are of one test, load and condition, one as threads and the other as
/// processes.
pub(super) fn are_modes(threads: &Measured<'_>, processes: &Measured<'_>) -> bool {
    let family = |key: &Key| {
        let [test, load, condition] = series_key(key);
        [catalogue::family(test), load, condition].map(str::to_owned)
    };
    threads.row.cell.threads
        && !processes.row.cell.threads
        && family(&threads.row.cell.key) == family(&processes.row.cell.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(ratios: &[(u32, f64, f64)]) -> Vec<ModeLevel> {
        let level = |(copies, low, high): &(u32, f64, f64)| ModeLevel {
            copies: *copies,
            ratio: Estimate { value: (low * high).sqrt(), low: *low, high: *high },
        };
        ratios.iter().map(level).collect()
    }

    #[test]
    fn they_part_where_all_larger_numbers_differ_too() {
        for (ratios, at) in [
            (vec![(1, 0.9, 1.1), (2, 0.5, 0.7), (4, 0.2, 0.3)], Some(2)),
            (vec![(1, 0.9, 0.95), (2, 0.9, 1.1), (4, 0.2, 0.3)], Some(4)),
            (vec![(1, 0.9, 0.95), (2, 0.5, 0.7)], Some(1)),
            (vec![(1, 0.5, 0.6), (2, 0.9, 1.1)], None),
            (vec![(1, 0.5, 0.6), (2, 1.1, 1.3)], Some(2)),
            (vec![], None),
        ] {
            assert_eq!(smallest_parted(&levels(&ratios)), at, "{ratios:?}");
        }
    }
}
